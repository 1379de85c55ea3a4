"""What Python sees of an R value, and what R may not hand over."""

import ast
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from importance_audit import r_bridge
from importance_audit.r_bridge.errors import RBridgeError

pytestmark = pytest.mark.needs_r


def value_from_r(r, name):
    return r.call("values_by_name", {"name": name})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sequence", np.array([1, 2, 3])),
        ("numbers", np.array([1, np.nan, np.nan, np.inf])),
        ("text", np.array(["£", None, ""], dtype=object)),
        ("latin1", np.array(["é"], dtype=object)),
        ("empty", np.array([], dtype=object)),
        ("named", np.array([1.0])),
        ("date", np.array(["1969-12-31", "NaT"], dtype="M8[D]")),
        ("integer_date", np.array(["1970-01-02"], dtype="M8[D]")),
        ("hours", np.array([5_400_000_000], dtype="m8[us]")),
        ("big", np.array([1])),
        ("matrix", np.array([[1, 3], [2, 4]])),
        ("missing_matrix", np.array([[1.0, np.nan]])),
    ],
)
def test_a_vector_of_r_is_an_array(r, name, expected):
    array = value_from_r(r, name)
    assert array.dtype == expected.dtype
    np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("integer_na", pd.array([1, None], dtype="Int64")),
        ("logical_na", pd.array([True, None], dtype="boolean")),
        ("factor", pd.Categorical(["b", None], categories=["b", "a"])),
        ("ordered", pd.Categorical(["lo"], categories=["lo", "hi"], ordered=True)),
    ],
)
def test_missing_values_and_levels_have_their_own_arrays(r, name, expected):
    pd.testing.assert_extension_array_equal(value_from_r(r, name), expected)


def test_times_keep_their_zone(r):
    assert value_from_r(r, "zone")[0] == pd.Timestamp("1969-12-31 19:00-05:00")
    assert str(value_from_r(r, "zone").tz) == "America/New_York"
    assert value_from_r(r, "time")[0] == pd.Timestamp("1969-12-31 23:59:59.5", tz="UTC")
    assert pd.isna(value_from_r(r, "time")[1])


def test_na_does_not_warn_when_it_is_computed_with(r):
    with np.errstate(all="raise"):
        assert np.isnan(value_from_r(r, "numbers") + 1).tolist() == [
            False,
            True,
            True,
            False,
        ]


def test_lists_are_dicts_if_they_have_names(r):
    assert value_from_r(r, "list") == {
        "a": np.array([1.0]),
        "b": [np.array(["x"]), None],
    }
    assert value_from_r(r, "nothing") is None


def test_a_matrix_with_column_names_is_a_frame(r):
    expected = pd.DataFrame([[1, 3], [2, 4]], columns=["a", "b"])
    pd.testing.assert_frame_equal(value_from_r(r, "labelled"), expected)
    assert value_from_r(r, "matrix").flags.f_contiguous


def test_row_names_return_if_they_are_text(r):
    assert value_from_r(r, "frame").index.tolist() == ["r", "s"]
    assert value_from_r(r, "no_rows").shape == (0, 1)
    assert value_from_r(r, "no_columns").shape == (3, 0)


def test_a_result_is_a_copy_that_can_be_changed(r):
    first = value_from_r(r, "numbers")
    first[0] = 5
    assert value_from_r(r, "numbers")[0] == 1
    assert first[0] == 5


@pytest.mark.parametrize(
    ("name", "where", "r_class"),
    [
        ("closure", "", "function"),
        ("environment", "", "environment"),
        ("formula", "", "formula"),
        ("call", "", "call"),
        ("complex", "", "complex"),
        ("s4", "", "classRepresentation"),
        ("lt", "", "POSIXlt"),
        ("inside", ", element 'a', element 'b'", "function"),
        ("list_column", ", column 'x'", "AsIs"),
        ("matrix_column", ", column 'm'", "matrix"),
    ],
)
def test_what_is_not_data_is_refused_by_name(r, name, where, r_class):
    with pytest.raises(RBridgeError) as refusal:
        value_from_r(r, name)
    assert str(refusal.value) == (
        f"The result of 'values_by_name'{where} is no data: R returned a value of "
        f"class {r_class}."
    )


def test_text_that_is_broken_in_r_is_refused(r):
    with pytest.raises(RBridgeError) as refusal:
        value_from_r(r, "broken")
    assert str(refusal.value) == (
        "The result of 'values_by_name' holds bytes of R that are no valid text."
    )


def test_a_level_that_is_missing_is_refused(r):
    with pytest.raises(RBridgeError) as refusal:
        value_from_r(r, "na_level")
    assert str(refusal.value) == (
        "The result of 'values_by_name' has a missing value (NA) among its levels."
    )


def test_a_list_with_a_name_twice_is_refused(r):
    with pytest.raises(RBridgeError) as refusal:
        value_from_r(r, "twice")
    assert str(refusal.value) == (
        "The result of 'values_by_name' has more than one element named 'a'."
    )


def test_nothing_calls_the_method_that_takes_a_reference_from_none():
    calls = [
        f"{path.name}:{node.lineno}"
        for path in Path(r_bridge.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "memoryview"
    ]
    assert calls == []
