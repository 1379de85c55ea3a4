"""ReliefF and RReliefF: differences between near rows that differ in the target."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ...data.column_types import is_category
from ...records.dataset_and_model import Dataset, Floats
from ...records.errors import NotApplicable, quote
from ...records.value_rules import Range
from .data_only import (
    by_name,
    is_measurable,
    refuse_constant_target,
    refuse_weights,
    rows_of_classes,
)

Index = npt.NDArray[np.int64]
Weighting: TypeAlias = Literal["equal", "rank", "distance", "squared_distance"]
CELLS = 4_000_000
POWERS = {"distance": 1, "squared_distance": 2}


def relieff(
    model: None,
    data: Dataset,
    *,
    seed: int,
    n_neighbours: int = 10,
    weighting: Weighting = "equal",
    sigma: Annotated[float, Range(above=0)] = 20.0,
    same_below: Annotated[float, Range(least=0, below=1)] = 0.0,
    different_above: Annotated[float, Range(above=0, most=1)] = 1.0,
    misses: Literal["each_class", "any_class"] = "each_class",
    merits: bool = False,
) -> tuple[Floats, Floats]:
    r"""Return the weight of each feature by ReliefF, or by RReliefF for a number.

    Of two rows, :math:`d_j` is how far they differ in feature *j*: 0 or 1 for a
    category, the share of the range for a number. Neighbours are nearest by
    :math:`\sum_j d_j`, and :math:`\overline{d_j}` is their weighted mean. For classes
    (ReliefF [1]_), with hits :math:`H` the neighbours in the row's own class *c* and
    misses :math:`M_k` those in class *k*, of share :math:`p_k`,

    .. math::
        W_j = \frac1n \sum_i \Bigl( \sum_{k \ne c} \frac{p_k}{1 - p_c}
              \overline{d_j}(M_k) - \overline{d_j}(H) \Bigr) .

    For a number (RReliefF [2]_), with :math:`d_y` the difference of the targets and
    sums over all rows and their neighbours, whose weights add up to 1 for each row,

    .. math::
        W_j = \frac{\sum d_y d_j}{\sum d_y}
              - \frac{\sum d_j - \sum d_y d_j}{n - \sum d_y} .

    Parameters
    ----------
    model : None
        Not used.
    data : Dataset
        Every column that varies and has no missing value enters the distance, whichever
        are measured, except columns derived from others, which add no information. All
        rows have equal weight, and all are visited.
    seed : int
        Not used: nothing is drawn.
    n_neighbours : int, default 10
        Number of neighbours of each row in each class, or all if there are fewer. Rows
        tied for the last places share them, so the order of rows does not matter.
    weighting : {"equal", "rank", "distance", "squared_distance"}
        Whether neighbours have equal weight, weight :math:`e^{-(r/\sigma)^2}` with
        *r* = 0 for the nearest, or weight 1 over the distance or its square, with all
        weight on rows at distance 0 if there are any.
    sigma : float, default 20.0
        For weighting by rank.
    same_below, different_above : float, default 0.0 and 1.0
        As shares of the range: two numbers closer than the first count as equal, 0,
        those farther apart than the second as different, 1; linear in between. R's
        CORElearn uses 0.04 and 0.1.
    misses : {"each_class", "any_class"}, default "each_class"
        Whether neighbours are sought in each other class separately, or among the rows
        of all other classes, which with one neighbour is the original Relief [3]_.
    merits : bool, default False
        Whether the differences of two rows are divided by their sum over the columns,
        so that every pair of rows counts equally: CORElearn's merit, for classes.

    Returns
    -------
    raw : ndarray of shape (n_groups, 1, 1)
        From -1 to 1; NaN for a constant or incomplete column, and a group of several
        columns.
    baseline : ndarray of shape (1, 1)
        Zero: the feature differs as much among rows of equal target as among others.

    Raises
    ------
    NotApplicable
        If rows differ in weight, the target is constant, a class has fewer than two
        rows, or `merits` is set for a numeric target.
    ValueError
        If `different_above` is not above `same_below`.

    Warnings
    --------
    Neighbours are near in all columns at once: with many unimportant columns the
    nearest row is as far as any. A copy of a feature has the same value. The time grows
    with the square of the number of rows.

    References
    ----------
    .. [1] Kononenko, Simec and Robnik-Sikonja (1997). Overcoming the Myopia of
       Inductive Learning Algorithms with RELIEFF. Applied Intelligence 7, 39-55.
       doi:10.1023/A:1008280620621
    .. [2] Robnik-Sikonja and Kononenko (2003). Theoretical and Empirical Analysis of
       ReliefF and RReliefF. Machine Learning 53, 23-69. doi:10.1023/A:1025667309714
    .. [3] Kira and Rendell (1992). A Practical Approach to Feature Selection. Machine
       Learning Proceedings 1992, 249-256. doi:10.1016/B978-1-55860-247-2.50037-1

    Examples
    --------
    >>> from importance_audit.methods.known_answers import binary_data
    >>> raw, baseline = relieff(None, binary_data(), seed=1)
    >>> bool(raw[0] > 0.1 > raw[1])
    True
    """
    if same_below >= different_above:
        raise ValueError(
            f"different_above must be above same_below, {same_below}; "
            f"{different_above} was given."
        )
    refuse_weights(data, "relieff")
    refuse_constant_target(data, "relieff")
    if merits and data.task == "regression":
        raise NotApplicable(
            f"Target {quote(data.target)} must be a class for merits in method "
            "'relieff'; it is a number. Leave merits out."
        )
    names = [name for name in data.X if is_measurable(data.X[name])]
    if not names:  # nor is there a distance
        return by_name(data, {})
    rule = Rule(n_neighbours, weighting, sigma)
    values = np.array([_scaled(data, name) for name in names])
    counts = np.array([not data.unread.get(name) for name in names])
    table = _Table(values, (same_below, different_above), counts, merits)
    if data.task == "regression":
        weights = _of_number(data, table, rule)
    else:
        weights = _of_classes(data, table, rule, by_class=misses == "each_class")
    weight_of = dict(zip(names, weights.tolist(), strict=True))
    return by_name(data, weight_of)


class Rule(NamedTuple):
    """The number of neighbours, and how they are weighted."""

    n: int
    weighting: Weighting
    sigma: float

    def weights(self, distance: Floats) -> Floats:
        """Return the weights of neighbours in order of their distance."""
        if self.weighting == "equal":
            return np.ones(len(distance))
        if self.weighting == "rank":
            places = np.arange(len(distance), dtype=np.float64)
            return np.asarray(np.exp(-((places / self.sigma) ** 2)))
        if distance[0] == 0:
            return np.asarray(distance == 0, dtype=np.float64)
        return np.asarray(1 / distance ** POWERS[self.weighting])


def _scaled(data: Dataset, name: str) -> Floats:
    """Return a column as its level codes, or as shares of its range, (n_samples,)."""
    column = data.X[name]
    if is_category(column):
        return column.cat.codes.to_numpy(np.float64)
    values = column.to_numpy(np.float64)
    return np.asarray((values - values.min()) / np.ptp(values))


class _Table(NamedTuple):
    """The columns, one per row of `values`, and how two values are compared.

    The codes of two levels differ by at least 1, the full difference. Columns for which
    `counts` is true make up the distance. With `merits`, differences are shares of
    their sum over all columns.
    """

    values: Floats
    ramp: tuple[float, float]
    counts: npt.NDArray[np.bool_]
    merits: bool

    def between(self, row: int, others: Index) -> Floats:
        """Return the differences of one row and others, (n_features, n_others)."""
        gaps = np.abs(self.values[:, others] - self.values[:, [row]])
        differences = _ramped(gaps, *self.ramp)
        if self.merits:
            total = differences.sum(axis=0)
            differences = differences / np.where(total > 0, total, 1)
        return differences

    def distances(self) -> Iterator[tuple[int, Floats]]:
        """Yield each row and its distance from all, (n_samples,), itself infinite."""
        n = self.values.shape[1]
        for start in range(0, n, max(1, CELLS // n)):
            rows = np.arange(start, min(start + max(1, CELLS // n), n))
            total = np.zeros((len(rows), n))
            for column in np.flatnonzero(self.counts):
                values = self.values[column]
                gaps = np.abs(values - values[rows, np.newaxis])
                total += _ramped(gaps, *self.ramp)
            # Equal sums of other terms must tie, as in exact arithmetic.
            total = np.round(total, 12)
            total[np.arange(len(rows)), rows] = np.inf
            yield from zip(rows.tolist(), total, strict=True)


def _ramped(gaps: Floats, low: Any, high: Any) -> Floats:
    """Return 0 below the ramp, 1 above it, linear in between."""
    return np.asarray(np.clip((gaps - low) / (high - low), 0, 1))


def _nearest(distance: Floats, rule: Rule) -> tuple[Index, Floats]:
    """Return the nearest rows and their weights, which sum to 1; none at infinity."""
    n_places = min(rule.n, int(np.isfinite(distance).sum()))
    last = np.partition(distance, n_places - 1)[n_places - 1]
    near = np.flatnonzero(distance <= last)
    near = near[np.argsort(distance[near])]
    weights = np.zeros(len(near))
    weights[:n_places] = rule.weights(distance[near][:n_places])
    tied = np.cumsum(np.diff(distance[near], prepend=-1) > 0) - 1
    shared = (np.bincount(tied, weights) / np.bincount(tied))[tied]
    return near, shared / shared.sum()


def _of_classes(data: Dataset, table: _Table, rule: Rule, *, by_class: bool) -> Floats:
    """Return the weights of ReliefF, (n_features,); misses by class if `by_class`."""
    members = [np.flatnonzero(r) for r in rows_of_classes(data, "relieff", at_least=2)]
    total = np.zeros(len(table.values))
    for row, distance in table.distances():
        own = int(data.y[row])
        others = [rows for code, rows in enumerate(members) if code != own]
        if not by_class:
            others = [np.sort(np.concatenate(others))]
        n_others = sum(len(rows) for rows in others)
        shares = [-1.0, *(len(rows) / n_others for rows in others)]
        hits = members[own][members[own] != row]
        for share, rows in zip(shares, [hits, *others], strict=True):
            near, weights = _nearest(distance[rows], rule)
            total += share * (table.between(row, rows[near]) @ weights)
    return total / data.n_samples


def _of_number(data: Dataset, table: _Table, rule: Rule) -> Floats:
    """Return the weights of RReliefF, (n_features,)."""
    y = (data.y - data.y.min()) / np.ptp(data.y)
    low, high = table.ramp
    sum_dy, differ, both = 0.0, np.zeros(len(table.values)), np.zeros(len(table.values))
    for row, distance in table.distances():
        near, weights = _nearest(distance, rule)
        of_target = _ramped(np.abs(y[near] - y[row]), low, high) * weights
        between = table.between(row, near)
        sum_dy += float(of_target.sum())
        differ += between @ weights
        both += between @ of_target
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(both / sum_dy - (differ - both) / (data.n_samples - sum_dy))
