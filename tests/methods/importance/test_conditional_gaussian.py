"""Draws from a joint normal given any columns: closed forms and moments."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from importance_audit.methods.importance.conditional_gaussian import (
    Normal,
    fit_normal,
    gaussian_sampler,
    given,
    symmetric_root,
)
from importance_audit.methods.known_answers import normal_data

WHITE = normal_data(1, 1, 1, n_samples=60)
MIXING = np.array([[2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 3.0, 0.5]])
DATA = replace(
    WHITE, X=pd.DataFrame(WHITE.X.to_numpy() @ MIXING.T, columns=WHITE.X.columns)
)
NAMES = tuple(DATA.X)


def noise(generator, shape):
    return generator.standard_normal(shape)


def sampler(data=DATA, n_draws=1, **options):
    return gaussian_sampler(
        data, tuple(data.X), n_draws=n_draws, noise=noise, **options
    )


def draws(known, *, rows, n_draws, data=DATA, **options):
    """Return what is drawn of each column, (n_rows, n_draws) each."""
    generator = np.random.default_rng(1)
    drawn = sampler(data, n_draws, **options)(known, np.asarray(rows), generator)
    return {name: x.reshape(len(rows), n_draws) for name, x in drawn.items()}


def test_given_others_it_is_what_least_squares_leave():
    """The covariance of the residuals, divisor n - 1, of a fit with an intercept."""
    x = DATA.X.to_numpy()
    normal = fit_normal(x, np.full(60, 1 / 60))
    known, unknown = np.array([2]), np.array([0, 1])
    design = np.column_stack([np.ones(60), x[:, known]])
    fit = np.linalg.lstsq(design, x[:, unknown], rcond=None)[0]
    slopes, covariance = given(normal, known, unknown)
    assert slopes == pytest.approx(fit[1:])
    residuals = x[:, unknown] - design @ fit
    assert covariance == pytest.approx(np.cov(residuals.T))


def test_weights_count_as_shares_whatever_their_scale():
    weights = 1.0 + np.arange(60) % 3
    x = DATA.X.to_numpy()
    one, other = (fit_normal(x, w / w.sum()) for w in (weights, 7 * weights))
    assert one.covariance == pytest.approx(other.covariance)
    assert one.covariance == pytest.approx(np.cov(x.T, aweights=weights))


def test_the_square_of_a_root_is_the_covariance_and_rounding_is_no_variance():
    covariance = np.cov(DATA.X.to_numpy().T)
    root = symmetric_root(covariance)
    assert root == pytest.approx(root.T)
    assert root @ root == pytest.approx(covariance)
    assert np.isfinite(symmetric_root(np.diag([1.0, -1e-17]))).all()


def test_draws_have_the_conditional_mean_and_covariance():
    n = 40_000
    drawn = draws(("x3",), rows=[5], n_draws=n)
    assert list(drawn) == ["x1", "x2"]
    x = DATA.X.to_numpy()
    normal = fit_normal(x, np.full(60, 1 / 60))
    slopes, covariance = given(normal, np.array([2]), np.array([0, 1]))
    mean = normal.mean[:2] + (x[5, 2] - normal.mean[2]) * slopes[0]
    values = np.stack([drawn["x1"][0], drawn["x2"][0]])
    error = np.sqrt(np.diag(covariance) / n)
    assert (abs(values.mean(axis=1) - mean) < 4 * error).all()
    assert np.cov(values) == pytest.approx(covariance, rel=0.04)


def test_a_column_that_others_determine_is_that_sum():
    X = DATA.X.assign(x3=2 * DATA.X["x1"] - DATA.X["x2"])
    data = replace(DATA, X=X)
    drawn = draws(("x1", "x2"), rows=range(60), n_draws=2, data=data)["x3"]
    assert drawn == pytest.approx(np.stack([X["x3"]] * 2, axis=1), abs=1e-6)


def test_two_known_columns_that_are_one_tell_what_one_tells():
    twice = replace(DATA, X=DATA.X.assign(x3=DATA.X["x1"]))
    alone = draws(("x1",), rows=range(60), n_draws=3, data=twice)
    assert alone["x3"][:, 0] == pytest.approx(twice.X["x1"].to_numpy(), abs=1e-6)
    normal, x2 = sampler(twice).normal, np.array([1])
    slopes, covariance = given(normal, np.array([0, 2]), x2)
    slope, same_covariance = given(normal, np.array([0]), x2)
    assert slopes.sum() == pytest.approx(slope.item(), rel=1e-9)
    assert covariance == pytest.approx(same_covariance, rel=1e-9)


def test_the_unit_of_a_column_changes_the_unit_of_its_draws_only():
    small = replace(DATA, X=DATA.X.assign(x1=DATA.X["x1"] * 1e-9))
    for known in ((), ("x1",), ("x2", "x3")):
        one = draws(known, rows=range(60), n_draws=2)
        other = draws(known, rows=range(60), n_draws=2, data=small)
        for name, values in one.items():
            unit = 1e-9 if name == "x1" else 1
            assert other[name] == pytest.approx(unit * values, rel=1e-6)


def test_a_constant_column_stays_constant():
    data = replace(DATA, X=DATA.X.assign(x2=3.0))
    for known in ((), ("x1", "x3")):
        assert draws(known, rows=[0, 1], n_draws=4, data=data)["x2"] == pytest.approx(
            np.full((2, 4), 3.0)
        )


def test_halves_are_rounded_to_the_even_number_where_a_column_holds_integers():
    X = pd.DataFrame({"x1": [0, 1, 2, 3], "x2": [1.0, 2.0, 0.5, 1.0]})
    data = replace(normal_data(1, 1, n_samples=4), X=X)
    whole = sampler(data, 2)
    values = np.array([-1.0, 0.0]) / whole.scale[0]  # 0.5 and 1.5: about 1.5
    fixed = replace(
        whole,
        normal=Normal(whole.normal.mean, np.eye(2)),
        noise=lambda *_: np.stack([values, [0, 0]], axis=1)[np.newaxis],
    )
    drawn = fixed((), np.array([0]), None)
    assert drawn["x1"].tolist() == [0, 2]
    assert drawn["x2"] == pytest.approx([1.125, 1.125])


def test_each_row_is_drawn_about_its_own_mean():
    drawn = draws(("x1", "x3"), rows=range(60), n_draws=500)["x2"]
    x = DATA.X.to_numpy()
    design = np.column_stack([np.ones(60), x[:, [0, 2]]])
    line = design @ np.linalg.lstsq(design, x[:, 1], rcond=None)[0]
    error = np.sqrt(np.var(x[:, 1] - line) / 500)
    assert (abs(drawn.mean(axis=1) - line) < 4.5 * error).all()
    assert np.ptp(line) > 40 * error
