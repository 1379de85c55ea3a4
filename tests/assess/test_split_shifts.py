"""Claims about the columns of evaluation rows against those of training rows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.assess.measured import audited, finding_of

from importance_audit.assess import checks
from importance_audit.assess.split_shifts import split_shift_rows
from importance_audit.data.datasets import dataset
from importance_audit.data.quantiles import exact_sketches, quantiles_frame, sketches
from importance_audit.methods.known_answers import linear_model, normal_data


def rows_of(split, **columns):
    """Return rows of these columns, with a target that is the same everywhere."""
    X = pd.DataFrame(columns)
    y = np.arange(len(X), dtype=float) % 7
    return dataset(X, y, name=split, task="regression", split=split)


def shift_of(train, test, *, limit=0.25):
    """Return the row of one column, given as its cells on both sides."""
    rows = split_shift_rows(
        rows_of("train", x=train), rows_of("test", x=test), limit=limit
    )
    (row,) = (row for row in rows if row["column"] == "x")
    return row


def raw_psi(train, test):
    """Return the index from the cells themselves, by deciles of the first."""
    edges = np.sort(train)[np.ceil(len(train) * np.arange(1, 10) / 10).astype(int) - 1]
    cells = [
        np.bincount(np.searchsorted(edges, x), minlength=10) for x in (train, test)
    ]
    p, q = ((n + 0.5) / (n.sum() + 5) for n in cells)
    return ((q - p) * np.log(q / p)).sum()


def test_the_index_of_a_small_table_is_that_by_hand():
    """Shares 10/40 and 30/40 against 30/40 and 10/40 after half a row to each cell."""
    train = pd.Categorical(["a"] * 9 + ["b"] * 29)
    row = shift_of(train, pd.Categorical(["a"] * 29 + ["b"] * 9))
    assert row["psi"] == pytest.approx((29.5 - 9.5) / 39 * 2 * np.log(29.5 / 9.5))
    assert (row["verdict"], row["missing_psi"]) == ("moved", 0.0)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**31), n=st.integers(60, 900), move=st.floats(0, 2))
def test_the_index_of_numbers_is_that_of_the_raw_rows(seed, n, move):
    draw = np.random.default_rng(seed)
    train, test = draw.normal(size=n), draw.normal(move, 1 + move, size=n // 2)
    row = shift_of(train, test)
    assert row["psi"] == pytest.approx(raw_psi(train, test), rel=1e-9)


def test_where_every_value_is_kept_stored_sketches_are_exact():
    draw = np.random.default_rng(1)
    kind = pd.Categorical(draw.choice(["u", "v"], 400), ["u", "v", "w"])
    gaps = np.where(draw.uniform(size=400) < 0.2, np.nan, draw.integers(0, 9, 400))
    data = rows_of("test", kind=kind, few=gaps, empty=np.full(400, np.nan))
    stored, exact = sketches(quantiles_frame([data])), exact_sketches(data)
    for (role, column), sketch in exact.items():
        for one, other in zip(stored["test", role, column], sketch, strict=True):
            np.testing.assert_equal(one, other)


def test_the_same_rows_have_no_shift():
    x = np.random.default_rng(2).normal(size=300)
    row = shift_of(x, x[::-1])
    assert (row["psi"], row["verdict"]) == (0.0, "within chance")


def test_a_column_that_is_empty_in_the_evaluation_rows_has_lost_its_cells():
    x = np.random.default_rng(3).normal(size=200)
    row = shift_of(x, np.full(100, np.nan))
    assert np.isnan(row["psi"])
    assert (row["verdict"], row["missing_verdict"]) == ("not comparable", "moved")
    assert (row["missing_train"], row["missing_test"]) == (0.0, 1.0)


def test_levels_that_only_the_evaluation_rows_have_count():
    train = pd.Categorical(["a"] * 50 + ["b"] * 50)
    row = shift_of(train, pd.Categorical(["a"] * 50 + ["c"] * 50))
    p = np.array([50.5, 50.5, 0.5]) / 101.5
    q = np.array([50.5, 0.5, 50.5]) / 101.5
    assert row["psi"] == pytest.approx(((q - p) * np.log(q / p)).sum())
    assert row["verdict"] == "moved"


def test_few_rows_of_one_population_are_not_reported():
    """Of 50 and 25 rows an index of 0.5 is chance."""
    moved = 0
    for seed in range(300):
        draw = np.random.default_rng(seed)
        row = shift_of(draw.normal(size=50), draw.normal(size=25))
        moved += row["verdict"] == "moved"
    assert moved <= 3


def test_an_audit_names_the_columns_that_moved_and_the_largest_index_first():
    data, model = normal_data(2, 1), linear_model(2, 1)
    train = replace(
        data, split="train", name="train", X=data.X.assign(x2=data.X["x2"] + 1.0)
    )
    result = audited(model, data, train=train)
    assert result.split_shifts["column"].tolist()[0] == "x2"
    assert result.split_shifts["psi"].is_monotonic_decreasing
    finding = finding_of(result, "split_shift")
    psi = result.split_shifts["psi"].iloc[0]
    assert finding.severity == "info"
    assert finding.message == (
        "These columns are distributed differently in the evaluation rows than in the "
        "training rows, with a population stability index (PSI) above 0.25 that chance "
        f"does not explain: 'x2' ({psi:.2f})."
    )
    alone = audited(model, data)
    assert alone.split_shifts.empty
    assert "split_shift" not in set(alone.checks["check"])


def test_the_limit_of_the_configuration_decides():
    rows = split_shift_rows(
        rows_of("train", x=np.arange(300.0)),
        rows_of("test", x=np.arange(300.0) + 60),
        limit=9.0,
    )
    assert rows[0]["verdict"] == "below the limit"
    ((row, finding),) = checks.run("shifts", "m", rows=rows)
    assert (row["verdict"], finding) == ("pass", None)
