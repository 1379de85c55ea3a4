"""Read a table: a file, a data set of R or scikit-learn, or the result of an R script.

All tables are read here, databases with the help of `databases`. `column_types` derives
types from texts, for all rows at once.
"""

import gzip
import hashlib
import io
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..records.errors import (
    AuditError,
    DataError,
    did_you_mean,
    listed,
    pip_install,
    quote,
    words,
)
from . import column_types
from .csv_files import read_csv
from .databases import frame_of, read_address, read_sqlite

RFrame = Callable[[str], pd.DataFrame]


class Table(NamedTuple):
    """The table of one source.

    Attributes
    ----------
    name : str
        Its name in messages: "credit.csv", "DALEX::apartments".
    frame : DataFrame
        The cells: texts of a CSV file, typed cells of Excel and databases as returned
        by `column_types.as_read`.
    is_text : bool
        Whether the columns have no types of their own: in CSV files all cells are
        texts, in Excel and databases each cell has its own type.
    script, script_sha256 : str
        The R script that made the table and the digest of its file; empty without one.
    is_csv : bool
        Whether all cells are texts.
    written : NumberFormat
        The format of numbers in a CSV file.
    left_rows : ndarray or None
        The positions, from 0, of the rows in their source; None if none was left out.
    """

    name: str
    frame: pd.DataFrame
    is_text: bool
    script: str = ""
    script_sha256: str = ""
    is_csv: bool = False
    written: column_types.NumberFormat = column_types.PLAIN
    left_rows: npt.NDArray[np.int64] | None = None

    def has_texts(self, name: str) -> bool:
        """Return whether the type of a column is derived from its texts."""
        return self.is_csv or (
            self.is_text and column_types.is_of_texts(self.frame[name])
        )

    def texts(self, name: str) -> pd.Series:
        """Return a column as texts if the table `is_text`, else its cells."""
        cells = self.frame[name]
        return column_types.as_texts(cells) if self.is_text else cells

    @property
    def row_numbers(self) -> npt.NDArray[np.int64]:
        """The number of each row in its source, from 1, (n_rows,)."""
        at = np.arange(len(self.frame)) if self.left_rows is None else self.left_rows
        return at + 1

    def of_rows(self, is_kept: npt.NDArray[np.bool_]) -> "Table":
        """Return the table with a subset of the rows."""
        frame = self.frame[is_kept].reset_index(drop=True)
        left_rows = self.row_numbers[is_kept] - 1
        return self._replace(frame=frame, left_rows=left_rows)


class Format(NamedTuple):
    """A file format: its reader, and the configuration keys allowed with `file`."""

    read: Callable[[Path, Mapping[str, Any]], Table]
    keys: tuple[str, ...] = ()


def read_table(
    source: Mapping[str, Any],
    *,
    base: Path,
    r_frame: RFrame | None = None,
    part: str = "train",
) -> Table:
    """Return the table of one source of a configuration.

    Parameters
    ----------
    source : mapping
        ``{"file": …}`` with the keys of its `FORMATS`, ``{"sql": …, "url_env": …}``,
        ``{"r": "package::name"}``, ``{"sklearn": "load_…"}``, ``{"rds": …, "sha256":
        …}`` or ``{"r_script": …}``. `index_column` is a column that is left out.
    base : Path
        The folder that relative files start from.
    r_frame : callable, optional
        ``r_frame("package::name") -> DataFrame``; by default the R process reads it.
    part : str
        The element that is used if the value of an R script is a list of tables.

    Raises
    ------
    DataError
        If the source cannot be read as a table.
    importance_audit.r_bridge.errors.RBridgeError
        If R is used and fails.
    """
    kind, name = next(iter(source.items()))
    if kind == "r" and r_frame:
        table = Table(name, r_frame(name), is_text=False)
    elif kind in ("r", "rds", "r_script"):
        table = _read_by_r(source, base, part)
    elif kind == "sklearn":
        table = Table(name, _bundled_table(name), is_text=False)
    elif kind == "sql":
        variable = source["url_env"]
        table = Table(variable, read_address(name, variable), is_text=True)
    else:
        suffix = _suffix_of(name)
        if not suffix:
            raise DataError(
                f"[data] file must end in one of {', '.join(FORMATS)}; "
                f"{Path(name).name!r} was given."
            )
        table = FORMATS[suffix].read(base / name, source)
    frame = table.frame.copy(deep=False)
    frame.index = pd.RangeIndex(len(frame))
    frame.columns = ["" if pd.isna(name) else str(name) for name in frame.columns]
    check_header(table.name, tuple(frame.columns))
    columns, index = list(frame.columns), source.get("index_column")
    if index is not None:
        if index not in columns:
            hint = did_you_mean(index, columns) or f" Its columns: {listed(columns)}."
            raise DataError(
                f"index_column {quote(index)} is not in {table.name}.{hint}"
            )
        frame = frame.drop(columns=index)
    if "" in frame:
        raise DataError(
            f"{table.name}: column {columns.index('') + 1} has no name. Name it, or "
            'set index_column = "" beside the file if it merely identifies rows.'
        )
    return table._replace(frame=frame)


def source_of(source: Mapping[str, Any]) -> str:
    """Return the description of a source in the report."""
    name = str(next(iter(source.values())))
    if "url_env" in source:
        return f"{source['url_env']}: {name}"
    details = [f"{key} {source[key]}" for key in ("sheet", "table") if key in source]
    details += [source["sql"]] if "sql" in source else []
    return ", ".join([name, *details])


def option_problems(source: Mapping[str, Any]) -> Iterator[str]:
    """Yield contradictions between the keys of one source, key first."""
    if "url_env" in source or "file" not in source:
        return
    suffix = _suffix_of(source["file"])
    keys = (*FORMATS[suffix].keys, "file", "index_column") if suffix else source
    for key in source:
        if key not in keys:
            files = [name for name, kind in FORMATS.items() if key in kind.keys]
            yield f"{key} works only with {', '.join(files)} files; leave it out."
    if "sql" in source and "table" in source:
        yield "table works only without sql; leave one of them out."
    if not {"separator", "thousands"} <= set(keys):
        return
    separator, decimal = source.get("separator"), source.get("decimal", ".")
    is_quoted = separator == ","  # stated by the user: decimals are quoted
    if (separator or usual_separator(suffix)) == decimal and not is_quoted:
        yield (
            f"decimal must differ from the separator; {quote(decimal)} was given. "
            'Set separator = ";" if that separates the cells.'
        )
    if source.get("thousands") == decimal:
        other = "," if decimal == "." else "."
        yield (
            f"thousands must differ from decimal; {quote(decimal)} was given. Set "
            f'decimal = "{other}" if that stands before the decimals.'
        )


def check_header(name: str, columns: tuple[str, ...]) -> None:
    """Refuse a table in which two columns have the same name.

    Raises
    ------
    DataError
        If there are such columns; it lists them.
    """
    twice = [column for column, count in Counter(columns).items() if count > 1]
    if "" in twice:
        raise DataError(
            f"{name} has several columns without a name in its first line. Remove "
            "titles above the names, or name the columns."
        )
    if twice:
        raise DataError(
            f"{name} has several columns named {listed(twice)}. Rename all but one."
        )


def _read_by_r(source: Mapping[str, Any], base: Path, part: str) -> Table:
    """Return an R data set, the table of an .rds file, or that which a script makes.

    The digest of an .rds file is checked first, because reading it may run code.
    """
    from importance_audit.r_bridge import host, rds

    kind, name = next(iter(source.items()))
    if kind == "r":
        return Table(name, rds.read_data_set(host.current(), name), is_text=False)
    path = base / name
    content = _read_bytes(path)
    digest = hashlib.sha256(content).hexdigest()
    if kind == "rds":
        if digest != source["sha256"]:
            raise DataError(
                f"The sha256 of {path.name!r} is {digest!r}, and [data] gives "
                f"{source['sha256']!r}. Reading an .rds file may run its code: state "
                "the new one only if you trust the file."
            )
        frame = rds.read_file(host.current_models(), path.name, content)
        return Table(path.name, frame, is_text=False)
    try:
        script = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path.name} is not UTF-8. Save it as UTF-8.") from error
    frame = rds.read_script(host.current_models(), path.name, script, part)
    return Table(path.name, frame, False, script=script, script_sha256=digest)


def _bundled_table(name: str) -> pd.DataFrame:
    """Return a data set of scikit-learn, in its original units."""
    from inspect import signature

    from sklearn import datasets

    keys_of = {
        word: signature(getattr(datasets, word)).parameters
        for word in dir(datasets)
        if word.startswith("load_")
    }
    loaders = [word for word, keys in keys_of.items() if "as_frame" in keys]
    if name not in loaders:
        raise DataError(
            f"[data] sklearn must be one of {listed(loaders, limit=9)}; {quote(name)} "
            f"was given.{did_you_mean(name, loaders)}"
        )
    # Only load_diabetes scales its columns by default, to units without a meaning.
    units = {"scaled": False} if "scaled" in keys_of[name] else {}
    return getattr(datasets, name)(as_frame=True, **units).frame


def _suffix_of(name: str) -> str:
    """Return the suffix of a file name, empty if `FORMATS` does not have it."""
    return next((end for end in FORMATS if name.lower().endswith(end)), "")


def is_text_file(name: str) -> bool:
    """Return whether a file holds texts, from which types are inferred."""
    return _suffix_of(name) in TEXTS


def refuse_pointer(name: str, content: bytes, kind: type[AuditError]) -> None:
    """Refuse a pointer file of Git LFS.

    Raises
    ------
    AuditError
        Of the class `kind`, if the file is a pointer.
    """
    if content.startswith(b"version https://git-lfs.github.com/spec/"):
        raise kind(
            f"{name} is a pointer of Git LFS, and the file itself is not there. Run: "
            "git lfs pull"
        )


def _read_bytes(path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise DataError(f"[data] file {str(path)!r} cannot be read: {why}.") from error
    refuse_pointer(path.name, content, DataError)
    return content


def _checked_not_empty(path: Path, content: bytes) -> bytes:
    if not content or content.isspace():
        raise DataError(
            f"{path.name} is empty. Save it with a line of column names and its rows."
        )
    return content


def text_content(path: Path) -> bytes:
    """Return the bytes of a file of texts, decompressed if it is gzip.

    Raises
    ------
    DataError
        If the file cannot be read or is empty.
    """
    content = _read_bytes(path)
    if path.name.lower().endswith(".gz"):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(
                f"{path.name} cannot be read as gzip: {error}. Compress the file again."
            ) from error
    return _checked_not_empty(path, content)


def usual_separator(name: str) -> str:
    """Return the default separator of cells for a file name."""
    return "\t" if ".tsv" in name.lower()[-7:] else ","


def _read_texts(path: Path, source: Mapping[str, Any]) -> Table:
    frame = read_csv(
        path.name,
        text_content(path),
        separator=source.get("separator", usual_separator(path.name)),
        encoding=source.get("encoding", "utf-8"),
    )
    keys: dict[str, Any] = {key: source[key] for key in NUMBER_KEYS if key in source}
    keys["strip"] = tuple(source.get("strip", ()))
    written = column_types.NumberFormat(**keys)
    return Table(path.name, frame, True, is_csv=True, written=written)


def _read_binary(path: Path, source: Mapping[str, Any]) -> Table:
    """Return the table of a Parquet or Feather file."""
    del source
    content, name = _checked_not_empty(path, _read_bytes(path)), path.name
    is_parquet = name.lower().endswith(".parquet")
    read, kind = (
        (pd.read_parquet, "Parquet") if is_parquet else (pd.read_feather, "Feather")
    )
    try:
        return Table(name, read(io.BytesIO(content)), is_text=False)
    except ImportError as error:
        raise DataError(
            f"{name} cannot be read without pyarrow. Run: {pip_install('pyarrow')}, "
            f"or save the table as CSV. The import says: {words(error)}"
        ) from error
    except (OSError, ValueError) as error:
        raise DataError(f"{name} cannot be read as {kind}: {words(error)}") from error


def _read_excel(path: Path, source: Mapping[str, Any]) -> Table:
    """Return one sheet: its first row has the column names, empty rows are left out.

    Cells keep their types in the file: numbers, texts, true or false, dates. The value
    of a formula is the result that was last calculated.
    """
    name, content = path.name, _checked_not_empty(path, _read_bytes(path))
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise DataError(
            f"{name} cannot be read without openpyxl. Run: {pip_install('openpyxl')}, "
            f"or save the sheet as CSV. The import says: {error}"
        ) from error
    try:
        book = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise DataError(
            f"{name} cannot be read as an Excel file: {error}. Save it as .xlsx."
        ) from error
    title = _sheet_of(name, book, source.get("sheet"))
    sheet = book[title]
    sheet.reset_dimensions()  # the size that a file states may be wrong
    rows = list(sheet.iter_rows(values_only=True))
    _refuse_merged_cells(name, content, title)
    _refuse_formulas(name, content, sheet, rows)
    rows = [row for row in rows if any(cell is not None for cell in row)]
    filled = [i for row in rows for i, cell in enumerate(row, 1) if cell is not None]
    width = max(filled, default=0)
    rows = [row[:width] + (None,) * (width - len(row)) for row in rows]
    if not rows:
        raise DataError(
            f"{name}: sheet {quote(title)} is empty. Give it a row of column names and "
            "its rows."
        )
    return Table(name, frame_of(rows[0], rows[1:]), is_text=True)


def _sheet_of(name: str, book: Any, sheet: str | int | None) -> str:
    """Return the title of a sheet given by name or number, or of the only one.

    Sheets that hold a chart and no cells are not counted.
    """
    sheets = [each.title for each in book.worksheets]
    has = f"It has {listed(sheets, limit=9)}."
    if sheet is None:
        if len(sheets) == 1:
            return sheets[0]
        raise DataError(
            f"{name} has {len(sheets)} sheets. {has} Set sheet, a name or a number, "
            "beside the file (init: --sheet)."
        )
    if isinstance(sheet, str) and sheet in sheets:
        return sheet
    if isinstance(sheet, int) and sheet <= len(sheets):
        return sheets[sheet - 1]
    hint = did_you_mean(sheet, sheets) if isinstance(sheet, str) else ""
    raise DataError(f"{name} has no sheet {quote(sheet)}. {has}{hint}")


def _refuse_merged_cells(name: str, content: bytes, sheet: str) -> None:
    """Refuse merged cells: only the first of each area has a value in the file."""
    from openpyxl import load_workbook

    with zipfile.ZipFile(io.BytesIO(content)) as members:
        if not any(b"mergeCell " in members.read(name) for name in members.namelist()):
            return
    cells = load_workbook(io.BytesIO(content))[sheet]  # read_only ignores merging
    merged = [
        area.coord
        for area in cells.merged_cells.ranges
        if cells.cell(area.min_row, area.min_col).value is not None
    ]
    if merged:
        raise DataError(
            f"{name}: cells of sheet {quote(sheet)} are merged: "
            f"{listed(sorted(merged))}. Only the first cell of each has a value in the "
            "file. Unmerge them and fill in every cell."
        )


def _refuse_formulas(
    name: str, content: bytes, sheet: Any, rows: list[tuple[Any, ...]]
) -> None:
    """Refuse formulas without a result, which would be read as empty cells.

    A formula whose result is an empty text has data type "str" and is accepted.
    """
    from openpyxl import load_workbook

    if not any(cell is None for row in rows for cell in row):
        return
    formulas = load_workbook(io.BytesIO(content), read_only=True)[sheet.title]
    formulas.reset_dimensions()
    lines = zip(formulas.iter_rows(), sheet.iter_rows(), strict=True)
    for written, values in lines:
        for cell, value in zip(written, values, strict=True):
            is_result = value.value is not None or value.data_type == "str"
            if cell.data_type == "f" and not is_result:
                raise DataError(
                    f"{name}: cell {cell.coordinate} of sheet {quote(sheet.title)} "
                    "holds a formula that was never calculated. Open the file in Excel "
                    "or LibreOffice and save it."
                )


def _read_sqlite(path: Path, source: Mapping[str, Any]) -> Table:
    keys = {key: source[key] for key in ("sql", "table") if key in source}
    return Table(path.name, read_sqlite(path, **keys), is_text=True)


NUMBER_KEYS = column_types.NumberFormat._fields
TEXTS = {
    suffix: Format(_read_texts, ("separator", *NUMBER_KEYS, "encoding"))
    for suffix in (".csv", ".csv.gz", ".tsv", ".tsv.gz")
}
FORMATS = TEXTS | {
    ".xlsx": Format(_read_excel, ("sheet",)),
    ".parquet": Format(_read_binary),
    ".feather": Format(_read_binary),
    ".sqlite": Format(_read_sqlite, ("sql", "table")),
    ".db": Format(_read_sqlite, ("sql", "table")),
}
"""The file formats, by the suffix of a file name."""
