"""The context of a report: the baseline, earlier runs and signatures."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..records.result import AuditResult
from .summary import NO_HISTORY, RunHistory


class RunContext(NamedTuple):
    """Content of a report that is not in its result.

    Attributes
    ----------
    baseline : AuditResult, optional
        The approved run, for section Change since the approved baseline.
    history : RunHistory
        The earlier runs.
    signoffs : tuple of mapping, optional
        The lines of the sign-offs of this run; None if they are not known.
    has_pdf : bool
        Whether there is a report.pdf.
    """

    baseline: AuditResult | None = None
    history: RunHistory = NO_HISTORY
    signoffs: tuple[Mapping[str, Any], ...] | None = ()
    has_pdf: bool = True


NO_CONTEXT = RunContext()
