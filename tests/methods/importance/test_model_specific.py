"""Impurity: closed forms on trees of one split, and sums over encoded columns."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.cases import for_each
from tests.methods.importance.toys import numbers, refused

from importance_audit.methods.importance.model_specific import impurity
from importance_audit.methods.known_answers import normal_data
from importance_audit.models.fit import wrap

DATA = normal_data(3, -1, 0.5, n_samples=300)


def fitted(estimator, data=DATA):
    """Return an estimator fitted on rows."""
    return wrap(estimator.fit(data.X, data.y), name="tree")


def stump_data():
    """Return four rows of which x2 splits the target into halves, 1 apart."""
    data = normal_data(2, 0, n_samples=4)
    X = pd.DataFrame({"x1": [0.0, 1.0, 0.0, 1.0], "x2": [0.0, 0.0, 1.0, 1.0]})
    return replace(data, X=X, y=np.array([5.0, 5.0, 6.0, 6.0]))


def test_one_split_that_explains_everything_measures_the_variance_of_the_target():
    tree = fitted(DecisionTreeRegressor(), stump_data())
    raw, baseline = impurity(tree, stump_data(), seed=1, normalised=False)
    assert (raw - baseline)[:, 0, 0].tolist() == [0.0, 0.25]


def test_one_split_that_parts_two_classes_measures_their_gini_impurity():
    data = replace(stump_data(), y=np.array([0.0, 0.0, 1.0, 1.0]))
    tree = fitted(DecisionTreeClassifier(), data)
    assert numbers(impurity, tree, data, normalised=False).tolist() == [0.0, 0.5]


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestRegressor(20, random_state=1),
        GradientBoostingRegressor(n_estimators=20, random_state=1),
        DecisionTreeRegressor(random_state=1),
        AdaBoostRegressor(n_estimators=5, random_state=1),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_shares_are_scikit_learns_own(estimator):
    shares = numbers(impurity, fitted(estimator), DATA)
    assert shares.tolist() == estimator.feature_importances_.tolist()


def test_fully_grown_trees_explain_the_variance_of_their_rows():
    forest = RandomForestRegressor(7, bootstrap=False, max_features=1, random_state=1)
    raw, _ = impurity(fitted(forest), DATA, seed=1, normalised=False)
    assert raw.sum() == pytest.approx(DATA.y.var(), rel=1e-9)


def test_a_boosting_measures_the_mean_of_its_trees():
    boosting = GradientBoostingRegressor(n_estimators=2, random_state=1)
    raw, _ = impurity(fitted(boosting), DATA, seed=1, normalised=False)
    trees = [tree.tree_ for tree in boosting.estimators_[:, 0]]
    root = [t.impurity[0] for t in trees]
    leaves = [
        (t.impurity * t.weighted_n_node_samples)[t.children_left < 0].sum()
        for t in trees
    ]
    truth = np.mean(np.array(root) - np.array(leaves) / DATA.n_samples)
    assert raw.sum() == pytest.approx(truth, rel=1e-9)


@pytest.mark.parametrize("normalised", [True, False])
def test_columns_made_from_one_feature_are_summed(normalised):
    alone = fitted(RandomForestRegressor(5, random_state=1))
    joint = replace(alone, encoded=("x1", "g", "g"))
    x1, *others = numbers(impurity, alone, DATA, normalised=normalised)
    groups = DATA.with_groups({"g": ("g",), "x1": ("x1",)})
    shares = numbers(impurity, joint, groups, normalised=normalised)
    assert shares == pytest.approx([sum(others), x1], rel=1e-12)


def test_an_unsplit_tree_measures_nothing_of_any_feature():
    tree = fitted(DecisionTreeRegressor(max_depth=1, min_samples_leaf=200))
    for normalised in (True, False):
        assert not numbers(impurity, tree, DATA, normalised=normalised).any()


class Counting(DecisionTreeRegressor):
    """Reports how often it split, as some libraries do under the same name."""

    __module__ = "lightgbm.sklearn"


REFUSED = [
    (
        *(BaggingRegressor(n_estimators=2), {"normalised": False}),
        "Model 'tree' must be a tree, a forest or a boosting of scikit-learn that "
        "reports its impurity for method 'impurity'; it is a BaggingRegressor. Use "
        "permutation importance.",
    ),
    (LinearRegression(), {}, "it is a LinearRegression."),
    (Counting(), {}, "it is a Counting."),
    (HistGradientBoostingRegressor(max_iter=2), {}, "HistGradientBoostingRegressor."),
    (AdaBoostRegressor(n_estimators=2), {"normalised": False}, "weighs them. Use nor"),
]


@for_each(REFUSED)
def test_a_model_without_an_answer_says_why(case):
    estimator, options, words = case
    assert words in refused(impurity, fitted(estimator), DATA, **options)
