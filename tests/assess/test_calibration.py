"""Claims about probabilities and numbers that differ from what was observed."""

import numpy as np
import pytest
from scipy.stats import binom
from tests.assess.measured import audited, finding_of
from tests.known_answers import level_data, level_model

from importance_audit.assess import checks
from importance_audit.assess.calibration import calibration_checks, chance
from importance_audit.assess.checks import Limit
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.models.diagnostics import calibration_parts, mean_parts

TABLES = 2000
NOMINAL = float(binom.sf(2, 10, 0.05))
"""How often three of ten deciles or more are outside by chance."""


def checked(parts, model="m", positive_class="yes"):
    who = {"model": model, "positive_class": positive_class, "split": "test"}
    return calibration_checks([{**who, **part} for part in parts])


def of_classes(seed, n=200, *, slope=1.0, weights=(1.0,)):
    """Return the check of a logistic model, with its slope times `slope`."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=n)
    y = draw.uniform(size=n) < 1 / (1 + np.exp(-2 * x))
    w = draw.choice(weights, size=n)
    (row,) = checked(calibration_parts(y, 1 / (1 + np.exp(-2 * slope * x)), w))
    return row


def of_numbers(seed, n=100, *, low_end=0.0, weights=(1.0,)):
    """Return the check of a model of the mean, plus `low_end` where it is low."""
    draw = np.random.default_rng(seed)
    mean = draw.normal(size=n)
    y = mean + draw.normal(size=n)
    w = draw.choice(weights, size=n)
    predicted = mean + low_end * (mean < -0.5)
    (row,) = checked(mean_parts(y, predicted, w), positive_class="")
    return row


def share_failed(table, **options):
    rows = [table(seed, **options) for seed in range(TABLES)]
    return np.mean([row["chance"] <= 0.05 for row in rows])


@pytest.mark.slow
@pytest.mark.parametrize("table", [of_classes, of_numbers])
def test_predictions_that_are_right_fail_at_the_nominal_rate(table):
    error = np.sqrt(NOMINAL * (1 - NOMINAL) / TABLES)
    assert abs(share_failed(table) - NOMINAL) < 4 * error


def test_unequal_weights_do_not_make_right_predictions_fail():
    for table in (of_classes, of_numbers):
        rows = [table(seed, weights=(1.0, 5.0)) for seed in range(500)]
        assert np.mean([row["chance"] <= 0.05 for row in rows]) < 0.03


def test_a_halved_slope_fails_with_too_high_below_and_too_low_above():
    rows = [of_classes(seed, 1000, slope=0.5) for seed in range(50)]
    assert all(row["chance"] <= 0.05 for row in rows)
    for end, side in (("lowest", "too high"), ("highest", "too low")):
        assert np.mean([row[end] == side for row in rows]) > 0.9


def test_a_model_that_overpredicts_the_low_end_fails_there():
    rows = [of_numbers(seed, 1000, low_end=1.0) for seed in range(50)]
    assert all(row["chance"] <= 0.05 for row in rows)
    assert all(row["lowest"] == "too high" for row in rows)
    assert np.mean([row["highest"] == "within" for row in rows]) > 0.85


def test_the_means_are_those_of_all_weighted_rows():
    draw = np.random.default_rng(3)
    y, predicted = draw.normal(size=57), draw.normal(size=57)
    w = draw.integers(1, 4, size=57).astype(float)
    (row,) = checked(mean_parts(y, predicted, w), positive_class="")
    assert row["predicted"] == pytest.approx(np.average(predicted, weights=w))
    assert row["observed"] == pytest.approx(np.average(y, weights=w))


def test_the_scale_of_the_weights_does_not_matter():
    one, other = (of_numbers(5, weights=(w,)) for w in (1.0, 7.0))
    assert one == pytest.approx(other)


def test_tied_predictions_leave_fewer_deciles_of_which_chance_explains_fewer():
    y, predicted = np.arange(60) % 2, np.repeat([0.1, 0.9], 30)
    (row,) = checked(calibration_parts(y == 1, predicted, np.ones(60)))
    assert (row["deciles"], row["too_low"], row["too_high"]) == (2, 1, 1)
    assert row["chance"] == pytest.approx(0.05**2)


def test_chance_is_binomial():
    for n in (1, 3, 10):
        for k in range(n + 1):
            assert chance(k, n) == pytest.approx(binom.sf(k - 1, n, 0.05))


def test_exact_predictions_are_not_biased_by_rounding():
    y = np.random.default_rng(1).normal(size=100) * 1e6
    (row,) = checked(mean_parts(y, y * (1 + 1e-15), np.ones(100)), positive_class="")
    assert row["too_low"] + row["too_high"] == 0


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_rounding_about_an_observed_zero_is_no_bias(scale):
    y = np.repeat([0, 0, 0, 0, 1, 2, 3, 4, 5, 6], 20) * scale
    beside = np.random.default_rng(1).uniform(size=200) * scale
    for sign in (1, -1):
        parts = mean_parts(y, y + sign * 4e-15 * beside, np.ones(200))
        (row,) = checked(parts, positive_class="")
        assert row["too_low"] + row["too_high"] == 0
        parts = mean_parts(y, y + sign * 4e-6 * beside, np.ones(200))
        (row,) = checked(parts, positive_class="")
        assert row["too_high" if sign > 0 else "too_low"] == row["deciles"]


def test_of_several_classes_each_is_checked_and_not_the_predicted_one():
    model = level_model(0.8)
    result = audited(model, level_data())
    frame = result.calibration_checks
    assert frame["positive_class"].tolist() == list(model.classes)
    found = [f for f in result.findings if f.check == "calibration"]
    assert [f.subject for f in found] == ["levels, a", "levels, b", "levels, c"]
    assert found[0].message == (
        "The predicted probabilities of class 'a' are too low in the highest group of "
        "predictions and too high in the lowest group of predictions: 0.333 on "
        "average, where 0.333 was observed."
    )


def test_a_class_never_predicted_is_off_where_it_occurs():
    y = np.arange(100) < 20
    (row,) = checked(calibration_parts(y, np.zeros(100), np.ones(100)))
    assert (row["deciles"], row["too_low"]) == (1, 1)
    assert checked([]) == []
    (never,) = checked(calibration_parts(y & ~y, np.zeros(100), np.ones(100)))
    assert (never["too_low"], never["too_high"], never["chance"]) == (0, 0, 1.0)


def test_a_biased_model_has_a_note_with_direction_and_means():
    result = audited(linear_model(1, 0), normal_data(2, 0, noise=0.1))
    finding = finding_of(result, "bias")
    assert (finding.severity, finding.subject) == ("info", "linear")
    low, high = (int(finding.evidence[name]) for name in ("too_low", "too_high"))
    assert finding.message.startswith(
        f"The predictions are too low in {low} of 10 deciles (the highest among them) "
        f"and too high in {high} of 10 deciles (the lowest among them): "
    )
    assert low + high >= 8
    row = result.checks.set_index("check").loc["bias"]
    assert (row["observed"], row["threshold"]) == (low + high, 2)
    assert row["verdict"] == "note"


def test_the_limit_of_the_configuration_decides_how_many_are_explained():
    row = of_numbers(1)
    for limit, most in ((0.05, 2), (0.1, 1), (0.001, 4), (1.0, 0)):
        limits = {"calibration": Limit(limit, "[checks] calibration")}
        ((shown, _),) = checks.run(
            "deciles", "m", limits, model=linear_model(2, 1), row=row
        )
        assert shown["threshold"] == most
