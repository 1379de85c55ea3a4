"""Claims about columns that hold the target, and about honest ones that do not."""

import numpy as np
import pandas as pd
import pytest

from importance_audit.data.target_copies import holds_target

RNG = np.random.default_rng(6)
NORMAL = RNG.normal(size=500)
COUNTS = RNG.poisson(0.5, 500)
CLASSES = RNG.integers(0, 3, 500)
RARE = (RNG.random(500) < 0.1).astype(int)
NAMES = np.array(["theft", "fire", "water"])


def nearly(values, n_off, other):
    """Return values of which the last few are others."""
    return np.concatenate([values[: len(values) - n_off], np.full(n_off, other)])


@pytest.mark.parametrize(
    ("column", "y"),
    [
        (NORMAL, NORMAL),
        (1000 * NORMAL - 3, NORMAL),
        (nearly(NORMAL, 4, 7.0), NORMAL),
        (np.where(NORMAL > 1, np.nan, NORMAL), NORMAL),
        (COUNTS, COUNTS),
        (np.where(COUNTS, COUNTS.astype(float), np.nan), COUNTS),
        (NAMES[CLASSES], CLASSES),
        (np.array(["yes", "no"])[RARE], RARE),
        (RARE == 0, RARE),
        (np.where(RARE, NORMAL, 0.0), np.where(RARE, 2 * NORMAL, 0.0)),
    ],
)
def test_a_column_that_equals_the_target_or_is_one_to_one_with_it_is_told(column, y):
    column = pd.Series(column)
    assert holds_target(column, y)
    if column.dtype == object:
        assert holds_target(column.astype("category"), y)


@pytest.mark.parametrize(
    ("column", "y"),
    [
        (NORMAL + 1e-3 * np.cos(np.arange(500)), NORMAL),
        (np.arange(500), NORMAL),  # a number of the row goes with every target
        (np.arange(500).astype(str), NORMAL),
        (np.arange(500), np.exp(np.arange(500) / 100)),  # both rise with time
        (np.zeros(500), RARE),
        (nearly(np.zeros(500), 2, 1.0), nearly(np.zeros(500), 5, 1.0)),
        (RARE[:100], RARE[:100]),  # too few of the rare class
        (np.where(COUNTS > 2, 2, COUNTS), COUNTS),  # one way only
        # Both are zero in the same rows, as minutes and money of a visit.
        (np.where(RARE, NORMAL, 0.0), np.where(RARE, NORMAL**2 + COUNTS, 0.0)),
        (np.tile(NORMAL[:250], 2), np.tile(NORMAL[250:], 2)),  # each row twice
        (np.repeat(NORMAL[:50], 10), np.repeat(NORMAL[50:100], 10)),  # of 50 persons
        (np.full(500, np.nan), NORMAL),
        (np.array([]), np.array([])),
    ],
)
def test_a_column_that_does_not_is_not_told(column, y):
    assert not holds_target(pd.Series(column), y)


@pytest.mark.parametrize("task", ["binary", "multiclass", "few", "many"])
def test_honest_columns_are_never_told(task):
    """Of 300 tables, whose columns predict the target with little noise, none."""
    rng = np.random.default_rng(["binary", "multiclass", "few", "many"].index(task))
    for n_rows in rng.integers(20, 2000, 300):
        x = rng.normal(size=n_rows)
        score = x + rng.uniform(0.1, 1) * rng.normal(size=n_rows)
        edges = {"binary": [rng.uniform(-2, 2)], "multiclass": [-1, 1]}
        edges["few"] = [-1, 0, 1, 2]
        y = score if task == "many" else np.digitize(score, edges[task])
        rounded = np.digitize(x, edges.get(task, [0]))
        honest = [
            x,
            rounded,
            np.round(x),
            x > 0,
            np.arange(n_rows),
            rounded.astype(str),
        ]
        honest += [rng.permutation(y), np.round(score, 1), np.where(x > 0, x, np.nan)]
        told = [k for k, one in enumerate(honest) if holds_target(pd.Series(one), y)]
        assert told == []
