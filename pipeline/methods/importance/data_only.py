"""Shared parts of the methods without a model: columns, and refusals."""

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...records.dataset_and_model import Dataset, Floats
from ...records.errors import NotApplicable, listed, quote
from .method_result import each_group


def each_column(
    data: Dataset, measure: Callable[[pd.Series], float], *, null: float = 0.0
) -> tuple[Floats, Floats]:
    """Return one number per group, (n_groups, 1, 1), and the null value.

    NaN for a group of several columns, and for a constant or incomplete column;
    `measure` is called for the others only.
    """

    def of_group(columns: tuple[str, ...]) -> float:
        if len(columns) != 1 or not is_measurable(data.X[columns[0]]):
            return np.nan
        return measure(data.X[columns[0]])

    raw, baseline = each_group(data, of_group)
    return raw, baseline + null


def by_name(data: Dataset, values: Mapping[str, float]) -> tuple[Floats, Floats]:
    """Return the value of each group of one column, NaN for others, and zero."""
    return each_group(
        data, lambda of: values.get(of[0], np.nan) if len(of) == 1 else np.nan
    )


def is_measurable(column: pd.Series) -> bool:
    """Return whether a column varies and has no missing value."""
    return bool(column.notna().all() and column.nunique() > 1)


def refuse_classes(data: Dataset, method: str, remedy: str) -> None:
    """Refuse a target of classes."""
    if data.task != "regression":
        raise NotApplicable(
            f"Target {quote(data.target)} must be a number for method {method!r}; it "
            f"has {len(data.classes)} classes: {listed(data.classes)}. {remedy}"
        )


def refuse_constant_target(data: Dataset, method: str) -> None:
    """Refuse a constant target."""
    if np.ptp(data.y) == 0:
        raise NotApplicable(
            f"Target {quote(data.target)} must vary for method {method!r}; all its "
            "values are the same. Add rows, or leave the method out."
        )


def refuse_weights(data: Dataset, method: str, remedy: str = "") -> None:
    """Refuse unequal row weights."""
    if data.is_weighted:
        raise NotApplicable(
            f"Rows must weigh the same for method {method!r}; their weights "
            f"differ. {remedy or 'Leave the method or the weights out.'}"
        )


def rows_of_classes(
    data: Dataset, method: str, *, at_least: int
) -> list[npt.NDArray[np.bool_]]:
    """Return a mask of the rows of each class; refuse a class with too few."""
    is_of = [data.y == code for code in range(len(data.classes))]
    for name, rows in zip(data.classes, is_of, strict=True):
        n_rows = int((data.weights[rows] > 0).sum())
        if n_rows < at_least:
            raise NotApplicable(
                f"Class {quote(name)} must have {at_least} or more rows that count for "
                f"method {method!r}; it has {n_rows}. Add rows, or leave the "
                "method out."
            )
    return is_of
