"""The rankings of the report: our records with their order, intervals and ranks.

A ranking is our own engine's record for one question. It also has the records of other
engines for the same question; our records in the streams of other engines are only in
the section on agreement.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from ...records.dataset_and_model import Floats
from ...records.importance_record import Importance
from ...records.ranking import (
    OURS,
    interval,
    measure_of,
    null_value_of,
    order_of,
    over_rows,
    places,
    primary,
    question_of,
)
from ...records.result import AuditResult
from ...records.trials import unstable
from ..figures.parts import MOST_ROWS
from ..text.number_text import decimals
from ..text.wording import key_of, word

TOP = 20
"""Rows of a table or a figure of features."""
ROWS, SLACK = 12, 3
"""Rows of one ranking, and the number of further rows up to which it is not cut."""
NORMAL_WIDTH = 3.92
"""Standard errors between the ends of a 95 % interval."""
FROM_LOSS = ("permutation",)
IN_SHARES = (
    *("stratified_impact", "stratified_importance"),
    *("curve_impact", "curve_importance"),
)


@dataclass(frozen=True, eq=False)
class Ranking:
    """Our record for one question, ranked, and the records of other engines.

    Attributes
    ----------
    index : int
        Index of `record` in ``result.importances``.
    key : str
        Id of what is ranked, the same from run to run.
    record : Importance
    others : tuple of (int, Importance)
        Records of other engines for the same question, each with its index.
    low, high : ndarray of shape (n_features,)
        Interval of the mean over other evaluation rows if that is known, else over the
        repeats; the mean itself if nothing is drawn.
    first, last : ndarray of shape (n_features,)
        Best and worst rank, from the same source.
    repeats_first, repeats_last : ndarray of shape (n_features,)
        Best and worst rank, from the repeats alone.
    row_intervals : tuple of int
        Row of each feature in ``result.row_intervals``; empty if the intervals are
        those over the repeats.
    order : tuple of int
        Rows of the record by decreasing mean; rows that are unstable over trials come
        after the stable ones, and rows without a value last.
    always : frozenset of str
        Features that are shown at any rank.
    decimals : int, optional
        Decimals shared with the rankings of the same table; by default its own.
    """

    index: int
    key: str
    record: Importance
    others: tuple[tuple[int, Importance], ...]
    low: Floats
    high: Floats
    first: Floats
    last: Floats
    order: tuple[int, ...]
    repeats_first: Floats
    repeats_last: Floats
    row_intervals: tuple[int, ...] = ()
    always: frozenset[str] = frozenset()
    decimals: int | None = None

    @property
    def subject(self) -> str:
        """Name of the model, or the word for the data."""
        return self.record.model or word("words.the_data")

    @property
    def starts_at_loss(self) -> bool:
        """Whether its values compare losses with the loss before permutation."""
        return self.record.method in FROM_LOSS

    @cached_property
    def mean(self) -> Floats:
        """Estimates, in the order of the record."""
        return self.record.mean

    @cached_property
    def rank(self) -> Floats:
        """Ranks of the estimates, 1 for the largest."""
        return self.record.rank

    @cached_property
    def null_value(self) -> float:
        """Null value, in the form of the values."""
        return null_value_of(self.record)

    @cached_property
    def places(self) -> int:
        """Decimals of all numbers of this ranking; 0 if whole and nothing is drawn."""
        if self.decimals is not None:
            return self.decimals
        if not self.is_drawn and (self.mean == np.rint(self.mean)).all():
            return 0
        clear = (self.low > self.null_value) | (self.high < self.null_value)
        with np.errstate(invalid="ignore"):  # infinite losses have no spread
            distance = self.mean - self.null_value
            error = self.record.std_error
            if self.row_intervals:
                error = (self.high - self.low) / NORMAL_WIDTH
            return decimals(self.mean, error, distance[clear])

    @cached_property
    def unstable(self) -> frozenset[int]:
        """Rows with a mean that is too small for its spread over the trials."""
        return frozenset(np.flatnonzero(unstable(self.record)).tolist())

    @cached_property
    def negative(self) -> frozenset[int]:
        """Rows with an interval over other rows that is below the null value."""
        if not self.row_intervals:
            return frozenset()
        return frozenset(np.flatnonzero(self.high < self.null_value).tolist())

    @cached_property
    def is_above_zero(self) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        """Whether the interval of each feature is above the null value, (n_features,).

        True for all features with a value if there are no intervals.
        """
        if not self.is_drawn or np.isnan(self.low).all():
            return ~np.isnan(self.mean)
        return np.asarray(self.low > self.null_value)

    @property
    def has_shares(self) -> bool:
        """Whether the method also defines shares of the sum, and any is known."""
        is_known = not np.isnan(self.record.share).all()
        return self.record.method in IN_SHARES and is_known

    @property
    def is_drawn(self) -> bool:
        """Whether the record is random, so that its intervals have a meaning.

        Intervals over the repeats need several repeats that are not all equal; those
        over other rows do not.
        """
        if self.row_intervals or not self.record.stream:
            return bool(self.record.stream)
        return self.record.n_repeats > 1 and not self.all_equal

    @cached_property
    def all_equal(self) -> bool:
        """Whether all repeats have equal values, as of a learner that is not random."""
        values = self.record.values
        is_same = (values == values[:, :1]) | np.isnan(values)
        return values.shape[1] > 1 and bool(is_same.all())

    @property
    def measured(self) -> tuple[int, ...]:
        """Rows with a value, best first."""
        return tuple(i for i in self.order if not np.isnan(self.mean[i]))

    @property
    def in_order(self) -> list[str]:
        """Features with a value, best first."""
        return [self.record.features[row] for row in self.measured]

    def leading(self, n: int) -> tuple[int, ...]:
        """First `n` rows with a value, those always shown, and the negative ones.

        At most as many as a figure has room for; of the negative rows the lowest.
        """
        first, rest = self.measured[:n], self.measured[n:]
        names = self.record.features
        always = [row for row in rest if names[row] in self.always]
        negative = [row for row in reversed(rest) if row in self.negative]
        others = list(dict.fromkeys([*always, *negative]))[: MOST_ROWS - len(first)]
        return tuple(row for row in self.measured if row in {*first, *others})


def is_pooled(record: Importance) -> bool:
    """Return whether values of a record are ratios of means, not means of ratios."""
    return record.form == "ratio" and record.aggregator == "pooled"


def rows_drawn(record: Importance) -> int:
    """Return the number of rows drawn for each repeat, 0 if all rows are used."""
    rows = int(record.options.get("n_rows") or 0)
    return rows if rows < record.n_samples else 0


def rankings(result: AuditResult) -> tuple[Ranking, ...]:
    """Return the rankings: for each question and measure, our primary record.

    Our other records of the same question, in the stream of another engine, are
    compared with that engine and not ranked.
    """
    ours = primary(result.importances)
    counts = Counter(question for question, _ in ours)
    always = frozenset(result.run.config.get("report", {}).get("always_show", ()))
    ranked = []
    for (question, measure), (index, record) in ours.items():
        *_, form, options = measure
        details = (form, *(f"{name}={value}" for name, value in options))
        is_alone = counts[question] == 1
        others = tuple(
            (place, other)
            for place, other in enumerate(result.importances)
            if other.engine != OURS
            and question_of(other) == question
            and measure_of(other) == measure
            and set(other.features) == set(record.features)
        )
        low, high = interval(record)
        repeats_first, repeats_last = first, last = places(low, high)
        rows = over_rows(record, index, result.row_intervals)
        if len(rows):
            columns = rows[["low", "high", "rank_low", "rank_high"]]
            low, high, first, last = columns.to_numpy(float).T
        ranking = Ranking(
            index=index,
            key=key_of(*question, *(() if is_alone else details)),
            record=record,
            others=others,
            low=low,
            high=high,
            first=first,
            last=last,
            order=tuple(order_of(record).tolist()),
            repeats_first=repeats_first,
            repeats_last=repeats_last,
            row_intervals=tuple(rows.index.tolist()),
            always=always,
        )
        ranked.append(ranking)
    return tuple(ranked)


def rows_about(frame: pd.DataFrame, record: Importance, *names: str) -> pd.DataFrame:
    """Return the rows of a frame that share the named fields with a record."""
    same = [frame[name] == getattr(record, name) for name in names]
    return frame[np.logical_and.reduce(same)]


def cut(ranking: Ranking) -> tuple[int, ...]:
    """Return the rows of a ranking that is cut, or all rows if it is short.

    These are the first `ROWS` and rows tied with the last of them, the features that
    are always shown, and the negative rows.
    """
    order = ranking.order
    if len(order) <= ROWS + SLACK:
        return order
    rank = ranking.rank
    edge = rank[order[ROWS - 1]]
    return tuple(
        row
        for place, row in enumerate(order)
        if place < ROWS
        or rank[row] == edge
        or row in ranking.negative
        or ranking.record.features[row] in ranking.always
    )
