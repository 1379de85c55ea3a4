"""Claims about influence values: derivatives of a loss by the weight of a row."""

import numpy as np
import pytest

from importance_audit.records.influence import INFLUENCE
from importance_audit.records.losses import LOSSES, SUMS

N, STEP = 40, 1e-6


def rows_of(task, seed=3):
    """Return a target, predictions with ties, and weights, some of them zero."""
    draws = np.random.default_rng(seed)
    weights = draws.exponential(size=N)
    weights[:3] = 0
    if task == "regression":
        return draws.gamma(2, size=N), draws.gamma(2, size=N).round(1) + 0.1, weights
    if task == "binary":
        p = draws.uniform(0.05, 0.95, size=N).round(1)
        return (draws.random(N) < p).astype(np.int64), p, weights
    p = draws.dirichlet(np.ones(3), size=N)
    return draws.integers(3, size=N), p, weights


CASES = [(name, task) for name in INFLUENCE for task in LOSSES[name].tasks]


@pytest.mark.parametrize(("name", "task"), CASES)
def test_influence_is_the_derivative_by_how_often_a_row_is_there(name, task):
    y, prediction, weights = rows_of(task)
    loss = LOSSES[name].function
    slopes = np.empty(N)
    for row in range(N):
        counts = np.ones(N)
        ends = []
        for step in (STEP, -STEP):
            counts[row] = 1 + step
            ends.append(loss(y, prediction, weights * counts))
        slopes[row] = N * (ends[0] - ends[1]) / (2 * STEP)
    slopes -= slopes.mean() if name in SUMS else 0.0  # as many rows as before
    values = INFLUENCE[name](y, prediction, weights)
    assert values == pytest.approx(slopes, rel=1e-4, abs=1e-5)
    assert values.mean() == pytest.approx(0, abs=1e-9)


def test_every_loss_but_areas_under_precision_over_recall_has_influence_values():
    assert set(LOSSES) - set(INFLUENCE) == {
        *("one_minus_pr_auc", "one_minus_average_precision")
    }


@pytest.mark.parametrize("name", list(INFLUENCE))
def test_a_row_that_weighs_nothing_moves_nothing(name):
    y, prediction, weights = rows_of(LOSSES[name].tasks[0])
    values = INFLUENCE[name](y, prediction, weights)
    if name in SUMS:  # but that it takes the place of another
        assert np.ptp(values[:3]) == 0
    else:
        assert (values[:3] == 0).all()
