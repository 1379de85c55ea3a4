"""Where rows lie: what is counted, of which features, and what nobody can read off."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.known_answers import level_data

from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.data.distributions import BINS, bins_of, distributions_frame
from importance_audit.methods.known_answers import linear_model, normal_data

CURVES = {"method": "partial_dependence", "n_grid": 3}


def audited(data, *entries):
    config = parse_config({"importance": list(entries)})
    return audit(None, data, config, models=(linear_model(2, 0),))


def with_rows(data, **changes):
    return type(data)(**{**vars(data), **changes})


@pytest.mark.parametrize("n", [2, 10, 20, 40, 400])
def test_whole_numbers_that_are_evenly_spread_fill_every_bin_alike(n):
    numbers = np.arange(1920.0, 1920.0 + n)
    counts, _ = np.histogram(numbers, bins_of(numbers))
    assert counts.tolist() == [n // min(n, BINS)] * min(n, BINS)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_every_number_lies_in_one_of_at_most_twenty_bins(numbers):
    edges = bins_of(np.array(numbers))
    assert 2 <= len(edges) <= BINS + 1
    assert np.histogram(numbers, edges)[0].sum() == len(numbers)


def test_rows_and_their_weights_are_counted_where_they_lie():
    data = normal_data(2, 0, n_samples=60)
    X, weights = data.X.assign(x1=np.arange(60) % 3), np.arange(60) + 1.0
    distributions = audited(with_rows(data, X=X, weights=weights), CURVES).distributions
    own = distributions[distributions["feature"] == "x1"]
    assert own["rows"].tolist() == [20, 20, 20]
    assert own["weight"].tolist() == [590.0, 610.0, 630.0]
    assert own["low"].tolist() == [-0.5, 0.5, 1.5]


def test_levels_without_a_row_count_nothing_and_missing_values_lie_nowhere():
    data = level_data(n_samples=9)
    cells = ["a", "a", None, "b", "a", None, "b", "a", "a"]
    kinds = pd.Categorical(cells, categories=["c", "a", "b", "d"])
    rows = with_rows(data, X=data.X.assign(kind=kinds))
    curve = type("Curve", (), {"split": data.split, "feature": "kind"})
    frame = distributions_frame((None, rows), [curve])
    assert frame["level"].tolist() == ["c", "a", "b", "d"]
    assert frame["rows"].tolist() == [0, 5, 2, 0]
    assert frame["low"].isna().all()


def test_only_features_with_a_curve_are_counted_on_the_rows_of_their_curve():
    data = normal_data(2, 0, n_samples=60)
    assert audited(data, {"method": "permutation"}).distributions.empty
    still = with_rows(data, X=data.X.assign(x2=1.0))
    entry = {"method": "curve_impact", "curve": "ale"}
    assert set(audited(still, entry).distributions["feature"]) == {"x1"}
