"""Filters: closed forms, invariances, and what has no answer."""

import doctest
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import f_oneway, linregress

from importance_audit.methods.importance import filters as module
from importance_audit.methods.importance import rank_correlation
from importance_audit.methods.importance.filters import anova, auc, lowess_r2
from importance_audit.methods.importance.lowess import lowess
from importance_audit.methods.importance.rank_correlation import spearman
from importance_audit.methods.known_answers import binary_data, level_data, normal_data
from importance_audit.records.errors import NotApplicable

NUMBERS = normal_data(2, -1, n_samples=120)
CLASSES = binary_data(n_samples=120)
FILTERS = [(lowess_r2, NUMBERS), (anova, CLASSES), (auc, CLASSES), (spearman, NUMBERS)]
each_filter = pytest.mark.parametrize(("method", "data"), FILTERS)


def column(values, y=None, *, task="regression", classes=()):
    """Return rows of one feature x and a target."""
    y = np.arange(len(values), dtype=float) if y is None else np.array(y)
    data = replace(normal_data(1, n_samples=2), groups={"x": ("x",)})
    fields = {"X": pd.DataFrame({"x": values}), "y": y, "weights": np.ones(len(y))}
    return replace(data, **fields, task=task, classes=classes)


def measured(method, data, **options):
    raw, _ = method(None, data, seed=1, **options)
    return raw[:, 0, 0]


# --- closed forms ---------------------------------------------------------------------


def test_lowess_of_a_straight_line_explains_all_of_it():
    x = np.sqrt(np.arange(50.0))
    assert measured(lowess_r2, column(x, 3 - 2 * x)) == pytest.approx([1], rel=1e-12)


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


def test_a_robust_curve_ignores_one_outlier_and_the_plain_one_does_not():
    x = np.arange(60.0)
    y = np.where(x == 30, 1e3, x)
    shared = {"fraction": 1.0, "step": 0.0}
    robust, plain = (lowess(x, y, n_robust=n, **shared) for n in (3, 0))
    assert robust == pytest.approx(x, abs=1e-9)
    assert abs(plain[30] - 30) > 10


def test_values_shared_by_more_rows_than_a_neighbourhood_measure_their_means():
    x, y = np.repeat([0.0, 1.0, 2.0], 10), np.tile([0.0, 1.0], 15)
    smooth = lowess(x, y, fraction=0.1, n_robust=0, step=0.0)
    assert smooth == pytest.approx(np.full(30, 0.5), rel=1e-12)


def test_where_all_neighbours_are_outliers_the_first_row_stands_for_them():
    x = np.append(np.arange(20.0), [100] * 4)
    y = np.append(np.sin(np.arange(20.0)), [1e3, -1e3, 1e3, -1e3])
    smooth = lowess(x, y, fraction=4 / 24, n_robust=1, step=0.0)
    assert smooth[20:].tolist() == [1e3] * 4


def test_between_fitted_points_the_curve_is_straight():
    x = np.linspace(0, 1, 201)
    smooth = lowess(x, np.sin(6 * x), fraction=0.3, n_robust=0, step=0.1)
    assert smooth[:20] == pytest.approx(np.linspace(smooth[0], smooth[19], 20))
    assert len(np.unique(np.round(np.diff(smooth, 2), 9))) > 5


def test_the_f_of_a_category_is_that_of_the_analysis_of_variance():
    y = np.array([1.0, 2, 4, 7, 3, 9, 4])
    data = column(pd.Categorical(list("abbacca")), y)
    truth = f_oneway(y[[0, 3, 6]], y[[1, 2]], y[[4, 5]]).statistic
    assert measured(anova, data) == pytest.approx([truth], rel=1e-12)


def test_two_groups_measure_the_t_of_the_slope_between_them():
    y = np.array([1.0, 4, 2, 8, 5, 7])
    codes = np.array([0, 1, 0, 1, 1, 0])
    data = column(pd.Categorical.from_codes(codes, ["a", "b"]), y)
    fit = linregress(codes, y)
    truth = fit.slope / fit.stderr
    assert measured(anova, data, statistic="t") == pytest.approx([truth], rel=1e-12)
    assert measured(anova, data) == pytest.approx([truth**2], rel=1e-12)


def test_a_weight_scales_nothing_and_zero_removes_the_row():
    X = pd.DataFrame({"x": pd.Categorical(list("abababb"))})
    data = replace(column([0.0] * 7, [1.0, 5, 2, 8, 4, 3, 99]), X=X)
    weighted = replace(data, weights=np.array([3.0] * 6 + [0.0]))
    fewer = replace(data, X=X[:6], y=data.y[:6], weights=np.ones(6))
    assert measured(anova, weighted) == pytest.approx(measured(anova, fewer), rel=1e-12)


def test_groups_that_do_not_vary_in_themselves_differ_without_limit():
    data = column(pd.Categorical(list("aabb")), [0.0, 0, 1, 1])
    assert measured(anova, data).tolist() == [np.inf]


def test_an_area_counts_pairs_and_ties_half():
    data = column([1.0, 2, 2, 5], [0, 0, 1, 1], task="binary", classes=("n", "y"))
    assert measured(auc, data).tolist() == [3.5 / 4]


def test_a_weighted_row_counts_like_its_copies():
    y, options = [0, 0, 1, 1], {"task": "binary", "classes": ("n", "y")}
    once = column([1.0, 3, 2, 5], y, **options)
    weighted = replace(once, weights=np.array([1.0, 2, 1, 1]))
    copied = column([1.0, 3, 3, 2, 5], [0, 0, 0, 1, 1], **options)
    assert measured(auc, weighted).tolist() == measured(auc, copied).tolist()


def test_a_falling_feature_sorts_as_well_as_a_rising_one():
    falling = replace(CLASSES, X=-CLASSES.X)
    assert measured(auc, falling).tolist() == measured(auc, CLASSES).tolist()
    rising = measured(auc, falling, direction="rising")
    assert rising == pytest.approx(1 - measured(auc, CLASSES, direction="rising"))


def test_a_class_in_the_middle_is_seen_by_pairs_only():
    data = column(
        [0.0, 4, 1, 2, 3, 5],
        [0, 0, 1, 1, 2, 2],
        task="multiclass",
        classes=tuple("abc"),
    )
    alone = measured(auc, data, of_class="a", direction="rising")
    pairs = measured(auc, data, contrast="one_vs_one", direction="rising")
    assert alone.tolist() == [3 / 8]
    assert pairs == pytest.approx([(2 / 4 + 3 / 4 + 4 / 4) / 3], rel=1e-12)


def test_the_maximum_is_the_largest_of_the_contrasts():
    data = replace(level_data(), groups={"count": ("count",)})
    each = [measured(auc, data, of_class=name)[0] for name in data.classes]
    assert measured(auc, data, summary="maximum").tolist() == [max(each)]
    assert measured(auc, data) == pytest.approx([np.mean(each)], rel=1e-12)


def test_a_rank_correlation_of_five_rows_by_its_textbook_formula():
    data = column([1.0, 2, 3, 4, 5], [3.0, 1, 2, 5, 4])
    truth = 1 - 6 * (4 + 1 + 1 + 1 + 1) / (5 * 24)
    assert measured(spearman, data) == pytest.approx([truth], rel=1e-12)


def test_tau_is_the_balance_of_pairs_in_order_and_out_of_it_over_untied_pairs():
    data = column([1.0, 2, 2, 4], [1.0, 3, 2, 2])
    agree, differ, tied_x, tied_y = 3, 1, 1, 1
    either = (agree + differ + tied_x) * (agree + differ + tied_y)
    scores = measured(spearman, data, coefficient="kendall")
    assert scores == pytest.approx([(agree - differ) / np.sqrt(either)], rel=1e-12)


# --- what must not matter -------------------------------------------------------------


@each_filter
def test_the_order_of_the_rows_does_not_matter(method, data):
    order = np.random.default_rng(1).permutation(data.n_samples)
    turned = replace(data, X=data.X.iloc[order], y=data.y[order])
    assert measured(method, turned) == pytest.approx(measured(method, data), rel=1e-9)


@each_filter
def test_the_unit_of_a_feature_does_not_matter(method, data):
    scaled = replace(data, X=1e3 * data.X + 7)
    assert measured(method, scaled) == pytest.approx(measured(method, data), rel=1e-9)


@pytest.mark.parametrize(("method", "data"), FILTERS[2:])
def test_order_is_all_that_ranks_see(method, data):
    bent = replace(data, X=np.exp(data.X))
    assert measured(method, bent).tolist() == measured(method, data).tolist()


def test_order_is_all_that_h_sees():
    bent = replace(CLASSES, X=np.exp(CLASSES.X))
    values = [measured(anova, d, test="kruskal_wallis") for d in (CLASSES, bent)]
    assert values[0].tolist() == values[1].tolist()


# --- what has no answer ---------------------------------------------------------------


@each_filter
def test_a_column_without_an_answer_measures_nan_and_the_others_their_own(method, data):
    X = data.X.assign(
        constant=1.0,
        gap=data.X["x1"].where(data.X["x1"] > 0),
        kind=pd.Categorical(["a", "b"] * 60),
    )
    names = ("constant", "gap", "kind", "x1")
    groups = {name: (name,) for name in names} | {"pair": ("x1", "x2")}
    scores = measured(method, replace(data, X=X, groups=groups))
    assert np.isnan(scores).tolist() == [True, True, True, False, True]
    assert scores[3] == measured(method, data)[0]


def test_numbers_against_a_number_are_no_question_of_groups():
    assert np.isnan(measured(anova, NUMBERS)).all()


@pytest.mark.parametrize("options", [{}, {"test": "welch"}])
def test_a_group_of_one_row_in_each_level_has_no_spread_to_compare_with(options):
    data = column(pd.Categorical(list("abc")), [1.0, 2, 4])
    assert np.isnan(measured(anova, data, **options)).all()


def test_three_groups_have_no_t():
    data = column(pd.Categorical(list("aabbcc")), [1.0, 2, 4, 3, 5, 9])
    assert np.isnan(measured(anova, data, statistic="t")).all()


WEIGHTED = np.linspace(1, 2, 120)
SAME = "must weigh the same for method"
REFUSALS = [
    (
        lowess_r2,
        CLASSES,
        {},
        "Target 'y' must be a number for method 'lowess_r2'; it has 2 classes: "
        "'no', 'yes'. Use auc or anova.",
    ),
    (
        lowess_r2,
        replace(NUMBERS, y=np.ones(120)),
        {},
        "Target 'y' must vary for method 'lowess_r2'; all its values are the same. "
        "Add rows, or leave the method out.",
    ),
    (
        lowess_r2,
        replace(NUMBERS, weights=WEIGHTED),
        {},
        f"Rows {SAME} 'lowess_r2'; their weights differ. Leave the method or the "
        "weights out.",
    ),
    (
        anova,
        replace(CLASSES, weights=WEIGHTED),
        {"test": "welch"},
        f"Rows {SAME} 'anova'; their weights differ. Set test = 'equal_variances'.",
    ),
    (
        auc,
        NUMBERS,
        {},
        "Target 'y' must have classes for method 'auc'; it is a number. Use "
        "spearman or lowess_r2.",
    ),
    (
        auc,
        replace(CLASSES, y=np.zeros(120)),
        {},
        "Class 'yes' must have 1 or more rows that count for method 'auc'; it has "
        "0. Add rows, or leave the method out.",
    ),
    (
        spearman,
        level_data(),
        {},
        "Target 'y' must be a number for method 'spearman'; it has 3 classes: 'a', "
        "'b', 'c'. Use auc or anova.",
    ),
    (
        spearman,
        replace(NUMBERS, weights=WEIGHTED),
        {},
        f"Rows {SAME} 'spearman'; their weights differ. Leave the method or the "
        "weights out.",
    ),
]


@pytest.mark.parametrize(("method", "data", "options", "message"), REFUSALS)
def test_what_data_cannot_be_asked_is_said_whole(method, data, options, message):
    with pytest.raises(NotApplicable) as refusal:
        method(None, data, seed=1, **options)
    assert str(refusal.value) == message


@pytest.mark.parametrize(
    ("method", "data", "options", "message"),
    [
        (
            lowess_r2,
            NUMBERS,
            {"fraction": 0.0},
            "fraction must be above 0 and at most 1; 0.0 was given.",
        ),
        (
            lowess_r2,
            NUMBERS,
            {"n_robust": -1},
            "n_robust must be at least 0; -1 was given.",
        ),
        (
            lowess_r2,
            NUMBERS,
            {"step": 1.0},
            "step must be at least 0 and below 1; 1.0 was given.",
        ),
        (
            anova,
            CLASSES,
            {"test": "kruskal_wallis", "statistic": "t"},
            "statistic must be 'statistic' or 'minus_log10_p' for test "
            "'kruskal_wallis'; 't' was given.",
        ),
        (
            auc,
            CLASSES,
            {"of_class": "maybe"},
            "of_class must be one of 'no', 'yes'; 'maybe' was given.",
        ),
        (
            spearman,
            NUMBERS,
            {"coefficient": "tau"},
            "coefficient must be 'spearman' or 'kendall'; 'tau' was given.",
        ),
    ],
)
def test_an_option_out_of_range_is_refused(method, data, options, message):
    with pytest.raises(ValueError, match="must be") as refusal:
        method(None, data, seed=1, **options)
    assert str(refusal.value) == message


def test_the_examples_hold():
    assert doctest.testmod(module).failed == 0
    assert doctest.testmod(rank_correlation).failed == 0
