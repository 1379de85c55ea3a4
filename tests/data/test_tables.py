"""Tables as they are: each reader with a file of the program that users use."""

import csv
import gzip
import io
import shutil
import sqlite3
import subprocess
import zipfile
from contextlib import closing
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from importance_audit.config.load import parse_config
from importance_audit.data import column_types, csv_files
from importance_audit.data.datasets import datasets_frame, describe, read_datasets
from importance_audit.records.errors import DataError

FILES = Path(__file__).parent / "files"
GERMAN = "Größe;Gewicht;y\r\n1,5;60;1\r\n2,5;70,25;2\r\n;80;3\r\n"
SEMICOLONS = {"separator": ";", "decimal": ","}
needs_openpyxl = pytest.mark.needs_openpyxl
needs_sqlalchemy = pytest.mark.needs_sqlalchemy


def rows_of(folder, source, **data):
    """Return the rows of one source, training and test rows alike."""
    section = {"train": source, "test": source, "target": "y", "task": "regression"}
    config = parse_config({"data": section | data}, base=folder)
    return read_datasets(**config.data_arguments)[0]


def refusal(folder, source, **data):
    with pytest.raises(DataError) as error:
        rows_of(folder, source, **data)
    return str(error.value).splitlines()[0]


# --- CSV ------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252", "utf-16"])
def test_what_excel_writes_in_a_german_locale_is_read(encoding, tmp_path):
    (tmp_path / "a.csv").write_bytes(GERMAN.encode(encoding))
    given_encoding = {} if encoding == "utf-8-sig" else {"encoding": encoding}
    source = {"file": "a.csv"} | SEMICOLONS | given_encoding
    rows = rows_of(tmp_path, source)
    assert rows.features == ("Größe", "Gewicht")
    assert rows.X["Gewicht"].tolist() == [60, 70.25, 80]
    assert rows.X["Größe"].isna().tolist() == [False, False, True]


def test_a_point_where_decimals_have_a_comma_is_asked_about(tmp_path):
    (tmp_path / "a.csv").write_text("x;y\n1.234;1\n2,5;2\n1.5;3\n")
    assert refusal(tmp_path, {"file": "a.csv"} | SEMICOLONS) == (
        "a.csv: column 'x' holds numbers that are not written like 1234,5: '1.234', "
        "'1.5'. Write them so in the file, say beside a CSV file how they are written "
        "(decimal, thousands, strip, negative), declare the levels under [data] "
        "categories, or name the column under [data] exclude."
    )


WRITTEN = {
    "1.234,5": {"decimal": ",", "thousands": "."},
    "1 234,5": {"decimal": ",", "thousands": " "},
    "1\u202f234,5": {"decimal": ",", "thousands": " "},
    "1'234.5": {"thousands": "'"},
    "1,234.5": {"thousands": ","},
    "€ 1234.5": {"strip": ["€"]},
    "1234.5EUR": {"strip": ["EUR", "€"]},
    "+1234.50": {"negative": "1-"},
}


@pytest.mark.parametrize("cell", WRITTEN)
def test_numbers_are_written_as_the_keys_beside_the_file_say(cell, tmp_path):
    (tmp_path / "a.csv").write_text(f"x;y\n{cell};1\n;2\n{cell};3\n")
    rows = rows_of(tmp_path, {"file": "a.csv", "separator": ";", **WRITTEN[cell]})
    assert rows.X["x"].fillna(0).tolist() == [1234.5, 0, 1234.5]


@pytest.mark.parametrize(
    ("cell", "keys"),
    [
        ("5,5-", {"negative": "1-"}),
        ("5,5 %-", {"negative": "1-"}),
        ("5,5- %", {"negative": "1-"}),
        ("-5,5 %", {"negative": "1-"}),
        ("(5,5%)", {"negative": "(1)"}),
        ("-% 5,5", {}),
        ("% -5,5", {}),
    ],
)
def test_numbers_below_zero_are_written_as_the_key_says(cell, keys, tmp_path):
    (tmp_path / "a.csv").write_text(f"x;y\n{cell};1\n{cell};2\n")
    source = {"file": "a.csv"} | SEMICOLONS | {"strip": ["%"]} | keys
    assert rows_of(tmp_path, source).X["x"].tolist() == [-5.5, -5.5]


@pytest.mark.parametrize(
    ("cell", "keys"),
    [
        ("1.23", {"thousands": "."}),
        ("12.34.567", {"thousands": "."}),
        ("5-", {}),
        ("(5)", {"negative": "1-"}),
        ("-5-", {"negative": "1-"}),
        ("(5", {"negative": "(1)"}),
        ("5 %", {}),
        ("€ 5", {"strip": ["%"]}),
    ],
)
def test_what_the_keys_do_not_say_is_no_number(cell, keys, tmp_path):
    (tmp_path / "a.csv").write_text(f"x;y\n7,5;1\n8,5;2\n{cell};3\n")
    text = refusal(tmp_path, {"file": "a.csv"} | SEMICOLONS | keys)
    assert repr(cell) in text


def test_one_number_with_a_sign_and_one_without_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n12 %,1\n0.12,2\n")
    assert refusal(tmp_path, {"file": "a.csv", "strip": ["%"]}) == (
        "a.csv: column 'x' holds numbers with different signs beside them: '12 %', "
        "'0.12'. Write them alike in the file, declare the levels under [data] "
        "categories, or name the column under [data] exclude."
    )


def test_texts_keep_the_signs_beside_their_numbers(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\nlow,1\nunder 5 %,2\n")
    rows = rows_of(tmp_path, {"file": "a.csv", "strip": ["%"]})
    assert list(rows.X["x"]) == ["low", "under 5 %"]


def test_two_files_may_write_decimals_otherwise(tmp_path):
    sources = {"train": {"file": "a.csv"} | SEMICOLONS, "test": {"file": "b.csv"}}
    _, test = both(tmp_path, "x;y\n1,5;1\n2;2\n", "x,y\n1.25,1\n7,2\n", **sources)
    assert test.X["x"].tolist() == [1.25, 7]


@pytest.mark.parametrize("name", ["a.csv.gz", "a.tsv", "a.tsv.gz"])
def test_packed_files_and_tabs_are_read(name, tmp_path):
    text = "x\ty\n1\t1\n2\t2\n" if ".tsv" in name else "x,y\n1,1\n2,2\n"
    packed = gzip.compress if name.endswith(".gz") else bytes
    (tmp_path / name).write_bytes(packed(text.encode()))
    rows = rows_of(tmp_path, {"file": name})
    assert rows.X["x"].tolist() == [1, 2]
    origins = describe(rows, rows, parse_config_section(name))["origin"].tolist()
    assert origins == ["inferred"]


def parse_config_section(name):
    data = {"train": {"file": name}, "test": {"fraction": 0.5}}
    return parse_config({"data": data | {"target": "y", "task": "regression"}}).data


def test_a_broken_gzip_file_is_one_sentence(tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(b"x,y\n1,2\n")
    assert refusal(tmp_path, {"file": "a.csv.gz"}) == (
        "a.csv.gz cannot be read as gzip: Not a gzipped file (b'x,'). Compress the "
        "file again."
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Rents 2024\nx,y\n1,2\n3,4\n", "line 2 has 2 cells, and the first line 1"),
        ("Rents\nBern\n\nx,y\n1,2\n", "line 4 has 2 cells, and the first line 1"),
        ("Rents, Bern\nx,z,y\n1,2,3\n", "line 2 has 3 cells, and the first line 2"),
        ("x,y\nr1,1,2\nr2,3,4\n", "line 2 has 3 cells, and the first line 2"),
    ],
)
def test_a_title_is_not_told_to_quote_its_commas(text, words, tmp_path):
    (tmp_path / "a.csv").write_text(text)
    first = text.partition("\n")[0]
    assert refusal(tmp_path, {"file": "a.csv"}) == (
        f"a.csv: {words}. The first line must name the columns: {first!r} does not "
        "name all. Remove titles above the names, and name the column that names rows."
    )


@pytest.mark.parametrize("text", ["sep=;\nx;y\n1;2\n", "sep=,\r\nx,y\r\n1,2\r\n"])
@pytest.mark.parametrize("separator", [",", ";"])
def test_a_line_that_tells_excel_the_separator_is_named(text, separator, tmp_path):
    (tmp_path / "a.csv").write_bytes(text.encode())
    assert refusal(tmp_path, {"file": "a.csv", "separator": separator}) == (
        f"a.csv begins with {text[:5]!r}, a line for Excel, and not with the names of "
        "its columns. Remove that line, and set the separator beside the file unless "
        "it is a comma."
    )


@pytest.mark.parametrize("name", ["a.csv", "a.xlsx", "a.parquet"])
def test_a_pointer_of_git_lfs_is_no_table(name, tmp_path):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
    (tmp_path / name).write_text(pointer)
    assert refusal(tmp_path, {"file": name}) == (
        f"{name} is a pointer of Git LFS, and the file itself is not there. Run: git "
        "lfs pull"
    )


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        (
            "ascii",
            "a.csv cannot be read with encoding 'ascii': line 1 holds the byte 0xc3. "
            "Set the one it was saved with. Python says: ordinal not in range(128)",
        ),
        (
            "latin",
            "a.csv cannot be read with encoding 'latin9000'. Set one that Python "
            'knows, such as "utf-8" or "cp1252". Python says: unknown encoding: '
            "latin9000",
        ),
    ],
)
def test_another_encoding_is_one_sentence(encoding, words, tmp_path):
    (tmp_path / "a.csv").write_text("ä,y\n1,1\n2,2\n", encoding="utf-8")
    name = {"latin": "latin9000"}.get(encoding, encoding)
    assert refusal(tmp_path, {"file": "a.csv", "encoding": name}) == words


@pytest.mark.parametrize(("header", "name"), [("", ""), ("id", "id")])
def test_a_column_that_names_rows_is_left_out(header, name, tmp_path):
    (tmp_path / "a.csv").write_text(f"{header},x,y\nr1,1,1\nr2,2,2\n")
    rows = rows_of(tmp_path, {"file": "a.csv", "index_column": name})
    assert rows.features == ("x",)


def test_an_index_column_that_is_not_there(tmp_path):
    (tmp_path / "a.csv").write_text("row,x,y\nr1,1,1\nr2,2,2\n")
    assert refusal(tmp_path, {"file": "a.csv", "index_column": "rows"}) == (
        "index_column 'rows' is not in a.csv. Did you mean 'row'?"
    )


# --- numbers of a CSV file ------------------------------------------------------------


def cells_of(text, separator=","):
    return csv_files.read_csv(
        "a.csv", text.encode(), separator=separator, encoding="utf-8"
    )


def numbers_of(text):
    return column_types.from_texts(cells_of(text)["x"], where="x")


CELL = st.one_of(
    st.floats(allow_nan=False).map(repr),
    st.integers(-(10**20), 10**20).map(str),
    st.from_regex(r"[+-]?[0-9]{0,9}\.?[0-9]{0,12}", fullmatch=True),
    st.sampled_from(
        ["", "NA", "nan", "inf", "true", "-", ".", "1e5", " 1", "01", "1,5"]
    ),
    st.text('0123456789+-.eE"\n, aé', max_size=6),
    st.sampled_from(["east", "central", "of central east", "the east of it"]).map(
        lambda word: f"{word} and {word}"
    ),
    st.text("ab", min_size=60, max_size=70),
)


@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=8))
def test_a_cell_is_the_text_that_was_written(cells):
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([("x", "y"), *cells])
    frame = cells_of(file.getvalue())
    assert frame.dtypes.tolist() == [object, object]
    assert frame.fillna("").to_numpy().tolist() == [list(row) for row in cells]


@pytest.mark.parametrize("decimal", [".", ","])
def test_a_whole_file_becomes_the_rows_that_were_saved(decimal, tmp_path):
    rng, n = np.random.default_rng(3), 500
    zones = np.array(["north", "the far east", "centre of the town", "é"])
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "rounded": rng.normal(size=n).round(2),
            "whole": rng.integers(-9, 9, n),
            "zone": zones[rng.integers(0, 4, n)],
            "street": [f"street number {i}" for i in rng.integers(0, 200, n)],
            "late": [*["1"] * (n - 1), "one"],
            "ok": rng.choice([True, False], n),
            "y": rng.normal(size=n),
        }
    )
    for name in ("x", "zone"):
        frame.loc[rng.random(n) < 0.1, name] = np.nan
    frame.to_csv(tmp_path / "a.csv", sep=";", index=False, decimal=decimal)
    source = {"file": "a.csv", "separator": ";", "decimal": decimal}
    X = rows_of(tmp_path, source, categories={"late": ["1", "one"]}).X
    for name in ("zone", "street", "late"):
        texts = frame.pop(name)
        levels = X.pop(name).cat
        assert levels.categories.tolist() == sorted(texts.dropna().unique())
        assert levels.codes.eq(-1).tolist() == texts.isna().tolist()
        written = texts.dropna().tolist()
        assert levels.categories[levels.codes[levels.codes >= 0]].tolist() == written
    pd.testing.assert_frame_equal(X, frame.drop(columns="y"), check_exact=True)


def test_a_cell_may_be_longer_than_the_module_csv_takes_by_default(tmp_path):
    long = "POINT " * 30_000
    (tmp_path / "a.csv").write_text(f"x,shape,y\n1,{long},1\n2,{long}2,2\n")
    rows = rows_of(tmp_path, {"file": "a.csv"})
    assert rows.X["shape"].tolist() == [long, f"{long}2"]


@pytest.mark.parametrize("sign", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_only_line_breaks_end_a_line(sign):
    assert cells_of(f"x,y\na{sign}b,1\r\nc,2\rd,3\n")["x"].tolist() == [
        f"a{sign}b",
        "c",
        "d",
    ]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2))
def test_a_number_of_a_column_is_read_to_the_last_bit(numbers):
    text = "x,y\n" + "".join(f"{number!r},1\n" for number in numbers)
    column = numbers_of(text).to_numpy(np.float64)
    assert column.tobytes() == np.array(numbers).tobytes()


def test_numbers_between_two_floats_are_rounded_as_python_does():
    rng = np.random.default_rng(1)
    halves = rng.integers(2**53, 2**54, 3000) * 2 + 1  # in the middle of two float64
    texts = [f"{n // 10**k}.{n % 10**k:0{k}d}" for n in halves.tolist() for k in (1, 9)]
    texts += [f"0.{n}" for n in rng.integers(10**17, 10**18, 20_000).tolist()]
    column = numbers_of("x,y\n" + "".join(f"{t},1\n" for t in texts))
    assert column.tolist() == [float(text) for text in texts]


def test_a_quoted_number_is_a_number_and_a_quoted_line_break_no_line():
    text = '"x","y"\r\n"1.5","a\r\nb"\r\n"2","c, d"\r\n'
    assert numbers_of(text).tolist() == [1.5, 2]
    assert cells_of(text)["y"].tolist() == ["a\r\nb", "c, d"]


@pytest.mark.parametrize(
    ("cells", "word", "keys"),
    [
        ("-99 1 -99", "-99", {}),
        ("-99 -99.0 -99", "-99", {}),  # as it is written
        ("-9,5 1,5 -9,5", "-9,5", SEMICOLONS),
        ("true false true", "true", {}),
    ],
)
def test_a_number_or_a_truth_that_means_missing_is_missing(cells, word, keys, tmp_path):
    separator = keys.get("separator", ",")
    lines = [f"{cell}{separator}{i}" for i, cell in enumerate(cells.split())]
    (tmp_path / "a.csv").write_text("\n".join([f"x{separator}y", *lines, ""]))
    rows = rows_of(tmp_path, {"file": "a.csv"} | keys, missing_values=[word])
    assert rows.X["x"].isna().tolist() == [True, False, True]


# --- Excel ----------------------------------------------------------------------------


def workbook(path, **sheets):
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)


ROWS = [("x", "zone", "ok", "y"), (1, "a", True, 1.5), (None, "b", False, 2)]


@needs_openpyxl
def test_a_sheet_of_openpyxl_keeps_its_types(tmp_path):
    workbook(tmp_path / "a.xlsx", Data=[*ROWS, (None, None, None, None)])
    rows = rows_of(tmp_path, {"file": "a.xlsx"})
    assert [str(dtype) for dtype in rows.X.dtypes] == ["float64", "category", "bool"]
    assert rows.X["x"].isna().tolist() == [False, True]
    assert rows.y.tolist() == [1.5, 2]


@needs_openpyxl
def test_a_sheet_of_libreoffice_is_read():
    rows = rows_of(FILES, {"file": "libreoffice.xlsx"}, features=["Größe", "Gewicht"])
    assert rows.X["Gewicht"].tolist() == [60, 70.25, 80]
    assert rows.X["Größe"].isna().tolist() == [False, False, True]


@needs_openpyxl
@pytest.mark.parametrize("sheet", ["Data", 2])
def test_a_sheet_is_named_or_numbered(sheet, tmp_path):
    workbook(tmp_path / "a.xlsx", Notes=[("a",)], Data=ROWS)
    rows = rows_of(tmp_path, {"file": "a.xlsx", "sheet": sheet})
    assert rows.features == ("x", "zone", "ok")
    assert datasets_frame(None, rows)["source"].tolist() == [f"a.xlsx, sheet {sheet}"]


@needs_openpyxl
@pytest.mark.parametrize(
    ("sheet", "words"),
    [
        (
            {},
            "a.xlsx has 2 sheets. It has 'Notes', 'Data'. Set sheet, a name or a "
            "number, beside the file (init: --sheet).",
        ),
        (
            {"sheet": "Dat"},
            "a.xlsx has no sheet 'Dat'. It has 'Notes', 'Data'. Did you mean 'Data'?",
        ),
        ({"sheet": 3}, "a.xlsx has no sheet 3. It has 'Notes', 'Data'."),
        (
            {"sheet": "Notes"},
            "a.xlsx: sheet 'Notes' is empty. Give it a row of column names and its "
            "rows.",
        ),
    ],
)
def test_sheets_that_are_not_there_are_named(sheet, words, tmp_path):
    workbook(tmp_path / "a.xlsx", Notes=[], Data=ROWS)
    assert refusal(tmp_path, {"file": "a.xlsx"} | sheet) == words


@needs_openpyxl
def test_a_formula_that_nobody_calculated_is_no_empty_cell(tmp_path):
    workbook(tmp_path / "a.xlsx", Data=[("x", "y"), ("=1+1", 1), (2, 2)])
    assert refusal(tmp_path, {"file": "a.xlsx"}) == (
        "a.xlsx: cell A2 of sheet 'Data' holds a formula that was never calculated. "
        "Open the file in Excel or LibreOffice and save it."
    )


def with_member(path, member, old, new):
    """Replace bytes in one member of a workbook, as another program writes them."""
    with zipfile.ZipFile(path) as book:
        members = {name: book.read(name) for name in book.namelist()}
    assert old in members[member]
    members[member] = members[member].replace(old, new)
    with zipfile.ZipFile(path, "w") as book:
        for name, content in members.items():
            book.writestr(name, content)


SHEET = "xl/worksheets/sheet1.xml"


@needs_openpyxl
@pytest.mark.parametrize("stated", [b"A1:A1", b"A1", b"A1:B21"])
def test_rows_and_columns_beyond_the_size_a_sheet_states_are_read(stated, tmp_path):
    rows = [("a", "b", "y"), *((i, i % 7, i) for i in range(60))]
    workbook(tmp_path / "a.xlsx", Data=rows)
    with_member(tmp_path / "a.xlsx", SHEET, b"A1:C61", stated)
    table = rows_of(tmp_path, {"file": "a.xlsx"})
    assert table.features == ("a", "b")
    assert table.y.tolist() == list(range(60))


@needs_openpyxl
def test_a_formula_that_nobody_calculated_beyond_the_size_a_sheet_states(tmp_path):
    rows = [("x", "y"), (1, 1), (2, 2), ("=1+1", 3)]
    workbook(tmp_path / "a.xlsx", Data=rows)
    with_member(tmp_path / "a.xlsx", SHEET, b"A1:B4", b"A1:B2")
    assert "cell A4 of sheet 'Data' holds a formula that was never" in refusal(
        tmp_path, {"file": "a.xlsx"}
    )


@needs_openpyxl
def test_merged_cells_are_refused_and_empty_ones_are_not(tmp_path):
    from openpyxl import load_workbook

    rows = [("zone", "x", "y"), ("a", 1, 1), ("a", 2, 2), ("b", 3, 3), ("b", 4, 4)]
    workbook(tmp_path / "a.xlsx", Data=rows)
    book = load_workbook(tmp_path / "a.xlsx")
    book["Data"].merge_cells("F1:G9")
    book.save(tmp_path / "a.xlsx")
    assert rows_of(tmp_path, {"file": "a.xlsx"}).X["zone"].tolist() == list("aabb")
    for area in ("A2:A3", "A4:A5"):
        book["Data"].merge_cells(area)
    book.save(tmp_path / "a.xlsx")
    assert refusal(tmp_path, {"file": "a.xlsx"}) == (
        "a.xlsx: cells of sheet 'Data' are merged: 'A2:A3', 'A4:A5'. Only the first "
        "cell of each has a value in the file. Unmerge them and fill in every cell."
    )


@needs_openpyxl
def test_a_sheet_that_is_a_chart_is_not_counted(tmp_path):
    from openpyxl import Workbook
    from openpyxl.chart import BarChart

    book = Workbook()
    chart = book.create_chartsheet("Chart", 0)
    chart.add_chart(BarChart())
    for row in ROWS:
        book["Sheet"].append(row)
    book.save(tmp_path / "a.xlsx")
    for sheet in ({}, {"sheet": 1}, {"sheet": "Sheet"}):
        rows = rows_of(tmp_path, {"file": "a.xlsx"} | sheet)
        assert rows.features == ("x", "zone", "ok")
    for sheet, words in (
        ("Chart", ": sheet 'Chart' is a chart"),
        (2, " has no sheet 2"),
    ):
        assert refusal(tmp_path, {"file": "a.xlsx", "sheet": sheet}) == (
            f"a.xlsx{words}. It has 'Sheet'."
        )


@needs_openpyxl
def test_a_formula_whose_result_is_an_empty_text_is_an_empty_cell(tmp_path):
    rows = [("x", "y"), ('=IF(B2>1,B2,"")', 1), (2, 2), (3, 3)]
    workbook(tmp_path / "a.xlsx", Data=rows)
    path = tmp_path / "a.xlsx"
    with_member(path, SHEET, b'<c r="A2"><f>', b'<c r="A2" t="str"><f>')
    x = rows_of(tmp_path, {"file": "a.xlsx"}).X["x"]
    assert x.isna().tolist() == [True, False, False]
    assert x.dtype == np.float64


@needs_openpyxl
def test_a_word_for_missing_among_the_numbers_of_a_sheet(tmp_path):
    workbook(tmp_path / "a.xlsx", D=[("x", "y"), (1, 1), ("NA", 2), (3.5, 3)])
    rows = rows_of(tmp_path, {"file": "a.xlsx"}, missing_values=["NA"])
    assert rows.X["x"].isna().tolist() == [False, True, False]
    assert refusal(tmp_path, {"file": "a.xlsx"}) == (
        "a.xlsx: column 'x' holds 'NA' in 2 of 6 cells, which may mean missing. If so, "
        "add it to [data] missing_values; else declare the levels under [data] "
        "categories."
    )


@needs_openpyxl
def test_a_file_that_is_no_workbook_is_one_sentence(tmp_path):
    (tmp_path / "a.xlsx").write_bytes(b"x,y\n1,2\n")
    assert refusal(tmp_path, {"file": "a.xlsx"}) == (
        "a.xlsx cannot be read as an Excel file: File is not a zip file. Save it as "
        ".xlsx."
    )


# --- databases ------------------------------------------------------------------------


@pytest.fixture
def database(tmp_path):
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as connection:
        connection.execute("create table rows (x real, zone text, y integer)")
        values = [(1.5, "a", 1), (None, "b", 2), (2.5, "a", 3)]
        connection.executemany("insert into rows values (?, ?, ?)", values)
        connection.commit()
    return tmp_path


@pytest.mark.parametrize(
    "keys", [{}, {"table": "rows"}, {"sql": "select * from rows where y > 0"}]
)
def test_a_file_of_pythons_sqlite_is_read(keys, database):
    rows = rows_of(database, {"file": "a.sqlite"} | keys)
    assert rows.X["x"].isna().tolist() == [False, True, False]
    assert rows.X["zone"].tolist() == ["a", "b", "a"]
    assert rows.y.tolist() == [1, 2, 3]
    details = [f"table {keys['table']}"] if "table" in keys else list(keys.values())
    assert rows.source == ", ".join(["a.sqlite", *details])


def test_a_view_is_a_table_that_can_be_read(database):
    with closing(sqlite3.connect(database / "a.sqlite")) as connection:
        connection.execute("create view few as select x, y from rows where y < 3")
    rows = rows_of(database, {"file": "a.sqlite", "table": "few"})
    assert rows.y.tolist() == [1, 2]


@pytest.mark.skipif(not shutil.which("sqlite3"), reason="sqlite3 is not on PATH")
def test_a_file_of_the_sqlite_command_is_read(tmp_path):
    script = "create table t (x, y); insert into t values (1, 2), (3, 4);"
    subprocess.run(["sqlite3", tmp_path / "a.db", script], check=True)
    assert rows_of(tmp_path, {"file": "a.db"}).X["x"].tolist() == [1, 3]


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (
            {"table": "row"},
            "a.sqlite has no table 'row'. It has 'rows', 'other'. Did you mean 'rows'?",
        ),
        (
            {},
            "The table to read from a.sqlite is not stated. It has 'rows', 'other'. "
            "Set table, or sql, beside the file.",
        ),
        (
            {"sql": "select z from rows"},
            "a.sqlite cannot be read. SQLite says: no such column: z",
        ),
        (
            {"sql": "delete from rows"},
            "a.sqlite cannot be read. SQLite says: attempt to write a readonly "
            "database",
        ),
    ],
)
def test_what_sqlite_refuses_is_one_sentence(keys, words, database):
    with closing(sqlite3.connect(database / "a.sqlite")) as connection:
        connection.execute("create table other (x)")
    assert refusal(database, {"file": "a.sqlite"} | keys) == words


QUERY = {"sql": "select x, zone, y from rows order by y", "url_env": "AUDIT_DB"}


@needs_sqlalchemy
def test_an_address_comes_from_the_environment(database, monkeypatch):
    monkeypatch.setenv("AUDIT_DB", f"sqlite:///{database}/a.sqlite")
    rows = rows_of(database, QUERY)
    assert rows.X["zone"].tolist() == ["a", "b", "a"]
    assert rows.source == f"AUDIT_DB: {QUERY['sql']}"
    assert str(database) not in rows.source + rows.name


def test_an_address_that_is_not_set(database, monkeypatch):
    monkeypatch.delenv("AUDIT_DB", raising=False)
    assert refusal(database, QUERY) == (
        "The environment variable 'AUDIT_DB' ([data] url_env) is not set. Set it to "
        "the address of the database, such as sqlite:///rows.sqlite."
    )


@needs_sqlalchemy
@pytest.mark.parametrize(
    "address",
    [
        "postgresql:/me:s3cret@host/name",
        "nonsense://me:s3cret@host/name",
        "sqlite:////no/such/folder/s3cret",
        "s3cret",
    ],
)
def test_no_message_shows_the_password(address, database, monkeypatch):
    monkeypatch.chdir(database)
    monkeypatch.setenv("AUDIT_DB", address)
    with pytest.raises(DataError) as error:
        rows_of(database, QUERY)
    assert "s3cret" not in str(error.value)
    assert error.value.__context__ is None
    assert "The database of AUDIT_DB cannot be queried. SQLAlchemy says: " in str(
        error.value
    )


@pytest.mark.parametrize("module", ["openpyxl", "sqlalchemy"])
def test_a_missing_extra_is_one_sentence(module, tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setenv("AUDIT_DB", "sqlite://")
    (tmp_path / "a.xlsx").write_bytes(b"PK")
    sources = {"openpyxl": {"file": "a.xlsx"}, "sqlalchemy": QUERY}
    words = {
        "openpyxl": "a.xlsx cannot be read without openpyxl. Run: pip install "
        "openpyxl, or save the sheet as CSV. The import says: ",
        "sqlalchemy": "AUDIT_DB cannot be read without SQLAlchemy. Run: pip install "
        "sqlalchemy, or save the rows as CSV. The import says: ",
    }
    assert refusal(tmp_path, sources[module]).startswith(words[module])


# --- one table, whatever file it is in ------------------------------------------------

WHOLE = st.integers(-99, 99).map(str)
DECIMAL = st.integers(-999, 999).map(lambda n: f"{n}.25")
WORD = st.sampled_from(["a", "b", "north east", "é"])
DAY = st.integers(10, 28).map(lambda day: f"2024-01-{day}")
KINDS = {
    "whole numbers": WHOLE,
    "decimals": st.one_of(WHOLE, DECIMAL),
    "numbers, some missing": st.one_of(WHOLE, DECIMAL, st.just("")),
    "a number that means missing": st.one_of(WHOLE, st.just("-99")),
    "NA beside numbers": st.one_of(WHOLE, st.just("NA")),
    "#N/A beside numbers": st.one_of(DECIMAL, st.just("#N/A")),
    "words": WORD,
    "words, some missing": st.one_of(WORD, st.just("")),
    "words beside numbers": st.one_of(WHOLE, WORD),
    "codes": st.integers(0, 99).map(lambda n: f"{n:04}"),
    "true and false": st.sampled_from(["true", "false"]),
    "true and false, otherwise": st.sampled_from(["true", "TRUE", "False", ""]),
    "dates": DAY,
    "dates, some NA": st.one_of(DAY, st.just("NA")),
    "marks": st.one_of(WHOLE, st.sampled_from(["1,5", "5%", "1 234"])),
    "blanks": st.sampled_from(["a", "a ", " "]),
    "more digits than float64 keeps": st.one_of(WHOLE, st.just("9007199254740993")),
    "infinite": st.one_of(DECIMAL, st.just("inf")),
    "empty": st.just(""),
}


def typed(cell):
    """Return a cell as a program writes it that knows numbers, true and false."""
    if column_types.is_number(cell) and abs(float(cell)) < 2**53:
        return float(cell) if "." in cell else int(cell)
    return {"true": True, "false": False, "": None}.get(cell, cell)


def in_every_file(folder, rows):
    """Write rows of texts as CSV, Excel and SQLite, of texts and of typed cells."""
    typed_rows = [[typed(cell) for cell in row] for row in rows]
    with open(folder / "texts.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("x", "y"), *rows])
    workbook(folder / "texts.xlsx", Data=[("x", "y"), *rows])
    workbook(folder / "typed.xlsx", Data=[("x", "y"), *typed_rows])
    for name, kind, cells in (("texts", "text", rows), ("typed", "", typed_rows)):
        (folder / f"{name}.sqlite").unlink(missing_ok=True)
        with closing(sqlite3.connect(folder / f"{name}.sqlite")) as connection:
            connection.execute(f"create table rows (x {kind}, y {kind})")
            is_flag = {True: "true", False: "false"}  # SQLite has 1 and 0 for them
            lines = [
                [is_flag[c] if isinstance(c, bool) else c for c in row] for row in cells
            ]
            connection.executemany("insert into rows values (?, ?)", lines)
            connection.commit()
    return ("texts.csv", "texts.xlsx", "typed.xlsx", "texts.sqlite", "typed.sqlite")


def outcome(folder, name, **data):
    """Return what a file is read as, or why it is refused."""
    source = {"file": name}
    usual = {"train": source, "test": source, "target": "y", "task": "regression"}
    config = parse_config({"data": usual | data}, base=folder)
    try:
        rows = read_datasets(**config.data_arguments)[0]
    except DataError as error:
        return str(error).replace(name, "FILE")
    types = {key: (kind.dtype, kind.cells) for key, kind in rows.types.items()}
    return rows.X.dtypes.tolist(), rows.classes, rows.sha256, types


@needs_openpyxl
def test_classes_true_and_false_keep_their_names_where_a_target_is_missing(tmp_path):
    """A missing cell among flags once made numbers of them, before its row went."""
    rows = [("true", "1"), ("false", "2"), ("", "3"), ("true", "4")]
    keys = {"target": "x", "task": "multiclass", "drop_missing_target": True}
    for name in in_every_file(tmp_path, rows):
        assert outcome(tmp_path, name, **keys)[1] == ("false", "true"), name


@needs_openpyxl
@pytest.mark.parametrize("kind", KINDS)
def test_a_table_is_read_alike_whatever_file_it_is_in(kind, tmp_path):
    @settings(max_examples=6)
    @given(
        st.lists(KINDS[kind], min_size=3, max_size=9),
        st.sampled_from([[], ["NA"], ["-99"], ["NA", "#N/A"]]),
        st.booleans(),
    )
    def check(cells, missing_values, is_target):
        rows = [(cell, f"{i}") for i, cell in enumerate(cells)]
        keys = {"missing_values": missing_values}
        if is_target:
            keys |= {"target": "x", "task": "multiclass", "drop_missing_target": True}
        files = in_every_file(tmp_path, rows)
        outcomes = [outcome(tmp_path, name, **keys) for name in files]
        assert outcomes == outcomes[:1] * len(files)

    check()


@needs_openpyxl
@pytest.mark.parametrize("file", ["a.xlsx", "a.sqlite"])
def test_numbers_stored_as_texts_are_numbers(file, tmp_path):
    from importance_audit.auditing.audit import audit

    grid = [(room, age) for room in range(1, 13) for age in range(3)] * 3
    rows = [(f"{room}", f"{age}", f"{room + 3 * age}") for room, age in grid]
    workbook(tmp_path / "a.xlsx", Data=[("rooms", "age", "y"), *rows])
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as connection:
        connection.execute("create table t (rooms text, age text, y text)")
        connection.executemany("insert into t values (?, ?, ?)", rows)
        connection.commit()
    section = {"train": {"file": file}, "test": {"file": file}, "target": "y"}
    model = {"name": "line", "estimator": "sklearn.linear_model.LinearRegression"}
    config = parse_config(
        {
            "data": section | {"task": "regression"},
            "models": [model],
            "importance": [{"method": "partial_dependence"}],
        },
        base=tmp_path,
    )
    result = audit(*read_datasets(**config.data_arguments), config)
    (record,) = result.importances
    measured = dict(zip(record.features, record.raw.mean(axis=1), strict=True))
    assert measured == pytest.approx({"rooms": 13**0.5, "age": 3.0})


def test_an_empty_text_of_a_database_is_a_missing_cell(tmp_path):
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as connection:
        connection.execute("create table t (x text, zone text, y text)")
        rows = [("1", "a", "1"), ("", "", "2"), ("3", "b", "3")]
        connection.executemany("insert into t values (?, ?, ?)", rows)
        connection.commit()
    X = rows_of(tmp_path, {"file": "a.sqlite"}).X
    assert X["x"].isna().tolist() == X["zone"].isna().tolist() == [False, True, False]
    assert X["zone"].cat.categories.tolist() == ["a", "b"]


@needs_openpyxl
def test_dates_of_a_sheet_stay_dates_where_a_word_means_missing(tmp_path):
    days = [datetime(2024, 1, 5), "NA", datetime(2024, 1, 7)]
    rows = [("x", "y"), *zip(days, range(3), strict=True)]
    workbook(tmp_path / "a.xlsx", Data=rows)
    X = rows_of(tmp_path, {"file": "a.xlsx"}, missing_values=["NA"]).X
    assert X["x"].diff(2)[2] == 2 * 86400
    assert refusal(tmp_path, {"file": "a.xlsx"}) == (
        "a.xlsx: column 'x' holds mixed values (dtype object), which are not numbers, "
        "text or booleans. Say in [data] missing_values if 'NA' means missing, convert "
        "it, or leave it out of the features."
    )


# --- rows and levels that are left out ------------------------------------------------


def both(folder, train, test, /, **data):
    (folder / "a.csv").write_text(train)
    (folder / "b.csv").write_text(test)
    section = {"train": {"file": "a.csv"}, "test": {"file": "b.csv"}, "target": "y"}
    config = parse_config(
        {"data": section | {"task": "regression"} | data}, base=folder
    )
    return read_datasets(**config.data_arguments)


def test_rows_without_a_target_are_left_out_and_counted(tmp_path):
    rows = "x,y\n1,1\n02,NA\n3,3\n4,\n5,5\n"
    keys = {"missing_values": ["NA"], "drop_missing_target": True}
    train, test = both(tmp_path, rows, rows.replace("5,5", "5,"), **keys)
    assert (train.y.tolist(), test.y.tolist()) == ([1, 3, 5], [1, 3])
    assert train.X["x"].tolist() == [1, 3, 5]
    assert (train.row_numbers.tolist(), test.row_numbers.tolist()) == (
        [1, 3, 5],
        [1, 3],
    )
    assert [(note.subject, dict(note.evidence)) for note in train.notes] == [
        ("a.csv", {"rows": 2, "of": 5}),
        ("b.csv (test)", {"rows": 3, "of": 5}),
    ]


def test_reference_rows_without_a_target_are_kept(tmp_path):
    rows = "x,y\n1,1\n2,2\n3,\n4,4\n"
    keys = {"reference_rows": {"file": "a.csv"}, "drop_missing_target": True}
    _, test = both(tmp_path, rows, rows, **keys)
    assert test.n_samples == 3
    assert test.reference.X["x"].tolist() == [1, 2, 3, 4]


def test_a_level_not_met_in_training_may_be_missing(tmp_path):
    train, test = "z,y\na,1\nb,2\na,3\n", "z,y\na,1\nc,2\nd,3\n"
    with pytest.raises(DataError, match=r"'c', 'd'.*\[data\] unseen"):
        both(tmp_path, train, test)
    _, rows = both(tmp_path, train, test, unseen="missing")
    assert rows.X["z"].isna().tolist() == [False, True, True]
    (note,) = rows.notes
    assert note.message == (
        "Column 'z' holds 'c', 'd' in 2 of 3 test rows, and in no training row; it is "
        "read as missing there ([data] unseen)."
    )


def levels_of(folder, train, test, **keys):
    """Return the levels of z in training and in test rows."""
    rows = both(folder, train, test, unseen="missing", **keys)
    return [side.X["z"].cat.categories.tolist() for side in rows]


def test_a_level_of_test_rows_alone_moves_no_code_of_the_training_rows(tmp_path):
    """Else a model that codes levels by their place would be another one."""
    train = "z,y\na,1\nc,2\na,3\n"
    unlike = levels_of(tmp_path, train, "z,y\na,1\nb,2\nc,3\n")
    alike = levels_of(tmp_path, train, "z,y\na,1\na,2\nc,3\n")
    assert unlike == alike == [["a", "c"]] * 2
    declared = {"categories": {"z": ["c", "b", "a"]}}
    assert levels_of(tmp_path, train, train, **declared) == [["c", "b", "a"]] * 2


@needs_sqlalchemy
def test_a_level_of_a_typed_table_may_be_missing_too(database, monkeypatch):
    monkeypatch.setenv("AUDIT_DB", f"sqlite:///{database}/a.sqlite")
    asked = "select zone, y from rows"
    train = QUERY | {"sql": f"{asked} where zone = 'a'"}
    data = {"train": train, "test": QUERY | {"sql": asked}, "unseen": "missing"}
    data |= {"target": "y", "task": "regression"}
    _, rows = read_datasets(**parse_config({"data": data}).data_arguments)
    assert rows.X["zone"].isna().tolist() == [False, True, False]


def test_what_reading_changed_is_a_finding_of_the_audit(tmp_path):
    from importance_audit.auditing.audit import audit

    cells = [f"{'abc'[i % 3]},{i}" for i in range(30)]
    text = "z,y\n" + "\n".join(cells) + "\na,\n"
    keys = {"drop_missing_target": True, "unseen": "missing"}
    rows = both(tmp_path, text, "z,y\nd,1\na,2\nb,4\n", **keys)
    model = {"name": "tree", "estimator": "sklearn.tree.DecisionTreeRegressor"}
    result = audit(*rows, parse_config({"models": [model]}))
    checks = [finding.check for finding in result.findings]
    assert {"rows_without_target", "unseen_levels"} <= set(checks)
