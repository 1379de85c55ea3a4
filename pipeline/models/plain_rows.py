"""Models that are asked about an array of numbers, where a frame would say no more.

scikit-learn looks at each column of a frame, half a millisecond for twenty, and goes on
with an array of their numbers. An estimator of its own, made of nothing but its own, is
handed that array at once, without the names that it was fitted with. Whoever asks it
compares the first answer with what it gives for a frame, which decides.
"""

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..records.dataset_and_model import FittedModel, Floats
from .estimators import final
from .prediction import PlainRows, SoleEstimator, of_classes, sole_estimator

NUMBERS = "biuf"
"""The kinds of numpy's types that are handed on."""
KNOWN = frozenset(["", "builtins", "numpy", "scipy", "sklearn"])
"""Packages, and what names none, whose code asks an array all that it asks a frame."""
BY_ROWS = "sklearn.neural_network.", "sklearn.ensemble._hist_gradient_boosting."
"""Where predict is faster if the numbers of a row lie side by side: a network by a
third, for its products of matrices, and the histograms' trees several times."""
FEWEST_ROWS = 100
"""With fewer, predictions that are not equal in every bit could be so by chance."""
FEWEST_BY_ROWS = 1000
"""With fewer, the order in memory costs nothing."""


@dataclass(frozen=True)
class PlainModel:
    """A model and how its estimator is asked about an array.

    Attributes
    ----------
    model : FittedModel
    sole : SoleEstimator
        Its estimator, without the names of columns.
    order : {"F", "C"}
        How its arrays lie in memory: by columns, as those that are made of frames, or
        by rows, which may change the last bits of a sum.
    """

    model: FittedModel
    sole: SoleEstimator
    order: Literal["F", "C"]

    def read(self, X: pd.DataFrame) -> npt.NDArray[Any] | None:
        """Return what the estimator reads of some rows, in memory of its own.

        None if that is not numbers alone.
        """
        rows = self.sole.read(X)
        if not isinstance(rows, pd.DataFrame):
            is_plain = rows.dtype.kind in NUMBERS
            return np.array(rows, order=self.order) if is_plain else None
        if not all(map(is_plain_type, rows.dtypes)):
            return None
        values = rows.to_numpy(dtype=np.result_type(*rows.dtypes))  # of a copy
        values.flags.writeable = True  # a view; pandas 3 hands it out read-only
        return np.asarray(values, order=self.order)

    def places(self, features: Iterable[str]) -> list[int]:
        """Return the columns of the array that are made of some features."""
        return [at for name in features for at in self._places.get(name, ())]

    @cached_property
    def _places(self) -> Mapping[str, list[int]]:
        places: dict[str, list[int]] = {}
        for at, name in enumerate(self.sole.encoded):
            places.setdefault(name, []).append(at)
        return places

    def predict(self, values: npt.NDArray[Any]) -> Floats:
        """Return checked predictions of an array like those of `read`.

        Raises
        ------
        ModelError
            If there are none; the words for it are those that a frame gets.
        """
        read_only = values[:]
        read_only.flags.writeable = False
        rows = PlainRows(read_only, self._ask)
        return self.model.predict(cast(pd.DataFrame, rows))  # watches hand it on

    @property
    def _ask(self) -> Any:
        estimator, columns = self.sole.estimator, self.sole.columns
        if self.model.task == "regression":
            return estimator.predict
        return partial(of_classes, estimator, columns)


def is_plain_type(dtype: Any) -> bool:
    """Return whether pandas keeps such a column in a numpy array of numbers."""
    return isinstance(dtype, np.dtype) and dtype.kind in NUMBERS


def plain_models(model: FittedModel, n_rows: int) -> Iterator[PlainModel]:
    """Yield how a model may be asked about arrays of so many rows, the fastest first.

    The answers are to be compared: nothing is known of them.
    """
    sole = sole_estimator(model.predict)
    if n_rows < FEWEST_ROWS or sole is None or not _is_plain(sole.estimator):
        return
    nameless = sole._replace(estimator=_without_names(sole.estimator))
    kind = type(final(sole.estimator))
    if n_rows >= FEWEST_BY_ROWS and f"{kind.__module__}.".startswith(BY_ROWS):
        yield PlainModel(model, nameless, "C")
    yield PlainModel(model, nameless, "F")


def _is_plain(estimator: Any) -> bool:
    """Return whether an estimator of scikit-learn reads nothing of a frame but cells.

    Steps that are set to hand on frames look at the names of columns.
    """
    if not type(estimator).__module__.startswith("sklearn."):
        return False
    from sklearn import get_config

    makes_frames = get_config().get("transform_output", "default") != "default"
    return not makes_frames and _is_made_of_known(estimator)


def _is_made_of_known(part: Any) -> bool:
    """Return whether code and parts of an estimator are of `KNOWN`, none of a user."""
    if type(part) in (list, tuple):
        return all(map(_is_made_of_known, part))
    asks = callable(part) or hasattr(part, "transform") or hasattr(part, "predict")
    module = str(getattr(part, "__module__", None) or "")
    if asks and module.partition(".")[0] not in KNOWN:
        return False
    if not _is_estimator(part):
        return True
    output = getattr(part, "_sklearn_output_config", {})  # by `set_output`
    makes_frames = output.get("transform", "default") != "default"
    return not makes_frames and all(map(_is_made_of_known, vars(part).values()))


def _without_names(part: Any) -> Any:
    """Return an estimator as if fitted on an array; nothing that it holds is changed.

    Asked about an array, one that knows names warns that they are not there.
    """
    if type(part) in (list, tuple):
        return type(part)(map(_without_names, part))
    if not _is_estimator(part):
        return part
    part = copy(part)
    attributes = vars(part)
    attributes.pop("feature_names_in_", None)
    attributes.update({name: _without_names(own) for name, own in attributes.items()})
    return part


def _is_estimator(part: Any) -> bool:
    return hasattr(part, "get_params") and not isinstance(part, type)
