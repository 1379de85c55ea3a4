"""iml is asked for what we measure: equal curves and H, losses equal in law."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from importance_audit.engines.iml import (
    iml_ale,
    iml_h_statistic,
    iml_partial_dependence,
    iml_permutation,
)
from importance_audit.methods.effects.ale import ale
from importance_audit.methods.effects.partial_dependence import partial_dependence
from importance_audit.methods.importance.h_statistic import h_statistic
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.known_answers import (
    level_data,
    level_model,
    linear_model,
    normal_data,
)
from importance_audit.r_bridge import host
from importance_audit.records.errors import NotApplicable

pytestmark = pytest.mark.needs_iml
OWN_ORDER = """
ale_in_its_own_order <- function(data) {
  predictor <- iml::Predictor$new(
    model = list(1), data = data, batch.size = 1e6,
    predict.function = function(model, newdata) newdata$u * as.integer(newdata$g)^2
  )
  effect <- iml::FeatureEffect$new(predictor, feature = "g", method = "ale")$results
  effect <- effect[order(as.character(effect$g)), ]
  list(order = as.character(levels(effect$g)), values = effect$.value)
}
"""


@pytest.fixture(scope="module", autouse=True)
def r(tmp_path_factory):
    file = tmp_path_factory.mktemp("r") / "own_order.R"
    file.write_text(OWN_ORDER)
    with host.session(extra_r_files=[file]) as worker:
        yield worker


def test_levels_are_in_the_order_and_the_curve_has_the_values_of_iml(r):
    draws = np.random.default_rng(5)
    g, h = draws.integers(0, 6, 200), draws.random(200)
    levels = [list("abcdef")[code] for code in g]
    u = draws.normal(size=200) + np.array([3, 1, 0, 5, 2, 4])[g]
    kinds = np.where(h < np.array([0.9, 0.1, 0.5, 0.3, 0.6, 0.2])[g], "p", "q")
    X = pd.DataFrame({"g": pd.Categorical(levels), "u": u, "h": pd.Categorical(kinds)})
    model = replace(
        linear_model(1),
        features=tuple(X),
        predict=lambda X: (X["u"] * (X["g"].cat.codes + 1) ** 2).to_numpy(float),
    )
    data = replace(normal_data(), X=X, y=np.zeros(200), weights=np.ones(200))
    grid, values = ale(model, data, "g", seed=1, convention="iml")
    reference = r.call("ale_in_its_own_order", {"data": X})
    ours = dict(zip(grid, values[:, 0], strict=True))
    truth = dict(zip("abcdef", np.asarray(reference["values"]), strict=True))
    assert ours == pytest.approx(truth, rel=1e-9)
    assert list(grid) in (list(reference["order"]), list(reference["order"])[::-1])


def mixed(groups=None):
    """Return 40 rows of every type under odd names, one level absent, and a model."""
    rng = np.random.default_rng(1)
    kinds = pd.CategoricalDtype(["z", "u", "w", "v"], ordered=False)
    X = pd.DataFrame(
        {
            ".id": rng.normal(size=40),
            "fare (£)": rng.integers(0, 5, 40),
            "flag": rng.random(40) < 0.4,
            "kind": pd.Categorical(rng.choice(["u", "v", "z"], 40), dtype=kinds),
        }
    )

    def predict(X):
        assert dict(X.dtypes) == {**dict.fromkeys(X), **dict(types)}
        kind = X["kind"].cat.codes.to_numpy() ** 2.0
        return X[".id"].to_numpy() * (1 + X["flag"].to_numpy()) + kind * X["fare (£)"]

    types = X.dtypes
    model = replace(linear_model(1), predict=lambda X: predict(X).to_numpy(float))
    data = replace(normal_data(), X=X, y=rng.normal(size=40), weights=np.ones(40))
    model = replace(model, features=tuple(X), losses=("rmse", "mae"))
    return model, data.with_groups(groups or {name: (name,) for name in X})


def assert_replayed(ours, reference):
    np.testing.assert_array_equal(ours[0], reference[0])
    assert ours[0].dtype == reference[0].dtype
    assert ours[1] == pytest.approx(reference[1], rel=1e-9, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("feature", [".id", "fare (£)", "flag", "kind"])
def test_curves_of_columns_of_every_type_are_ours(feature):
    model, data = mixed()
    question = (model, data, feature)
    for ours, of_iml in ((partial_dependence, iml_partial_dependence), (ale, iml_ale)):
        reference = of_iml(*question, seed=1, n_grid=7)
        assert_replayed(ours(*question, seed=1, n_grid=7), reference)


@pytest.mark.parametrize("scale", ["native", "link", "centred_logit"])
def test_accumulated_effects_are_measured_on_the_scale_asked(scale):
    model, data = level_model(), level_data()
    for feature in data.features:
        options = {"seed": 1, "n_grid": 4, "scale": scale}
        ours = ale(model, data, feature, **options)
        assert_replayed(ours, iml_ale(model, data, feature, **options))


@pytest.mark.parametrize(
    "groups", [None, {"a": ("kind", "fare (£)"), "b": (".id", "flag"), "c": ("kind",)}]
)
def test_h_of_columns_and_pairs_is_ours(groups):
    model, data = mixed(groups)
    options = {"seed": 1, "n_rows": None, "standardised": True}
    ours, reference = (
        f(model, data, **options) for f in (h_statistic, iml_h_statistic)
    )
    assert ours[0].min() > 0.01
    assert ours[0] == pytest.approx(reference[0], rel=1e-9)
    of_all = iml_h_statistic(model, data, **options | {"n_rows": data.n_samples})
    np.testing.assert_array_equal(of_all[0], reference[0])


def test_a_column_with_some_gaps_may_be_asked_about():
    data = normal_data(2, 1)
    X = data.X.assign(x2=data.X["x2"].where(data.X["x1"] > 0))
    model = linear_model(2, 1)
    model = replace(model, predict=lambda X: X.fillna(0).to_numpy() @ [2.0, 1.0])
    options = {"seed": 1, "n_repeats": 2}
    _, ours = permutation(model, replace(data, X=X), **options)
    _, full = iml_permutation(model, replace(data, X=X), **options)
    assert full == pytest.approx(ours, rel=1e-12)


def test_losses_are_equal_in_law_and_the_full_loss_is_ours():
    model, data = mixed({"together": (".id", "kind"), "alone": ("fare (£)",)})
    model = model.with_losses(("rmse",))
    ours, full = permutation(model, data, seed=1, n_repeats=400)
    iml_losses, iml_full = iml_permutation(model, data, seed=1, n_repeats=8)
    assert iml_full == pytest.approx(full[:8], rel=1e-12)
    gap = np.abs(iml_losses.mean(axis=1) - ours.mean(axis=1))
    error = np.hypot(iml_losses.std(axis=1, ddof=1) / 8**0.5, ours.std(axis=1) / 20)
    assert (gap < t.isf(1e-4, 7) * error).all()
    assert (iml_losses.std(axis=1) > 0).all()


def test_the_same_seed_gives_the_same_losses_and_another_others():
    model, data = mixed()
    first, again, other = (
        iml_permutation(model, data, seed=seed, n_repeats=1)[0] for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any(axis=0).all()


def weighted():
    return replace(normal_data(), weights=np.linspace(1, 2, normal_data().n_samples))


THREE = normal_data(2, 1, 0).with_groups({"all": ("x1", "x2", "x3")})
REFUSED = [
    (
        iml_permutation,
        weighted(),
        {},
        "iml does not support row weights, so it would measure something else.",
    ),
    (
        iml_permutation,
        normal_data(1),
        {},
        "iml needs at least two columns; there is one.",
    ),
    (
        iml_h_statistic,
        normal_data(),
        {"n_rows": None},
        "iml computes H as a ratio only. Set standardised = true.",
    ),
    (
        iml_h_statistic,
        normal_data(),
        {"n_rows": 20, "standardised": True},
        f"iml draws 20 of {normal_data().n_samples} rows in an order that is not "
        f"replayed here. Set n_rows = {normal_data().n_samples}.",
    ),
    (
        iml_h_statistic,
        THREE,
        {"n_rows": None, "standardised": True},
        "iml computes H for one or two columns only.",
    ),
    (
        iml_ale,
        normal_data(),
        {"feature": "x1", "grid": (-1.0, 0.0, 1.0)},
        "iml moves every row, but {n} of {all} have no value of 'x1' within the grid.",
    ),
    (
        iml_partial_dependence,
        replace(normal_data(), X=normal_data().X.assign(x1=1.0)),
        {"feature": "x1"},
        "iml does not accept column 'x1', which has one value.",
    ),
]


@pytest.mark.parametrize(("row", "data", "options", "message"), REFUSED)
def test_what_iml_cannot_be_asked_is_said(row, data, options, message):
    outside = int((data.X["x1"].abs() > 1).sum())
    with pytest.raises(NotApplicable) as refusal:
        row(linear_model(2, 1), data, seed=1, **options)
    assert str(refusal.value) == message.format(n=outside, all=data.n_samples)


def test_a_prediction_of_several_numbers_is_refused():
    with pytest.raises(NotApplicable) as refusal:
        iml_permutation(level_model(), level_data(), seed=1)
    assert str(refusal.value).startswith("iml passes one number per row to a loss, but")
