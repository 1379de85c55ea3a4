"""Shift of one column between two sets of rows: statistic, noise and verdict.

Not: the computation of the statistic (`data.shifts`).
"""

from typing import Literal, NamedTuple

LIMIT = 0.2
"""Default limit of the index: a column with a larger one has moved."""
MISS_RATE = 0.01
"""Probability that at least one column is reported as moved if none did."""
Verdict = Literal["moved", "below the limit", "within chance", "not comparable"]


class Shift(NamedTuple):
    """One column in an older and a newer set of rows.

    Attributes
    ----------
    column : str
    role : {"feature", "target"}
    split : str
        The two sets of rows: a split of two runs, or "test" for training against
        evaluation rows.
    statistic : float
        The population stability index (PSI) of the known values, each count plus 0.5;
        NaN if one set has no known values, or the types of the two sets differ.
    limit : float
        The configured limit.
    noise : float
        The largest PSI that chance and the quantile sketches explain.
    missing_old, missing_new : float
        Shares of the rows.
    missing_statistic, missing_noise : float
        PSI of missing against known, and what chance explains.
    verdict, missing_verdict : {"moved", "below the limit", "within chance", \
"not comparable"}
        "moved" is above both the limit and the noise.
    """

    column: str
    role: str
    split: str
    statistic: float
    limit: float
    noise: float
    missing_old: float
    missing_new: float
    missing_statistic: float
    missing_noise: float
    verdict: Verdict
    missing_verdict: Verdict
