"""Tables as they are read: a file, a data set of R or scikit-learn, or an R script's.

The only reader of tables. Cells of a CSV file stay texts here; what they mean is
decided in `column_types`, for all rows at once.
"""

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from ..records.errors import DataError, did_you_mean, listed, several

RFrame = Callable[[str], pd.DataFrame]
DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}


class Table(NamedTuple):
    """What one source holds.

    Attributes
    ----------
    name : str
        How sentences name it: "credit.csv", "DALEX::apartments".
    frame : DataFrame
        Its cells; texts, "" for an empty one, if `is_text`.
    is_text : bool
        Whether the types of the columns are still to be found.
    script, script_sha256 : str
        The R script that made it and the digest of its file; empty if none did.
    """

    name: str
    frame: pd.DataFrame
    is_text: bool
    script: str = ""
    script_sha256: str = ""


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
        ``{"file": …}``, ``{"r": "package::name"}``, ``{"sklearn": "load_…"}``,
        ``{"rds": …, "sha256": …}`` or ``{"r_script": …}``.
    base : Path
        The folder that relative files start from.
    r_frame : callable, optional
        ``r_frame("package::name") -> DataFrame``; by default R is asked.
    part : str
        The element that is taken if the value of an R script is a list of tables.

    Raises
    ------
    DataError
        If the source cannot be read as a table.
    importance_audit.r_bridge.errors.RBridgeError
        If R is asked and fails.
    """
    kind, name = next(iter(source.items()))
    if kind == "rds":
        table = _read_rds(base / name, source["sha256"])
    elif kind == "r_script":
        table = _run_script(base / name, part)
    elif kind == "r":
        table = Table(name, (r_frame or _ask_r)(name), is_text=False)
    elif kind == "sklearn":
        table = Table(name, _bundled_table(name), is_text=False)
    else:
        table = _read_file(base / name)
    frame = table.frame.reset_index(drop=True)
    frame.columns = [str(column) for column in frame.columns]
    check_header(table.name, tuple(frame.columns))
    return table._replace(frame=frame)


def check_header(name: str, columns: tuple[str, ...]) -> None:
    """Refuse a table in which two columns have one name.

    Raises
    ------
    DataError
        Naming them.
    """
    twice = [column for column, count in Counter(columns).items() if count > 1]
    if twice:
        raise DataError(
            f"{name} has several columns named {listed(twice)}. Rename all but one."
        )


def _ask_r(name: str) -> pd.DataFrame:
    from importance_audit.r_bridge import host, rds

    return rds.read_data_set(host.current(), name)


def _read_rds(path: Path, sha256: str) -> Table:
    """Return the table of an .rds file, which is code and must be trusted."""
    from importance_audit.r_bridge import host, rds

    content = _content(path)
    digest = hashlib.sha256(content).hexdigest()
    if digest != sha256:
        raise DataError(
            f"The sha256 of {path.name!r} is {digest!r}, and [data] gives {sha256!r}. "
            "Reading an .rds file may run its code: state the new one only if you "
            "trust the file."
        )
    frame = rds.read_file(host.current_models(), path.name, content)
    return Table(path.name, frame, is_text=False)


def _run_script(path: Path, part: str) -> Table:
    from importance_audit.r_bridge import host, rds

    content = _content(path)
    try:
        script = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path.name} is not UTF-8. Save it as UTF-8.") from error
    frame = rds.read_script(host.current_models(), path.name, script, part)
    digest = hashlib.sha256(content).hexdigest()
    return Table(path.name, frame, False, script=script, script_sha256=digest)


def _bundled_table(name: str) -> pd.DataFrame:
    """Return a data set of scikit-learn in its own units."""
    from inspect import signature

    from sklearn import datasets

    loaders = {
        word: getattr(datasets, word)
        for word in dir(datasets)
        if word.startswith("load_")
        and "as_frame" in signature(getattr(datasets, word)).parameters
    }
    if name not in loaders:
        raise DataError(
            f"[data] sklearn must be one of {listed(loaders, limit=9)}; {name!r} was "
            f"given.{did_you_mean(name, loaders)}"
        )
    loader = loaders[name]
    # load_diabetes alone scales its columns, to a norm that means nothing to a reader.
    units = {"scaled": False} if "scaled" in signature(loader).parameters else {}
    return loader(as_frame=True, **units).frame


def _read_file(path: Path) -> Table:
    readers = {".csv": _read_csv, ".parquet": _read_parquet}
    if path.suffix.lower() not in readers:
        raise DataError(
            f"[data] file must be a .csv or .parquet file; {path.name!r} was given."
        )
    content = _content(path)
    if not content.strip():
        raise DataError(
            f"{path.name} is empty. Save it with a line of column names and its rows."
        )
    frame = readers[path.suffix.lower()](path.name, content)
    return Table(path.name, frame, is_text=path.suffix.lower() == ".csv")


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise DataError(f"[data] file {str(path)!r} cannot be read: {why}.") from error


def _read_parquet(name: str, content: bytes) -> pd.DataFrame:
    try:
        return pd.read_parquet(io.BytesIO(content))
    except ImportError as error:
        raise DataError(
            f"{name} cannot be read without pyarrow. Run: pip install pyarrow, or save "
            f"the table as CSV. The import says: {' '.join(str(error).split())}"
        ) from error
    except (OSError, ValueError) as error:
        raise DataError(f"{name} cannot be read as Parquet: {error}") from error


def _read_csv(name: str, content: bytes) -> pd.DataFrame:
    """Return the cells of a CSV file as texts, lines without any cell left out."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise DataError(
            f"{name} is not UTF-8: line {line} holds the byte "
            f"0x{content[error.start]:02x}. Save it as UTF-8."
        ) from error
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(row for row in reader if row)
        rows = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise DataError(
            f"{name} cannot be read as CSV: line {reader.line_num}: {error}."
        ) from error
    _check_shape(name, header, rows)
    columns = (
        zip(*(row for _, row in rows), strict=True) if rows else [()] * len(header)
    )
    cells = [pd.Series(column, dtype=object) for column in columns]
    return pd.concat(cells, axis=1, keys=range(len(header))).set_axis(header, axis=1)


def _check_shape(
    name: str, header: list[str], rows: list[tuple[int, list[str]]]
) -> None:
    """Refuse another delimiter, a column without a name, and ragged lines."""
    if len(header) == 1:
        for sign, word in DELIMITERS.items():
            if sign in header[0]:
                raise DataError(
                    f"{name} has {word} and no comma in its first line: {header[0]!r}. "
                    "Save it with commas between the cells, and numbers with a decimal "
                    "point."
                )
    if "" in header:
        raise DataError(
            f"{name}: column {header.index('') + 1} has no name. Name it, or save the "
            "table without row numbers."
        )
    for line, row in rows:
        if len(row) != len(header):
            raise DataError(
                f"{name}: line {line} has {several(len(row), 'cell')}, and the first "
                f"line {len(header)}. Quote cells that hold a comma."
            )
