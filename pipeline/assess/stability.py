"""Stability of a ranking: over resampled rows, and over more repeats.

Not: the measurements on resampled rows (`measure.resampled`).
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from ..records.dataset_and_model import Floats
from ..records.importance_record import Importance
from ..records.ranking import LEVEL


def stability_rows(
    importance: Importance,
    resampled: Sequence[Importance],
    *,
    record: int,
    top_k: int,
) -> list[dict[str, Any]]:
    """Return one row of the frame `stability` per feature.

    Parameters
    ----------
    importance : Importance
        The ranking that is judged.
    resampled : sequence of Importance
        The same question on bootstrap resamples of its rows. If there are none, the
        cells that need them are NaN.
    record : int
        The place of `importance` in ``result.importances``.
    top_k : int
        Number of leading features.

    Returns
    -------
    list of dict
        In the order of ``importance.features``. rank_low, rank_high and p_top_k as
        `rank_interval` and `top_k_share`, repeats_to_settle as `repeats_to_settle`;
        resamples is the number of resamples in which the feature was measured.
    """
    shape = (len(resampled), len(importance.features))
    ranks = np.array([one.rank for one in resampled], dtype=float).reshape(shape)
    low, high = rank_interval(ranks)
    share = top_k_share(ranks, top_k)
    settled = repeats_to_settle(importance)
    columns = ("model", "method", "of", "loss", "positive_class")
    return [
        {name: getattr(importance, name) for name in columns}
        | {
            "feature": feature,
            "rank_low": low[row],
            "rank_high": high[row],
            "p_top_k": share[row],
            "repeats_to_settle": settled[row],
            "resamples": int(np.isfinite(ranks[:, row]).sum()),
            "record": record,
        }
        for row, feature in enumerate(importance.features)
    ]


def rank_rows(resampled: Sequence[Importance], *, record: int) -> list[dict[str, Any]]:
    """Return one row of the frame `resampled_ranks` per feature and observed rank.

    Parameters
    ----------
    resampled : sequence of Importance
        One question on bootstrap resamples of its rows.
    record : int
        The place in ``result.importances`` of the ranking that is judged.

    Returns
    -------
    list of dict
        By feature, then by rank; resamples is the number of resamples in which the
        feature has the rank, ties averaged. Resamples without a value for it are not
        counted.
    """
    rows = []
    for row, feature in enumerate(resampled[0].features if resampled else ()):
        ranks = np.array([one.rank[row] for one in resampled], dtype=float)
        counts = zip(
            *np.unique(ranks[np.isfinite(ranks)], return_counts=True), strict=True
        )
        for rank, resamples in counts:
            cells = {"rank": float(rank), "resamples": int(resamples)}
            rows.append({"record": record, "feature": feature, **cells})
    return rows


def rank_interval(ranks: Floats) -> tuple[Floats, Floats]:
    """Return the lower and the upper bounds of the ranks, each (n_features,).

    This is the 95 % percentile interval of the bootstrap, its bounds moved outwards to
    observed ranks. A tied feature has the lowest rank of the tie for the lower bound
    and the highest for the upper.

    Parameters
    ----------
    ranks : ndarray of shape (n_resamples, n_features)
        Ties averaged. NaN if a feature has no value in a resample, which is then left
        out; the interval is NaN if more than half of the resamples are.
    """
    table = pd.DataFrame(ranks)
    half = table.rank(axis=1, method="max") - table.rank(axis=1, method="average")
    first, last = table - half, table + half
    bounds = np.full((2, ranks.shape[1]), np.nan)
    for row in _often_measured(ranks):
        ends = first[row].dropna(), last[row].dropna()
        bounds[0, row] = np.quantile(ends[0], (1 - LEVEL) / 2, method="lower")
        bounds[1, row] = np.quantile(ends[1], (1 + LEVEL) / 2, method="higher")
    return bounds[0], bounds[1]


def top_k_share(ranks: Floats, k: int) -> Floats:
    """Return the share of the resamples in which each feature is among the first `k`.

    Features tied across the k-th place share the remaining places equally, so that the
    shares sum to *k* if every feature is measured.

    Parameters
    ----------
    ranks : ndarray of shape (n_resamples, n_features)
        As in `rank_interval`.
    k : int

    Returns
    -------
    ndarray of shape (n_features,)
    """
    table = pd.DataFrame(ranks)
    first, last = (table.rank(axis=1, method=end).to_numpy() for end in ("min", "max"))
    inside = np.clip((k - first + 1) / (last - first + 1), 0.0, 1.0)
    share = np.full(ranks.shape[1], np.nan)
    often = _often_measured(ranks)
    share[often] = np.nanmean(inside[:, often], axis=0)
    return share


def _often_measured(ranks: Floats) -> list[int]:
    """Return the places of the features measured in at least half of the resamples."""
    if not len(ranks):
        return []
    measured = np.isfinite(ranks).sum(axis=0)
    return np.flatnonzero(2 * measured >= len(ranks)).tolist()


@np.errstate(invalid="ignore")  # inf - inf: NaN
def repeats_to_settle(importance: Importance) -> Floats:
    r"""Return the repeats needed to settle the order of each feature and the next one.

    With :math:`\bar d` and *s* the mean and the standard deviation (ddof 1) of the
    difference of the two over the repeats, paired by repeat, it is the least *n* at
    which the interval of the difference excludes 0:

    .. math:: t_{n-1}\, s / \sqrt{n} < |\bar d|.

    It is assumed that more repeats have the same mean and spread. If the number exceeds
    ``importance.n_repeats``, the repeats do not settle the order.

    Returns
    -------
    ndarray of shape (n_features,)
        1 if nothing is drawn and the two differ; infinite if they are equal; NaN after
        a single repeat, for the last feature, and if one of the two has no finite
        importance.
    """
    needed = np.full(len(importance.features), np.nan)
    rank = importance.rank
    order = [row for row in np.argsort(rank, kind="stable") if np.isfinite(rank[row])]
    for upper, lower in pairwise(order):
        differences = importance.values[upper] - importance.values[lower]
        mean = float(importance.mean[upper] - importance.mean[lower])
        if importance.form == "ratio" and importance.aggregator == "pooled":
            base = importance.baseline  # by the delta method, as in `Importance.std`
            rise = importance.raw[upper] - importance.raw[lower]
            differences = (rise - mean * base) / base.mean()
        if mean == 0:
            needed[upper] = np.inf
        elif np.isfinite(mean) and not importance.stream:
            needed[upper] = 1.0
        elif np.isfinite(mean) and len(differences) > 1:
            needed[upper] = settling_count(mean, float(differences.std(ddof=1)))
    return needed


def settling_count(mean: float, std: float) -> float:
    """Return the least n of 2 or more with ``t * std / sqrt(n) < abs(mean)``.

    `mean` is not 0, and t is the quantile of Student's distribution with n - 1
    degrees of freedom. The left side falls with n: n is found by bisection.
    """
    from scipy.special import stdtrit

    def is_settled(n: int) -> bool:
        t = stdtrit(float(n - 1), (1 + LEVEL) / 2)  # a count may exceed 64 bits
        return bool(t * std / n**0.5 < abs(mean))

    below, enough = 1, 2
    while not is_settled(enough):
        below, enough = enough, 2 * enough
    while enough - below > 1:
        middle = (below + enough) // 2
        below, enough = (below, middle) if is_settled(middle) else (middle, enough)
    return float(enough)
