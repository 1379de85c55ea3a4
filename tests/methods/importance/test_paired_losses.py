"""Losses of rows without and with a feature: their mean, their rows, their rounding."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.known_answers import level_data, level_model, logistic_model
from tests.methods.importance.toys import of_line

from importance_audit.methods.importance.drop_column import drop_column
from importance_audit.methods.importance.paired_losses import PairedLosses
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.importance.permutation_draws import DRAWS, Draw
from importance_audit.methods.known_answers import (
    binary_data,
    linear_model,
    normal_data,
)

MEANS = ("mse", "mae", "mape")
OF_CLASSES = ("log_loss", "brier", "one_minus_accuracy")


def pairs_of(method, model, data, **options):
    """Return the paired losses, raw and baseline of one question."""
    answer = method(model, data, seed=1, keep=("paired_losses",), **options)
    return answer.paired_losses, answer.raw, answer.baseline


def weighted(data):
    """Return rows of different weights, the last of which weighs nothing."""
    weights = np.linspace(2, 0, data.n_samples)
    return replace(data, weights=weights)


QUESTIONS = [
    (linear_model(2, 0.5, losses=MEANS), normal_data(2, 0)),
    (linear_model(2, 0.5, losses=MEANS), weighted(normal_data(2, 0))),
    (logistic_model(1, 0.5, losses=OF_CLASSES), binary_data()),
    (replace(level_model(0.8), losses=OF_CLASSES), level_data()),
]


@pytest.mark.parametrize(("model", "data"), QUESTIONS)
def test_their_mean_over_rows_is_the_permutation_importance(model, data):
    paired, raw, baseline = pairs_of(permutation, model, data, n_repeats=3)
    for k, loss in enumerate(model.losses):
        means = [paired.differences(loss, row).mean() for row in range(len(raw))]
        truth = (raw - baseline).mean(axis=1)[:, k]
        assert means == pytest.approx(truth.tolist(), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("stream", ["numpy", "DALEX", "hstats"])
def test_a_row_counts_in_the_repeats_that_draw_it(stream):
    data, model = normal_data(2, 0, n_samples=40), linear_model(2, 0.5)
    paired, *_ = pairs_of(
        permutation, model, data, n_repeats=3, n_rows=15, stream=stream
    )
    total, count = np.zeros((2, 40)), np.zeros((2, 40))
    usual = (data.y - model.predict(data.X)) ** 2
    for draw in DRAWS[stream](1, ("x1", "x2"), 40, 3, 15):
        if draw.what >= 0:
            X = data.X.iloc[draw.rows].reset_index(drop=True)
            name = X.columns[draw.what]
            X[name] = X[name].to_numpy()[draw.order]
            loss = (data.y[draw.rows] - model.predict(X)) ** 2
            total[draw.what, draw.rows] += loss - usual[draw.rows]
            count[draw.what, draw.rows] += 1
    for row in range(2):
        is_drawn = count[row] > 0
        truth = total[row, is_drawn] / count[row, is_drawn]
        assert paired.differences("mse", row) == pytest.approx(truth, abs=1e-9)
    assert set(count[0]) == ({0, 3} if stream == "hstats" else {*count[0]})


def test_asking_for_them_changes_no_number():
    data = normal_data(2, 0)
    for method, model in (
        (permutation, linear_model(2, 1)),
        (drop_column, of_line(data, ("mse", "mae"))),
    ):
        _, raw, baseline = pairs_of(method, model, data, n_repeats=2)
        plain = method(model, data, seed=1, n_repeats=2)
        assert (raw.tobytes(), baseline.tobytes()) == (
            plain.raw.tobytes(),
            plain.baseline.tobytes(),
        )


def test_of_refits_they_are_the_errors_without_a_feature_less_those_with_all():
    train, test = normal_data(2, 1, n_samples=50), normal_data(2, 1, seed=2)
    paired, *_ = pairs_of(
        drop_column, of_line(train, ("mse", "mae")), test, n_repeats=2
    )

    def errors(names):
        X = [np.column_stack([np.ones(d.n_samples), d.X[names]]) for d in (train, test)]
        b = np.linalg.lstsq(X[0], train.y, rcond=None)[0]
        return np.abs(test.y - X[1] @ b)

    truth = errors(["x1"]) - errors(["x1", "x2"])
    assert paired.differences("mae", 1) == pytest.approx(truth, rel=1e-9, abs=1e-9)


def test_what_rounding_changes_is_not_changed():
    y, prediction = np.zeros(3), np.array([1.0, 2.0, 3.0])
    every = np.arange(3)
    paired = PairedLosses(("mse",), 1, 3)
    paired.start(every, (y, prediction, np.ones(3)))
    changed = prediction + np.array([1e-12, -1e-12, 1e-3])
    paired.add(Draw(0, 0, every, every), (y, changed, np.ones(3)))
    rises = paired.differences("mse", 0)
    assert rises[:2].tolist() == [0, 0]
    assert rises[2] == pytest.approx(6e-3, rel=1e-3)


def test_rows_without_weight_are_left_out():
    paired, *_ = pairs_of(permutation, *QUESTIONS[1], n_repeats=2)
    assert len(paired.differences("mse", 0)) == 199


def test_an_area_under_a_curve_has_no_losses_of_rows():
    model = logistic_model(1, 0, losses=("one_minus_auc", "brier"))
    paired, *_ = pairs_of(permutation, model, binary_data(), n_repeats=2)
    assert set(paired.totals) == {"brier"}


def test_two_infinite_losses_have_no_difference():
    X = pd.DataFrame({"x1": [0.0, 1.0, 1.0, 0.0]})
    sure = replace(logistic_model(1), predict=lambda X: X["x1"].to_numpy())
    data = replace(binary_data(), X=X, y=np.array([1, 0, 1, 0]), weights=np.ones(4))
    data = data.with_groups({"x1": ("x1",)})
    model = replace(sure, losses=("log_loss",))
    paired, *_ = pairs_of(permutation, model, data, n_repeats=1)
    assert not np.isfinite(paired.differences("log_loss", 0)).all()
