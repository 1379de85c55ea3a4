"""XGBoost's trees: it reads rows and adds leaves in float32, in the order of the trees.

A row goes left if its value is below the threshold, not if it is equal. At a split by
category, it goes left unless its category is in the set of the node.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from ...models.libraries import BINARY, MULTICLASS
from ...records.dataset_and_model import Floats
from ...records.errors import quote
from .ensemble import Tree, named_categories, packed
from .packing import Codes, Link, Packing

Singles = npt.NDArray[Any]  # of float32
OBJECTIVES: dict[Link, tuple[str, ...]] = {
    "identity": (
        *("reg:squarederror", "reg:linear", "reg:squaredlogerror"),
        *("reg:pseudohubererror", "reg:absoluteerror"),
    ),
    "exp_in_c": ("count:poisson", "reg:gamma", "reg:tweedie"),
    "sigmoid_in_c": ("reg:logistic", "binary:logistic"),
    "softmax_in_c": ("multi:softprob",),
}
LINKS_OF_OBJECTIVES = {
    name: link for link, names in OBJECTIVES.items() for name in names
}
OF_CLASSES: dict[Link, Link] = {
    "sigmoid_in_c": "two_classes_in_c",
    "softmax_in_c": "softmax_in_c",
}
"""The link of a classifier, which has a column for each class."""
CODES = Codes(is_unknown_missing=False)


def _boosting(model: Any) -> Packing | str:
    """Read the trees that predict uses, from an estimator or a Booster.

    They are read in the format of `Booster.save_raw`.
    """
    is_booster = not hasattr(model, "get_booster")
    content = json.loads(
        (model if is_booster else model.get_booster()).save_raw("json")
    )
    learner = content["learner"]
    booster = learner["gradient_booster"]
    # The newest versions call dart a gbtree, whose trees have weights.
    kind = "dart" if "weight_drop" in booster else booster["name"]
    if kind != "gbtree":
        return f"Its booster is {kind}, and only gbtree is read."
    if not is_booster and callable(model.objective):
        return "It was fitted with an objective of your own."
    if not is_booster and not math.isnan(model.missing):
        return f"It takes {model.missing:g} for a missing value."
    objective = learner["objective"]["name"]
    link = _link(model, is_booster, objective)
    if link is None:
        return f"How its objective {quote(objective)} makes predictions is not known."
    start = _start(content)
    best = None if is_booster else getattr(model, "best_iteration", None)
    n_rounds = None if best is None else int(best) + 1  # None: all, as of a Booster
    trees = list(_trees(booster["model"], n_rounds, len(start)))
    categories = named_categories(trees)
    return packed(
        n_features=int(learner["learner_model_param"]["num_feature"]),
        trees=[_with_left_sets(tree, categories) for tree in trees],
        start=start,
        link=link,
        categories=categories,
        codes=CODES,
    )


def _link(model: Any, is_booster: bool, objective: str) -> Link | None:
    """Return the link of an objective, None if it is not known.

    Classifiers, and Boosters of classes, have a column for each class.
    """
    link = LINKS_OF_OBJECTIVES.get(objective)
    is_of_classes = hasattr(model, "predict_proba") or (
        is_booster and objective in (*BINARY, *MULTICLASS)
    )
    if is_of_classes:
        return OF_CLASSES.get(link) if link else None
    return None if link == "softmax_in_c" else link


def _start(content: Mapping[str, Any]) -> Singles:
    """Return the scores that trees are added to, by predicting with empty trees.

    XGBoost stores them on the scale of the prediction, and its predict converts them.
    Since 3.3 it does not for a model without any tree, so the first round is kept, with
    leaves of 0.
    """
    from xgboost import Booster, DMatrix

    learner = content["learner"]
    model = learner["gradient_booster"]["model"]
    parameters, targets = model["gbtree_model_param"], model["tree_info"]
    n_parallel = int(parameters.get("num_parallel_tree", 1))
    n_first = n_parallel * (max(targets, default=-1) + 1)
    bare: dict[str, Any] = {
        **model,
        "gbtree_model_param": {**parameters, "num_trees": str(n_first)},
        "trees": [
            {**tree, "split_conditions": [0.0] * len(tree["split_conditions"])}
            for tree in model["trees"][:n_first]
        ],
        "tree_info": targets[:n_first],
    }
    if "iteration_indptr" in model:  # since XGBoost 2.1
        bare["iteration_indptr"] = [0, n_first] if n_first else [0]
    gradient_booster = {"name": "gbtree", "model": bare}
    without = {**learner, "gradient_booster": gradient_booster}
    booster = Booster()
    booster.load_model(bytearray(json.dumps({**content, "learner": without}).encode()))
    no_row = DMatrix(np.zeros((1, int(learner["learner_model_param"]["num_feature"]))))
    return np.ravel(
        booster.predict(no_row, output_margin=True, validate_features=False)
    )


def _trees(
    model: Mapping[str, Any], n_rounds: int | None, n_scores: int
) -> Iterator[Tree]:
    """Yield the trees of the first rounds, in the order in which they are added.

    Their sets still hold the categories that do not go left.
    """
    n_parallel = int(model["gbtree_model_param"].get("num_parallel_tree", 1))
    n_trees = None if n_rounds is None else n_rounds * n_parallel * n_scores
    each = zip(model["trees"], model["tree_info"], strict=True)
    for tree, target in islice(each, n_trees):
        thresholds = np.array(tree["split_conditions"], dtype=np.float32)
        is_leaf = np.array(tree["left_children"]) < 0
        values = np.where(is_leaf, thresholds, np.float32(0))
        firsts = tree["categories_segments"]
        members = [
            np.unique(np.array(tree["categories"][first : first + size], dtype=float))
            for first, size in zip(firsts, tree["categories_sizes"], strict=True)
        ]
        yield Tree(
            feature=np.where(is_leaf, -1, tree["split_indices"]),
            threshold=np.nextafter(thresholds, np.float32(-np.inf)).astype(np.float64),
            left=np.array(tree["left_children"]),
            right=np.array(tree["right_children"]),
            values=values[:, np.newaxis],
            missing_left=np.array(tree["default_left"], dtype=bool),
            categories_left=dict(zip(tree["categories_nodes"], members, strict=True)),
            target=target,
        )


def _with_left_sets(tree: Tree, categories: Mapping[int, Floats]) -> Tree:
    """Return a tree whose sets go left: all categories except those of its sets.

    Unknown categories, which infinity represents, go left too.
    """
    left_sets = {
        node: np.append(np.setdiff1d(categories[int(tree.feature[node])], own), np.inf)
        for node, own in tree.categories_left.items()
    }
    return tree._replace(categories_left=left_sets)


READERS: dict[str, Callable[[Any], Packing | str]] = {
    f"xgboost.{name}": _boosting
    for name in (
        *("XGBRegressor", "XGBClassifier", "XGBRFRegressor", "XGBRFClassifier"),
        "Booster",
    )
}
