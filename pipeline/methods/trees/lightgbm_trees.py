"""LightGBM's trees, from its text format; leaves are added in double, tree by tree."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...models.lightgbm_text import (
    LEFT,
    LEVEL,
    LOG_LINKED,
    NAN,
    SIGMOID,
    ZERO,
    LightGBMModel,
)
from ...models.lightgbm_text import Tree as TextTree
from ...records.errors import ModelError
from .ensemble import Tree, named_categories, packed
from .packing import Codes, Link, Packing

CODES = Codes(is_truncated=True)
IN_C: dict[Link, Link] = {
    "exp": "exp_in_c",
    "sigmoid": "sigmoid_in_c",
    "two_classes": "two_classes_in_c",
    "softmax": "softmax_in_c",
}
"""The links of the library, by those of its text format in numpy."""


def _text(model: LightGBMModel) -> Packing:
    """Read a model in LightGBM's text format, which predicts without LightGBM."""
    is_of_two = model.n_classes == 1 and model.objective in SIGMOID
    return _packed(model, _link(model, is_of_two))


def _fitted(model: Any) -> Packing | str:
    """Read an estimator or a Booster of LightGBM from the text that it writes.

    Like predict, the text ends at the round of early stopping.
    """
    booster = getattr(model, "booster_", model)
    if callable(getattr(model, "objective", None)):
        return "It was fitted with an objective of your own."
    if getattr(booster, "pandas_categorical", None):
        return "It was fitted on categories of pandas, which it encodes itself."
    kind, content = type(model).__name__, booster.model_to_string()
    if "\nis_linear=1\n" in content:
        return "It has linear models in its leaves."
    try:
        text = LightGBMModel(kind, content.encode("utf8"))
    except ModelError as error:
        return str(error)
    is_of_two = text.objective in SIGMOID and text.n_classes == 1
    link = _link(text, is_of_two and kind != "LGBMRegressor")
    return _packed(text, IN_C.get(link, link))


def _link(model: LightGBMModel, is_of_two: bool) -> Link:
    """Return the link of an objective; two classes have a column each."""
    objective = model.objective
    if objective in SIGMOID:
        return "two_classes" if is_of_two else "sigmoid"
    if objective == "multiclass":
        return "softmax"
    if objective in LOG_LINKED:
        return "exp"
    return "signed_square" if "sqrt" in model.options else "identity"


def _packed(model: LightGBMModel, link: Link) -> Packing:
    """Pack the trees of a text model."""
    trees = [
        _tree(tree, place % model.n_classes) for place, tree in enumerate(model.trees)
    ]
    n_rounds = len(model.trees) // model.n_classes
    is_sigmoid = model.objective in SIGMOID
    return packed(
        n_features=len(model.feature_names),
        trees=trees,
        start=[0.0] * model.n_classes,
        divisor=float(max(1, n_rounds)) if model.is_mean else 1.0,
        slope=float(model.options.get("sigmoid", 1)) if is_sigmoid else 1.0,
        link=link,
        cast=np.float64,
        categories=named_categories(trees),
        codes=CODES,
        zero_is_missing={
            int(j)
            for tree in model.trees
            for j in tree.split_feature[tree.decision_type & (LEVEL | ZERO) == ZERO]
        },
    )


def _tree(tree: TextTree, target: int) -> Tree:
    """Return a tree in the form of `ensemble`, its leaves after the other nodes.

    A missing value without a direction counts as zero; at a split by category it goes
    right.
    """
    n_inner, n_leaves = len(tree.threshold), len(tree.leaf_value)
    kind, no_node = tree.decision_type, np.zeros(n_leaves, dtype=np.intp)
    left, right = (
        np.append(np.where(children < 0, n_inner + ~children, children), no_node)
        for children in (tree.left_child, tree.right_child)
    )
    has_direction = kind & (ZERO | NAN) > 0
    missing_left = np.where(has_direction, kind & LEFT > 0, tree.threshold >= 0)
    missing_left &= kind & LEVEL == 0
    return Tree(
        feature=np.append(tree.split_feature, no_node - 1),
        threshold=np.append(tree.threshold, no_node),
        left=left,
        right=right,
        values=np.append(np.zeros(n_inner), tree.leaf_value)[:, np.newaxis],
        missing_left=np.append(missing_left, no_node > 0),
        categories_left={
            int(node): np.flatnonzero(tree.levels[int(tree.threshold[node])]).astype(
                float
            )
            for node in np.flatnonzero(kind & LEVEL)
        },
        target=target,
    )


READERS: dict[str, Callable[[Any], Packing | str]] = {
    "importance_audit.LightGBMModel": _text,
    **{
        f"lightgbm.{name}": _fitted
        for name in ("LGBMRegressor", "LGBMClassifier", "Booster")
    },
}
"""From the class of a model to its reader."""
