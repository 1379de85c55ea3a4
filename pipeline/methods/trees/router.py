"""Who answers for a fitted model: its trees, where they give what its predict gives.

Trees are read of an estimator once, and again if it was fitted again.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np
import pandas as pd

from ...records.dataset_and_model import FittedModel, Floats
from ...records.errors import DataError, ModelError
from ...records.execution import n_threads
from . import compiled, replay
from .fitted import NO_BINS, Trees, not_of_trees, report_difference, trees_of
from .packing import Integers, Packing
from .routes import Basis, Route, is_worth_reading, report_route

MOST_ASKED = 64
"""Rows that predict is asked about each time, to see that the estimator is the same."""
REFUSED = "It does not predict every row."


@dataclass(frozen=True, eq=False)
class Reading:
    """The trees of a model, and rows.

    Attributes
    ----------
    trees : Trees
    rows : weakref.ref of DataFrame
    bins : ndarray of shape (n_features, n_rows)
    compared : set of str
        The kinds of answers about these rows that predict gave too.
    kept : dict
        Answers to what is asked of all features at once.
    """

    trees: Trees
    rows: Callable[[], pd.DataFrame | None]
    bins: Integers
    compared: set[str] = field(default_factory=set)
    kept: dict[Hashable, Any] = field(default_factory=dict)

    def once(self, name: str, ask: Callable[..., Any]) -> Any:
        """Return what a function of packing and bins returns, kept for the next."""
        if name not in self.kept:
            self.kept[name] = ask(self.trees.packing, self.bins, n_threads=n_threads())
        return self.kept[name]

    @property
    def basis(self) -> Basis:
        """How near its predictions are to those of predict."""
        return "identical" if self.trees.is_ordered else "rounding"


@dataclass
class _Known:
    """What was read of a model: its trees, or why predict answers from now on."""

    trees: Trees | Route | None = None
    readings: list[Reading] = field(default_factory=list)


_known: WeakKeyDictionary[FittedModel, _Known] = WeakKeyDictionary()


class Router:
    """Says whether the trees of a model answer, or its predict, and reports it.

    Parameters
    ----------
    model : FittedModel
        What was read of it is remembered as long as it lives.
    """

    def __init__(self, model: FittedModel) -> None:
        self._model, self._known = model, _known.setdefault(model, _Known())

    def reading(
        self,
        X: pd.DataFrame,
        n_calls: float,
        *,
        reason: str = "",
        reason_against: Callable[[Packing], str] = replay.reason_against,
    ) -> Reading | None:
        """Return the trees that answer about rows; None if predict is to, reported.

        Parameters
        ----------
        X : DataFrame
        n_calls : float
            How often predict would be asked about all of them else.
        reason : str
            Why no trees could answer, in plain words; empty if they could.
        reason_against : callable
            Returns this of a packing.
        """
        try:
            answer = self._reading_or_route(X, n_calls, reason)
        except (DataError, ModelError):  # of a row that may not be asked
            answer = Route("", "unread", REFUSED)
        if isinstance(answer, Reading):
            reason = reason_against(answer.trees.packing)
            if not reason:
                return answer
            answer = Route("", "unread", reason)
        self.report(answer.basis, answer.reason)
        return None

    def report(self, basis: Basis, reason: str = "") -> None:
        """Report how the model gives predictions."""
        report_route(self._model, basis, reason)

    def agrees(
        self, reading: Reading, kind: str, ours: Floats, theirs: Floats, allowed: float
    ) -> bool:
        """Return whether predict gave what the trees did; if not, it answers hereafter.

        Parameters
        ----------
        reading : Reading
        kind : str
            What was asked, which `reading.compared` then holds.
        ours, theirs : ndarray
            What the trees gave, and predict.
        allowed : float
            What they may differ by.
        """
        if (np.abs(ours - theirs) <= allowed).all():
            reading.compared.add(kind)
            return True
        self.report(self._left_to_predict().basis)
        return False

    def _left_to_predict(self) -> Route:
        """Remember, and report as a difference, that predict answers from now on."""
        report_difference(self._model)
        self._known.trees = route = Route("", "differ")
        self._known.readings.clear()
        return route

    def _reading_or_route(
        self, X: pd.DataFrame, n_calls: float, reason: str
    ) -> Reading | Route:
        """Return the trees with these rows, or why predict is to answer."""
        if why := not_of_trees(self._model) or reason:
            return Route("", "unread", why)
        if isinstance(self._known.trees, Route):
            return self._known.trees
        if not is_worth_reading(n_calls, len(X)):
            return Route("", "few")
        if not compiled.available():
            return Route("", "no_numba")
        asked = self._model.predict(X.iloc[:MOST_ASKED].copy())
        if self._known.trees is not None:
            reading = self._placed(self._known.trees, X)
            if reading is None or _gives(reading, asked):
                return reading or Route("", "unread", NO_BINS)
        trees = trees_of(self._model, X)
        if isinstance(trees, str):
            self._known.trees = Route("", "unread", trees)
            return self._known.trees
        self._known.trees = trees
        self._known.readings.clear()
        reading = self._placed(trees, X)
        if reading is None:
            return Route("", "unread", NO_BINS)
        return reading if _gives(reading, asked) else self._left_to_predict()

    def _placed(self, trees: Trees, X: pd.DataFrame) -> Reading | None:
        """Return trees with rows, None if the rows have no bins."""
        known = self._known.readings
        known[:] = [each for each in known if each.rows() is not None]
        for reading in known:
            if reading.rows() is X:
                return reading
        bins = trees.bins(X)
        if bins is None:
            return None
        known.append(Reading(trees, ref(X), bins))
        return known[-1]


def _gives(reading: Reading, asked: Floats) -> bool:
    """Return whether the trees predict what predict does of the first rows."""
    trees = reading.trees
    ours = trees.predicted(reading.bins[:, :MOST_ASKED]).reshape(asked.shape)
    return bool((np.abs(ours - asked) <= trees.rounding).all())
