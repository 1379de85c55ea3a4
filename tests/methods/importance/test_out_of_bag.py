"""Out-of-bag permutation: the rows it asks, the losses it takes, and its z score."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.cases import for_each
from tests.methods.importance import toys
from tests.methods.importance.toys import of_three_classes, of_two_classes, refused

from importance_audit.methods.importance.out_of_bag import (
    in_standard_errors,
    oob_permutation,
    oob_permutation_scaled,
)
from importance_audit.methods.known_answers import normal_data
from importance_audit.records.losses import evaluate

DATA = normal_data(3, -1, 0, n_samples=150)


CLASSES, THREE = of_two_classes(DATA), of_three_classes(DATA)


def fitted(kind="RandomForestRegressor", train=DATA, losses=("mse",), **parameters):
    """Return an ensemble fitted by the audit."""
    settings = {"n_estimators": 30, "random_state": 1} | parameters
    return toys.fitted(f"ensemble.{kind}", train, losses, **settings)


def bag_of(*machines, train=DATA, kind="BaggingRegressor", **parameters):
    """Return a bagging, fitted by the audit, whose members are then put in place."""
    model = fitted(kind, train, n_estimators=len(machines), **parameters)
    model.estimator.estimators_ = list(machines)
    return model


def rises(model, data=DATA, seed=1):
    """Return one rise per group and tree, of the first loss."""
    raw, baseline = oob_permutation(model, data, seed=seed)
    return (raw - baseline)[:, :, 0]


class Weighing:
    """A member that predicts 3 x1 - x2, or with other weights."""

    def __init__(self, *weights):
        self.weights = np.array(weights)

    def predict(self, X):
        return X @ self.weights


@pytest.mark.parametrize("weights", [np.ones(150), np.linspace(0.1, 3, 150)])
@pytest.mark.parametrize(
    "kind", ["RandomForestRegressor", "ExtraTreesRegressor", "BaggingRegressor"]
)
@pytest.mark.parametrize("max_samples", [1.0, 0.4, 30])
def test_a_tree_is_judged_on_the_rows_that_it_does_not_know_by_heart(
    kind, weights, max_samples
):
    train = replace(DATA, weights=weights)
    settings = {"n_estimators": 4, "bootstrap": True, "max_samples": max_samples}
    model = fitted(kind, train, **settings)
    _, baseline = oob_permutation(model, train, seed=1)
    rows = train.X.to_numpy(np.float32)
    for tree, (loss,) in zip(model.estimator.estimators_, baseline, strict=True):
        error = train.y - tree.predict(rows)
        out = abs(error) > 1e-9  # a leaf has one row in the bag, of any weight
        assert 0 < out.sum() < 150
        assert loss == pytest.approx(np.average(error[out] ** 2, weights=weights[out]))


@pytest.mark.parametrize("kind", ["RandomForestClassifier", "ExtraTreesClassifier"])
@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_classes_are_judged_by_the_probabilities_of_each_tree(kind):
    settings = {"n_estimators": 1, "oob_score": True, "bootstrap": True, "max_depth": 3}
    for train in (CLASSES, THREE):
        model = fitted(kind, train, ("brier", "one_minus_accuracy"), **settings)
        _, baseline = oob_permutation(model, train, seed=1)
        shares = model.estimator.oob_decision_function_
        out = np.nan_to_num(shares).sum(axis=1) > 0
        y, p = train.y[out], shares[out]
        probabilities = p[:, 1] if train is CLASSES else p
        truth = evaluate(model.losses, y, probabilities, np.ones(len(y)))
        assert baseline[0] == pytest.approx(truth, rel=1e-9)


def test_linear_members_measure_twice_the_squared_weight():
    # The columns are white, so over permutations 2 w^2 is what to expect of a mean
    # over all rows; a sample without replacement expects the same.
    raw = rises(bag_of(*[Weighing(3.0, -1.0, 0.0)] * 200))
    std_error = raw.std(axis=1, ddof=1) / np.sqrt(200)
    assert (abs(raw.mean(axis=1) - [18, 2, 0]) <= 4 * std_error).all()


def test_a_feature_that_no_tree_reads_measures_exactly_the_baseline():
    train = replace(DATA, X=DATA.X.assign(x3=1.0))
    model = fitted(train=train)
    assert rises(model, train)[2].tolist() == [0.0] * 30
    raw, baseline = oob_permutation_scaled(model, train, seed=1)
    assert raw[2].tolist() == baseline.tolist() == [[0.0]]


def test_a_member_that_does_not_see_a_feature_measures_its_baseline():
    model = fitted("BaggingRegressor", max_features=1, n_estimators=20)
    column_of = np.array(
        [columns[0] for columns in model.estimator.estimators_features_]
    )
    raw = rises(model)
    assert ((raw == 0) == (column_of != np.arange(3)[:, np.newaxis])).all()


def test_the_columns_of_a_category_are_permuted_together():
    g = pd.Categorical.from_codes(np.arange(150) % 3, ["a", "b", "c"])
    train = replace(DATA, X=pd.DataFrame({"g": g}), groups={"g": ("g",)})
    settings = {"encoder": "one_hot", "n_estimators": 1}
    model = fitted("BaggingRegressor", train, **settings)
    frames = []
    model.estimator.estimators_ = [Watching(frames)]
    oob_permutation(model, train, seed=1)
    assert [X.sum(axis=1).max() for X in frames] == [1, 1]  # never of two levels


class Watching:
    """A member that keeps what it is asked."""

    def __init__(self, frames):
        self.frames = frames

    def predict(self, X):
        self.frames.append(X.copy())
        return X[:, 0]


def test_trees_with_every_row_in_the_bag_are_not_counted():
    model = fitted(n_estimators=40, train=DATA.part(("x1", "x2"), np.arange(4)))
    raw = rises(model, model.train)
    n_all = sum(tree.tree_.n_node_samples[0] == 4 for tree in model.estimator)
    assert n_all > 0
    assert raw.shape == (2, 40 - n_all)


def test_a_score_is_the_mean_rise_over_its_standard_error():
    # Rises 1 and 3: mean 2, variance 1 with divisor T, standard error 1/sqrt(2).
    scores = in_standard_errors(np.array([[1.0, 3.0], [0.0, 0.0], [2.0, 2.0]]))
    assert scores[:2] == pytest.approx([2 * np.sqrt(2), 0])
    assert np.isnan(scores[2])


@pytest.mark.parametrize(
    ("kind", "train", "loss"),
    [
        ("RandomForestRegressor", DATA, "mse"),
        ("RandomForestClassifier", CLASSES, "one_minus_accuracy"),
        ("RandomForestClassifier", THREE, "one_minus_accuracy"),
    ],
)
def test_the_score_is_of_the_same_draws_whatever_loss_is_asked(kind, train, loss):
    model = fitted(kind, train, ())
    raw, _ = oob_permutation_scaled(model, train, seed=1)
    truth = in_standard_errors(rises(model.with_losses((loss,)), train))
    assert raw[:, 0, 0].tolist() == truth.tolist()


def test_more_trees_change_no_number_of_the_first_ones():
    few, many = fitted(n_estimators=5), fitted(n_estimators=9)
    assert rises(many)[:, :5].tolist() == rises(few).tolist()


def test_each_tree_has_a_permutation_of_its_own():
    train = replace(DATA, X=DATA.X.assign(x1=np.arange(150.0)))
    half = {"bootstrap": False, "max_samples": 0.5}  # equally many rows out of each bag
    frames = []
    model = bag_of(Watching(frames), Watching(frames), train=train, **half)
    oob_permutation(model, train.with_groups({"x1": ("x1",)}), seed=1)
    first, second = (np.argsort(frames[k][:, 0]) for k in (1, 3))
    assert len(first) == len(second) == 75
    assert (first != second).any()


REFUSED = [
    (
        lambda: fitted("GradientBoostingRegressor"),
        "must be a bagged ensemble of scikit-learn for method 'oob_permutation'; it is "
        "a GradientBoostingRegressor. Use permutation importance.",
    ),
    (
        lambda: fitted("ExtraTreesRegressor"),
        "was fitted with bootstrap = false. Set bootstrap = true, or use permutation",
    ),
    (
        lambda: fitted("BaggingRegressor", bootstrap=False),
        "must leave rows out of the sample of some member",
    ),
    (
        lambda: bag_of(Weighing(1, 0, 0), train=CLASSES, kind="BaggingClassifier"),
        "must have members with predict_proba",
    ),
]


@for_each(REFUSED)
def test_a_model_without_an_answer_says_why(case):
    model, words = case
    assert words in refused(oob_permutation, model(), DATA)
