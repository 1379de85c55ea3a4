"""scikit-learn's histogram boosting, with missing values and sets of categories."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ...records.dataset_and_model import Floats
from .ensemble import Ensemble, Tree, packed
from .packing import Link, Packing

LINK_CLASSES: dict[str, Link] = {
    "IdentityLink": "identity",
    "LogLink": "exp",
    "LogitLink": "logistic",
    "MultinomialLogit": "softmax",
}


def _boosting(model: Any) -> Packing | str:
    """Read the trees of all iterations; each class has its own."""
    link = type(model._loss.link).__name__
    if link not in LINK_CLASSES:
        return f"Its predictions have the unknown link {link}."
    if getattr(model, "_preprocessor", None) is not None:  # since scikit-learn 1.4
        return "It encodes categories itself."
    mapper = model._bin_mapper
    is_categorical = mapper.is_categorical_
    categories = {
        int(j): np.asarray(mapper.bin_thresholds_[j], dtype=np.float64)
        for j in np.flatnonzero(is_categorical)
    }
    return packed(
        Ensemble(
            n_features=model.n_features_in_,
            trees=list(_trees(model, categories)),
            start=np.ravel(model._baseline_prediction).tolist(),
            link=LINK_CLASSES[link],
            cast=np.float64,
            categories=categories,
        )
    )


def _trees(model: Any, categories: Mapping[int, Floats]) -> Iterator[Tree]:
    """Yield the trees in the order in which they are added."""
    for iteration in model._predictors:
        for target, member in enumerate(iteration):
            nodes = member.nodes
            feature = np.where(nodes["is_leaf"], -1, nodes["feature_idx"].astype(int))
            sets = member.raw_left_cat_bitsets
            split = np.flatnonzero(
                nodes["is_categorical"].astype(bool) & (feature >= 0)
            )
            yield Tree(
                feature=feature,
                threshold=nodes["num_threshold"],
                left=nodes["left"].astype(int),
                right=nodes["right"].astype(int),
                values=nodes["value"][:, np.newaxis],
                missing_left=nodes["missing_go_to_left"].astype(bool),
                categories_left={
                    int(node): np.intersect1d(
                        _members(sets[nodes["bitset_idx"][node]]),
                        categories[int(feature[node])],
                    )
                    for node in split
                },
                target=target,
            )


def _members(words: npt.NDArray[np.uint32]) -> Floats:
    """Return the categories whose bit is set, 32 to a word."""
    bits = (words[:, np.newaxis] >> np.arange(32, dtype=np.uint32)) & 1
    return np.flatnonzero(bits).astype(np.float64)


READERS: dict[str, Callable[[Any], Packing | str]] = {
    f"sklearn.HistGradientBoosting{kind}": _boosting
    for kind in ("Regressor", "Classifier")
}
