"""Losses: closed forms, weights, and DALEX's numbers."""

import json
from math import inf, log, nan, sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import rankdata

from importance_audit.records.losses import LOSSES, default_losses, evaluate

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "reference" / "dalex_parts.json").read_text("utf8")
)
VALUES = {
    "regression": ([1.0, 2.0, 4.0], [1.0, 4.0, 3.0]),
    "binary": ([0, 1, 1], [0.2, 0.8, 0.4]),
    "multiclass": ([0, 2, 1], [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.6, 0.4, 0.0]]),
}
BY_HAND = [
    ("regression", "sum_of_squares", 5),
    ("regression", "mse", 5 / 3),
    ("regression", "rmse", sqrt(5 / 3)),
    ("regression", "mae", 1),
    ("regression", "poisson_deviance", (2 + 8 * log(4 / 3) - 4 * log(2)) / 3),
    ("regression", "gamma_deviance", (2 * log(2) - 1 / 3 - 2 * log(4 / 3)) / 3),
    ("regression", "mape", 100 * (0 + 1 + 1 / 4) / 3),
    ("regression", "mean_relative_error", (0 + 1 + 1 / 4) / 3),
    ("regression", "one_minus_r2", 5 / (14 / 3)),
    ("regression", "one_minus_squared_correlation", 3 / 4),
    ("multiclass", "one_minus_auc_ovo", (0 + 0 + 1) / 6),
    ("multiclass", "one_minus_auc_ovr", (1 / 2 + 0 + 0) / 3),
    ("multiclass", "one_minus_pr_auc", (3 / 4 + 0 + 0) / 3),
    ("binary", "one_minus_youden", 1 / 2 + 0),
    ("multiclass", "one_minus_youden", (1 / 2 + 1 + 0) / 3),
    ("binary", "one_minus_auc", 0),
    ("binary", "one_minus_pr_auc", 0),
    ("binary", "one_minus_average_precision", 0),
    ("multiclass", "one_minus_average_precision", (1 / 2 + 0 + 0) / 3),
    ("binary", "one_minus_mean_recall", (0 + 1 / 2) / 2),
    ("multiclass", "one_minus_mean_recall", (0 + 1 + 0) / 3),
    ("binary", "one_minus_balanced_accuracy", 1 - (1 + 1 / 2) / 2),
    ("binary", "log_loss", -log(0.8 * 0.8 * 0.4) / 3),
    ("binary", "negative_log_likelihood", -log(0.8 * 0.8 * 0.4)),
    ("binary", "log_loss_clipped", -log(0.8 * 0.8 * 0.4) / 3),
    ("multiclass", "log_loss_clipped", -log(0.5 * 0.7 * 0.4) / 3),
    ("binary", "brier", (0.04 + 0.04 + 0.36) / 3),
    ("binary", "one_minus_accuracy", 1 / 3),
    ("multiclass", "log_loss", -log(0.5 * 0.7 * 0.4) / 3),
    ("multiclass", "negative_log_likelihood", -log(0.5 * 0.7 * 0.4)),
    ("multiclass", "dalex_cross_entropy", -log(0.5 * 0.7 * 0.4)),
    ("multiclass", "brier", (0.38 + 0.14 + 0.72) / 2 / 3),
    ("multiclass", "one_minus_accuracy", 1 / 3),
    ("multiclass", "one_minus_balanced_accuracy", 1 - (3 / 4 + 1 / 2 + 1) / 3),
]


UNMOVED = {
    *("one_minus_auc", "one_minus_auc_ovo", "one_minus_pr_auc"),
    *("one_minus_average_precision", "one_minus_mean_recall"),
}


def loss(name, y, prediction, weights=None):
    """Return one loss of lists, unweighted by default."""
    y, prediction = np.array(y), np.array(prediction)
    weights = np.ones(len(y)) if weights is None else np.array(weights, dtype=float)
    return LOSSES[name].function(y, prediction, weights)


@pytest.mark.parametrize(("task", "name", "value"), BY_HAND)
def test_loss_equals_its_formula_by_hand(task, name, value):
    assert loss(name, *VALUES[task]) == pytest.approx(value, rel=1e-14)


def test_every_loss_is_worked_out_by_hand_for_each_of_its_tasks():
    pairs = {(task, name) for name, entry in LOSSES.items() for task in entry.tasks}
    assert pairs == {(task, name) for task, name, _ in BY_HAND}


@pytest.mark.parametrize(("task", "name", "value"), BY_HAND)
def test_a_weight_of_two_counts_like_a_row_given_twice(task, name, value):
    y, prediction = VALUES[task]
    weighted = loss(name, y, prediction, [1, 2, 1])
    assert weighted == pytest.approx(
        loss(name, [*y, y[1]], [*prediction, prediction[1]])
    )
    # Perfect rankings, pairs or classes of one row, and a last row behind full recall.
    is_unmoved = name in UNMOVED and (task, name) != ("binary", "one_minus_mean_recall")
    assert (weighted == pytest.approx(value)) == is_unmoved


@pytest.mark.parametrize(("task", "name", "value"), BY_HAND)
def test_a_row_of_weight_zero_counts_like_no_row(task, name, value):
    y, prediction = VALUES[task]
    impossible = prediction[1][::-1] if task == "multiclass" else 1.0 - y[0]
    padded = loss(name, [*y, y[0]], [*prediction, impossible], [1, 1, 1, 0])
    assert padded == pytest.approx(value)


THREE = [[0.5, 0.3, 0.2], [0.1, 0.6, 0.3]]
UNDEFINED = [
    ("poisson_deviance", [1.0, -1.0], [1.0, 1.0]),
    ("gamma_deviance", [1.0, 0.0], [1.0, 1.0]),
    ("one_minus_auc", [0, 0], [0.1, 0.2]),
    ("one_minus_auc", [1, 1], [0.1, 0.2]),
    # of the third class, or of two, no row was observed
    *(
        (f"one_minus_{area}", y, THREE)
        for area in ("auc_ovo", "auc_ovr", "pr_auc")
        for y in ([0, 1], [0, 0])
    ),
    ("one_minus_squared_correlation", [1.0, 2.0, 4.0], [0.1, 0.1, 0.1]),
    ("one_minus_squared_correlation", [0.1, 0.1, 0.1], [1.0, 2.0, 4.0]),
]
IMPOSSIBLE = [
    ("poisson_deviance", [1.0, 2.0], [1.0, 0.0]),
    ("poisson_deviance", [1.0, 2.0], [1.0, -1.0]),
    ("gamma_deviance", [1.0, 2.0], [1.0, 0.0]),
    ("gamma_deviance", [1.0, 2.0], [1.0, -1.0]),
    *((name, [1, 0], [0.0, 0.5]) for name in ("log_loss", "negative_log_likelihood")),
    *((name, [2], [[0.5, 0.5, 0]]) for name in ("log_loss", "negative_log_likelihood")),
]


@pytest.mark.parametrize(
    ("cases", "value"),
    [(UNDEFINED, nan), (IMPOSSIBLE, inf)],
    ids=["undefined", "impossible"],
)
def test_what_is_not_defined_is_no_number_and_what_cannot_be_is_infinite(cases, value):
    measured = [(case, loss(*case)) for case in cases]
    assert repr(measured) == repr([(case, value) for case in cases])


def test_auc_counts_weighted_pairs_and_half_of_each_tie():
    y, score = [1, 0, 1, 0, 0], [0.9, 0.9, 0.3, 0.3, 0.6]
    weights = [2, 1, 5, 3, 4]
    pairs = [
        (weights[i] * weights[j], (score[i] < score[j]) + (score[i] == score[j]) / 2)
        for i in range(5)
        for j in range(5)
        if y[i] > y[j]
    ]
    wrong = sum(w * share for w, share in pairs) / sum(w for w, _ in pairs)
    assert loss("one_minus_auc", y, score, weights) == pytest.approx(wrong, rel=1e-15)


def test_among_pairs_of_classes_it_does_not_matter_how_common_each_is():
    draws = np.random.default_rng(5)
    y, p = draws.integers(0, 3, 60), draws.dirichlet(np.ones(3), 60)
    common = np.where(y == 1, 7.0, 1.0)
    pairs, rest = (
        (loss(name, y, p), loss(name, y, p, common))
        for name in ("one_minus_auc_ovo", "one_minus_auc_ovr")
    )
    assert pairs[0] == pytest.approx(pairs[1], rel=1e-14)
    assert rest[0] != pytest.approx(rest[1], rel=1e-3)


def test_a_squared_correlation_forgives_a_line_and_nothing_else():
    draws = np.random.default_rng(6)
    y, prediction = draws.normal(size=(2, 50))
    weights = draws.uniform(1, 2, 50)
    plain = loss("one_minus_squared_correlation", y, prediction, weights)
    turned = loss("one_minus_squared_correlation", y, 3 - 2 * prediction, weights)
    assert turned == pytest.approx(plain, rel=1e-12)
    covariance = np.cov(y, prediction, aweights=weights)
    r2 = covariance[0, 1] ** 2 / (covariance[0, 0] * covariance[1, 1])
    assert plain == pytest.approx(1 - r2, rel=1e-12)


def test_the_clipped_log_loss_is_finite_where_a_tree_is_sure():
    smallest = 2.220446049250313e-16
    assert loss("log_loss_clipped", [1, 0], [0.0, 0.5]) == pytest.approx(
        (-log(smallest) - log(0.5)) / 2, rel=1e-15
    )
    value = loss("log_loss_clipped", [2], [[0.5, 0.5, 0.0]])
    assert value == pytest.approx(-log(smallest), rel=1e-15)
    sure = loss("log_loss_clipped", [1], [1.0])
    assert sure == loss("log_loss", [1], [1.0]) == 0
    just_above = 3e-16
    assert loss("log_loss_clipped", [1], [just_above]) == -log(just_above)


def test_two_classes_measure_the_same_as_one_column_or_as_two():
    y, p = [0, 1, 1, 0], np.array([0.2, 0.7, 0.4, 0.9])
    for name in (
        "log_loss_clipped",
        "log_loss",
        "brier",
        "one_minus_accuracy",
        "one_minus_youden",
        "one_minus_mean_recall",
        "negative_log_likelihood",
    ):
        both = loss(name, y, np.column_stack([1 - p, p]))
        assert both == pytest.approx(loss(name, y, p)), name


@pytest.mark.parametrize(
    ("name", "y", "prediction", "value"),
    [
        ("poisson_deviance", [0.0, 0.0], [0.0, 3.0], 3.0),
        ("one_minus_auc", [0, 1, 1], [0.4, 0.4, 0.4], 0.5),
        ("one_minus_auc", [1, 0, 0], [inf, inf, 1.0], 0.25),
        ("one_minus_auc", [1, 0, 0], [-inf, 0.0, -inf], 0.75),
        ("one_minus_accuracy", [1], [0.5], 1),  # a half is of the first class
        ("one_minus_accuracy", [0], [0.5], 0),
        # DALEX counts no probability below one in ten thousand.
        ("dalex_cross_entropy", [2], [[0.5, 0.5, 0.0]], -log(1e-4)),
        ("dalex_cross_entropy", [2], [[0.9, 0.1, 1e-5]], -log(1e-4)),
    ],
)
def test_a_loss_has_its_value_at_the_edge(name, y, prediction, value):
    assert loss(name, y, prediction) == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize("task", VALUES)
def test_the_default_losses_are_defined_for_their_task(task):
    assert all(task in LOSSES[name].tasks for name in default_losses(task))
    assert default_losses(task)


def recorded(case):
    """Return loss, observations and predictions of a recorded call of DALEX."""
    name = case["call"].split("(")[0].removeprefix("DALEX::loss_")
    ours = {"root_mean_square": "rmse", "cross_entropy": "dalex_cross_entropy"}
    options = case["options"]
    if case["data"]:
        columns = REFERENCE["data"][case["data"]["see"]]["columns"]
        return ours.get(name, name), columns["observed"], columns["predicted"]
    observed, predicted = options["observed"], options["predicted"]
    if "yardstick" in case["call"]:
        return "rmse", observed, predicted
    if "cutoff = 0.3" in case["call"]:
        # Of ours it is 0.5, and still of the first class; DALEX's is of the second.
        above = [float(np.nextafter(p + 0.2, 1)) for p in predicted]
        return "one_minus_accuracy", observed, above
    if name != "cross_entropy":
        return name, observed, predicted
    # DALEX takes the column by the code of the factor, or by name for plain text.
    is_factor = "factor" in case["call"]
    columns = sorted(predicted["cols"]) if is_factor else predicted["cols"]
    codes = [columns.index(level) for level in observed]
    return ours[name], codes, predicted["values"]


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case["id"]) for case in REFERENCE["loss_cases"]]
)
def test_loss_equals_that_of_dalex(case):
    name, observed, predicted = recorded(case)
    if case["id"] == "loss-auc-ties":
        predicted = [float(f"{p:.15g}") for p in predicted]  # as DALEX reads them
    assert loss(name, observed, predicted) == pytest.approx(case["result"], rel=1e-13)


@pytest.mark.parametrize("name", ["rmse", "mse", "mae", "log_loss", "brier"])
def test_a_mean_over_rows_without_weight_is_not_a_number(name):
    y, prediction = np.array([0.0, 1.0]), np.array([0.2, 0.7])
    (value,) = evaluate((name,), y, prediction, np.zeros(2))
    assert np.isnan(value)


@pytest.mark.parametrize("size", [1e-290, 1.0, 1e300])
def test_last_bits_of_scores_decide_no_auc(size):
    """Another processor moves last bits; the order of a tie is not its to choose."""
    y = [1, 0, 1, 0, 0, 1]
    scores = size * np.array([0.1, 0.3, 0.3, 0.3, 0.6, 0.6])
    tied = loss("one_minus_auc", y, scores)
    for offsets in np.random.default_rng(1).integers(-40, 41, (50, 6)):
        assert loss("one_minus_auc", y, scores * (1 + offsets * 2.0**-52)) == tied
    assert loss("one_minus_auc", y, scores + size * 1e-11 * np.arange(6)) != tied


def test_how_large_the_largest_score_is_ties_no_others():
    """All pairs are in order, as scikit-learn, DALEX and the logit scale say too."""
    y, p = [0, 1, 0, 1], np.array([1e-14, 2e-13, 5e-14, 1.0])
    assert loss("one_minus_auc", y, p) == 0
    # The other class, by its own probability: its scores are 1e-14 and more below 1.
    assert loss("one_minus_auc", [1, 0, 1, 0], 1 - p) == 0
    assert loss("one_minus_pr_auc", y, p) == 0


@pytest.mark.parametrize("score", [1e-200, 0.3, 0.999999, 1 - 1e-9, 1.0, 7.5])
def test_scores_tie_by_the_larger_of_the_two_and_near_one_by_what_is_left(score):
    tied = loss("one_minus_auc", [1, 0, 1, 0], [score, score, 0.0, 0.0])
    last_bits = score * (1 - 2 * 2.0**-52)
    assert loss("one_minus_auc", [1, 0, 1, 0], [last_bits, score, 0.0, 0.0]) == tied
    for share in (1e-13, 1e-11):
        of_rest = 0.5 < score <= 1
        is_tied = share * score <= 1e-12 * (1 - score if of_rest else score)
        untied = loss(
            "one_minus_auc", [1, 0, 1, 0], [score * (1 - share), score, 0.0, 0.0]
        )
        assert (untied == tied) == is_tied


def test_in_a_chain_of_near_ties_neighbours_decide():
    steps = 0.3 * (1 + 0.9e-12 * np.arange(5))
    assert loss("one_minus_auc", [0, 0, 0, 1, 1], steps) == 0.5
    # Without the link between them the two parts stand apart.
    assert loss("one_minus_auc", [0, 0, 1, 1], np.delete(steps, 2)) == 0


def apart(scores):
    """Return whether neighbours differ by more than 1e-11 of the larger of the two."""
    ranked = np.sort(np.asarray(scores, dtype=float))
    larger = np.maximum(abs(ranked[1:]), abs(ranked[:-1]))
    return bool((np.diff(ranked) > 1e-11 * larger).all())


PROBABILITIES = st.one_of(
    st.floats(1e-300, 1 - 1e-9),
    st.floats(-300, 0).map(lambda exponent: 10.0**exponent),
    st.floats(-9, 0).map(lambda exponent: 1 - 10.0**exponent),
).filter(lambda p: 1e-300 <= p <= 1 - 1e-9)


@given(st.lists(st.tuples(st.booleans(), PROBABILITIES), min_size=2, max_size=30))
def test_no_rising_function_of_scores_that_are_apart_changes_an_auc(rows):
    y, p = np.array(rows).T
    of_rows = {
        "plain": p,
        "logit": np.log(p) - np.log1p(-p),
        "log": np.log(p),
        "rank": rankdata(p),
        "square root": np.sqrt(p),
    }
    # A logarithm brings scores near 0 together: what it ties is no claim of ours.
    areas = {
        name: loss("one_minus_auc", y, scores)
        for name, scores in of_rows.items()
        if apart(scores)
    }
    assume("plain" in areas)
    np.testing.assert_equal([*areas.values()], [areas["rank"]] * len(areas))


def test_minus_a_score_of_zero_is_a_loss_of_zero(monkeypatch):
    loss = LOSSES["mse"]._replace(function=lambda *_: -0.0)
    monkeypatch.setitem(LOSSES, "mse", loss)
    value = evaluate(("mse",), np.ones(2), np.ones(2), np.ones(2))
    assert f"{value[0]:g}" == "0"
