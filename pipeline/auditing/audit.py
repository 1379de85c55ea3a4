"""The audit: the steps in their order, which is that of the report.

Not: formulas, files, HTML; results are collected in a `journal`.
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
from ..methods.trees.routes import reporting_routes
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
"""Time that an engine needs as a multiple of ours, to share out limited time."""


def audit(
    train: Dataset | None,
    test: Dataset,
    config: AuditConfig,
    *,
    models: tuple[FittedModel, ...] = (),
    on_step: Step | None = None,
    minutes: float | None = None,
) -> AuditResult:
    """Measure every importance in `config`, with every engine that it names.

    Parameters
    ----------
    train : Dataset or None
        The training rows of the models in `config`; None if all models are given and
        their training rows are unknown.
    test : Dataset
        The rows that importances are measured on.
    config : AuditConfig
        The configuration, from `load.load_config` or `load.parse_config`.
    models : tuple of FittedModel
        Fitted models of `fit.wrap`, audited in addition to those in `config`.
    on_step : callable, optional
        ``on_step(done, total, label)``, the only progress channel; before the number of
        steps is known, `total` is 0.
    minutes : float, optional
        Replaces ``config.limits.minutes``: no model is called after this time.

    Returns
    -------
    AuditResult
        All results. If the audit was interrupted (Ctrl-C), or an internal error stopped
        it, the results until then: see `run.status`. Results until an interruption are
        still compared, which calls no model.

    Raises
    ------
    ConfigError, DataError, ModelError
        The configuration does not fit the rows or models.
    importance_audit.r_bridge.errors.RUnavailable
        An engine in ``config.require`` is not available; raised before any fit.
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
    """Do the work of `audit`, with a journal that may have earlier findings."""
    with in_force(rows_of(config.extensions)):
        config, test, cuts = limited(config, test)
        journal.findings += cuts
        journal.clock.n_report_rows = test.X.shape[1]  # of the table of columns
        run = _Run(train=train, test=test, config=config, journal=journal)
        r = config.r
        with (
            host.session(r_seconds=r.seconds, r_memory_gb=r.memory_gb),
            reporting_routes(journal.add_difference_of_trees),
            reporting_compilation(journal.log.report_compilation),
            workers(
                config.execution.n_jobs,
                config.execution.backend,
                config.execution.scheduler,
                report=journal.add_of_workers,
                check=journal.clock.require_time,
            ) as executor,
            asking_once_about(test.X),
        ):
            deaths = host.current().unseen_deaths
            if run.prepare(models):
                steps, closing = run.steps(), run.closing_steps()
                journal.follow([*steps, *closing], n_closing=len(closing))
            run.report_restarts(before=deaths)
            if executor is not None and executor.used:
                journal.log.note("workers", "info", "; then ".join(executor.used))
            asked_r = bool(run.r_engines) or any(map(asks_r, run.models))
            return journal.result(train, test, config, run.models, asked_r=asked_r)


def exit_code(result: AuditResult) -> int:
    """Return 130: interrupted, 3: R missing, 4: incomplete, 1: not confirmed, or 0."""
    if result.run.status == "interrupted":
        return 130
    if any(finding.check == "engine_required" for finding in result.findings):
        return 3
    return {"not established": 4, "not confirmed": 1}.get(result.verdict, 0)


def read_together(run: Run) -> None:
    """Add what needs several rankings: agreement of losses, and associations."""
    journal, limits = run.journal, run.config.checks
    rows, findings = compare_losses(journal.importances, top_k=limits.top_k)
    journal.rows["losses"] += rows
    journal.findings += findings
    journal.rows["associations"] += association_rows(
        run.test, journal.importances, threshold=limits.dependence
    )


@dataclass(kw_only=True)
class _Run(Run):
    """The steps of one audit, and results of steps that later ones need."""

    supplied: tuple[FileContent, ...] = ()
    predictions: dict[str, PredictionFacts] = field(default_factory=dict)
    judged: list[tuple[FittedModel, Floats]] = field(default_factory=list)
    on_training_rows: set[str] = field(default_factory=set)

    @property
    def r_engines(self) -> list[EngineInfo]:
        """The engines that are R packages, available or not."""
        engines = self.engines.values()
        return [
            e
            for e in engines
            if e.name != "python" and not is_in_force("engine", e.name)
        ]

    def prepare(self, fitted: tuple[FittedModel, ...]) -> bool:
        """Prepare engines, files and models, and return whether all are available.

        After an interruption or an internal error, the audit keeps what is available.
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
        return taken and bool(self.models)  # empty if time ran out during the fits

    def read_supplied(self) -> None:
        """Check the rows, and read the files of supplied numbers."""
        preconditions.check_rows(self.config, self.train, self.test)
        self.supplied = read_files(self.config)
        preconditions.check_supplied(self.config, self.supplied, self.test)

    def fit(self, fitted: tuple[FittedModel, ...]) -> None:
        """Fit or load the models of the configuration, and add the given ones."""
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
        if held:  # offsets are never permuted
            self.test = self.test.without_asking(held)
            self.train = self.train and self.train.without_asking(held)
        self.journal.findings += preconditions.features_not_asked(self.models)
        preconditions.check_names(self.config, self.test, self.models)

    def look_for_engines(self) -> None:
        """Find available engines; stop before any fit if a required one is absent."""
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
        """Add a finding if R died and was restarted between two calls."""
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
        """Return every step with its label."""
        steps: list[tuple[str, Callable[[], None]]] = [
            ("checks of the columns", self.check_columns),
            *(
                (f"checks of {model.name}", partial(self.check, model))
                for model in self.models
            ),
        ]
        steps.append(("digests of the predictions", self.add_digests))
        questions = [*self.questions()]
        # An engine that repeats our computation needs more time: it starts a process,
        # and predicts unpermuted rows, and rows with the target permuted, in every
        # repeat.
        needs = [1 + ENGINE_NEEDS * len(entry.engines) for entry, _ in questions]
        for place, (entry, model) in enumerate(questions):
            share = 1 / sum(needs[place:])
            ask = partial(answer_entry, self, entry, model, share)
            which = f", {entry.name}" if entry.name else ""
            subject = "the data" if model is None else model.name
            steps.append((f"{entry.method} of {entry.of}, {subject}{which}", ask))
        if self.clusters and any(map(is_marginal, self.config.importance)):
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
        """Return the final steps, which call no model.

        They run even after the time limit or an interruption.
        """
        steps: list[tuple[str, Callable[[], None]]] = []
        for supplied, content in zip(self.config.supplied, self.supplied, strict=True):
            label = f"supplied {supplied.method}, {supplied.model}"
            steps.append((label, partial(add_supplied, self, supplied, content)))
        claims = [("claims", self.judge_claims)] if self.config.claims else []
        return [*steps, ("agreement", self.compare), *claims]

    def questions(self) -> Iterator[tuple[ImportanceSection, FittedModel | None]]:
        """Yield each entry with each of its models."""
        for entry in self.config.importance:
            for model in measure.models_of(entry, self.models, self.config):
                yield entry, model

    def check_columns(self) -> None:
        """Check whether importances of single columns can be separated."""
        for rows in (self.train, self.test):
            self.journal.findings.extend(rows.notes if rows is not None else ())
        for model in self.models:
            self.journal.findings.extend(model.notes)
            self.journal.findings.extend(measure.other_losses(model, self.config))
        if any(map(is_marginal, self.config.importance)):
            self.journal.rows["clusters"] += cluster_rows(self.clusters)
        self.journal.check(
            "columns",
            self.test.name,
            self.limits("dependence"),
            train=self.train,
            test=self.test,
            grouped=tuple(self.grouped.values()),
        )
        if self.train is not None:
            limits = self.limits("split_shift")
            limit = self.config.checks.split_shift
            shifts = split_shift_rows(self.train, self.test, limit=limit)
            self.journal.rows["split_shifts"] += shifts
            self.journal.check("shifts", self.test.name, limits, rows=shifts)

    def check(self, model: FittedModel) -> None:
        """Check whether predict is reliable, then measure the model's performance."""
        journal = self.journal
        if asks_r(model):
            refuse_other_predictions(model)
            journal.findings += side_effects(model, self.test)
        ask = partial(
            checks.run,
            "model",
            model.name,
            model=model,
            data=self.test,
            train=self.train,
            seed=self.config.seed,
        )
        canaries, _ = journal.guarded(model.name, "the checks of predict", ask)
        journal.add_checks(canaries or [])
        verdicts = {row["check"]: row["verdict"] for row, _ in canaries or []}
        if verdicts.get("scored_on_training_rows") == "warn":  # of a few it is a note
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
        """Measure the performance of a model on one scale."""
        journal = self.journal

        def judge() -> Performance:
            """Return the performance on training rows, out of bag, and on test rows."""
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
        if judged.name not in self.on_training_rows:  # not informative about new rows
            of_losses = checks.of_performance(judged, frames.losses, limits=limits)
            journal.add_checks(of_losses)
            for row in deciles:
                journal.check("deciles", judged.name, limits, model=judged, row=row)

    def check_bridge(self, model: FittedModel) -> None:
        """Check that R receives Python's predictions, if R is used."""
        if not any(engine.available for engine in self.r_engines):
            return
        journal, name = self.journal, model.name
        ask = partial(compare_predictions, model, self.test)
        answer, _ = journal.guarded(name, "the predictions that R receives", ask)
        if answer is None:
            return
        gap, draws = answer
        journal.check("predictions", name, gap=gap)
        journal.check("draws", name, draws=draws)
        larger = max(self.predictions[name].gap, gap)
        in_r = predict_unchanged(model, self.test.X)
        self.predictions[name] = PredictionFacts(larger, in_r, draws)

    @property
    def grouped(self) -> dict[str, tuple[str, ...]]:
        """The groups of the owner if any entry measures them, otherwise none."""
        jointly = any(entry.of == "groups" for entry in self.config.importance)
        return dict(self.config.groups) if jointly else {}

    @cached_property
    def clusters(self) -> list[Cluster]:
        """The sets of correlated features."""
        threshold = self.config.checks.dependence
        return find_clusters(self.test, self.grouped, threshold=threshold)

    def measure_clusters(self) -> None:
        """Permute correlated features together, once for each model and loss."""
        journal = self.journal
        rankings = [r for _, r in primary(journal.importances).values()]
        for entry, model in self.questions():
            rows = journal.rows["joint_importances"]
            done = {row["loss"] for row in rows if model and row["model"] == model.name}
            if model is None or not is_marginal(entry) or done >= {*model.losses}:
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
        """Return the losses that the entries use for a model, by default its own."""
        losses = [
            loss
            for entry, subject in self.questions()
            if subject is not None and subject.name == model.name
            for loss in subject.losses
            if METHODS[entry.method].unit == "loss"
        ]
        return tuple(dict.fromkeys(losses)) or model.losses

    def add_digests(self) -> None:
        """Store the digest of each model's predictions for the audited rows.

        A model whose performance could not be measured has no digest, but a finding.
        """
        for model, made in self.judged:
            self.journal.digests[model.name] = predictions_sha256(made)

    def compare(self) -> None:
        """Compare the engines with each other, and the rankings with expectations."""
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
        """Judge each claim of a paper by the results."""
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
