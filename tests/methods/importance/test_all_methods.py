"""What methods have in common: numbers that must not change, and what is refused.

That a method keeps what it is given, repeats itself, and answers for one feature what
it answers among others is in `tests/engines/test_contract.py`.
"""

import doctest
import re
from dataclasses import replace
from functools import cache
from importlib import import_module
from itertools import product
from pkgutil import iter_modules

import numpy as np
import pandas as pd
import pytest
from tests.cases import for_each
from tests.methods.importance.toys import (
    as_often_as_they_weigh,
    curved,
    fitted,
    numbers,
    of_line,
    of_three_classes,
    of_two_classes,
    refused,
    score_of,
)

from importance_audit.methods import importance
from importance_audit.methods.importance import METHODS, options_of
from importance_audit.methods.importance.permutation_draws import DRAWS
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.records.errors import quote
from importance_audit.records.execution import workers

DATA = normal_data(2, -1, 1, n_samples=60)
CLASSES = of_two_classes(DATA)
FOREST = "ensemble.RandomForestRegressor"
ESTIMATORS = {
    "impurity": (FOREST, {"n_estimators": 3}),
    "impurity_oob": (FOREST, {"n_estimators": 9, "random_state": 1}),
    "oob_permutation": (FOREST, {"n_estimators": 9, "random_state": 1}),
    "oob_permutation_scaled": (FOREST, {"n_estimators": 9, "random_state": 1}),
    "garson": ("neural_network.MLPRegressor", {"hidden_layer_sizes": [2]}),
    "olden": ("neural_network.MLPRegressor", {"hidden_layer_sizes": [2]}),
}
OF_CLASSES = ("anova", "auc")
PAIR = {"pair": ("x1", "x2")}
GROUPS = {"vint": PAIR, "h_statistic": {"x3": ("x3",), **PAIR, "all": DATA.features}}
OF_MEMBERS = ("random_subspace", "random_subspace_permutation")
"""Methods that fit a model on each of many sets of features."""
# What R's models say of themselves is in test_r_model_specific.
OURS = [method for method in METHODS if method != "model_specific"]
ASKING = [method for method in OURS if METHODS[method].asks != "data"]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@cache
def model_of(method):
    """Return a model that a method can be asked about, None for one of data."""
    row = METHODS[method]
    if row.asks == "data":
        return None
    estimator, parameters = ESTIMATORS.get(
        method, ("linear_model.LinearRegression", {})
    )
    return fitted(estimator, DATA, ("mse",) if row.unit == "loss" else (), **parameters)


def data_of(method):
    """Return rows that a method can be asked about."""
    data = CLASSES if method in OF_CLASSES else DATA
    return data.with_groups(GROUPS[method]) if method in GROUPS else data


def curved_model_of(method):
    """Return a model whose columns act together where predictions are asked."""
    asks_predict = METHODS[method].asks == "predict"
    curved_model = score_of(curved).with_losses(["mse"])
    return curved_model if asks_predict else model_of(method)


def answer(method, data=None, model=None, **options):
    """Return what a method answers, raw and null value."""
    row, data = METHODS[method], data_of(method) if data is None else data
    asked = model or model_of(method), data
    raw, baseline = row.function(*asked, **{"seed": 1, **options})
    return raw, baseline


def refusal_of(method, data=None, model=None, **options):
    """Return in which sentence a method refuses."""
    data = data_of(method) if data is None else data
    ask = METHODS[method].function
    return refused(ask, model or model_of(method), data, **options)


# --- numbers --------------------------------------------------------------------------


UNREAD = [
    *((m, {}) for m in ASKING if m not in ("firm", "t_statistic", *OF_MEMBERS)),
    *(("permutation", {"stream": stream}) for stream in DRAWS),
    *(
        ("permutation", {"stream": stream, "n_rows": 40})
        for stream in ("numpy", "vip-0.5", "DALEX", "hstats")
    ),
    *(
        ("permutation", {"perturbation": p, "within": w, "n_rows": n_rows})
        for p, w in (
            *(("resample", "none"), ("permute", "leaves"), ("resample", "leaves")),
            *(("permute", "gaussian"), ("permute", "neighbours")),
        )
        for n_rows in (None, 40)
    ),
    *(
        ("sage", {"algorithm": algorithm, "background": background})
        for algorithm in ("exact", "sampling")
        for background in ("rows", "gaussian")
    ),
    ("shapley", {"stream": "fastshap"}),
]


@for_each(UNREAD)
def test_a_column_that_the_model_does_not_read_measures_exactly_the_null_value(case):
    method, options = case
    columns = ("x1", "unread") if method == "vint" else ("unread",)
    data = replace(DATA, X=DATA.X.assign(unread=DATA.X["x1"]))
    raw, baseline = answer(method, data.with_groups({"unread": columns}), **options)
    assert raw[0].tolist() == baseline.tolist()


AT_ONCE = [
    ("permutation", "importance.neighbours.BLOCK_BYTES", {"within": "neighbours"}),
    ("random_subspace_permutation", "importance.subspaces.CELLS", {"n_repeats": 10}),
    ("relieff", "importance.relief.CELLS", {}),
    *(
        ("sage", f"importance.coalitions.{name}", {"background": background})
        for name in ("MAX_BYTES", "AT_ONCE")
        for background in ("rows", "gaussian")
    ),
    *(
        ("shapley", "effects.shapley_values.MAX_BYTES", {"algorithm": algorithm})
        for algorithm in ("exact", "sampling")
    ),
]


@pytest.mark.parametrize(("method", "limit", "options"), AT_ONCE)
def test_how_much_is_asked_at_once_changes_no_number(
    method, limit, options, monkeypatch
):
    model = curved_model_of(method)
    whole = answer(method, None, model, **options)
    monkeypatch.setattr(f"importance_audit.methods.{limit}", 1)
    in_parts = answer(method, None, model, **options)
    for one, other in zip(in_parts, whole, strict=True):
        assert one == pytest.approx(other, rel=1e-12)


EXACT = {"algorithm": "exact", "n_background": 1000}
WEIGHED = [
    *(("firm", {"estimator": e, "n_bins": 3}) for e in ("auto", "linear", "binned")),
    ("firm", {"estimator": "discrete"}),
    ("firm_labels", {}),
    ("gradient_sensitivity", {}),
    *(
        ("shapley", {"algorithm": "exact", "n_repeats": 1, "background": background})
        for background in ("rows", "means")
    ),
    ("sage", EXACT),
    *((method, {"n_rows": None}) for method in ("h_statistic", "pd_importance")),
    ("vint", {"n_rows": None, "grid": (0.1, 0.4, 0.9)}),
    ("partial_dependence", {"grid": (0.1, 0.4, 0.9), "spread": "data_weighted"}),
    ("partial_dependence", {"grid": (0.1, 0.4, 0.9), "of_curves": "individual"}),
    ("drop_column", {"n_repeats": 1}),
    ("shapley_refit", {}),
    ("standardised_coefficient", {}),
    ("pca", {}),
    ("auc", {}),
]


@for_each(WEIGHED)
def test_a_row_of_weight_two_is_two_rows_and_one_of_weight_zero_none(case):
    method, options = case
    weighted = replace(data_of(method), weights=np.arange(60.0) % 3)
    copies = as_often_as_they_weigh(weighted).with_groups(weighted.groups)
    both = []
    for data in (weighted, copies):
        model = curved_model_of(method)
        if METHODS[method].asks not in ("predict", "data"):
            model = of_line(data)
        both.append(answer(method, data, model, **options))
    (one, base), (two, again) = both
    assert one == pytest.approx(two, rel=1e-6 if "gradient" in method else 1e-9)
    assert base == pytest.approx(again, rel=1e-9)


@pytest.mark.parametrize("method", ["permutation", "permute_refit"])
def test_the_loss_that_permutations_are_compared_with_counts_rows_by_weight(method):
    weighted = replace(DATA, weights=np.arange(60.0) % 3)
    one, two = (
        answer(method, data, of_line(data))
        for data in (weighted, as_often_as_they_weigh(weighted))
    )
    assert one[1] == pytest.approx(two[1], rel=1e-9)


DRAWING = [
    ("permutation", {}),
    ("permutation", {"n_rows": 50}),
    ("permutation", {"n_rows": 50, "perturbation": "resample"}),
    ("permutation", {"within": "leaves"}),
    *(("permutation", {"within": w}) for w in ("gaussian", "neighbours")),
    *(("permutation", {"within": w, "n_rows": 50}) for w in ("gaussian", "neighbours")),
    ("drop_column", {"held_out": 0.3}),
    ("permute_refit", {}),
    ("shapley", {}),
    ("shapley", {"n_rows": 5, "n_background": 5}),
    ("sage", {"algorithm": "sampling", "tolerance": 0, "n_background": 10}),
    *((m, {"n_rows": 10}) for m in ("h_statistic", "vint", "pd_importance")),
    *(
        (method, {"resample": resample, "min_samples_leaf": 5})
        for method in ("stratified_impact", "stratified_importance")
        for resample in ("subsample", "bootstrap")
    ),
]


@for_each(DRAWING)
def test_repeats_differ_other_seeds_differ_and_more_repeats_keep_the_first(case):
    method, options = case
    model = curved_model_of(method)
    few, many, other = (
        answer(method, None, model, **options, n_repeats=n, seed=seed)
        for n, seed in ((2, 1), (4, 1), (2, 2))
    )
    assert few[0].tobytes() == many[0][:, :2].tobytes()
    assert few[1].tobytes() == many[1][:2].tobytes()
    assert len(np.unique(many[0][0, :, 0])) > 2
    assert (other[0] != few[0]).any(axis=1).all()


@for_each(DRAWING)
def test_a_number_depends_on_its_own_question_only_and_nothing_is_changed(case):
    method, options = case
    model, data = curved_model_of(method), data_of(method)
    shown = [data.X, DATA.X]  # and what models were fitted on
    before, options = [X.copy(deep=True) for X in shown], options | {"n_repeats": 2}
    whole = answer(method, data, model, **options)
    last = list(data.groups)[-1]
    alone = answer(
        method, data.with_groups({last: data.groups[last]}), model, **options
    )
    assert alone[0][0].tobytes() == whole[0][-1].tobytes()
    assert alone[1].tobytes() == whole[1].tobytes()
    for X, same in zip(shown, before, strict=True):
        pd.testing.assert_frame_equal(X, same)


@for_each([m for m in OURS if METHODS[m].unit == "loss"])
def test_losses_asked_together_equal_losses_asked_alone(method):
    options = {"n_repeats": 20} if method in OF_MEMBERS else {}
    model = model_of(method)
    together = answer(method, None, model.with_losses(("rmse", "mae")), **options)
    alone = answer(method, None, model.with_losses(("mae",)), **options)
    assert together[0][..., 1:].tolist() == alone[0].tolist()
    assert together[1][:, 1:].tolist() == alone[1].tolist()


@for_each(["sage", "shapley"])
def test_workers_change_no_number(method):
    model = curved_model_of(method)
    here = answer(method, None, model, algorithm="sampling")
    with workers(2, "threads"):
        there = answer(method, None, model, algorithm="sampling")
    assert there[0].tolist() == here[0].tolist()


FILTERS = ["lowess_r2", "anova", "auc", "spearman", "pca", "mrmr", "relieff"]
FILTERS += ["relieff of classes"]


def filtered(name, data):
    """Return the numbers of a filter."""
    return numbers(METHODS[name.split()[0]].function, None, data)


def rows_for(name):
    """Return rows that a filter can be asked about, three columns of them mixed."""
    data = CLASSES if name in (*OF_CLASSES, "relieff of classes") else DATA
    return replace(data, X=data.X.assign(x3=data.X["x1"] + data.X["x3"]))


@for_each(FILTERS)
def test_units_and_the_order_of_rows_and_columns_do_not_matter_to_a_filter(name):
    data = rows_for(name)
    order = np.random.default_rng(1).permutation(60)
    turned = replace(data, X=1e3 * data.X.iloc[order, ::-1] + 7, y=data.y[order])
    assert filtered(name, turned) == pytest.approx(filtered(name, data), abs=1e-9)


@for_each(FILTERS)
def test_what_cannot_take_part_has_no_answer_and_moves_no_other(name):
    data = rows_for(name)
    X = data.X.assign(
        constant=1.0,
        one_level=pd.Categorical(["only"] * 60),
        gap=data.X["x1"].where(data.X["x1"] > 0),
        kind=pd.Categorical(["a", "b"] * 30),
    )
    groups = {n: (n,) for n in ("constant", "one_level", "gap")}
    groups |= data.groups | {"pair": ("x1", "x2")}
    scores = filtered(name, replace(data, X=X.drop(columns="kind"), groups=groups))
    assert np.isnan(scores[[0, 1, 2, -1]]).all()
    assert scores[3:-1].tolist() == filtered(name, data).tolist()
    takes_levels = name in ("mrmr", "relieff", "relieff of classes")
    kind = filtered(name, replace(data, X=X, groups={"kind": ("kind",)}))
    assert np.isfinite(kind).tolist() == [takes_levels]


# --- what is refused ------------------------------------------------------------------

OUT_OF_RANGE = [
    ("random_subspace", {"n_drawn": 3}, "2, one less than the features and groups"),
    ("permutation", {"n_rows": 61}, "60, the rows there are"),
    ("stratified_impact", {"resample": "none", "n_repeats": 10}, "1 for resample"),
    ("anova", {"test": "kruskal_wallis", "statistic": "t"}, "or 'minus_log10_p' for"),
    ("auc", {"of_class": "maybe"}, "one of 'no', 'yes'"),
    ("relieff", {"same_below": 0.5, "different_above": 0.5}, "above same_below, 0.5"),
    ("shapley", {"n_rows": 61}, "60, the rows there are"),
    ("shapley", {"n_background": 61}, "60, the rows there are"),
    (
        *("shapley", {"stream": "fastshap", "adjust": True, "n_permutations": 1}),
        "at least 2 for adjust = true",
    ),
    ("sage", {"n_rows": 61}, "60, the rows there are"),
    ("h_statistic", {"n_rows": 1}, "at least 2"),
]
"""What a signature cannot say; the configuration reads all other bounds there."""


@for_each(OUT_OF_RANGE)
def test_an_option_out_of_its_range_is_named_with_the_range_and_what_was_given(case):
    method, options, words = case
    *_, (name, value) = options.items()
    ask = METHODS[method].function
    sentence = refused(
        ask, model_of(method), data_of(method), error=ValueError, **options
    )
    assert sentence.startswith(f"{name} must ")
    assert words in sentence
    assert sentence.endswith(f"; {quote(value)} was given.")


@for_each([m for m in OURS if "scale" in options_of(METHODS[m].function)])
def test_a_number_has_no_link(method):
    assert refusal_of(method, scale="link") == (
        "Model 'm' must predict probabilities for scale 'link'; its task is "
        "'regression'. Use scale 'native'."
    )


@for_each([m for m in OURS if METHODS[m].asks == "estimator"])
def test_a_model_known_by_its_predictions_has_no_inside(method):
    sentence = refusal_of(method, model=linear_model(2, -1, 1))
    assert sentence.startswith("Model 'linear' must be ")
    assert sentence.endswith(
        f"for method {method!r}; it is only known by its predictions. Use permutation "
        "importance."
    )


OF_TRAINING_ROWS = (
    *("impurity_oob", "oob_permutation", "oob_permutation_scaled"),
    *("t_statistic", "standardised_coefficient"),
)
OF_NAMED_COLUMNS = (
    *("impurity", "impurity_oob", "oob_permutation", "oob_permutation_scaled"),
    *("garson", "olden", "raw_weights"),
)


@for_each(OF_TRAINING_ROWS)
def test_a_model_without_its_training_rows_is_refused(method):
    assert refusal_of(method, model=replace(model_of(method), train=None)) == (
        "Model 'm' must be fitted by the audit, which then knows its training rows, "
        f"for method {method!r}; it came as it is. Name its estimator under [[models]]."
    )


@for_each(OF_NAMED_COLUMNS)
def test_a_model_that_does_not_name_its_columns_is_refused(method):
    assert refusal_of(method, model=replace(model_of(method), encoded=("x1",))) == (
        "Model 'm' must say which feature each of its 3 columns was made from for "
        f"method {method!r}; it names 1. Use permutation importance."
    )


REFITTING = [m for m in OURS if METHODS[m].asks == "refit"]


@for_each(REFITTING)
def test_a_model_fitted_elsewhere_cannot_be_fitted_again(method):
    assert refusal_of(method, model=linear_model(2, -1, 1)) == (
        f"Model 'linear' must be fitted by the audit for method {method!r}, which fits "
        "it again; it came as it is. Name its estimator under [[models]]."
    )


@for_each(["shapley_refit", "sage", *OF_MEMBERS])
def test_what_has_the_baseline_zero_has_no_ratio(method):
    assert refusal_of(method, form="ratio") == (
        f"form must not be 'ratio' for method {method!r}, whose baseline is 0; it is."
    )


@for_each(["shapley_refit", "sage"])
def test_players_do_not_share_a_column(method):
    data = DATA.with_groups({"a": ("x1", "x2"), "b": ("x2",)})
    assert refusal_of(method, data) == (
        f"Groups must not share a column for method {method!r}, which takes a group in "
        "or leaves it out; 'x2' is in more than one. Ask overlapping groups in "
        "different audits."
    )


PLAYERS = {"sage": {"algorithm": "exact"}, "shapley": {"algorithm": "exact"}}


@for_each([*PLAYERS, "shapley_refit"])
def test_every_subset_is_asked_of_twelve_players_at_most(method):
    data = normal_data(*range(13), n_samples=20)
    model = of_line(data)
    sentence = refusal_of(method, data, model, **PLAYERS.get(method, {}))
    assert sentence.startswith("Model 'm' must read at most 12 ")
    assert re.search(r"; it reads 13\. (Use algorithm 'sampling'|Group )", sentence)


REPLAYED = {
    "weights": ({"weights": np.arange(60.0)}, {}, "equal row weights"),
    "rows": ({}, {"n_rows": 5}, "all rows"),
    "group": ({"groups": PAIR}, {}, "one column per group, not 'pair'"),
}


@for_each(list(product((("sage", "xplainfi"), ("shapley", "fastshap")), REPLAYED)))
def test_r_is_replayed_on_equal_rows_and_single_columns_only(case):
    (method, stream), what = case
    changed, options, words = REPLAYED[what]
    sentence = refusal_of(method, replace(DATA, **changed), stream=stream, **options)
    assert sentence.startswith(f"Method {method!r} must have {words}")
    assert sentence.endswith(
        f" to replay {stream}; it does not. Ask for it without naming an R engine."
    )


@for_each([m for m in OURS if METHODS[m].curve])
def test_a_curve_is_of_one_column(method):
    purpose = {
        "partial_dependence": "method 'partial_dependence'",
        "stratified_impact": "a StratPD curve",
        "stratified_importance": "a StratPD curve",
    }.get(method, "a curve")
    assert refusal_of(method, DATA.with_groups({"both": ("x1", "x2")})) == (
        f"Group 'both' must have one column for {purpose}; it has 2: 'x1', 'x2'. Ask "
        "for its columns one by one."
    )


@for_each(["lowess_r2", "spearman", "mrmr"])
def test_a_filter_for_numbers_refuses_classes(method):
    options = {"measure": "gaussian"} if method == "mrmr" else {}
    remedy = "Set measure = 'binned'." if options else "Use auc or anova."
    assert refusal_of(method, of_three_classes(DATA), **options) == (
        f"Target 'y' must be a number for method {method!r}; it has 3 classes: 'low', "
        f"'mid', 'high'. {remedy}"
    )


@for_each(["lowess_r2", "mrmr", "relieff"])
def test_a_target_that_never_varies_explains_nothing(method):
    assert refusal_of(method, replace(DATA, y=np.ones(60))) == (
        f"Target 'y' must vary for method {method!r}; all its values are the same. Add "
        "rows, or leave the method out."
    )


@for_each(["lowess_r2", "anova", "spearman", "mrmr", "relieff"])
def test_ranks_and_neighbours_know_no_weights(method):
    data = replace(data_of(method), weights=np.linspace(1, 2, 60))
    options = {"test": "welch"} if method == "anova" else {}
    remedy = "Set test = 'equal_variances'." if options else "Leave the method or the "
    assert refusal_of(method, data, **options).startswith(
        f"Rows must weigh the same for method {method!r}; their weights differ. "
        f"{remedy}"
    )


@for_each([("auc", 1), ("relieff", 2)])
def test_a_class_of_too_few_rows_is_named(case):
    method, least = case
    y = np.append(np.zeros(61 - least), np.ones(least - 1))
    assert refusal_of(method, replace(CLASSES, y=y)) == (
        f"Class 'yes' must have {least} or more rows that count for method {method!r}; "
        f"it has {least - 1}. Add rows, or leave the method out."
    )


# --- documentation --------------------------------------------------------------------

MODULES = [each.name for each in iter_modules(importance.__path__)]


@for_each(MODULES)
def test_the_examples_of_docstrings_hold(name):
    module = import_module(f"{importance.__name__}.{name}")
    assert doctest.testmod(module).failed == 0
