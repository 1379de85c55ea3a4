"""Whether a column fits its role: feature, target or row weight.

The functions `…_problems` yield one predicate per problem, such as "has no value in any
row. …", and the others raise one; the caller knows the name of the column, and puts it
before by `about` or `collecting`. Constant columns are no problem here: the audit
reports them in a finding.
"""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..records.asker import remedy
from ..records.dataset_and_model import Task
from ..records.errors import DataError, listed, quote, several
from .column_types import is_category, kind_of, text_of

MANY = 50
"""More distinct values than this, seldom repeated, are not classes."""


@contextmanager
def collecting(problems: list[str], subject: str = "") -> Iterator[None]:
    """Append the message of a DataError to `problems` instead of raising it.

    `subject` is what the message is about, if it is a predicate.
    """
    try:
        yield
    except DataError as error:
        problems.append(f"{subject} {error}" if subject else str(error))


@contextmanager
def about(subject: str) -> Iterator[None]:
    """Put the subject before the message of a DataError, which is a predicate."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{subject} {error}") from error


def raise_all(problems: Iterable[str]) -> None:
    """Raise a DataError with one line per problem, if there are any."""
    lines = tuple(dict.fromkeys(problems))
    if lines:
        raise DataError("\n".join(lines))


def feature_problems(column: pd.Series, *, may_be_empty: bool = False) -> Iterator[str]:
    """Yield the problems of a column as a feature.

    These are: no value in any row, infinite cells, and levels that R cannot hold.
    """
    if len(column) and column.isna().all() and not may_be_empty:
        yield "has no value in any row. Leave it out of features."
    yield from _unusable_cells(column)


def weight_problems(column: pd.Series) -> Iterator[str]:
    """Yield the problems of a column as row weights."""
    if is_category(column):
        yield "holds text, which cannot be used as row weights. Name a numeric column."
        return
    yield from missing_problems(column, "it holds the row weights")
    yield from _unusable_cells(column)
    n_negative = int((column < 0).sum())
    if n_negative:
        verb = "is" if n_negative == 1 else "are"
        share = f"{n_negative} of {len(column)} weights {verb}"
        yield f"must not be negative; {share}. Correct them."
    elif len(column) and (column == 0).all():
        how = remedy(
            "leave [data] weights out.",
            r="leave weights out.",
            python="leave sample_weight out.",
        )
        yield f"gives every row the weight 0. Give these rows weights, or {how}"


def target_problems(
    column: pd.Series, task: Task, *, is_configured: bool = True
) -> Iterator[str]:
    """Yield the problems of a column as the target of a task.

    Without a configuration (`is_configured` false), the remedy is one for Python.
    """
    if len(column) and column.isna().all():
        yield "has no value in any row. Give the column that holds the target."
        return
    how = "[data] drop_missing_target = true does."
    if not is_configured:
        how = "keep = ~numpy.asarray(pandas.isna(y)); X[keep], y[keep]"
    for problem in missing_problems(column, "it is the target"):
        yield f"{problem[:-1]}: {how}"
    kind = kind_of(column)
    if task == "regression" and kind in ("category", "boolean"):
        cells = "true and false"
        if kind == "category":
            levels = _texts_in_order(column)
            cells = f"{several(len(levels), 'different text')} ({listed(levels)})"
        yield (
            f"holds {cells}, and task 'regression' needs numbers. Name a numeric "
            "column, or set task to binary or multiclass."
        )
    yield from _unusable_cells(column)


def classes_of(
    column: pd.Series, task: Task, *, positive_class: str | int | bool | None
) -> tuple[str, ...]:
    """Return the classes of a target as texts, none for regression.

    Parameters
    ----------
    column : Series
        The target of the training rows, without missing cells.
    task : {"regression", "binary", "multiclass"}
    positive_class : str, int, bool or None
        None stands for 1 or true; a target of texts needs a value.

    Returns
    -------
    tuple of str
        If binary, the negative and the positive class; if multiclass, all classes in
        level order, or sorted.

    Raises
    ------
    DataError
        If the task needs another number of classes, or the positive class is not among
        them.
    """
    if task == "regression":
        return ()
    names, kind = _texts_in_order(column), kind_of(column)
    if len(names) > MANY and 2 * len(names) > len(column):
        how = ", or set task to regression if it is a number"
        raise DataError(
            f"holds {len(names)} different values in {len(column)} rows "
            f"({listed(names)}), too many to be classes. Name the column that holds "
            f"the classes{how * (kind != 'category')}."
        )
    if len(names) < 2 or (task == "binary" and len(names) > 2):
        needed = "two" if task == "binary" else "at least two"
        raise DataError(
            f"has {len(names)} {'class' if len(names) == 1 else 'classes'} "
            f"({listed(names)}), and task {task!r} needs {needed}. Name another target "
            "or task, or add rows."
        )
    if task == "multiclass":
        return names
    if positive_class is None:
        positive = "true" if kind == "boolean" else "1"
        if kind == "category" or positive not in names:
            raise DataError(
                f"has the classes {listed(names)}, and the positive class is not "
                "stated. Set [data] positive_class; in Python, give classes with it "
                "last."
            )
    else:
        positive = text_of(positive_class)
        if kind == "boolean":
            positive = {"1": "true", "0": "false"}.get(positive, positive)
        if positive not in names:
            raise DataError(
                f"has the classes {listed(names)}; the positive class "
                f"{quote(positive_class)} is not one of them."
            )
    return (*(name for name in names if name != positive), positive)


def class_among(name: str, classes: Collection[str]) -> str:
    """Return the name of a class as written in `classes`.

    The pairs false and 0, and true and 1, are different spellings of one class.

    Examples
    --------
    >>> class_among("true", ("0", "1")), class_among("0", ("true", "false"))
    ('1', 'false')
    >>> class_among("true", ("0", "1", "2"))
    'true'
    """
    flags = {"0": "false", "1": "true"}
    if set(classes) == set(flags):
        flags = {word: digit for digit, word in flags.items()}
    elif set(classes) != set(flags.values()):
        return name
    return flags.get(name, name)


def coded(
    column: pd.Series, task: Task, classes: tuple[str, ...]
) -> npt.NDArray[np.float64] | npt.NDArray[np.int64]:
    """Return the target as numbers, (n_samples,).

    These are the values as float64 for regression, 1.0 for the positive class and 0.0
    for the other if binary, and int64 positions in `classes` if multiclass.

    Raises
    ------
    DataError
        If a row has a class that is not in `classes`, or all rows have the same class.
    """
    if task == "regression":
        return column.to_numpy(dtype=np.float64)
    texts = column.astype(object).map(text_of)
    texts = texts.map(partial(class_among, classes=classes))
    is_other = ~texts.isin(classes)
    if is_other.any():
        others = sorted(column[is_other].unique(), key=text_of)  # as in the data
        how = "Leave those rows out, or add the class."
        if not set(texts) & set(classes):
            how = "Write its values as these classes are written."
        which = "which is" if len(others) == 1 else "which are"
        raise DataError(
            f"holds {listed(others)}, {which} not among the classes {listed(classes)}. "
            f"{how}"
        )
    if len(texts) and texts.nunique() < 2:  # row_problems reports no rows
        raise DataError(
            f"holds only the class {quote(texts.iloc[0])}, and every split needs two "
            "or more. Split the rows otherwise."
        )
    codes = texts.map({name: code for code, name in enumerate(classes)})
    return codes.to_numpy(dtype=np.float64 if task == "binary" else np.int64)


def _texts_in_order(column: pd.Series) -> tuple[str, ...]:
    """Return the distinct values as texts, in level order or sorted."""
    values = column.dropna().unique()
    if is_category(column):
        return tuple(level for level in column.cat.categories if level in set(values))
    return tuple(text_of(value) for value in sorted(values))


def missing_problems(column: pd.Series, because: str) -> Iterator[str]:
    """Yield the problem of missing cells in a column that must not have any."""
    n_missing = int(column.isna().sum())
    if n_missing:
        share = f"{n_missing} of {several(len(column), 'row')}"
        rule = f"every row needs a value, because {because}"
        yield f"is missing in {share}; {rule}. Leave those rows out."


def _unusable_cells(column: pd.Series) -> Iterator[str]:
    """Yield the problem of infinite numbers, or of levels that R cannot hold."""
    if kind_of(column) == "number":
        n_infinite = int(np.isinf(column.to_numpy(dtype=np.float64)).sum())
        if n_infinite:
            cells = several(n_infinite, "infinite cell")
            yield f"has {cells}. Correct them, or leave those rows out."
    levels = column.cat.categories if is_category(column) else ()
    if found := [level for level in levels if "\0" in level]:
        yield (
            f"has levels with a NUL character, which R cannot hold: {listed(found)}. "
            "Remove it from the texts."
        )
