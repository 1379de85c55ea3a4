"""scikit-learn's trees, forests and gradient boosting; they read rows in float32."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...records.dataset_and_model import Floats
from .ensemble import Tree, packed
from .packing import Link, Packing

MISSING = "missing_go_to_left"
"""A field of nodes since scikit-learn 1.3."""
CONSTANT_STARTS = ("DummyRegressor", "DummyClassifier")
CONSTANT_STRATEGIES = ("mean", "median", "quantile", "constant", "prior")


def _nodes(tree: Any, values: Floats, target: int = 0) -> Tree:
    """Return one tree with these values of its nodes, (n_nodes, width)."""
    own = tree.__getstate__()["nodes"]
    return Tree(
        feature=tree.feature,
        threshold=tree.threshold,
        left=tree.children_left,
        right=tree.children_right,
        values=values,
        missing_left=own[MISSING].astype(bool) if MISSING in own.dtype.names else None,
        target=target,
    )


def _numbers(tree: Any) -> Floats:
    """Return the prediction of each node of a regression tree, (n_nodes, 1)."""
    return np.asarray(tree.value[:, 0, :])


def _shares(tree: Any) -> Floats:
    """Return the share of each class in each node, (n_nodes, n_classes).

    Since scikit-learn 1.3 a tree holds shares, which predict_proba uses unchanged, even
    if some of them add up to one only up to the last digit.
    """
    counts = tree.value[:, 0, :]
    if MISSING in tree.__getstate__()["nodes"].dtype.names:
        return np.asarray(counts)
    totals = counts.sum(axis=1, keepdims=True)
    return np.asarray(counts / np.where(totals == 0, 1.0, totals))


def _mean(model: Any) -> Packing | str:
    """Read a forest, whose prediction is the mean of its trees, or a single tree."""
    members = getattr(model, "estimators_", [model])
    values = _shares if hasattr(model, "classes_") else _numbers
    trees = [_nodes(each.tree_, values(each.tree_)) for each in members]
    return packed(
        n_features=model.n_features_in_,
        trees=trees,
        start=[0.0] * trees[0].values.shape[1],
        divisor=float(len(trees)),
        no_missing=_no_missing(model),
    )


def _boosting(model: Any) -> Packing | str:
    """Read gradient boosting: one tree for each stage and score, times a rate."""
    start = model.init_
    name = type(start).__name__
    is_constant = start == "zero" or (
        name in CONSTANT_STARTS and start.strategy in CONSTANT_STRATEGIES
    )
    if not is_constant:
        return f"It starts from the predictions of a {name}."
    factor, link = _factor_and_link(model)
    no_row = np.zeros((1, model.n_features_in_), dtype=np.float32)
    trees = [
        _nodes(each.tree_, factor * (model.learning_rate * _numbers(each.tree_)), k)
        for stage in model.estimators_
        for k, each in enumerate(stage)
    ]
    return packed(
        n_features=model.n_features_in_,
        trees=trees,
        start=factor * model._raw_predict_init(no_row)[0],
        link=link,
        no_missing=_no_missing(model),
    )


def _no_missing(model: Any) -> range:
    """Return the columns without missing values: all, if predict refuses them."""
    if hasattr(model, "__sklearn_tags__"):  # since scikit-learn 1.6
        takes_missing = model.__sklearn_tags__().input_tags.allow_nan
    else:
        takes_missing = model._get_tags()["allow_nan"]
    return range(0 if takes_missing else model.n_features_in_)


def _factor_and_link(model: Any) -> tuple[float, Link]:
    """Return the factor of scores, and their link to predictions.

    AdaBoost's loss applies the logistic function to twice the score; doubling every
    term is exact.
    """
    if not hasattr(model, "classes_"):
        return 1.0, "identity"
    if len(model.classes_) > 2:
        has_link = hasattr(model._loss, "link")  # since scikit-learn 1.4
        return 1.0, "softmax_by_row" if has_link else "softmax_by_logsumexp"
    return 2.0 if model.loss == "exponential" else 1.0, "logistic"


_READERS: dict[Callable[[Any], Packing | str], tuple[str, ...]] = {
    _mean: ("DecisionTree", "ExtraTree", "RandomForest", "ExtraTrees"),
    _boosting: ("GradientBoosting",),
}
READERS: dict[str, Callable[[Any], Packing | str]] = {
    f"sklearn.{name}{kind}": reader
    for reader, names in _READERS.items()
    for name in names
    for kind in ("Regressor", "Classifier")
}
"""From the class of an estimator to its reader."""
