"""What R has of a Python value, what Python has of R's, and what may not cross."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import for_each

from importance_audit.r_bridge.errors import RBridgeError
from importance_audit.r_bridge.python_values import pack
from importance_audit.r_bridge.schema import restore

TIME = 'class = c("POSIXct", "POSIXt")'
WITH_NA = pd.array([1, None], dtype="Int64")
FLAGS = pd.array([True, None], dtype="boolean")
HOUR = np.array([3_600_000_000], dtype="M8[us]")  # of text the unit is pandas' choice


def texts(*values):
    return np.array(values, dtype=object)


# What Python sends, the code of R for the same, and what R sends back of it.
SENT = [
    (None, "NULL", None),
    (True, "TRUE", np.array([True])),
    (3, "3L", np.array([3])),
    (2.5, "2.5", np.array([2.5])),
    ("£", '"£"', texts("£")),
    (-(2**31) + 1, "-2147483647L", np.array([-(2**31) + 1])),
    (-(2**31), "-2147483648", np.array([-(2.0**31)])),
    (2**31 - 1, "2147483647L", np.array([2**31 - 1])),
    (2**31, "2147483648", np.array([2.0**31])),
    (np.array([2**53]), "9007199254740992", np.array([2.0**53])),
    ([1, 2.5, None], "c(1, 2.5, NA)", np.array([1, 2.5, np.nan])),
    (
        np.array([-0.0, np.inf, 5e-324]),
        "c(-0, Inf, 5e-324)",
        np.array([-0.0, np.inf, 5e-324]),
    ),
    (
        np.float32([0.1, np.nan]),
        "c(0.10000000149011612, NA)",
        np.float64(np.float32([0.1, np.nan])),
    ),
    (np.array([1, 2], dtype=">i2"), "1:2", np.array([1, 2])),
    (WITH_NA, "c(1L, NA)", WITH_NA),
    ([True, None], "c(TRUE, NA)", FLAGS),
    ([], "logical(0)", np.array([], dtype=bool)),
    ([None], "NA", FLAGS[1:]),
    (["a", None, "NA", ""], 'c("a", NA, "NA", "")', texts("a", None, "NA", "")),
    (np.array(["a"]), '"a"', texts("a")),
    (pd.Index([1.5]), "1.5", np.array([1.5])),
    (
        pd.Categorical(["b", None], categories=["b", "a"]),
        'factor(c("b", NA), levels = c("b", "a"))',
        pd.Categorical(["b", None], categories=["b", "a"]),
    ),
    (
        pd.Categorical([2], categories=[1, 2], ordered=True),
        'factor("2", levels = c("1", "2"), ordered = TRUE)',
        pd.Categorical(["2"], categories=["1", "2"], ordered=True),
    ),
    (
        np.array([[1.0, 2], [3, 4]]),
        "matrix(c(1, 3, 2, 4), 2)",
        np.array([[1.0, 2], [3, 4]]),
    ),
    (
        {"": [1], "a\nb": ["x", 2.0][:1]},
        'setNames(list(1L, "x"), c("", "a\\nb"))',
        {"": np.array([1]), "a\nb": texts("x")},
    ),
    ([[1], None], "list(1L, NULL)", [np.array([1]), None]),
    ({}, "setNames(list(), character(0))", {}),
    (
        pd.DataFrame({"x": [1.5], "y": ["a"]}, index=["r"]),
        'data.frame(x = 1.5, y = "a")',
        pd.DataFrame({"x": [1.5], "y": ["a"]}),
    ),
    (
        pd.DataFrame(index=range(3)),
        "data.frame(row.names = 1:3)",
        pd.DataFrame(index=range(3)),
    ),
]
RETURNED = [
    ("c(1, NA, NaN, Inf)", np.array([1, np.nan, np.nan, np.inf])),
    ("c(a = 1)", np.array([1.0])),
    ("ts(c(2, 1))", np.array([2.0, 1])),
    ('iconv("\u00e9", "UTF-8", "latin1")', texts("é")),
    (
        'structure(c(-1, NA), class = "Date")',
        np.array(["1969-12-31", "NaT"], dtype="M8[D]"),
    ),
    (
        f'structure(c(-0.5, NA), tzone = "", {TIME})',
        np.array(["1969-12-31T23:59:59.5", "NaT"], dtype="M8[us]"),
    ),
    (
        f'structure(3600, tzone = "Europe/Paris", {TIME})',
        pd.DatetimeIndex(HOUR, tz="UTC").tz_convert("Europe/Paris"),
    ),
    ('structure(1L, class = "Date")', np.array(["1970-01-02"], dtype="M8[D]")),
    ('as.difftime(1.5, units = "hours")', np.array([5_400_000_000], dtype="m8[us]")),
    ('structure(4.9406564584124654e-324, class = "integer64")', np.array([1])),
    ("matrix(c(1L, NA), 1)", np.array([[1.0, np.nan]])),
    (
        'matrix(1:4, 2, dimnames = list(NULL, c("a", "b")))',
        pd.DataFrame([[1, 3], [2, 4]], columns=["a", "b"]),
    ),
    (
        'data.frame(x = 1:2, row.names = c("r", "s"))',
        pd.DataFrame({"x": [1, 2]}, index=["r", "s"]),
    ),
    ("data.frame(x = numeric(0))", pd.DataFrame({"x": []}, dtype="float64")),
]


def value_of(r, code):
    return r.call("value_of", {"code": code})


def assert_same(value, expected):
    """Assert equal types and values, in dicts and lists too."""
    assert type(value) is type(expected)
    if isinstance(expected, pd.DataFrame):
        pd.testing.assert_frame_equal(value, expected, check_column_type=False)
    elif isinstance(expected, dict):
        assert [*value] == [*expected]
        assert_same([*value.values()], [*expected.values()])
    elif isinstance(expected, list):
        for one, other in zip(value, expected, strict=True):
            assert_same(one, other)
    elif expected is not None:
        assert value.dtype == expected.dtype
        np.testing.assert_array_equal(pd.isna(value), pd.isna(expected))
        assert (value == expected)[~pd.isna(expected)].all()


@pytest.mark.needs_r
@for_each(SENT, lambda case: case[1])
def test_r_has_what_python_sent_bit_for_bit_and_sends_it_back(case, r):
    sent, code, returned = case
    assert r.call("is_the_same", {"x": sent, "code": code}).all()
    assert_same(value_of(r, code), returned)


@pytest.mark.needs_r
@for_each(RETURNED, lambda case: case[0])
def test_what_only_r_has_returns_as_the_nearest_type(case, r):
    code, returned = case
    assert_same(value_of(r, code), returned)


@pytest.mark.needs_r
def test_a_result_is_a_copy_to_compute_with_and_matrices_are_in_the_order_of_r(r):
    first = value_of(r, "c(1, NA)")
    with np.errstate(all="raise"):
        first += 1
    assert value_of(r, "c(1, NA)")[0] == 1
    assert value_of(r, "matrix(1:4, 2)").flags.f_contiguous


REFUSED_OF_R = [
    ("sum", "", "function"),
    ("globalenv()", "", "environment"),
    ("y ~ x", "", "formula"),
    ("quote(f(x))", "", "call"),
    ("1i", "", "complex"),
    ('methods::getClass("numeric")', "", "classRepresentation"),
    ('as.POSIXlt("2020-01-01")', "", "POSIXlt"),
    ("list(a = list(b = sum))", ", element 'a', element 'b'", "function"),
    ("data.frame(x = I(list(1, 2)))", ", column 'x'", "AsIs"),
    ("data.frame(m = I(matrix(1:4, 2)))", ", column 'm'", "matrix"),
]
RESULT = "The result of 'value_of'"
REFUSED_OF_R = [
    *(
        (code, f"{where} is no data: R returned a value of class {name}.")
        for code, where, name in REFUSED_OF_R
    ),
    ('"\\xff"', " holds bytes of R that are no valid text."),
    (
        'addNA(factor("a"))',
        " has a missing value (NA) among its levels, as addNA() makes one. Name that "
        "level.",
    ),
    ("list(a = 1, a = 2)", " has more than one element named 'a'."),
]


@pytest.mark.needs_r
@for_each(REFUSED_OF_R, lambda case: case[0])
def test_what_is_no_data_is_refused_by_name(case, r):
    code, words = case
    with pytest.raises(RBridgeError) as refusal:
        value_of(r, code)
    assert str(refusal.value) == RESULT + words


TWICE = pd.DataFrame([[1, 2]], columns=["a", "a"])
OVER = np.uint64([2**53 + 1])
SPARSE = pd.arrays.SparseArray([0, 1])
AS_TEXT = pd.Categorical([1, "1"], categories=[1, "1"])
DAY = pd.to_datetime(["2020-01-01"])
LARGE = pd.array([-(2**53) - 1, None], dtype="Int64")
REFUSED = [
    (TWICE, "X must name each column once; 'a' is given twice."),
    (pd.DataFrame([[1]]), "X must have text without NUL for names; 0 was found."),
    ({"a\0": 1}, r"X must have text without NUL for names; 'a\x00' was found."),
    ("\udcff", "X must hold valid Unicode; 'utf-8' codec can't encode character "),
    ({"a": [[1], {2}]}, "X, element 'a', element 2 must hold one type that R knows; "),
    *(
        (pd.DataFrame({"x": column}), f"X, column 'x' must {rule}.")
        for column, rule in (
            (OVER, "hold integers up to 2**53; 9007199254740993 was found"),
            (LARGE, "hold integers up to 2**53; -9007199254740993 was found"),
            ([1, "a"], "hold one type that R knows; mixed-integer was found"),
            ([1j], "have a type that R knows; complex128 was found"),
            (SPARSE, "have a type that R knows; Sparse[int64, 0] was found"),
            (AS_TEXT, "have levels that differ as text; '1' is given twice"),
            (["a\0b"], "hold text without NUL; a NUL character was found"),
            (DAY, "have a type that R knows; datetime64[ns] was found"),
        )
    ),
]


@for_each(REFUSED, lambda case: case[1])
def test_what_r_cannot_hold_is_refused_by_name(case):
    value, message = case
    with pytest.raises(RBridgeError) as refusal:
        pack(value, subject="X")
    assert str(refusal.value).startswith(message)


def test_no_refusal_grows_with_a_name():
    name = "x" * 100_000
    twice = pd.DataFrame([[1, 2]], columns=[name, name])
    for value in (
        twice,
        {name: object()},
        {f"{name}\0": 1},
        {name: pd.DataFrame({name: [1j]})},
    ):
        with pytest.raises(RBridgeError) as refusal:
            pack(value, subject="X")
        assert len(str(refusal.value)) < 300


TEXT = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=8
)
NAME = TEXT | st.sampled_from(["if", "a b", "fare (£)", "NA", "🚢", "", "..1"])
WHOLE = st.integers(-(2**53), 2**53)


def category(codes, *, ordered):
    levels = ["b", "a", "", "é", "never"]
    return pd.Categorical.from_codes(codes, levels, ordered=ordered)


# What a value is, what makes a column of many, and what a missing value is given as.
KINDS = {
    "float64": (st.floats(), lambda v: np.array(v, "f8"), np.nan),
    "float32": (st.floats(width=32), lambda v: np.array(v, "f4"), np.nan),
    "int64": (WHOLE, lambda v: np.array(v, "i8")),
    "int8": (st.integers(-128, 127), lambda v: np.array(v, "i1")),
    "uint64": (st.integers(0, 2**53), lambda v: np.array(v, "u8")),
    "bool": (st.booleans(), lambda v: np.array(v, bool)),
    "category": (st.integers(-1, 3), lambda v: category(v, ordered=False), -1),
    "ordered": (st.integers(-1, 3), lambda v: category(v, ordered=True), -1),
}


@st.composite
def frames(draw):
    """Return a frame of random columns under random names."""
    n_rows = draw(st.integers(0, 5))
    names = draw(st.lists(NAME, unique=True, max_size=6))
    columns = {}
    for name in names:
        value, make, *_ = KINDS[draw(st.sampled_from(sorted(KINDS)))]
        values = draw(st.lists(value, min_size=n_rows, max_size=n_rows))
        columns[name] = pd.Series(make(values), index=range(n_rows))
    index = pd.RangeIndex(n_rows)
    return pd.DataFrame(columns, index=index, columns=pd.Index(names, dtype=object))


def assert_predict_sees(r, frame):
    """Assert that predict gets a frame as it was sent, 0 apart from -0, each time."""
    seen = []
    arguments = {"data": frame, "times": 2}
    predict = lambda X: np.ones(seen.append(X) or len(X))  # noqa: E731
    r.call("ask_often", arguments, predict=predict, schema_of=frame)
    for X in seen:
        pd.testing.assert_frame_equal(X, frame, check_exact=True)
        numbers = [
            f.select_dtypes("floating").fillna(0).to_numpy("f8") for f in (X, frame)
        ]
        np.testing.assert_array_equal(*map(np.signbit, numbers))


@pytest.mark.needs_r
@given(frames())
@settings(max_examples=40)
def test_predict_sees_any_frame_that_r_was_given(r, frame):
    before = frame.copy(deep=True)
    assert_predict_sees(r, frame)
    pd.testing.assert_frame_equal(frame, before)
    no_rows = restore(frame, pack(frame[:0], subject="X"))
    pd.testing.assert_frame_equal(no_rows, frame[:0])


@pytest.mark.needs_r
@for_each([kind for kind, (_, _, *missing) in KINDS.items() if missing])
def test_a_column_of_which_all_is_missing_stays_what_it_is(kind, r):
    _, make, missing = KINDS[kind]
    frame = pd.DataFrame({"a": make([missing] * 3)})
    assert frame["a"].isna().all()
    assert_predict_sees(r, frame)


@pytest.mark.needs_r
@for_each(["fortran", "strides", "read-only", "big-endian", "memory-mapped"])
def test_the_memory_of_a_frame_does_not_matter(kind, r, tmp_path):
    values = np.arange(12.0).reshape(4, 3)
    mapped = np.memmap(tmp_path / "values", "f8", "w+", shape=values.shape)
    mapped[:] = values
    array = {
        "fortran": np.asfortranarray(values),
        "strides": np.arange(24.0).reshape(4, 6)[::-1, ::2],
        "read-only": np.broadcast_to(values[0], values.shape),
        "big-endian": values.astype(">f8"),
        "memory-mapped": mapped,
    }[kind]
    np.testing.assert_array_equal(r.call("echo", {"x": array}), array)
    if array.dtype.isnative:
        frame = pd.DataFrame(array, columns=list("abc"), copy=False)
        pd.testing.assert_frame_equal(r.call("echo", {"x": frame}), frame)
