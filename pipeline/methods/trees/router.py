"""The choice between the trees of a fitted model and its predict.

Trees are used where they reproduce predict. They are read from an estimator once, and
again if it was fitted again.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np
import pandas as pd

from ...models.prediction import MOST_COMPARED
from ...records.dataset_and_model import FittedModel, Floats
from ...records.errors import DataError, ModelError
from ...records.execution import n_threads
from . import compiled, replay
from .fitted import NO_BINS, Trees, not_of_trees, trees_of
from .packing import Integers, Packing
from .routes import Basis, Route, is_worth_reading, report_route

REFUSED = "It does not predict every row."


@dataclass(frozen=True, eq=False)
class Reading:
    """The trees of a model, and the bins of some rows.

    Attributes
    ----------
    trees : Trees
    rows : weakref.ref of DataFrame
    bins : ndarray of shape (n_features, n_rows)
    compared : set of str
        The kinds of results for these rows that were compared with predict.
    kept : dict
        Cached results for all features.
    """

    trees: Trees
    rows: Callable[[], pd.DataFrame | None]
    bins: Integers
    compared: set[str] = field(default_factory=set)
    kept: dict[Hashable, Any] = field(default_factory=dict)

    def once(self, name: str, function: Callable[..., Any]) -> Any:
        """Return the result of a function of packing and bins, computed once."""
        if name not in self.kept:
            self.kept[name] = function(
                self.trees.packing, self.bins, n_threads=n_threads()
            )
        return self.kept[name]

    @property
    def basis(self) -> Basis:
        """Whether its predictions equal those of predict, or up to rounding."""
        return "identical" if self.trees.is_ordered else "rounding"


@dataclass
class _Cached:
    """The cached trees of a model, or the route if predict is used from now on."""

    trees: Trees | Route | None = None
    readings: list[Reading] = field(default_factory=list)


_cached: WeakKeyDictionary[FittedModel, _Cached] = WeakKeyDictionary()


class Router:
    """Chooses between the trees of a model and its predict, and reports the choice.

    Parameters
    ----------
    model : FittedModel
        Its trees are cached as long as it lives.
    """

    def __init__(self, model: FittedModel) -> None:
        self._model, self._cached = model, _cached.setdefault(model, _Cached())

    def reading(
        self,
        X: pd.DataFrame,
        n_calls: float,
        *,
        reason: str = "",
        reason_against: Callable[[Packing], str] = replay.reason_against,
    ) -> Reading | None:
        """Return the trees for some rows; None, and a report, if predict is to be used.

        Parameters
        ----------
        X : DataFrame
        n_calls : float
            Number of calls of predict, each for all rows, that trees would replace.
        reason : str
            Why trees cannot be used, in plain words; empty if they can.
        reason_against : callable
            Returns such a reason for a packing.
        """
        try:
            found = self._reading_or_route(X, n_calls, reason)
        except (DataError, ModelError):  # some row is refused
            found = Route("", "unread", REFUSED)
        if isinstance(found, Reading):
            reason = reason_against(found.trees.packing)
            if not reason:
                return found
            found = Route("", "unread", reason)
        self.report(found.basis, found.reason)
        return None

    def report(self, basis: Basis, reason: str = "") -> None:
        """Report how the model gives predictions."""
        report_route(self._model, basis, reason)

    def accepts(
        self, reading: Reading, kind: str, ours: Floats, theirs: Floats, allowed: float
    ) -> bool:
        """Return whether trees and predict agree; if not, predict is used from now on.

        Parameters
        ----------
        reading : Reading
        kind : str
            Kind of the results, which is added to `reading.compared`.
        ours, theirs : ndarray
            Results of the trees, and of predict.
        allowed : float
            The largest difference allowed.
        """
        if (np.abs(ours - theirs) <= allowed).all():
            reading.compared.add(kind)
            return True
        self.report(self._left_to_predict().basis)
        return False

    def _left_to_predict(self) -> Route:
        """Use predict from now on."""
        self._cached.trees = route = Route("", "differ")
        self._cached.readings.clear()
        return route

    def _reading_or_route(
        self, X: pd.DataFrame, n_calls: float, reason: str
    ) -> Reading | Route:
        """Return the trees with these rows, or the route if predict is to be used."""
        if why := not_of_trees(self._model) or reason:
            return Route("", "unread", why)
        if isinstance(self._cached.trees, Route):
            return self._cached.trees
        if not is_worth_reading(n_calls, len(X)):
            return Route("", "few")
        if not compiled.available():
            return Route("", "no_numba")
        expected = self._model.predict(X.iloc[:MOST_COMPARED].copy())
        if self._cached.trees is not None:
            reading = self._placed(self._cached.trees, X)
            if reading is None or _agree(reading, expected):
                return reading or Route("", "unread", NO_BINS)
        trees = trees_of(self._model, X)
        if isinstance(trees, str):
            self._cached.trees = Route("", "unread", trees)
            return self._cached.trees
        self._cached.trees = trees
        self._cached.readings.clear()
        reading = self._placed(trees, X)
        if reading is None:
            return Route("", "unread", NO_BINS)
        return reading if _agree(reading, expected) else self._left_to_predict()

    def _placed(self, trees: Trees, X: pd.DataFrame) -> Reading | None:
        """Return the trees with the bins of the rows; None if these have no bins."""
        known = self._cached.readings
        known[:] = [each for each in known if each.rows() is not None]
        for reading in known:
            if reading.rows() is X:
                return reading
        bins = trees.bins(X)
        if bins is None:
            return None
        known.append(Reading(trees, ref(X), bins))
        return known[-1]


def _agree(reading: Reading, expected: Floats) -> bool:
    """Return whether the trees reproduce the predictions of the first rows."""
    trees = reading.trees
    ours = trees.predicted(reading.bins[:, :MOST_COMPARED]).reshape(expected.shape)
    return bool((np.abs(ours - expected) <= trees.rounding).all())
