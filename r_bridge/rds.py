"""R data sets as DataFrames."""

import re
from difflib import get_close_matches

import pandas as pd

from r_bridge.errors import RBridgeError, RUnavailable
from r_bridge.host import Worker

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
        Factors as Categoricals, integers as int64 (with missing values as Int64). A
        matrix gives its columns, a table one row per cell with its ``count``. Rows are
        numbered from 0: R's row names are no column and stay behind.

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
            f"An R data set must be named like 'DALEX::apartments', but {name!r} was "
            "given."
        )
    answer = worker.call("read_data_set", match.groupdict())
    if not answer["package_is_there"][0]:
        raise RUnavailable(
            f"R package {match['package']!r} must be installed for data set {name!r}, "
            f"but R finds none. Run: importance-audit install-r"
        )
    if "known" in answer:
        near = get_close_matches(match["name"], answer["known"], n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise RBridgeError(
            f"R data set {name!r} must exist, but the package has none of that name."
            f"{hint}"
        )
    if "found" in answer:
        raise RBridgeError(
            f"R data set {name!r} must be a data.frame, matrix or table, but it is a "
            f"{answer['found'][0]}."
        )
    table: pd.DataFrame = answer["table"]
    return table.reset_index(drop=True)
