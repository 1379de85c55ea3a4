"""Tables of databases: an SQLite file, or any address that SQLAlchemy supports.

The address of a database may contain a password. It is therefore read from an
environment variable and never part of a message: in messages of a driver, the address
and its secrets are replaced by asterisks.
"""

import os
import re
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import unquote, unquote_plus

import numpy as np
import pandas as pd

from ..records.errors import (
    DataError,
    did_you_mean,
    in_short,
    listed,
    pip_install,
    quote,
    words,
)
from .column_types import as_read

HIDDEN = "***"


def frame_of(names: Sequence[Any], rows: Iterable[Sequence[Any]]) -> pd.DataFrame:
    """Return rows of values as a table with columns typed by `as_read`.

    Decimals become floats.
    """
    lines = list(rows)
    columns = zip(*lines, strict=True) if lines else [()] * len(names)
    cells = [as_read(pd.Series(map(_value, each), dtype=object)) for each in columns]
    frame = pd.DataFrame(dict(enumerate(cells)))
    frame.columns = pd.Index(names, dtype=object)
    return frame


def _value(cell: Any) -> Any:
    if cell is None:
        return np.nan
    return float(cell) if isinstance(cell, Decimal) else cell


def read_sqlite(path: Path, *, sql: str = "", table: str = "") -> pd.DataFrame:
    """Return the result of a query of an SQLite file, or one of its tables.

    Parameters
    ----------
    path : Path
        The file; it is opened read-only.
    sql, table : str
        A query, or the name of a table or view. Without both, the file must have only
        one table or view, and that is read.

    Raises
    ------
    DataError
        If the file is not a database, or the query returns no columns.
    """
    if not path.is_file():
        raise DataError(
            f"[data] file {str(path)!r} cannot be read: no such file or directory."
        )
    try:
        address = f"{path.resolve().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as database:
            query = "select name from sqlite_master where type in ('table', 'view')"
            names = [name for (name,) in database.execute(query)]
            if not sql:
                quoted = _table_of(path.name, names, table).replace('"', '""')
                sql = f'select * from "{quoted}"'
            cursor = database.execute(sql)
            columns = [item[0] for item in cursor.description or ()]
            rows = cursor.fetchall()
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise DataError(
            f"{path.name} cannot be read. SQLite says: {words(error)}"
        ) from error
    _refuse_no_columns(path.name, columns)
    return frame_of(columns, rows)


def _table_of(file: str, names: Sequence[str], table: str) -> str:
    """Return the name of the table to read: the configured one, or the only one."""
    if table in names:
        return table
    if not table and len(names) == 1:
        return names[0]
    has = f"It has {listed(names, limit=9)}." if names else "It has none."
    if table:
        hint = did_you_mean(table, names)
        raise DataError(f"{file} has no table {quote(table)}. {has}{hint}")
    raise DataError(
        f"The table to read from {file} is not stated. {has} Set table, or sql, "
        "beside the file."
    )


def _refuse_no_columns(name: str, columns: Sequence[str]) -> None:
    if not columns:
        raise DataError(
            f"{name}: the statement in sql returns no rows. Use a SELECT statement."
        )


def read_address(sql: str, variable: str) -> pd.DataFrame:
    """Return the result of a query of the database at the address in a variable.

    Parameters
    ----------
    sql : str
    variable : str
        The environment variable with the address, in the format of SQLAlchemy.

    Raises
    ------
    DataError
        If the variable is not set, or the query fails.
    """
    address = os.environ.get(variable, "")
    if not address:
        raise DataError(
            f"The environment variable {quote(variable)} ([data] url_env) is not set. "
            "Set it to the address of the database, such as sqlite:///rows.sqlite."
        )
    try:
        import sqlalchemy
    except ImportError as error:
        raise DataError(
            f"{variable} cannot be read without SQLAlchemy. Run: "
            f"{pip_install('sqlalchemy')}, or save the rows as CSV. The import says: "
            f"{error}"
        ) from error
    problem = ""
    try:
        engine = sqlalchemy.create_engine(address, future=True)
        try:
            with engine.connect() as connection:
                result = connection.execute(sqlalchemy.text(sql))
                columns = list(result.keys()) if result.returns_rows else []
                rows = result.fetchall() if columns else []
        finally:
            engine.dispose()
    except Exception as error:  # drivers may raise any exception
        problem = _without_secrets(" ".join(str(error).split()), address)
        problem = in_short(problem) or type(error).__name__
        if isinstance(error, ModuleNotFoundError):  # the driver is not installed
            problem = f"{problem}. Install the driver {quote(error.name)} for Python."
    if problem:  # outside of `except`, so that no traceback shows the address
        raise DataError(
            f"The database of {variable} cannot be queried. SQLAlchemy says: {problem}"
        )
    _refuse_no_columns(variable, columns)
    return frame_of(columns, rows)


def _without_secrets(words: str, address: str) -> str:
    """Return the message of a driver without the address, its password and options."""
    login = re.search(r"//([^/]*)@", address)
    secrets = {address, login[1].partition(":")[2] if login else ""}
    _, _, query = address.partition("?")
    secrets |= {part.partition("=")[2] for part in query.split("&")}
    secrets |= {unquote(text) for text in secrets} | set(map(unquote_plus, secrets))
    for text in sorted(filter(None, secrets), key=len, reverse=True):
        words = words.replace(text, HIDDEN).replace(repr(text)[1:-1], HIDDEN)
    return words
