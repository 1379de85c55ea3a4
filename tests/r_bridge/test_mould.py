"""Frames cast in a mould are those that `restore` makes, and predict's own."""

import numpy as np
import pandas as pd
import pytest

from importance_audit.r_bridge.errors import RBridgeError
from importance_audit.r_bridge.mould import Restorer, make_mould
from importance_audit.r_bridge.pack import pack
from importance_audit.r_bridge.schema import describe, restore

IN_EVERY_CALL = " in every call of predict; R sent "
X = pd.DataFrame(
    {
        "x": [1.5, -0.0, np.nan],
        "n": [1, -(2**31) + 1, 2**31 - 1],
        "g": pd.Categorical(["b", None, "a"], categories=["z", "b", "a"]),
        "y": [np.inf, 5e-324, 2.0],
        "f": [True, False, True],
        "m": np.int8([1, -128, 127]),
        "o": pd.Categorical([3, 1, 3], categories=[3, 2, 1], ordered=True),
    }
)


def sent(frame):
    arrays = []
    return pack(frame, arrays, subject="X"), arrays


@pytest.fixture
def restorer():
    """A Restorer of X which has its mould."""
    restorer = Restorer(describe(X))
    for _ in range(2):
        restorer.restore(*sent(X.iloc[[1, 1, 0]]))
    return restorer


def test_numbers_flags_and_categories_are_cast_in_a_mould():
    record, arrays = sent(X)
    schema = describe(X)
    mould = make_mould(schema, restore(schema, record, arrays))
    other = X.iloc[[2, 0, 1]].reset_index(drop=True)
    pd.testing.assert_frame_equal(mould.cast(*sent(other)), other)
    assert np.signbit(mould.cast(record, arrays)["x"][1])


@pytest.mark.parametrize(
    "column",
    [["a", "b"], np.float32([1, 2]), pd.array([1, 2], dtype="Int64")],
    ids=["text", "float32", "Int64"],
)
def test_columns_of_other_kinds_have_no_mould(column):
    frame = pd.DataFrame({"x": column, "n": [1, 2]})
    record, arrays = sent(frame)
    assert make_mould(describe(frame), frame) is None
    restorer = Restorer(describe(frame))
    for _ in range(3):
        pd.testing.assert_frame_equal(restorer.restore(record, arrays), frame)


def test_an_integer_too_large_for_its_type_is_left_to_restore(restorer):
    other = X.assign(m=[1, 300, 127])
    assert restorer.restore(*sent(other))["m"].tolist() == [1, 300, 127]
    pd.testing.assert_frame_equal(restorer.restore(*sent(X)), X)


@pytest.mark.parametrize("n_before", [1, 2, 3])
def test_columns_that_are_not_sent_are_those_of_the_frame_before(n_before):
    restorer = Restorer(describe(X), keeps=True)
    for _ in range(3):
        restorer.restore(*sent(X[:2]))
    for _ in range(n_before):
        restorer.restore(*sent(X))
    frame = X
    for change in ({"m": [1, 300, 127]}, {"x": [0.0, 1.0, 2.0]}, {"m": [1, 2, 3]}):
        frame = frame.assign(**change)
        record, arrays = sent(frame)
        columns = [
            item if name in change else None
            for name, item in zip(frame, record[2], strict=True)
        ]
        restored = restorer.restore((*record[:2], columns, *record[3:]), arrays)
        expected = restore(describe(X), record, arrays)
        pd.testing.assert_frame_equal(restored, expected)
        restored.iloc[:, 0] = 7.0


def test_a_frame_that_predict_keeps_is_not_changed_by_later_calls(restorer):
    frame = restorer.restore(*sent(X))
    before = frame.copy(deep=True)
    restorer.restore(*sent(X[::-1].reset_index(drop=True)))
    pd.testing.assert_frame_equal(frame, before)


def test_what_predict_does_to_its_frame_is_not_seen_by_later_calls(restorer):
    frame = restorer.restore(*sent(X))
    frame.iloc[:, 0] = 7.0
    frame["n"] = 7
    frame["g"] = frame["g"].cat.rename_categories(["p", "q", "r"])
    frame.insert(0, "new", 1)
    frame.columns.name, frame.index.name, frame.attrs["a"] = "c", "i", 1
    frame.drop(columns=["x"], inplace=True)
    again = restorer.restore(*sent(X))
    pd.testing.assert_frame_equal(again, X)
    assert (again.columns.name, again.index.name, again.attrs) == (None, None, {})


def test_every_length_is_restored_in_any_order_of_lengths(restorer):
    for n_rows in (3, 0, 0, 0, 1, 1, 1, 2, 3, 3, 3, 1):
        frame = restorer.restore(*sent(X[:n_rows]))
        pd.testing.assert_frame_equal(frame, X[:n_rows])


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (
            {"n": pd.array([1, None, 3], dtype="Int64")},
            "n' must be int64|a missing value",
        ),
        (
            {"f": pd.array([True, None, True], dtype="boolean")},
            "f' must be bool|a missing value",
        ),
        ({"x": list("abc")}, "x' must be float64|a value of type character"),
        ({"g": pd.Categorical(list("aab"), categories=["a", "b", "z"])}, ""),
        (
            {"g": pd.Categorical(["new", "a", "b"])},
            "g' must be category|the new level 'new'",
        ),
        ({"n": [1.0, 2.0, 3.0]}, ""),
        ({"n": [1.5, 2.0, 3.0]}, ""),
        ({"x": [1, 2, 3]}, ""),
    ],
)
def test_what_is_unusual_is_judged_as_without_a_mould(restorer, change, finding):
    record, arrays = sent(X.assign(**change))
    if finding:
        column, words = finding.split("|")
        with pytest.raises(RBridgeError) as refusal:
            restorer.restore(record, arrays)
        assert str(refusal.value) == f"Column '{column}{IN_EVERY_CALL}{words}."
    else:
        expected = restore(describe(X), record, arrays)
        pd.testing.assert_frame_equal(restorer.restore(record, arrays), expected)
    pd.testing.assert_frame_equal(restorer.restore(*sent(X)), X)


def test_columns_in_another_place_are_refused_by_a_mould_too(restorer):
    with pytest.raises(RBridgeError) as refusal:
        restorer.restore(*sent(X[["y", "n", "g", "x", "f", "m", "o"]]))
    assert str(refusal.value) == (
        "R changed the 7 columns that it was given for predict: 'y' is in another "
        "place."
    )


def test_a_code_beyond_the_levels_is_refused(restorer):
    record, arrays = sent(X)
    arrays[record[2][2][1]][0] = 4
    with pytest.raises(ValueError, match="codes need to be between"):
        restorer.restore(record, arrays)


def test_a_code_below_the_levels_is_missing_as_without_a_mould(restorer):
    record, arrays = sent(X)
    arrays[record[2][2][1]][0] = -5
    expected = restore(describe(X), record, arrays)
    pd.testing.assert_frame_equal(restorer.restore(record, arrays), expected)
    assert expected["g"].isna()[0]


def test_missing_numbers_do_not_warn_when_they_are_computed_with(restorer):
    with np.errstate(all="raise"):
        assert np.isnan(restorer.restore(*sent(X))["x"].to_numpy() + 1)[2]
