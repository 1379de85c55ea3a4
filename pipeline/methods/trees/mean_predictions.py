"""Mean predictions of a fitted model on some rows, from the trees that answer for it.

They equal the means of what predict gives, up to the rounding of a sum; the first ones
that are asked are compared with it.
"""

from collections.abc import Collection
from functools import cached_property
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.execution import n_threads
from . import compiled
from .fitted import NO_BINS, Trees, not_of_trees, report_difference, trees_of
from .ice import dependences
from .packing import Integers
from .pairs import Pairs
from .partial_dependence import curves_at_bins, reason_against
from .routes import Route, is_worth_reading, report_route

ALLOWED = 1e-12
"""What two means may differ by, as a share of the largest prediction."""
MOST_ASKED = 64
"""Rows that predict is asked about to see that the estimator is still the same."""
OTHER_SCALE = "The mean is of a link of its predictions."


class TreeMeans:
    """The trees of a model on rows that weigh the same.

    Parameters
    ----------
    trees : Trees
        With no `reason_against` their packing.
    bins : ndarray of shape (n_features, n_rows)
        The rows.
    asked : ndarray
        What predict gives for the first of them.

    Attributes
    ----------
    is_compared, are_dependences_compared : bool
        Whether predict gave the same means once, and those of `dependences`.
    """

    def __init__(self, trees: Trees, bins: Integers, asked: Floats) -> None:
        self._trees, self._bins, self._asked = trees, bins, asked
        self.is_compared = self.are_dependences_compared = False

    def is_current(self, asked: Floats) -> bool:
        """Return whether predict still gives what it gave when the trees were read."""
        allowed = ALLOWED * np.abs(asked).max()
        return bool((np.abs(asked - self._asked) <= allowed).all())

    @cached_property
    def _curves(self) -> tuple[Floats, ...]:
        packing, n = self._trees.packing, n_threads()
        return curves_at_bins(packing, self._bins, n_threads=n)

    @cached_property
    def _pairs(self) -> Pairs:
        return Pairs(self._trees.packing, self._bins, n_threads=n_threads())

    @property
    def largest(self) -> Floats:
        """No prediction is larger in size, (n_outputs,)."""
        packing = self._trees.packing
        start, values = np.abs(packing.start), np.abs(packing.values)
        each = np.maximum.reduceat(values, packing.roots, axis=0).sum(axis=0)
        return self._own((start + each)[np.newaxis] / packing.divisor)[0]

    def reads_as_one(self, feature: str) -> bool:
        """Return whether one column of the trees is made of a feature."""
        return self._trees.features.count(feature) == 1

    def curve(self, X: pd.DataFrame, feature: str, values: Any) -> Floats | None:
        """Return the partial dependence at some values, (n_points, n_outputs).

        None if the rows of `X` with these values have no bins.
        """
        points = X.iloc[np.zeros(len(values), dtype=int)].assign(**{feature: values})
        bins = self._trees.bins(points)
        if bins is None:
            return None
        place = self._trees.features.index(feature)
        return self._own(self._curves[place][bins[place]])

    def alone(self, feature: str) -> Floats:
        """Return the partial dependence on a feature at the rows."""
        return self._own(self._pairs.alone(self._trees.features.index(feature)))

    def together(self, feature: str, other: str) -> Floats:
        """Return what two features do together at the rows, up to a constant."""
        places = map(self._trees.features.index, (feature, other))
        return self._own(self._pairs.together(*places))

    def dependences(self, features: Collection[str]) -> tuple[Floats, Floats]:
        """Return the partial dependences on features and on all others at the rows."""
        names = self._trees.features
        columns = [at for at, name in enumerate(names) if name in features]
        packing, n = self._trees.packing, n_threads()
        both = dependences(packing, self._bins, columns, n_threads=n)
        return self._own(both[0]), self._own(both[1])

    def _own(self, values: Floats) -> Floats:
        """Return the outputs that are the model's, (n, n_outputs)."""
        columns = np.atleast_1d(np.asarray(self._trees.columns))
        return np.asarray(values[:, columns])


_Answer: TypeAlias = TreeMeans | Route
_known: WeakKeyDictionary[FittedModel, WeakKeyDictionary[Dataset, _Answer]]
_known = WeakKeyDictionary()


def tree_means(
    model: FittedModel, rows: Dataset, scale: str, n_calls: int
) -> TreeMeans | None:
    """Return the trees that answer for means over these rows; None if predict is to.

    Parameters
    ----------
    model : FittedModel
    rows : Dataset
    scale : str
        The means are those of probabilities or responses, "native".
    n_calls : int
        How often predict would be asked about all rows else.
    """
    trees = _means_or_route(model, rows, scale, n_calls)
    if isinstance(trees, Route):
        report_route(model, trees.basis, trees.reason)
        return None
    if trees.is_compared:
        report_route(model, "means")
    return trees


def _means_or_route(
    model: FittedModel, rows: Dataset, scale: str, n_calls: int
) -> _Answer:
    """Return the trees that answer, or why predict is to."""
    if reason := not_of_trees(model):
        return Route(model.name, "unread", reason)
    if scale != "native":
        return Route(model.name, "unread", OTHER_SCALE)
    if not is_worth_reading(n_calls, rows.n_samples):
        return Route(model.name, "few")
    known = _known.setdefault(model, WeakKeyDictionary())
    means = known.get(rows)
    if isinstance(means, Route):
        return means
    asked = model.predict(rows.X.iloc[:MOST_ASKED])
    if means is None or not means.is_current(asked):
        known[rows] = _read(model, rows, asked)
    return known[rows]


def _read(model: FittedModel, rows: Dataset, asked: Floats) -> _Answer:
    """Return the trees of a model, or why its means are no sums over leaves."""
    if not compiled.available():
        return Route(model.name, "no_numba")
    trees = trees_of(model, rows.X)
    if isinstance(trees, str):
        return Route(model.name, "unread", trees)
    bins = trees.bins(rows.X)
    reason = reason_against(trees.packing)
    if rows.is_weighted:
        reason = "Its leaves count rows, and these have weights."
    if bins is None:
        reason = NO_BINS
    if reason or bins is None:
        return Route(model.name, "unread", reason)
    return TreeMeans(trees, bins, asked)


def agrees(
    model: FittedModel, rows: Dataset, means: Floats, predictions: Floats
) -> bool:
    """Return whether means are those of predict; the trees are not asked again if not.

    Parameters
    ----------
    model : FittedModel
    rows : Dataset
    means : ndarray of shape (n_points, n_outputs)
        What the trees give.
    predictions : ndarray of shape (n_points, n_rows, n_outputs)
        What predict gives.
    """
    trees = _known[model][rows]
    allowed = ALLOWED * np.abs(predictions).max()
    is_equal = bool((np.abs(means - predictions.mean(axis=1)) <= allowed).all())
    if is_equal and isinstance(trees, TreeMeans):
        trees.is_compared = True
        report_route(model, "means")
        return True
    report_difference(model)
    report_route(model, "differ")
    _known[model][rows] = Route(model.name, "differ")
    return False
