"""Filters: closed forms, and what has no answer; R's are in test_filters_reference."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.methods.importance.toys import numbers, refused, rows_of

from importance_audit.methods.importance.filters import anova, auc, lowess_r2
from importance_audit.methods.importance.lowess import lowess
from importance_audit.methods.importance.rank_correlation import spearman
from importance_audit.methods.known_answers import binary_data, normal_data

NUMBERS = normal_data(2, -1, n_samples=120)
CLASSES = binary_data(n_samples=120)


def column(values, y=None, classes=()):
    """Return rows of one feature x and a target."""
    y = np.arange(len(values), dtype=float) if y is None else np.array(y)
    return rows_of(pd.DataFrame({"x": values}), y, classes=classes)


def measured(method, data, **options):
    return numbers(method, None, data, **options)


# --- closed forms ---------------------------------------------------------------------


def test_lowess_explains_the_same_share_wherever_the_target_lies():
    x, noise = np.random.default_rng(1).normal(size=(2, 60))
    near, far = (measured(lowess_r2, column(x, x + noise + a)) for a in (0, 1e4))
    assert 0.1 < near[0] < 0.9
    assert far == pytest.approx(near, rel=1e-9)


def test_lowess_follows_a_valley_that_a_rank_correlation_misses():
    x = np.arange(-50.0, 51)
    valley = column(x, x**2)
    assert measured(lowess_r2, valley, fraction=0.2)[0] > 0.99
    assert measured(spearman, valley) == pytest.approx([0], abs=1e-12)


def test_where_all_neighbours_are_outliers_the_first_row_stands_for_them():
    x = np.append(np.arange(20.0), [100] * 4)
    y = np.append(np.sin(np.arange(20.0)), [1e3, -1e3, 1e3, -1e3])
    smooth = lowess(x, y, fraction=4 / 24, n_robust=1, step=0.0)
    assert smooth[20:].tolist() == [1e3] * 4


def test_a_weight_scales_nothing_and_zero_removes_the_row():
    X = pd.DataFrame({"x": pd.Categorical(list("abababb"))})
    data = replace(column([0.0] * 7, [1.0, 5, 2, 8, 4, 3, 99]), X=X)
    weighted = replace(data, weights=np.array([3.0] * 6 + [0.0]))
    fewer = replace(data, X=X[:6], y=data.y[:6], weights=np.ones(6))
    assert measured(anova, weighted) == pytest.approx(measured(anova, fewer), rel=1e-12)


def test_groups_that_do_not_vary_in_themselves_differ_without_limit():
    data = column(pd.Categorical(list("aabb")), [0.0, 0, 1, 1])
    assert measured(anova, data).tolist() == [np.inf]


def test_a_falling_feature_sorts_as_well_as_a_rising_one():
    falling = replace(CLASSES, X=-CLASSES.X)
    assert measured(auc, falling).tolist() == measured(auc, CLASSES).tolist()
    rising = measured(auc, falling, direction="rising")
    assert rising == pytest.approx(1 - measured(auc, CLASSES, direction="rising"))


def test_a_class_in_the_middle_is_seen_by_pairs_only():
    data = column([0.0, 4, 1, 2, 3, 5], [0, 0, 1, 1, 2, 2], classes="abc")
    alone = measured(auc, data, of_class="a", direction="rising")
    pairs = measured(auc, data, contrast="one_vs_one", direction="rising")
    assert alone.tolist() == [3 / 8]
    assert pairs == pytest.approx([(2 / 4 + 3 / 4 + 4 / 4) / 3], rel=1e-12)


# --- what has no answer ---------------------------------------------------------------


def test_numbers_against_a_number_are_no_question_of_groups():
    assert np.isnan(measured(anova, NUMBERS)).all()


@pytest.mark.parametrize("options", [{}, {"test": "welch"}])
def test_a_group_of_one_row_in_each_level_has_no_spread_to_compare_with(options):
    data = column(pd.Categorical(list("abc")), [1.0, 2, 4])
    assert np.isnan(measured(anova, data, **options)).all()


def test_three_groups_have_no_t():
    data = column(pd.Categorical(list("aabbcc")), [1.0, 2, 4, 3, 5, 9])
    assert np.isnan(measured(anova, data, statistic="t")).all()


def test_a_number_has_no_area():
    assert refused(auc, None, NUMBERS) == (
        "Target 'y' must have classes for method 'auc'; it is a number. Use spearman "
        "or lowess_r2."
    )
