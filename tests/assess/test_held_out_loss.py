"""Losses on training rows that a model did not see: what scikit-learn says of them."""

import numpy as np
import pytest
from sklearn.model_selection import PredefinedSplit, cross_val_score
from tests.methods.importance import toys
from tests.methods.importance.test_out_of_bag import CLASSES, DATA, THREE, fitted

from importance_audit.assess import held_out_loss
from importance_audit.data import splits
from importance_audit.methods.known_answers import linear_model
from importance_audit.records.errors import NotApplicable
from importance_audit.records.losses import evaluate

LINE = toys.of_line(DATA)


@pytest.mark.parametrize("kind", ["RandomForestRegressor", "BaggingRegressor"])
def test_the_loss_out_of_bag_is_that_of_scikit_learn(kind):
    model = fitted(kind, oob_score=True, n_estimators=60)
    loss = held_out_loss.out_of_bag(model, "mse")
    squares = (DATA.y - model.estimator.oob_prediction_) ** 2
    assert loss.value == pytest.approx(squares.mean(), rel=1e-12)
    r_squared = 1 - loss.value / loss.constant
    assert r_squared == pytest.approx(model.estimator.oob_score_, rel=1e-12)


@pytest.mark.parametrize("rows", [CLASSES, THREE])
def test_classes_out_of_bag_are_told_by_the_mean_of_the_probabilities(rows):
    model = fitted("RandomForestClassifier", rows, oob_score=True, n_estimators=60)
    shares = model.estimator.oob_decision_function_
    shares = shares[:, 1] if rows is CLASSES else shares
    brier_score = evaluate(("brier",), rows.y, shares, rows.weights)[0]
    assert held_out_loss.out_of_bag(model, "brier").value == pytest.approx(
        brier_score, rel=1e-12
    )


def test_rows_in_every_sample_have_no_loss_out_of_bag():
    with pytest.raises(NotApplicable, match=r"rows in every sample\. Fit more members"):
        held_out_loss.out_of_bag(fitted(n_estimators=2), "mse")


def test_the_loss_in_folds_is_the_mean_of_those_of_scikit_learn():
    scores = [
        cross_val_score(
            LINE.estimator,
            DATA.X,
            DATA.y,
            cv=PredefinedSplit(splits.folds_of(DATA, 4, seed=3, repeat=repeat)),
            scoring="neg_root_mean_squared_error",
        )
        for repeat in range(2)
    ]
    loss = held_out_loss.in_folds(LINE, "rmse", folds=4, repeats=2, seed=3)
    assert loss.value == pytest.approx(-np.mean(scores), rel=1e-9)


def test_the_constant_of_a_fold_is_the_mean_of_the_other_rows():
    fold_of = splits.folds_of(DATA, 2, seed=1)
    halves = [DATA.y[fold_of == fold] for fold in range(2)]
    errors = [((y - other.mean()) ** 2).mean() for y, other in (halves, halves[::-1])]
    loss = held_out_loss.in_folds(LINE, "mse", folds=2, repeats=1, seed=1)
    assert loss.constant == pytest.approx(np.mean(errors), rel=1e-12)


def test_a_model_that_came_as_it_is_cannot_be_judged_in_folds():
    asked = {"folds": 2, "repeats": 1}
    model = linear_model(2, 1)
    assert toys.refused(held_out_loss.in_folds, model, "mse", **asked) == (
        "Model 'linear' cannot be cross-validated, because the audit did not fit it. "
        "Name its estimator under [[models]]."
    )
