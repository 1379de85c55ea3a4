"""Tables for people: nothing in them runs in a spreadsheet, and no number changes."""

import csv
import io

import pytest

from importance_audit.records.as_csv import csv_text
from importance_audit.records.cells import escaped, unescaped

RUN = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-a",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "'=1",
    "-",
    "''-x",
]
PLAIN = ["", "a", "a=b", "'", "'a", "größe", "−1.5", "-1.5", "+3", "-1e-05", "1", " =1"]


@pytest.mark.parametrize("text", RUN)
def test_a_text_that_a_spreadsheet_would_run_has_an_apostrophe_before_it(text):
    assert escaped(text) == f"'{text}"
    assert unescaped(escaped(text)) == text
    (cell,) = next(csv.reader(io.StringIO(csv_text([[text]]), newline="")))
    assert cell == f"'{text}"


@pytest.mark.parametrize("text", PLAIN)
def test_numbers_and_other_texts_stay_as_they_are(text):
    assert escaped(text) == text
    assert unescaped(text) == text


def test_numbers_are_written_as_numbers():
    row = [-1.5, -3, float("-inf"), float("nan"), True, None]
    assert csv_text([row]) == "-1.5,-3,-Infinity,NaN,True,\n"
