"""Rankings as a function of the number of repeats. Not: measuring again."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...methods.importance.random_subspace import PERF, TWIN, perf_from
from ...methods.importance.refits import units_of
from ...methods.importance.subspaces import Mask, masks_of, number_drawn
from ...records.dataset_and_model import Floats
from ...records.importance_record import Importance
from ..journal import Journal
from ..measure import Question

LEAST = 10
"""Fewest repeats for a mean that is worth showing."""


class Part(NamedTuple):
    """An importance over its first repeats; both arrays (n_features,)."""

    values: Floats
    std_error: Floats


def add_convergence(
    journal: Journal, answers: Sequence[tuple[int, Importance]], question: Question
) -> None:
    """Add the convergence of our results for one question.

    Each result comes with its index among all importances.
    """
    for record, importance in answers:
        masks = _masks(importance, question)
        for n in halvings(importance):
            part = first(importance, n, masks)
            rank = pd.Series(part.values).rank(ascending=False).tolist()
            journal.rows["convergence"] += [
                {
                    "record": record,
                    "n_repeats": n,
                    "feature": feature,
                    "value": float(value),
                    "std_error": float(error),
                    "rank": at,
                }
                for feature, value, error, at in zip(
                    importance.features, *part, rank, strict=True
                )
            ]


def halvings(importance: Importance) -> tuple[int, ...]:
    """Return the numbers of first repeats to show: all, half of them, a quarter, ….

    Smallest first, none below `LEAST`; empty if nothing is drawn, or if half of the
    repeats are fewer than `LEAST`.
    """
    counts = [importance.n_repeats]
    while counts[-1] // 2 >= LEAST:
        counts.append(counts[-1] // 2)
    return tuple(counts[::-1]) if importance.stream and len(counts) > 1 else ()


def first(importance: Importance, n_repeats: int, masks: Mask | None = None) -> Part:
    r"""Return an importance over its first repeats, exactly.

    If repeats are measured independently, it is their mean. The repeats of random
    subspaces are members of one ensemble, and the PERF of the first members is not the
    mean of their pseudo-values in the whole ensemble. But the seed determines which
    member draws which feature, :math:`\gamma_{bj}`. Inverting the definition of the
    pseudo-values gives each member's loss up to a constant, which cancels in
    differences of means.

    Parameters
    ----------
    importance : Importance
    n_repeats : int
        From 1 to ``importance.n_repeats``.
    masks : ndarray of bool, shape (n_repeats, n_features), optional
        Which member draws which feature, of a random subspace ensemble.

    Returns
    -------
    Part
        NaN where these repeats give no value or no error.
    """
    if masks is None:
        part = importance.first(n_repeats)
        with np.errstate(invalid="ignore"):  # infinite losses have no spread
            return Part(part.mean, part.std_error)
    if importance.method == TWIN:
        return _mean_rise(importance, masks, n_repeats)
    places = np.flatnonzero(np.isfinite(importance.mean))
    if not len(places):
        return Part(importance.mean, importance.std_error)
    row = int(places[0])
    scores = _scores(importance.raw[row], masks[:, row])
    perf = perf_from(zip(masks[:n_repeats], scores[:n_repeats], strict=True))
    unknown = ~np.isfinite(importance.mean) | np.isnan(perf.std_error)
    return Part(*(np.where(unknown, np.nan, each) for each in perf[:2]))


def _masks(importance: Importance, question: Question) -> Mask | None:
    """Return which member draws each feature, None if the method has no members."""
    model = question.model
    if importance.method not in (PERF, TWIN) or model is None:
        return None
    units, places = units_of(model, question.rows, importance.method)
    option = importance.options["n_drawn"]
    n_drawn = number_drawn(model, len(units), importance.method, option)
    masks = masks_of(importance.seed, len(units), n_drawn, importance.n_repeats)
    return masks[:, places]  # columns that no model uses have no values


def _scale(n: int, n_with: int) -> float:
    """Return the factor by which pseudo-values scale deviations from a partial mean."""
    return float(np.sqrt(n_with * (n - 1) / (n * (n_with - 1.0))))


def _scores(raw: Floats, mask: Mask) -> Floats:
    """Return the loss of each member minus the mean of those that draw a feature."""
    n, n_with = len(mask), int(mask.sum())
    gain = raw.mean() * n / (n - n_with)
    with_it = -raw * n_with / (n - n_with) / _scale(n, n_with)
    without = (raw - gain) / _scale(n, n - n_with) + gain
    return np.where(mask, with_it, without)


def _mean_rise(importance: Importance, masks: Mask, n_repeats: int) -> Part:
    """Return mean and error of the increases in the first members with a feature."""
    numbers = np.full((2, len(importance.features)), np.nan)
    for row in np.flatnonzero(np.isfinite(importance.mean)):
        raw, mask = importance.raw[row], masks[:, row]
        n, n_with, mean = len(mask), int(mask.sum()), raw.mean()
        # The increase of the loss in each member; the mean where it is not drawn.
        rises = mean + (raw - mean) * n_with / n / _scale(n, n_with)
        of_members = rises[:n_repeats][mask[:n_repeats]]
        if len(of_members) > 1:
            numbers[:, row] = (
                of_members.mean(),
                of_members.std(ddof=1) / np.sqrt(len(of_members)),
            )
    return Part(*numbers)
