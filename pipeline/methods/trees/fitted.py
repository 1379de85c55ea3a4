"""The trees of a fitted model whose predictions are theirs alone.

Not of pipelines or functions, which may do more than their trees.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...models import prediction
from ...records.dataset_and_model import FittedModel, Floats
from ...records.errors import quote
from . import READERS, name_of, pack
from .packing import Integers, Packing
from .replay import replay

logger = logging.getLogger(__name__)


def _log_difference(model: str) -> None:
    logger.warning(
        "The trees of model %s give other predictions than its predict, which is asked "
        "instead.",
        quote(model),
    )


_REPORT: ContextVar[Callable[[str], None]] = ContextVar("_REPORT")


@contextmanager
def reporting_differences(report: Callable[[str], None]) -> Iterator[None]:
    """Call `report` with the name of each model whose trees differ from its predict."""
    token = _REPORT.set(report)
    try:
        yield
    finally:
        _REPORT.reset(token)


def report_difference(model: FittedModel) -> None:
    """Report that the trees of a model do not give what its predict gives."""
    _REPORT.get(_log_difference)(model.name)


class Trees(NamedTuple):
    """What a fitted model makes of rows, when nothing but its trees answers.

    Attributes
    ----------
    packing : Packing
    read : callable
        Returns what the estimator reads of a frame.
    features : tuple of str
        For each column that it reads, the feature it was made from.
    columns : int or list of int
        The columns of its answer that are the prediction.
    is_ordered : bool
        Whether predict adds the leaves in the order of the trees; the threads of a
        forest add them as they come.
    """

    packing: Packing
    read: Callable[[pd.DataFrame], Any]
    features: tuple[str, ...]
    columns: int | list[int]
    is_ordered: bool = True

    @property
    def rounding(self) -> float:
        """What predictions may miss by the order of a sum, 0 if it has one."""
        if self.is_ordered:
            return 0.0
        largest = np.abs(self.packing.values).max()
        n_trees = len(self.packing.roots)
        return float(n_trees * np.finfo(np.float64).eps * largest)

    def bins(self, X: pd.DataFrame) -> Integers | None:
        """Return the bins of some rows; None if some value is none that has a bin."""
        rows = np.asarray(self.read(X))
        if rows.dtype.kind not in "biuf" or not self.packing.can_place(rows):
            return None
        return self.packing.bins(rows)

    def replay(
        self,
        bins: Integers,
        groups: Sequence[tuple[str, ...]],
        draws: Sequence[tuple[int, Any]],
    ) -> Iterator[Floats]:
        """Yield what the model predicts when a group has the order of a draw."""
        places = [
            [at for at, name in enumerate(self.features) if name in group]
            for group in groups
        ]
        for answer in replay(self.packing, bins, places, draws):
            yield np.asarray(answer[:, self.columns], dtype=np.float64)


def is_of_trees(model: FittedModel) -> bool:
    """Return whether a model asks one estimator, of a class that can be read."""
    sole = prediction.sole_estimator(model.predict)
    return sole is not None and name_of(sole.estimator) in READERS


def trees_of(model: FittedModel) -> Trees | str:
    """Return the trees that answer for a model, or in plain words why none do."""
    sole = prediction.sole_estimator(model.predict)
    if sole is None:
        return "There is more to its predictions than one estimator."
    packing = pack(sole.estimator)
    if isinstance(packing, str):
        return packing
    is_ordered = getattr(sole.estimator, "n_jobs", None) in (None, 1)
    return Trees(packing, sole.read, sole.encoded, sole.columns, is_ordered)
