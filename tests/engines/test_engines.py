"""R answers the same questions; its numbers are our replay of them, round by round."""

import os
import subprocess
import sys
from dataclasses import replace
from inspect import signature

import numpy as np
import pandas as pd
import pytest
from tests.report.made_records import made_importance

from importance_audit import engines
from importance_audit.methods.effects import local_profiles
from importance_audit.methods.effects import partial_dependence as effect
from importance_audit.methods.importance import (
    METHODS,
    options_of,
    partial_dependence,
    permutation,
    shapley,
)
from importance_audit.methods.known_answers import (
    binary_data,
    level_data,
    level_model,
    linear_model,
    logistic_model,
    normal_data,
)
from importance_audit.r_bridge import host
from importance_audit.records.dataset_and_model import Dataset, FittedModel
from importance_audit.records.errors import NotApplicable

SIZE = ("surface", "no.rooms")
GROUPS = {"size": SIZE, "place": ("floor", "district"), "year": ("construction.year",)}
LOSSES = (
    "rmse",
    "mae",
    "sum_of_squares",
    "mse",
    "mape",
    "mean_relative_error",
    "one_minus_r2",
    "one_minus_squared_correlation",
)
ALL_BINARY = (
    "one_minus_youden",
    *("one_minus_mean_recall", "one_minus_average_precision"),
    *("one_minus_balanced_accuracy", "one_minus_pr_auc"),
    *("one_minus_auc", "log_loss", "log_loss_clipped", "brier"),
    *("one_minus_accuracy", "negative_log_likelihood"),
)
ALL_MULTICLASS = (
    *("one_minus_balanced_accuracy", "one_minus_youden", "one_minus_pr_auc"),
    *("one_minus_mean_recall", "one_minus_average_precision"),
    *("one_minus_auc_ovo", "one_minus_auc_ovr"),
    *("dalex_cross_entropy", "log_loss", "log_loss_clipped", "brier"),
    *("one_minus_accuracy", "negative_log_likelihood"),
)
DATA_SET = """
data_set <- function(name) getExportedValue("DALEX", name)

parts_shown <- function(data, y, predict, type, groups, n_rows = NULL) {
  explainer <- explainer_of(data, y, predict)
  start_stream(7)
  DALEX::model_parts(
    explainer,
    loss_function = DALEX::loss_root_mean_square, type = type, B = 3, N = n_rows,
    variable_groups = lapply(groups, unlist)
  )[c("variable", "permutation", "dropout_loss")]
}
"""


@pytest.fixture(scope="module")
def r(tmp_path_factory):
    file = tmp_path_factory.mktemp("r") / "data_set.R"
    file.write_text(DATA_SET)
    with host.session(extra_r_files=[file]) as worker:
        yield worker


@pytest.fixture(scope="module")
def apartments(r):
    """Return training rows as a frame, and all 9000 test rows as a Dataset."""
    train, test = (
        r.call("data_set", {"name": n}) for n in ("apartments", "apartments_test")
    )
    return train, dataset(
        test.drop(columns="m2.price"), test["m2.price"].to_numpy(float)
    )


def dataset(X, y, groups=None):
    return Dataset(
        name="apartments",
        X=X,
        y=y,
        task="regression",
        weights=np.ones(len(X)),
        groups=groups or {name: (name,) for name in X},
        split="test",
        target="m2.price",
        sha256="",
    )


def fitted(kind, train):
    """Return a forest on codes, or least squares on indicator columns."""
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.linear_model import LinearRegression

    def encoded(X):
        if kind == "linear":
            return pd.get_dummies(X, columns=["district"], drop_first=True).to_numpy(
                float
            )
        return X.assign(district=X["district"].cat.codes).to_numpy(float)

    X = train.drop(columns="m2.price")
    forest = RandomForestRegressor(10, min_samples_leaf=5, random_state=1)
    estimator = forest if kind == "forest" else LinearRegression()
    estimator.fit(encoded(X), train["m2.price"])
    return FittedModel(
        name=kind,
        task="regression",
        scale="response",
        predict=lambda X: estimator.predict(encoded(X)),
        features=tuple(X),
        losses=LOSSES,
    )


def first(data, n_samples, groups=None):
    return dataset(data.X.iloc[:n_samples], data.y[:n_samples], groups)


def assert_replayed(ours, reference, baseline):
    """Assert |a - b| <= 1e-9 max(|a|, |b|, |baseline|), everywhere."""
    allowed = 1e-9 * np.maximum(np.maximum(abs(ours), abs(reference)), abs(baseline))
    assert ours.shape == reference.shape
    assert (abs(ours - reference) <= allowed).all(), float(
        np.max(abs(ours - reference))
    )


def assert_dalex_is_replayed(model, data, **options):
    raw, baseline = permutation.permutation(
        model, data, seed=7, stream="DALEX", **options
    )
    target = permutation.permuted_target(model, data, seed=7, stream="DALEX", **options)
    theirs = engines.dalex.dalex_permutation(model, data, seed=7, **options)
    permuted, full = theirs
    assert_replayed(raw, permuted, baseline)
    assert_replayed(baseline, full, baseline)
    assert_replayed(target, theirs.y_permuted, baseline)


def assert_vip_is_replayed(model, data, form, **options):
    stream = engines.describe_engine("vip").stream
    raw, baseline = permutation.permutation(
        model, data, seed=7, stream=stream, **options
    )
    scores, neutral = engines.vip.vip_permutation(
        model, data, seed=7, form=form, **options
    )
    ours = raw - baseline if form == "difference" else raw / baseline
    assert (neutral == (0.0 if form == "difference" else 1.0)).all()
    assert_replayed(ours, scores, baseline)


@pytest.mark.needs_dalex
@pytest.mark.parametrize("kind", ["forest", "linear"])
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["features", "groups"])
@pytest.mark.parametrize("n_rows", [None, 100])
def test_every_round_of_dalex_is_replayed(apartments, kind, groups, n_rows):
    train, test = apartments
    data = first(test, 300, groups)
    assert_dalex_is_replayed(fitted(kind, train), data, n_repeats=5, n_rows=n_rows)


def dalex_means(r, model, data, **options):
    """Return what DALEX says of each group, the mean of its rounds, in its own form."""
    groups = {name: list(columns) for name, columns in data.groups.items()}
    losses = r.call(
        "parts_shown",
        {"data": data.X, "y": data.y, "groups": groups, **options},
        predict=model.predict,
        schema_of=data.X,
    )
    means = losses[losses["permutation"] == 0].set_index("variable")["dropout_loss"]
    return means[list(groups)].to_numpy()


@pytest.mark.needs_dalex
@pytest.mark.parametrize("form", ["raw", "difference", "ratio"])
@pytest.mark.parametrize("n_rows", [None, 100])
def test_dalex_forms_differences_and_ratios_as_we_do(r, apartments, form, n_rows):
    train, test = apartments
    model, data = fitted("linear", train), first(test, 300, GROUPS)
    reference = dalex_means(r, model, data, type=form, n_rows=n_rows)
    raw, full = permutation.permutation(
        model, data, seed=7, stream="DALEX", n_repeats=3, n_rows=n_rows
    )
    losses = {"raw": raw[:, :, 0], "baseline": full[:, 0]}
    record = made_importance("linear", tuple(GROUPS), [0.0] * 3)
    ours = replace(record, form=form, aggregator="pooled", **losses)
    assert_replayed(ours.mean, reference, full[:, 0].mean() if form != "ratio" else 1)


@pytest.mark.needs_dalex
def test_all_apartments_are_replayed(apartments):
    train, test = apartments
    assert_dalex_is_replayed(fitted("linear", train), test, n_repeats=2, n_rows=None)


@pytest.mark.needs_dalex
@pytest.mark.usefixtures("r")
@pytest.mark.parametrize("n_rows", [None, 60])
@pytest.mark.parametrize(
    ("model", "data"),
    [
        (logistic_model(1, 2, losses=ALL_BINARY), binary_data()),
        (level_model(losses=ALL_MULTICLASS), level_data()),
    ],
    ids=["binary", "multiclass"],
)
def test_every_loss_of_a_classifier_is_replayed(model, data, n_rows):
    assert_dalex_is_replayed(model, data, n_repeats=3, n_rows=n_rows)


@pytest.mark.needs_dalex
@pytest.mark.usefixtures("r")
def test_a_single_feature_in_a_single_repeat_is_replayed():
    data = normal_data().with_groups({"x2": ("x2",)})
    assert_dalex_is_replayed(linear_model(2, 1), data, n_repeats=1, n_rows=50)


@pytest.mark.needs_vip
@pytest.mark.parametrize("kind", ["forest", "linear"])
@pytest.mark.parametrize("form", ["difference", "ratio"])
@pytest.mark.parametrize(("n_repeats", "n_rows"), [(1, None), (4, None), (4, 100)])
def test_every_repeat_of_vip_is_replayed(apartments, kind, form, n_repeats, n_rows):
    train, test = apartments
    model, data = fitted(kind, train), first(test, 300)
    assert_vip_is_replayed(model, data, form, n_repeats=n_repeats, n_rows=n_rows)


@pytest.mark.needs_vip
@pytest.mark.usefixtures("r")
@pytest.mark.parametrize(
    ("model", "data"),
    [
        (logistic_model(1, 2, losses=ALL_BINARY), binary_data()),
        (level_model(losses=ALL_MULTICLASS), level_data()),
    ],
    ids=["binary", "multiclass"],
)
def test_every_loss_of_a_classifier_is_replayed_by_vip(model, data):
    assert_vip_is_replayed(model, data, "difference", n_repeats=3, n_rows=60)


@pytest.mark.needs_vip
@pytest.mark.needs_fastshap
@pytest.mark.usefixtures("r")
@pytest.mark.parametrize(
    ("model", "data"),
    [
        (linear_model(2, 1), normal_data()),
        (logistic_model(1, 2), binary_data()),
        (level_model(), level_data()),
    ],
    ids=["regression", "binary", "levels"],
)
def test_every_repeat_of_shapley_values_is_replayed(model, data):
    line = engines.describe_engine("vip").stream
    options = {"seed": 7, "n_repeats": 2, "n_permutations": 3}
    ours, zero = shapley.shapley(model, data, stream=line, **options)
    vip_values, nothing = engines.vip.vip_shapley(model, data, **options)
    assert_replayed(ours, vip_values, 0)
    np.testing.assert_array_equal(zero, nothing)


@pytest.mark.needs_vip
@pytest.mark.needs_fastshap
@pytest.mark.usefixtures("r")
def test_shapley_values_are_adjusted_and_scaled_as_asked():
    line = engines.describe_engine("vip").stream
    model, data = logistic_model(1, 2), binary_data()
    options = {"seed": 7, "n_repeats": 1, "n_permutations": 3}
    plain, _ = engines.vip.vip_shapley(model, data, scale="link", **options)
    options |= {"scale": "link", "adjust": True}
    ours, _ = shapley.shapley(model, data, stream=line, **options)
    vip_values, _ = engines.vip.vip_shapley(model, data, **options)
    # Four roundings of numbers a million times the scores, which are below 10.
    np.testing.assert_allclose(vip_values, ours, atol=4e6 * 2**-53 * 10)
    assert not np.isclose(vip_values, plain).any()


@pytest.mark.needs_vip
@pytest.mark.needs_fastshap
@pytest.mark.usefixtures("r")
def test_beside_a_category_numbers_keep_every_digit():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"x": rng.normal(size=40), "g": pd.Categorical(["a", "b"] * 20)})

    def last_digits(X):
        return (1e9 * X["x"] % 1 + (X["g"] == "b")).to_numpy()

    model, data = (
        replace(linear_model(2), predict=last_digits),
        dataset(X, np.zeros(40)),
    )
    line = engines.describe_engine("vip").stream
    options = {"seed": 1, "n_repeats": 1, "n_permutations": 1}
    ours, _ = shapley.shapley(model, data, stream=line, **options)
    vip_values, _ = engines.vip.vip_shapley(model, data, **options)
    assert_replayed(ours, vip_values, 0)


def row_of(name):
    """Return the function of an engine by its name, "dalex_curve"."""
    return getattr(getattr(engines, name.split("_")[0]), name)


CURVES = [
    pytest.param("dalex_curve", marks=pytest.mark.needs_dalex),
    pytest.param("vip_curve", marks=[pytest.mark.needs_vip, pytest.mark.needs_pdp]),
    pytest.param("pdp_curve", marks=pytest.mark.needs_pdp),
    pytest.param("iml_partial_dependence", marks=pytest.mark.needs_iml),
]


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("options", [{"n_grid": 11}, {"grid": (2.5, 0.0)}], ids=str)
def test_curves_are_ours_on_our_grid(apartments, curve, options):
    train, test = apartments
    model, data = fitted("forest", train), first(test, 100)
    for feature in data.features:
        ours = effect.partial_dependence(model, data, feature, seed=1, **options)
        reference = row_of(curve)(model, data, feature, seed=1, **options)
        np.testing.assert_array_equal(ours[0], reference[0])
        assert ours[0].dtype == reference[0].dtype
        assert_replayed(ours[1], reference[1], 0)


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("scale", ["native", "link", "centred_logit"])
@pytest.mark.parametrize(
    ("model", "data"),
    [(logistic_model(1, 2), binary_data()), (level_model(), level_data())],
    ids=["binary", "multiclass"],
)
@pytest.mark.usefixtures("r")
def test_curves_are_averaged_on_the_scale_asked(curve, scale, model, data):
    for feature in data.features:
        options = {"seed": 1, "scale": scale, "n_grid": 5}
        _, ours = effect.partial_dependence(model, data, feature, **options)
        _, reference = row_of(curve)(model, data, feature, **options)
        assert_replayed(ours, reference, 1)


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.usefixtures("r")
def test_flags_and_ordered_levels_keep_their_type_in_r(curve):
    grades = pd.CategoricalDtype(["low", "middle", "high"], ordered=True)
    X = pd.DataFrame({"flag": [True, False, True], "grade": ["low", "high", "high"]})
    X = X.astype({"grade": grades})

    def predict(X):
        assert dict(X.dtypes) == {"flag": np.dtype(bool), "grade": grades}
        return X["flag"] * 2.0 + X["grade"].cat.codes

    model = replace(linear_model(), predict=lambda X: predict(X).to_numpy(float))
    data = dataset(X, np.zeros(3))
    for feature, expected in (
        ("flag", [4 / 3, 10 / 3]),
        ("grade", [4 / 3, 7 / 3, 10 / 3]),
    ):
        _, values = row_of(curve)(model, data, feature, seed=1)
        np.testing.assert_allclose(values[:, 0], expected, rtol=1e-12)


PROFILES = pytest.mark.parametrize("kind", ["conditional", "accumulated"])


def profiles(kind, model, data, feature, **options):
    """Return our profile of rows that lie near, and DALEX's."""
    ours = getattr(local_profiles, f"{kind}_profile")
    dalex_profile = getattr(engines.dalex, f"dalex_{kind}_profile")
    return [row(model, data, feature, **options) for row in (ours, dalex_profile)]


@PROFILES
@pytest.mark.needs_dalex
@pytest.mark.usefixtures("r")
@pytest.mark.parametrize(
    "options",
    [{"n_rows": 20, "span": 0.1}, {"grid": (0.25, -1.0, 2.0)}],
    ids=str,
)
@pytest.mark.parametrize(
    ("model", "data"),
    [(logistic_model(1, 2), binary_data()), (level_model(), level_data())],
    ids=["binary", "multiclass"],
)
def test_profiles_of_rows_that_lie_near_are_ours(kind, options, model, data):
    for feature in data.features:
        arguments = {"seed": 7, "n_grid": 11, "scale": "centred_logit", **options}
        ours, reference = profiles(kind, model, data, feature, **arguments)
        np.testing.assert_array_equal(ours[0], reference[0])
        assert_replayed(ours[1], reference[1], 0)


@PROFILES
@pytest.mark.needs_dalex
def test_profiles_of_a_forest_are_ours(apartments, kind):
    train, test = apartments
    model, data = fitted("forest", train), first(test, 60)
    for feature in data.features:
        ours, reference = profiles(kind, model, data, feature, seed=1)
        assert_replayed(ours[1], reference[1], 0)


@PROFILES
@pytest.mark.needs_dalex
@pytest.mark.usefixtures("r")
def test_levels_and_flags_have_profiles_in_their_order(kind):
    grades = pd.CategoricalDtype(["low", "middle", "high", "never"], ordered=True)
    n = np.arange(24)
    X = pd.DataFrame({"grade": pd.Categorical.from_codes(n % 3, dtype=grades)})
    X["flag"] = n % 5 < 2

    def predict(X):
        return (X["grade"].cat.codes ** 2 * (X["flag"] + 1.0)).to_numpy()

    model = replace(linear_model(), predict=predict)
    for feature in X:
        ours, reference = profiles(kind, model, dataset(X, 0 * n), feature, seed=1)
        assert_replayed(ours[1], reference[1], 0)


@pytest.mark.needs_dalex
@pytest.mark.usefixtures("r")
def test_where_no_row_is_near_dalex_says_zero_and_is_not_heard():
    options = {"seed": 2, "n_rows": 2}  # of levels a and c
    _, reference = profiles(
        "conditional", level_model(), level_data(), "kind", **options
    )
    assert np.isnan(reference[1]).all(axis=1).tolist() == [False, True, False]
    with pytest.raises(NotApplicable, match="it has none near 'b'"):
        engines.dalex.dalex_accumulated_profile(
            level_model(), level_data(), "kind", **options
        )


@pytest.mark.needs_vip
@pytest.mark.needs_pdp
@pytest.mark.parametrize("kind", ["forest", "linear"])
@pytest.mark.parametrize("spread", ["quarter_range", "range"])
def test_firm_is_our_partial_dependence_importance(apartments, kind, spread):
    train, test = apartments
    model, data = fitted(kind, train), first(test, 100)
    options = {"seed": 1, "n_grid": 11, "categorical_spread": spread}
    ours, zero = partial_dependence.partial_dependence(model, data, **options)
    vip_scores, flat = engines.vip.vip_partial_dependence(model, data, **options)
    assert_replayed(ours, vip_scores, 0)
    np.testing.assert_array_equal(zero, flat)


@pytest.mark.needs_vip
@pytest.mark.needs_pdp
@pytest.mark.usefixtures("r")
def test_firm_measures_each_class_by_itself():
    model, data = level_model(), level_data()
    ours, _ = partial_dependence.partial_dependence(model, data, seed=1)
    vip_scores, _ = engines.vip.vip_partial_dependence(model, data, seed=1)
    assert vip_scores.shape == (3, 1, 3)
    assert_replayed(ours, vip_scores, 1)


ROWS = [
    (engine, table, key)
    for engine in engines.ENGINES
    if engine != "python"
    for table in ("importance", "effects")
    for key in engines.ENGINES[engine][table]
]


@pytest.mark.parametrize(("engine", "table", "key"), ROWS)
def test_every_option_of_an_r_row_is_one_of_ours_with_its_default(engine, table, key):
    ours = engines.ENGINES["python"][table][key]
    r_row = engines.ENGINES[engine][table][key]
    assert options_of(r_row.function).items() <= options_of(ours.function).items()
    assert r_row._replace(function=None) == ours._replace(function=None)
    ours_annotated = signature(ours.function).parameters
    for name in options_of(r_row.function):
        assert signature(r_row.function).parameters[name].annotation == (
            ours_annotated[name].annotation
        )


@pytest.mark.needs_dalex
@pytest.mark.usefixtures("r")
def test_a_model_that_answers_r_alike_has_equal_predictions():
    assert engines.compare_predictions(logistic_model(1, 2), binary_data()) == (0.0, 0)
    assert engines.compare_predictions(level_model(), level_data()) == (0.0, 0)


@pytest.mark.needs_dalex
@pytest.mark.usefixtures("r")
def test_the_largest_relative_difference_of_predictions_is_told():
    answers = iter([np.array([0.0, 2.0, -4.0]), np.array([0.0, 2.0, -5.0])])
    model = replace(linear_model(1), predict=lambda _: next(answers))
    assert engines.compare_predictions(model, normal_data(1, n_samples=3))[0] == 0.2


def weighted():
    data = normal_data()
    return replace(data, weights=np.linspace(1, 2, data.n_samples))


REFUSED = [
    pytest.param(
        "vip_permutation",
        weighted(),
        {},
        "vip does not support row weights, so it would measure something else.",
        marks=pytest.mark.needs_vip,
    ),
    pytest.param(
        "vip_partial_dependence",
        weighted(),
        {},
        "vip does not support row weights, so it would measure something else.",
        marks=pytest.mark.needs_vip,
    ),
    pytest.param(
        "dalex_permutation",
        weighted(),
        {},
        "DALEX ignores row weights, so it would measure something else.",
        marks=pytest.mark.needs_dalex,
    ),
    (
        "vip_permutation",
        normal_data().with_groups({"both": ("x1", "x2")}),
        {},
        "vip has no groups: it permutes single features only.",
    ),
    (
        "vip_permutation",
        normal_data(),
        {"form": "raw"},
        "vip computes differences and ratios only; the form requested is 'raw'.",
    ),
    (
        "vip_shapley",
        normal_data().with_groups({"x2": ("x2",)}),
        {},
        "vip explains predictions by the requested columns only, but 1 of 2 are "
        "requested. Request all features.",
    ),
    (
        "dalex_curve",
        replace(normal_data(), X=normal_data().X.rename(columns={"x1": "_vname_"})),
        {"feature": "x2"},
        "DALEX reserves the name '_vname_' for its own use.",
    ),
    pytest.param(
        "dalex_accumulated_profile",
        normal_data(1),
        {"feature": "x1", "n_rows": 5},
        "DALEX cannot draw rows of a single column for a profile. Leave n_rows out to "
        "use all rows.",
        marks=pytest.mark.needs_dalex,
    ),
    (
        "dalex_conditional_profile",
        replace(normal_data(), X=normal_data().X.shift()),
        {"feature": "x1"},
        "Column 'x1' must have a value in every row for a conditional profile of "
        "DALEX; some are missing.",
    ),
    (
        "dalex_permutation",
        normal_data().with_groups({"_baseline_": ("x1",)}),
        {},
        "DALEX reserves the name '_baseline_' for its own use.",
    ),
    *(
        (
            row,
            replace(
                normal_data(),
                X=normal_data().X.rename(columns={"x1": ""}),
                groups={"": ("",), "x2": ("x2",)},
            ),
            options,
            f"{row_engine} cannot be asked about a table with a column named '': R "
            "finds no column by an empty name. Rename it.",
        )
        for row, row_engine, options in (
            ("dalex_permutation", "DALEX", {}),
            ("dalex_curve", "DALEX", {"feature": "x2"}),
            ("pdp_curve", "pdp", {"feature": "x2"}),
            ("vip_permutation", "vip", {}),
        )
    ),
    (
        "dalex_permutation",
        normal_data(),
        {"n_rows": 1},
        "DALEX permutes a single target as if it were a count.",
    ),
]


@pytest.mark.parametrize(("row", "data", "options", "message"), REFUSED)
def test_what_r_cannot_be_asked_is_said(row, data, options, message):
    with pytest.raises(NotApplicable) as refusal:
        row_of(row)(linear_model(2, 1), data, seed=1, **options)
    assert str(refusal.value) == message


@pytest.mark.needs_dalex
@pytest.mark.parametrize("scale", ["link", "centred_logit"])
def test_a_regression_has_no_other_scale_in_r_either(scale):
    model, data = linear_model(2, 1), normal_data()
    options = {"seed": 1, "scale": scale}
    with pytest.raises(NotApplicable) as ours:
        effect.partial_dependence(model, data, "x1", **options)
    with pytest.raises(NotApplicable) as dalex_refusal:
        engines.dalex.dalex_curve(model, data, "x1", **options)
    assert str(ours.value) == str(dalex_refusal.value)


@pytest.mark.needs_dalex
@pytest.mark.usefixtures("r")
def test_what_predict_raises_comes_back_as_it_was():
    failure = ZeroDivisionError("of the model's own")

    def fails(_):
        raise failure

    with pytest.raises(ZeroDivisionError) as raised:
        engines.dalex.dalex_permutation(
            replace(linear_model(1), predict=fails), normal_data(1), seed=1
        )
    assert raised.value is failure


def test_python_is_always_there():
    python = engines.describe_engine("python")
    assert (python.available, python.stream, python.reason) == (True, "numpy", "")


@pytest.mark.needs_dalex
def test_dalex_is_described_by_its_version():
    version = host.installed()["packages"]["DALEX"]
    assert engines.describe_engine("DALEX") == ("DALEX", True, version, "DALEX", "")


@pytest.mark.needs_vip
def test_vip_is_described_by_its_version_and_line():
    version = host.installed()["packages"]["vip"]
    line = ".".join(version.split(".")[:2])
    assert engines.describe_engine("vip") == ("vip", True, version, f"vip-{line}", "")


@pytest.mark.parametrize(
    ("engine", "versions", "words"),
    [
        ("DALEX", {"DALEX": "2.5.4", "ingredients": "2.3.0"}, ""),
        ("DALEX", {"DALEX": "2.5.4", "ingredients": "2.3.1"}, "ingredients 2.3.1"),
        ("DALEX", {"DALEX": "2.10.0", "ingredients": "2.3.0"}, "DALEX 2.10.0"),
        ("vip", {"vip": "0.5.0.9000", "pdp": "0.10.0"}, ""),
        ("vip", {"vip": "0.6.0"}, "vip 0.6.0"),
        ("hstats", {"hstats": "1.3.0"}, "hstats 1.3.0"),
        ("iml", {"iml": "0.12.0"}, "iml 0.12.0"),
        ("pdp", {"pdp": "0.10.1"}, "pdp 0.10.1"),
    ],
)
def test_a_package_newer_than_those_whose_numbers_were_met_is_said_to_be(
    engine, versions, words
):
    note = engines.availability.untried(engine, versions)
    newer = " is newer than any tested version (newest tested: "
    assert note.partition(newer)[0] == words
    assert bool(note) == bool(words)


@pytest.mark.parametrize("engine", sorted({*engines.ENGINES} - {"python"}))
def test_every_engine_has_a_range_of_versions_that_were_tried(engine):
    oldest, newest = engines.availability.PACKAGES[engine]
    assert not engines.availability.is_older(newest, oldest[:3])


DESCRIBED = """
from importance_audit.engines import describe_engine
print(*describe_engine("vip"), sep="|")
"""
ASKED = """
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.engines.vip import vip_curve, vip_shapley
from importance_audit.r_bridge import host
model, data = linear_model(2), normal_data(2)
for name, ask, of in ("pdp", vip_curve, ["x1"]), ("fastshap", vip_shapley, []):
    print(name in host.installed()["packages"])
    try:
        ask(model, data, *of, seed=1)
        print()
    except Exception as refusal:
        print(type(refusal).__name__, refusal, sep=": ")
"""


def report_of(code, library):
    """Return what a new Python prints when R looks in this library only."""
    variables = {"IMPORTANCE_AUDIT_R_LIBRARY": str(library), "R_LIBS": ""}
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | variables,
        check=True,
        capture_output=True,
        text=True,
    )
    return ran.stdout.rstrip("\n")


def library_with_vip(folder, version, code=""):
    """Return a library with an R package called vip that holds nothing else."""
    (folder / "library").mkdir()
    (folder / "vip" / "R").mkdir(parents=True)
    (folder / "vip" / "NAMESPACE").touch()
    (folder / "vip" / "R" / "code.R").write_text(code)
    (folder / "vip" / "DESCRIPTION").write_text(
        f"Package: vip\nVersion: {version}\nTitle: Empty\nDescription: Empty.\n"
        "Author: Nobody\nMaintainer: Nobody <nobody@example.org>\nLicense: GPL-3\n"
    )
    install = ["R", "CMD", "INSTALL", "--no-docs", "--no-test-load"]
    command = [*install, f"--library={folder / 'library'}", str(folder / "vip")]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "library"


@pytest.mark.needs_r
def test_a_missing_package_is_named_with_the_remedy(tmp_path):
    output = report_of(DESCRIBED, tmp_path)
    if "True" in output:
        pytest.skip("vip is installed for all users of this machine")
    version = host.installed()["r_version"]
    reason = f"R {version} has no package 'vip'. Run: importance-audit install-r"
    assert output == f"vip|False|||{reason}"


@pytest.mark.needs_r
def test_a_package_that_was_tried_in_vain_is_not_advised_again(tmp_path):
    kept = "fastshap: no repository answered\nvip: no repository offers it\n"
    (tmp_path / "importance-audit-not-had").write_text(kept)
    output = report_of(DESCRIBED, tmp_path)
    if "True" in output:
        pytest.skip("vip is installed for all users of this machine")
    version = host.installed()["r_version"]
    assert output == (
        f"vip|False|||R {version} has no package 'vip'. Installing it was tried in "
        "vain: no repository offers it. Numbers computed elsewhere can be compared "
        "with [[supplied]]."
    )


OFFERED = "Run: importance-audit install-r"
IN_VAIN = (
    "Installing it was tried in vain: {}. Numbers computed elsewhere can be compared "
    "with [[supplied]]."
)


@pytest.mark.needs_r
@pytest.mark.parametrize(
    ("kept", "remedies"),
    [
        ("", [OFFERED] * 2),
        (
            "pdp: no repository answered\nfastshap: no repository offers it\n",
            [
                IN_VAIN.format("no repository answered"),
                IN_VAIN.format("no repository offers it"),
            ],
        ),
    ],
)
def test_vip_without_another_package_says_what_it_lacks(tmp_path, kept, remedies):
    library = library_with_vip(tmp_path, "0.5.0")
    if kept:
        (library / "importance-audit-not-had").write_text(kept)
    lines = report_of(ASKED, library).splitlines()
    if "True" in lines[::2]:
        pytest.skip("one of them is installed for all users of this machine")
    assert lines[1::2] == [
        f"NotApplicable: vip takes {what} from R package {name!r}, which is not "
        f"installed. {remedy}"
        for (what, name), remedy in zip(
            (("its curves", "pdp"), ("Shapley values", "fastshap")),
            remedies,
            strict=True,
        )
    ]


@pytest.mark.needs_r
def test_a_package_older_than_what_was_replayed_is_not_asked(tmp_path):
    library = library_with_vip(tmp_path, "0.3.2")
    version = host.installed()["r_version"]
    has = f"R {version} has vip 0.3.2, and 0.4.0 is the oldest version supported."
    expected = f"vip|False|||{has} Run: importance-audit install-r"
    assert report_of(DESCRIBED, library) == expected


@pytest.mark.needs_r
def test_a_package_that_does_not_load_is_told_from_none(tmp_path):
    broken = '.onLoad <- function(...) stop("a library is missing")'
    output = report_of(DESCRIBED, library_with_vip(tmp_path, "0.5.0", broken))
    version = host.installed()["r_version"]
    assert output.startswith(f"vip|False|||R {version} cannot load package 'vip' (")
    assert "a library is missing" in output


def test_our_own_tables_are_the_engine_python():
    assert engines.ENGINES["python"]["importance"] is METHODS
