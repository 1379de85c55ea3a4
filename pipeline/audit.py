"""The audit: what is measured, by whom, in which order. It reads like the report.

Not: formulas, files, HTML.
"""

import hashlib
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

import pandas as pd

from pipeline import agreement, checks, data, environment, measure, models, streams
from pipeline.config import AuditConfig, ImportanceSection
from pipeline.errors import AuditError, DataError, ModelError, NotApplicable
from pipeline.history import run_id
from pipeline.importance import METHODS, permutation
from pipeline.known_defects import defects_for
from pipeline.performance import performance
from pipeline.records import (
    AuditResult,
    Dataset,
    Effect,
    Finding,
    FittedModel,
    Importance,
)
from pipeline.references import ENGINES, EngineInfo, describe_engine, same_predictions
from r_bridge import host
from r_bridge.errors import RDied, RUnavailable

log = logging.getLogger(__name__)

PERFORMANCE_COLUMNS = tuple(
    "model loss split n_samples value std_error constant difference "
    "difference_std_error".split()
)
Y_PERMUTED_COLUMNS = ("model", "of", "loss", "repeat", "value")

Step = Callable[[int, int, str], None]
T = TypeVar("T")


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
    run = _Run(train=train, test=test, config=config, on_step=on_step or _quiet)
    with host.session(r_seconds=config.r.seconds):
        run.look_for_engines()
        run.models = (*_fitted(config, train), *models)
        if not run.models:
            raise ModelError(
                "The audit must have a model, but none was configured or given. "
                "Add [[models]] to the configuration or pass models=."
            )
        try:
            run.go()
        except KeyboardInterrupt:
            run.interrupted()
        return run.result()


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


@dataclass(kw_only=True)
class _Run:
    """What one audit has found so far; private, and gone when the result is made."""

    train: Dataset | None
    test: Dataset
    config: AuditConfig
    on_step: Step
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    clock: float = field(default_factory=time.perf_counter)
    models: tuple[FittedModel, ...] = ()
    engines: dict[str, EngineInfo] = field(default_factory=dict)
    prediction_gap: dict[str, float] = field(default_factory=dict)
    importances: list[Importance] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    performance: list[pd.DataFrame] = field(default_factory=list)
    y_permuted: list[pd.DataFrame] = field(default_factory=list)
    checks: list[dict[str, Any]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    pairs: list[dict[str, Any]] = field(default_factory=list)
    differences: list[dict[str, Any]] = field(default_factory=list)
    status: str = "complete"
    label: str = "fitting the models"
    done: int = 0
    total: int = 0
    seconds: dict[str, float] = field(default_factory=dict)

    def look_for_engines(self) -> None:
        """Ask once which engines are here; stop before any fit if one is required."""
        asked = {name for entry in self.config.importance for name in entry.engines}
        for name in ("python", *sorted(asked | set(self.config.require))):
            self.engines[name] = describe_engine(name)
        for name in self.config.require:
            if not self.engines[name].available:
                raise RUnavailable(
                    f"Engine {name!r} must be available, because `require` names it, "
                    f"but {self.engines[name].reason}"
                )
        for name in sorted(asked):
            if not self.engines[name].available:
                self.find("engine_missing", "info", name, self.engines[name].reason)

    def go(self) -> None:
        """Take every step in turn."""
        steps = self.steps()
        self.total = len(steps)
        for label, step in steps:
            self.announce(label)
            step()
        self.announce("done")

    def steps(self) -> list[tuple[str, Callable[[], None]]]:
        """Return every step with the words that announce it."""
        made: list[tuple[str, Callable[[], None]]] = []
        for model in self.models:
            made.append((f"checks of {model.name}", lambda m=model: self.check(m)))
        for entry, model in self.questions():
            label = f"{entry.method} of {entry.of}, {model.name}"
            made.append((label, lambda e=entry, m=model: self.measure(e, m)))
        made.append(("agreement", self.compare))
        return made

    def questions(self) -> Iterator[tuple[ImportanceSection, FittedModel]]:
        """Yield each entry with each model it asks, under the entry's losses."""
        for entry in self.config.importance:
            for model in self.models:
                if not entry.models or model.name in entry.models:
                    yield entry, model.judged_by(entry.losses or model.losses)

    def check(self, model: FittedModel) -> None:
        """Ask the canaries, then how good the model is."""
        self.guarded(model.name, "the checks", lambda: self.canaries(model))
        losses = tuple(
            dict.fromkeys(
                loss
                for entry, asked in self.questions()
                if asked.name == model.name and METHODS[entry.method].unit == "loss"
                for loss in asked.losses
            )
        )
        judged = model.judged_by(losses or model.losses)
        frame, _ = self.guarded(
            model.name,
            "the performance",
            lambda: performance(judged, self.train, self.test, seed=self.config.seed),
        )
        if frame is not None:
            self.performance.append(frame)
            self.keep(checks.of_performance(model, frame))

    def canaries(self, model: FittedModel) -> None:
        """Check that predict can be believed, here and through the bridge."""
        self.keep(checks.of_model(model, self.test, seed=self.config.seed))
        if any(info.available for name, info in self.engines.items() if name != "python"):
            gap, _ = self.guarded(
                model.name, "R's predictions", lambda: same_predictions(model, self.test)
            )
            if gap is not None:
                self.prediction_gap[model.name] = gap
                self.keep(checks.of_predictions(model, gap))

    def measure(self, entry: ImportanceSection, model: FittedModel) -> None:
        """Ask every engine of one entry about one model, our own first."""
        test = self.test
        if entry.of == "groups":
            test = test.asked_by(self.config.groups)
        seed = streams.seed_of(self.config.seed, model.name, entry.method, entry.of)
        primary = self.primary_stream(entry)
        ours, _ = self.ask(entry, model, test, "python", seed=seed, stream=primary)
        if entry.method == "permutation" and ours:
            self.permute_target(entry, model, test, seed=seed, stream=primary)
        for name in entry.engines:
            stream = self.engines[name].stream
            theirs, reason = (), self.engines[name].reason
            if self.engines[name].available:
                theirs, reason = self.ask(
                    entry, model, test, name, seed=seed, stream=stream
                )
            if not theirs:
                self.pairs += [agreement.not_compared(a, name, reason) for a in ours]
            elif measure.draws(entry.method) and stream != primary:
                self.ask(entry, model, test, "python", seed=seed, stream=stream)

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
        """Ask one engine one question, keep the answer, and say why there is none.

        The curves come first where the importance is taken from them; an engine that
        has the curves alone has answered.
        """
        info = self.engines[engine]
        question = f"{entry.method} of {entry.of} by {engine}"
        method, table = METHODS[entry.method], ENGINES[engine]
        curves: tuple[Effect, ...] = ()
        if method.curve in table["effects"] and entry.of == "features":
            found, reason = self.guarded(
                model.name,
                question,
                lambda: measure.effects(model, test, entry, info, seed=seed),
            )
            curves = found or ()
            self.effects.extend(curves)
            if not curves or entry.method not in table["importance"]:
                return curves, reason
        answer, reason = self.guarded(
            model.name,
            question,
            lambda: measure.importances(
                model,
                test,
                entry,
                info,
                seed=seed,
                stream=stream,
                curves=measure.as_curves(curves),
            ),
        )
        self.importances.extend(answer or ())
        for importance in answer or ():
            self.keep(checks.of_importance(importance, test))
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
        names = ("n_repeats", "n_rows")
        options = {name: entry.options[name] for name in names}
        losses, _ = self.guarded(
            model.name,
            "the loss with y permuted",
            lambda: permutation.permuted_target(
                model, test, seed=seed, stream=stream, **options
            ),
        )
        if losses is not None:
            for k, loss in enumerate(model.losses):
                self.y_permuted.append(
                    pd.DataFrame(
                        {
                            "model": model.name,
                            "of": entry.of,
                            "loss": loss,
                            "repeat": range(1, len(losses) + 1),
                            "value": losses[:, k],
                        }
                    )
                )

    def compare(self) -> None:
        """Give each pair its verdict, and each verdict that needs one its finding."""
        limits = self.config.checks
        versions = host.installed()["packages"] if len(self.engines) > 1 else {}
        both = agreement.pairs(self.importances) + agreement.pairs(self.effects)
        for a, b in both:
            row, differences = agreement.compare(
                a,
                b,
                resolution=limits.resolution,
                max_rank_shift=limits.max_rank_shift,
                top_k=limits.top_k,
                prediction_gap=self.prediction_gap.get(a.model, 0.0),
                defects=defects_for(b, versions),
            )
            self.pairs.append(row)
            self.differences.extend(differences)
        self.findings.extend(agreement.findings_of(self.pairs))

    def guarded(
        self, subject: str, question: str, ask: Callable[[], T]
    ) -> tuple[T | None, str]:
        """Return the answer, or None and why there is none, which is a finding too.

        A dead R is started again and asked once more.
        """
        try:
            try:
                return ask(), ""
            except RDied as error:
                message = f"R died in {question} and was started again: {error}"
                self.find("r_restarted", "warning", subject, message)
                return ask(), ""
        except NotApplicable as error:
            reason = str(error)
            self.find("not_applicable", "info", subject, reason)
        except Exception as error:
            log.exception("%s failed for %s", question, subject)
            words = str(error) or type(error).__name__
            reason = f"{question[0].upper()}{question[1:]} failed: {words}"
            self.find("method_failed", "failure", subject, reason)
        return None, reason

    def announce(self, label: str) -> None:
        """Tell the progress channel which step begins, and keep the clock."""
        now = time.perf_counter()
        self.seconds[self.label] = self.seconds.get(self.label, 0.0) + now - self.clock
        self.clock, self.label = now, label
        self.on_step(self.done, self.total, label)
        self.done += 1

    def interrupted(self) -> None:
        """Keep what there is, and say where it stopped."""
        self.status = "interrupted"
        message = f"The audit was interrupted in the step {self.label!r}."
        self.find("interrupted", "failure", "audit", message)

    def keep(self, answers: "checks.Answers") -> None:
        """Keep the rows of some checks, and their findings."""
        for row, finding in answers:
            self.checks.append(row)
            if finding is not None:
                self.findings.append(finding)

    def find(self, check: str, severity: Any, subject: str, message: str) -> None:
        """Keep one finding of the orchestration itself."""
        self.findings.append(
            Finding(check=check, severity=severity, subject=subject, message=message)
        )

    def result(self) -> AuditResult:
        """Return everything found as one record."""
        r = host.installed() if len(self.engines) > 1 else {}
        digest = _digest(self.train, self.test)
        return AuditResult(
            run=environment.run_info(
                self.config,
                status=self.status,
                data_sha256=digest,
                started=self.started,
                run_id=run_id(self.started, self.config.sha256, digest),
                seconds_by_step=self.seconds,
                r=r,
            ),
            columns=data.describe(self.train, self.test, self.config),
            datasets=data.datasets_frame(self.train, self.test),
            models=models.models_frame(self.models),
            performance=_stacked(self.performance, PERFORMANCE_COLUMNS),
            y_permuted=_stacked(self.y_permuted, Y_PERMUTED_COLUMNS),
            agreement=agreement.agreement_frame(self.pairs),
            disagreements=agreement.disagreements_frame(self.differences),
            checks=checks.checks_frame(self.checks),
            importances=tuple(self.importances),
            effects=tuple(self.effects),
            findings=tuple(self.findings),
        )


def _digest(train: Dataset | None, test: Dataset) -> str:
    """Return the SHA-256 of the digests of both sets of rows."""
    parts = [part.sha256 for part in (train, test) if part is not None]
    return hashlib.sha256("|".join(parts).encode()).hexdigest()


def _stacked(frames: list[pd.DataFrame], columns: tuple[str, ...]) -> pd.DataFrame:
    """Return the frames below each other, with these columns even if there is none."""
    if not frames:
        return pd.DataFrame(columns=list(columns))
    return pd.concat(frames, ignore_index=True)
