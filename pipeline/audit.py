"""The audit: what is measured, by whom, in which order. It reads like the report.

Not: formulas, files, HTML; what was found is kept in a `journal`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import pandas as pd

from pipeline import agreement, checks, measure, models, streams
from pipeline.config import AuditConfig, ImportanceSection
from pipeline.errors import ConfigError, DataError, ModelError, did_you_mean
from pipeline.importance import METHODS
from pipeline.importance.permutation import Stream, permuted_target
from pipeline.journal import Y_PERMUTED, Journal, Step
from pipeline.known_defects import defects_for
from pipeline.performance import performance
from pipeline.records import Dataset, Effect, FittedModel, Floats, Importance
from pipeline.references import ENGINES, EngineInfo, describe_engine, same_predictions
from pipeline.result import AuditResult
from r_bridge import host
from r_bridge.errors import RUnavailable


def audit(
    train: Dataset | None,
    test: Dataset,
    config: AuditConfig,
    *,
    models: tuple[FittedModel, ...] = (),
    on_step: Step | None = None,
) -> AuditResult:
    """Measure every importance that `config` asks for, by every engine it names.

    Parameters
    ----------
    train : Dataset or None
        Rows the models of `config` are fitted on; None if all models are given and
        their training rows are unknown.
    test : Dataset
        Rows every importance is measured on.
    config : AuditConfig
        What is asked: `config.load_config` or `config.parse_config`.
    models : tuple of FittedModel
        Fitted models of `models.wrap`, audited beside those that `config` names.
    on_step : callable, optional
        ``on_step(done, total, label)``, the only progress channel.

    Returns
    -------
    AuditResult
        What was found. Interrupted (Ctrl-C), what was found until then.

    Raises
    ------
    ConfigError, DataError, ModelError
        The question cannot be asked.
    r_bridge.errors.RUnavailable
        An engine of ``config.require`` is not there; raised before any fit.
    """
    run = _Run(
        train=train,
        test=test,
        config=config,
        journal=Journal(on_step=on_step or _quiet),
    )
    with host.session(r_seconds=config.r.seconds):
        run.look_for_engines()
        _check_rows(config, test)
        run.models = (*_fitted(config, train), *models)
        _check_names(config, test, run.models)
        run.journal.follow(run.steps())
        return run.journal.result(
            train, test, config, run.models, asked_r=len(run.engines) > 1
        )


def exit_code(result: AuditResult) -> int:
    """Return 130 interrupted, 4 a method failed, 1 not confirmed, else 0."""
    if result.run.status == "interrupted":
        return 130
    return {"not established": 4, "not confirmed": 1}.get(result.verdict, 0)


def _quiet(done: int, total: int, label: str) -> None:
    del done, total, label


def _fitted(config: AuditConfig, train: Dataset | None) -> tuple[FittedModel, ...]:
    """Fit or load the models the configuration names."""
    if not config.models:
        return ()
    if train is None:
        raise DataError(
            "Training rows must be given for the models of the configuration, "
            "but there are none. Pass train=, or give fitted models only."
        )
    return models.fit_models(config.models, train, base=config.base)


def _check_rows(config: AuditConfig, test: Dataset) -> None:
    """Refuse to draw more rows than there are."""
    problems = [
        f"[importance] {entry.method} n_rows must be at most the {test.n_samples} "
        f"rows of the test data, but {entry.options['n_rows']} was given."
        for entry in config.importance
        if (entry.options.get("n_rows") or 0) > test.n_samples
    ]
    if problems:
        raise ConfigError(problems)


def _check_names(
    config: AuditConfig, test: Dataset, models: tuple[FittedModel, ...]
) -> None:
    """Refuse names that only meet here: of models, of columns, of both at once."""
    if not models:
        raise ModelError(
            "The audit must have a model, but none was configured or given. "
            "Add [[models]] to the configuration or pass models=."
        )
    names = [model.name for model in models]
    problems = [
        f"The names of the models must differ, but {name!r} is there twice."
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
    asked = {name for entry in config.importance for name in entry.models}
    grouped = {name for columns in config.groups.values() for name in columns}
    for what, wanted, known in (
        ("model", asked, names),
        ("column of a group", grouped, test.features),
    ):
        problems += [
            f"A {what} must be one that the audit has, but {name!r} is not."
            f"{did_you_mean(name, known)}"
            for name in sorted(wanted - set(known))
        ]
    if problems:
        raise ConfigError(problems)


@dataclass(kw_only=True)
class _Run:
    """One audit under way: what is asked, and the journal that keeps the answers."""

    train: Dataset | None
    test: Dataset
    config: AuditConfig
    journal: Journal
    models: tuple[FittedModel, ...] = ()
    engines: dict[str, EngineInfo] = field(default_factory=dict)
    prediction_gap: dict[str, float] = field(default_factory=dict)
    predictions: dict[str, Floats] = field(default_factory=dict)

    def look_for_engines(self) -> None:
        """Ask once which engines are here; stop before any fit if one is required."""
        asked = {name for entry in self.config.importance for name in entry.engines}
        for name in ("python", *sorted(asked | set(self.config.require))):
            self.engines[name] = describe_engine(name)
        for name in self.config.require:
            if not self.engines[name].available:
                raise RUnavailable(
                    f"Engine {name!r} must be available, because `require` names it, "
                    f"but it is not: {self.engines[name].reason}"
                )
        for name in sorted(asked):
            _, available, _, _, reason = self.engines[name]
            if reason:
                check = "engine_untested" if available else "engine_missing"
                self.journal.find(check, "info", name, reason)

    def steps(self) -> list[tuple[str, Callable[[], None]]]:
        """Return every step with the words that announce it."""
        made: list[tuple[str, Callable[[], None]]] = [
            ("checks of the columns", self.check_columns),
            *(
                (f"checks of {model.name}", partial(self.check, model))
                for model in self.models
            ),
        ]
        for entry, model in self.questions():
            label = f"{entry.method} of {entry.of}, {model.name}"
            made.append((label, partial(self.measure, entry, model)))
        return [*made, ("agreement", self.compare)]

    def questions(self) -> Iterator[tuple[ImportanceSection, FittedModel]]:
        """Yield each entry with each model it asks, under the entry's losses."""
        for entry in self.config.importance:
            for model in self.models:
                if not entry.models or model.name in entry.models:
                    losses = entry.losses_for(model.task)
                    yield entry, model.judged_by(losses or model.losses)

    def check_columns(self) -> None:
        """Ask whether importances of single columns can be told apart."""
        asked = {entry.of for entry in self.config.importance}
        grouped = self.config.groups.values() if "groups" in asked else ()
        answers = checks.of_columns(self.train, self.test, grouped=tuple(grouped))
        self.journal.keep(answers)

    def check(self, model: FittedModel) -> None:
        """Ask whether predict can be believed, then how good the model is."""
        journal, seed = self.journal, self.config.seed
        canaries, _ = journal.guarded(
            model.name,
            "the checks of predict",
            partial(checks.of_model, model, self.test, seed=seed),
        )
        journal.keep(canaries or [])
        self.prediction_gap[model.name] = max(
            (
                float(row["observed"])
                for row, _ in canaries or []
                if row["check"] == "not_deterministic"
            ),
            default=0.0,
        )
        self.check_bridge(model)
        judged = model.judged_by(self.losses_of(model))
        frame, _ = journal.guarded(
            model.name,
            "the performance",
            partial(performance, judged, self.train, self.test, seed=seed),
        )
        if frame is not None:
            journal.performance.append(frame)
            journal.keep(checks.of_performance(model, frame))

    def check_bridge(self, model: FittedModel) -> None:
        """Ask whether R is told what Python predicts, if R is asked at all."""
        if any(
            self.engines[name].available for name in self.engines if name != "python"
        ):
            gap, _ = self.journal.guarded(
                model.name,
                "the predictions that R receives",
                partial(same_predictions, model, self.test),
            )
            if gap is not None:
                self.predictions[model.name] = model.predict(self.test.X)
                known = self.prediction_gap[model.name]
                self.prediction_gap[model.name] = max(known, gap)
                self.journal.keep(checks.of_predictions(model, gap))

    def losses_of(self, model: FittedModel) -> tuple[str, ...]:
        """Return every loss that some entry asks of a model, else its own."""
        losses = [
            loss
            for entry, asked in self.questions()
            if asked.name == model.name
            for loss in entry.losses_for(model.task)
        ]
        return tuple(dict.fromkeys(losses)) or model.losses

    def measure(self, entry: ImportanceSection, model: FittedModel) -> None:
        """Ask every engine of one entry about one model, our own first.

        An R engine that draws gets a run of ours beside it in its own draw order.
        """
        test = self.test
        if entry.of == "groups":
            test = test.asked_by(self.config.groups)
        seed = streams.seed_of(self.config.seed, model.name, entry.method, entry.of)
        ask = partial(self.ask, entry, model, test, seed=seed)
        primary = self.primary_stream(entry)
        ours, _ = ask("python", stream=primary)
        if entry.method == "permutation" and ours:
            self.permute_target(entry, model, test, seed=seed, stream=primary)
        for name in entry.engines:
            info = self.engines[name]
            if info.available:
                theirs, reason = ask(name, stream=info.stream)
            else:
                theirs, reason = (), info.reason
            if not theirs:
                missing = [agreement.not_compared(a, name, reason) for a in ours]
                self.journal.pairs.extend(missing)
            elif measure.draws(entry.method) and info.stream != primary:
                ask("python", stream=info.stream)

    def primary_stream(self, entry: ImportanceSection) -> str:
        """Return our draw order: DALEX's if the entry names it, there or not."""
        if not measure.draws(entry.method):
            return ""
        return "DALEX" if "DALEX" in entry.engines else "numpy"

    def ask(
        self,
        entry: ImportanceSection,
        model: FittedModel,
        test: Dataset,
        engine: str,
        *,
        seed: int,
        stream: str,
    ) -> tuple[tuple[Importance | Effect, ...], str]:
        """Ask one engine one question, keep the answer, or say why there is none.

        The curves come first where the importance is taken from them; an engine that
        has the curves alone has answered.
        """
        info, table, journal = self.engines[engine], ENGINES[engine], self.journal
        question = f"{entry.method} of {entry.of} by {engine}"
        curves: tuple[Effect, ...] = ()
        if METHODS[entry.method].curve in table["effects"] and entry.of == "features":
            drawn = partial(measure.effects, model, test, entry, info, seed=seed)
            found, reason = journal.guarded(model.name, question, drawn)
            curves = found or ()
            journal.effects.extend(curves)
            journal.findings.extend(measure.gaps(curves))
            if not curves or entry.method not in table["importance"]:
                return curves, reason
        asked = partial(
            measure.importances,
            model,
            test,
            entry,
            info,
            seed=seed,
            stream=stream,
            curves=measure.as_curves(curves),
        )
        answer, reason = journal.guarded(model.name, question, asked)
        journal.importances.extend(answer or ())
        for importance in answer or ():
            journal.keep(checks.of_importance(importance, test))
        return answer or (), reason

    def permute_target(
        self,
        entry: ImportanceSection,
        model: FittedModel,
        test: Dataset,
        *,
        seed: int,
        stream: str,
    ) -> None:
        """Keep the loss with the target permuted, drawn in its place in the stream."""
        asked = partial(
            permuted_target,
            model,
            test,
            seed=seed,
            stream=cast(Stream, stream),
            n_repeats=entry.options["n_repeats"],
            n_rows=entry.options["n_rows"],
        )
        losses, _ = self.journal.guarded(model.name, "the loss with y permuted", asked)
        if losses is None:
            return
        for k, loss in enumerate(model.losses):
            frame = pd.DataFrame({"value": losses[:, k]})
            frame["repeat"] = range(1, len(losses) + 1)
            named = frame.assign(model=model.name, of=entry.of, loss=loss)
            self.journal.y_permuted.append(named[list(Y_PERMUTED)])

    def compare(self) -> None:
        """Give each pair its verdict, and each verdict that needs one its finding."""
        limits, journal = self.config.checks, self.journal
        versions = host.installed()["packages"] if len(self.engines) > 1 else {}
        judged = partial(
            agreement.compare,
            resolution=limits.resolution,
            max_rank_shift=limits.max_rank_shift,
            top_k=limits.top_k,
        )
        both: list[tuple[Any, Any]] = [
            *agreement.pairs(journal.importances),
            *agreement.pairs(journal.effects),
        ]
        for a, b in both:
            gap = self.prediction_gap.get(a.model, 0.0)
            told = self.predictions.get(a.model)
            touched = partial(defects_for, versions=versions, predictions=told)
            defects = (*touched(a), *touched(b))
            row, differences = judged(a, b, prediction_gap=gap, defects=defects)
            journal.pairs.append(row)
            journal.differences.extend(differences)
        journal.findings.extend(agreement.findings_of(journal.pairs))
