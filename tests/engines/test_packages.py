"""What hstats and iml say themselves is what we make of their answers."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t
from tests.cases import for_each
from tests.engines.replaying import both, mixed, rows_of

from importance_audit.engines.hstats import hstats_permutation
from importance_audit.engines.iml import iml_permutation
from importance_audit.methods.effects.ale import ale
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.r_bridge import host

AS_THEIR_USERS_ASK = """
its_own_importance <- function(data, y, predict, weights) {
  set.seed(7, "Mersenne-Twister", "Inversion", "Rejection")
  found <- hstats::perm_importance(
    1, data, y, pred_fun = predict, m_rep = 3, w = weights, verbose = FALSE
  )
  list(feature = rownames(found$M), mean = drop(found$M), error = drop(found$SE))
}
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
    file = tmp_path_factory.mktemp("r") / "as_their_users_ask.R"
    file.write_text(AS_THEIR_USERS_ASK)
    with host.session(extra_r_files=[file]) as worker:
        yield worker


@pytest.mark.needs_hstats
def test_means_and_standard_errors_are_those_hstats_tells_its_users(r):
    model, data = mixed(weights=np.linspace(0.5, 2, 40))
    question = {"data": data.X, "y": data.y, "weights": data.weights}
    table = r.call(
        "its_own_importance", question, predict=model.predict, schema_of=data.X
    )
    raw, full = hstats_permutation(
        model.with_losses(("mse",)), data, seed=7, n_repeats=3
    )
    rises = (raw - full)[[data.features.index(name) for name in table["feature"]], :, 0]
    errors = rises.std(axis=1, ddof=1) / np.sqrt(3)
    np.testing.assert_allclose(rises.mean(axis=1), table["mean"], rtol=1e-9)
    np.testing.assert_allclose(errors, table["error"], rtol=1e-9)


PAIRS = {"a:b": ("x1", "x2"), "b:c": ("x2", "x3"), "a": ("x1",), "c": ("x3",)}


@pytest.mark.needs_hstats
@for_each([False, True])
def test_columns_that_add_up_and_a_model_that_says_nothing_have_exactly_none(is_share):
    options = {"n_rows": 50, "standardised": is_share}
    data = normal_data(2, 1, 0)
    for model in (linear_model(2, 1, 0), linear_model(0, 0, 0)):
        question = model, data.with_groups(PAIRS)
        (ours, _), (theirs, _) = both("hstats", "h_statistic", *question, **options)
        np.testing.assert_array_equal(ours, theirs)
        assert not np.nan_to_num(ours).any()
        (ours, _), (theirs, _) = both("hstats", "pd_importance", model, data, **options)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
        assert not np.nan_to_num(ours[2]).any()


@pytest.mark.needs_iml
def test_the_curve_over_levels_in_the_order_of_iml_has_its_values(r):
    draws = np.random.default_rng(5)
    g, h = draws.integers(0, 6, 200), draws.random(200)
    u = draws.normal(size=200) + np.array([3, 1, 0, 5, 2, 4])[g]
    kinds = np.where(h < np.array([0.9, 0.1, 0.5, 0.3, 0.6, 0.2])[g], "p", "q")
    levels = pd.Categorical([list("abcdef")[code] for code in g])
    X = pd.DataFrame({"g": levels, "u": u, "h": pd.Categorical(kinds)})

    def predict(X):
        place = X["g"].astype(str).map("_abcdef".index)  # of R's own order
        return (X["u"] * place**2).to_numpy(float)

    model = replace(linear_model(1), features=tuple(X), predict=predict)
    reference = r.call("ale_in_its_own_order", {"data": X})
    X["g"] = levels.reorder_categories(list(reference["order"]))
    grid, values = ale(model, rows_of(X), "g", seed=1)
    ours = dict(zip(grid, values[:, 0], strict=True))
    truth = dict(zip("abcdef", np.asarray(reference["values"]), strict=True))
    assert ours == pytest.approx(truth, rel=1e-9)


@pytest.mark.needs_iml
def test_iml_may_be_asked_about_a_column_with_some_gaps():
    data = normal_data(2, 1)
    X = data.X.assign(x2=data.X["x2"].where(data.X["x1"] > 0))
    model = replace(
        linear_model(2, 1), predict=lambda X: X.fillna(0).to_numpy() @ [2.0, 1.0]
    )
    options = {"seed": 1, "n_repeats": 2}
    _, ours = permutation(model, replace(data, X=X), **options)
    _, full = iml_permutation(model, replace(data, X=X), **options)
    assert full == pytest.approx(ours, rel=1e-12)


@pytest.mark.needs_iml
def test_losses_of_iml_are_equal_in_law_to_ours_and_drawn_by_the_seed():
    model, data = mixed(groups={"together": (".id", "kind"), "alone": ("fare (£)",)})
    model = model.with_losses(("rmse",))
    ours, full = permutation(model, data, seed=1, n_repeats=400)
    iml_losses, iml_full = iml_permutation(model, data, seed=1, n_repeats=8)
    assert iml_full == pytest.approx(full[:8], rel=1e-12)
    gap = np.abs(iml_losses.mean(axis=1) - ours.mean(axis=1))
    error = np.hypot(iml_losses.std(axis=1, ddof=1) / 8**0.5, ours.std(axis=1) / 20)
    assert (gap < t.isf(1e-4, 7) * error).all()
    assert (iml_losses.std(axis=1) > 0).all()
    again, _ = iml_permutation(model, data, seed=1, n_repeats=8)
    other, _ = iml_permutation(model, data, seed=2, n_repeats=8)
    np.testing.assert_array_equal(iml_losses, again)
    assert (iml_losses != other).any(axis=0).all()
