"""The Excel file: every table with rows, nothing that runs, the same bytes."""

import io
import sys
import zipfile
from pathlib import PurePosixPath

import numpy as np
import pandas as pd
import pytest
from tests.report.made_records import HOSTILE
from tests.report.made_variants import RESULTS, plain_result, result_of

from importance_audit.records import as_xlsx
from importance_audit.records.as_csv import KEPT, has_rows, rows_of, tables
from importance_audit.records.as_xlsx import workbook

pytestmark = pytest.mark.needs_openpyxl


def opened(result):
    from openpyxl import load_workbook

    return load_workbook(io.BytesIO(workbook(result)))


@pytest.mark.parametrize("name", ["apartments", "multiclass", "interrupted"])
def test_there_is_a_sheet_for_each_table_with_rows_after_an_index(name):
    result = result_of(name)
    book = opened(result)
    files = [
        PurePosixPath(file).stem
        for file, text in tables(result).items()
        if has_rows(text)
    ]
    assert book.sheetnames == ["index", *files]
    lines = list(book["index"].iter_rows(values_only=True))
    assert lines[0] == ("sheet", "file", "rows", "content")
    assert [line[0] for line in lines[1:]] == files
    for sheet, file, n_rows, content in lines[1:]:
        assert file == f"tables/{sheet}.csv"
        assert n_rows == book[sheet].max_row - 1
        assert content


@pytest.mark.slow
def test_cells_are_the_numbers_and_names_of_the_tables():
    result = result_of("apartments")
    sheet = opened(result)["importances"]
    expected = list(rows_of(result)["tables/importances.csv"])
    found = list(sheet.iter_rows(values_only=True))
    assert found[0] == tuple(expected[0])
    assert len(found) == len(expected)
    places = [expected[0].index(name) for name in ("feature", "repeat", "value")]
    for row, source in zip(found[1:], expected[1:], strict=True):
        feature, repeat, value = (source[place] for place in places)
        assert [row[place] for place in places[:2]] == [feature, repeat]
        # openpyxl writes 16 digits of a number, Excel keeps 15
        assert row[places[2]] == pytest.approx(float(value), rel=1e-15, abs=0)


def test_nothing_in_the_file_is_a_formula_or_an_error():
    names = ("=1+1", "+cmd", "@x", "-2-3", "#N/A", *HOSTILE)
    book = opened(plain_result(names))
    cells = [c for sheet in book for row in sheet.iter_rows() for c in row]
    assert {c.data_type for c in cells if c.value is not None} <= {"s", "n", "b"}
    features = {c.value for c in book["columns"]["A"][1:]}
    assert {"'=1+1", "'+cmd", "'@x", "'-2-3", "#N/A"} <= features
    assert "=1+1" not in features


@pytest.fixture
def columns_of(monkeypatch):
    """Return the first column of the sheet that these rows make."""

    def column(name, rows):
        table = {f"tables/{name}.csv": iter(rows)}
        monkeypatch.setattr(as_xlsx, "rows_of", lambda _: table)
        sheet = opened(result_of("apartments"))[name]
        return [row[0] for row in sheet.iter_rows(values_only=True)]

    return column


def test_what_excel_cannot_hold_is_shown_or_cut(columns_of):
    rows = [("value",), ("a\x0bb" + "x" * 40_000,)]
    _, value = columns_of("answers", rows)
    assert value.startswith("a⟨U+000B⟩bx")
    assert len(value) == 32_767
    assert value.endswith("…")


def test_of_a_long_table_the_index_says_how_much_is_shown(monkeypatch):
    monkeypatch.setattr(as_xlsx, "MOST_ROWS", 3)
    book = opened(result_of("apartments"))
    assert book["importances"].max_row == 4
    counts = {row[0]: row[2] for row in book["index"].iter_rows(values_only=True)}
    assert counts["importances"] == "first 3; tables/importances.csv has all"


def test_what_is_not_finite_is_a_word(columns_of):
    rows = [("x",), (float("nan"),), (np.float64("inf"),), (np.int64(3),), (True,)]
    assert columns_of("checks", rows) == ["x", "NaN", "Infinity", 3, True]


@pytest.mark.parametrize("name", ["apartments", "hostile"])
def test_the_same_result_gives_the_same_bytes_without_a_clock(name):
    data = workbook(result_of(name))
    assert workbook(result_of(name)) == data
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        assert {part.date_time[0] for part in file.infolist()} == {1980}
        core = file.read("docProps/core.xml").decode()
    started = str(result_of(name).run.volatile["started"])[:19]
    assert core.count(started) == 2


def test_without_openpyxl_there_is_no_file(monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    assert workbook(result_of("apartments")) is None


def test_a_table_without_rows_is_no_file():
    for name in RESULTS:
        for file, text in tables(result_of(name)).items():
            n_lines = len(pd.read_csv(io.StringIO(text), header=None))
            assert n_lines > 1 or file in KEPT, file
    assert "tables/surfaces.csv" not in tables(result_of("apartments"))
