"""Tables as they are: each reader with a file of the program that users use."""

import gzip
import sqlite3
import sys
import zipfile
from contextlib import closing
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.data.reading import configured, csv_of, read, refusal, sqlite_of, workbook

from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.data import column_types, csv_files
from importance_audit.data.databases import read_address
from importance_audit.data.datasets import datasets_frame, describe
from importance_audit.records.errors import DataError, pip_install

FILES = Path(__file__).parent / "files"
SEMICOLONS = {"separator": ";", "decimal": ","}
needs_openpyxl = pytest.mark.needs_openpyxl
needs_sqlalchemy = pytest.mark.needs_sqlalchemy


def rows_of(folder, *tables, **keys):
    """Return the training rows of a table, which are those of test too by default."""
    return read(folder, *tables, **keys)[0]


# --- CSV ------------------------------------------------------------------------------


POINTS = {"decimal": ",", "thousands": "."}
AFTER, PERCENT = {"negative": "1-"}, {"decimal": ",", "strip": ["%"]}
WRITTEN = [
    ("1.234,5", POINTS, 1234.5),
    ("1 234,5", POINTS | {"thousands": " "}, 1234.5),
    ("1\u202f234,5", POINTS | {"thousands": " "}, 1234.5),
    ("1'234.5", {"thousands": "'"}, 1234.5),
    ("1,234.5", {"thousands": ","}, 1234.5),
    ("€ 1234.5", {"strip": ["€"]}, 1234.5),
    ("1234.5EUR", {"strip": ["EUR", "€"]}, 1234.5),
    ("+1234.50", AFTER, 1234.5),
    ("5.5-", AFTER, -5.5),
    *((cell, PERCENT | AFTER, -5.5) for cell in ("5,5 %-", "5,5- %", "-5,5 %")),
    ("(5,5%)", PERCENT | {"negative": "(1)"}, -5.5),
    *((cell, PERCENT, -5.5) for cell in ("-% 5,5", "% -5,5")),
]


@pytest.mark.parametrize(("cell", "keys", "number"), WRITTEN)
def test_numbers_are_written_as_the_keys_beside_the_file_say(
    cell, keys, number, tmp_path
):
    (tmp_path / "a.csv").write_text(f"x;y\n{cell};1\n;2\n{cell};3\n")
    rows = rows_of(tmp_path, {"file": "a.csv", "separator": ";", **keys})
    assert rows.X["x"].fillna(0).tolist() == [number, 0, number]


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
    assert ("not written like 1234,5:" in text) == (cell != "12.34.567")


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
    (tmp_path / "a.csv").write_text("x;y\n1,5;1\n2;2\n")
    train = {"file": "a.csv"} | SEMICOLONS
    _, test = read(tmp_path, train, "x,y\n1.25,1\n7,2\n")
    assert test.X["x"].tolist() == [1.25, 7]


@pytest.mark.parametrize("name", ["a.csv.gz", "a.tsv", "a.tsv.gz"])
def test_packed_files_and_tabs_are_read(name, tmp_path):
    text = "x\ty\n1\t1\n2\t2\n" if ".tsv" in name else "x,y\n1,1\n2,2\n"
    packed = gzip.compress if name.endswith(".gz") else bytes
    (tmp_path / name).write_bytes(packed(text.encode()))
    rows = rows_of(tmp_path, {"file": name})
    assert rows.X["x"].tolist() == [1, 2]
    section = configured(tmp_path, {"file": name}).data
    assert describe(rows, rows, section)["origin"].tolist() == ["inferred"]


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
NO_POINTER = (
    "is a pointer of Git LFS, and the file itself is not there. Run: git lfs pull"
)
NO_ZIP = "cannot be read as an Excel file: File is not a zip file. Save it as .xlsx."


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        (
            "a.csv.gz",
            b"x,y\n1,2\n",
            "cannot be read as gzip: Not a gzipped file (b'x,'). Compress the file "
            "again.",
        ),
        pytest.param("a.xlsx", b"x,y\n1,2\n", NO_ZIP, marks=needs_openpyxl),
        *((name, POINTER, NO_POINTER) for name in ("a.csv", "a.xlsx", "a.parquet")),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_one_sentence(
    name, content, words, tmp_path
):
    (tmp_path / name).write_bytes(content)
    assert refusal(tmp_path, {"file": name}) == f"{name} {words}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Rents\nBern\n\nx,y\n1,2\n", "line 4 has 2 cells, and the first line 1"),
        ("Rents, Bern\nx,z,y\n1,2,3\n", "line 2 has 3 cells, and the first line 2"),
        ("x,y\nr1,1,2\nr2,3,4\n", "line 2 has 3 cells, and the first line 2"),
    ],
)
def test_a_title_is_not_told_to_quote_its_commas(text, words, tmp_path):
    first = text.partition("\n")[0]
    assert refusal(tmp_path, text) == (
        f"train.csv: {words}. The first line must name the columns: {first!r} does not "
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


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        (
            "ascii",
            ": line 1 holds the byte 0xc3. Set the one it was saved with. Python",
        ),
        ("latin9000", ". Set one that Python knows, such as "),
    ],
)
def test_another_encoding_is_one_sentence(encoding, words, tmp_path):
    (tmp_path / "a.csv").write_text("ä,y\n1,1\n2,2\n", encoding="utf-8")
    said = refusal(tmp_path, {"file": "a.csv", "encoding": encoding})
    assert said.startswith(f"a.csv cannot be read with encoding {encoding!r}{words}")


def test_a_column_that_names_rows_is_left_out(tmp_path):
    for name in ("", "id"):
        (tmp_path / "a.csv").write_text(f"{name},x,y\nr1,1,1\nr2,2,2\n")
        rows = rows_of(tmp_path, {"file": "a.csv", "index_column": name})
        assert rows.features == ("x",)
    assert refusal(tmp_path, {"file": "a.csv", "index_column": "ids"}) == (
        "index_column 'ids' is not in a.csv. Did you mean 'id'?"
    )


# --- numbers of a CSV file ------------------------------------------------------------


def cells_of(text, separator=","):
    return csv_files.read_csv(
        "a.csv", text.encode(), separator=separator, encoding="utf-8"
    )


def numbers_of(text):
    return column_types.from_texts(cells_of(text)["x"])


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
    frame = cells_of(csv_of(("x", "y"), *cells))
    assert frame.dtypes.tolist() == [object, object]
    assert frame.fillna("").to_numpy().tolist() == [list(row) for row in cells]


def test_a_cell_may_be_longer_than_the_module_csv_takes_by_default(tmp_path):
    long = "POINT " * 30_000
    rows = rows_of(tmp_path, f"x,shape,y\n1,{long},1\n2,{long}2,2\n")
    assert rows.X["shape"].tolist() == [long, f"{long}2"]


@pytest.mark.parametrize("sign", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_only_line_breaks_end_a_line(sign):
    cells = cells_of(f"x,y\na{sign}b,1\r\nc,2\rd,3\n")["x"].tolist()
    assert cells == [f"a{sign}b", "c", "d"]


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


@pytest.mark.parametrize(
    ("cells", "word"),
    [
        ("-99 1 -99", "-99"),
        ("-99 -99,0 -99", "-99"),  # as it is written
        ("-9,5 1,5 -9,5", "-9,5"),
        ("true false true", "true"),
    ],
)
def test_a_number_or_a_truth_that_means_missing_is_missing(cells, word, tmp_path):
    lines = [f"{cell};{i}\n" for i, cell in enumerate(cells.split())]
    (tmp_path / "a.csv").write_text("".join(["x;y\n", *lines]))
    rows = rows_of(tmp_path, {"file": "a.csv"} | SEMICOLONS, missing_values=[word])
    assert rows.X["x"].isna().tolist() == [True, False, True]


# --- Excel ----------------------------------------------------------------------------


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
        ({}, " has 2 sheets. It has 'Notes', 'Data'. Set sheet, a name or a number, "),
        (
            {"sheet": "Dat"},
            " has no sheet 'Dat'. It has 'Notes', 'Data'. Did you mean '",
        ),
        ({"sheet": 3}, " has no sheet 3. It has 'Notes', 'Data'."),
        ({"sheet": "Notes"}, ": sheet 'Notes' is empty. Give it a row of column names"),
    ],
)
def test_sheets_that_are_not_there_are_named(sheet, words, tmp_path):
    workbook(tmp_path / "a.xlsx", Notes=[], Data=ROWS)
    assert refusal(tmp_path, {"file": "a.xlsx"} | sheet).startswith(f"a.xlsx{words}")


@needs_openpyxl
def test_a_formula_that_nobody_calculated_is_no_empty_cell(tmp_path):
    rows = [("x", "y"), (1, 1), (2, 2), ("=1+1", 3)]
    workbook(tmp_path / "a.xlsx", Data=rows)
    words = (
        "a.xlsx: cell A4 of sheet 'Data' holds a formula that was never calculated. "
        "Open the file in Excel or LibreOffice and save it."
    )
    assert refusal(tmp_path, {"file": "a.xlsx"}) == words
    with_member(tmp_path / "a.xlsx", SHEET, b"A1:B4", b"A1:B2")  # the size it states
    assert refusal(tmp_path, {"file": "a.xlsx"}) == words


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
    from openpyxl import load_workbook
    from openpyxl.chart import BarChart

    workbook(tmp_path / "a.xlsx", Sheet=ROWS)
    book = load_workbook(tmp_path / "a.xlsx")
    book.create_chartsheet("Chart", 0).add_chart(BarChart())
    book.save(tmp_path / "a.xlsx")
    for sheet in ({}, {"sheet": 1}, {"sheet": "Sheet"}):
        rows = rows_of(tmp_path, {"file": "a.xlsx"} | sheet)
        assert rows.features == ("x", "zone", "ok")
    for sheet in ("Chart", 2):
        said = refusal(tmp_path, {"file": "a.xlsx", "sheet": sheet})
        assert said == f"a.xlsx has no sheet {sheet!r}. It has 'Sheet'."


@needs_openpyxl
def test_a_formula_whose_result_is_an_empty_text_is_an_empty_cell(tmp_path):
    rows = [("x", "y"), ('=IF(B2>1,B2,"")', 1), (2, 2), (3, 3)]
    workbook(tmp_path / "a.xlsx", Data=rows)
    path = tmp_path / "a.xlsx"
    with_member(path, SHEET, b'<c r="A2"><f>', b'<c r="A2" t="str"><f>')
    x = rows_of(tmp_path, {"file": "a.xlsx"}).X["x"]
    assert x.isna().tolist() == [True, False, False]
    assert x.dtype == np.float64


# --- databases ------------------------------------------------------------------------


@pytest.fixture
def database(tmp_path):
    values = [(1.5, "a", 1), (None, "b", 2), (2.5, "a", 3)]
    sqlite_of(tmp_path / "a.sqlite", "x real, zone text, y integer", values)
    return tmp_path


@pytest.mark.parametrize(
    ("keys", "details"),
    [
        ({}, ""),
        ({"table": "rows"}, ", table rows"),
        ({"sql": "select * from rows where y > 0"}, ", select * from rows where y > 0"),
    ],
)
def test_a_file_of_pythons_sqlite_is_read(keys, details, database):
    rows = rows_of(database, {"file": "a.sqlite"} | keys)
    assert rows.X["x"].isna().tolist() == [False, True, False]
    assert rows.X["zone"].tolist() == ["a", "b", "a"]
    assert rows.y.tolist() == [1, 2, 3]
    assert rows.source == f"a.sqlite{details}"


def test_a_view_is_a_table_that_can_be_read(database):
    with closing(sqlite3.connect(database / "a.sqlite")) as connection:
        connection.execute("create view few as select x, y from rows where y < 3")
    rows = rows_of(database, {"file": "a.sqlite", "table": "few"})
    assert rows.y.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"table": "row"}, " has no table 'row'. It has 'rows', 'other'. Did you mean"),
        ({}, " is not stated. It has 'rows', 'other'. Set table, or sql, beside"),
        ({"sql": "select z from rows"}, " cannot be read. SQLite says: no such column"),
        ({"sql": "delete from rows"}, " cannot be read. SQLite says: attempt to write"),
    ],
)
def test_what_sqlite_refuses_is_one_sentence(keys, words, database):
    with closing(sqlite3.connect(database / "a.sqlite")) as connection:
        connection.execute("create table other (x)")
    assert f"a.sqlite{words}" in refusal(database, {"file": "a.sqlite"} | keys)


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
def test_a_driver_that_is_not_installed_is_said_to_be_needed(monkeypatch):
    pytest.importorskip("sqlalchemy")
    monkeypatch.setitem(sys.modules, "psycopg2", None)
    monkeypatch.setenv("AUDIT_DB", "postgresql://me:s3cret@host/name")
    with pytest.raises(DataError) as refusal:
        read_address("SELECT 1 AS x", "AUDIT_DB")
    message = str(refusal.value)
    assert message.startswith("The database of AUDIT_DB cannot be queried. SQLAlchemy ")
    assert message.endswith(". Install the driver 'psycopg2' for Python.")
    assert "s3cret" not in message


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
    words = "The database of AUDIT_DB cannot be queried. SQLAlchemy says: "
    with pytest.raises(DataError, match=words) as error:
        rows_of(database, QUERY)
    assert "s3cret" not in str(error.value)
    assert error.value.__context__ is None


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("openpyxl", "a.xlsx cannot be read without openpyxl. Run: "),
        ("sqlalchemy", "AUDIT_DB cannot be read without SQLAlchemy. Run: "),
    ],
)
def test_a_missing_extra_is_one_sentence(module, words, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setenv("AUDIT_DB", "sqlite://")
    (tmp_path / "a.xlsx").write_bytes(b"PK")
    source = {"file": "a.xlsx"} if module == "openpyxl" else QUERY
    assert refusal(tmp_path, source).startswith(f"{words}{pip_install(module)}, or")


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
    (folder / "texts.csv").write_text(csv_of(("x", "y"), *rows), encoding="utf-8")
    workbook(folder / "texts.xlsx", Data=[("x", "y"), *rows])
    workbook(folder / "typed.xlsx", Data=[("x", "y"), *typed_rows])
    sqlite_of(folder / "texts.sqlite", "x text, y text", rows)
    flags = {True: "true", False: "false"}  # SQLite has 1 and 0 for them
    cells = [
        [flags[c] if isinstance(c, bool) else c for c in row] for row in typed_rows
    ]
    sqlite_of(folder / "typed.sqlite", "x, y", cells)
    return ("texts.csv", "texts.xlsx", "typed.xlsx", "texts.sqlite", "typed.sqlite")


def outcome(folder, name, **data):
    """Return what a file is read as, or why it is refused."""
    try:
        rows = rows_of(folder, {"file": name}, **data)
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
    @settings(max_examples=4)
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


def test_rows_without_a_target_are_left_out_and_counted(tmp_path):
    rows = "x,y\n1,1\n02,NA\n3,3\n4,\n5,5\n"
    keys = {"missing_values": ["NA"], "drop_missing_target": True}
    train, test = read(tmp_path, rows, rows.replace("5,5", "5,"), **keys)
    assert (train.y.tolist(), test.y.tolist()) == ([1, 3, 5], [1, 3])
    assert train.X["x"].tolist() == [1, 3, 5]
    assert train.row_numbers.tolist() == [1, 3, 5]
    assert test.row_numbers.tolist() == [1, 3]
    assert [(note.subject, dict(note.evidence)) for note in train.notes] == [
        ("train.csv", {"rows": 2, "of": 5}),
        ("test.csv (test)", {"rows": 3, "of": 5}),
    ]


def test_reference_rows_without_a_target_are_kept(tmp_path):
    rows = "x,y\n1,1\n2,2\n3,\n4,4\n"
    keys = {"reference_rows": {"file": "train.csv"}, "drop_missing_target": True}
    _, test = read(tmp_path, rows, **keys)
    assert test.n_samples == 3
    assert test.reference.X["x"].tolist() == [1, 2, 3, 4]


def test_a_level_not_met_in_training_may_be_missing(tmp_path):
    train, test = "z,y\na,1\nb,2\na,3\n", "z,y\na,1\nc,2\nd,3\n"
    with pytest.raises(DataError, match=r"'c', 'd'.*\[data\] unseen"):
        read(tmp_path, train, test)
    _, rows = read(tmp_path, train, test, unseen="missing")
    assert rows.X["z"].isna().tolist() == [False, True, True]
    (note,) = rows.notes
    assert note.message == (
        "Column 'z' holds 'c', 'd' in 2 of 3 test rows, and in no training row; it is "
        "read as missing there ([data] unseen)."
    )


def levels_of(folder, train, test, **keys):
    """Return the levels of z in training and in test rows."""
    rows = read(folder, train, test, unseen="missing", **keys)
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
    _, rows = read(database, train, QUERY | {"sql": asked}, unseen="missing")
    assert rows.X["zone"].isna().tolist() == [False, True, False]


def test_what_reading_changed_is_a_finding_of_the_audit(tmp_path):
    cells = [("abc"[i % 3], i) for i in range(30)]
    text = csv_of(("z", "y"), *cells, ("a", ""))
    keys = {"drop_missing_target": True, "unseen": "missing"}
    rows = read(tmp_path, text, "z,y\nd,1\na,2\nb,4\n", **keys)
    model = {"name": "tree", "estimator": "sklearn.tree.DecisionTreeRegressor"}
    result = audit(*rows, parse_config({"models": [model]}))
    checks = [finding.check for finding in result.findings]
    assert {"rows_without_target", "unseen_levels"} <= set(checks)
