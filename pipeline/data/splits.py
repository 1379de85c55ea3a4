"""Rows that are held out: test rows, and folds of the training rows."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..records.dataset_and_model import Dataset
from ..records.errors import DataError, NotApplicable, did_you_mean, listed, quote
from ..records.streams import stream
from .column_roles import missing_problems
from .column_types import text_of

Rows = npt.NDArray[np.bool_]


def rows_with(column: pd.Series, value: str | float | bool) -> Rows:
    """Return whether each row has a given value in a column, (n_samples,).

    Raises
    ------
    DataError
        If a cell is missing, or no row has the value.
    """
    for problem in missing_problems(column, "it splits the rows"):
        raise DataError(problem)
    texts = column.astype(object).map(text_of)
    text = text_of(value)
    is_test = (texts == text).to_numpy(dtype=bool)
    if not is_test.any():
        levels = sorted(texts.unique())
        raise DataError(
            f"holds {listed(levels)}; no row has the value {quote(value)} of "
            f"the test rows.{did_you_mean(text, levels)}"
        )
    return is_test


def drawn_rows(
    fraction: float,
    seed: int,
    *,
    strata: npt.NDArray[np.object_],
    part: str = "test",
) -> Rows:
    """Return whether each row is in a stratified random sample, (n_samples,).

    Parameters
    ----------
    fraction : float
        The share of the rows, above 0 and below 1.
    seed : int
        With `part` it determines the random stream.
    strata : ndarray of shape (n_samples,)
        The class of each row; all equal if there are no classes.
    part : str, default "test"
        The purpose of the sample.

    Returns
    -------
    ndarray of bool, (n_samples,)
        The size is `fraction` of all rows, rounded. Of each stratum it is `fraction`,
        rounded down, plus one for the strata with the largest remainders.
    """
    order = stream(seed, "split", part, 0).permutation(len(strata))
    names, codes = np.unique(strata.astype(str), return_inverse=True)
    exact = fraction * np.bincount(codes, minlength=len(names))
    counts = np.floor(exact).astype(int)
    n_left = int(np.floor(fraction * len(strata) + 0.5)) - counts.sum()
    counts[np.argsort(counts - exact, kind="stable")[:n_left]] += 1

    is_test = np.zeros(len(strata), dtype=bool)
    for code, count in enumerate(counts):
        rows = order[codes[order] == code]
        is_test[rows[:count]] = True
    return is_test


def folds_of(
    train: Dataset | None, folds: int, *, seed: int, repeat: int = 0
) -> npt.NDArray[np.int64]:
    """Return the fold of each training row, (n_samples,).

    The sizes of folds differ by at most one row, and so do the numbers of rows of each
    class in them.

    Parameters
    ----------
    train : Dataset or None
    folds : int
    seed, repeat : int
        They determine the random stream; each repeat has other folds.

    Raises
    ------
    NotApplicable
        If there are fewer training rows than folds, or some class has a single one.
    """
    n = train.n_samples if train else 0
    if train is None or n < folds:
        raise NotApplicable(
            f"There are {n or 'no'} training rows, too few to be cut into {folds} "
            "folds."
        )
    order = stream(seed, "folds", "", repeat).permutation(n)
    if train.task != "regression":
        order = order[np.argsort(train.y[order], kind="stable")]
    fold = np.empty(n, dtype=np.int64)
    fold[order] = np.arange(n) % folds
    for code, name in enumerate(train.classes):
        met_in = fold[train.y == code]
        if len(met_in) == 1:  # two rows of a class are in two folds
            raise NotApplicable(
                f"Class {quote(name)} has a single training row, in fold "
                f"{met_in[0] + 1}: models fitted to the other folds would not see the "
                "class. Add rows of the class, or leave it out."
            )
    return fold
