"""Claims about canaries: what fires each of them, and what does not."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pipeline import checks
from pipeline.checks import CHECKS, COLUMNS, Limit, checks_frame
from pipeline.importance.permutation import permutation
from pipeline.known_answers import (
    binary_data,
    linear_model,
    logistic_model,
    normal_data,
)
from pipeline.records import Importance


def measured(raw, baseline=10.0, *, data=None, **changes):
    """Return a permutation importance of the columns of `data`."""
    raw = np.asarray(raw, dtype=float)
    data = data or normal_data(*np.ones(len(raw)))
    fields = {
        "model": "linear",
        "method": "permutation",
        "engine": "python",
        "engine_version": "1",
        "of": "features",
        "form": "difference",
        "loss": "mse",
        "split": "test",
        "unit": "y^2",
        "options": {"n_rows": None},
        "n_samples": data.n_samples,
        "stream": "numpy",
        "seed": 1,
        "features": tuple(data.groups),
        "columns": tuple(data.groups.values()),
        "raw": raw,
        "baseline": np.full(raw.shape[1], baseline),
    }
    return Importance(**{**fields, **changes})


def answer(word, answers):
    """Return verdict, observed and finding of one check."""
    (found,) = ((row, f) for row, f in answers if row["check"] == word)
    row, finding = found
    return row["verdict"], row["observed"], finding


def asked_of(model, data=None):
    return checks.of_model(model, data or normal_data(2, 1), seed=1)


def performance(difference, error, split="test"):
    names = ("model", "loss", "split", "value", "constant", "difference")
    values = ("linear", "mse", split, 5 + difference, 5.0, difference)
    row = dict(zip(names, values, strict=True))
    return pd.DataFrame([row | {"difference_std_error": error}])


def test_a_model_that_reads_its_rows_says_something_else_for_other_rows():
    verdict, observed, finding = answer(
        "predict_ignores_x", asked_of(linear_model(2, 1))
    )
    assert (verdict, observed, finding) == ("pass", "changed", None)


@pytest.mark.parametrize("stored", [np.arange(200.0), np.full(200, 3.0)])
def test_a_predict_that_returns_what_it_stored_ignores_its_rows(stored):
    model = replace(linear_model(2, 1), predict=lambda _: stored)
    verdict, observed, finding = answer("predict_ignores_x", asked_of(model))
    assert (verdict, observed, finding.severity) == ("fail", "unchanged", "failure")
    assert finding.message == (
        "Predictions must change when rows change places, but none did: predict does "
        "not use the rows it is given, or always says the same."
    )


def test_rows_that_are_looked_up_by_their_index_are_not_read():
    stored = np.arange(200.0)
    model = replace(linear_model(2, 1), predict=lambda X: stored[X.index])
    assert answer("predict_ignores_x", asked_of(model))[0] == "fail"


def drifting(step):
    """Return a model whose every answer is larger than the one before by `step`."""
    steady, calls = linear_model(2, 1), []

    def predict(X):
        calls.append(X)
        return steady.predict(X) * (1 + step * len(calls))

    return replace(steady, predict=predict)


@pytest.mark.parametrize(
    ("step", "verdict", "severity"),
    [(5e-13, "warn", "warning"), (1e-11, "fail", "failure")],
)
def test_a_model_that_answers_twice_in_two_ways_is_not_deterministic(
    step, verdict, severity
):
    found, observed, finding = answer("not_deterministic", asked_of(drifting(step)))
    assert (found, finding.severity) == (verdict, severity)
    assert observed == pytest.approx(step, rel=0.01)


def test_a_model_that_repeats_itself_to_the_bit_is_deterministic():
    found = answer("not_deterministic", asked_of(linear_model(2, 1)))
    assert found == ("pass", 0.0, None)


@pytest.mark.parametrize(
    ("train", "test", "split", "verdict", "observed"),
    [
        ("aa", "aa", "test", "warn", "training rows"),
        ("", "bb", "train", "warn", "training rows"),
        ("aa", "bb", "test", "pass", "other rows"),
        ("", "bb", "test", "not run", "training rows unknown"),
        ("aa", "", "test", "not run", "training rows unknown"),
    ],
)
def test_training_rows_are_known_by_their_digest(train, test, split, verdict, observed):
    model = replace(linear_model(2, 1), train_sha256=train)
    data = replace(normal_data(2, 1), sha256=test, split=split)
    found = answer("scored_on_training_rows", asked_of(model, data))
    assert found[:2] == (verdict, observed)
    assert (found[2] is not None) == (verdict == "warn")


@pytest.mark.parametrize(
    ("gap", "verdict"),
    [
        (0.0, "pass"),
        (1e-12, "warn"),
        (1.1e-12, "fail"),
        (np.inf, "fail"),
        (np.nan, "fail"),
    ],
)
def test_r_must_be_told_what_python_predicts(gap, verdict):
    answers = checks.of_predictions(linear_model(2, 1), gap)
    found, _, finding = answer("prediction_mismatch", answers)
    assert (found, finding is None) == (verdict, gap == 0)


def test_a_limit_from_a_file_decides_and_is_named():
    limits = {"prediction_gap": Limit(1e-6, "audit.toml")}
    ((row, finding),) = checks.of_predictions(linear_model(2, 1), 1e-8, limits=limits)
    assert (row["threshold"], row["set_by"]) == (1e-6, "audit.toml")
    assert (row["verdict"], finding.severity) == ("warn", "warning")


@pytest.mark.parametrize(
    ("difference", "error", "verdict"),
    [
        (-2.1, 1.0, "pass"),
        (-2.0, 1.0, "warn"),
        (1.0, 0.1, "warn"),
        (-1.0, 0.0, "pass"),
        (0.0, 0.0, "warn"),
        (-9.0, np.nan, "not run"),
        (np.inf, np.nan, "warn"),
    ],
)
def test_a_model_must_beat_the_constant_by_two_standard_errors(
    difference, error, verdict
):
    answers = checks.of_performance(linear_model(2, 1), performance(difference, error))
    found, _, finding = answer("weak_model", answers)
    assert (found, finding is None) == (verdict, verdict != "warn")


def test_a_weak_model_is_shown_beside_the_constant():
    answers = checks.of_performance(linear_model(2, 1), performance(-1.0, 1.0))
    assert answer("weak_model", answers)[2].message == (
        "The loss must lie more than 2 standard errors below that of the constant "
        "predictor, 5, but it is 4, 1 standard errors below it."
    )


def test_what_a_model_makes_of_its_training_rows_proves_nothing():
    frame = performance(3.0, 0.1, split="train")
    assert checks.of_performance(linear_model(2, 1), frame) == []


def of_importance(importance, data=None):
    data = data or normal_data(*np.ones(len(importance.features)))
    return checks.of_importance(importance, data)


def test_a_feature_without_a_number_is_named():
    holes = measured([[12.0, 13.0], [11.0, np.nan]])
    verdict, observed, finding = answer("unmeasured", of_importance(holes))
    assert (verdict, observed) == ("warn", 1.0)
    assert finding.message == (
        "Every feature must get a number, but there is none for 'x2'. They are shown "
        "without a rank."
    )


def test_where_every_feature_has_a_number_all_is_measured():
    found = answer("unmeasured", of_importance(measured([[12.0], [11.0]])))
    assert found == ("pass", 0.0, None)


@pytest.mark.filterwarnings("error")
def test_infinite_losses_are_unmeasured_and_nothing_else():
    infinite = measured([[np.inf, np.inf]], baseline=np.inf)
    assert [row["check"] for row, _ in of_importance(infinite)] == ["unmeasured"]


def flat(data):
    """Return the same rows with a constant x2."""
    return replace(data, X=data.X.assign(x2=1.0))


def test_a_constant_column_measures_exactly_the_baseline():
    data, model = flat(normal_data(2, 1)), linear_model(2, 1)
    raw, baseline = permutation(model, data, seed=1, n_repeats=3)
    own = measured(raw[:, :, 0], data=data, baseline=0.0)
    own = replace(own, baseline=baseline[:, 0])
    verdict, observed, finding = answer("constant_feature", of_importance(own, data))
    assert (verdict, observed, finding.severity) == ("pass", 0.0, "info")
    assert finding.message == "A constant column tells nothing of its importance: 'x2'."


def test_a_constant_column_that_measures_something_is_a_failure():
    data = flat(normal_data(2, 1))
    wrong = measured([[12.0, 12.0], [10.5, 10.0]], data=data, stream="vip-0.4")
    verdict, observed, finding = answer("constant_feature", of_importance(wrong, data))
    assert (verdict, observed) == ("fail", 0.5)
    assert finding.message == (
        "A constant column must measure exactly the baseline, but 'x2' is off by 0.5."
    )


def words(importance, data=None):
    return {row["check"] for row, _ in of_importance(importance, data)}


def test_without_a_constant_column_there_is_nothing_to_say_about_one():
    assert "constant_feature" not in words(measured([[12.0], [10.5]]))


def test_a_group_is_constant_only_if_all_its_columns_are():
    data = flat(normal_data(2, 1))
    both = {"features": ("both",), "columns": (("x1", "x2"),)}
    assert "constant_feature" not in words(measured([[12.0]], **both), data)


@pytest.mark.parametrize(
    "changes",
    [{"loss": ""}, {"stream": "vip-0.4", "options": {"n_rows": 5}}],
)
def test_a_constant_column_is_no_canary_where_the_baseline_is_no_loss_of_it(changes):
    data = flat(normal_data(2, 1))
    importance = measured([[12.0], [10.5]], data=data, **changes)
    assert "constant_feature" not in words(importance, data)


@pytest.mark.parametrize("form", ["difference", "ratio", "raw"])
def test_permuting_the_strongest_feature_raises_the_loss(form):
    found = answer("event_level", of_importance(measured([[9.9], [13.0]], form=form)))
    assert found == ("pass", 3.0, None)


def test_a_positive_class_mixed_up_lowers_the_loss_of_the_strongest_feature():
    data, model = binary_data(), logistic_model(-2.0, 0.0)
    raw, baseline = permutation(model, data, seed=1, n_repeats=3)
    own = measured(raw[:, :, 0], data=data, loss="one_minus_auc")
    own = replace(own, baseline=baseline[:, 0])
    verdict, observed, finding = answer("event_level", of_importance(own, data))
    assert (verdict, finding.severity) == ("warn", "warning")
    assert observed < -0.3
    assert finding.message == (
        "Permuting the strongest feature must raise the loss, but permuting 'x1' "
        f"changes it by {observed:.3g}."
    )


def test_an_importance_without_a_loss_has_no_event_level_to_mix_up():
    assert "event_level" not in words(measured([[9.0]], loss=""))


def test_every_check_answers_under_its_own_word():
    data = flat(normal_data(2, 1))
    answers = [
        *asked_of(linear_model(2, 1), data),
        *checks.of_performance(linear_model(2, 1), performance(-3.0, 1.0)),
        *checks.of_predictions(linear_model(2, 1), 0.0),
        *of_importance(measured([[12.0], [10.0]], data=data), data),
    ]
    assert [row["check"] for row, _ in answers] == list(CHECKS)
    frame = checks_frame(row for row, _ in answers)
    assert tuple(frame.columns) == COLUMNS
    assert (frame["set_by"].isin(["default", "definition"])).all()
    assert tuple(checks_frame([]).columns) == COLUMNS
