"""PCA and mRMR: closed forms, invariances, and what has no answer."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.known_answers import level_data
from tests.methods.importance.toys import numbers, refused, rows_of

from importance_audit.methods.importance.filters_joint import mrmr, mrmr_order, pca
from importance_audit.methods.importance.information import codes_of, matrix_of
from importance_audit.methods.known_answers import normal_data

DATA = normal_data(3, 1, 2, n_samples=200)


def with_columns(data=DATA, **columns):
    """Return the rows with these columns instead, each asked alone."""
    return rows_of(pd.DataFrame(columns), data.y)


def measured(method, data, **options):
    return numbers(method, None, data, **options)


X1, X2, X3 = (DATA.X[name].to_numpy() for name in ("x1", "x2", "x3"))
MIXED = with_columns(a=X1, b=X1 + X2, c=X3)

# --- closed forms ---------------------------------------------------------------------


def test_the_largest_loading_is_positive():
    turned = replace(MIXED, X=-MIXED.X)
    assert measured(pca, turned) == pytest.approx(measured(pca, MIXED), abs=1e-9)


def test_a_fair_copy_of_four_levels_shares_log_four():
    level = pd.Series(pd.Categorical(list("abcd") * 5))
    other = pd.Series(np.tile([3.0, 1, 0, 2], 5))
    assert matrix_of([level, other], "binned", 5)[0, 1] == pytest.approx(np.log(4))


def test_bins_hold_equally_many_rows():
    codes = codes_of(pd.Series(np.random.default_rng(1).normal(size=100)), 5)
    assert np.bincount(codes).tolist() == [20] * 5


ASSOCIATION = np.array(
    [[0, 0.9, 0.8, 0.3], [0.9, 0, 0.7, 0.1], [0.8, 0.7, 0, 0.1], [0.3, 0.1, 0.1, 0]]
)


@pytest.mark.parametrize(
    ("scheme", "which", "scores"),
    [
        ("difference", [0, 2, 1], [0.9, 0.3 - 0.1, 0.8 - (0.7 + 0.1) / 2]),
        ("quotient", [0, 2, 1], [0.9, 0.3 / 0.1, 0.8 / 0.4]),
    ],
)
def test_each_step_takes_relevance_less_or_by_the_mean_redundancy(
    scheme, which, scores
):
    order = mrmr_order(ASSOCIATION, scheme)
    assert order.which == which
    assert order.scores == pytest.approx(scores, rel=1e-12)


def test_the_more_relevant_of_two_equal_scores_is_chosen():
    association = np.array(
        [[0, 9.0, 3, 4], [9.0, 0, 1, 2], [3.0, 1, 0, 0], [4.0, 2, 0, 0]]
    )
    assert mrmr_order(association, "difference").which == [0, 2, 1]


@pytest.mark.parametrize("scheme", ["difference", "quotient"])
def test_an_exact_copy_is_chosen_last_even_if_it_is_the_target(scheme):
    data = with_columns(a=DATA.y, b=DATA.y * 2, c=X1)
    places = measured(mrmr, data, measure="gaussian", scheme=scheme)
    assert places.tolist() == [3, 1, 2]


@pytest.mark.parametrize(
    ("scheme", "scores"),
    [("difference", [np.inf, 0.5, -np.inf]), ("quotient", [np.inf, 1.0, 0.0])],
)
def test_a_copy_of_what_is_chosen_scores_as_low_as_can_be(scheme, scores):
    association = np.full((4, 4), 1.0)
    association[:3, :3] = np.inf
    association[0, 3] = association[3, 0] = 1.0
    association[1:3, 3] = association[3, 1:3] = 0.5 if scheme == "difference" else 1.0
    order = mrmr_order(association, scheme)
    assert (order.which, order.scores) == ([0, 2, 1], scores)


def test_what_says_nothing_of_the_target_scores_0_by_any_quotient():
    association = np.array(
        [[0, 0.9, 0, 0.3], [0.9, 0, 0, 0.1], [0, 0, 0, 0], [0.3, 0.1, 0, 0]]
    )
    order = mrmr_order(association, "quotient")
    assert order.which == [0, 2, 1]
    assert order.scores == pytest.approx([0.9, 0.3 / 0.1, 0], rel=1e-12)


def test_a_column_of_few_values_keeps_them():
    column = pd.Series([0.0] * 8 + [1, 2])
    assert codes_of(column, 5).tolist() == [0] * 8 + [1, 2]


# --- what must not matter -------------------------------------------------------------


def test_of_two_copies_the_first_by_name_is_chosen_first():
    data = with_columns(b=X1, a=X1, c=X3)
    assert measured(mrmr, data).tolist() == [1, 3, 2]


@pytest.mark.parametrize("measure", ["binned", "gaussian_ranks", "spearman"])
def test_an_increasing_transform_changes_no_order(measure):
    bent = replace(MIXED, X=np.exp(MIXED.X))
    options = {"measure": measure}
    assert (measured(mrmr, bent, **options) == measured(mrmr, MIXED, **options)).all()


# --- what has no answer ---------------------------------------------------------------


def test_a_column_that_varies_among_rows_without_weight_only_takes_no_part():
    rows = replace(MIXED, weights=np.r_[0.0, np.ones(199)])
    X = MIXED.X.assign(still=np.r_[1.0, np.zeros(199)])
    groups = MIXED.groups | {"still": ("still",)}
    loadings = measured(pca, replace(rows, X=X, groups=groups))
    assert loadings[:3].tolist() == measured(pca, rows).tolist()
    assert np.isnan(loadings[3])


def test_a_category_is_ranked_by_its_levels_before_a_number_that_says_less():
    data, size = level_data(), np.arange(150.0)
    X = pd.DataFrame({"half": size, "kind": data.X["kind"]})
    X["half"] = X["half"].where(data.y == 0, -size)
    groups = {"half": ("half",), "kind": ("kind",)}
    assert measured(mrmr, replace(data, X=X, groups=groups)).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            with_columns(a=X1, b=pd.Categorical(["u", "v"] * 100)),
            "Data must have at least two columns of numbers that vary for method "
            "'pca'; 1 can take part. Leave the method out.",
        ),
        (
            with_columns(a=X1, b=X2),
            "Data must have one direction of largest variance for method 'pca'; two "
            "have the same. Leave the method out.",
        ),
    ],
)
def test_data_without_one_direction_have_no_loadings(data, message):
    assert refused(pca, None, data) == message
