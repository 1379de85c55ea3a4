"""The plan of docs/scaling.md for rows on many workers, simulated."""

import numpy as np
import pytest
from tests.benchmarks.parts import Plan, by_parts, donors_of, drawn, linear
from tests.docs.pages import ROOT

from importance_audit.records.losses import evaluate

PLAN = Plan(n_rows=2_050, n_columns=3, n_workers=4, n_repeats=2, rows_of_part=100)


def whole(plan, X, y, predict, seed):
    """Return what `by_parts` returns, from the whole table at once."""
    ones = np.ones(len(y))
    permuted = np.empty((plan.n_columns, plan.n_repeats))
    for j in range(plan.n_columns):
        for repeat in range(plan.n_repeats):
            rows = X.copy()
            rows[:, j] = X[donors_of(plan, seed, repeat), j]
            permuted[j, repeat] = evaluate(("mse",), y, predict(rows), ones)[0]
    return evaluate(("mse",), y, predict(X), ones)[0], permuted


def test_parts_give_the_losses_of_the_whole_table_for_the_same_donors():
    X, y = drawn(PLAN)
    baseline, permuted, _ = by_parts(PLAN, X, y, linear, seed=3)
    of_whole = whole(PLAN, X, y, linear, 3)
    assert baseline == of_whole[0]
    assert permuted.tolist() == of_whole[1].tolist()
    assert permuted[2].min() > baseline


@pytest.mark.parametrize("rows_of_part", [1, 99, 2_050])
def test_the_size_of_the_parts_changes_no_loss(rows_of_part):
    X, y = drawn(PLAN)
    expected = by_parts(PLAN, X, y, linear)
    answer = by_parts(PLAN._replace(rows_of_part=rows_of_part), X, y, linear)
    assert answer[0] == expected[0]
    assert answer[1].tolist() == expected[1].tolist()


def test_the_bytes_moved_are_those_of_the_formula():
    X, y = drawn(PLAN)
    *_, moved = by_parts(PLAN, X, y, linear)
    owner = np.arange(PLAN.n_rows) // PLAN.rows_of_part % PLAN.n_workers
    n_away = sum(
        int((owner[donors_of(PLAN, 1, repeat)] != owner).sum())
        for repeat in range(PLAN.n_repeats)
    )
    assert moved["donors"] == 8 * PLAN.n_columns * n_away
    formula = PLAN.bytes_moved(model_bytes=moved["model"] / PLAN.n_workers)
    assert moved["donors"] == pytest.approx(formula["donors"], rel=0.05)
    assert moved["sums"] == formula["sums"]
    assert moved["model"] == formula["model"]


def test_one_worker_moves_no_donors():
    X, y = drawn(PLAN)
    plan = PLAN._replace(n_workers=1)
    assert by_parts(plan, X, y, linear)[2]["donors"] == 0
    assert plan.bytes_moved()["donors"] == 0


def test_the_page_has_the_numbers_of_the_formula():
    page = (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8")
    plan = Plan(10**9, 100, 100, 10, 10**6)
    moved = plan.bytes_moved()
    assert f"{moved['donors'] / 1e12:.2f} TB" in page
    assert f"{moved['donors'] / 10 / 1e9:.0f} GB" in page
    assert f"{moved['donors'] / 10 / 100 / 1e9:.2f} GB" in page
    assert f"{moved['sums'] / 1e6:.0f} MB" in page
