"""Tables of databases: an SQLite file, or any address that SQLAlchemy knows.

The address of a database may hold a password, so it comes from the environment and
stands in no message: what a driver says is shown with the address and its secrets
replaced by asterisks.
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
    """Return rows of values as a table, whose columns `as_read` makes.

    A decimal is a float.
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
    """Return what a query of an SQLite file answers, or one of its tables.

    Parameters
    ----------
    path : Path
        It is opened for reading only.
    sql, table : str
        A query, or the name of a table or view; without both, the only one.

    Raises
    ------
    DataError
        If the file is no database, or the query has no rows and columns.
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
            answer = database.execute(sql)
            columns = [item[0] for item in answer.description or ()]
            rows = answer.fetchall()
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise DataError(
            f"{path.name} cannot be read. SQLite says: {words(error)}"
        ) from error
    _refuse_no_columns(path.name, columns)
    return frame_of(columns, rows)


def _table_of(file: str, names: Sequence[str], table: str) -> str:
    """Return the table that is meant."""
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
    """Return what a query answers, of the database whose address a variable holds.

    Parameters
    ----------
    sql : str
    variable : str
        A variable of the environment, with an address as SQLAlchemy reads it.

    Raises
    ------
    DataError
        If the variable is not set, or the database cannot be asked.
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
                answer = connection.execute(sqlalchemy.text(sql))
                columns = list(answer.keys()) if answer.returns_rows else []
                rows = answer.fetchall() if columns else []
        finally:
            engine.dispose()
    except Exception as error:  # drivers raise what they like
        problem = _without_secrets(" ".join(str(error).split()), address)
        problem = in_short(problem) or type(error).__name__
        if isinstance(error, ModuleNotFoundError):  # the dialect has no driver here
            problem = f"{problem}. Install the driver {quote(error.name)} for Python."
    if problem:  # outside of `except`, so that no traceback shows the address
        raise DataError(
            f"The database of {variable} cannot be queried. SQLAlchemy says: {problem}"
        )
    _refuse_no_columns(variable, columns)
    return frame_of(columns, rows)


def _without_secrets(words: str, address: str) -> str:
    """Return what a driver says without the address, its password or its options."""
    login = re.search(r"//([^/]*)@", address)
    secrets = {address, login[1].partition(":")[2] if login else ""}
    _, _, query = address.partition("?")
    secrets |= {part.partition("=")[2] for part in query.split("&")}
    secrets |= {unquote(text) for text in secrets} | set(map(unquote_plus, secrets))
    for text in sorted(filter(None, secrets), key=len, reverse=True):
        words = words.replace(text, HIDDEN).replace(repr(text)[1:-1], HIDDEN)
    return words
