"""Conditional and accumulated profiles: closed forms, limits, and DALEX's curves."""

import numpy as np
import pandas as pd
import pytest
from tests.known_answers import level_data, level_model
from tests.methods.importance.toys import refused
from tests.methods.recorded import recorded

from importance_audit.methods.effects import EFFECTS
from importance_audit.methods.effects.local_profiles import (
    accumulated_profile,
    conditional_profile,
)
from importance_audit.methods.effects.local_profiles import (
    rows_of as sampled_rows,
)
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.records.r_rng import RStream

from .toys import is_recorded_grid, model_of, recorded_model, rows_of

DALEX = recorded("dalex_profiles")
BOTH = pytest.mark.parametrize("profile", [conditional_profile, accumulated_profile])
WHOLE = [case for case in DALEX["row_cases"] if "of" not in case]
PARTED = [case for case in DALEX["row_cases"] if "of" in case]


def met(ours, reference):
    """Return whether two curves are equal to 1e-9 of their largest point."""
    return abs(ours - reference).max() <= 1e-9 * abs(reference).max()


def measured(case, truth, data, **options):
    """Return our answer to what DALEX was asked, and DALEX's."""
    model, _ = recorded_model(case, DALEX)
    feature, points = truth["feature"], truth["grid"]
    grid_option = {} if isinstance(points[0], str) else {"grid": tuple(points)}
    grid, values = EFFECTS[case["curve"]].function(
        model, data, feature, seed=case["seed"], **(grid_option | options)
    )
    assert is_recorded_grid(grid, points)
    return values, np.array(truth["values"])


@pytest.mark.parametrize("case", WHOLE, ids=lambda case: case["id"])
def test_the_curve_is_that_of_dalex(case):
    for truth in case["curves"]:
        _, data = recorded_model(case, DALEX)
        if case["curve"] == "partial_dependence":
            draw = {"seed": case["seed"], "n_rows": case["n_rows"]}
            part = sampled_rows(data, truth["feature"], **draw)
            ours, reference = measured(case, truth, part)
        else:
            options = {"n_rows": case["n_rows"], **case["options"]}
            ours, reference = measured(case, truth, data, **options)
        assert met(np.nan_to_num(ours), reference)  # no row is near: 0 in DALEX


@pytest.mark.parametrize("case", PARTED, ids=lambda case: case["id"])
def test_the_curves_of_the_rows_at_each_level_are_those_of_dalex(case):
    model, whole = recorded_model(case, DALEX)
    for feature in {truth["feature"] for truth in case["curves"]}:
        part = sampled_rows(whole, feature, seed=case["seed"], n_rows=case["n_rows"])
        pairs = []
        for truth in (t for t in case["curves"] if t["feature"] == feature):
            at_level = part.X[part.X[case["of"]] == truth["level"]]
            pairs.append(measured(case, truth, rows_of(at_level)))
        ours, reference = map(np.concatenate, zip(*pairs, strict=True))
        if case["curve"] == "accumulated_profile":  # one mean over all levels
            ours = np.concatenate([values - values[0] for values, _ in pairs])
            ours += model.predict(part.X).mean() - ours.mean()
        assert met(ours, reference)


def product(weights=(1.0, 1, 1, 1)):
    """Return four rows of x and z, two of them at x = 1, and the model x z."""
    X = pd.DataFrame({"x": [0.0, 1, 1, 2], "z": [5.0, 2, 4, 1]})
    return model_of(lambda X: (X["x"] * X["z"]).to_numpy()), rows_of(X, weights)


def test_a_kernel_weighs_by_the_distance_in_spans_of_the_range_of_the_grid():
    model, data = product()
    # One span is half of the range 0 to 2: the rows are 0, 1, 1 and 2 spans from 0.
    near = np.exp([0, -1 / 2, -1 / 2, -4 / 2])
    _, values = conditional_profile(model, data, "x", seed=1, grid=(0, 2), span=0.5)
    z = data.X["z"].to_numpy()
    assert values[1, 0] == pytest.approx(2 * z @ near[::-1] / near.sum(), rel=1e-12)
    _, values = accumulated_profile(model, data, "x", seed=1, grid=(0, 2), span=0.5)
    rise = 2 * z @ near[::-1] / near.sum()
    mean = (0 + 2 + 4 + 2) / 4
    assert values[:, 0] == pytest.approx([mean - rise / 2, mean + rise / 2], rel=1e-12)


def test_near_a_level_are_the_rows_that_have_it():
    X = pd.DataFrame({"x": pd.Categorical(list("baccb")), "z": [1.0, 2, 3, 5, 9]})
    model = model_of(lambda X: X["x"].cat.codes.to_numpy() * X["z"].to_numpy())
    grid, values = conditional_profile(model, rows_of(X), "x", seed=1)
    assert (grid.tolist(), values[:, 0].tolist()) == (["a", "b", "c"], [0, 5, 8])
    _, values = accumulated_profile(model, rows_of(X), "x", seed=1)
    assert np.diff(values[:, 0]) == pytest.approx([5, 4])  # each moved from the left


@BOTH
def test_a_level_that_only_rows_without_weight_have_is_not_asked(profile):
    X = pd.DataFrame({"x": pd.Categorical(list("abc"))})
    model = model_of(lambda X: X["x"].cat.codes.to_numpy(float))
    grid, values = profile(model, rows_of(X, [1.0, 0, 1]), "x", seed=1)
    assert (grid.tolist(), values[:, 0].tolist()) == (["a", "c"], [0, 2])


@BOTH
def test_rows_without_a_value_are_not_counted(profile):
    model, data = product()
    gap = data.X.assign(x=[np.nan, 1.0, 1.0, 2.0])
    grid = (0.0, 2.0)
    _, one = profile(model, rows_of(gap), "x", seed=1, grid=grid)
    _, two = profile(model, rows_of(data.X.iloc[1:]), "x", seed=1, grid=grid)
    assert one == pytest.approx(two, rel=1e-12)


@BOTH
def test_rows_are_drawn_as_r_draws_them_and_the_grid_is_that_of_all(profile):
    model, data = level_model(), level_data()
    grid, values = profile(model, data, "count", seed=4, n_rows=12)
    sample = data.X.iloc[RStream(4).sample(data.n_samples, 12)]
    options = {"seed": 1, "grid": tuple(np.unique(data.X["count"]))}
    points, truth = profile(model, rows_of(sample), "count", **options)
    assert grid.tolist() == points.tolist()
    assert values == pytest.approx(truth, rel=1e-12)


@BOTH
def test_points_of_a_long_grid_are_asked_in_parts_that_join(profile, monkeypatch):
    options = {"seed": 1, "grid": "unique"}
    _, whole = profile(linear_model(1, 2), normal_data(), "x1", **options)
    monkeypatch.setattr("importance_audit.methods.effects.predictions_at.MAX_BYTES", 1)
    _, parts = profile(linear_model(1, 2), normal_data(), "x1", **options)
    assert parts == pytest.approx(whole, rel=1e-12)


def test_a_level_that_no_drawn_row_has_is_not_answered():
    data, options = level_data(), {"seed": 2, "n_rows": 2}  # of levels a and c
    _, values = conditional_profile(level_model(), data, "kind", **options)
    assert np.isnan(values).all(axis=1).tolist() == [False, True, False]
    question = level_model(), data, "kind"
    assert refused(accumulated_profile, *question, **options) == (
        "Column 'kind' must have a row near every point of the grid for an "
        "accumulated profile; it has none near 'b'."
    )


@BOTH
def test_a_profile_has_two_points(profile):
    question = linear_model(1, 0), normal_data(), "x1"
    assert refused(profile, *question, grid=(1.0, 1.0)) == (
        "Column 'x1' must be asked at two values for a profile; its grid has 1."
    )
