"""Mean predictions of a fitted model on some rows, from its trees.

They equal the means of predict up to the rounding of a sum; the first ones are compared
with them.
"""

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import pandas as pd

from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.execution import n_threads
from .dependences import dependences
from .pairs import Pairs
from .partial_dependence import curves_at_bins, reason_against
from .router import Reading, Router

ALLOWED = 1e-12
"""Largest difference of two means, as a share of the largest prediction."""
OTHER_SCALE = "The mean is of a link of its predictions."
WEIGHTED = "Its leaves count rows, and these have weights."


class TreeMeans:
    """Mean predictions by the trees of a model, over rows of equal weight.

    Parameters
    ----------
    router : Router
    reading : Reading
        One for whose packing `reason_against` is empty.
    """

    def __init__(self, router: Router, reading: Reading) -> None:
        self._router, self._reading = router, reading
        self._trees, self._bins = reading.trees, reading.bins

    def accepts(self, kind: str, means: Floats, predict: Callable[[], Floats]) -> bool:
        """Return whether means are those of predict; if not, predict is used hereafter.

        Means of one kind are compared once.

        Parameters
        ----------
        kind : str
        means : ndarray of shape (n_points, n_outputs)
            The means by the trees.
        predict : callable
            Returns predict's predictions, (n_points, n_rows, n_outputs).
        """
        if kind in self._reading.compared:
            return True
        predictions = predict()
        theirs, allowed = predictions.mean(axis=1), ALLOWED * np.abs(predictions).max()
        return self._router.accepts(self._reading, kind, means, theirs, allowed)

    @property
    def _pairs(self) -> Pairs:
        pairs: Pairs = self._reading.once("pairs", Pairs)
        return pairs

    @property
    def largest(self) -> Floats:
        """An upper bound of the absolute predictions, (n_outputs,)."""
        packing = self._trees.packing
        start, values = np.abs(packing.start), np.abs(packing.values)
        each = np.maximum.reduceat(values, packing.roots, axis=0).sum(axis=0)
        return self._own((start + each)[np.newaxis] / packing.divisor)[0]

    def reads_as_one(self, feature: str) -> bool:
        """Return whether exactly one column of the trees is made of a feature."""
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
        curves = self._reading.once("curves", curves_at_bins)
        return self._own(curves[place][bins[place]])

    def alone(self, feature: str) -> Floats:
        """Return the partial dependence on a feature at the rows."""
        return self._own(self._pairs.alone(self._trees.features.index(feature)))

    def together(self, feature: str, other: str) -> Floats:
        """Return the joint effect of two features at the rows, up to a constant."""
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
        """Return the columns that are outputs of the model, (n, n_outputs)."""
        columns = np.atleast_1d(np.asarray(self._trees.columns))
        return np.asarray(values[:, columns])


def tree_means(
    model: FittedModel, rows: Dataset, scale: str, n_calls: int
) -> TreeMeans | None:
    """Return the means by trees over these rows; None if predict is to be used.

    Parameters
    ----------
    model : FittedModel
    rows : Dataset
    scale : str
        The scale of the means; only "native" is read from trees.
    n_calls : int
        Number of calls of predict, each for all rows, that trees would replace.
    """
    reason = OTHER_SCALE if scale != "native" else ""
    if rows.is_weighted:
        reason = WEIGHTED
    router = Router(model)
    reading = router.reading(
        rows.X, n_calls, reason=reason, reason_against=reason_against
    )
    if reading is None:
        return None
    router.report("means")
    return TreeMeans(router, reading)
