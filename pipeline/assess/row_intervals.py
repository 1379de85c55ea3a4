"""Intervals of importances and of their ranks over other rows, from their row terms.

Not: the row terms (`methods.importance.row_terms`), nor intervals from measurements on
resampled rows (`stability`).
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from ..methods.importance.row_terms import RowTerms
from ..records.dataset_and_model import Floats
from ..records.errors import NotApplicable
from ..records.frames import Row
from ..records.importance_record import Importance
from ..records.losses import loss_label
from ..records.ranking import LEVEL
from ..records.streams import stream
from .stability import rank_interval, top_k_share

MOST_COUNTS = 2**24
"""Resamples times rows up to which rows are resampled; beyond, means are normal."""
BLOCK = 20
"""Resamples per matrix product: few, so that the counts stay in the processor cache."""


DEPENDS = {
    "leaves": (
        "values are shuffled within leaves, which depend on the rows: other rows would "
        "give other leaves"
    ),
    "gaussian": (
        "values are drawn from a normal, which is fitted to the rows: other rows would "
        "give another one"
    ),
    "neighbours": (
        "values are those of near rows: a row would have other neighbours among other "
        "rows"
    ),
}
"""By option `within`, the reason why an importance has no row terms."""


def row_intervals(
    importance: Importance,
    terms: RowTerms,
    *,
    record: int,
    resamples: int,
    top_k: int,
    seed: int,
) -> list[Row]:
    """Return one row of the frame `row_intervals` per feature.

    Parameters
    ----------
    importance : Importance
        A permutation importance of ours.
    terms : RowTerms
        The contributions of the rows, from the same measurement.
    record : int
        The place of `importance` in ``result.importances``.
    resamples : int
        Number of sets of other rows; at least 1.
    top_k : int
        Number of leading features.
    seed : int
        Of the audit. All rankings of equally many rows have the same resamples.

    Returns
    -------
    list of dict
        In the order of ``importance.features``; NaN, and an empty route, for a feature
        without a finite importance. Ranks are those of the increase of the loss, in
        every form. Intervals of raw losses hold the unpermuted loss fixed; those of
        ratios let both losses vary.

    Raises
    ------
    NotApplicable
        The loss has no influence values, or values are drawn given the other columns.
    """
    reason = reason_against(importance, terms)
    if reason:
        raise NotApplicable(reason)
    error = standard_errors(importance, terms)
    is_measured = np.isfinite(importance.mean) & np.isfinite(error)
    at, of_rows = np.flatnonzero(is_measured), terms.terms[importance.loss]
    of_rows = of_rows if is_measured.all() else of_rows[at]
    mean, rise = importance.mean[at], replace(importance, form="difference")
    of_rise = standard_errors(rise, terms)[at]
    draws_of = partial(draw, resamples=resamples, seed=seed)
    if importance.form == "ratio":
        # Both losses vary, the denominator on the log scale, so that it stays above 0.
        base, own = importance.baseline.mean(), terms.of_baseline(importance.loss)
        of_base = np.sqrt(np.square(own).sum()) / len(own)
        route, both = draws_of(
            np.append((mean - 1) * base, 0.0),
            np.vstack([of_rows, own]),
            np.append(of_rise, of_base),
        )
        values = 1 + both[:, :-1] / (base * np.exp(both[:, -1:] / base))
    else:
        route, values = draws_of(mean, of_rows, of_rise)
    ranks = pd.DataFrame(values).rank(axis=1, ascending=False).to_numpy()
    low, high = np.quantile(values, ((1 - LEVEL) / 2, (1 + LEVEL) / 2), axis=0)
    rank_low, rank_high = rank_interval(ranks)
    columns = {
        **{"low": low, "high": high, "rank_low": rank_low, "rank_high": rank_high},
        "top_k_share": top_k_share(ranks, top_k),
        "lead_share": top_k_share(ranks, 1),
    }
    places = {row: place for place, row in enumerate(at)}
    return [
        {"record": record, "feature": feature, "std_error": float(error[row])}
        | {
            name: float(values[places[row]]) if row in places else float("nan")
            for name, values in columns.items()
        }
        | {"route": route if row in places else ""}
        for row, feature in enumerate(importance.features)
    ]


def reason_against(importance: Importance, terms: RowTerms) -> str:
    """Return the reason why a ranking has no row intervals; empty if it has them."""
    within = importance.options.get("within", "none")
    if within != "none":
        return f"{DEPENDS[within]}. Leave out within for intervals over other rows."
    if importance.loss not in terms.terms:
        return (
            f"the contribution of single rows to {loss_label(importance.loss)} is not "
            "known. Use another loss as well."
        )
    return ""


def standard_errors(importance: Importance, terms: RowTerms) -> Floats:
    """Return the standard error of each mean over rows and repeats, (n_features,).

    Its square is the variance of the row terms, less the part that is due to the draws
    (`RowTerms.noise`), divided by the number of rows. It is at least the Monte-Carlo
    variance of the repeats, which is a part of it. After a single repeat the two parts
    are not identified, and nothing is subtracted. For raw losses it is that of their
    increase.
    """
    of_rows, noise = terms.terms[importance.loss], terms.noise[importance.loss]
    n = of_rows.shape[1]
    if n < 2:
        return np.full(len(of_rows), np.nan)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if importance.form == "ratio":
            base = importance.baseline.mean()
            moved = (importance.mean - 1)[:, np.newaxis]
            of_rows = (of_rows - moved * terms.of_baseline(importance.loss)) / base
            noise = noise / base**2
        elif importance.form == "raw":
            importance = replace(importance, form="difference")
        total = _sums_of_squares(of_rows) / (n * (n - 1.0))
        of_repeats = importance.std_error**2 if importance.n_repeats > 1 else total
        return np.sqrt(np.maximum(total - noise / n, of_repeats))


def draw(
    mean: Floats, terms: Floats, error: Floats, *, resamples: int, seed: int
) -> tuple[str, Floats]:
    """Return importances on other rows, scaled to the given standard errors.

    Up to `MOST_COUNTS` rows are resampled: the counts of the rows in each resample are
    multiplied with the terms. Beyond, normal values with the covariance of the terms
    are drawn.

    Parameters
    ----------
    mean, error : ndarray of shape (n_features,)
    terms : ndarray of shape (n_features, n_samples)
    resamples, seed : int

    Returns
    -------
    route : {"resampled", "normal"}
        Whether rows were resampled, or normal values drawn with the covariance of the
        means.
    values : ndarray of shape (n_resamples, n_features)
    """
    n_features, n = terms.shape
    spread = np.sqrt(_sums_of_squares(terms)) / n
    scale = np.divide(error, spread, out=np.zeros(n_features), where=spread > 0)
    generator = stream(seed, "row intervals", "", 0)
    if n * resamples <= MOST_COUNTS:
        by_row = np.ascontiguousarray(terms.T)  # a plain BLAS takes a third of the time
        counts, sums = np.empty((BLOCK, n)), np.empty((resamples, n_features))
        for begin in range(0, resamples, BLOCK):
            of_block = sums[begin : begin + BLOCK]
            for row in counts[: len(of_block)]:
                row[:] = np.bincount(generator.integers(n, size=n), minlength=n)
            of_block[:] = counts[: len(of_block)] @ by_row
        return "resampled", mean + scale * sums / n
    # multivariate_normal of numpy depends on the arbitrary signs of singular vectors.
    variances, vectors = np.linalg.eigh(terms @ terms.T)
    root = (vectors * np.sqrt(np.maximum(variances, 0.0))) @ vectors.T / n
    normal = generator.standard_normal((resamples, n_features))
    return "normal", mean + scale * (normal @ root)


def _sums_of_squares(terms: Floats) -> Floats:
    """Return the sum of squares of each row, without a copy of the whole array."""
    return np.array([np.square(row).sum() for row in terms])
