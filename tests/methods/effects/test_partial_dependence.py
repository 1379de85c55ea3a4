"""Partial dependence: closed forms, grids, scales, and the curves of pdp and DALEX."""

import numpy as np
import pandas as pd
import pytest
from tests.known_answers import level_data, level_model
from tests.methods.importance.toys import refused
from tests.methods.recorded import recorded

from importance_audit.methods.effects import partial_dependence as module
from importance_audit.methods.effects import predictions_at
from importance_audit.methods.effects.partial_dependence import (
    grid_of,
    partial_dependence,
)
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.records.errors import DataError

from .toys import as_given, is_recorded_grid, model_of, recorded_model, rows_of

PDP, DALEX = recorded("pdp"), recorded("dalex_profiles")


def options_of(case):
    """Return the options of a case as Python has them."""
    return {
        k: tuple(v) if isinstance(v, list) else v for k, v in case["options"].items()
    }


LEVELS = pd.CategoricalDtype(["b", "a", "never"])


@pytest.mark.parametrize("case", PDP["cases"], ids=lambda case: case["id"])
def test_the_curve_is_that_of_pdp(case):
    model, data = recorded_model(case, PDP)
    grid, values = partial_dependence(
        model, data, case["feature"], seed=1, **options_of(case)
    )
    assert is_recorded_grid(grid, case["grid"])
    assert values[:, 0] == pytest.approx(np.array(case["values"]), rel=1e-12)


@pytest.mark.parametrize(
    ("case", "feature"),
    [(case, feature) for case in DALEX["cases"] for feature in case["curves"]],
    ids=lambda value: value if isinstance(value, str) else value["id"],
)
def test_the_curve_is_that_of_dalex(case, feature):
    model, data = recorded_model(case, DALEX)
    truth = case["curves"][feature]
    grid, values = partial_dependence(model, data, feature, seed=1, **options_of(case))
    assert is_recorded_grid(grid, truth["grid"])
    assert values == pytest.approx(np.array(truth["values"]), rel=1e-12)


def test_centred_logits_of_several_classes_add_up_to_zero():
    options = {"seed": 1, "scale": "centred_logit"}
    _, values = partial_dependence(level_model(0.8), level_data(), "kind", **options)
    share = (np.log(0.8) - np.log(0.1)) / 3
    truth = np.full((3, 3), -share) + np.eye(3) * 3 * share
    assert values == pytest.approx(truth, rel=1e-9)


def test_a_certain_prediction_counts_as_its_neighbour_in_the_centred_logit():
    model = model_of(as_given, task="binary", classes=("no", "yes"))
    data = rows_of(pd.DataFrame({"x": [0.0, 1.0]}))
    _, values = partial_dependence(model, data, "x", seed=1, scale="centred_logit")
    edge = np.log(np.finfo(float).eps) / 2
    assert values[:, 0] == pytest.approx([edge, -edge], rel=1e-12)


@pytest.mark.parametrize(
    ("column", "options", "truth"),
    [
        ([1, 2, 10], {"grid": "even"}, [1, 5, 10]),
        ([1.0, 2.0, 10.0], {"grid": "even"}, [1, 5.5, 10]),
        ([1.0, 2.5, np.nan], {"grid": "even"}, [1, 1.75, 2.5]),
        (
            [1.0, 4.0, np.nan],
            {"grid": "even"},
            [1, 2, 4],
        ),  # whole, as an integer column
        ([1.0, 4.0, np.nan], {"grid": "quantile", "n_grid": 3}, [1, 2, 4]),
        ([4.0, 4.0, 4.0], {"grid": "even"}, [4]),
        ([4.0, 4.0, np.nan], {"grid": "even"}, [4]),
        ([3.0, 1.0, 3.0, np.nan], {"grid": "unique"}, [1, 3]),
        ([True, False, True], {"grid": "even"}, [0, 1]),
        ([0.0, 1.0, 2.0, 3.0, 8.0], {"grid": "quantile", "n_grid": 3}, [0, 2, 8]),
        ([0.0, 1.0, 2.0, 8.0], {"grid": "quantile", "n_grid": 3}, [0, 1.5, 8]),
        ([5, 1, 1, 9], {"grid": "quantile", "n_grid": 2}, [1, 5, 9]),
        ([1.0, 2.0], {"grid": (7, 0.5, 0.5)}, [7, 0.5, 0.5]),
    ],
)
def test_a_number_is_asked_at(column, options, truth):
    data = rows_of(pd.DataFrame({"x": column}))
    grid = grid_of(data, "x", **{"n_grid": 51, **options})
    assert grid.tolist() == truth


def test_a_run_of_ties_gives_one_point_of_the_quantile_grid():
    data = rows_of(pd.DataFrame({"x": np.ceil(np.arange(1001) / 20)}))
    grid = grid_of(data, "x", grid="quantile", n_grid=101)
    assert grid.tolist() == list(range(51))


def test_a_category_is_asked_at_every_declared_level_in_their_order():
    data = rows_of(pd.DataFrame({"x": pd.Series(["a", "b", None], dtype=LEVELS)}))
    for grid in ("even", "unique", "quantile", (1.0, 2.0)):
        assert grid_of(data, "x", grid=grid, n_grid=2).tolist() == ["b", "a", "never"]


def seen_by_a_model(X, feature, **options):
    """Return the frames a model was asked about, one below the other."""
    frames = []

    def predict(rows):
        frames.append(rows.copy())
        return np.zeros(len(rows))

    partial_dependence(model_of(predict), rows_of(X), feature, seed=1, **options)
    return pd.concat(frames, ignore_index=True), frames


@pytest.mark.parametrize("max_bytes", [1, 500, 2**22])
def test_each_row_is_asked_at_each_point_with_the_rest_as_it_was(
    max_bytes, monkeypatch
):
    monkeypatch.setattr(predictions_at, "MAX_BYTES", max_bytes)
    X = pd.DataFrame({"x": [1.0, 2.0, 5.0], "z": [7, 8, 9]}, index=[4, 2, 0])
    frame, _ = seen_by_a_model(X, "x", grid=(0.5, 1.5, 2.5, 3.5, 4.5))
    assert frame["x"].tolist() == np.repeat([0.5, 1.5, 2.5, 3.5, 4.5], 3).tolist()
    assert frame["z"].tolist() == [7, 8, 9] * 5


def test_no_call_stacks_more_than_the_budget(monkeypatch):
    X = pd.DataFrame({"x": np.arange(100.0), "z": np.arange(100.0)})
    X["nullable"] = pd.array(np.arange(100), dtype="Int64")  # of 9 bytes each
    monkeypatch.setattr(predictions_at, "MAX_BYTES", 7 * 100 * (16 + 9))
    _, frames = seen_by_a_model(X, "x", n_grid=30)
    assert [len(frame) for frame in frames] == [700, 700, 700, 700, 200]


@pytest.mark.parametrize(
    ("column", "options", "dtype"),
    [
        ([1, 2, 10], {}, "int64"),
        ([1, 2, 10], {"grid": (1.5, 2)}, "float64"),
        ([1, 2, 10], {"grid": (1, 2)}, "int64"),
        ([True, False], {}, "bool"),
        ([0.5, 2.0], {"grid": (1, 2)}, "float64"),
        (pd.Categorical(["a", "b"], LEVELS.categories), {}, LEVELS),
    ],
)
def test_a_column_keeps_its_type_if_the_grid_fits(column, options, dtype):
    _, frames = seen_by_a_model(pd.DataFrame({"x": column}), "x", **options)
    assert {frame["x"].dtype for frame in frames} == {pd.api.types.pandas_dtype(dtype)}


def test_a_certain_prediction_has_no_link():
    model = model_of(as_given, task="binary", classes=("no", "yes"))
    data = rows_of(pd.DataFrame({"x": [0.5, 1.0]}))
    assert refused(partial_dependence, model, data, "x", scale="link") == (
        "Model 'toy' must give probabilities between 0 and 1 for scale 'link'; it "
        "gives exactly 0 or 1. Use scale 'native' or 'centred_logit'."
    )


def test_a_column_without_a_value_has_no_grid():
    data = rows_of(pd.DataFrame({"x": [np.nan, np.nan]}))
    assert refused(partial_dependence, model_of(as_given), data, "x") == (
        "Column 'x' must have a value to be set to; all 2 are missing."
    )


def refusing(rows):
    raise DataError(f"Column {rows.columns[0]!r} must hold what model 'toy' met.")


def of_two_levels(rows):
    """Predict 1 for a and 3 for b; no other level was met in training."""
    if not set(rows["x"]) <= {"a", "b"}:
        refusing(rows)
    return np.where(rows["x"] == "a", 1.0, 3.0)


def with_a_new_level():
    levels = pd.CategoricalDtype(["a", "new", "b"])
    return rows_of(pd.DataFrame({"x": pd.Series(["b", "b", "b"], dtype=levels)}))


def test_a_level_the_model_never_met_is_a_gap_in_the_curve():
    grid, values = partial_dependence(
        model_of(of_two_levels), with_a_new_level(), "x", seed=1
    )
    assert grid.tolist() == ["a", "new", "b"]
    assert values[:, 0].tolist() == pytest.approx([1, np.nan, 3], nan_ok=True)


def test_a_level_of_the_rows_that_the_model_refuses_is_a_fault_of_the_rows():
    data = rows_of(pd.DataFrame({"x": pd.Categorical(["a", "b"])}))
    with pytest.raises(DataError, match=r"^Column 'x' must hold what model"):
        partial_dependence(model_of(refusing), data, "x", seed=1)


def banded(model, data, feature, **options):
    """Return the curve of one feature and the two ends of its band."""
    bands = []
    grid, values = partial_dependence(
        model,
        data,
        feature,
        seed=1,
        on_band=lambda *ends: bands.append(ends),
        **options,
    )
    ((low, high),) = bands
    assert low.shape == high.shape == values.shape
    return grid, values, low, high


def product(X):
    """Return the product of x and z."""
    return (X["x"] * X["z"]).to_numpy(dtype=float)


PRODUCT = model_of(product, ("x", "z"))
EIGHT = pd.DataFrame({"x": np.zeros(8), "z": np.arange(8, 0, -1.0)})


def test_an_additive_model_has_a_band_without_width_on_its_curve():
    for feature in ("x1", "x2"):
        _, values, *ends = banded(linear_model(3, -1), normal_data(), feature)
        for end in ends:
            assert end == pytest.approx(values, abs=1e-12)


def test_rows_that_differ_in_level_only_are_taken_about_their_own_means():
    # Row z has the curve z * (x + 1): its mean over the grid 0, 1, 2 is 2 z.
    model = model_of(lambda X: product(X) + X["z"].to_numpy(float), ("x", "z"))
    _, values, low, high = banded(model, rows_of(EIGHT), "x", grid=(0.0, 1.0, 2.0))
    assert values[:, 0] == pytest.approx([4.5, 9, 13.5])
    assert low[:, 0] == pytest.approx([9 - 6.5, 9, 9 + 2.5])
    assert high[:, 0] == pytest.approx([9 - 2.5, 9, 9 + 6.5])


def test_weights_move_the_band_as_repeated_rows_do():
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(40, 2)), columns=["x", "z"])
    times = rng.integers(0, 4, size=40)
    repeated = X.loc[X.index.repeat(times)].reset_index(drop=True)
    options = {"grid": tuple(np.linspace(-2, 2, 9))}
    weighted = banded(PRODUCT, rows_of(X, times / 7), "x", **options)
    for one, other in zip(
        weighted, banded(PRODUCT, rows_of(repeated), "x", **options), strict=True
    ):
        assert one == pytest.approx(other, abs=1e-12)
    assert (weighted[3] - weighted[2]).max() > 0.5


def test_a_band_costs_no_prediction_and_changes_no_value():
    asked = []

    def counted(X):
        asked[-1] += len(X)
        return product(X)

    model, data = model_of(counted, ("x", "z")), rows_of(EIGHT)
    asked.append(0)
    _, values = partial_dependence(model, data, "z", seed=1)
    asked.append(0)
    _, same, *_ = banded(model, data, "z")
    assert asked[0] == asked[1] > 0
    assert same.tobytes() == values.tobytes()


def test_each_output_of_a_model_has_its_band():
    def predict(X):
        return np.stack([product(X), 2 - product(X)], axis=1)

    model = model_of(predict, ("x", "z"), task="multiclass", classes=("a", "b"))
    _, _, low, high = banded(model, rows_of(EIGHT), "x", grid=(-1.0, 1.0))
    assert low == pytest.approx(np.array([[-6.5, 4.5], [2.5, -4.5]]))
    assert high == pytest.approx(np.array([[-2.5, 8.5], [6.5, -0.5]]))


def test_the_band_of_a_category_has_a_gap_where_the_curve_has_one():
    def refusing(X):
        if (X["x"] == "c").any():
            raise DataError("no such level")
        return (X["x"] == "b").to_numpy(float) * X["z"].to_numpy(float)

    kinds = pd.Categorical(["a", "b"] * 4, categories=["a", "b", "c"])
    data = rows_of(EIGHT.assign(x=kinds))
    _, values, low, high = banded(model_of(refusing, ("x", "z")), data, "x")
    for ends, step in ((values, 4.5), (low, None), (high, None)):
        assert np.isnan(ends[:, 0]).tolist() == [False, False, True]
        assert step is None or ends[1, 0] - ends[0, 0] == step
    # Half the step of a row lies on either side of the mean, 2.25.
    assert low[:2, 0] == pytest.approx([2.25 - 3.25, 2.25 + 1.25])
    assert high[:2, 0] == pytest.approx([2.25 - 1.25, 2.25 + 3.25])


def test_of_more_rows_than_memory_holds_evenly_spaced_ones_give_the_band(monkeypatch):
    rows = pd.DataFrame({"x": np.zeros(4000), "z": np.linspace(0, 1, 4000)})
    _, _, *whole = banded(PRODUCT, rows_of(rows), "x", grid=(-1.0, 1.0))
    monkeypatch.setattr(module, "MAX_BAND_BYTES", 8 * 2 * 500)
    _, _, *part = banded(PRODUCT, rows_of(rows), "x", grid=(-1.0, 1.0))
    for one, other in zip(whole, part, strict=True):
        assert one == pytest.approx(other, abs=2 / 500)
        assert (one != other).any()
