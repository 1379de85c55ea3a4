"""What a column must be for its role: feature, target or row weight.

The functions named problems yield sentences; `where` is how a sentence names the
column. Constant columns are no problem here: a finding of the audit says so.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..records.dataset_and_model import Task
from ..records.errors import DataError, listed
from .column_types import is_category, kind_of, text_of


def feature_problems(column: pd.Series, *, where: str) -> Iterator[str]:
    """Yield what keeps a column from being a feature: infinite cells, or none."""
    if len(column) and column.isna().all():
        rule = "must have a value in some row"
        yield f"{where} {rule}, but every cell is missing. Leave it out of features."
    yield from _infinite(column, where)


def weight_problems(column: pd.Series, *, where: str) -> Iterator[str]:
    """Yield what keeps a column from weighing rows."""
    if is_category(column):
        yield f"{where} must hold numbers to weigh the rows, but it holds texts."
        return
    yield from _missing(column, where, "weighs the rows")
    yield from _infinite(column, where)
    n_negative = int((column < 0).sum())
    if n_negative:
        verb = "is" if n_negative == 1 else "are"
        found = f"{n_negative} of {len(column)} weights {verb}"
        yield f"{where} must not be negative, but {found}. Correct them."
    elif len(column) and (column == 0).all():
        rule = f"{where} must be above 0 in some row, but every weight is 0."
        yield f"{rule} Give these rows weights, or leave [data] weights out."


def target_problems(column: pd.Series, task: Task, *, where: str) -> Iterator[str]:
    """Yield what keeps a column from being the target of a task."""
    yield from _missing(column, where, "is the target")
    if task != "regression":
        return
    kind = kind_of(column)
    if kind in ("category", "boolean"):
        found = "texts" if kind == "category" else "true and false"
        rule = "must hold numbers for task 'regression'"
        yield f"{where} {rule}, but it holds {found}. Set task to binary or multiclass."
    yield from _infinite(column, where)


def classes_of(
    column: pd.Series,
    task: Task,
    *,
    positive_class: str | int | bool | None,
    where: str,
) -> tuple[str, ...]:
    """Return the classes of a target as texts, none for regression.

    Parameters
    ----------
    column : Series
        The target of the training rows, nothing missing.
    task : {"regression", "binary", "multiclass"}
    positive_class : str, int, bool or None
        None is 1 or true, and not enough for a target of texts.
    where : str

    Returns
    -------
    tuple of str
        Negative and positive class if binary; in level order, or sorted, if
        multiclass.

    Raises
    ------
    DataError
        If the number of classes is not that of the task, or the positive class is
        not among them.
    """
    if task == "regression":
        return ()
    found = _texts_in_order(column)
    enough = len(found) == 2 if task == "binary" else len(found) >= 2
    if not enough:
        needed = "two" if task == "binary" else "at least two"
        verb = "was" if len(found) == 1 else "were"
        raise DataError(
            f"{where} must have {needed} classes for task {task!r}, but {len(found)} "
            f"{verb} found: {listed(found)}. Name another target or task, or add rows."
        )
    if task == "multiclass":
        return found
    positive = _positive(found, kind_of(column), positive_class, where)
    return (*(name for name in found if name != positive), positive)


def coded(
    column: pd.Series, task: Task, classes: tuple[str, ...], *, where: str
) -> npt.NDArray[np.float64] | npt.NDArray[np.int64]:
    """Return the target as numbers, (n_samples,).

    Floats if regression, 0.0 and 1.0 = the positive class if binary, else int64 codes
    into `classes`.

    Raises
    ------
    DataError
        If a row has another class, or all rows have the same.
    """
    if task == "regression":
        return column.to_numpy(dtype=np.float64)
    texts = column.astype(object).map(text_of)
    others = sorted(set(texts) - set(classes))
    if others:
        raise DataError(
            f"{where} must hold the classes {listed(classes)}, but {listed(others)} "
            "stands there as well."
        )
    if texts.nunique() < 2:
        raise DataError(
            f"{where} must have two classes or more in every split, but only "
            f"{texts.iloc[0]!r} was found. Split otherwise."
        )
    codes = texts.map({name: code for code, name in enumerate(classes)})
    return codes.to_numpy(dtype=np.float64 if task == "binary" else np.int64)


def _texts_in_order(column: pd.Series) -> tuple[str, ...]:
    """Return the values in use, in level order or sorted, as texts."""
    values = column.dropna().unique()
    if is_category(column):
        return tuple(level for level in column.cat.categories if level in set(values))
    return tuple(text_of(value) for value in sorted(values))


def _positive(
    found: tuple[str, ...],
    kind: str,
    positive_class: str | int | bool | None,
    where: str,
) -> str:
    if positive_class is None:
        usual = "true" if kind == "boolean" else "1"
        if kind == "category" or usual not in found:
            raise DataError(
                f"{where} must have its positive class named, one of {listed(found)}, "
                "but it is not. Set [data] positive_class; in Python, give classes "
                "with it last."
            )
        return usual
    asked = text_of(positive_class)
    if kind == "boolean":
        asked = {"1": "true", "0": "false"}.get(asked, asked)
    if asked not in found:
        raise DataError(
            f"{where} must have the positive class among {listed(found)}, but "
            f"{positive_class!r} was given."
        )
    return asked


def _missing(column: pd.Series, where: str, why: str) -> Iterator[str]:
    n_missing = int(column.isna().sum())
    if n_missing:
        rule = f"must have a value in every row, because it {why}"
        verb = "is" if n_missing == 1 else "are"
        found = f"{n_missing} of {len(column)} cells {verb} missing"
        yield f"{where} {rule}, but {found}. Leave those rows out."


def _infinite(column: pd.Series, where: str) -> Iterator[str]:
    if kind_of(column) == "number":
        n_infinite = int(np.isinf(column.to_numpy(dtype=np.float64)).sum())
        if n_infinite:
            verb = "cell is" if n_infinite == 1 else "cells are"
            remedy = "Correct them, or leave those rows out."
            yield f"{where} must be finite, but {n_infinite} {verb} infinite. {remedy}"
