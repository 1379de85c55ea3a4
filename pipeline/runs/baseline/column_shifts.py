"""How the columns of two stored runs are distributed.

From what both runs kept of their rows (`quantiles`), not from the rows. Not: the
statistic (`data.shifts`), nor what is told about it (`drift`).
"""

from ...data import shifts as of_sketches
from ...data.quantiles import sketches
from ...records.result import AuditResult
from ...records.shift import Shift

CHECKS = ("distribution_shift", "missing_share")
"""The checks of the table of thresholds that hold a run against its baseline."""


def shifts(baseline: AuditResult, result: AuditResult) -> tuple[Shift, ...]:
    """Return how each column that both runs have is distributed in them.

    Parameters
    ----------
    baseline, result : AuditResult
        The approved run, and the run held against it, whose configuration has the
        limit.

    Returns
    -------
    tuple of Shift
        In the order of `result`; none if a run kept no sketches.
    """
    before, after = sketches(baseline.quantiles), sketches(result.quantiles)
    pairs = {key: (before[key], new) for key, new in after.items() if key in before}
    if not pairs:
        return ()
    limit = float(result.run.config["checks"]["shift"])
    return of_sketches.shifts(pairs, limit=limit)
