"""LightGBM's trees: the predictions that the library made, to the last bit."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.recorded import recorded

from importance_audit.methods.trees import pack
from importance_audit.methods.trees.packing import predict
from importance_audit.methods.trees.partial_dependence import reason_against
from importance_audit.models.lightgbm_text import LightGBMModel

from .small_ensembles import around_thresholds

pytestmark = pytest.mark.needs_numba

RECORDED = recorded("lightgbm/models")


def numbers(table):
    """Return a table of hexadecimal numbers."""
    return np.array(
        [[math.nan if x == "NA" else float.fromhex(x) for x in row] for row in table]
    )


ROWS = numbers(RECORDED["rows"])
MODELS = {case["id"]: case["model"] for case in RECORDED["cases"]}
PREDICTED = {case["id"]: numbers(case["prediction"]) for case in RECORDED["cases"]}
LINEAR = MODELS.pop("linear")
OF_TWO = ("binary", "sigmoid", "cross_entropy")
IN_LAST_BITS = 4 * np.finfo(float).eps


def text_model(case):
    return LightGBMModel("m", MODELS[case].encode())


def library(kind, content, **attributes):
    """Return an object of a class of this name that writes this text."""
    made = type(kind, (), {"__module__": "lightgbm.basic"} | attributes)()
    made.model_to_string = lambda: content
    return made


def own_columns(case, ours):
    """Return the columns that the library gives: of two classes the second."""
    return ours[:, 1:] if case in OF_TWO else ours


@pytest.mark.parametrize("case", MODELS)
def test_predictions_are_those_of_the_library(case):
    packing = pack(library("Booster", MODELS[case]))
    ours = own_columns(case, predict(packing, ROWS))
    if packing.link == "identity":
        assert reason_against(packing) == ""
        assert ours.tobytes() == PREDICTED[case].tobytes()
    # Another C library than the recorded one may round its exp otherwise.
    np.testing.assert_allclose(ours, PREDICTED[case], rtol=IN_LAST_BITS, atol=0)


@settings(max_examples=30)
@given(case=st.sampled_from(sorted(MODELS)), seed=st.integers(0, 10**6))
def test_predictions_are_those_of_the_text_format_itself(case, seed):
    rng = np.random.default_rng(seed)
    rows = ROWS[rng.integers(0, len(ROWS), (90, 5)), np.arange(5)]
    rows[rng.random(rows.shape) < 0.1] = rng.choice([0, -0.0, np.nan, 1e-35, 1e-36])
    model = text_model(case)
    ours = own_columns(case, predict(pack(model), rows))
    assert ours.tobytes() == model.predict(rows).reshape(ours.shape).tobytes()


def test_rows_on_a_threshold_go_left():
    model = text_model("numbers")
    packing = pack(model)
    around = around_thresholds(packing)
    assert predict(packing, around)[:, 0].tobytes() == model.predict(around).tobytes()


@pytest.mark.parametrize("kind", ["LGBMClassifier", "LGBMRegressor"])
def test_an_estimator_answers_as_its_booster(kind):
    case = "binary" if kind == "LGBMClassifier" else "poisson"
    booster = library("Booster", MODELS[case])
    model = library(kind, "", booster_=booster, objective=None)
    assert np.array_equal(predict(pack(model), ROWS), predict(pack(booster), ROWS))


def test_a_regressor_of_probabilities_has_one_column():
    booster = library("Booster", MODELS["sigmoid"])
    model = library("LGBMRegressor", "", booster_=booster, objective=None)
    both = predict(pack(booster), ROWS)
    assert np.array_equal(predict(pack(model), ROWS), both[:, 1:])


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (library("Booster", LINEAR), "It has linear models in its leaves."),
        (
            library("Booster", MODELS["numbers"], pandas_categorical=[["a", "b"]]),
            "It was fitted on categories of pandas, which it encodes itself.",
        ),
        (
            library("LGBMRegressor", "", objective=lambda y, p: (p - y, 1)),
            "It was fitted with an objective of your own.",
        ),
        (
            library("Booster", MODELS["numbers"].replace("regression", "other", 1)),
            "Model 'Booster' was trained for 'other', whose scores are not supported. "
            "Wrap the Booster, or a function that calls it.",
        ),
    ],
)
def test_what_is_not_read_says_why(model, reason):
    assert pack(model) == reason
