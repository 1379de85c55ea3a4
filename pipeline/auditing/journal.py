"""The findings and results of one audit, collected until its end.

It is the only mutable object of an audit. Not: the steps and their order (`audit`).
"""

import hashlib
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar

import numpy as np

from importance_audit.r_bridge import host
from importance_audit.r_bridge.errors import RDied, RUnavailable

from ..assess.checks import DEFAULTS, Answers, Kind, Leaves, run
from ..config.load import AuditConfig, ImportanceSection
from ..data import datasets, distributions
from ..data.quantiles import quantiles_frame
from ..methods.effects.leaf_curves import LeafCurve
from ..methods.trees.routes import Route
from ..models.model_table import models_frame, steps_frame
from ..records.asker import remedy
from ..records.check_answers import Limits
from ..records.dataset_and_model import Dataset, FittedModel
from ..records.errors import NotApplicable, OutOfTime, quote, words
from ..records.finding import ONE_CAUSE, Finding, Severity, cause_of
from ..records.frames import FRAMES, Row
from ..records.importance_record import Effect, Importance
from ..records.interrupt import acknowledge, overdue_after, stop_request_in
from ..records.ranking import OURS
from ..records.result import AuditResult, run_id
from ..records.surface_record import Surface
from . import environment
from .clock import GRACE_SECONDS, Clock
from .log import Level, Log
from .stopping import CAUSES, stop_of

log = logging.getLogger(__name__)

T = TypeVar("T")
LEVELS: Mapping[str, Level] = {"warning": "warning", "failure": "error"}
"""Log level by severity of a finding."""


@dataclass(kw_only=True)
class Journal:
    """The collected results of the steps.

    Attributes
    ----------
    log : Log
    clock : Clock
    started : datetime
    importances, effects, surfaces, findings : list
        Records, in the order they were made.
    rows : mapping of str to list of mapping
        Rows of frames, by the name of the frame.
    not_applicable : mapping of str to list of (question, model)
        By reason, the questions without a result.
    digests : mapping of str to str
        By model, the digest of its predictions for the audited rows.
    status : {"complete", "interrupted", "failed"}
    seconds : mapping of str to float
        Duration of each step.
    answered_by : mapping of (str, str, str, str) to mapping
        By model, method, its subjects and entry: whether predictions came from the
        trees of the model or from predict, and why.
    """

    log: Log = field(default_factory=Log)
    clock: Clock = field(default_factory=Clock)
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    importances: list[Importance] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    surfaces: list[Surface] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    rows: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    failures: dict[tuple[str, str], int] = field(default_factory=dict)
    not_applicable: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    status: Literal["complete", "interrupted", "failed"] = "complete"
    seconds: dict[str, float] = field(default_factory=dict)
    answered_by: dict[tuple[str, ...], Row] = field(default_factory=dict)

    def follow(
        self, steps: list[tuple[str, Callable[[], None]]], *, n_closing: int = 0
    ) -> None:
        """Run the steps in turn, reporting progress, until one fails.

        After an interruption or the time limit only the last `n_closing` steps run. A
        step that exceeds its time is interrupted.
        """
        clock = self.clock
        for done, (label, step) in enumerate(steps):
            is_closing = done >= len(steps) - n_closing
            if self.status == "complete" and clock.is_late and not is_closing:
                clock.not_begun.append(label)
                continue
            self.log.at = (done, len(steps), label)
            try:
                if self.status == "complete":
                    self.log.on_step(done, len(steps), label)
            except KeyboardInterrupt as error:
                self.stop(label, error)
            is_taken = is_closing and self.status == "interrupted"
            if is_taken or self.status == "complete":
                seconds = clock.seconds_of_run if is_closing else clock.seconds_left
                self.take(label, step, seconds)
        if self.status == "complete":
            self.log.on_step(len(steps), len(steps), "done")

    def take(
        self,
        label: str,
        step: Callable[[], None],
        seconds: float = float("inf"),
        *,
        passing: tuple[type[BaseException], ...] = (),
    ) -> bool:
        """Run one step and log it; return whether the audit can go on.

        The step is interrupted after `seconds` and a grace period.

        Exceptions of the classes `passing` are raised; others stop the audit and are
        recorded.
        """
        start, n_findings, goes_on = time.perf_counter(), len(self.findings), True
        self.log.reported = start
        try:
            with (
                overdue_after(seconds + GRACE_SECONDS),
                self.log.hearing(label),
            ):
                step()
        except passing:
            raise
        except OutOfTime:
            self.clock.cut_short.append(label)
        except (Exception, KeyboardInterrupt, SystemExit) as error:
            self.stop(label, error)
            goes_on = False
        self.seconds[label] = time.perf_counter() - start
        for finding in self.findings[n_findings:]:
            if finding.severity in LEVELS:
                self.log.note(label, LEVELS[finding.severity], finding.message)
        self.log.note(
            label, "info", "done" if goes_on else "stopped", self.seconds[label]
        )
        return goes_on

    def stop(self, label: str, error: BaseException) -> None:
        """Record that the audit ends in a step, with the traceback in the log."""
        self.status, finding = stop_of(stop_request_in(error) or error, label)
        acknowledge()
        self.findings.append(finding)
        self.log.note_traceback(label, error)

    def add_importances(self, answer: Sequence[Importance]) -> None:
        """Add importances, and count their rows for the duration of the report."""
        self.importances += answer
        self.clock.n_report_rows += sum(len(one.features) for one in answer)

    def add_leaves(
        self, leaves: Leaves, repeat: int, feature: str, curve: LeafCurve
    ) -> None:
        """Add the leaves behind a curve to those of its feature; report progress."""
        ignored, n_leaves = leaves.get(feature, (0, 0))
        leaves[feature] = ignored + curve.n_ignored, n_leaves + curve.n_leaves
        self.log.report_progress(f"trial {repeat + 1}, {feature}")

    def guarded(
        self, model: str, question: str, ask: Callable[[], T], engine: str = OURS
    ) -> tuple[T | None, str]:
        """Return the result, or None and the reason, which is also recorded.

        If R died, it is restarted and called once more. `engine` is the one called.
        """
        engines: tuple[str, ...] = ()
        timed: AbstractContextManager[None] = nullcontext()
        if engine != OURS:
            engines, timed = (engine,), self.log.timed(f"{question}, {model}")
            self.log.tell(engine)
        try:
            try:
                with timed:
                    return ask(), ""
            except RDied as error:
                message = f"R crashed in {question} and was restarted: {words(error)}"
                self.findings.append(
                    Finding(
                        check="r_restarted",
                        severity="warning",
                        subject=model,
                        message=message,
                        measure=question,
                        cause="r_died",
                        engines=engines,
                    )
                )
                return ask(), ""
        except OutOfTime as error:
            reason = str(error)
            advice = f": {error.advice}" * bool(error.advice)
            self.clock.cut_short.append(f"{self.log.at[2]} ({question}{advice})")
        except NotApplicable as error:
            reason = str(error)
            self.add_reason(reason, question, model)
        except Exception as error:
            code, of_file, in_r = next(
                cause for kind, cause in CAUSES.items() if isinstance(error, kind)
            )
            level = logging.WARNING if code == "ours" else logging.DEBUG
            log.log(level, "%s failed for %s", question, model, exc_info=True)
            reason = f"{_sentence(question)} failed: {words(error)}"
            self.log.note_traceback(self.log.at[2], error)
            cause = code
            if code not in ("ours", *ONE_CAUSE):  # equal faults get equal numbers
                failure = model, words(error)
                number = self.failures.setdefault(failure, len(self.failures) + 1)
                cause = cause_of(code, model, str(number))
            self.findings.append(
                Finding(
                    check="method_failed",
                    severity="failure",
                    subject=model,
                    message=reason,
                    remedy=remedy(of_file, r=in_r or of_file),
                    measure=question,
                    cause=cause,
                    engines=engines,
                )
            )
        return None, reason

    def add_reason(self, reason: str, question: str, model: str) -> None:
        """Record the reason why a question has no result, once."""
        questions = self.not_applicable.setdefault(reason, [])
        questions += [(question, model)] * ((question, model) not in questions)

    def of_loss(self, importance: Importance, column: str) -> float:
        """Return a column of `performance` for the loss of an importance, or NaN."""
        asked = importance.model, importance.loss, "test"
        return next(
            (
                float(row[column])
                for row in self.rows["performance"]
                if (row["model"], row["loss"], row["split"]) == asked
            ),
            np.nan,
        )

    def check(
        self, kind: Kind, subject: str, limits: Limits = DEFAULTS, **inputs: Any
    ) -> None:
        """Run the checks of one kind, and add their rows and findings."""
        self.add_checks(run(kind, subject, limits, **inputs))

    def add_checks(self, answers: Answers) -> None:
        """Add the rows of some checks, and their findings."""
        for row, finding in answers:
            self.rows["checks"].append(row)
            if finding is not None:
                self.findings.append(finding)

    def add_route(self, entry: ImportanceSection, route: Route) -> None:
        """Record the route of predictions; a later "few" does not replace it."""
        self.add_difference_of_trees(route)
        place = (route.model, entry.method, entry.of, entry.name)
        if route.basis == "few" and place in self.answered_by:
            return
        names = ("model", "method", "of", "entry")
        facts: Row = {"basis": route.basis, "reason": route.reason}
        if route.n_predictions:
            facts = {**facts, "n_predictions": route.n_predictions}
        self.answered_by[place] = {**dict(zip(names, place, strict=True)), **facts}

    def add_difference_of_trees(self, route: Route) -> None:
        """Add the finding that a model's trees and predict differ, once, if they do."""
        if route.basis != "differ":
            return
        finding = Finding(
            check="trees_differ",
            severity="warning",
            subject=route.model,
            message=(
                f"The trees read from model {quote(route.model)} give other "
                "predictions than its predict, which was asked instead. No number is "
                "affected; the run took longer."
            ),
            remedy="Report the class and version of the estimator.",
        )
        if finding not in self.findings:
            self.findings.append(finding)

    def unanswered(self) -> tuple[Finding, ...]:
        """Return one note for each reason why questions have no result."""
        return tuple(
            Finding(
                check="not_applicable",
                severity="info",
                subject=", ".join(dict.fromkeys(model for _, model in questions)),
                message=f"{_sentence(asked)}: {reason}",
                measure=asked,
            )
            for reason, questions in self.not_applicable.items()
            for asked in ["; ".join(dict.fromkeys(name for name, _ in questions))]
        )

    def add_of_workers(self, severity: Severity, message: str, remedy: str) -> None:
        """Add a finding about the workers."""
        self.findings.append(
            Finding(
                check="workers",
                severity=severity,
                subject="audit",
                message=message,
                remedy=remedy,
            )
        )

    def result(
        self,
        train: Dataset | None,
        test: Dataset | None,
        config: AuditConfig,
        fitted: tuple[FittedModel, ...],
        *,
        asked_r: bool,
    ) -> AuditResult:
        """Return all results as one record; `asked_r` adds R's versions.

        Without `test`, no rows were read.
        """
        has_numbers = any(
            np.isfinite(importance.values).any()
            for importance in self.importances
            if not importance.is_supplied
        )
        if self.status == "complete" and not has_numbers:
            self.findings.append(
                Finding(
                    check="nothing_measured",
                    severity="failure",
                    subject=", ".join(model.name for model in fitted) or "audit",
                    message="No importance was measured: no ranking has a finite "
                    "number.",
                    remedy="Fix what the other findings describe, or use another "
                    "method or loss.",
                )
            )
        parts = (train, test, test.reference if test else None)
        rows = [part.sha256 for part in parts if part is not None]
        digest = hashlib.sha256("|".join(rows).encode()).hexdigest()
        return AuditResult(
            run=environment.run_info(
                config,
                status=self.status,
                data_sha256=digest,
                started=self.started,
                run_id=run_id(self.started, config.sha256, digest),
                course={
                    "seconds_by_step": self.seconds,
                    "answered_by": [*self.answered_by.values()],
                    "log": [*self.log.lines],
                },
                r=host.installed() if asked_r else {},
            ),
            columns=datasets.describe(train, test, config.data, config.derived),
            datasets=datasets.datasets_frame(train, test),
            distributions=distributions.distributions_frame(
                (train, test), self.effects
            ),
            left_out=datasets.left_out_frame(test),
            models=models_frame(fitted, self.digests),
            steps=steps_frame(fitted),
            quantiles=quantiles_frame(parts),
            **{name: FRAMES[name].of(rows) for name, rows in self.rows.items()},
            importances=tuple(self.importances),
            effects=tuple(self.effects),
            surfaces=tuple(self.surfaces),
            findings=(
                *self.findings,
                *self.unanswered(),
                *self.clock.cuts(),
            ),
        )


def empty_result(
    config: AuditConfig,
    error: BaseException,
    step: str,
    rows: tuple[Dataset | None, Dataset] | None = None,
    *,
    started: datetime | None = None,
    minutes: float | None = None,
) -> AuditResult:
    """Return the result of an audit that stopped before anything was measured.

    Parameters
    ----------
    config : AuditConfig
    error : BaseException
        The exception that stopped it.
    step : str
        The label of the interrupted step.
    rows : (Dataset or None, Dataset), optional
        Training and test rows, if they were read.
    started : datetime, optional
        Start of the run, by default now.
    minutes : float, optional
        Its time limit.
    """
    started = started or datetime.now(UTC)
    journal = Journal(clock=Clock(minutes), started=started)
    if isinstance(error, OutOfTime):
        journal.clock.cut_short.append(step)
    else:
        journal.stop(step, error)
    train, test = rows or (None, None)
    asked_r = isinstance(error, RUnavailable)
    return journal.result(train, test, config, (), asked_r=asked_r)


def _sentence(words: str) -> str:
    """Return a text with an initial capital."""
    return f"{words[0].upper()}{words[1:]}"
