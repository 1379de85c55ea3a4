"""Models in LightGBM's text format, read and evaluated without LightGBM.

`lgb.save` of R and `Booster.save_model` of Python write it. For each node of a tree it
contains the column, the threshold or set of levels, two children (negative: a leaf,
from -1 down), and a `decision_type` with the bits:

    1        the split is on levels, not on a number
    2        missing values go left
    4, 8     which values are missing: 0 none, 4 zero, 8 NaN
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..records.dataset_and_model import Floats
from ..records.errors import ModelError, quote, words

LEVEL, LEFT, ZERO, NAN = 1, 2, 4, 8
NEARLY_ZERO = float(np.float32(1e-35))  # LightGBM's own threshold for zero
WORD = 32  # bits per number in a set of levels

AS_THEY_ARE = (
    *("", "regression", "regression_l1", "huber", "fair", "quantile", "mape"),
    *("lambdarank", "rank_xendcg"),
)
LOG_LINKED = ("poisson", "gamma", "tweedie")
SIGMOID = ("binary", "multiclassova", "cross_entropy")


class Tree(NamedTuple):
    """One tree; arrays have one entry per node, `leaf_value` one per leaf."""

    split_feature: npt.NDArray[np.intp]
    threshold: Floats
    decision_type: npt.NDArray[np.intp]
    left_child: npt.NDArray[np.intp]
    right_child: npt.NDArray[np.intp]
    leaf_value: Floats
    levels: tuple[npt.NDArray[np.bool_], ...]


class LightGBMModel:
    """A model of LightGBM, read from its text file.

    Parameters
    ----------
    name : str
        The name of the model, for messages.
    content : bytes
        The text file.

    Attributes
    ----------
    feature_names : tuple of str
        The columns that it uses, in its order.
    objective : str
        The training objective; empty if the file does not state it.
    n_classes : int
        Scores per row; 1 unless there are several classes.
    options : mapping of str to str
        The options of the objective; a bare word has no value.
    is_mean : bool
        Whether the score is the mean of the trees, not their sum.
    trees : list of Tree
        In boosting order; the trees of a round are consecutive.

    Raises
    ------
    ModelError
        If the content is not such a file, or has an unsupported feature.
    """

    def __init__(self, name: str, content: bytes) -> None:
        try:
            text = content.decode("utf8").replace("\r\n", "\n")
            head, *blocks = text.partition("\nend of trees")[0].split("\nTree=")
            facts = _facts(head)
            if "tree" not in facts:
                raise ValueError("its first line is not 'tree'")
            self.trees = [_tree(_facts(f"Tree={block}")) for block in blocks]
            self.feature_names = tuple(facts["feature_names"].split())
            self.n_classes = int(facts["num_tree_per_iteration"])
        except (KeyError, ValueError, IndexError) as error:
            raise ModelError(
                f"Model {quote(name)} cannot be read as a text model of LightGBM: "
                f"{words(error)}. Write it with lgb.save or Booster.save_model."
            ) from error
        self.objective, *options = facts.get("objective", "").split() or [""]
        self.options = dict(option.partition(":")[::2] for option in options)
        self.is_mean = "average_output" in facts
        if self.objective not in (*AS_THEY_ARE, *LOG_LINKED, *SIGMOID, "multiclass"):
            raise ModelError(
                f"Model {quote(name)} was trained for {quote(self.objective)}, whose "
                "scores are not supported. Wrap the Booster, or a function that calls "
                "it."
            )
        levels = text.rpartition("pandas_categorical:")[2].strip()
        if levels not in ("", "null", "[]") and "pandas_categorical:" in text:
            raise ModelError(
                f"Model {quote(name)} was trained on categories of pandas, whose "
                "levels are not supported. Save the Booster with joblib."
            )

    def predict(self, X: Any) -> Floats:
        """Return predictions, (n_samples,), or (n_samples, n_classes).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, NaN where a cell is missing; levels as the codes of training.
        """
        rows = np.asarray(X, dtype=np.float64)
        # Column-major: sums over a class are taken over contiguous memory.
        scores = np.zeros((len(rows), self.n_classes), order="F")
        for place, tree in enumerate(self.trees):
            scores[:, place % self.n_classes] += _leaves(tree, rows)
        if self.is_mean:
            scores /= max(1, len(self.trees) // self.n_classes)
        answers = self._of_scores(scores)
        return answers if self.n_classes > 1 else answers[:, 0]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the properties of the model in the file, for its card."""
        del deep
        return {
            "objective": self.objective,
            **self.options,
            "trees": len(self.trees),
            "averages_trees": self.is_mean,
        }

    def _of_scores(self, scores: Floats) -> Floats:
        """Return scores transformed to the scale of the objective."""
        if self.objective == "multiclass":
            raised = np.exp(scores - scores.max(axis=1, keepdims=True))
            return np.asarray(raised / raised.sum(axis=1, keepdims=True))
        if self.objective in SIGMOID:
            slope = float(self.options.get("sigmoid", 1))
            return np.asarray(1 / (1 + np.exp(-slope * scores)))
        if self.objective in LOG_LINKED:
            return np.asarray(np.exp(scores))
        if "sqrt" in self.options:
            return np.asarray(np.sign(scores) * scores**2)
        return scores


def _facts(block: str) -> dict[str, str]:
    """Return the lines `key=value` of a block; a bare key has no value."""
    return dict(line.partition("=")[::2] for line in block.splitlines() if line)


def _tree(facts: Mapping[str, str]) -> Tree:
    """Return the tree that a block describes."""
    if facts.get("is_linear", "0") != "0":
        raise ValueError("it has linear models in its leaves")

    def numbers(key: str) -> Floats:
        return np.array(facts.get(key, "").split(), dtype=np.float64)

    def whole(key: str) -> npt.NDArray[np.intp]:
        return np.array(facts.get(key, "").split(), dtype=np.intp)

    bounds, sets = whole("cat_boundaries"), whole("cat_threshold")
    bits = (sets[:, np.newaxis] >> np.arange(WORD)) & 1 == 1
    levels = tuple(bits[first:last].ravel() for first, last in pairwise(bounds))
    tree = Tree(
        split_feature=whole("split_feature"),
        threshold=numbers("threshold"),
        decision_type=whole("decision_type"),
        left_child=whole("left_child"),
        right_child=whole("right_child"),
        leaf_value=numbers("leaf_value"),
        levels=levels,
    )
    if {len(column) for column in tree[:5]} != {int(facts["num_leaves"]) - 1}:
        raise ValueError(f"Tree={facts['Tree']} is incomplete")
    return tree


def _leaves(tree: Tree, rows: Floats) -> Floats:
    """Return the value of the leaf of each row."""
    if not len(tree.threshold):
        return np.full(len(rows), tree.leaf_value[0])
    node = np.zeros(len(rows), dtype=np.intp)
    under_way = np.arange(len(rows))
    while len(under_way):
        at = node[under_way]
        left = _goes_left(tree, at, rows[under_way, tree.split_feature[at]])
        node[under_way] = np.where(left, tree.left_child[at], tree.right_child[at])
        under_way = under_way[node[under_way] >= 0]
    return np.asarray(tree.leaf_value[~node])


def _goes_left(
    tree: Tree, at: npt.NDArray[np.intp], values: Floats
) -> npt.NDArray[np.bool_]:
    """Return for each value whether the node `at` sends it left."""
    kind = tree.decision_type[at]
    is_nan = np.isnan(values)
    # Unless NaN is the missing value of the node, it counts as zero.
    numbers = np.where(is_nan & (kind & NAN == 0), 0.0, values)
    is_missing = np.where(
        kind & NAN > 0, np.isnan(numbers), np.abs(numbers) <= NEARLY_ZERO
    )
    is_missing &= kind & (ZERO | NAN) > 0
    left = np.where(is_missing, kind & LEFT > 0, numbers <= tree.threshold[at])
    for place in np.flatnonzero(kind & LEVEL):
        levels = tree.levels[int(tree.threshold[at[place]])]
        level = np.trunc(values[place])  # NaN and unknown levels are in no set
        left[place] = 0 <= level < len(levels) and levels[int(level)]
    return np.asarray(left)
