"""What the choice of the loss does to a ranking."""

import numpy as np
import pandas as pd
import pytest
from tests.assess.measured import audited
from tests.report.made_records import made_importance

from importance_audit.assess.loss_sensitivity import compare_losses
from importance_audit.data.datasets import dataset
from importance_audit.models.fit import wrap

NAMES = ("a", "b", "c", "d")


def ranking(loss, *means, sd=0.1, **fields):
    return made_importance("m", NAMES[: len(means)], means, sd=sd, loss=loss, **fields)


def compared(*records, top_k=2):
    return compare_losses(records, top_k=top_k)


def test_two_losses_of_one_ranking_are_one_row_and_three_losses_three():
    losses = [ranking(name, 3, 2, 1) for name in ("rmse", "mae", "mse")]
    rows, _ = compared(*losses)
    pairs = [(row["loss_a"], row["loss_b"]) for row in rows]
    assert pairs == [("rmse", "mae"), ("rmse", "mse"), ("mae", "mse")]


def test_kendall_is_the_pairs_in_order_less_those_reversed_by_all_pairs():
    ((row,), _) = compared(ranking("rmse", 4, 3, 2, 1), ranking("mae", 4, 2, 3, 1))
    assert row["kendall"] == pytest.approx((5 - 1) / 6)
    assert row["top_k_overlap"] == 0.5
    assert (row["record_a"], row["record_b"]) == (0, 1)


def test_what_one_loss_did_not_measure_is_compared_by_neither():
    sides = ranking("rmse", 9, np.nan, 2, 1), ranking("mae", 3, 7, 2, 1)
    ((row,), _) = compared(*sides)
    assert (row["n_features"], row["kendall"], row["top_k_overlap"]) == (3, 1.0, 1.0)
    (row,), _ = compared(*sides, top_k=5)
    assert (row["top_k"], row["top_k_overlap"]) == (3, 1.0)


@pytest.mark.parametrize(
    ("sd", "severity", "end"),
    [
        (
            *(0.1, "warning"),
            "The choice of loss changes the leading feature: by permutation of "
            "features, 'a' leads under RMSE and 'b' leads under MAE.",
        ),
        (9.0, "info", "The intervals over the repeats do not settle it."),
    ],
)
def test_a_leader_that_the_loss_decides_is_told_as_gravely_as_it_is_settled(
    sd, severity, end
):
    _, (finding,) = compared(ranking("rmse", 3, 2, sd=sd), ranking("mae", 2, 3, sd=sd))
    assert (finding.check, finding.severity) == ("loss_decides", severity)
    assert finding.message.endswith(end)
    assert finding.evidence["kendall"] == -1.0


@pytest.mark.parametrize("noisy", [(9.0, 0.1), (0.1, 9.0)])
def test_a_leader_that_one_of_the_losses_leaves_open_is_not_settled(noisy):
    records = ranking("rmse", 3, 2, sd=noisy[0]), ranking("mae", 2, 3, sd=noisy[1])
    assert compared(*records)[1][0].severity == "info"


def test_leaders_that_tie_under_one_loss_and_lead_under_the_other_are_no_finding():
    assert compared(ranking("rmse", 3, 3, 1, sd=0), ranking("mae", 2, 3, 1))[1] == []


@pytest.mark.parametrize(
    "other",
    [
        {"options": {"n_repeats": 10, "n_rows": 50}},
        {"method": "drop_column"},
        {"split": "train"},
        {"engine": "DALEX"},
    ],
)
def test_other_measures_are_not_the_same_ranking_under_another_loss(other):
    assert compared(ranking("rmse", 3, 2), ranking("mae", 2, 3, **other)) == ([], [])


def test_the_form_and_the_number_of_repeats_do_not_part_a_ranking():
    options = {"n_repeats": 5, "n_rows": None}
    other = ranking("mae", 2, 3, baseline=5.0, form="ratio", options=options, repeats=5)
    assert len(compared(ranking("rmse", 3, 2), other)[0]) == 1


@pytest.mark.parametrize("form", ["difference", "ratio"])
def test_a_loss_asked_twice_is_not_compared_with_itself(form):
    twice = [ranking("rmse", 3, 2), ranking("rmse", 2, 3, form=form)]
    assert compared(*twice) == ([], [])
    others = [ranking("mae", 3, 2), ranking("mae", 2, 3, form=form)]
    rows, findings = compared(*twice, *others)
    assert [(row["record_a"], row["record_b"]) for row in rows] == [(0, 2)]
    assert not findings


def steps(X: pd.DataFrame) -> np.ndarray:
    """Return 8 in the few rows with a > 1.8, and 1.2 up or down by the sign of b."""
    return np.asarray(8.0 * (X["a"] > 1.8) + 1.2 * np.sign(X["b"]))


def test_rare_large_errors_lead_under_squares_and_frequent_small_ones_otherwise():
    X = pd.DataFrame(np.random.default_rng(3).normal(size=(400, 2)), columns=["a", "b"])
    model = wrap(steps, name="m", task="regression", features=("a", "b"))
    entry = {"method": "permutation", "losses": ["mse", "mae"]}
    test = dataset(X, steps(X), name="test rows", task="regression")
    row = audited(model, test, entry).losses.iloc[0]
    p = (X["a"] > 1.8).mean()
    assert 2 * p * (1 - p) * 64 > 0.5 * 2.4**2  # squares: a; else 8 p < 1.2: b
    assert (row["leader_a"], row["leader_b"]) == ("'a'", "'b'")
