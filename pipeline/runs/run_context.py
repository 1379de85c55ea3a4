"""What a report says besides its result: the baseline, the runs before, signatures."""

from typing import NamedTuple

from ..records.result import AuditResult
from .signoff.approvals import Signoff
from .summary import NO_HISTORY, RunHistory


class RunContext(NamedTuple):
    """What a report says besides its result.

    Attributes
    ----------
    baseline : AuditResult, optional
        The approved run that section Change since the approved baseline compares with.
    history : RunHistory
        What is known of the runs before.
    signoffs : tuple of Signoff, optional
        The signatures under this run; None if it is not known who signed it.
    has_pdf : bool
        Whether there is a report.pdf.
    """

    baseline: AuditResult | None = None
    history: RunHistory = NO_HISTORY
    signoffs: tuple[Signoff, ...] | None = ()
    has_pdf: bool = True


NO_CONTEXT = RunContext()
