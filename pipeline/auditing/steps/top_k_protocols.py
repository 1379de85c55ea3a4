"""Protocols for evaluating rankings by models of their first features."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...config.load import AuditConfig
from ...data.splits import folds_of
from ...records.dataset_and_model import Dataset
from ...records.errors import NotApplicable
from ...records.streams import stream
from .. import measure

Rows: TypeAlias = npt.NDArray[np.int64]


class Round(NamedTuple):
    """One split of the rows: indexes for fitting, and for evaluation."""

    kept: Rows
    out: Rows


class Protocol(NamedTuple):
    """How rankings are computed and evaluated.

    Attributes
    ----------
    name : str
        A key of `PROTOCOLS`.
    rows : Dataset
        All rows; every index refers to these.
    rounds : tuple of Round
        Each ranking is computed and evaluated once in each.
    asks_out : bool
        Whether rankings of fitted models are computed on the rows that evaluate them.
    all_rows : frozenset of str
        Methods and models whose rankings use all rows.
    """

    name: str
    rows: Dataset
    rounds: tuple[Round, ...]
    asks_out: bool = False
    all_rows: frozenset[str] = frozenset()

    def seen(self, method: str, model: str, part: Round) -> tuple[Rows, Rows]:
        """Return the indexes a ranker is fitted on, and those it is evaluated on."""
        if self.all_rows & {method, model}:
            every = np.arange(self.rows.n_samples)
            return every, every
        is_learnt = measure.is_of_training_rows(method)
        return part.kept, part.out if self.asks_out and not is_learnt else part.kept


def in_folds(train: Dataset | None, test: Dataset, config: AuditConfig) -> Protocol:
    """Return our protocol: folds of the training rows, the same for all rankings.

    The sizes of folds, and of each class in them, differ by at most one row. No ranking
    uses the fold that evaluates it.

    Raises
    ------
    NotApplicable
        There are no training rows, or fewer rows than folds.
    """
    del test
    fold = folds_of(train, config.top_k.folds, seed=config.seed)
    parts = (
        Round(np.flatnonzero(fold != k), np.flatnonzero(fold == k))
        for k in range(config.top_k.folds)
    )
    return Protocol(
        "folds", cast(Dataset, train), tuple(parts)
    )  # folds_of refuses None


def held_out(train: Dataset | None, test: Dataset, config: AuditConfig) -> Protocol:
    """Return the protocol of Parr, Wilson and Hamrick: one evaluation on the test rows.

    Methods that learn from rows rank on the training rows. A fitted model is ranked on
    the test rows, which also evaluate it; that favours it. The methods and models in
    ``all_rows`` use both.

    Raises
    ------
    NotApplicable
        There are no training rows, or they are the test rows.
    """
    if train is None or train.sha256 == test.sha256:
        raise NotApplicable(
            "There are no training rows to rank by."
            if train is None
            else "The training rows are also the test rows, so the rankings would be "
            "judged on the rows they come from."
        )
    n, m = train.n_samples, test.n_samples
    part = Round(np.arange(n), np.arange(n, n + m))
    all_rows = frozenset(config.top_k.all_rows)
    rows = replace(
        train,
        X=pd.concat([train.X, test.X[list(train.features)]], ignore_index=True),
        y=np.concatenate([train.y, test.y]),
        weights=np.concatenate([train.weights, test.weights]),
        split="all",
        sha256="",
    )
    return Protocol("holdout", rows, (part,), asks_out=True, all_rows=all_rows)


def in_held_out_splits(
    train: Dataset | None, test: Dataset, config: AuditConfig
) -> Protocol:
    """Return `held_out` over random splits of all rows, the same for all rankings.

    Each split holds out as many rows as there are test rows, stratified by class up to
    one row.

    Raises
    ------
    NotApplicable
        There are no training rows, or they are the test rows.
    """
    once = held_out(train, test, config)
    n_out, count = test.n_samples, config.top_k.splits
    rounds = _random_rounds(once.rows, n_out, count, seed=config.seed)
    return once._replace(name="splits", rounds=rounds)


def in_splits(train: Dataset | None, config: AuditConfig) -> Protocol:
    """Return random splits of the training rows, the same for all rankings.

    Each split holds out a fraction of the rows, stratified by class up to one row. No
    ranking uses the rows that evaluate it.

    Raises
    ------
    NotApplicable
        There are no training rows, or too few for both sides of a split.
    """
    n = train.n_samples if train else 0
    n_out = round(config.selection.fraction * n)
    if train is None or not 0 < n_out < n:
        raise NotApplicable(
            "The training rows must leave one or more on each side of a split; of "
            f"{n or 'none'} {n_out} would be held out."
        )
    count = config.selection.splits
    rounds = _random_rounds(train, n_out, count, seed=config.seed)
    return Protocol("splits", train, rounds)


def _random_rounds(
    rows: Dataset, n_out: int, count: int, *, seed: int
) -> tuple[Round, ...]:
    """Return random splits that hold out `n_out` rows, stratified by class."""
    n = rows.n_samples
    every = np.arange(n)
    is_out = every * n_out // n < (every + 1) * n_out // n
    rounds = []
    for number in range(count):
        order = stream(seed, "splits", "", number).permutation(n)
        if rows.task != "regression":
            order = order[np.argsort(rows.y[order], kind="stable")]
        rounds.append(Round(np.sort(order[~is_out]), np.sort(order[is_out])))
    return tuple(rounds)


PROTOCOLS: dict[str, Callable[[Dataset | None, Dataset, AuditConfig], Protocol]] = {
    "folds": in_folds,
    "holdout": held_out,
    "splits": in_held_out_splits,
}
"""Functions by the names allowed in `[top_k] protocols`."""
