"""Findings about an audit that did not finish. Not: its results until then."""

import logging
from typing import Literal, NamedTuple, TypeAlias

from importance_audit.r_bridge.errors import (
    RBridgeError,
    RDied,
    RError,
    RTimeout,
    RUnavailable,
)

from ..records.asker import remedy
from ..records.errors import DataError, ExtensionError, ModelError, words
from ..records.finding import Finding

log = logging.getLogger(__name__)

Status: TypeAlias = Literal["interrupted", "failed"]
REPORT_IT = (
    "This is a fault in importance-audit or in a library it uses: report it with "
    "the traceback in log.jsonl."
)
MORE_MEMORY = "Ask for fewer rows (n_rows), or free memory by closing other programs."


class Cause(NamedTuple):
    """The cause of a failed method: the `Finding.cause`, and the remedy.

    `in_r` is the remedy for callers in R, if it differs.
    """

    code: str
    remedy: str
    in_r: str = ""


CAUSES: dict[type[BaseException], Cause] = {
    DataError: Cause("data", ""),  # its message contains the remedy
    ModelError: Cause(
        "model",
        "Make sure that predict works on the test rows in Python, or leave the "
        "model out.",
        "Make sure that the model predicts these rows in a new session of R, with the "
        "packages that this one has attached.",
    ),
    ExtensionError: Cause(
        "own_code",
        "Correct the function in its file, or leave it out.",
    ),
    RDied: Cause(
        "r_died",
        "importance-audit doctor says whether R and its packages load; fewer rows "
        "(n_rows) take less memory. Or leave the engine out of `engines`.",
        "Give fewer rows as data: they take less memory.",
    ),
    RTimeout: Cause(
        "r_timeout",
        "Raise `seconds` under [r], or reduce n_repeats or n_rows.",
        "Give fewer rows as data, or a smaller n_repeats.",
    ),
    RUnavailable: Cause(
        "r_unavailable", "importance-audit doctor names what is missing."
    ),
    RError: Cause(
        "r_error",
        "importance-audit doctor names the versions; if they are tested versions, "
        "report R's message. Or leave the engine out of `engines`.",
    ),
    RBridgeError: Cause(
        "r_call",
        "Change the value named, or leave the engine out of `engines`.",
    ),
    MemoryError: Cause(
        "memory",
        MORE_MEMORY,
        "Give fewer rows as data, or free memory by closing other programs.",
    ),
    Exception: Cause(
        "ours",
        "This is a fault in importance-audit or in a library it uses: report it "
        "with the traceback on standard error. Leave the method out of "
        "[[importance]] to go on.",
        "This is a fault in importance-audit or in a library it uses: report it with "
        "the traceback in log.jsonl of the run folder.",
    ),
}
"""By class of exception; the first match counts."""
NO_ANSWER_OF_R = ("r_died", "r_timeout", "r_unavailable")
"""Causes that may not occur in another attempt: R is absent, died or timed out."""


def stop_of(error: BaseException, step: str) -> tuple[Status, Finding]:
    """Return the status of a run that stopped in a step, and the finding about it.

    Parameters
    ----------
    error : BaseException
        `KeyboardInterrupt`: a request by a person, or by the sender in its message;
        `RUnavailable`: a required engine is missing; anything else: an error.
    step : str
        The label of the step.
    """
    text = str(error)
    if isinstance(error, KeyboardInterrupt):
        by = f" by {text}" if text else ""
        message = f"The audit was interrupted{by} in the step {step!r}."
        return "interrupted", _finding("interrupted", step, message, "Run it again.")
    if isinstance(error, RUnavailable):
        message = f"The audit stopped in the step {step!r}: {words(error)}"
        code, advice, _ = CAUSES[RUnavailable]
        return "failed", _finding("engine_required", step, message, advice, code)
    if isinstance(error, ModelError):
        message = f"The audit stopped in the step {step!r}: {words(error)}"
        code, advice, in_r = CAUSES[ModelError]
        advice = remedy(advice, r=in_r)
        return "failed", _finding("step_failed", step, message, advice, code)
    fault = type(error).__name__ + (f": {words(error)}" if text else "")
    message = f"The audit stopped in the step {step!r}, which failed: {fault}"
    is_memory = isinstance(error, MemoryError)
    code, advice = ("memory", MORE_MEMORY) if is_memory else ("ours", REPORT_IT)
    log.error("The step %r failed.", step, exc_info=error)
    return "failed", _finding("step_failed", step, message, advice, code)


def _finding(
    check: str, step: str, message: str, remedy: str = "", cause: str = ""
) -> Finding:
    return Finding(
        check=check,
        severity="failure",
        subject="audit",
        message=message,
        remedy=remedy,
        measure=step,
        cause=cause,
    )
