"""Filters against the numbers of R's own packages, every case of them accounted for."""

import re
from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from tests.methods.importance.toys import fitted, numbers, rows_of
from tests.methods.recorded import Cases, frame_of, recorded

from importance_audit.methods.importance.coefficients import standardised_coefficient
from importance_audit.methods.importance.filters import anova, auc, lowess_r2
from importance_audit.methods.importance.filters_joint import mrmr_order, pca
from importance_audit.methods.importance.information import matrix_of
from importance_audit.methods.importance.lowess import lowess
from importance_audit.methods.importance.model_specific import impurity
from importance_audit.methods.importance.rank_correlation import spearman
from importance_audit.methods.importance.relief import relieff
from importance_audit.methods.importance.t_statistics import t_statistic

REFERENCE = recorded("filters")
BLOCK = REFERENCE["data"]["d"]
COLUMNS, LEVELS = BLOCK["columns"], BLOCK["levels"]
NUMBERS = ("x1", "x2", "x3", "x4", "x5", "k", "tie")
EXACT = {"rel": 1e-12, "abs": 1e-12}

LEFT_OUT = {
    "loess-": "quadratic loess of R, which no method here smooths by",
    "caret-reg-nonpara-TRUE": "the R² of that loess, not of LOWESS",
    "caret-reg-factor": (
        "of a factor caret takes the t of its second level, of numbers beside it none"
    ),
    "c..-shrink|var-shrink": "a covariance, not a filter: met in test_covariances",
    r"R?ReliefF\w+-iterations": "rows drawn by the package's own generator",
    r"(RReliefF\w+|ReliefF?(equalK|expRank|bestK|merit)?)-(num|mixed|defaults)": (
        "not offered: places of tied rows go by the order of the package's own heap"
    ),
    "R?ReliefFbestK-wide": "other ramps: met in equalK",
    "GainRatio-|MDL-": "criteria of a split that scikit-learn's trees do not have",
}
CASES = Cases(REFERENCE["cases"], LEFT_OUT, match=re.match)
of = CASES.of


def rows(features, target):
    """Return the reference data with these features and this target."""
    classes = tuple(LEVELS.get(target, ()))
    values = COLUMNS[target]
    y = np.array([classes.index(v) for v in values] if classes else values)
    return rows_of(frame_of(BLOCK, features), y, classes=classes)


def measured(method, features, target, **options):
    """Return one number per feature."""
    return numbers(method, None, rows(features, target), **options)


@of("lowess-")
def test_lowess_is_that_of_r(case):
    result, options = CASES[case]["result"], CASES[case]["options"]
    name, n = case.split("-")[1], len(result["y"])
    name = "x1" if name == "few" else name
    x, y = np.array(COLUMNS[name][:n], float), np.array(COLUMNS["y"][:n])
    smooth = lowess(
        x,
        y,
        fraction=options.get("f", 2 / 3),
        n_robust=options.get("iter", 3),
        step=options.get("delta", 0.01),
    )
    assert smooth[np.argsort(x, kind="stable")] == pytest.approx(result["y"], **EXACT)


@of("t-|aov3-|kruskal3-")
def test_groups_of_a_class_differ_as_in_r(case):
    test = {"t-welch": "welch", "kruskal3": "kruskal_wallis"}
    kind, feature = case.rsplit("-", 1)
    options = {"test": test.get(kind, "equal_variances")}
    target, result = ("c2" if kind[0] == "t" else "c3"), CASES[case]["result"]
    value = result.get("F", result.get("statistic"))
    truth = value**2 if kind[0] == "t" else value
    assert measured(anova, [feature], target, **options) == pytest.approx(
        truth, **EXACT
    )
    p = measured(anova, [feature], target, statistic="minus_log10_p", **options)
    assert 10**-p == pytest.approx(result["p.value"], **EXACT)


@of("t-")
def test_t_has_the_sign_of_the_second_class_where_r_takes_the_first(case):
    kind, feature = case.rsplit("-", 1)
    test = "welch" if kind == "t-welch" else "equal_variances"
    scores = measured(anova, [feature], "c2", test=test, statistic="t")
    assert scores == pytest.approx(-CASES[case]["result"]["statistic"], **EXACT)


@of("aov-y|oneway-welch-y")
def test_levels_of_a_feature_part_the_target_as_in_r(case):
    test = "welch" if "welch" in case else "equal_variances"
    result = CASES[case]["result"]
    truth = result.get("F", result.get("statistic"))
    assert measured(anova, ["g"], "y", test=test) == pytest.approx(truth, **EXACT)
    p = measured(anova, ["g"], "y", test=test, statistic="minus_log10_p")
    assert 10**-p == pytest.approx(result["p.value"], **EXACT)


@of("caret-class-c[23]")
def test_areas_by_pairs_are_those_of_caret_up_to_three_classes(case):
    target = case.split("-")[-1]
    options = {"contrast": "one_vs_one", "summary": "maximum"}
    result = CASES[case]["result"]
    for name in LEVELS[target]:
        areas = measured(auc, result["rows"], target, of_class=name, **options)
        assert areas == pytest.approx(result["values"][name], **EXACT)


@of("caret-class-c4")
def test_with_four_classes_caret_takes_areas_of_pairs_but_not_always_the_largest(case):
    result, data = CASES[case]["result"], rows(NUMBERS, "c4")
    pairs = []
    for low, high in combinations(range(4), 2):
        of_pair = np.isin(data.y, [low, high])
        y, weights = (data.y[of_pair] == high).astype(int), np.ones(of_pair.sum())
        pair = replace(
            data, X=data.X[of_pair], y=y, weights=weights, classes=("n", "y")
        )
        pairs.append(auc(None, replace(pair, task="binary"), seed=1)[0][:, 0, 0])
    for name, values in result["values"].items():
        gaps = np.abs(np.array(pairs) - values).min(axis=0)
        assert gaps.max() < 1e-12, name
    ours = measured(auc, NUMBERS, "c4", contrast="one_vs_one", summary="maximum")
    assert ours == pytest.approx(np.max(pairs, axis=0), **EXACT)
    assert (ours > np.max(list(result["values"].values()), axis=0) + 1e-3).any()


@of("caret-class-factor")
def test_a_factor_has_no_area_where_caret_stops(case):
    assert "error" in CASES[case]["result"]
    assert np.isnan(measured(auc, ["x1", "g"], "c2")).tolist() == [False, True]


@of("caret-reg-constant")
def test_a_constant_explains_nothing_that_can_be_said_as_in_caret(case):
    caret_values = CASES[case]["result"]["values"]["Overall"]
    data = rows(["x1", "x2"], "y")
    X, groups = data.X.assign(const=1.0), data.groups | {"const": ("const",)}
    scores, _ = lowess_r2(None, replace(data, X=X, groups=groups), seed=1)
    assert np.isnan(scores[:, 0, 0]).tolist() == [
        value is None for value in caret_values
    ]


@of("kendall")
def test_kendalls_tau_is_that_of_r(case):
    taus = measured(spearman, NUMBERS, "y", coefficient="kendall")
    truth = [CASES[case]["result"][name] for name in NUMBERS]
    assert taus == pytest.approx(truth, **EXACT)


def of_a_line(method, feature):
    """Return what a method says of a line through one feature."""
    train = rows([feature], "y")
    model = fitted("linear_model.LinearRegression", train)
    return method(model, train, seed=1)[0].item()


@of("pearson")
def test_the_slope_of_a_line_in_standard_deviations_is_rs_correlation(case):
    slopes = {name: of_a_line(standardised_coefficient, name) for name in NUMBERS}
    assert slopes == pytest.approx(CASES[case]["result"], **EXACT)


@of("caret-reg-nonpara-FALSE")
def test_t_of_a_line_through_one_feature_is_that_of_caret(case):
    result = CASES[case]["result"]
    statistics = [abs(of_a_line(t_statistic, name)) for name in result["rows"]]
    assert statistics == pytest.approx(result["values"]["Overall"], **EXACT)


def with_levels_in_any_order(train):
    """Return the rows once for each order of the levels of `g`, if they have it."""
    if "g" not in train.X:
        return [train]
    orders = permutations(LEVELS["g"])
    columns = [train.X["g"].cat.reorder_categories(order) for order in orders]
    return [replace(train, X=train.X.assign(g=column)) for column in columns]


SPLITS = {"Gini": "gini", "InfGain": "entropy", "MSEofMean": "squared_error"}


@of("Gini-|InfGain-|MSEofMean-")
def test_the_impurity_of_one_split_is_that_of_corelearn(case):
    name, kind, target = (case + "-y").split("-")[:3]
    target = target if target in LEVELS else "y"
    is_number = target == "y"
    path = f"tree.DecisionTree{'Regressor' if is_number else 'Classifier'}"
    for feature, truth in CASES[case]["result"].items():
        # CORElearn parts all three levels by one split, two sets of them for a number.
        depth = 2 if feature == "g" and not is_number else 1
        options = {"max_depth": depth, "criterion": SPLITS[name]}
        options["encoder"] = "one_hot_full"
        for train in with_levels_in_any_order(rows([feature], target)):
            model = fitted(path, train, **options)
            decrease = impurity(model, train, seed=1, normalised=False)[0].item()
            left = decrease - train.y.var() if is_number else decrease
            assert left == pytest.approx(truth, **EXACT), (feature, kind)


@of("spearman")
def test_rank_correlations_are_those_of_r(case):
    result = CASES[case]["result"]
    if case == "spearman":
        correlations = measured(spearman, NUMBERS, "y")
        assert correlations == pytest.approx(
            [result[name] for name in NUMBERS], **EXACT
        )
        return
    for name, truth in zip(result["cols"], result["values"], strict=True):
        assert measured(spearman, NUMBERS, name) == pytest.approx(truth, **EXACT)


@of("prcomp-")
def test_loadings_are_those_of_r_up_to_their_sign(case):
    rotation = CASES[case]["result"]["rotation"]
    first = np.array(rotation["values"])[:, 0]
    loadings = measured(pca, rotation["rows"], "y", scaled=case.endswith("TRUE"))
    assert np.abs(loadings) == pytest.approx(np.abs(first), **EXACT)
    assert abs(loadings @ first) == pytest.approx(1, rel=1e-12)


def associations(result, measure):
    """Return our matrix of association of the columns of an mRMRe result."""
    names = [{"kk": "k"}.get(name, name) for name in result["rows"]]
    columns = [np.array(COLUMNS[name], float) for name in names]
    if measure == "gaussian_ranks":
        columns = [places_of(values) for values in columns]
    return matrix_of([pd.Series(values) for values in columns], measure, 5)


def places_of(values):
    """Return the place of each value in the order that mRMRe ranks by.

    It is that of GNU's `std::sort`, which leaves equal values in an order of its own:
    parts of more than 16 values are divided at the median of three of them, and the
    result is sorted by insertion.
    """
    at, parts = list(range(len(values))), [(0, len(values))]
    while parts:
        first, end = parts.pop()
        if end - first <= 16:
            continue
        three = (end - 1, (first + end) // 2, first + 1)
        middle = sorted(three, key=lambda place: values[at[place]])[1]
        at[first], at[middle] = at[middle], at[first]
        pivot, low, high = values[at[first]], first + 1, end - 1
        while True:
            while values[at[low]] < pivot:
                low += 1
            while pivot < values[at[high]]:
                high -= 1
            if low >= high:
                break
            at[low], at[high] = at[high], at[low]
            low, high = low + 1, high - 1
        parts += [(first, low), (low, end)]
    return np.argsort(sorted(at, key=values.__getitem__))


@of("mrmre-mim-(pearson|spearman)")
def test_the_information_of_normal_columns_and_of_ranks_is_that_of_mrmre(case):
    result = CASES[case]["result"]
    measure = "gaussian" if case.endswith("pearson") else "gaussian_ranks"
    reference = np.array(result["values"], float)
    assert associations(result, measure) == pytest.approx(reference, **EXACT)


@of("mrmre-classic-")
def test_features_are_chosen_in_the_order_of_mrmre(case):
    measure = "gaussian" if "pearson" in case else "gaussian_ranks"
    mim = CASES["mrmre-mim-pearson"]["result"]
    ranking = mrmr_order(associations(mim, measure), "difference")
    result = CASES[case]["result"]
    order = [mim["rows"][k + 1] for k in ranking.which][: len(result["scores"])]
    assert order == result["solution_order"]
    scores = ranking.scores[: len(order)]
    assert scores == pytest.approx(result["scores"], **EXACT)


@of("mrmre-mim-ordered")
def test_the_information_of_two_classes_is_that_of_an_area_with_ties_as_misses(case):
    result, data = CASES[case]["result"], rows(NUMBERS, "c2")
    # mRMRe takes a tie for a pair out of order.
    gap = min(np.diff(np.unique(data.X[name])).min() for name in NUMBERS)
    X = data.X.sub(gap / 2 * data.y, axis=0)
    areas = auc(None, replace(data, X=X), seed=1)[0][:, 0, 0]
    names = [{"kk": "k"}.get(name, name) for name in result["cols"]]
    reference = [result["values"][0][names.index(name)] for name in NUMBERS]
    ours = -np.log(1 - (2 * areas - 1) ** 2) / 2
    assert ours == pytest.approx(reference, **EXACT)


TABLES = {"dn": ("y", 4), "dr": ("y", 6), "dn2": ("c2", 4), "d2": ("c2", 6)}
TABLES |= {"dn3": ("c3", 4), "d3": ("c3", 6)}


def relief_of(options, **ours):
    """Return our answer to a question to CORElearn, with other options of ours."""
    target, n_features = TABLES[options["data"]]
    features = ("x1", "x2", "x3", "x4", "k", "g")[:n_features]
    ramp = {
        "same_below": options.get("numAttrProportionEqual", 0.04),
        "different_above": options.get("numAttrProportionDifferent", 0.1),
    }
    return measured(relieff, features, target, **ramp, **ours)


def as_asked(options):
    """Return our options for CORElearn's, whose defaults are 10, 70 and 20."""
    kind = options["estimator"]
    if kind == "Relief":
        return {"n_neighbours": 1, "misses": "any_class"}
    if "equalK" in kind:
        return {"n_neighbours": options.get("kNearestEqual", 10)}
    ours = {"n_neighbours": options.get("kNearestExpRank", 70)}
    if "istance" in kind:
        square = "sqr" in kind
        return ours | {"weighting": "squared_distance" if square else "distance"}
    sigma = float(options.get("quotientExpRankDistance", 20))
    return ours | {"weighting": "rank", "sigma": sigma, "merits": "merit" in kind}


UNTIED = "-(noramp|wide)"


@of(
    f"R?ReliefF(equalK|expRank){UNTIED}|Relief{UNTIED}",
    "ReliefF(distance|sqrDistance)-(num|mixed)-c",  # all rows are neighbours
)
def test_relief_is_that_of_corelearn_where_no_tie_matters(case):
    options, result = CASES[case]["options"], CASES[case]["result"]
    scores = relief_of(options, **as_asked(options))
    assert scores == pytest.approx(list(result.values()), **EXACT)


@pytest.mark.slow
@of("R?ReliefFbestK-noramp")
def test_the_best_of_all_numbers_of_neighbours_is_that_of_corelearn(case):
    options, result = CASES[case]["options"], CASES[case]["result"]
    every = range(1, len(COLUMNS["y"]))
    best = np.max([relief_of(options, n_neighbours=k) for k in every], axis=0)
    assert best == pytest.approx(list(result.values()), **EXACT)


def test_every_case_is_compared_or_left_out_for_a_reason():
    CASES.assert_accounted_for()
