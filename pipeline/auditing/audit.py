"""The audit: what is measured, by whom, in which order. It reads like the report.

Not: formulas, files, HTML; what was found is kept in a `journal`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial

from importance_audit.r_bridge import host
from importance_audit.r_bridge.errors import RBridgeError, RUnavailable

from ..assess import checks, expectations
from ..assess.associations import association_rows
from ..assess.calibration import calibration_checks
from ..assess.claims.judge import Measured, judge
from ..assess.clusters import Cluster, cluster_rows, find_clusters
from ..assess.dependent_leaders import dependent_leaders
from ..assess.held_out_loss import out_of_bag_rows
from ..assess.loss_sensitivity import compare_losses
from ..assess.segments import performance_rows
from ..assess.split_shifts import split_shift_rows
from ..config.extensions import rows_of
from ..config.load import AuditConfig, ImportanceSection
from ..engines import (
    EngineInfo,
    compare_predictions,
    describe_engine,
)
from ..methods.importance import METHODS
from ..methods.trees.compiled import reporting_compilation
from ..methods.trees.fitted import reporting_differences
from ..models.diagnostics import diagnostic_rows
from ..models.fit import by_predict_where_it_differs, fit_models
from ..models.performance import Performance, paired_differences, performance
from ..models.prediction import asking_once_about, predict_unchanged
from ..models.prediction_digest import predictions_sha256
from ..models.r_models import asks_r, refuse_other_predictions, side_effects
from ..records.dataset_and_model import Dataset, FittedModel, Floats
from ..records.errors import AuditError, quote
from ..records.execution import workers
from ..records.extensions import in_force, is_in_force
from ..records.finding import Finding
from ..records.losses import OF_CLASS
from ..records.ranking import is_marginal, primary
from ..records.result import AuditResult
from . import measure, preconditions
from .clock import Clock
from .entry import answer_entry
from .journal import Journal
from .limits import limited
from .log import Log, Step, silent
from .steps import Run
from .steps.compare_engines import PredictionFacts, compare_all
from .steps.joint_importance import add_joint_importance
from .steps.selected_sets import add_selection
from .steps.supplied import FileContent, add_supplied, read_files
from .steps.surfaces import add_surfaces
from .steps.top_k import add_top_k_curves

ENGINE_NEEDS = 2
"""How much time an engine is left under a limit, in times of what we had."""


def audit(
    train: Dataset | None,
    test: Dataset,
    config: AuditConfig,
    *,
    models: tuple[FittedModel, ...] = (),
    on_step: Step | None = None,
    minutes: float | None = None,
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
        ``on_step(done, total, label)``, the only progress channel; before there are
        steps, `total` is 0.
    minutes : float, optional
        In the place of ``config.limits.minutes``: after so many no model is asked any
        more.

    Returns
    -------
    AuditResult
        What was found. Interrupted (Ctrl-C), or stopped by a fault of ours in some
        step, what was found until then: `run.status` says so. After Ctrl-C what was
        found is still compared; no model is asked for that.

    Raises
    ------
    ConfigError, DataError, ModelError
        The question cannot be asked.
    importance_audit.r_bridge.errors.RUnavailable
        An engine of ``config.require`` is not there; raised before any fit.
    """
    clock = Clock(minutes or config.limits.minutes)
    journal = Journal(log=Log(on_step or silent), clock=clock)
    return audit_into(journal, train, test, config, models=models)


def audit_into(
    journal: Journal,
    train: Dataset | None,
    test: Dataset,
    config: AuditConfig,
    *,
    models: tuple[FittedModel, ...] = (),
) -> AuditResult:
    """Do what `audit` does, in a journal that may hold what came before."""
    with in_force(rows_of(config.extensions)):
        config, test, cuts = limited(config, test)
        journal.findings += cuts
        journal.clock.n_rows = test.X.shape[1]
        run = _Run(train=train, test=test, config=config, journal=journal)
        r = config.r
        with (
            host.session(r_seconds=r.seconds, r_memory_gb=r.memory_gb),
            reporting_differences(journal.add_difference_of_trees),
            reporting_compilation(journal.log.report_compilation),
            workers(
                config.execution.n_jobs,
                config.execution.backend,
                config.execution.scheduler,
                report=journal.add_of_workers,
                check=journal.clock.require_time,
            ) as crew,
            asking_once_about(test.X),
        ):
            deaths = host.current().unseen_deaths
            if run.prepare(models):
                steps, closing = run.steps(), run.closing_steps()
                journal.follow([*steps, *closing], n_closing=len(closing))
            run.report_restarts(before=deaths)
            if crew is not None and crew.used:
                journal.log.note("workers", "info", "; then ".join(crew.used))
            asked_r = bool(run.r_engines) or any(map(asks_r, run.models))
            return journal.result(train, test, config, run.models, asked_r=asked_r)


def exit_code(result: AuditResult) -> int:
    """Return 130 interrupted, 3 R required, 4 no whole answer, 1 not confirmed or 0."""
    if result.run.status == "interrupted":
        return 130
    if any(finding.check == "engine_required" for finding in result.findings):
        return 3
    return {"not established": 4, "not confirmed": 1}.get(result.verdict, 0)


def read_together(run: Run) -> None:
    """Add what several rankings say together: losses and associations."""
    journal, limits = run.journal, run.config.checks
    rows, findings = compare_losses(journal.importances, top_k=limits.top_k)
    journal.rows["losses"] += rows
    journal.findings += findings
    journal.rows["associations"] += association_rows(
        run.test, journal.importances, threshold=limits.dependence
    )


@dataclass(kw_only=True)
class _Run(Run):
    """The steps of one audit, and what later steps need of earlier ones."""

    supplied: tuple[FileContent, ...] = ()
    predictions: dict[str, PredictionFacts] = field(default_factory=dict)
    judged: list[tuple[FittedModel, Floats]] = field(default_factory=list)
    on_training_rows: set[str] = field(default_factory=set)

    @property
    def r_engines(self) -> list[EngineInfo]:
        """Those engines that are R packages, available or not."""
        engines = self.engines.values()
        return [
            e
            for e in engines
            if e.name != "python" and not is_in_force("engine", e.name)
        ]

    def prepare(self, fitted: tuple[FittedModel, ...]) -> bool:
        """Get engines, files and models, and return whether they are there.

        Interrupted, or at a fault of ours, the audit has what there was until then.
        """
        steps: tuple[tuple[str, Callable[[], None]], ...] = (
            ("engines", self.look_for_engines),
            ("supplied files", self.read_supplied),
            ("models", partial(self.fit, fitted)),
        )
        faults = (AuditError, RBridgeError)
        journal = self.journal
        taken = all(
            journal.take(*step, journal.clock.seconds_left, passing=faults)
            for step in steps
        )
        return taken and bool(self.models)  # none: time was over while they were fitted

    def read_supplied(self) -> None:
        """Read what was measured elsewhere, for rows that can be audited."""
        preconditions.check_rows(self.config, self.train, self.test)
        self.supplied = read_files(self.config)
        preconditions.check_supplied(self.config, self.supplied, self.test)

    def fit(self, fitted: tuple[FittedModel, ...]) -> None:
        """Fit or load the models of the configuration, beside those that are given."""
        own: tuple[FittedModel, ...] = ()
        if sections := self.config.models:
            train = preconditions.training_rows(self.config, self.train, self.test)
            own = fit_models(
                sections, train, base=self.config.base, phase=self.journal.log.phase
            )
        models = (*own, *(model.for_rows(self.test) for model in fitted))
        if any(set(entry.losses) & set(OF_CLASS) for entry in self.config.importance):
            base = self.config.base
            models = tuple(
                by_predict_where_it_differs(model, self.test, base) for model in models
            )
        self.models = tuple(map(self.journal.clock.watched, models))
        held = {column for model in self.models for column in model.held}
        if held:  # offsets stay with their rows
            self.test = self.test.without_asking(held)
            self.train = self.train and self.train.without_asking(held)
        self.journal.findings += preconditions.features_not_asked(self.models)
        preconditions.check_names(self.config, self.test, self.models)

    def look_for_engines(self) -> None:
        """Ask once which engines are here; stop before any fit if one is required."""
        config = self.config
        names = {name for entry in config.importance for name in entry.engines}
        versions = {
            item.name: item.facts.get("version", "") for item in config.extensions
        }
        self.engines = {
            name: describe_engine(name, versions.get(name, ""))
            for name in ("python", *sorted(names | set(config.require)))
        }
        for name in config.require:
            if not self.engines[name].available:
                raise RUnavailable(
                    f"Engine {quote(name)} is not available, but `require` names it: "
                    f"{self.engines[name].reason.rstrip('.')}."
                )
        for name in sorted(names):
            _, available, _, _, reason = self.engines[name]
            if reason:
                self.journal.findings.append(
                    Finding(
                        check="engine_untested" if available else "engine_missing",
                        severity="warning" if available else "info",
                        subject=name,
                        message=reason,
                        engines=(name,),
                    )
                )

    def report_restarts(self, *, before: int) -> None:
        """Say that R was started again where no question saw it die."""
        deaths = host.current().unseen_deaths - before
        if deaths:
            self.journal.findings.append(
                Finding(
                    check="r_restarted",
                    severity="warning",
                    subject="R",
                    message=(
                        f"R stopped between two calls and was restarted, {deaths} "
                        f"{'time' if deaths == 1 else 'times'} in all."
                    ),
                    cause="r_died",
                )
            )

    def steps(self) -> list[tuple[str, Callable[[], None]]]:
        """Return every step with the words that announce it."""
        steps: list[tuple[str, Callable[[], None]]] = [
            ("checks of the columns", self.check_columns),
            *(
                (f"checks of {model.name}", partial(self.check, model))
                for model in self.models
            ),
        ]
        steps.append(("digests of the predictions", self.add_digests))
        questions = [*self.questions()]
        # An engine that repeats ours needs more time: it starts a process, and asks
        # about rows as they are, and with the target permuted, in every repeat.
        needs = [1 + ENGINE_NEEDS * len(entry.engines) for entry, _ in questions]
        for place, (entry, model) in enumerate(questions):
            share = 1 / sum(needs[place:])
            ask = partial(answer_entry, self, entry, model, share)
            which = f", {entry.name}" if entry.name else ""
            subject = "the data" if model is None else model.name
            steps.append((f"{entry.method} of {entry.of}, {subject}{which}", ask))
        if self.clusters and any(map(measure.is_marginal, self.config.importance)):
            steps.append(("joint importance of clusters", self.measure_clusters))
        if self.config.surfaces:
            steps.append(("surfaces of two features", partial(add_surfaces, self)))
        if self.config.top_k.k:
            steps.append(("top-k error curves", partial(add_top_k_curves, self)))
        if self.config.selection.splits:
            label = "test error of selected sets"
            steps.append((label, partial(add_selection, self)))
        return steps

    def closing_steps(self) -> list[tuple[str, Callable[[], None]]]:
        """Return the steps that say what was measured, which ask no model.

        They are taken also when time is over, and after an interruption.
        """
        steps: list[tuple[str, Callable[[], None]]] = []
        for supplied, content in zip(self.config.supplied, self.supplied, strict=True):
            label = f"supplied {supplied.method}, {supplied.model}"
            steps.append((label, partial(add_supplied, self, supplied, content)))
        claims = [("claims", self.judge_claims)] if self.config.claims else []
        return [*steps, ("agreement", self.compare), *claims]

    def questions(self) -> Iterator[tuple[ImportanceSection, FittedModel | None]]:
        """Yield each entry with each model that it asks."""
        for entry in self.config.importance:
            for model in measure.models_of(entry, self.models, self.config):
                yield entry, model

    def check_columns(self) -> None:
        """Ask whether importances of single columns can be told apart."""
        for rows in (self.train, self.test):
            self.journal.findings.extend(rows.notes if rows is not None else ())
        for model in self.models:
            self.journal.findings.extend(model.notes)
            self.journal.findings.extend(measure.other_losses(model, self.config))
        if any(map(measure.is_marginal, self.config.importance)):
            self.journal.rows["clusters"] += cluster_rows(self.clusters)
        answers = checks.of_columns(
            self.train,
            self.test,
            grouped=tuple(self.grouped.values()),
            limits=self.limits("dependence"),
        )
        if self.train is not None:
            limits = self.limits("split_shift")
            limit = self.config.checks.split_shift
            shifts = split_shift_rows(self.train, self.test, limit=limit)
            self.journal.rows["split_shifts"] += shifts
            answers += checks.of_shifts(self.test, shifts, limits=limits)
        self.journal.add_checks(answers)

    def check(self, model: FittedModel) -> None:
        """Ask whether predict can be believed, then how good the model is."""
        journal, seed = self.journal, self.config.seed
        if asks_r(model):
            refuse_other_predictions(model)
            journal.findings += side_effects(model, self.test)
        canaries, _ = journal.guarded(
            model.name,
            "the checks of predict",
            partial(checks.of_model, model, self.test, train=self.train, seed=seed),
        )
        journal.add_checks(canaries or [])
        if any(f and f.check == "scored_on_training_rows" for _, f in canaries or []):
            self.on_training_rows.add(model.name)
        gaps = [
            float(row["observed"])
            for row, _ in canaries or []
            if row["check"] == "not_deterministic"
        ]
        self.predictions[model.name] = PredictionFacts(max(gaps, default=0.0))
        self.check_bridge(model)
        for judged in model.asked_for(self.losses_of(model)):
            self.check_performance(judged)

    def check_performance(self, judged: FittedModel) -> None:
        """Ask how good a model is on one scale."""
        journal = self.journal

        def judge() -> Performance:
            """Return how good it is: on its own rows, out of bag, on other rows."""
            return performance(
                judged,
                self.train,
                self.test,
                seed=self.config.seed,
                out_of_bag=out_of_bag_rows(judged),
            )

        frames, _ = journal.guarded(judged.name, "the performance", judge)
        if frames is None:
            return
        rows = {
            "performance": frames.losses.to_dict("records"),
            "readings": frames.readings.to_dict("records"),
            "comparisons": [
                row
                for other, predicted in self.judged
                for row in paired_differences(
                    other, predicted, judged, frames.prediction, self.test
                )
            ],
            **diagnostic_rows(judged, self.test, frames.prediction, split="test"),
        }
        rows |= performance_rows(judged, self.test, frames.prediction, self.segments)
        deciles = calibration_checks(rows.get("calibration", ()))
        rows["calibration_checks"] = deciles
        self.judged.append((judged, frames.prediction))
        for name, rows_of_frame in rows.items():
            journal.rows[name] += rows_of_frame
        limits = self.limits("train_test_gap", "calibration")
        if judged.name not in self.on_training_rows:  # which tell nothing of new rows
            answers = checks.of_performance(judged, frames.losses, limits=limits)
            answers += checks.of_deciles(judged, deciles, limits=limits)
            journal.add_checks(answers)

    def check_bridge(self, model: FittedModel) -> None:
        """Ask whether R is told what Python predicts, if R is asked at all."""
        if not any(engine.available for engine in self.r_engines):
            return
        journal, name = self.journal, model.name
        ask = partial(compare_predictions, model, self.test)
        answer, _ = journal.guarded(name, "the predictions that R receives", ask)
        if answer is None:
            return
        gap, draws = answer
        journal.add_checks(checks.of_predictions(model, gap))
        journal.add_checks(checks.of_draws(model, draws))
        larger = max(self.predictions[name].gap, gap)
        in_r = predict_unchanged(model, self.test.X)
        self.predictions[name] = PredictionFacts(larger, in_r, draws)

    @property
    def grouped(self) -> dict[str, tuple[str, ...]]:
        """The groups of the owner, if any entry measures them."""
        jointly = any(entry.of == "groups" for entry in self.config.importance)
        return dict(self.config.groups) if jointly else {}

    @cached_property
    def clusters(self) -> list[Cluster]:
        """The sets of correlated features."""
        threshold = self.config.checks.dependence
        return find_clusters(self.test, self.grouped, threshold=threshold)

    def measure_clusters(self) -> None:
        """Permute correlated features together, for each model and loss once."""
        journal = self.journal
        rankings = [r for _, r in primary(journal.importances).values()]
        for entry, model in self.questions():
            rows = journal.rows["joint_importances"]
            done = {row["loss"] for row in rows if model and row["model"] == model.name}
            if (
                model is None
                or not measure.is_marginal(entry)
                or done >= {*model.losses}
            ):
                continue
            own = (
                ranking
                for ranking in rankings
                if is_marginal(ranking)
                and (ranking.model, ranking.entry) == (model.name, entry.name)
                and ranking.loss in model.losses
            )
            ranking = next(own, None)
            if ranking is not None:
                add_joint_importance(self, entry, model, self.clusters, ranking)

    def losses_of(self, model: FittedModel) -> tuple[str, ...]:
        """Return every loss that some entry asks of a model, else its own."""
        losses = [
            loss
            for entry, subject in self.questions()
            if subject is not None and subject.name == model.name
            for loss in subject.losses
            if METHODS[entry.method].unit == "loss"
        ]
        return tuple(dict.fromkeys(losses)) or model.losses

    def add_digests(self) -> None:
        """Say which predictions each model makes for the audited rows.

        A model whose quality could not be measured has none to speak of, and a finding
        of its own.
        """
        for model, made in self.judged:
            self.journal.digests[model.name] = predictions_sha256(made)

    def compare(self) -> None:
        """Hold the engines against each other, and all against what was expected."""
        journal = self.journal
        versions = host.installed()["packages"] if len(self.engines) > 1 else {}
        compare_all(self, predictions=self.predictions, versions=versions)
        rows, findings = expectations.judge(
            self.config.expected,
            journal.importances,
            resolution=self.config.checks.resolution,
            row_intervals=journal.rows["row_intervals"],
        )
        journal.rows["expected"] += rows
        journal.findings += findings
        read_together(self)
        journal.findings += dependent_leaders(
            journal.importances,
            self.train,
            self.test,
            grouped=tuple(self.grouped.values()),
            threshold=self.config.checks.dependence,
            top_k=self.config.checks.top_k,
            clusters=self.clusters,
            joint=journal.rows["joint_importances"],
        )

    def judge_claims(self) -> None:
        """Hold each claim of a paper against what was measured."""
        journal = self.journal
        measured = Measured(
            journal.importances,
            journal.effects,
            journal.rows["performance"],
            journal.rows["top_k"],
            self.models,
            self.config.seed,
        )
        rows, findings = judge(self.config.claims, measured)
        journal.rows["claims"] += rows
        journal.findings += findings
