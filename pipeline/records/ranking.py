"""Rankings as reports show them: the records that are, their definition and null value.

A ranking is a record of Python, in our own draw order: neither the result of another
engine, nor our replay in that engine's draw order.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from .dataset_and_model import Floats
from .importance_record import Effect, Importance
from .losses import loss_label
from .trials import unstable

OURS = "python"
LEVEL = 0.95

Question: TypeAlias = tuple[str, str, str, str, str]
Measure: TypeAlias = tuple[str, str, str, tuple[tuple[str, str], ...]]


class Interval(NamedTuple):
    """The interval shown with a ranking, and the variation that it covers.

    Attributes
    ----------
    std_error, low, high : ndarray of shape (n_features,)
        Standard error and 95 % interval of each mean; NaN where there is none.
    over : {"rows", "repeats", ""}
        "rows": sampling of rows, and the draws; "repeats": the draws only; empty if
        there is no interval, because nothing was drawn or there is one repeat.
    """

    std_error: Floats
    low: Floats
    high: Floats
    over: Literal["rows", "repeats", ""]


def question_of(record: Importance) -> Question:
    """Return the fields that are equal in two records of the same question."""
    return (
        record.model,
        record.method,
        record.of,
        record.loss,
        record.positive_class,
    )


def question_in_words(record: Importance) -> str:
    """Return the question of a record as words in a sentence, without module names."""
    method = record.method.partition(":")[2] or record.method.replace("_", " ")
    parts = (
        record.model,
        f"{method} of {record.of}",
        loss_label(record.loss) if record.loss else "",
        f"class {record.positive_class}" if record.positive_class else "",
    )
    return ", ".join(filter(None, parts))


def measure_of(record: Importance) -> Measure:
    """Return the key of an estimand card: everything but model, loss and class."""
    entries = sorted(distinguishing_options(record).items())
    options = tuple((key, repr(value)) for key, value in entries)
    return (record.method, record.of, record.form, options)


def distinguishing_options(record: Importance | Effect) -> dict[str, Any]:
    """Return the options of a record, and the name of its entry if it has one."""
    entry = getattr(record, "entry", "")
    return {**record.options, **({"entry": entry} if entry else {})}


def options_text(record: Importance | Effect, *, with_repeats: bool = True) -> str:
    """Return the options of a record as one text, equal for equal options.

    Without `with_repeats`, the number of repeats is left out.
    """
    options = sorted(distinguishing_options(record).items())
    texts = (f"{k} = {v!r}" for k, v in options if with_repeats or k != "n_repeats")
    return ", ".join(texts)


def primary(
    records: Iterable[Importance],
) -> dict[tuple[Question, Measure], tuple[int, Importance]]:
    """Return our first record of each question and measure, with its index."""
    records_by_key: dict[tuple[Question, Measure], tuple[int, Importance]] = {}
    for index, record in enumerate(records):
        if record.engine == OURS:
            records_by_key.setdefault(
                (question_of(record), measure_of(record)), (index, record)
            )
    return records_by_key


def lead_of(records: Iterable[Importance]) -> Importance | None:
    """Return the record shown first: of a model if any, features before groups."""
    ours = [record for _, record in primary(records).values()]
    candidates = [record for record in ours if record.model] or ours
    of_features = [record for record in candidates if record.of == "features"]
    return next(iter(of_features or candidates), None)


def is_marginal(asked: Any) -> bool:
    """Return whether a record, or an entry, permutes single features among all rows."""
    within = asked.options.get("within", "none")
    return (asked.method, asked.of, within) == ("permutation", "features", "none")


def order_of(record: Importance) -> npt.NDArray[np.int64]:
    """Return the row indexes of a record in descending order of the mean.

    Features that are unstable over trials follow all stable ones; features without a
    value are last.
    """
    rank = np.where(np.isnan(record.rank), np.inf, record.rank)
    rows = np.arange(len(rank))
    return np.lexsort((rows, rank, unstable(record), np.isinf(rank)))


def null_value_of(record: Importance) -> float:
    """Return the null value: that of a feature without effect, in the record's form."""
    if record.form == "raw":
        return float(record.baseline.mean())
    return 1.0 if record.form == "ratio" else 0.0


def interval(record: Importance) -> tuple[Floats, Floats]:
    """Return the bounds of the t interval of each mean over the repeats.

    Both equal the mean if nothing is drawn or the mean is infinite; NaN after a single
    repeat. For raw losses, the width is that of the difference to the unpermuted loss,
    since both losses of a repeat are on the same rows.
    """
    if not record.stream:
        return record.mean, record.mean
    if record.n_repeats < 2:
        unknown = np.full(len(record.features), np.nan)
        return unknown, unknown
    from scipy.special import stdtrit

    quantile = stdtrit(record.n_repeats - 1.0, (1 + LEVEL) / 2)
    rise = replace(record, form="difference") if record.form == "raw" else record
    with np.errstate(invalid="ignore"):
        half = np.where(np.isinf(record.mean), 0.0, quantile * rise.std_error)
        return record.mean - half, record.mean + half


def over_rows(
    record: Importance, index: int, row_intervals: pd.DataFrame
) -> pd.DataFrame:
    """Return the rows of the frame `row_intervals` for a record, in its order.

    Empty unless all features have an interval, so that a ranking has one kind.
    """
    rows = row_intervals[row_intervals["record"] == index]
    is_whole = rows["feature"].tolist() == list(record.features)
    return rows if is_whole and rows["low"].notna().all() else rows.iloc[:0]


def shown_interval(
    record: Importance, index: int, row_intervals: pd.DataFrame
) -> Interval:
    """Return the interval to show for a ranking: over rows if available.

    Parameters
    ----------
    record : Importance
    index : int
        Index of the record among the importances.
    row_intervals : DataFrame
        The frame `row_intervals`.
    """
    rows = over_rows(record, index, row_intervals)
    if len(rows):
        error, low, high = rows[["std_error", "low", "high"]].to_numpy(float).T
        return Interval(error, low, high, over="rows")
    if record.stream and record.n_repeats > 1:
        return Interval(record.std_error, *interval(record), over="repeats")
    unknown = np.full(len(record.features), np.nan)
    return Interval(unknown, unknown, unknown, over="")


def places(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return the best and the worst possible rank of each feature, given its interval.

    The best is 1 plus the number of features with a lower bound above its upper bound;
    the worst is the number of features minus those with an upper bound below its lower
    bound. NaN if a bound is NaN.
    """
    has_interval = ~(np.isnan(low) | np.isnan(high))
    ordered_low, ordered_high = np.sort(low[has_interval]), np.sort(high[has_interval])
    n = len(ordered_low)
    first = 1.0 + n - np.searchsorted(ordered_low, high, side="right")
    last = n - np.searchsorted(ordered_high, low, side="left").astype(float)
    return np.where(has_interval, first, np.nan), np.where(has_interval, last, np.nan)
