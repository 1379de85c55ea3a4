"""Debiased impurity: impurity in the bag, zero for noise out of it, and its rows."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.cases import for_each
from tests.methods.importance.toys import (
    fitted,
    numbers,
    of_three_classes,
    of_two_classes,
    refused,
)

from importance_audit.methods.importance.impurity_oob import covariances, impurity_oob
from importance_audit.methods.importance.model_specific import impurity
from importance_audit.methods.known_answers import normal_data
from importance_audit.r_bridge import host

DATA = normal_data(3, -1, 0, n_samples=150)
CLASSES, THREE = of_two_classes(DATA), of_three_classes(DATA)
OF_R = Path(__file__).parents[2] / "engines" / "fit_in_r.R"


def forest(kind="RandomForestRegressor", train=DATA, **parameters):
    """Return a forest fitted by the audit."""
    settings = {"n_estimators": 30, "random_state": 1} | parameters
    return fitted(f"ensemble.{kind}", train, **settings)


def measured(model, data=DATA):
    return impurity_oob(model, data, seed=1)[0].ravel()


def target_of(train):
    """Return the target, (n_samples, n_outputs): of classes 0 and 1 for each."""
    if train.classes:
        return np.eye(len(train.classes))[train.y]
    return train.y[:, np.newaxis].astype(float)


def weights_in_bag(model, tree):
    """Return the weight that each row had when a tree was fitted, 0 out of its bag.

    Weighted rows are drawn by weight since scikit-learn 1.9; before, they are drawn
    evenly and count by weight. Which of the two it was is told by the root.
    """
    given = model.train.weights
    n = len(given)
    drawn = [
        np.random.RandomState(tree.random_state).randint(0, n, n),
        np.random.RandomState(tree.random_state).choice(n, n, p=given / given.sum()),
    ]
    evenly, by_weight = (np.bincount(rows, minlength=n) for rows in drawn)
    root = tree.tree_.value[0, 0]
    for weights in (evenly * given, by_weight.astype(float)):
        mean = np.average(target_of(model.train), axis=0, weights=weights)
        if mean == pytest.approx(root / (root.sum() if len(root) > 1 else 1)):
            return weights
    raise AssertionError("the rows of this tree were drawn in another way")


@pytest.mark.parametrize(
    ("kind", "train", "parameters"),
    [
        ("RandomForestRegressor", DATA, {}),
        ("RandomForestRegressor", DATA, {"criterion": "friedman_mse", "max_depth": 3}),
        ("RandomForestClassifier", CLASSES, {"max_depth": 3}),
        ("RandomForestClassifier", THREE, {"min_samples_leaf": 5}),
        ("ExtraTreesRegressor", DATA, {"bootstrap": True}),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_on_the_rows_in_the_bag_it_is_the_decrease_of_impurity(
    kind, train, parameters, weighted
):
    if weighted:
        train = replace(train, weights=np.linspace(0.1, 3, 150))
    model = forest(kind, train, n_estimators=3, **parameters)
    for tree in model.estimator.estimators_:
        weights = weights_in_bag(model, tree)
        ours = covariances(tree, train.X.to_numpy(), target_of(train), weights)
        truth = tree.tree_.compute_feature_importances(normalize=False)
        assert ours == pytest.approx(truth, rel=1e-6, abs=1e-9)  # rows are float32


def test_it_is_the_mean_over_trees_of_what_rows_out_of_the_bag_add_one_by_one():
    train = replace(DATA, weights=np.linspace(0.1, 3, 150))
    model = forest(train=train, n_estimators=4, max_depth=3)
    X = train.X.to_numpy().astype(np.float32)
    of_trees = []
    for tree in model.estimator.estimators_:
        out = np.flatnonzero(weights_in_bag(model, tree) == 0)
        nodes, total = tree.tree_, np.zeros(3)
        path = tree.decision_path(X).toarray()[out].astype(bool)
        for node in np.flatnonzero(nodes.children_left >= 0):
            rows = out[path[:, node]]
            mean = nodes.value[node].item()
            for row in rows:
                is_left = X[row, nodes.feature[node]] <= nodes.threshold[node]
                children = nodes.children_left if is_left else nodes.children_right
                step = nodes.value[children[node]].item() - mean
                own = np.average(train.y[rows], weights=train.weights[rows])
                change = train.weights[row] * step * (train.y[row] - own)
                total[nodes.feature[node]] += change
        of_trees.append(total / train.weights[out].sum())
    truth = np.mean(of_trees, axis=0)
    assert measured(model) == pytest.approx(truth, rel=1e-9)


def noise_and_signal(seed, n=80):
    """Return rows in which x1 matters, and x2, x3 of many and of two values do not."""
    generator = np.random.default_rng(seed)
    X = pd.DataFrame(generator.normal(size=(n, 3)), columns=["x1", "x2", "x3"])
    X["x3"] = (X["x3"] > 0).astype(float)
    y = X["x1"].to_numpy() + generator.normal(size=n)
    return replace(normal_data(1, 0, 0, n_samples=n), X=X, y=y)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "least"), [("RandomForestRegressor", 0.5), ("RandomForestClassifier", 0.1)]
)
def test_noise_is_expected_to_measure_zero_however_many_values_it_has(kind, least):
    models = []
    for seed in range(120):
        train = noise_and_signal(seed)
        train = train if kind.endswith("Regressor") else of_two_classes(train)
        models.append(forest(kind, train, n_estimators=3))
    debiased = np.array([measured(model, model.train) for model in models])
    mean = debiased.mean(axis=0)
    std_error = debiased.std(axis=0, ddof=1) / np.sqrt(len(models))
    assert (abs(mean[1:]) < 4 * std_error[1:]).all()
    assert mean[0] > least

    plain = [
        numbers(impurity, model, model.train, normalised=False) for model in models
    ]
    biased = np.mean(plain, axis=0)
    assert (biased[1:] > 10 * std_error[1:]).all()
    assert biased[1] > 2 * biased[2]  # many values are favoured


def test_groups_and_the_columns_of_a_category_add_up():
    kind = pd.Categorical.from_codes(np.arange(150) % 3, ["a", "b", "c"])
    train = replace(DATA, X=DATA.X.assign(kind=kind), y=DATA.y + kind.codes)
    train = train.with_groups({n: (n,) for n in train.X})
    settings = {"encoder": "one_hot_full", "random_state": 1}
    model = fitted("ensemble.RandomForestRegressor", train, **settings)
    alone = measured(model, train)
    both = measured(model, train.with_groups({"both": ("x1", "kind")}))
    assert both == pytest.approx(alone[[0, 3]].sum(), rel=1e-12)
    assert alone[3] > 0.1


@pytest.mark.needs_r
def test_rangers_corrected_impurity_says_the_same_of_the_same_rows():
    """Both are the mean over 500 trees; ranger adds over rows where we divide by them.

    The bias of what matters is taken away in another way, so only its size agrees.
    """
    data = noise_and_signal(3, n=300)
    ours = measured(forest(train=data, n_estimators=500), data)
    code = (
        "as.numeric(ranger::ranger(y ~ ., d, num.trees = 500, mtry = 3, "
        "min.node.size = 1, importance = 'impurity_corrected', seed = 1, "
        "num.threads = 1)$variable.importance) / nrow(d)"
    )
    with host.session(extra_r_files=[OF_R]) as r:
        frame = data.X.assign(y=data.y)
        ranger = np.asarray(r.call("number_of", {"d": frame, "code": code}))
    assert ours[0] == pytest.approx(ranger[0], rel=0.2)
    assert (abs(ours[1:]) < 0.1 * ours[0]).all()
    assert (abs(ranger[1:]) < 0.1 * ranger[0]).all()


REFUSED = [
    (
        lambda: forest("GradientBoostingRegressor"),
        "Model 'm' must be a random forest of scikit-learn for method 'impurity_oob'; "
        "it is a GradientBoostingRegressor. Use permutation importance.",
    ),
    (
        lambda: forest(criterion="absolute_error", n_estimators=2),
        "be fitted with squared error or Gini impurity",
    ),
    (
        lambda: forest("RandomForestClassifier", CLASSES, class_weight="balanced"),
        "be fitted without class weights",
    ),
    (lambda: forest(bootstrap=False), "was fitted with bootstrap = false."),
]


@for_each(REFUSED)
def test_a_model_without_an_answer_says_why(case):
    model, words = case
    assert words in refused(impurity_oob, model(), DATA)
