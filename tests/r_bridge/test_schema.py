"""A frame leaves and returns as it was; what R changed about its columns is refused."""

import warnings
from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from importance_audit.r_bridge.errors import RBridgeError
from importance_audit.r_bridge.python_values import pack
from importance_audit.r_bridge.schema import check_prediction, restore

COLUMNS = {
    "float": [1.5, np.nan, -0.0],
    "float32": np.float32([1.5, np.nan, 0.1]),
    "Float64": pd.array([1.5, None, 2], dtype="Float64"),
    "int": [1, -(2**53), 3],
    "int8": np.int8([1, -128, 3]),
    "uint64": np.uint64([1, 2**53, 3]),
    "Int64": pd.array([1, None, 2**53], dtype="Int64"),
    "Int8": pd.array([1, None, 3], dtype="Int8"),
    "bool": [True, False, True],
    "boolean": pd.array([True, None, False], dtype="boolean"),
    "category": pd.Categorical(["b", None, "b"], categories=["z", "b", "a"]),
    "ordered": pd.Categorical([3, 1, 3], categories=[3, 2, 1], ordered=True),
    "objects": ["£", None, ""],
    "string": pd.array(["£", None, ""], dtype="string"),
    "times": pd.to_datetime([-631152000000001, None, 7289481600000000], unit="us"),
    "zoned": pd.to_datetime(["2020-07-01", None, "2020-12-01"]).tz_localize(
        "Asia/Tokyo"
    ),
    "durations": pd.to_timedelta(["1s", None, "-1us"]),
    "dates": [date(1950, 1, 1), None, date(2020, 2, 29)],
    "flags": np.array([True, None, False], dtype=object),
    "all missing": [None, None, None],
}


def sent_and_restored(frame, schema_of=None):
    record = pack(frame, subject="X")
    return restore(frame if schema_of is None else schema_of, record)


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_returns_as_it_was(name):
    frame = pd.DataFrame({name: COLUMNS[name]})
    pd.testing.assert_frame_equal(sent_and_restored(frame), frame)


def test_a_mixed_frame_returns_as_it_was_in_its_order():
    frame = pd.DataFrame(COLUMNS)
    pd.testing.assert_frame_equal(sent_and_restored(frame), frame)
    assert sent_and_restored(frame[[]]).shape == (3, 0)


@pytest.mark.parametrize("name", [n for n in COLUMNS if n not in {"objects", "dates"}])
def test_no_rows_are_rows_of_the_same_kind(name):
    frame = pd.DataFrame({name: COLUMNS[name]})
    returned = sent_and_restored(frame[:0], schema_of=frame)
    assert returned.dtypes.equals(frame.dtypes)
    assert len(returned) == 0


@given(
    st.lists(
        st.tuples(
            st.floats(allow_subnormal=True),
            st.integers(-(2**53), 2**53),
            st.sampled_from(["a", "é", ""]),
            st.text(
                st.characters(blacklist_categories=["Cs"], blacklist_characters="\0")
            ),
        ),
        min_size=1,
        max_size=20,
    )
)
@settings(max_examples=50, deadline=None)
def test_any_values_return_bit_for_bit(rows):
    frame = pd.DataFrame(rows, columns=["x", "n", "g", "t"])
    frame["g"] = frame["g"].astype(pd.CategoricalDtype(["", "a", "é", "never"]))
    pd.testing.assert_frame_equal(sent_and_restored(frame), frame)


def test_a_frame_of_numbers_can_be_written_to_without_harm():
    frame = pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]})
    record = pack(frame, subject="X")
    restored = restore(frame, record)
    restored.iloc[:, :] = 0.0
    assert [array.tolist() for _, array in record[2]] == [[1, 2], [3, 4]]


def test_predict_may_add_a_column_to_a_wide_frame_without_a_warning():
    wide = pd.DataFrame({f"x{n}": [1.5] for n in range(150)}).assign(n=1)
    restored = sent_and_restored(wide)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        restored["new"] = restored["x1"] + restored["n"]
    assert restored["new"].tolist() == [2.5]


@pytest.mark.parametrize("columns", [["x", "y"], ["x", "n", "g"]])
def test_what_predict_does_to_its_frame_is_not_seen_by_later_calls(columns):
    X = pd.DataFrame(
        {
            "x": [1.5, -0.0],
            "y": [2, 5e-324],
            "n": [1, 2],
            "g": pd.Categorical(["b", "a"]),
        }
    )[columns]
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


@pytest.mark.parametrize(
    ("code", "refusal"), [(4, "codes need to be between"), (-5, "")]
)
def test_a_code_beyond_the_levels_is_refused_and_one_below_is_missing(code, refusal):
    frame = pd.DataFrame({"g": pd.Categorical(["b", None, "a"], ["z", "b", "a"])})
    record = pack(frame, subject="X")
    record[2][0][1][0] = code
    if refusal:
        with pytest.raises(ValueError, match=refusal):
            restore(frame, record)
    else:
        restored = restore(frame, record)
        assert restored["g"].isna().tolist() == [True, True, False]


def test_missing_numbers_do_not_warn_when_they_are_computed_with():
    numbers = pd.DataFrame({"x": [1.0, np.nan]})
    mixed = numbers.assign(g="a")
    for frame in (numbers, mixed):
        with np.errstate(all="raise"):
            assert (sent_and_restored(frame)["x"].to_numpy() + 1)[0] == 2.0


def test_levels_are_matched_by_their_text():
    schema_of = pd.DataFrame({"g": pd.Categorical(["a"], categories=["a", "b", "c"])})
    sent = pd.DataFrame({"g": pd.Categorical(["c", None, "a"], categories=["c", "a"])})
    restored = sent_and_restored(sent, schema_of)
    assert restored["g"].tolist()[::2] == ["c", "a"]
    assert restored["g"].dtype == schema_of["g"].dtype
    as_text = sent.astype(object)
    pd.testing.assert_frame_equal(sent_and_restored(as_text, schema_of), restored)


def test_a_level_that_nobody_uses_may_be_new():
    schema_of = pd.DataFrame({"g": pd.Categorical(["a"])})
    sent = pd.DataFrame({"g": pd.Categorical(["a"], categories=["new", "a"])})
    pd.testing.assert_frame_equal(sent_and_restored(sent, schema_of), schema_of)


@pytest.mark.parametrize("dtype", ["int8", "Int8", "uint8"])
def test_numbers_that_the_type_of_integers_cannot_hold_stay_what_they_are(dtype):
    schema_of = pd.DataFrame({"n": pd.Series([1, 2], dtype=dtype)})
    for numbers in ([300, -7], [300.0, -7.0]):
        restored = sent_and_restored(pd.DataFrame({"n": numbers}), schema_of)
        assert restored["n"].tolist() == [300, -7]


def test_whole_numbers_return_to_integers_and_fractions_stay_fractions():
    schema_of = pd.DataFrame({"n": np.int8([1, 2])})
    whole = sent_and_restored(pd.DataFrame({"n": [3.0, 4.0]}), schema_of)
    halves = sent_and_restored(pd.DataFrame({"n": [3.0, 4.5]}), schema_of)
    assert (whole["n"].dtype, halves["n"].dtype) == (np.int8, np.float64)
    assert halves["n"].tolist() == [3.0, 4.5]


IN_EVERY_CALL = " in every call of predict; R sent "
THREE = "R changed the 3 columns that it was given for predict: "


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d[["n", "x", "g"]], THREE + "'n' is in another place."),
        (lambda d: d[["x", "g"]], THREE + "'n' is missing."),
        (lambda d: d.assign(z=1), THREE + "'z' is new."),
        (
            lambda d: d.assign(g=pd.Categorical(["new"])),
            "Column 'g' must be category" + IN_EVERY_CALL + "the new level 'new'.",
        ),
        (
            lambda d: d.assign(g=[1]),
            "Column 'g' must be category" + IN_EVERY_CALL + "a value of type integer.",
        ),
        (
            lambda d: d.assign(x=["a"]),
            "Column 'x' must be float64" + IN_EVERY_CALL + "a value of type character.",
        ),
        (
            lambda d: d.assign(n=[True]),
            "Column 'n' must be int64" + IN_EVERY_CALL + "a value of type logical.",
        ),
        (
            lambda d: d.assign(n=pd.array([None], dtype="Int64")),
            "Column 'n' must be int64" + IN_EVERY_CALL + "a missing value.",
        ),
    ],
)
def test_a_column_that_r_changed_is_refused(change, message):
    frame = pd.DataFrame({"x": [1.5], "n": [1], "g": pd.Categorical(["a"])})
    with pytest.raises(RBridgeError) as refusal:
        sent_and_restored(change(frame), schema_of=frame)
    assert str(refusal.value) == message


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([2], "Column 'b' must be bool" + IN_EVERY_CALL + "2.0."),
        ([None], "Column 'b' must be bool" + IN_EVERY_CALL + "a missing value."),
        (
            ["a"],
            "Column 'b' must be bool" + IN_EVERY_CALL + "a value of type character.",
        ),
    ],
)
def test_what_is_not_true_or_false_is_refused(value, message):
    frame = pd.DataFrame({"b": [True]})
    with pytest.raises(RBridgeError) as refusal:
        sent_and_restored(pd.DataFrame({"b": value}), schema_of=frame)
    assert str(refusal.value) == message


@pytest.mark.parametrize(
    ("prediction", "labels", "message"),
    [
        (None, (), "numbers; NoneType of type object was returned"),
        ("ab", (), "numbers; str of type <U2 was returned"),
        (
            np.array([1, 2], dtype=object),
            (),
            "numbers; ndarray of type object was returned",
        ),
        ([1.0, [2.0]], (), "numbers; list of uneven shape was returned"),
        ([1.0], (), "shape (2,); shape (1,) was returned"),
        (np.ones((2, 1)), (), "shape (2,); shape (2, 1) was returned"),
        (np.ones((2, 3)), ("a", "b"), "shape (2, 2); shape (2, 3) was returned"),
        (np.ones(2), ("a", "b"), "shape (2, 2); shape (2,) was returned"),
        ([np.nan, 1], (), "finite numbers; 1 of 2 are not"),
        ([np.inf, -np.inf], (), "finite numbers; 2 of 2 are not"),
    ],
)
def test_an_answer_that_is_no_prediction_is_refused(prediction, labels, message):
    with pytest.raises(RBridgeError) as refusal:
        check_prediction(prediction, 2, labels)
    assert str(refusal.value) == f"predict must return {message}."


@pytest.mark.parametrize(
    "prediction",
    [
        [1, 0],
        np.float32([1, 0]),
        np.array([True, False]),
        pd.Series([1.0, 0.0], index=[7, 3]),
        np.broadcast_to(np.array([[1.0], [0.0]]), (2, 2))[:, 0],
    ],
)
def test_numbers_of_any_kind_are_a_prediction(prediction):
    answer = check_prediction(prediction, 2, ())
    assert answer.dtype == np.float64
    assert answer.tolist() == [1.0, 0.0]
