"""Claims about the ranks and values of one importance, or of several."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal

import numpy as np

from ...engines.agreement.numbers import association
from ...methods.importance import METHODS
from ...records.errors import NotApplicable, listed, quote
from ...records.importance_record import Importance
from ...records.ranking import interval, null_value_of, places
from ...records.value_rules import OneOf, Range
from .answer import (
    Answer,
    Count,
    Names,
    Share,
    Side,
    Tolerance,
    above_null,
    at_most,
    bounded,
    largest_of,
    near,
    numbers_of,
    origin,
)


def leader(record: Importance, features: Names) -> Answer:
    """Test whether the features have the first ranks, in any order."""
    return rank(record, features, within=len(features))


def rank(record: Importance, features: Names, *, within: Count) -> Answer:
    """Test whether the features are among the first.

    Parameters
    ----------
    within : int
        The highest rank number that any of them may have; tied features have the last
        of their ranks.
    """
    _, worst = places(record.mean, record.mean)
    ranks = numbers_of(record, worst, features)
    return at_most(f"{largest_of(features)}rank of {listed(features)}", ranks, within)


def last(record: Importance, features: Names, *, within: Count | None = None) -> Answer:
    """Test whether the features are among the last.

    Parameters
    ----------
    within : int, optional
        The highest rank number, counted from the end, that any of them may have; by
        default the number of features. Tied features have the highest of their ranks.
    """
    best, _ = places(record.mean, record.mean)
    ranks = int(np.isfinite(best).sum()) + 1 - best
    words = f"{largest_of(features)}rank from the end of {listed(features)}"
    return at_most(words, numbers_of(record, ranks, features), within or len(features))


def order(record: Importance, features: Names) -> Answer:
    """Test whether the features are in this order; others may be between them.

    The means are compared. The quantity says so if the intervals over the repeats do
    not settle the order.
    """
    values = numbers_of(record, record.mean, features)
    steps = values[:-1] - values[1:]
    holds = bool((steps > 0).all())
    quantity = f"smallest drop from one to the next in {listed(features)}"
    places = np.arange(len(record.features), dtype=float)
    drawn = record.values[numbers_of(record, places, features).astype(int)]
    with np.errstate(invalid="ignore"):
        drops = drawn[:-1] - drawn[1:]
    none = np.zeros(record.n_repeats)
    low, high = interval(replace(record, form="raw", raw=drops, baseline=none))
    is_settled = (low > 0).all() if holds else (high < 0).any()
    if record.stream and record.n_repeats > 1 and not is_settled:
        quantity += " (within the 95% intervals over the repeats)"
    return Answer(quantity, "above 0", float(steps.min()), holds)


def sign(
    record: Importance,
    features: Names,
    *,
    sign: Literal["positive", "negative"],
    share: Annotated[float, Range(above=0, most=1)] = 1.0,
) -> Answer:
    """Test whether the features, or a share of them, have a sign.

    An importance is positive above the null value: 1 for a ratio, the baseline for a
    raw loss, else 0.

    Parameters
    ----------
    sign : {"positive", "negative"}
        The sign.
    share : float, default 1
        The smallest share of the features that must have it.
    """
    values = numbers_of(record, record.mean, features)
    nothing = null_value_of(record)
    right = values > nothing if sign == "positive" else values < nothing
    side = f"{'above' if sign == 'positive' else 'below'} {nothing:.4g}"
    if len(features) == 1:
        return Answer(f"value of {listed(features)}", side, values[0], bool(right[0]))
    ours = float(right.mean())
    quantity = f"share with a value {side} among {listed(features)}"
    return Answer(quantity, f"at least {share:g}", ours, ours >= share)


def value(
    record: Importance, features: Names, *, expected: float, tolerance: Tolerance
) -> Answer:
    """Test whether the value of each feature is as expected.

    Parameters
    ----------
    expected : float
        The value in the paper, or the value that follows from it, with its sign.
    tolerance : float
        The largest difference from `expected` that counts as equal.
    """
    values = numbers_of(record, record.mean, features)
    farthest = values[np.argmax(np.abs(values - expected))]
    of_all = "farthest value of " if len(features) > 1 else "value of "
    return near(f"{of_all}{listed(features)}", farthest, expected, tolerance)


def ratio(
    record: Importance, features: Names, *, expected: float, tolerance: Tolerance
) -> Answer:
    """Test the ratio of the value of the first feature to that of the second.

    The null value is subtracted from both, as for kind "sign".

    Parameters
    ----------
    expected : float
        The value in the paper, or the value that follows from it.
    tolerance : float
        The largest difference from `expected` that counts as equal.
    """
    first, second = above_null(record, features)
    if second == 0:
        raise NotApplicable(
            f"The value of {quote(features[1])} is {null_value_of(record):.4g}, no "
            "effect, so there is no ratio."
        )
    quantity = f"{quote(features[0])} divided by {quote(features[1])}{origin(record)}"
    return near(quantity, first / second, expected, tolerance)


def share(
    record: Importance, features: Names, *, expected: float, tolerance: Tolerance
) -> Answer:
    """Test the share of the features in the sum of the values of all features.

    The null value is subtracted from all, as for kind "sign".

    Parameters
    ----------
    expected : float
        The value in the paper, or the value that follows from it.
    tolerance : float
        The largest difference from `expected` that counts as equal.
    """
    part = above_null(record, features).sum()
    total = above_null(record, record.features).sum()
    if total == 0:
        raise NotApplicable(
            f"The values of all features sum to 0{origin(record)}, so there is no "
            "share."
        )
    quantity = f"share of {listed(features)}{origin(record)}"
    return near(quantity, part / total, expected, tolerance)


def frequency(
    records: Sequence[Importance],
    features: Names,
    *,
    within: Count,
    expected: Share,
    tolerance: Tolerance,
) -> Answer:
    """Test the share of the models in which all these features are among the first.

    Parameters
    ----------
    within : int
        The highest rank number that any of them may have; ties are as in kind "rank".
    expected : float
        The share: 1 for every model, 0 for none.
    tolerance : float
        The largest difference from `expected` that counts as equal.
    """
    holds = [rank(record, features, within=within).holds for record in records]
    quantity = (
        f"share of {len(holds)} models with {listed(features)} in the first {within}"
    )
    return near(quantity, float(np.mean(holds)), expected, tolerance)


def likeness(
    record: tuple[Importance, Importance],
    features: Names,
    *,
    bound: Annotated[float, Range(least=-1, most=1)],
    other: str = "",
    other_method: Annotated[str, OneOf(tuple(METHODS))] | None = None,
    statistic: Literal["kendall", "spearman", "pearson"] = "kendall",
    side: Side = "at least",
) -> Answer:
    """Test the correlation of the rankings of two models, or by two methods.

    Parameters
    ----------
    bound : float
        The limit for the correlation.
    other : str
        The second model; by default the same.
    other_method : str
        The second method; by default the same.
    statistic : {"kendall", "spearman", "pearson"}
        Kendall's tau-b or Spearman's rho of the ranks, or Pearson's correlation of the
        values.
    side : {"at least", "at most"}
        Whether the correlation is claimed to be at least, or at most, the bound.
    """
    from scipy.stats import rankdata

    first, second = record
    names = features or tuple(n for n in first.features if n in second.features)
    if statistic == "pearson":
        x, y = (numbers_of(each, each.mean, names) for each in record)
        correlation = (
            float(np.corrcoef(x, y)[0, 1]) if np.ptp(x) and np.ptp(y) else np.nan
        )
    else:
        x, y = (rankdata(numbers_of(each, each.rank, names)) for each in record)
        correlation = association(x, y)[statistic]
    if np.isnan(correlation):
        raise NotApplicable(
            "One of the rankings is constant, so there is no correlation."
        )
    second_name = quote(other or other_method)
    quantity = f"{statistic.capitalize()}'s correlation with {second_name}"
    return bounded(quantity, correlation, bound, side)
