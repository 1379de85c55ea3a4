"""A frame of R is made like the original; what R changed about a column is refused."""

import warnings

import numpy as np
import pandas as pd
import pytest
from tests.cases import for_each

from importance_audit.r_bridge.errors import RBridgeError
from importance_audit.r_bridge.python_values import pack
from importance_audit.r_bridge.schema import check_prediction, restore


def sent_and_restored(frame, schema_of=None):
    record = pack(frame, subject="X")
    return restore(frame if schema_of is None else schema_of, record)


def test_predict_may_add_a_column_to_a_wide_frame_without_a_warning():
    wide = pd.DataFrame({f"x{n}": [1.5] for n in range(150)}).assign(n=1)
    restored = sent_and_restored(wide)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        restored["new"] = restored["x1"] + restored["n"]
    assert restored["new"].tolist() == [2.5]


@for_each([["x", "y"], ["x", "n", "g"]])
def test_what_predict_does_to_its_frame_is_not_seen_by_later_calls(columns):
    numbers = {"x": [1.5, -0.0], "y": [2, 5e-324], "n": [1, 2]}
    X = pd.DataFrame({**numbers, "g": pd.Categorical(["b", "a"])})[columns]
    record = pack(X, subject="X")
    frame = restore(X, record)
    frame.iloc[:, 0] = 7.0
    frame.insert(0, "new", 1)
    frame = restore(X, record)
    frame.columns.name, frame.index.name, frame.attrs["a"] = "c", "i", 1
    if "g" in frame:
        frame["g"] = frame["g"].cat.rename_categories(["p", "q"])
    frame.drop(columns=["x"], inplace=True)
    again = restore(X, record)
    pd.testing.assert_frame_equal(again, X)
    assert (again.columns.name, again.index.name, again.attrs) == (None, None, {})


def test_a_code_beyond_the_levels_is_refused_and_one_below_is_missing():
    frame = pd.DataFrame({"g": pd.Categorical(["b", None, "a"], ["z", "b", "a"])})
    record = pack(frame, subject="X")
    record[2][0][1][0] = -5
    assert restore(frame, record)["g"].isna().tolist() == [True, True, False]
    record[2][0][1][0] = 4
    with pytest.raises(ValueError, match="codes need to be between"):
        restore(frame, record)


def test_missing_numbers_do_not_warn_when_they_are_computed_with():
    numbers = pd.DataFrame({"x": [1.0, np.nan]})
    for frame in (numbers, numbers.assign(n=1)):
        with np.errstate(all="raise"):
            assert (sent_and_restored(frame)["x"].to_numpy() + 1)[0] == 2.0


def test_levels_are_matched_by_their_text_and_one_that_nobody_uses_may_be_new():
    schema_of = pd.DataFrame({"g": pd.Categorical(["c", None], categories=["a", "c"])})
    levels = pd.Categorical(["c", None], categories=["new", "c", "a"])
    for sent in (pd.DataFrame({"g": levels}), schema_of.astype(object)):
        pd.testing.assert_frame_equal(sent_and_restored(sent, schema_of), schema_of)


@for_each(["int8", "uint8"])
def test_integers_return_to_their_type_unless_it_cannot_hold_them(dtype):
    schema_of = pd.DataFrame({"n": pd.Series([1, 2], dtype=dtype)})
    for numbers in ([3.0, 4.0], [3, 4]):
        restored = sent_and_restored(pd.DataFrame({"n": numbers}), schema_of)["n"]
        assert (str(restored.dtype), restored.tolist()) == (dtype, [3, 4])
    for numbers in ([300, -7], [300.0, -7.0], [3.0, 4.5]):
        restored = sent_and_restored(pd.DataFrame({"n": numbers}), schema_of)
        assert restored["n"].tolist() == numbers


SCHEMA = pd.DataFrame({"x": [1.5], "n": [1], "g": pd.Categorical(["a"]), "b": [True]})


def refusal_of(frame):
    with pytest.raises(RBridgeError) as refusal:
        sent_and_restored(frame, SCHEMA)
    return str(refusal.value)


@for_each(
    [
        (["n", "x", "g", "b"], "'n' is in another place."),
        (["x", "g", "b"], "'n' is missing."),
        (["x", "n", "g", "b", "z"], "'z' is new."),
    ]
)
def test_columns_that_r_moved_lost_or_added_are_refused(case):
    names, finding = case
    assert refusal_of(SCHEMA.assign(z=1)[names]) == (
        f"R changed the 4 columns that it was given for predict: {finding}"
    )


@for_each(
    [
        ("g", pd.Categorical(["new"]), "category", "the new level 'new'"),
        ("g", [1], "category", "a value of type integer"),
        ("x", ["a"], "float64", "a value of type character"),
        ("n", [True], "int64", "a value of type logical"),
        ("n", pd.array([None], dtype="Int64"), "int64", "a missing value"),
        ("b", [2], "bool", "2.0"),
        ("b", [None], "bool", "a missing value"),
        ("b", ["a"], "bool", "a value of type character"),
    ]
)
def test_a_column_of_which_r_changed_the_kind_is_refused(case):
    name, values, dtype, finding = case
    assert refusal_of(SCHEMA.assign(**{name: values})) == (
        f"Column {name!r} must be {dtype} in every call of predict; R sent {finding}."
    )


NO_PREDICTIONS = [
    (None, (), "numbers; NoneType of type object was returned"),
    ("ab", (), "numbers; str of type <U2 was returned"),
    ([1.0, [2.0]], (), "numbers; list of uneven shape was returned"),
    ([1.0], (), "shape (2,); shape (1,) was returned"),
    (np.ones((2, 1)), (), "shape (2,); shape (2, 1) was returned"),
    (np.ones(2), ("a", "b"), "shape (2, 2); shape (2,) was returned"),
    ([np.nan, 1], (), "finite numbers; 1 of 2 are not"),
    ([np.inf, -np.inf], (), "finite numbers; 2 of 2 are not"),
]


@for_each(NO_PREDICTIONS, lambda case: case[2])
def test_an_answer_that_is_no_prediction_is_refused(case):
    prediction, labels, message = case
    with pytest.raises(RBridgeError) as refusal:
        check_prediction(prediction, 2, labels)
    assert str(refusal.value) == f"predict must return {message}."


@for_each(
    [
        [1, 0],
        np.float32([1, 0]),
        np.array([True, False]),
        pd.Series([1.0, 0.0], index=[7, 3]),
        np.broadcast_to(np.array([[1.0], [0.0]]), (2, 2))[:, 0],
    ]
)
def test_numbers_of_any_kind_are_a_prediction(prediction):
    answer = check_prediction(prediction, 2, ())
    assert answer.dtype == np.float64
    assert answer.tolist() == [1.0, 0.0]
