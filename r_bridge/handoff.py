"""Objects of vip and DALEX, made from our numbers for use in R.

The files contain data only, and are verified by reading them in a fresh R. Not: the
choice of the numbers.
"""

import tempfile
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from . import host
from .errors import RBridgeError, quote

Floats = npt.NDArray[np.float64]

LINES = ("0.4", "0.5")
"""Version lines of vip, whose objects differ in class."""
LOSS_NAMES = {
    "rmse": "Root mean square error (RMSE)",
    "one_minus_auc": "One minus AUC",
    "dalex_cross_entropy": "Cross entropy",
    "sum_of_squares": "Sum of squared residuals (SSR)",
}


SCRIPTS = (
    *("losses.R", "scripts.R", "own_predict.R", "model_kinds.R", "r_models.R"),
    "importanceaudit/R/write_importance.R",
)
"""The files that R needs to predict, compute losses and write tables as we do."""


class Plan(NamedTuple):
    """One object to make: its kind, and the numbers and texts it is made from."""

    kind: str
    parts: Mapping[str, Any]


def vi(features: Sequence[str], values: Floats, *, type_: str, line: str) -> Plan:
    """Return the plan of an object as returned by ``vip::vi()``.

    Parameters
    ----------
    features : sequence of str
    values : ndarray of shape (n_features, n_repeats)
        The score of each feature in each repeat. A single repeat has no raw scores.
    type_ : str
        The method in vip's terms: "permutation", "firm", "shap", or ours.
    line : str
        One of `LINES`.
    """
    parts = {"features": list(features), "values": _matrix(values)}
    return Plan("vi", {**parts, "type": type_, "line": line})


def parts(
    variables: Sequence[str],
    losses: Floats,
    *,
    full: Floats,
    y_permuted: Floats,
    form: str,
    label: str,
    loss_name: str,
) -> Plan:
    """Return the plan of an object as returned by ``DALEX::model_parts()``.

    Parameters
    ----------
    variables : sequence of str
    losses : ndarray of shape (n_variables, n_rounds)
        Loss with each variable permuted.
    full, y_permuted : ndarray of shape (n_rounds,)
        Loss without permutation, and with the target permuted.
    form : {"raw", "difference", "ratio"}
        Relative to the mean of `full`, as in DALEX.
    label : str
        The name of the model.
    loss_name : str
    """
    facts = {"form": form, "label": label, "loss_name": loss_name}
    numbers = {"losses": _matrix(losses), "full": full, "y_permuted": y_permuted}
    return Plan("parts", {"variables": list(variables), **numbers, **facts})


def profile(
    curves: Mapping[str, tuple[Sequence[Any], Floats]],
    *,
    label: str,
    mean_prediction: float,
    method: str,
) -> Plan:
    """Return the plan of aggregated profiles as in ``DALEX::model_profile()``.

    Parameters
    ----------
    curves : mapping of str to (grid, values)
        By feature; the grids are all numbers, or all levels as text.
    label : str
        The name of the model.
    mean_prediction : float
    method : {"partial", "accumulated"}
    """
    points = [point for grid, _ in curves.values() for point in grid]
    is_text = any(isinstance(point, str) for point in points)
    profile_parts: dict[str, Any] = {
        "variables": [name for name, (grid, _) in curves.items() for _ in grid],
        "x": list(map(str, points)) if is_text else np.array(points, dtype=float),
        "yhat": np.concatenate([values for _, values in curves.values()]),
        "levels": list(dict.fromkeys(map(str, points))) if is_text else None,
    }
    facts = {"label": label, "mean_prediction": mean_prediction, "method": method}
    return Plan("profile", {**profile_parts, **facts})


def rows(table: pd.DataFrame) -> Plan:
    """Return the plan of a data frame."""
    return Plan("rows", {"table": table})


def scripts() -> dict[str, str]:
    """Return the text of each of `SCRIPTS`, by its name."""
    files = [Path(__file__).parent / script for script in SCRIPTS]
    return {file.name: file.read_text("utf-8") for file in files}


def parquet_writer() -> str:
    """Return the Parquet writer available here: "nanoparquet" of R, "pyarrow", or "".

    Requires an open session.
    """
    if bool(host.current().call("writes_parquet", {})[0]):
        return "nanoparquet"
    return "pyarrow" if find_spec("pyarrow") else ""


def as_parquet(plans: Mapping[str, Plan], writer: str) -> dict[str, bytes]:
    """Return the table of each plan as a Parquet file, by its key.

    Requires an open session, and the result of `parquet_writer`; empty if that is
    empty. Only columns are stored, not attributes such as the raw scores of vip.

    Raises
    ------
    RBridgeError
        If R is not available, or a table was read back differently.
    """
    files: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "table.parquet")
        for key, (kind, parts) in plans.items() if writer else ():
            question = {"kind": kind, "parts": parts}
            if writer == "pyarrow":
                host.current().call("handoff_table", question).to_parquet(file)
            else:
                question["file"] = str(file)
                _require_same(key, host.current().call("handoff_parquet", question))
            files[key] = file.read_bytes()
    return files


def written(plans: Mapping[str, Plan]) -> dict[str, bytes]:
    """Return the .rds file of each plan, by its key; requires an open session.

    Every file was read in a fresh R, and equals the object that this R makes from the
    same numbers.

    Raises
    ------
    RBridgeError
        If R is not available, or an object holds more than data or differs when read.
    """
    files: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as folder, host.fresh() as reader:
        file = Path(folder, "object.rds")
        for key, (kind, parts) in plans.items():
            question = {"kind": kind, "parts": parts, "file": str(file)}
            more = str(host.current().call("handoff_write", question)[0])
            if more:
                raise RBridgeError(
                    f"File {quote(key)} must be data only; it holds a {more}."
                )
            _require_same(key, reader.call("handoff_holds", question))
            files[key] = file.read_bytes()
    return files


def _matrix(values: Floats) -> Floats:
    return np.atleast_2d(np.asarray(values, dtype=np.float64))


def _require_same(key: str, answer: Any) -> None:
    """Refuse a file that R does not read back as it was written."""
    if not answer[0]:
        raise RBridgeError(f"File {quote(key)} must be read as written; it is not.")
