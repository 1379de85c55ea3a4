"""Shifts of the distribution of columns between two sets of rows (PSI, noise, verdict).

They are computed from a sketch of each side. `runs.baseline` compares an approved run
with this one, `assess.split_shifts` the training with the evaluation rows.
"""

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ..records.dataset_and_model import Floats
from ..records.shift import MISS_RATE, Shift, Verdict
from .quantiles import Sketch

TENTHS = np.arange(1, 10)
SAME = 1e-12
"""Numbers that differ by no more than this part of them are equal: the last digits of a
computed column may depend on the version of a library."""
Column: TypeAlias = tuple[str, str, str]
"""Split, role and name."""
Flags: TypeAlias = npt.NDArray[np.bool_]


def shifts(
    pairs: Mapping[Column, tuple[Sketch, Sketch]], *, limit: float
) -> tuple[Shift, ...]:
    r"""Return the shift of each column between an older and a newer set of rows.

    For counts :math:`n_i` of the older rows and :math:`m_i` of the newer in :math:`B`
    cells, their sums :math:`n` and :math:`m`, and the shares
    :math:`p_i = (n_i + 0.5) / (n + B / 2)` and :math:`q_i = (m_i + 0.5) / (m + B / 2)`,

    .. math:: \mathrm{PSI} = \sum_{i=1}^{B} (q_i - p_i) \ln(q_i / p_i).

    The cells of a number end at the deciles of the older rows; a value that at least a
    tenth of them share is a cell of its own. The cells of a category are the levels of
    both sides. Cells that are empty on both sides are left out. The half row added to
    each count keeps the index finite if a cell is empty on one side. The index does not
    change under an increasing transformation of a number on both sides, new names of
    levels, or another order of rows.

    For two samples from the same population the index is approximately distributed as
    :math:`(1/n + 1/m)\,\chi^2_{B-1}` [1]_. The noise is the quantile of this
    distribution at error rate 0.01, divided among all columns and splits, values and
    missing cells (Bonferroni), times :math:`1 + 2B/\min(n, m)`, since the index has a
    longer tail for few rows, plus the uncertainty that the sketches leave.

    Parameters
    ----------
    pairs : mapping of (split, role, column) to two sketches
        The older one first.
    limit : float
        The index above which a column counts as shifted.

    Returns
    -------
    tuple of Shift
        In the order of `pairs`.

    Notes
    -----
    Units: none. The weights of rows are ignored. Rows are assumed to be independent:
    for consecutive rows of a time series the true noise is larger; if both sides share
    rows, it is smaller. Changes within a cell, such as of the largest value, do not
    change the index. Numbers that agree to a part in :math:`10^{12}` are equal. From
    stored sketches, the share of newer rows in a cell is known to 1/100 if the column
    has more than 50 distinct values, and exactly otherwise; from `exact_sketches` it is
    always exact.

    References
    ----------
    .. [1] Yurdakul, B. (2018). Statistical properties of population stability index.
       Dissertation, Western Michigan University.
    """
    miss_rate = MISS_RATE / (2 * max(len(pairs), 1))
    found = []
    for (split, role, column), (old, new) in pairs.items():
        values = _stability_of_values(old, new, miss_rate)
        cells = [np.array([side.known, side.missing], float) for side in (old, new)]
        missing = stability(cells[0], cells[1], miss_rate=miss_rate)
        shares = [side[1] / side.sum() if side.sum() else np.nan for side in cells]
        found.append(
            Shift(
                column=column,
                role=role,
                split=split,
                statistic=values.psi,
                limit=limit,
                noise=values.noise,
                missing_old=float(shares[0]),
                missing_new=float(shares[1]),
                missing_statistic=missing.psi,
                missing_noise=missing.noise,
                verdict=_verdict(values, limit),
                missing_verdict=_verdict(missing, limit),
            )
        )
    return tuple(found)


class Stability(NamedTuple):
    """A population stability index, and the part that chance and sketches explain."""

    psi: float
    noise: float


NO_ANSWER = Stability(np.nan, np.nan)


def stability(
    old: Floats, new: Floats, *, miss_rate: float, slack: Floats | float = 0.0
) -> Stability:
    """Return the population stability index of two sets of counts, and its noise.

    Parameters
    ----------
    old, new : ndarray of shape (n_cells,)
        Number of rows in each cell. Cells that are empty in both are left out; 0.5 is
        added to all other counts.
    miss_rate : float
        The probability that the index exceeds the noise if both are samples from the
        same population.
    slack : float or ndarray of shape (n_cells,), default 0
        The largest error of each count of `new`, in rows.

    Examples
    --------
    >>> import numpy as np
    >>> index = stability(np.array([9.5, 29.5]), np.array([29.5, 9.5]), miss_rate=0.01)
    >>> round(index.psi, 6), round(float(np.log(3)), 6)
    (1.098612, 1.098612)
    """
    from scipy.special import chdtri  # so that reading a run does not load scipy

    is_met = (old > 0) | (new > 0)
    n_cells, sizes = int(is_met.sum()), (old.sum(), new.sum())
    if not all(sizes):
        return NO_ANSWER
    if n_cells == 1:
        return Stability(0.0, 0.0)
    p, q = ((side[is_met] + 0.5) / (side.sum() + n_cells / 2) for side in (old, new))
    room = np.broadcast_to(slack, old.shape)[is_met] / (sizes[1] + n_cells / 2)
    nearest = np.where(np.abs(q - p) <= room, p, q - np.sign(q - p) * room)
    index, least = (float(np.sum((r - p) * np.log(r / p))) for r in (q, nearest))
    chance = float(chdtri(n_cells - 1, miss_rate))
    chance *= (1 / sizes[0] + 1 / sizes[1]) * (1 + 2 * n_cells / min(sizes))
    return Stability(index, chance + index - least)


def _verdict(index: Stability, limit: float) -> Verdict:
    if np.isnan(index.psi):
        return "not comparable"
    if index.psi <= index.noise:
        return "within chance"
    return "moved" if index.psi > limit else "below the limit"


def _stability_of_values(old: Sketch, new: Sketch, miss_rate: float) -> Stability:
    """Return the stability of the values, missing cells left out."""
    if old.kind != new.kind or not old.known or not new.known:
        return NO_ANSWER
    if old.kind == "category":
        levels = dict.fromkeys((*old.levels, *new.levels))
        rows = [
            np.array([side.levels.get(level, 0) for level in levels], dtype=np.float64)
            for side in (old, new)
        ]
        return stability(rows[0], rows[1], miss_rate=miss_rate)
    cuts, with_it = _cuts(old)
    before, _ = _count_before(old, cuts, with_it)
    before = np.concatenate([[0.0], before, [old.known]])
    after, open_by = _count_before(new, cuts, with_it)
    room = np.concatenate([[0.0], open_by, [0.0]])
    return stability(
        np.diff(before),
        np.diff(np.concatenate([[0.0], after, [new.known]])),
        miss_rate=miss_rate,
        slack=room[1:] + room[:-1],
    )


def _cuts(old: Sketch) -> tuple[Floats, Flags]:
    """Return the upper ends of the cells of a number, and whether each is included.

    A value that a tenth of the rows share has a cell of its own: one cell ends just
    before it, the next one includes it.
    """
    n = old.known
    deciles = np.searchsorted(10 * old.upto, n * TENTHS)
    rows = old.upto - old.below
    alone = np.flatnonzero((10 * rows >= n) & (rows > 1))
    after = np.union1d(deciles, alone)
    at = np.concatenate([alone, after])
    with_it = np.arange(len(at)) >= len(alone)
    order = np.lexsort((with_it, at))
    return old.values[at[order]], with_it[order]


def _count_before(side: Sketch, cuts: Floats, with_it: Flags) -> tuple[Floats, Floats]:
    """Return the number of rows below each cut, and its largest error.

    A cut between two values of the sketch counts half of the rows between them.
    """
    room = SAME * np.where(np.isfinite(cuts), np.abs(cuts), 0.0)
    first = np.searchsorted(side.values, cuts - room)
    end = np.searchsorted(side.values, cuts + room, side="right")
    below = np.concatenate([side.below, [side.known]])
    upto = np.concatenate([[0], side.upto])
    is_in_sketch = end > first
    exact = np.where(with_it, upto[end], below[first])
    between = below[first] - upto[first]
    counts = np.where(is_in_sketch, exact, (below[first] + upto[first]) / 2)
    # two cuts may be equal up to SAME
    return np.maximum.accumulate(counts), np.where(is_in_sketch, 0.0, between / 2)
