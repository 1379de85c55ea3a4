"""One run of one audit, from its file to its folder and its exit code.

An audit may have taken hours: no fault of what comes after it may lose it. Not: what
is asked of the rows (`audit`), what a command prints (`commands`).
"""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from traceback import format_exc
from typing import NamedTuple

from pipeline.answers import load_answers, with_answers
from pipeline.approvals import baseline_of, load_baseline
from pipeline.audit import audit, exit_code
from pipeline.config import AuditConfig, load_config
from pipeline.context import Context
from pipeline.data import read_datasets
from pipeline.drift import drift
from pipeline.errors import AuditError
from pipeline.history import remove_leftovers, save_run, with_free_name
from pipeline.not_begun import not_begun
from pipeline.past import Past, past_json
from pipeline.rendering import rendered
from pipeline.report.fonts import check_fonts
from pipeline.result import AuditResult
from pipeline.run_index import past_of
from r_bridge import host
from r_bridge.errors import RBridgeError, RUnavailable

Step = Callable[[int, int, str], None]


class Ran(NamedTuple):
    """How a run went.

    Attributes
    ----------
    code : int
        The exit code, as `cli` lists them.
    result : AuditResult
    folder : Path
        The run folder.
    files : tuple of str
        The renderings in it, by their paths.
    faults : tuple of str
        What the operator is to be told besides the summary.
    """

    code: int
    result: AuditResult
    folder: Path
    files: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


def run_audit(path: Path, *, on_step: Step | None = None) -> Ran:
    """Run the audit in a folder, or file, and save its run.

    Raises
    ------
    AuditError, RBridgeError
        If configuration, data or model are not as they must be; nothing is saved.
    """
    config = load_config(path)
    remove_leftovers(config.base)
    check_fonts(config.base, config.report.fonts)
    result, fault = _audited(config, on_step)
    named = with_free_name(result, config.base)
    ran = _kept(*_in_time(named, config), config)
    return ran._replace(faults=(*filter(None, (fault,)), *ran.faults))


def _audited(config: AuditConfig, on_step: Step | None) -> tuple[AuditResult, str]:
    """Return what the audit found; of one that cannot begin, that and why.

    What the user can mend in configuration, data or model is raised.
    """
    rows, r, started = None, config.r, datetime.now(UTC)
    try:
        with host.session(r_seconds=r.seconds, r_memory_gb=r.memory_gb):
            rows = read_datasets(config)
            return audit(*rows, config, on_step=on_step), ""
    except RUnavailable as error:
        step = "engines and models" if rows else "reading of the rows"
        return not_begun(config, error, step, rows, started=started), str(error)
    except (AuditError, RBridgeError):
        raise
    except (Exception, KeyboardInterrupt, SystemExit) as error:
        step = "gathering of the result" if rows else "reading of the rows"
        return not_begun(config, error, step, rows, started=started), ""


def _in_time(result: AuditResult, config: AuditConfig) -> tuple[AuditResult, Past]:
    """Return a result held against the approved baseline and the runs before it."""
    past = past_of(config.base)._replace(baseline=baseline_of(config.base))
    baseline = load_baseline(config.base, past.baseline)
    if baseline is not None:
        result = result.with_findings(drift(baseline, result))
    return with_answers(result, load_answers(config.base)), past


def _kept(result: AuditResult, past: Past, config: AuditConfig) -> Ran:
    """Save the run with its report, or without if there can be none."""
    given = {"audit.toml": config.text, "history.json": past_json(past, result)}
    try:
        baseline = load_baseline(config.base, past.baseline)
        context = Context(baseline, past)
        shown, files, checks = rendered(result, given, context=context)
        code = exit_code(shown)
        folder = save_run(
            shown, config.base, {**given, **files}, exit_code=code, pdf_checks=checks
        )
        return Ran(code, shown, folder, tuple(files))
    except (Exception, KeyboardInterrupt) as error:
        interrupted, code = isinstance(error, KeyboardInterrupt), exit_code(result)
        code = 130 if interrupted else code if code in (3, 130) else 4
        words = "it was interrupted." if interrupted else _told(error)
        fault = f"The report must be written beside the numbers, but {words}"
        folder = save_run(
            result,
            config.base,
            {**given, "report-failed.txt": f"{fault}\n\n{format_exc()}"},
            exit_code=code,
            note=fault,
        )
        again = f"{fault}\nTry again: importance-audit render {folder}"
        return Ran(code, result, folder, (), (again,))


def _told(error: BaseException) -> str:
    """Return what kept a report from being written, in the words of its cause."""
    cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
    if isinstance(cause, OSError) and cause.strerror:
        return f"the system says: {cause.strerror}."
    return f"{type(cause).__name__} says: {cause}."
