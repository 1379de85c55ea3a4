"""What R sees of a Python value: facts about R are asked of R."""

from datetime import date

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.needs_r

NAMES = ["", "if", "a b", "fare (£)", "🚢", "x" * 10_000, "`", "a\nb", "NA", "…"]


def text_in_r(r, value):
    return r.call("shown", {"x": value})[0]


@pytest.mark.parametrize(
    ("value", "r_code"),
    [
        (None, "NULL"),
        (True, "TRUE"),
        (3, "3L"),
        (2**31, "2147483648"),
        (2.5, "2.5"),
        ("£", '"£"'),
        ((1, 2), "1:2"),
        ([1, 2.5, None], "c(1, 2.5, NA)"),
        ([True, None], "c(TRUE, NA)"),
        (["a", None, "NA", ""], 'c("a", NA, "NA", "")'),
        ([], "logical(0)"),
        ({"a": 1, "b": ["x", 2.0][:1]}, 'list(a = 1L, b = "x")'),
        ([[1], None], "list(1L, NULL)"),
        (np.array([[1.0, 2], [3, 4]]), "structure(c(1, 3, 2, 4), dim = c(2L, 2L))"),
        (np.array([-0.0, np.inf, 5e-324]), "c(0, Inf, 4.94065645841247e-324)"),
        (pd.array([1, None], dtype="Int64"), "c(1L, NA)"),
        (np.array([2**53]), "9007199254740992"),
        (
            pd.Categorical(["b", None], categories=["b", "a"]),
            'structure(c(1L, NA), levels = c("b", "a"), class = "factor")',
        ),
        (
            pd.Categorical([2], categories=[1, 2], ordered=True),
            'structure(2L, levels = c("1", "2"), class = c("ordered", "factor"))',
        ),
        ([date(1969, 12, 31), None], 'structure(c(-1, NA), class = "Date")'),
        (
            pd.Series(pd.to_datetime(["1969-12-31 23:59:59.5", None])),
            'structure(c(-0.5, NA), tzone = "", class = c("POSIXct", "POSIXt"))',
        ),
        (
            pd.Timestamp("1970-01-01 02:00", tz="Europe/Paris"),
            'structure(3600, tzone = "Europe/Paris", class = c("POSIXct", "POSIXt"))',
        ),
        (
            pd.Timedelta("1.5s"),
            'structure(1.5, units = "secs", class = "difftime")',
        ),
        (
            pd.DataFrame({"x": [1.5], "y": ["a"]}),
            'structure(list(x = 1.5, y = "a"), row.names = c(NA, -1L), class = '
            '"data.frame")',
        ),
    ],
)
def test_r_has_what_python_sent(r, value, r_code):
    assert text_in_r(r, value) == r_code


def test_missing_numbers_are_na_and_not_nan(r):
    assert r.call("is_nan", {"x": np.array([np.nan, 1.0])}).tolist() == [False, False]
    assert text_in_r(r, np.array([np.nan])) == "NA_real_"


def test_a_frame_is_one_that_r_would_make(r):
    frame = pd.DataFrame({"x": [1.0, 2.0], "n": [1, 2], "b": [True, False]})
    assert r.call("is_valid_frame", {"x": frame}).all()


@pytest.mark.parametrize("n_rows", [0, 1])
def test_frames_with_few_rows_are_frames(r, n_rows):
    frame = pd.DataFrame({"x": [1.5], "g": pd.Categorical(["a"]), "t": ["u"]})[:n_rows]
    assert r.call("is_valid_frame", {"x": frame}).all()
    assert r.call("echo", {"x": frame}).to_dict() == frame.to_dict()


def test_names_survive_whatever_they_are(r):
    frame = pd.DataFrame([range(len(NAMES))], columns=NAMES)
    assert list(r.call("echo", {"x": frame}).columns) == NAMES
    assert list(r.call("echo", {"x": dict.fromkeys(NAMES, 1)})) == NAMES


def test_large_vectors_are_filled_by_r(r):
    big = np.arange(3_000_000.0)
    flags = big % 3 == 0
    assert (r.call("echo", {"x": big}) == big).all()
    assert (r.call("echo", {"x": flags}) == flags).all()


@pytest.mark.parametrize("n_distinct", [3, 900])
def test_text_survives_whether_it_repeats_or_not(r, n_distinct):
    texts = [f"é{n % n_distinct}\n" for n in range(1000)]
    assert r.call("echo", {"x": texts}).tolist() == texts


def test_levels_that_nobody_uses_stay_in_their_order(r):
    values = pd.Categorical(["b", None, "b"], categories=["z", "b", "a"])
    returned = r.call("echo", {"x": values})
    assert returned.categories.tolist() == ["z", "b", "a"]
    assert returned.codes.tolist() == [1, -1, 1]
