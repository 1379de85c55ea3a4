"""Performance: losses beside those of a constant, with their standard errors."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import r2_score, roc_auc_score
from tests.known_answers import level_data, level_model, logistic_model
from tests.methods.importance.test_permutation import recorded, recorded_case

from importance_audit.assess.held_out_loss import out_of_bag_rows
from importance_audit.methods.known_answers import (
    binary_data,
    linear_model,
    normal_data,
)
from importance_audit.models.fit import fit
from importance_audit.models.performance import paired_differences, performance
from importance_audit.models.section import ModelSection
from importance_audit.records.frames import FRAMES
from importance_audit.records.losses import evaluate

# A figure of DALEX: the loss here, and how it follows from it.
FIGURES = {
    "mse": ("mse", lambda row: row["value"]),
    "rmse": ("rmse", lambda row: row["value"]),
    "r2": ("mse", lambda row: 1 - row["value"] / row["constant"]),
    "auc": ("one_minus_auc", lambda row: 1 - row["value"]),
    "accuracy": ("one_minus_accuracy", lambda row: 1 - row["value"]),
    "cross_entropy": ("dalex_cross_entropy", lambda row: row["value"]),
}


def of_test(model, data, train=None):
    """Return the rows of the frame for the test rows, by loss."""
    frame = performance(model, train, data, seed=1).losses
    return frame[frame["split"] == "test"].set_index("loss")


def test_the_true_model_errs_by_the_noise_and_the_mean_by_the_spread_of_y():
    data = normal_data(2, 0, noise=0.5)
    row = of_test(linear_model(2, 0, losses=("mse", "rmse")), data)
    assert row["value"].tolist() == pytest.approx([0.25, 0.5], rel=1e-9)
    assert row["constant"].tolist() == pytest.approx([4.25, 4.25**0.5], rel=1e-9)
    assert row["difference"].tolist() == pytest.approx([-4, 0.5 - 4.25**0.5], rel=1e-9)


def by_hand(loss, y, p):
    """Return what each row adds to a mean."""
    if loss == "log_loss":
        return -np.log(np.where(y == 1, p, 1 - p))
    return abs(y - p) if loss == "mae" else (y - p) ** 2


def judged_case(losses, *, weighted):
    """Return rows, a model of their task, its prediction and that of a constant."""
    if "mse" in losses:
        data, model = normal_data(2, 1, n_samples=400), linear_model(2, 0.5)
    else:
        data, model = binary_data(n_samples=400), logistic_model(1, 0.5)
    if weighted:
        draws = np.random.default_rng(3)
        data = replace(data, weights=draws.exponential(size=400))
    mean = np.full(400, np.average(data.y, weights=data.weights))
    model = replace(model, losses=losses)
    return data, model, model.predict(data.X), mean


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("losses", [("mse", "mae"), ("log_loss", "brier")])
def test_a_mean_over_rows_has_the_standard_error_of_a_mean(losses, weighted):
    data, model, own, mean = judged_case(losses, weighted=weighted)
    rows = of_test(model, data)
    for loss in losses:
        terms, constants = (by_hand(loss, data.y, p) for p in (own, mean))
        for name, each in (
            ("std_error", terms),
            ("difference_std_error", terms - constants),
        ):
            w = data.weights / data.weights.sum()
            about = w * (each - (w * each).sum())
            truth = np.sqrt(400 / 399 * (about**2).sum())
            assert rows.loc[loss, name] == pytest.approx(truth, rel=1e-9)
            if not weighted:
                error = each.std(ddof=1) / np.sqrt(400)
                assert rows.loc[loss, name] == pytest.approx(error, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "losses",
    [("mse", "mae", "rmse", "one_minus_r2"), ("log_loss", "brier", "one_minus_auc")],
)
def test_a_standard_error_is_that_of_a_large_bootstrap(losses, weighted):
    data, model, *both = judged_case(losses, weighted=weighted)
    draws, drawn = np.random.default_rng(7), []
    for _ in range(4000):
        at = draws.integers(400, size=400)
        y, w = data.y[at], data.weights[at]
        drawn.append([evaluate(losses, y, p[at], w) for p in both])
    own, constants = np.moveaxis(drawn, 1, 0)
    rows = of_test(model, data)
    for name, each in (
        ("std_error", own),
        ("difference_std_error", own - constants),
    ):
        # The SD of 4000 draws is known to 1 %; roots and ratios are to first order.
        assert rows[name].tolist() == pytest.approx(each.std(axis=0).tolist(), rel=0.06)


@pytest.mark.parametrize("loss", ["one_minus_auc", "one_minus_pr_auc"])
def test_the_name_of_a_model_changes_no_standard_error(loss):
    model = logistic_model(1, 2, losses=(loss,))
    train, test = binary_data(n_samples=60), binary_data(n_samples=60, seed=2)
    out_of_bag = train, model.predict(train.X)
    one, other = (
        performance(
            replace(model, name=name), train, test, seed=1, out_of_bag=out_of_bag
        ).losses.drop(columns="model")
        for name in ("forest", "a forest of 2026")
    )
    assert list(one["split"]) == ["train", "out_of_bag", "test"]
    assert (one[["std_error", "difference_std_error"]] > 0).all(axis=None)
    assert one.equals(other)


def test_the_loss_of_one_row_has_no_standard_error():
    data = normal_data(2, 0)
    one = replace(data, X=data.X[:1], y=data.y[:1], weights=data.weights[:1])
    row = of_test(linear_model(2, 1), one).loc["mse"]
    assert np.isnan([row["std_error"], row["difference_std_error"]]).all()


def test_both_predictors_are_judged_on_the_same_resamples():
    data = normal_data(2, 0, n_samples=400)
    model = linear_model(0, 0)
    shifted = replace(model, predict=lambda X: np.full(len(X), data.y.mean()))
    row = of_test(shifted, data).loc["mse"]
    assert row["difference"] == pytest.approx(0, abs=1e-12)
    assert row["difference_std_error"] < 1e-12 < row["std_error"]


def test_the_constant_comes_from_the_training_rows():
    train, test = normal_data(2, 0), normal_data(2, 0, seed=2)
    raised = replace(train, y=train.y + 10)
    row = of_test(linear_model(2, 0), test, raised).loc["mse"]
    assert row["constant"] == pytest.approx(test.y.var() + 10**2, rel=1e-9)


def test_a_constant_probability_is_the_share_of_the_class():
    losses = ("one_minus_auc", "log_loss", "brier")
    row = of_test(logistic_model(1, 0, losses=losses), binary_data())
    truth = [0.5, np.log(2), 0.25]
    assert row["constant"].tolist() == pytest.approx(truth, rel=1e-9)
    row = of_test(level_model(0.8), level_data()).loc["log_loss"]
    assert row["constant"] == pytest.approx(np.log(3), rel=1e-9)
    assert row["value"] == pytest.approx(-np.log(0.8), rel=1e-9)


def test_a_weight_of_zero_leaves_a_row_out():
    data = normal_data(2, 0)
    weights = (np.arange(200) < 120).astype(float)
    half = replace(data, X=data.X[:120], y=data.y[:120], weights=weights[:120])
    weighted, cut = (
        of_test(linear_model(1, 1), each)
        for each in (replace(data, weights=weights), half)
    )
    for name in ("value", "constant"):
        assert weighted[name].tolist() == pytest.approx(cut[name].tolist(), rel=1e-12)


def test_an_infinite_loss_stays_infinite_and_has_no_standard_error():
    row = of_test(level_model(1.0), replace(level_data(), y=np.zeros(150, dtype=int)))
    assert row["value"].tolist() == [np.inf]
    assert np.isnan(row["std_error"]).tolist() == [True]


def test_the_same_seed_gives_the_same_frame():
    data, model = binary_data(), logistic_model(1, 2, losses=("one_minus_pr_auc",))
    one, again, other = (
        performance(model, data, data, seed=seed).losses for seed in (5, 5, 6)
    )
    assert tuple(one.columns) == FRAMES["performance"].columns
    assert one.equals(again)
    assert (one["std_error"] != other["std_error"]).all()


@pytest.mark.parametrize("case", recorded("dalex_parts", "performance_cases"))
def test_the_figures_of_dalex_follow_from_the_losses(case):
    for figure, expected in case["measures"].items():
        loss, of_row = FIGURES[figure]
        model, data = recorded_case(
            {**case, "groups": {}, "features": [], "loss": loss}
        )
        classes = tuple(case["model"]) if model.task == "multiclass" else ()
        row = of_test(replace(model, classes=classes), data).loc[loss]
        assert of_row(row) == pytest.approx(expected, rel=1e-9)


def test_readings_are_what_scikit_learn_calls_by_their_names():
    draws = np.random.default_rng(4)
    weights = draws.exponential(size=200)
    data = replace(normal_data(2, 1), weights=weights)
    (r2,) = readings_of(linear_model(1, 1), data)
    expected = r2_score(data.y, data.X.sum(axis=1), sample_weight=weights)
    assert (r2["reading"], r2["value"]) == ("r2", pytest.approx(expected))

    data = replace(binary_data(), weights=weights)
    model = logistic_model(1, 2)
    auc, gini = readings_of(model, data)
    prediction = model.predict(data.X)
    expected = roc_auc_score(data.y, prediction, sample_weight=weights)
    assert (auc["reading"], auc["value"]) == ("auc", pytest.approx(expected))
    assert (gini["reading"], gini["value"]) == ("gini", 2 * auc["value"] - 1)
    assert gini["std_error"] == 2 * auc["std_error"]

    data = level_data()
    (accuracy,) = readings_of(level_model(), data)
    assert (accuracy["reading"], accuracy["value"]) == ("accuracy", 1.0)
    wrong = np.where(np.arange(150) < 30, (data.y + 1) % 3, data.y)
    (accuracy,) = readings_of(level_model(), replace(data, y=wrong))
    error = np.sqrt(0.8 * 0.2 / 149)  # of a share, with the unbiased variance
    assert accuracy["value"] == pytest.approx(0.8, rel=1e-12)
    assert accuracy["std_error"] == pytest.approx(error, rel=1e-12)


def readings_of(model, data):
    return performance(model, None, data, seed=1).readings.to_dict("records")


def test_an_auc_and_the_loss_it_is_made_of_have_one_standard_error():
    model = replace(logistic_model(1, 2), losses=("one_minus_auc",))
    frames = performance(model, None, binary_data(), seed=1)
    (error,) = frames.losses["std_error"]
    assert frames.readings["std_error"].tolist() == [error, 2 * error]
    assert frames.readings["value"].iloc[0] == 1 - frames.losses["value"].iloc[0]


@pytest.mark.slow
@pytest.mark.parametrize("task", ["regression", "binary"])
def test_the_error_of_a_reading_is_how_far_it_moves_from_table_to_table(task):
    rows = []
    for seed in range(300):
        draws = np.random.default_rng(seed)
        x1, x2, noise = draws.normal(size=(3, 150))
        y = 2 * x1 + x2 + 2 * noise
        base, model = normal_data(2, 1, n_samples=150), linear_model(2, 1, losses=())
        if task == "binary":
            y = (y > 0).astype(np.int64)
            base, model = binary_data(n_samples=150), logistic_model(2, 1, losses=())
        X = base.X.assign(x1=x1, x2=x2)
        rows.append(readings_of(model, replace(base, X=X, y=y))[0])
    values, errors = ([row[name] for row in rows] for name in ("value", "std_error"))
    # The spread of 300 tables is known to 4 %.
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(
        np.std(values), rel=0.12
    )


def test_a_forest_is_judged_out_of_bag_and_no_prediction_is_asked_for_it():
    train, test = normal_data(2, 1), normal_data(2, 1, seed=2)
    section = ModelSection(
        name="forest",
        estimator="sklearn.ensemble.RandomForestRegressor",
        parameters={"n_estimators": 100, "random_state": 1},
    )
    model, calls = fit(section, train).with_losses(("mse",)), []

    def predict(X):
        calls.append(len(X))
        return model.predict(X)

    counted = replace(model, predict=predict)
    out_of_bag = out_of_bag_rows(model)
    frames = performance(counted, train, test, seed=1, out_of_bag=out_of_bag)
    assert calls == [200, 200]
    rows = frames.losses.set_index("split")
    assert list(rows.index) == ["train", "out_of_bag", "test"]
    reference = RandomForestRegressor(100, random_state=1, oob_score=True)
    reference.fit(train.X, train.y)
    expected = ((reference.oob_prediction_ - train.y) ** 2).mean()
    assert rows.loc["out_of_bag", "value"] == pytest.approx(expected)
    r2 = frames.readings.set_index("split")["value"]
    assert r2["out_of_bag"] == pytest.approx(reference.oob_score_)
    assert out_of_bag_rows(linear_model(2, 1)) is None


def paired(weights=None, losses=("mse", "mae")):
    """Return the comparison of two linear models by loss, and their errors."""
    data = normal_data(2, 1, n_samples=400)
    if weights is not None:
        data = replace(data, weights=weights)
    models = linear_model(2, 1, losses=losses), linear_model(1, 1, losses=losses)
    one, other = (model.predict(data.X) for model in models)
    rows = paired_differences(models[0], one, models[1], other, data)
    return {row["loss"]: row for row in rows}, data.y - one, data.y - other


def test_two_models_differ_by_the_mean_difference_of_their_row_losses():
    rows, one, other = paired()
    for loss, each in (("mse", one**2 - other**2), ("mae", abs(one) - abs(other))):
        assert rows[loss]["difference"] == pytest.approx(each.mean(), rel=1e-9)
        error = each.std(ddof=1) / np.sqrt(len(each))
        assert rows[loss]["std_error"] == pytest.approx(error, rel=1e-9)
        assert set(rows[loss]) == set(FRAMES["comparisons"].columns)


def test_a_model_differs_from_itself_by_nothing_for_certain():
    data = binary_data()
    model = logistic_model(1, 0, losses=("one_minus_auc", "log_loss"))
    same = model.predict(data.X)
    rows = paired_differences(model, same, model, same, data)
    assert [(row["loss"], row["difference"], row["std_error"]) for row in rows] == [
        ("one_minus_auc", 0.0, 0.0),
        ("log_loss", 0.0, 0.0),
    ]


def test_only_losses_of_both_models_are_compared():
    data = normal_data(2, 1)
    models = linear_model(2, 1, losses=("mse", "mae")), linear_model(1, 1)
    answers = [part for m in models for part in (m, m.predict(data.X))]
    assert [row["loss"] for row in paired_differences(*answers, data)] == ["mse"]


def test_the_error_of_a_difference_is_what_resampled_rows_say():
    rows, one, other = paired(weights=np.arange(400) % 3 + 1.0, losses=("rmse",))
    draw = np.random.default_rng(1)
    weights, apart = np.arange(400) % 3 + 1.0, []
    for _ in range(600):
        at = draw.integers(400, size=400)
        apart.append(
            np.subtract(
                *(
                    np.sqrt(np.average(each[at] ** 2, weights=weights[at]))
                    for each in (one, other)
                )
            )
        )
    ratio = rows["rmse"]["std_error"] / np.std(apart, ddof=1)
    # The SD of 600 draws is known to one part in sqrt(2 * 599).
    assert abs(ratio - 1) < 4 / np.sqrt(2 * 599) + 0.02
