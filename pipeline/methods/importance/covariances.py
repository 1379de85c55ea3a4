"""Covariance of columns from few rows, with divisor n throughout, as in FIRM.

Shrinkage acts on the standardised columns, so their units change nothing; the variances
are those of the rows, except under "corpcor".
"""

from typing import Literal

import numpy as np

from ...records.dataset_and_model import Floats
from ...records.errors import NotApplicable

Covariance = Literal["sample", "ledoit_wolf", "oas", "schaefer_strimmer", "corpcor"]


def covariance_of(matrix: Floats, shares: Floats, kind: Covariance) -> Floats:
    """Return the covariance of the columns of `matrix`, (n_columns, n_columns).

    Parameters
    ----------
    matrix : ndarray of shape (n_samples, n_columns)
    shares : ndarray of shape (n_samples,)
        Row weights that sum to one.
    kind : {"sample", "ledoit_wolf", "oas", "schaefer_strimmer", "corpcor"}
        See `firm.firm`.

    Raises
    ------
    NotApplicable
        If rows are weighted and `kind` shrinks.
    """
    centred = matrix - shares @ matrix
    if kind == "sample":
        return centred.T @ (shares[:, np.newaxis] * centred)
    if np.ptp(shares) > 1e-12 * shares.max():
        raise NotApplicable(
            f"Rows must count the same for covariance {kind!r}; they are weighted. "
            "Use covariance 'sample'."
        )
    spread = centred.std(axis=0)
    varies = spread > 0
    shrunk = np.zeros((matrix.shape[1],) * 2)
    if varies.any():
        standard = centred[:, varies] / spread[varies]
        if kind in ("ledoit_wolf", "oas"):
            from sklearn import covariance

            correlation = getattr(covariance, kind)(standard, assume_centered=True)[0]
        else:
            correlation = _schaefer_strimmer(standard)
        shrunk[np.ix_(varies, varies)] = correlation
    if kind == "corpcor":
        spread = np.sqrt(_shrunk_variances(centred))
    return spread[:, np.newaxis] * shrunk * spread


def _schaefer_strimmer(standard: Floats) -> Floats:
    """Return (1 - l) R + l I, l = sum of Var(r_jk) / sum of r_jk^2, j != k."""
    n, p = standard.shape
    standard = standard * np.sqrt((n - 1) / n)  # the paper divides by n - 1
    mean = standard.T @ standard / n
    of_squares = (standard**2).T @ standard**2 / n - mean**2
    variance = n**2 / (n - 1) ** 3 * of_squares
    r = n / (n - 1) * mean
    off_diagonal = ~np.eye(p, dtype=bool)
    shrunk = (1 - _intensity(variance[off_diagonal], r[off_diagonal])) * r
    np.fill_diagonal(shrunk, 1.0)
    return np.asarray(shrunk)


def _shrunk_variances(centred: Floats) -> Floats:
    """Return variances shrunk to their median, divisor n - 1."""
    n = len(centred)
    squares = centred**2
    variances = squares.sum(axis=0) / (n - 1)
    uncertain = n / (n - 1) ** 3 * ((squares - squares.mean(axis=0)) ** 2).sum(axis=0)
    target = np.median(variances)
    intensity = _intensity(uncertain, variances - target)
    return np.asarray(intensity * target + (1 - intensity) * variances)


def _intensity(variance: Floats, distance: Floats) -> float:
    """Return the intensity of shrinkage: variance over squared distance, 0 to 1."""
    total = float((distance**2).sum())
    return min(1.0, float(variance.sum()) / total) if total > 0 else 1.0
