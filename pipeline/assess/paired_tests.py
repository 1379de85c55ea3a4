"""One-sided tests of an increase of the loss without a feature, by its differences.

The differences are losses without the feature less losses with it, per row or repeat.
The alternative is an increase: a decrease has a p-value near 1. Not: the measurement
of the differences (`paired_losses`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..methods.importance.paired_losses import PairedLosses
from ..methods.importance.refits import n_held_out
from ..records.dataset_and_model import Floats
from ..records.errors import NotApplicable, quote
from ..records.importance_record import Importance
from ..records.losses import why_no_mean
from ..records.ranked_losses import TIE, ties
from ..records.ranking import LEVEL
from ..records.streams import stream
from .significance import Columns, p_values

FLIPS = 1999
"""Random signs of `sign_flip_test` in an audit."""
BLOCK = 2**20
"""Most signs drawn at a time."""
EXACT_BELOW = 50
"""Differences below which the distribution of `wilcoxon_test` may be exact."""


class Outcome(NamedTuple):
    """The result of a test of the differences of one feature.

    Attributes
    ----------
    value : float
        The test statistic.
    p_value : float
    std_error, low, high : float
        The standard error of the mean difference and its two-sided 95 % interval; NaN
        if the test has none.
    """

    value: float
    p_value: float
    std_error: float = np.nan
    low: float = np.nan
    high: float = np.nan


NONE = Outcome(np.nan, np.nan)


class PairedTest(NamedTuple):
    """A published test of the differences of one method.

    Attributes
    ----------
    method : str
        A key of `METHODS`.
    statistic : str
        The default statistic.
    centre : callable
        The location of the differences that the test is about: mean or median.
    """

    method: str
    statistic: str
    centre: Callable[[Floats], np.floating]


PAIRED = {
    "cpi": PairedTest("permutation", "t", np.mean),
    "lei": PairedTest("drop_column", "wilcoxon", np.median),
}
"""Watson and Wright (2021), doi:10.1007/s10994-021-06030-6; Lei and others (2018),
doi:10.1080/01621459.2017.1307116, of any loss that is a mean over rows."""
NADEAU_BENGIO = "nadeau_bengio"
OF_REFITS = "drop_column"


def is_test_of(test: str, method: str, options: Mapping[str, Any]) -> bool:
    """Return whether a test applies to a method with these options.

    If each repeat holds out other rows, rows are in several repeats: the differences of
    the repeats are tested, not those of the rows.
    """
    holds_out = bool(options.get("held_out"))
    if test == NADEAU_BENGIO:
        return method == OF_REFITS and holds_out
    return test in PAIRED and PAIRED[test].method == method and not holds_out


def refit_columns(importance: Importance) -> Columns:
    """Return the test over the repeats of a ranking by refits that hold rows out.

    It is the `t_test`, with the variance of Nadeau and Bengio, of the loss of the refit
    without the feature less that of the refit with all features; of any loss, in any
    form.
    """
    n = importance.n_samples
    n_out = n_held_out(n, float(importance.options["held_out"]))
    rises = importance.raw - importance.baseline
    outcomes = [t_test(rise, overlap=n_out / (n - n_out)) for rise in rises]
    n_repeats = [rises.shape[1]] * len(rises)
    return _columns(outcomes, "t", rises.mean(axis=1), n_repeats)


def paired_columns(
    importance: Importance, paired: PairedLosses | None, test: str, statistic: str
) -> Columns:
    """Return the test of the losses of single rows with and without each feature.

    Parameters
    ----------
    importance : Importance
        A ranking of ours.
    paired : PairedLosses or None
        The losses of the rows, from the same measurement; None if it has none.
    test : str
        A key of `PAIRED`.
    statistic : {"", "t", "wilcoxon", "sign", "fisher"}
        "" is the default statistic of the test.

    Raises
    ------
    NotApplicable
        There are no losses of rows, or the loss is no mean over rows, or not known to
        be one.
    """
    loss = importance.loss
    if paired is None:
        raise NotApplicable(
            "The mean over all permutations has no losses of single rows to test. Set "
            'draws = "sampled".'
        )
    if loss not in paired.totals:
        raise NotApplicable(
            f"{why_no_mean(loss, quote(loss))}, so there are no losses of single rows "
            "to test. Use another loss as well."
        )
    statistic = statistic or PAIRED[test].statistic
    outcomes, estimates, counts = [], [], []
    for row, feature in enumerate(importance.features):
        differences = paired.differences(loss, row)
        n = len(differences)
        if statistic == "fisher":
            flips = signs_of(importance.seed, feature, max(1, n))
            outcomes.append(sign_flip_test(differences, flips))
        else:
            outcomes.append(STATISTICS[statistic](differences))
        estimates.append(float(PAIRED[test].centre(differences)) if n else np.nan)
        counts.append(n)
    return _columns(outcomes, statistic, estimates, counts)


def engine_columns(importance: Importance, table: Floats, statistic: str) -> Columns:
    """Return an engine's own test of its ranking.

    `table` has the statistic, p-value, estimate and standard error of each feature,
    NaN where it has none, (n_features, 4).
    """
    outcomes = [Outcome(value, p, error) for value, p, _, error in table.tolist()]
    n_rows = [importance.n_samples] * len(table)
    return _columns(outcomes, statistic, table[:, 2], n_rows)


def _columns(
    outcomes: Sequence[Outcome],
    statistic: str,
    estimate: Sequence[float] | Floats,
    n: Sequence[int],
) -> Columns:
    """Return the outcomes of tests as columns of the frame `significance`."""
    columns = {name: [getattr(o, name) for o in outcomes] for name in Outcome._fields}
    names = [statistic] * len(outcomes)
    return {**columns, "statistic": names, "estimate": estimate, "n": n}


def t_test(differences: Floats, *, overlap: float = 0.0) -> Outcome:
    r"""Return Student's one-sided t-test that the mean difference is not above 0.

    With mean :math:`\bar d` and variance :math:`s^2` of *n* differences,

    .. math:: t = \bar d \Big/ \sqrt{(1 / n + o)\, s^2}

    with *n* - 1 degrees of freedom; *o* is `overlap`.

    Parameters
    ----------
    differences : ndarray of shape (n,)
    overlap : float, default 0
        0 if the differences are independent. For refits on overlapping training rows,
        the number of rows held out divided by the number fitted: the corrected variance
        of Nadeau and Bengio [1]_, since the correlation cannot be estimated.

    Returns
    -------
    Outcome
        p is 1 if all differences are 0; NaN if all are equal but not 0, if one is not
        finite, or if there are fewer than two.

    References
    ----------
    .. [1] Nadeau and Bengio (2003). Inference for the Generalization Error. Machine
       Learning 52, 239-281. doi:10.1023/A:1024068626366
    """
    from scipy import special, stats

    n = len(differences)
    if n < 2 or not np.isfinite(differences).all():
        return NONE
    if not differences.any():
        return Outcome(0.0, 1.0, 0.0, 0.0, 0.0)
    mean = float(differences.mean())
    error = float(np.sqrt((1 / n + overlap) * differences.var(ddof=1)))
    if error <= 10 * np.finfo(float).eps * abs(mean):  # R's rule for a constant
        return NONE
    # The quantile of t in full precision; that of scipy 1.10 has eight digits.
    x = special.betaincinv((n - 1) / 2, 0.5, 1 - LEVEL)
    half = float(np.sqrt((n - 1) * (1 - x) / x)) * error
    p_value = float(stats.t.sf(mean / error, n - 1))
    return Outcome(mean / error, p_value, error, mean - half, mean + half)


def wilcoxon_test(differences: Floats) -> Outcome:
    """Return Wilcoxon's one-sided signed-rank test that the median is not above 0.

    Differences of 0 are left out, the ranks of ties are averaged. The statistic is the
    sum of the ranks of the differences above 0. As in R, its distribution is exact for
    fewer than 50 differences without zeros and ties, else normal with continuity
    correction.

    Parameters
    ----------
    differences : ndarray of shape (n,)
        Because of rounding, values up to 1e-12 of the largest are 0, and two sizes are
        tied if they differ by up to 1e-12 of the larger one.

    Returns
    -------
    Outcome
        p is 1 if all differences are 0; NaN if one is not finite, or there is none.
    """
    from scipy import stats

    n_all = len(differences)
    if not n_all or not np.isfinite(differences).all():
        return NONE
    moved = differences[_is_moved(differences)]
    n = len(moved)
    if not n:
        return Outcome(0.0, 1.0)
    order = np.argsort(np.abs(moved))
    place = np.append(0, np.cumsum(~ties(np.abs(moved)[order], near_one=False)))
    counts = np.bincount(place).astype(float)
    rank = (np.cumsum(counts) - (counts - 1) / 2)[place]
    value = float(rank[moved[order] > 0].sum())
    if n == n_all < EXACT_BELOW and len(counts) == n:
        return Outcome(value, _signed_rank_tail(n, value))
    variance = n * (n + 1) * (2 * n + 1) / 24 - (counts**3 - counts).sum() / 48
    z = (value - n * (n + 1) / 4 - 0.5) / np.sqrt(variance)
    return Outcome(value, float(stats.norm.sf(z)))


def sign_test(differences: Floats) -> Outcome:
    """Return the one-sided sign test that at most half of the differences are above 0.

    The statistic is the number of differences above 0. Differences of 0 count as not
    above, as in the R package cpi, so that many of them reduce the power.

    Parameters
    ----------
    differences : ndarray of shape (n,)
        As in `wilcoxon_test`.

    Returns
    -------
    Outcome
        NaN if a difference is not finite, or there is none.
    """
    from scipy import stats

    n = len(differences)
    if not n or not np.isfinite(differences).all():
        return NONE
    n_above = int((_is_moved(differences) & (differences > 0)).sum())
    return Outcome(float(n_above), float(stats.binom.sf(n_above - 1, n, 0.5)))


def sign_flip_test(differences: Floats, flips: Iterable[Floats]) -> Outcome:
    """Return Fisher's one-sided randomisation test that the mean is not above 0.

    If differences are symmetric about 0, their signs are random: p is the share, among
    means with random signs and the mean itself, of those that are as large
    (`p_values`).

    Parameters
    ----------
    differences : ndarray of shape (n,)
    flips : iterable of ndarray of shape (n_flips, n)
        Signs, 1 or -1.

    Returns
    -------
    Outcome
        The statistic is the mean. NaN if a difference is not finite, or there is none.
    """
    if not len(differences) or not np.isfinite(differences).all():
        return NONE
    mean = differences.mean(keepdims=True)
    null = np.concatenate([signs @ differences for signs in flips]) / len(differences)
    return Outcome(float(mean[0]), float(p_values(mean, null[:, np.newaxis])[0]))


def signs_of(seed: int, name: str, n: int) -> Iterator[Floats]:
    """Yield the random signs of a feature in an audit, `FLIPS` for each of n rows."""
    size = max(1, BLOCK // n)
    for block, start in enumerate(range(0, FLIPS, size)):
        generator = stream(seed, "sign flips", name, block)
        shape = min(size, FLIPS - start), n
        yield 2.0 * generator.integers(2, size=shape) - 1


def _is_moved(differences: Floats) -> npt.NDArray[np.bool_]:
    """Return whether each difference is not 0, up to rounding."""
    size = np.abs(differences)
    return size > TIE * size.max()


def _signed_rank_tail(n: int, value: float) -> float:
    """Return the probability that a signed-rank sum of n values is at least `value`."""
    ways = np.ones(1)
    for rank in range(1, n + 1):  # each rank is in the sum or is not
        ways = np.append(ways, np.zeros(rank)) + np.append(np.zeros(rank), ways)
    return float(ways[int(value) :].sum() / 2.0**n)


STATISTICS: dict[str, Callable[[Floats], Outcome]] = {
    "t": t_test,
    "wilcoxon": wilcoxon_test,
    "sign": sign_test,
}
"""The statistics that need no random signs, unlike "fisher"."""
