"""Whatever R packages and hypothesis can think of goes there and back unharmed."""

from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from importance_audit.r_bridge.errors import RBridgeError

pytestmark = pytest.mark.needs_r

TEXT = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=8
)
NAME = st.one_of(
    TEXT, st.sampled_from(["if", "a b", "fare (£)", "NA", "🚢", "", "..1"])
)
MICROSECONDS = st.integers(-(2**50), 2**50)
WHOLE = st.integers(-(2**53), 2**53)
LEVELS = ["b", "a", "", "é", "never"]


def category(codes, *, ordered):
    return pd.Categorical.from_codes(codes, LEVELS, ordered=ordered)


def zoned(values):
    return pd.to_datetime(values, unit="us").tz_localize("UTC").tz_convert("Asia/Tokyo")


def array_of(dtype):
    return lambda values: pd.array(values, dtype=dtype)


# The kinds of r_bridge's table: what a value is, and what makes a column of many.
KINDS = {
    "float64": (st.floats(), lambda v: np.array(v, "f8")),
    "float32": (st.floats(width=32), lambda v: np.array(v, "f4")),
    "Float64": (st.none() | st.floats(allow_nan=False), array_of("Float64")),
    "int64": (WHOLE, lambda v: np.array(v, "i8")),
    "int8": (st.integers(-128, 127), lambda v: np.array(v, "i1")),
    "uint64": (st.integers(0, 2**53), lambda v: np.array(v, "u8")),
    "Int64": (st.none() | WHOLE, array_of("Int64")),
    "bool": (st.booleans(), lambda v: np.array(v, bool)),
    "boolean": (st.none() | st.booleans(), array_of("boolean")),
    "category": (st.integers(-1, 3), lambda v: category(v, ordered=False)),
    "ordered": (st.integers(-1, 3), lambda v: category(v, ordered=True)),
    "objects": (st.none() | TEXT, lambda v: np.array([*v, 0], object)[:-1]),
    "string": (st.none() | TEXT, array_of("string")),
    "times": (st.none() | MICROSECONDS, lambda v: pd.to_datetime(v, unit="us")),
    "zoned": (st.none() | MICROSECONDS, zoned),
    "durations": (
        st.none() | MICROSECONDS,
        lambda v: pd.to_timedelta([pd.NaT if n is None else 1000 * n for n in v]),
    ),
    "dates": (
        st.dates(date(1700, 1, 1), date(2200, 1, 1)),
        lambda v: np.array([*v, 0], object)[:-1],
    ),
}

# A column of objects is one of dates by what it holds.
NEVER_MISSING = {"int64", "int8", "uint64", "bool", "dates"}


@st.composite
def frames(draw):
    """Return a frame of random columns under random names."""
    n_rows = draw(st.integers(0, 5))
    names = draw(st.lists(NAME, unique=True, max_size=6))
    frame = pd.DataFrame(index=pd.RangeIndex(n_rows))
    columns = {}
    for name in names:
        value, make = KINDS[draw(st.sampled_from(sorted(KINDS)))]
        values = draw(st.lists(value, min_size=n_rows, max_size=n_rows))
        columns[name] = pd.Series(make(values), index=frame.index)
    return pd.DataFrame(
        columns, index=frame.index, columns=pd.Index(names, dtype=object)
    )


def signs(frame):
    """Tell 0 from -0; a missing number has no sign."""
    return np.signbit(frame.select_dtypes("floating").fillna(0).to_numpy("f8"))


@given(frames())
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_predict_sees_any_frame_that_r_was_given(r, frame):
    predicted_frames = []
    answer = r.call(
        "ask_often",
        {"data": frame, "times": 3},
        predict=lambda X: np.ones(predicted_frames.append(X) or len(X)),
        schema_of=frame,
    )
    assert len(answer) == len(frame)
    for X in predicted_frames:
        pd.testing.assert_frame_equal(X, frame, check_exact=True)
        np.testing.assert_array_equal(signs(X), signs(frame))


@pytest.mark.parametrize("kind", sorted({*KINDS} - NEVER_MISSING))
def test_a_column_of_which_all_is_missing_stays_what_it_is(r, kind):
    _, make = KINDS[kind]
    missing = {"float64": np.nan, "float32": np.nan, "category": -1, "ordered": -1}
    frame = pd.DataFrame({"a": make([missing.get(kind)] * 3)})
    predicted_frames = []
    r.call(
        "ask",
        {"data": frame},
        predict=lambda X: np.ones(predicted_frames.append(X) or len(X)),
        schema_of=frame,
    )
    pd.testing.assert_frame_equal(predicted_frames[0], frame)
    assert predicted_frames[0]["a"].isna().all()


def test_data_frames_of_all_packages_return_to_r_as_they_were(r):
    n_frames = 0
    for package in r.call("packages_with_data", {}):
        arguments = {"package": package}
        shelf = r.call("shelf_of", arguments | {"whole": True})
        n_frames += len(shelf)
        if len(shelf):
            assert not len(r.call("differing_columns", arguments | {"frames": shelf}))
    assert n_frames > 40


def test_a_value_that_changed_on_the_way_would_be_found(r):
    shelf = r.call("shelf_of", {"package": "datasets", "whole": True})
    shelf["women"].loc[3, "weight"] += 1e-9
    shelf["iris"]["Species"] = shelf["iris"]["Species"].cat.reorder_categories(
        ["virginica", "versicolor", "setosa"]
    )
    arguments = {"package": "datasets", "frames": shelf}
    assert sorted(r.call("differing_columns", arguments)) == ["Species", "weight"]


def test_data_frames_that_hold_more_than_vectors_are_refused_by_name(r):
    if "survival" not in r.call("packages_with_data", {}):
        pytest.skip("survival, whose udca1 has matrices for columns, is not installed")
    broken = r.call("names_of_broken", {"package": "survival"})
    for n, columns in enumerate(broken.values()):
        with pytest.raises(RBridgeError) as refusal:
            r.call("broken_frame", {"package": "survival", "n": n + 1})
        assert f", column {columns[0]!r} is no data: " in str(refusal.value)


def test_other_data_sets_arrive_with_their_numbers_in_their_shape(r):
    arguments = {"package": "datasets"}
    kinds = r.call("names_of_others", arguments)
    for n in [n for n, kind in enumerate(kinds) if kind in {"table", "matrix", "ts"}]:
        one = arguments | {"n": n + 1}
        dataset, numbers = r.call("other_of", one), r.call("numbers_of_other", one)
        np.testing.assert_array_equal(np.asarray(dataset).ravel(order="F"), numbers)
        assert isinstance(dataset, pd.DataFrame | np.ndarray)
    assert {"table", "matrix", "ts"} <= set(kinds)


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (-(2**31) + 1, "-2147483647L"),
        (-(2**31), "-2147483648"),
        (2**31 - 1, "2147483647L"),
        (2**31, "2147483648"),
    ],
)
def test_integers_are_integers_in_r_up_to_its_na(r, number, kind):
    assert r.call("shown", {"x": number})[0] == kind
    assert r.call("echo", {"x": number}).tolist() == [number]


@pytest.mark.parametrize(
    "make",
    [
        lambda values, _: np.asfortranarray(values),
        lambda values, _: values[::-1][::-1],
        lambda values, _: np.broadcast_to(values[0], values.shape),
        lambda values, _: values.astype(">f8"),
        lambda values, folder: np.memmap(
            folder / "values", "f8", "w+", shape=values.shape
        ),
    ],
    ids=["fortran", "reversed", "read-only", "big-endian", "memory-mapped"],
)
def test_the_memory_of_a_frame_does_not_matter(r, tmp_path, make):
    values = make(np.arange(12.0).reshape(4, 3), tmp_path)
    if isinstance(values, np.memmap):
        values[:] = np.arange(12.0).reshape(4, 3)
    echo = r.call("echo", {"x": values})
    np.testing.assert_array_equal(echo, values)
    if values.dtype.isnative:
        frame = pd.DataFrame(values, columns=list("abc"), copy=False)
        pd.testing.assert_frame_equal(r.call("echo", {"x": frame}), frame)
