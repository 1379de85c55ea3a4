"""R data as DataFrames: data sets of packages, .rds files, and values of scripts."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import pandas as pd

from .errors import RBridgeError, RError, RUnavailable, quote
from .host import Worker
from .process import scratch

_NAME = re.compile(r"(?P<package>[A-Za-z][A-Za-z0-9.]*)::(?P<name>.+)")


def read_data_set(worker: Worker, name: str) -> pd.DataFrame:
    """Return a data set of an R package.

    Parameters
    ----------
    worker : Worker
    name : str
        ``package::name``, as in ``DALEX::apartments``.

    Returns
    -------
    DataFrame of shape (n_rows, n_columns)
        Factors become Categoricals, integers int64 (with missing values Int64). A
        matrix gives its columns, a table one row per cell with its ``count``. Rows are
        numbered from 0; R's row names are discarded.

    Raises
    ------
    RUnavailable
        If the package is not installed.
    RBridgeError
        If there is no such data set, or it is neither a data.frame nor a matrix or
        table.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise RBridgeError(
            f"An R data set must be named like 'DALEX::apartments'; {quote(name)} was "
            "given."
        )
    answer = worker.call("read_data_set", match.groupdict())
    if not answer["package_is_there"][0]:
        quoted = f'"{match["package"]}"'
        raise RUnavailable(
            f"R package {quote(match['package'])} of data set {quote(name)} is not "
            f"installed. In R: install.packages({quoted})"
        )
    if "data_sets" in answer:
        near = get_close_matches(match["name"], answer["data_sets"], n=1)
        hint = f" Did you mean {quote(near[0])}?" if near else ""
        raise RBridgeError(
            f"R package {quote(match['package'])} has no data set "
            f"{quote(match['name'])}.{hint}"
        )
    return _table(answer, f"R data set {quote(name)}")


def read_file(worker: Worker, name: str, content: bytes) -> pd.DataFrame:
    """Return the table in the bytes of an .rds file, in the types of `read_data_set`.

    Parameters
    ----------
    worker : Worker
    name : str
        Name of the file in messages.
    content : bytes
        The bytes that were hashed and are trusted: reading them may run code.

    Raises
    ------
    RBridgeError
        If R cannot read it, or it holds neither a data.frame nor a matrix or table.
    """
    with scratch() as folder:
        file = folder / "table.rds"
        file.write_bytes(content)
        try:
            answer = worker.call("read_table_file", {"file": str(file)})
        except RError as error:
            message = " ".join(error.message.split())
            raise RBridgeError(
                f"{name} must be a file that saveRDS wrote; R cannot read it: "
                f"{message}. Save it again, with this R or an older one."
            ) from error
    return _table(answer, name)


def read_script(worker: Worker, name: str, script: str, part: str) -> pd.DataFrame:
    """Return the table created by a script, in the types of `read_data_set`.

    Parameters
    ----------
    worker : Worker
    name : str
        Name of the script in messages.
    script : str
        Its value is a table, or a list with an element named `part`.
    part : str

    Raises
    ------
    RBridgeError
        If the script fails, or its value is neither.
    """
    try:
        answer = worker.call("read_table_script", {"script": script, "part": part})
    except RError as error:
        message = " ".join(error.message.split())
        raise RBridgeError(
            f"{name} did not make the rows. R says: {message}"
        ) from error
    return _table(answer, f"The value of {name}, or its element {quote(part)},")


def _table(answer: Mapping[str, Any], subject: str) -> pd.DataFrame:
    if "class" in answer:
        raise RBridgeError(
            f"{subject} must be a data.frame, matrix or table, but it is a "
            f"{answer['class'][0]}."
        )
    table: pd.DataFrame = answer["table"]
    return table.reset_index(drop=True)
