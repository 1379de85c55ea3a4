"""scikit-learn's histogram boosting, with missing values and sets of categories."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.dataset_and_model import Floats
from .ensemble import Tree, packed
from .packing import EIGHT_BITS, Codes, Link, Packing

LINK_CLASSES: dict[str, Link] = {
    "IdentityLink": "identity",
    "LogLink": "exp",
    "LogitLink": "logistic",
    "MultinomialLogit": "softmax",
}


def _boosting(model: Any) -> Packing | str:
    """Read the trees of all iterations, one for each class."""
    link = type(model._loss.link).__name__
    if link not in LINK_CLASSES:
        return f"Its predictions have the unknown link {link}."
    places, categories = _columns(model)
    if any(own.values.dtype.kind not in "biuf" for own in categories.values()):
        return "It encodes categories that are no numbers."
    return packed(
        n_features=model.n_features_in_,
        trees=list(_trees(model, places, categories)),
        start=np.ravel(model._baseline_prediction),
        link=LINK_CLASSES[link],
        cast=np.float64,
        categories={
            int(places[j]): own.values.astype(np.float64)
            for j, own in categories.items()
        },
        codes=EIGHT_BITS if _encoder(model) is None else Codes(is_exact=True),
    )


class _Categories(NamedTuple):
    """The categories of a column, sorted.

    Attributes
    ----------
    values : ndarray
        As in the rows.
    codes : ndarray of float64
        As in the nodes.
    """

    values: npt.NDArray[Any]
    codes: Floats


def _encoder(model: Any) -> Any:
    """Return the encoder of columns, which exists since scikit-learn 1.4, or None."""
    return getattr(model, "_preprocessor", None)


def _columns(model: Any) -> tuple[npt.NDArray[np.intp], dict[int, _Categories]]:
    """Return the row column of each tree column, and the categories, if any.

    An encoder numbers the categories, and puts their columns before all others; unknown
    values are missing.
    """
    thresholds = model._bin_mapper.bin_thresholds_
    of_categories = np.flatnonzero(model._bin_mapper.is_categorical_).tolist()
    codes = {j: np.asarray(thresholds[j], dtype=np.float64) for j in of_categories}
    if (encoder := _encoder(model)) is None:
        categories = {j: _Categories(own, own) for j, own in codes.items()}
        return np.arange(model.n_features_in_), categories
    values = encoder.named_transformers_["encoder"].categories_
    return np.argsort(~model.is_categorical_, kind="stable"), {
        j: _Categories(values[j][: len(own)], own)  # without a missing one at the end
        for j, own in codes.items()
    }


def _trees(
    model: Any, places: npt.NDArray[np.intp], categories: Mapping[int, _Categories]
) -> Iterator[Tree]:
    """Yield the trees in the order in which they are added."""
    for iteration in model._predictors:
        for target, member in enumerate(iteration):
            nodes = member.nodes
            is_leaf = nodes["is_leaf"].astype(bool)
            column = np.where(is_leaf, 0, nodes["feature_idx"].astype(int))
            sets = member.raw_left_cat_bitsets
            split = np.flatnonzero(nodes["is_categorical"].astype(bool) & ~is_leaf)
            yield Tree(
                feature=np.where(is_leaf, -1, places[column]),
                threshold=nodes["num_threshold"],
                left=nodes["left"].astype(int),
                right=nodes["right"].astype(int),
                values=nodes["value"][:, np.newaxis],
                missing_left=nodes["missing_go_to_left"].astype(bool),
                categories_left={
                    int(node): _members(
                        sets[nodes["bitset_idx"][node]], categories[column[node]]
                    )
                    for node in split
                },
                target=target,
            )


def _members(words: npt.NDArray[np.uint32], categories: _Categories) -> Floats:
    """Return the categories whose bit is set, 32 to a word."""
    bits = (words[:, np.newaxis] >> np.arange(32, dtype=np.uint32)) & 1
    is_member = np.isin(categories.codes, np.flatnonzero(bits))
    return categories.values[is_member].astype(np.float64)


READERS: dict[str, Callable[[Any], Packing | str]] = {
    f"sklearn.HistGradientBoosting{kind}": _boosting
    for kind in ("Regressor", "Classifier")
}
