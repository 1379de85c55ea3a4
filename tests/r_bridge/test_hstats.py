"""hstats is asked for what we replay: losses by repeat, H, PD importance; weighted."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from importance_audit.engines.hstats import (
    hstats_h_statistic,
    hstats_pd_importance,
    hstats_permutation,
)
from importance_audit.methods.importance.h_statistic import h_statistic
from importance_audit.methods.importance.pd_importance import pd_importance
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.known_answers import (
    binary_data,
    level_data,
    level_model,
    linear_model,
    logistic_model,
    normal_data,
)
from importance_audit.r_bridge import host
from importance_audit.records.errors import NotApplicable

pytestmark = pytest.mark.needs_hstats
WEIGHTS = np.linspace(0.5, 2, 60)
PAIRS = {"a:b": ("size (m²)", "if"), "b:c": ("kind", "if"), "c:d": ("kind", "flag")}
THREE = {"two": ("if", "kind"), "three": ("size (m²)", "if", "kind"), "one": ("flag",)}
TOGETHER = {"x": ("if", "kind"), "y": ("size (m²)",)}
AS_ITS_USERS_ASK = """
its_own_importance <- function(data, y, predict, weights) {
  set.seed(7, "Mersenne-Twister", "Inversion", "Rejection")
  found <- hstats::perm_importance(
    1, data, y, pred_fun = predict, m_rep = 3, w = weights, verbose = FALSE
  )
  list(feature = rownames(found$M), mean = drop(found$M), error = drop(found$SE))
}
"""


@pytest.fixture(scope="module", autouse=True)
def r(tmp_path_factory):
    file = tmp_path_factory.mktemp("r") / "its_own.R"
    file.write_text(AS_ITS_USERS_ASK)
    with host.session(extra_r_files=[file]) as worker:
        yield worker


def predict(X):
    kind = (X["kind"] == "u").to_numpy()
    size = X["size (m²)"].to_numpy() * (1 + X["flag"].to_numpy())
    return size + kind * X["if"].to_numpy() ** 1.5 * (1 + X["size (m²)"].to_numpy())


def mixed(groups=None, weights=None):
    """Return 60 rows of numbers, flags and levels under odd names, and their model."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(
        {
            "size (m²)": rng.normal(size=60),
            "if": rng.integers(0, 5, 60),
            "flag": rng.random(60) < 0.4,
            "kind": pd.Categorical(rng.choice(["u", "v"], 60), ["w", "v", "u"]),
        }
    )
    y, weights = predict(X) + rng.normal(size=60), weights
    data = replace(normal_data(), X=X, y=y, weights=np.ones(60))
    data = data if weights is None else replace(data, weights=weights)
    model = replace(linear_model(1), predict=predict, features=tuple(X))
    losses = ("rmse", "mse", "mae")
    return replace(model, losses=losses), data.with_groups(
        groups or {c: (c,) for c in X}
    )


def assert_replayed(ours, reference):
    assert ours == pytest.approx(reference, rel=1e-9, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("groups", [None, TOGETHER], ids=["features", "groups"])
@pytest.mark.parametrize(("n_repeats", "n_rows"), [(1, None), (3, 40)])
def test_every_repeat_of_hstats_is_replayed(weights, groups, n_repeats, n_rows):
    model, data = mixed(groups, weights)
    options = {"seed": 7, "n_repeats": n_repeats, "n_rows": n_rows}
    hstats_answer = hstats_permutation(model, data, **options)
    for ours, reference in zip(
        permutation(model, data, stream="hstats", **options), hstats_answer, strict=True
    ):
        assert_replayed(ours, reference)


@pytest.mark.parametrize(
    ("model", "data"),
    [(logistic_model(1, 2), binary_data()), (level_model(), level_data())],
    ids=["binary", "multiclass"],
)
def test_losses_of_a_classifier_that_are_means_over_rows_are_replayed(model, data):
    model = model.with_losses(("log_loss", "brier", "one_minus_accuracy"))
    options = {"seed": 7, "n_repeats": 2, "n_rows": 50}
    ours, _ = permutation(model, data, stream="hstats", **options)
    assert_replayed(ours, hstats_permutation(model, data, **options)[0])


def test_deviances_are_replayed():
    model, data = mixed()
    positive = replace(data, y=np.exp(data.y), weights=WEIGHTS)
    model = replace(model, predict=lambda X: np.exp(predict(X)))
    model = model.with_losses(("poisson_deviance", "gamma_deviance"))
    ours, _ = permutation(model, positive, seed=7, stream="hstats", n_repeats=2)
    reference, _ = hstats_permutation(model, positive, seed=7, n_repeats=2)
    assert_replayed(ours, reference)


def test_means_and_standard_errors_are_those_hstats_tells_its_users(r):
    model, data = mixed(weights=WEIGHTS)
    model = model.with_losses(("mse",))
    arguments = {"data": data.X, "y": data.y, "weights": data.weights}
    table = r.call("its_own_importance", arguments, predict=predict, schema_of=data.X)
    raw, full = hstats_permutation(model, data, seed=7, n_repeats=3)
    rows = [data.features.index(name) for name in table["feature"]]
    rises = (raw - full)[rows, :, 0]
    assert_replayed(rises.mean(axis=1), table["mean"])
    assert_replayed(rises.std(axis=1, ddof=1) / np.sqrt(3), table["error"])


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("groups", [None, PAIRS, THREE], ids=["all", "pairs", "three"])
@pytest.mark.parametrize("standardised", [False, True])
@pytest.mark.parametrize("n_rows", [None, 30])
def test_h_of_one_two_and_three_columns_is_replayed(
    weights, groups, standardised, n_rows
):
    model, data = mixed(groups, weights)
    options = {"seed": 7, "n_rows": n_rows, "standardised": standardised}
    ours, _ = h_statistic(model, data, stream="hstats", **options)
    reference, zero = hstats_h_statistic(model, data, **options)
    assert ours.max() > 0.1
    assert_replayed(ours, reference)
    assert not zero.any()


@pytest.mark.parametrize("scale", ["link", "centred_logit"])
def test_h_of_each_class_is_measured_on_the_scale_asked(scale):
    model, data = level_model(), level_data()
    ours, _ = h_statistic(model, data, seed=1, n_rows=None, scale=scale)
    reference, _ = hstats_h_statistic(model, data, seed=1, n_rows=None, scale=scale)
    assert reference.shape == (3, 1, 3)
    assert_replayed(ours, reference)


@pytest.mark.parametrize("standardised", [False, True])
def test_columns_that_add_up_have_no_h_and_a_model_that_says_nothing_no_ratio(
    standardised,
):
    groups = {"a:b": ("x1", "x2"), "b:c": ("x2", "x3"), "a": ("x1",), "c": ("x3",)}
    data = normal_data(2, 1, 0).with_groups(groups)
    options = {"seed": 1, "n_rows": 50, "standardised": standardised}
    for model in (linear_model(2, 1, 0), linear_model(0, 0, 0)):
        ours, _ = h_statistic(model, data, stream="hstats", **options)
        reference, _ = hstats_h_statistic(model, data, **options)
        np.testing.assert_array_equal(ours, reference)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("groups", [None, {"k": ("kind",)}], ids=["all", "one"])
@pytest.mark.parametrize("standardised", [False, True])
@pytest.mark.parametrize("n_rows", [None, 30])
def test_what_the_other_columns_do_not_show_is_replayed(
    weights, groups, standardised, n_rows
):
    model, data = mixed(groups, weights)
    options = {"seed": 7, "n_rows": n_rows, "standardised": standardised}
    ours, _ = pd_importance(model, data, stream="hstats", **options)
    reference, zero = hstats_pd_importance(model, data, **options)
    assert ours.min() > 0
    assert_replayed(ours, reference)
    assert not zero.any()


def test_of_more_rows_than_hstats_takes_by_default_none_is_left_out():
    model, data = linear_model(2, 1), normal_data(2, 1, n_samples=501)
    options = {"seed": 7, "n_rows": None}
    ours, _ = pd_importance(model, data, stream="hstats", **options)
    assert_replayed(ours, hstats_pd_importance(model, data, **options)[0])


def test_pd_importance_of_each_class_is_measured_on_the_scale_asked():
    model, data = level_model(), level_data()
    options = {"seed": 1, "n_rows": None, "scale": "centred_logit"}
    ours, _ = pd_importance(model, data, **options)
    reference, _ = hstats_pd_importance(model, data, **options)
    assert reference.shape == (3, 1, 3)
    assert_replayed(ours, reference)


def test_a_column_that_is_not_read_has_exactly_no_pd_importance_in_either():
    data, options = normal_data(2, 0), {"seed": 1, "standardised": True}
    for model in (linear_model(2, 0), linear_model(0, 0)):
        ours, _ = pd_importance(model, data, stream="hstats", **options)
        reference, _ = hstats_pd_importance(model, data, **options)
        np.testing.assert_allclose(ours, reference, rtol=1e-12)
        assert ours[1, 0, 0] == 0 or np.isnan(ours).all()


def test_pd_importance_of_a_group_is_not_asked_of_hstats():
    with pytest.raises(NotApplicable) as refusal:
        hstats_pd_importance(*mixed(TOGETHER), seed=1)
    assert str(refusal.value) == (
        "hstats takes one column at a time for method 'pd_importance'; group 'x' "
        "has 2. Measure features instead."
    )


@pytest.mark.parametrize(
    ("losses", "words"),
    [(("sum_of_squares",), "'sum of squares' is"), (("mse", "sum_of_squares"), "is")],
)
def test_a_loss_that_is_no_mean_over_rows_is_refused(losses, words):
    with pytest.raises(NotApplicable) as refusal:
        hstats_permutation(linear_model(1).with_losses(losses), normal_data(1), seed=1)
    assert words in str(refusal.value)


def test_a_single_column_shares_nothing_and_is_refused():
    for ask in (hstats_h_statistic, hstats_pd_importance):
        with pytest.raises(NotApplicable) as refusal:
            ask(linear_model(1), normal_data(1), seed=1)
        assert str(refusal.value) == "hstats needs at least two columns; there is one."
