"""One run of an audit, from its configuration to its run folder and exit code.

An audit may take hours, so no later error may lose its result. Not: the measurements
(`auditing.audit`), or the output of a command (`cli`).
"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from traceback import format_exc
from typing import NamedTuple

from importance_audit.r_bridge import host
from importance_audit.r_bridge.errors import RBridgeError, RDied, RTimeout, RUnavailable

from ..auditing.audit import audit_into, exit_code
from ..auditing.clock import GRACE_SECONDS, Clock
from ..auditing.journal import Journal, empty_result
from ..auditing.log import Log, Step, silent
from ..auditing.stopping import NO_ANSWER_OF_R
from ..config.load import FILE_NAME, AuditConfig, load_config
from ..data.datasets import read_datasets
from ..records.errors import AuditError, OutOfTime
from ..records.finding import Finding
from ..records.interrupt import acknowledge, overdue_after, stop_request_in
from ..records.result import AuditResult
from ..runs.attempts import Attempt, clock_finding, end_attempt, start_attempt
from ..runs.baseline.differences import replaced_models
from ..runs.baseline.drift import with_drift
from ..runs.baseline.news import differences_in_words, news
from ..runs.chain import refuse_run_folder
from ..runs.folder import load_run, with_free_name
from ..runs.history import load_history
from ..runs.load import load_baseline
from ..runs.locks import locked
from ..runs.run_context import RunContext
from ..runs.signoff.answers import Answer, with_answers
from ..runs.signoff.answers_file import load_answers
from ..runs.signoff.approvals import baseline_of
from ..runs.summary import RunHistory, history_json
from .render import render_result
from .save import save_run

REPORT_SECONDS = 180.0
"""Time for the report after the time limit; `unattended` waits longer."""
CODES: dict[type[BaseException], int] = {
    KeyboardInterrupt: 130,
    RUnavailable: 3,
    AuditError: 2,
    RBridgeError: 2,
}
"""Exit codes of attempts by their error; 4 for other errors."""


class RunOutcome(NamedTuple):
    """The outcome of a run.

    Attributes
    ----------
    code : int
        The exit code, as listed in `cli.main`.
    result : AuditResult
    folder : Path
        The run folder.
    files : tuple of str
        The paths of the renderings in it.
    faults : tuple of str
        Messages to the operator besides the summary.
    no_report : str
        Why there is no report, also at the end of the summary; empty if there is one.
    """

    code: int
    result: AuditResult
    folder: Path
    files: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    no_report: str = ""


def run_audit(
    path: Path,
    *,
    on_step: Step | None = None,
    unattended: bool = False,
    minutes: float | None = None,
    pdf: bool = True,
) -> RunOutcome:
    """Run the audit in a folder, or of a file, under its lock, and save the run.

    The audit log gets a line for the start and one for the end.

    Parameters
    ----------
    path : Path
    on_step : callable, optional
        As in `auditing.audit.audit`; also called for reading and for the report.
    unattended : bool
    minutes : float, optional
        Overrides ``[limits] minutes``; the limit includes reading and fitting.
    pdf : bool
        Whether to write the PDF report too.

    Raises
    ------
    LockedError
        If another process is running the audit.
    AuditError, RBridgeError
        If configuration, data or model are not valid; nothing is saved.
    """
    file = path / FILE_NAME if path.is_dir() else path
    if not file.is_file():
        load_config(path)  # raises: there is no audit to lock
    refuse_run_folder(file.parent)
    with locked(file.parent):
        attempt = start_attempt(file.parent, unattended=unattended)
        try:
            outcome = _run(path, on_step or silent, attempt, minutes, pdf)
        except BaseException as error:
            codes = (code for kind, code in CODES.items() if isinstance(error, kind))
            end_attempt(
                file.parent,
                exit_code=next(codes, 4),
                message=str(error) or type(error).__name__,
                r_failed=isinstance(error, RUnavailable | RDied | RTimeout),
            )
            raise
    faults = filter(None, (attempt.died, *outcome.faults))
    return outcome._replace(faults=tuple(faults))


def _run(
    path: Path, on_step: Step, attempt: Attempt, minutes: float | None, pdf: bool
) -> RunOutcome:
    """Run an audit whose lock is held."""
    config = load_config(path)
    clock = Clock(minutes or config.limits.minutes)
    journal = Journal(log=Log(on_step), clock=clock)
    if config.report.fonts:
        from ..report.pages.fonts import check_fonts

        check_fonts(config.base, config.report.fonts)
    before = _load_before(config.base)
    result, fault = _audit(config, journal)
    if attempt.clock:
        result = result.with_findings((clock_finding(attempt.clock),))
    outcome = _save(
        with_free_name(result, config.base),
        before,
        config.base,
        {"audit.toml": config.text},
        journal.log,
        pdf=pdf,
        seconds=max(0.0, clock.seconds_of_run) + REPORT_SECONDS,
        message=fault,
    )
    return outcome._replace(faults=(*filter(None, (fault,)), *outcome.faults))


def is_of_r(result: AuditResult) -> bool:
    """Return whether numbers are missing because R was absent, died or timed out."""
    return any(
        finding.check in ("engine_required", "method_failed")
        and finding.cause.partition(": ")[0] in NO_ANSWER_OF_R
        for finding in result.findings
    )


def _audit(config: AuditConfig, journal: Journal) -> tuple[AuditResult, str]:
    """Return the result of the audit, and a message if R is unavailable.

    If the audit cannot begin, the result is empty. Errors of configuration, data or
    model that the user can correct are raised.
    """
    rows, r = None, config.r
    none = partial(empty_result, started=journal.started, minutes=journal.clock.minutes)
    try:
        with host.session(r_seconds=r.seconds, r_memory_gb=r.memory_gb):
            with (
                overdue_after(journal.clock.seconds_left + GRACE_SECONDS),
                journal.log.phase("reading of the rows"),
            ):
                rows = read_datasets(**config.data_arguments)
            return audit_into(journal, *rows, config), ""
    except RUnavailable as error:
        step = "engines and models" if rows else "reading of the rows"
        return none(config, error, step, rows), str(error)
    except (Exception, KeyboardInterrupt, SystemExit, OutOfTime) as fault:
        stop = stop_request_in(fault)
        acknowledge()
        if stop is None and isinstance(fault, AuditError | RBridgeError):
            raise
        cause = stop or fault
        step = "gathering of the result" if rows else "reading of the rows"
        return none(config, cause, step, rows), ""


class _Before(NamedTuple):
    """State before a run, read first, so that its errors do not end a long run."""

    history: RunHistory
    baseline: AuditResult | None
    answers: tuple[Answer, ...]


def _load_before(folder: Path) -> _Before:
    """Return the earlier runs, the approved baseline and the answers to findings."""
    history = load_history(folder)._replace(baseline=baseline_of(folder))
    baseline = load_baseline(folder, history.baseline)
    return _Before(history, baseline, load_answers(folder))


def _history(folder: Path, before: _Before, result: AuditResult) -> str:
    """Return history.json: earlier runs, and changes since the last complete one."""
    runs = before.history.runs
    differences: tuple[str, ...] = ()
    ends = (folder / "runs" / run.run_id for run in runs if run.status == "complete")
    there = [run for run in ends if run.is_dir()]
    try:
        last = load_run(there[-1]) if there else None
        changes = news(last, result, before.history)
        if last and result.run.status == "complete":
            known = (last.verdict, runs[-1].verdict)
            is_in_news = result.verdict not in known  # as causes of the new verdict
            reported = replaced_models(last, result)
            others = differences_in_words(last, result, reported=reported)
            differences = () if is_in_news else tuple(others)
    except Exception as error:  # the run is saved in any case
        changes = (
            "The run could not be compared with the previous one: "
            f"{type(error).__name__} says: {error}",
        )
    return history_json(before.history, result, changes, differences)


def _compare(result: AuditResult, before: _Before) -> AuditResult:
    """Return a result with the comparison with the baseline and with the answers."""
    approved = before.history.baseline
    result = with_drift(result, before.baseline, approved)
    run_id = approved.run_id if approved else ""
    return with_answers(
        result, before.answers, before.history.findings, baseline=run_id
    )


def save_result(result: AuditResult, folder: Path, *, pdf: bool = True) -> Path:
    """Save a result that was measured in Python as a run; return its folder.

    Parameters
    ----------
    result : AuditResult
    folder : Path
        The folder of the audit; created if there is none.
    pdf : bool, default True
        Whether to write the PDF report too.

    Raises
    ------
    LockedError
        If another process is running the audit.
    AuditError
        If the folder is a run folder, or cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AuditError(
            f"Folder {str(folder)!r} cannot be made: {error.strerror}. Name another "
            "one."
        ) from error
    refuse_run_folder(folder)
    with locked(folder):
        named_result = with_free_name(result, folder)
        before = _load_before(folder)
        outcome = _save(named_result, before, folder, {}, Log(), pdf=pdf)
    if outcome.no_report:
        raise AuditError("\n".join((outcome.no_report, *outcome.faults)))
    return outcome.folder


def _save(
    measured: AuditResult,
    before: _Before,
    folder: Path,
    given: Mapping[str, str],
    log: Log,
    *,
    pdf: bool = True,
    seconds: float = float("inf"),
    message: str = "",
) -> RunOutcome:
    """Save the run with its report, or without if that fails or takes too long.

    The report must be made within `seconds`. `given` has files that are saved
    unchanged; `log` gets each phase; the audit log gets `message` and the reason if
    there is no report.
    """
    n_logged = len(log.lines)
    files, result = dict(given), measured
    context = RunContext(before.baseline, before.history)
    try:
        with overdue_after(seconds):
            with log.phase("report: runs before"):
                result = _compare(measured, before)
                files["history.json"] = _history(folder, before, result)
            render = partial(render_result, context=context, phase=log.phase)
            rendering = render(result, files, pdf=pdf)
            if rendering.pdf_fault:
                # before answers are applied: they, and later runs, must include it
                missing = Finding(
                    check="pdf_failed",
                    severity="warning",
                    subject="report.pdf",
                    message=f"The PDF was not produced, because: {rendering.pdf_fault}",
                    remedy="importance-audit doctor names what is missing.",
                )
                result = _compare(measured.with_findings((missing,)), before)
                files["history.json"] = _history(folder, before, result)
                rendering = render(result, files, pdf=False)
        code = exit_code(rendering.result)
        run = save_run(
            rendering.result,
            folder,
            {**files, **rendering.pages},
            exit_code=code,
            data=rendering.data,
            log=log.lines[n_logged:],
            message=message,
            r_failed=is_of_r(rendering.result),
        )
        return RunOutcome(code, rendering.result, run, tuple(rendering.pages))
    except (Exception, KeyboardInterrupt, OutOfTime) as error:
        interrupted, code = stop_request_in(error) is not None, exit_code(result)
        acknowledge()
        code = 130 if interrupted else code if code in (3, 130) else 4
        reason = "The run was interrupted." if interrupted else _describe(error)
        fault = f"The report could not be made; the numbers are saved. {reason}"
        run = save_run(
            result,
            folder,
            {**files, "report-failed.txt": f"{fault}\n\n{format_exc()}"},
            exit_code=code,
            note=fault,
            log=log.lines[n_logged:],
            message="\n".join(filter(None, (fault, message))),
            r_failed=is_of_r(result),
        )
        again = f"Try again: importance-audit render {run}"
        return RunOutcome(code, result, run, faults=(again,), no_report=fault)


def _describe(error: BaseException) -> str:
    """Return why a report could not be made, from the cause of the error."""
    if isinstance(error, OutOfTime):
        return f"It was not finished {REPORT_SECONDS:g} s after the time limit."
    cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
    if isinstance(cause, OSError) and cause.strerror:
        return f"The system reports: {cause.strerror}."
    return f"{type(cause).__name__}: {cause}."
