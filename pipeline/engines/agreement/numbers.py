"""Differences of two sides, as numbers. Not: the verdict.

Every array has the shape (n_features,), in the order of the features of both sides.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.dataset_and_model import Floats
from ...records.importance_record import Importance

ROUNDING = 1e-9  # of the terms of a sum: tolerance between correct implementations
FLOOR = 1e-4  # of the largest loss: rounding errors of an exact fit are smaller
MISS_RATE = 0.01  # chance that an agreeing pair has any feature outside its band


class Gaps(NamedTuple):
    """Differences of the means, and their limits.

    `relative` is the difference relative to the terms it was computed from, `same`
    whether that is within rounding; `band` is NaN where nothing was judged.
    """

    difference: Floats
    band: Floats
    inside: npt.NDArray[np.bool_]
    relative: Floats
    same: npt.NDArray[np.bool_]


def is_finished(record: Importance) -> bool:
    """Return whether the record has final values, without the losses behind them."""
    none = 1.0 if record.form == "ratio" else 0.0
    return bool((record.baseline == none).all())


def unjudged(a: Importance) -> Gaps:
    """Return the gaps of two quantities whose difference has no meaning."""
    nan = np.full(len(a.features), np.nan)
    yes = np.ones(len(a.features), dtype=bool)
    return Gaps(difference=nan, band=nan, inside=yes, relative=nan, same=~yes)


def repeat_gaps(a: Importance, b: Importance, terms: float = 0.0) -> Gaps:
    """Return the gaps of equal draws: the worst repeat of each feature.

    Raw losses and baselines are compared, unless a side has only finished values; then
    values are compared. `terms` is the size of the numbers that a curve averages.
    """
    as_losses = not (is_finished(a) or is_finished(b))
    x, y = (a.raw, b.raw) if as_losses else (a.values, b.values)
    gap = _distance(x, y)
    if as_losses:
        gap = np.maximum(gap, _distance(a.baseline, b.baseline))
    in_ratios = a.form == "ratio" and not as_losses
    baseline = np.maximum(_finite(a.baseline), _finite(b.baseline))
    scale = _scale(x, y, np.ones(1) if in_ratios else baseline, terms)
    relative = _share(gap, scale)
    inside = (gap <= ROUNDING * scale).all(axis=1)
    worst = relative.argmax(axis=1)
    return Gaps(
        difference=_signed(a.mean, b.mean),
        band=ROUNDING * scale[np.arange(len(worst)), worst],
        inside=inside,
        relative=relative.max(axis=1),
        same=inside,
    )


def mean_gaps(a: Importance, b: Importance, terms: float = 0.0) -> Gaps:
    """Return the gaps of the means of independent draws, with their Welch band."""
    baseline = np.ones(1)
    if a.form != "ratio":
        baseline *= max(_finite(a.baseline).mean(), _finite(b.baseline).mean())
    gap = _distance(a.mean, b.mean)
    scale = _scale(a.mean, b.mean, baseline, terms)
    band = _band(a, b)
    same = gap <= ROUNDING * scale
    return Gaps(
        difference=_signed(a.mean, b.mean),
        band=band,
        inside=same | ~((gap > band) | np.isinf(gap)),
        relative=_share(gap, scale),
        same=same,
    )


def ranks(a: Importance, b: Importance, gaps: Gaps) -> tuple[Floats, Floats]:
    """Return the ranks on both sides; means that differ by rounding get equal ranks."""
    left, right = a.mean, np.where(gaps.same, a.mean, b.mean)
    return _rank(a, left), _rank(b, right)


def association(rank_a: Floats, rank_b: Floats) -> dict[str, float]:
    """Return Spearman's rho and Kendall's tau-b; NaN where a side has one rank only."""
    from scipy.stats import kendalltau

    if np.ptp(rank_a) == 0 or np.ptp(rank_b) == 0:
        return {"spearman": float("nan"), "kendall": float("nan")}
    spearman = np.corrcoef(rank_a, rank_b)[0, 1]
    return {
        "spearman": float(spearman),
        "kendall": float(kendalltau(rank_a, rank_b)[0]),
    }


def top_k_overlap(rank_a: Floats, rank_b: Floats, k: int) -> float:
    """Return the share of the `k` leading features that both sides have in common.

    Features tied across the k-th place share the remaining places.
    """
    k = min(k, len(rank_a))
    return float(
        np.minimum(share_of_first(rank_a, k), share_of_first(rank_b, k)).sum() / k
    )


def share_of_first(rank: Floats, k: int) -> Floats:
    """Return the fraction of each feature's tie that is among the first `k` places.

    `rank` has an average rank for every feature; the fractions sum to `k`, or to their
    number.
    """
    tied = (rank[:, np.newaxis] == rank).sum(axis=1)
    first = rank - (tied - 1) / 2
    return np.asarray(np.clip((k - first + 1) / tied, 0.0, 1.0))


def _band(a: Importance, b: Importance) -> Floats:
    """Return the half-width of Welch's interval, Bonferroni over the features.

    NaN after a single draw, whose spread is unknown; 0 where nothing varies.
    """
    from scipy.special import stdtrit  # scipy.stats takes a second to import

    parts = np.array([a.std_error**2, b.std_error**2])
    free = np.maximum([[a.n_repeats - 1], [b.n_repeats - 1]], 1)
    total = parts.sum(axis=0)
    weight = (parts**2 / free).sum(axis=0)
    degrees = np.divide(total**2, weight, out=np.ones_like(total), where=weight != 0)
    quantile = stdtrit(degrees, 1 - MISS_RATE / 2 / len(total))
    return np.asarray(quantile * np.sqrt(total))


def _distance(x: Floats, y: Floats) -> Floats:
    """Return |x - y|, 0 for equal infinities."""
    return np.asarray(np.abs(_signed(x, y)))


def _signed(x: Floats, y: Floats) -> Floats:
    """Return x - y, 0 for equal infinities."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(x == y, 0.0, x - y))


def _finite(x: Floats) -> Floats:
    """Return |x|, 0 for infinities, which cannot scale a rounding error."""
    return np.asarray(np.where(np.isfinite(x), np.abs(x), 0.0))


def _scale(x: Floats, y: Floats, baseline: Floats, terms: float) -> Floats:
    """Return the size of the terms: the larger value, or the baseline if larger.

    Without a baseline a value is the spread of a curve or a point of one, and the
    largest value is used; but a mean of large predictions, its `terms`, may be 0, and
    the scale is no smaller than `FLOOR` of these. The terms of a loss, targets and
    predictions, are no smaller than `FLOOR` of the largest loss.
    """
    larger = np.maximum(_finite(x), _finite(y))
    largest = larger.max(initial=FLOOR * terms)
    if not baseline.any():
        return np.full_like(larger, largest)
    return np.maximum(np.maximum(larger, baseline), FLOOR * largest)


def _share(gap: Floats, scale: Floats) -> Floats:
    """Return gap / scale, 0 for no gap."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(gap == 0, 0.0, gap / scale))


def _rank(record: Importance, means: Floats) -> Floats:
    """Return the ranks of `means`, by the rule of `Importance.rank`."""
    column = means[:, np.newaxis]
    return replace(record.first(1), form="raw", raw=column, baseline=np.zeros(1)).rank
