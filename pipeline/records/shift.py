"""How one column is distributed in two sets of rows: index, chance, verdict.

Not: how the index is computed (`data.shifts`).
"""

from typing import Literal, NamedTuple

LIMIT = 0.2
"""The index above which a column has moved, unless the owner says otherwise."""
MISS_RATE = 0.01
"""Chance that any of the columns is told to have moved if none did."""
Verdict = Literal["moved", "below the limit", "within chance", "not comparable"]


class Shift(NamedTuple):
    """One column in an older and a newer set of rows.

    Attributes
    ----------
    column : str
    role : {"feature", "target"}
    split : str
        Which rows of two runs, or "test" of training and evaluation rows.
    statistic : float
        The population stability index (PSI) of the known values, each count plus 0.5;
        NaN if a side has none, or another kind of them.
    limit : float
        What is configured.
    noise : float
        What chance and the sketches explain at most.
    missing_old, missing_new : float
        Shares of the rows.
    missing_statistic, missing_noise : float
        PSI of missing against known, and what chance explains.
    rows_old, rows_new : int
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
    rows_old: int
    rows_new: int
    verdict: Verdict
    missing_verdict: Verdict
