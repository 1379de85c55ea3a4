"""The trees of a fitted model that makes its predictions with trees alone.

A model that is a function is not read, as it may do more. For pipelines, see
`pipelines`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...models import prediction, r_models
from ...records.dataset_and_model import FittedModel, Floats
from . import READERS, compiled, name_of, pack
from .packing import Integers, Packing, predict_bins
from .pipelines import features_after, looked_through, rows_given
from .replay import replay

SEVERAL = "There is more to its predictions than one estimator."
NO_BINS = (
    "It reads values that are no numbers, categories above 255, or missing values that "
    "its trees send nowhere."
)
"""Why rows can be without bins."""
NUMBERS = "biuf"
"""numpy's kinds of numbers, which have bins."""


class Trees(NamedTuple):
    """The trees of a fitted model, which alone make its predictions.

    Attributes
    ----------
    packing : Packing
    read : callable
        Returns the table that the estimator reads, given a frame.
    features : tuple of str
        For each column that the estimator reads, the feature it was made from.
    columns : int or list of int
        The columns of the estimator's output that are the prediction.
    is_ordered : bool
        Whether predict adds the leaves in the order of the trees; the threads of a
        forest add them in any order.
    """

    packing: Packing
    read: Callable[[pd.DataFrame], Any]
    features: tuple[str, ...]
    columns: int | list[int]
    is_ordered: bool = True

    @property
    def rounding(self) -> float:
        """Largest error by the order of a sum; 0 if the order is fixed."""
        if self.is_ordered:
            return 0.0
        largest = np.abs(self.packing.values).max()
        n_trees = len(self.packing.roots)
        return float(n_trees * np.finfo(np.float64).eps * largest)

    def bins(self, X: pd.DataFrame) -> Integers | None:
        """Return the bins of some rows; None if some value has no bin."""
        rows = np.asarray(self.read(X))
        if rows.dtype.kind not in NUMBERS or not self.packing.can_place(rows):
            return None
        return self.packing.bins(rows)

    def predicted(self, bins: Integers) -> Floats:
        """Return the predictions of rows with these bins."""
        outputs = predict_bins(self.packing, bins)
        return np.asarray(outputs[:, self.columns], dtype=np.float64)

    def replay(
        self,
        bins: Integers,
        groups: Sequence[tuple[str, ...]],
        draws: Iterable[tuple[int, Any]],
        lenders: Integers | None = None,
        n_threads: int = 1,
    ) -> Iterator[Floats]:
        """Yield the predictions with a group of features replaced, for each draw."""
        places = [
            [at for at, name in enumerate(self.features) if name in group]
            for group in groups
        ]
        for outputs in replay(
            self.packing, bins, places, draws, lenders=lenders, n_threads=n_threads
        ):
            yield np.asarray(outputs[:, self.columns], dtype=np.float64)


def _sole_estimator(model: FittedModel) -> prediction.SoleEstimator | None:
    """Return the only estimator or R model that a model uses; None if there is more."""
    function = model.predict
    return prediction.sole_estimator(function) or r_models.sole_model(function)


def is_trees_alone(model: FittedModel) -> bool:
    """Return whether a model is trees without any other step, so predicts by row."""
    sole = _sole_estimator(model)
    return sole is not None and name_of(sole.estimator) in READERS


def not_of_trees(model: FittedModel) -> str:
    """Return in plain words why a model has no trees to read; empty if it has."""
    sole = _sole_estimator(model)
    if sole is None:
        return SEVERAL
    estimator = looked_through(sole.estimator)[1]
    return "" if name_of(estimator) in READERS else str(pack(estimator))


def trees_may_answer(model: FittedModel) -> bool:
    """Return whether trees are likely to be used for a model, without reading them."""
    return not not_of_trees(model) and compiled.available()


def trees_of(model: FittedModel, X: pd.DataFrame) -> Trees | str:
    """Return the trees of a model, or in plain words why they cannot be used.

    Parameters
    ----------
    model : FittedModel
    X : DataFrame
        Rows on which the steps of a pipeline are checked.
    """
    sole = _sole_estimator(model)
    if sole is None:
        return SEVERAL
    steps, estimator = looked_through(sole.estimator)
    if prediction.has_own(estimator, "predict", "predict_proba"):
        return "Its estimator was given a predict of its own."
    packing = pack(estimator)
    if isinstance(packing, str):
        return packing
    features = features_after(steps, sole.encoded)
    if isinstance(features, str):
        return features
    library = name_of(estimator).partition(".")[0]
    read = partial(rows_given, read=sole.read, steps=steps, library=library)
    is_ordered = library != "sklearn" or getattr(estimator, "n_jobs", None) in (None, 1)
    trees = Trees(packing, read, features, sole.columns, is_ordered)
    if not steps:
        return trees
    few = X.iloc[: prediction.MOST_COMPARED]
    if np.asarray(trees.read(few)).dtype.kind not in NUMBERS:
        return "The steps before its trees do not give them a table of numbers."
    if not keeps_columns_apart(trees, few, sole.encoded):
        return "The steps before its trees do not make each column of one column."
    return trees


def keeps_columns_apart(trees: Trees, X: pd.DataFrame, features: Sequence[str]) -> bool:
    """Return whether each column read is made of its feature alone, row by row.

    The rows are reversed in half of the features, then in another half, until every
    two features have been distinguished: the columns made of reversed features must be
    reversed, and no others.
    """
    unchanged, names = np.asarray(trees.read(X)), list(dict.fromkeys(features))
    shape = len(X), trees.packing.n_features
    if unchanged.shape != shape or len(trees.features) != shape[1]:
        return False
    for bit in range(len(names).bit_length()):
        turned = {name for at, name in enumerate(names, 1) if at >> bit & 1}
        changed = X.assign(
            **{name: X[name].iloc[::-1].set_axis(X.index) for name in turned}
        )
        is_turned = np.array([name in turned for name in trees.features], dtype=bool)
        expected = np.where(is_turned, unchanged[::-1], unchanged)
        if not np.array_equal(trees.read(changed), expected, equal_nan=True):
            return False
    return True
