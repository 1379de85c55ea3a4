"""Gradient sensitivity: closed forms, and what it does not see beside FIRM."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, PoissonRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor
from tests.known_answers import level_data, level_model
from tests.methods.importance.toys import refused, score_of

from importance_audit.methods.importance.firm import gradient_sensitivity
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.models.fit import wrap

DATA = normal_data(3, -1)


def measured(model, data, **options):
    raw, baseline = gradient_sensitivity(model, data, seed=1, **options)
    assert not baseline.any()
    return raw[:, 0, 0]


def plain(estimator):
    """Return the same predictions with the estimator out of sight."""
    names = list(estimator.feature_names_in_)
    return score_of(lambda X: estimator.predict(X[names]), DATA.features)


def test_a_linear_score_measures_its_weights_times_the_sd():
    data = replace(DATA, X=DATA.X * [1.0, 10.0])
    assert measured(linear_model(3, -1), data) == pytest.approx([3, 10], rel=1e-6)


@pytest.mark.parametrize(
    "estimator",
    [
        SVR(),
        SVR(gamma=0.2),
        KernelRidge(kernel="rbf"),
        KernelRidge(kernel="rbf", gamma=0.2),
        LinearRegression(),
    ],
    ids=str,
)
def test_the_slopes_an_estimator_reports_are_its_difference_quotients(estimator):
    estimator.fit(DATA.X[["x2", "x1"]], np.sin(DATA.y))  # any order of the columns
    slopes = measured(wrap(estimator, name="m"), DATA)
    quotient = measured(plain(estimator), DATA)
    assert slopes == pytest.approx(quotient, rel=1e-6)
    assert (slopes != quotient).all()


@pytest.mark.parametrize(
    "estimator",
    [
        PoissonRegressor(),
        make_pipeline(StandardScaler(), SVR()),
        SVR(kernel="poly"),
        KernelRidge(kernel="laplacian"),
    ],
    ids=str,
)
def test_weights_that_do_not_give_the_predictions_are_not_taken(estimator):
    estimator.fit(DATA.X * 2, np.exp(DATA.y / 9))
    slopes = measured(wrap(estimator, name="m"), DATA)
    assert slopes.tolist() == measured(plain(estimator), DATA).tolist()


def test_what_has_no_slope_has_no_answer():
    X = DATA.X.assign(
        same=1.0,
        yes=DATA.X["x1"] > 0,
        holed=DATA.X["x1"].where(DATA.X["x1"] > 0),
        kind=pd.Categorical(["a", "b"] * 100),
    )
    groups = {name: (name,) for name in X} | {"both": ("x1", "x2")}
    data = replace(DATA, X=X, groups=groups)
    slopes = measured(linear_model(3, -1), data)
    assert np.isnan(slopes).tolist() == [False, False, True, True, True, True, True]


def test_a_model_may_read_a_category_beside_what_is_asked():
    raw, _ = gradient_sensitivity(level_model(), level_data(), seed=1)
    assert np.isnan(raw[:, 0]).all(axis=1).tolist() == [False, True, False]
    assert raw[0].tolist() == [[0.0, 0.0, 0.0]]


@pytest.mark.parametrize(
    "estimator",
    [
        DecisionTreeRegressor(),
        make_pipeline(StandardScaler(), RandomForestRegressor(2)),
    ],
    ids=["tree", "forest"],
)
def test_a_score_of_steps_is_refused(estimator):
    kind = type(estimator[-1] if hasattr(estimator, "steps") else estimator).__name__
    model = wrap(estimator.fit(DATA.X, DATA.y), name="steps")
    assert refused(gradient_sensitivity, model, DATA) == (
        f"Model 'steps' must have a score with slopes; a {kind} predicts in steps. "
        "Use FIRM with estimator 'auto'."
    )


def test_a_parabola_measures_twice_the_root_mean_square_times_the_sd():
    """s = x^2 has slope 2x, so I = 2 sqrt(E x^2) sd(x) = 2 for a standard column."""
    parabola = score_of(lambda X: X["x1"] ** 2, ["x1"])
    assert measured(parabola, DATA) == pytest.approx([2, 0], rel=1e-6)
