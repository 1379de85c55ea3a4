"""What may not cross, and what its refusal says."""

from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from importance_audit.r_bridge.errors import RBridgeError
from importance_audit.r_bridge.python_values import pack

REFUSALS = [
    (
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        "X must name each column once; 'a' is given twice.",
    ),
    (
        pd.DataFrame([[1]], columns=[0]),
        "X must have text without NUL for names; 0 was found.",
    ),
    (
        pd.DataFrame([[1]], columns=["a\0"]),
        r"X must have text without NUL for names; 'a\x00' was found.",
    ),
    (
        pd.DataFrame({"n": [1, 2**53 + 1]}),
        "X, column 'n' must hold integers up to 2**53; 9007199254740993 was found.",
    ),
    (
        pd.DataFrame({"n": np.array([2**64 - 1], dtype=np.uint64)}),
        "X, column 'n' must hold integers up to 2**53; 18446744073709551615 was found.",
    ),
    (
        pd.DataFrame({"n": pd.array([-(2**60), None], dtype="Int64")}),
        "X, column 'n' must hold integers up to 2**53; -1152921504606846976 was found.",
    ),
    (
        pd.DataFrame({"o": [1, "a"]}),
        "X, column 'o' must hold one type that R knows; mixed-integer was found.",
    ),
    (
        pd.DataFrame({"o": [[1], [2]]}),
        "X, column 'o' must hold one type that R knows; mixed was found.",
    ),
    (
        pd.DataFrame({"z": [1j]}),
        "X, column 'z' must have a type that R knows; complex128 was found.",
    ),
    (
        pd.DataFrame({"p": pd.period_range("2020", periods=1, freq="M")}),
        "X, column 'p' must have a type that R knows; period[M] was found.",
    ),
    (
        pd.DataFrame({"i": pd.interval_range(0, 1)}),
        "X, column 'i' must have a type that R knows; interval[int64, right] was "
        "found.",
    ),
    (
        pd.DataFrame({"s": pd.arrays.SparseArray([0, 1])}),
        "X, column 's' must have a type that R knows; Sparse[int64, 0] was found.",
    ),
    (
        pd.DataFrame({"c": pd.Categorical([1, "1"], categories=[1, "1"])}),
        "X, column 'c' must have levels that differ as text; '1' is given twice.",
    ),
    (
        pd.DataFrame({"t": ["a\0b"]}),
        "X, column 't' must hold text without NUL; a NUL character was found.",
    ),
    (
        pd.DataFrame({"t": pd.to_datetime([1], unit="ns")}),
        "X, column 't' must be exact to the microsecond; nanoseconds were found.",
    ),
    (
        {"a": {"b": object}},
        "X, element 'a', element 'b' must hold one type that R knows; mixed was found.",
    ),
    ({1: 2}, "X must have text without NUL for names; 1 was found."),
    ({2}, "X must hold one type that R knows; mixed was found."),
    (b"bytes", "X must hold one type that R knows; bytes was found."),
    (2**53 + 1, "X must hold integers up to 2**53; 9007199254740993 was found."),
]


@pytest.mark.parametrize(("value", "message"), REFUSALS)
def test_what_r_cannot_hold_is_refused_by_name(value, message):
    with pytest.raises(RBridgeError) as refusal:
        pack(value, subject="X")
    assert str(refusal.value) == message


LONG = "x" * 100_000


@pytest.mark.parametrize(
    "value",
    [
        pd.DataFrame([[1, 2]], columns=[LONG, LONG]),
        pd.DataFrame({LONG: [1 + 2j]}),
        pd.DataFrame({f"{LONG}\0": [1]}),
        pd.DataFrame({"c": pd.Categorical(["a"], categories=["a", f"{LONG}\0"])}),
        {LONG: object()},
    ],
)
def test_no_refusal_grows_with_a_name(value):
    with pytest.raises(RBridgeError) as error:
        pack(value, subject="X")
    assert len(str(error.value)) < 300


def test_broken_unicode_is_refused():
    with pytest.raises(RBridgeError, match=r"^X must hold valid Unicode; 'utf-8'"):
        pack("\udcff", subject="X")


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (np.float32([1]), "double"),
        ([1, 2.5], "double"),
        ([Decimal("1.5"), None], "double"),
        (2**31, "double"),
        (2**31 - 1, "integer"),
        (-(2**31), "double"),
        (np.array([1], dtype=">i2"), "integer"),
        ([True, None], "logical"),
        ([None, None], "logical"),
        ((), "logical"),
        (["a", None], "character"),
        (np.array(["a"]), "character"),
        ([date(2020, 1, 1)], "Date"),
        (pd.Timestamp("2020-01-01"), "POSIXct"),
        (pd.Timedelta("1s"), "difftime"),
        (pd.Categorical(["a"]), "factor"),
        (pd.Index([1.5]), "double"),
        ([[1], "a"], "list"),
        ({}, "list"),
        (None, "null"),
    ],
)
def test_a_value_is_sent_as_what_it_is(value, word):
    assert pack(value, subject="X")[0] == word


def test_what_is_sent_stays_as_it_was():
    frame = pd.DataFrame({"x": [1.0, np.nan], "c": pd.Categorical(["a", None])})
    before = frame.copy(deep=True)
    pack(frame, subject="X")
    pd.testing.assert_frame_equal(frame, before)
    assert np.isnan(frame["x"].to_numpy().view(np.int64)[1].view(np.float64))


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0)[::2],
        np.arange(3.0)[::-1],
        np.arange(3, dtype=">f8"),
        np.arange(6, dtype=np.float32).reshape(3, 2)[:, 1],
        np.array([2**31 - 1, -(2**31) + 1, 0]),
    ],
)
def test_strides_byte_order_and_width_do_not_matter(array):
    value = pd.Series(array) if array.dtype.isnative else array
    _, sent = pack(value, subject="X")
    assert sent.tolist() == array.tolist()
    assert sent.flags.c_contiguous
