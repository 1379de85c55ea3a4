"""Claims about curves: of one feature, and error curves of rankings."""

from typing import Annotated, Literal, NamedTuple

import numpy as np

from ...records.dataset_and_model import Floats
from ...records.errors import NotApplicable, quote
from ...records.importance_record import Effect
from ...records.value_rules import Range
from .answer import Answer, Count, Names, Share, Side, Tolerance, bounded


def line(
    record: Effect,
    features: Names,
    *,
    intercept: float,
    slope: float,
    tolerance: Tolerance,
) -> Answer:
    """Test whether the curve of a feature is a given straight line.

    Parameters
    ----------
    intercept, slope : float
        Parameters of the line.
    tolerance : float
        The largest distance between curve and line, at any grid point.
    """
    if record.kind != "number":
        raise NotApplicable(
            f"{quote(features[0])} is a category, so its curve is not a line."
        )
    gap = float(np.abs(record.values - (intercept + slope * record.grid)).max())
    if np.isnan(gap):
        raise NotApplicable(
            f"The curve of {quote(features[0])} has points without a value."
        )
    equation = f"{intercept:g} {'+' if slope >= 0 else '-'} {abs(slope):g} x"
    quantity = f"largest distance of the curve of {quote(features[0])} from {equation}"
    return Answer(quantity, f"at most {tolerance:g}", gap, gap <= tolerance)


class Curves(NamedTuple):
    """The error curve of one ranking, and the lowest losses of all rankings.

    Attributes
    ----------
    own, best : ndarray of shape (n_points,)
        The loss with the first feature, the first two, and so on: means over folds or
        splits.
    own_of_rounds, best_of_rounds : ndarray of shape (n_rounds, n_points)
        The losses in each fold or split.
    """

    own: Floats
    best: Floats
    own_of_rounds: Floats = np.empty((0, 0))
    best_of_rounds: Floats = np.empty((0, 0))


def top_k(
    record: Curves,
    features: Names,
    *,
    k: Count,
    judge: str,
    factor: Annotated[float, Range(least=1)],
    side: Side = "at most",
    protocol: Literal["folds", "holdout", "splits"] = "folds",
    share: Share = 0.0,
) -> Answer:
    """Test the ratio of the error curve of a ranking to the best of all rankings.

    Parameters
    ----------
    k : int
        The largest number of leading features; the claim is about the worst result from
        1 to k features.
    judge : str
        The model that is fitted to the leading features.
    factor : float
        The limit, as a multiple of the loss of the best ranking with as many features.
    side : {"at most", "at least"}
        Whether the loss is claimed to be below that limit, or above.
    protocol : {"folds", "holdout", "splits"}
        As under [top_k].
    share : float
        0 if the claim is about the mean loss over the folds or splits. Otherwise the
        claim is about each of them, and must hold in at least this share of them.
    """
    del features
    if len(record.own) < k:
        raise NotApplicable(f"The curve has {len(record.own)} points, not {k}.")
    best = record.best_of_rounds if share else record.best
    if not (best[..., :k] > 0).all():
        raise NotApplicable(
            "The best ranking has no loss above 0, so there is no ratio."
        )
    if share:
        worst_of_rounds = (record.own_of_rounds[:, :k] / best[:, :k]).max(axis=1)
        is_at_most = side == "at most"
        holds = worst_of_rounds <= factor if is_at_most else worst_of_rounds >= factor
        quantity = (
            f"share of {len(holds)} {protocol} in which the largest ratio to the best "
            f"curve over {k} features, {judge}, is {side} {factor:g}"
        )
        return bounded(quantity, float(holds.mean()), share, "at least")
    worst = float((record.own[:k] / best[:k]).max())
    quantity = f"largest ratio to the best curve over {k} features, {judge}, {protocol}"
    return bounded(quantity, worst, factor, side)
