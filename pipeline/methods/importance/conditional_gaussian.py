"""Columns drawn from a joint normal, given any others of the same row.

The normal has the mean and the covariance of the rows. `coalitions` decides which
values are kept, and predicts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ...records.dataset_and_model import Dataset, Floats
from ...records.errors import NotApplicable, listed, quote
from .covariances import covariance_of
from .scores import is_number, numbers_of

Index: TypeAlias = npt.NDArray[np.int64]
Noise: TypeAlias = Callable[[Any, tuple[int, int, int]], Floats]
"""``noise(generator, shape)``: standard normal numbers."""


class Normal(NamedTuple):
    """A joint normal distribution of columns.

    Attributes
    ----------
    mean : ndarray of shape (n_columns,)
    covariance : ndarray of shape (n_columns, n_columns)
    """

    mean: Floats
    covariance: Floats


def fit_normal(matrix: Floats, shares: Floats) -> Normal:
    """Return the normal with the mean and the unbiased covariance of some rows.

    Parameters
    ----------
    matrix : ndarray of shape (n_samples, n_columns)
    shares : ndarray of shape (n_samples,)
        Row weights that sum to one; each less than one. Equal ones divide by n - 1.
    """
    unbiased = 1 - (shares**2).sum()
    return Normal(shares @ matrix, covariance_of(matrix, shares, "sample") / unbiased)


def given(normal: Normal, known: Index, unknown: Index) -> tuple[Floats, Floats]:
    r"""Return the slopes and the covariance of some columns given others.

    With :math:`\Sigma` the covariance, *K* the known and *U* the unknown columns,
    the slopes are :math:`B = \Sigma_{KK}^+ \Sigma_{KU}` and the covariance is
    :math:`\Sigma_{UU} - \Sigma_{UK} B`. The conditional mean is that of *U* plus the
    known values less their mean, times *B*. Columns that known ones determine have
    variance 0. The pseudo-inverse needs no full rank, but columns of similar scale.

    Returns
    -------
    slopes : ndarray of shape (n_known, n_unknown)
    covariance : ndarray of shape (n_unknown, n_unknown)
    """
    covariance = normal.covariance
    both = covariance[np.ix_(known, unknown)]
    inverse = np.linalg.pinv(covariance[np.ix_(known, known)], hermitian=True)
    slopes = inverse @ both
    rest = covariance[np.ix_(unknown, unknown)] - both.T @ slopes
    return slopes, (rest + rest.T) / 2


def symmetric_root(covariance: Floats) -> Floats:
    """Return the symmetric root of a covariance; eigenvalues below 0 count as 0."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T)


@dataclass(frozen=True)
class GaussianSampler:
    """A `coalitions.Sampler` that draws from the normal given the known columns.

    Attributes
    ----------
    columns : tuple of str
    matrix : ndarray of shape (n_samples, n_columns)
        The rows whose columns are known, each column in units of `scale`.
    normal : Normal
        The distribution of the columns of `matrix`.
    scale : ndarray of shape (n_columns,)
    is_whole : ndarray of bool, shape (n_columns,)
        Whether a column holds integers: its draws are rounded, halves to the even
        number.
    n_draws : int
        Draws for each row.
    noise : callable
    """

    columns: tuple[str, ...]
    matrix: Floats
    normal: Normal
    scale: Floats
    is_whole: npt.NDArray[np.bool_]
    n_draws: int
    noise: Noise

    def __call__(
        self, known: tuple[str, ...], rows: Index, generator: Any
    ) -> Mapping[str, Floats]:
        """Return draws of the unknown columns, (n_rows * n_draws,) each."""
        is_known = np.isin(self.columns, known)
        at, of = np.flatnonzero(is_known), np.flatnonzero(~is_known)
        slopes, covariance = given(self.normal, at, of)
        deviation = self.matrix[np.ix_(rows, at)] - self.normal.mean[at]
        mean = (self.normal.mean[of] + deviation @ slopes) * self.scale[of]
        root = symmetric_root(covariance) * self.scale[of]
        noise = self.noise(generator, (len(rows), self.n_draws, len(of)))
        drawn = root.T @ noise.reshape(-1, len(of)).T  # a column is contiguous
        drawn.reshape(len(of), len(rows), -1)[:] += mean.T[:, :, np.newaxis]
        return {
            self.columns[k]: np.rint(column) if self.is_whole[k] else column
            for k, column in zip(of, drawn, strict=True)
        }


def gaussian_sampler(
    data: Dataset,
    columns: tuple[str, ...],
    *,
    n_draws: int,
    noise: Noise,
    is_scaled: bool = True,
) -> GaussianSampler:
    """Return the sampler of some columns, fitted to all rows with their weights.

    Parameters
    ----------
    data : Dataset
    columns : tuple of str
        In the order in which they are drawn.
    n_draws : int
    noise : callable
    is_scaled : bool, default True
        Whether columns are scaled to variance 1 first: then units do not change draws,
        and collinear columns are distinguished from columns of small numbers.

    Raises
    ------
    NotApplicable
        If a column is not numeric and complete, or one row has all the weight.
    """
    matrix = numbers_of(data.X, columns)
    if matrix is None:
        others = [name for name in columns if numbers_of(data.X, [name]) is None]
        what = "have missing values"
        if not all(is_number(data.X[name]) for name in others):
            what = "are categories, or have missing values"
        raise NotApplicable(
            f"Data {quote(data.name)} must have complete columns of numbers for draws "
            f"from a normal; these {what}: {listed(others)}. Use background 'rows'."
        )
    if (data.weights > 0).sum() < 2:
        raise NotApplicable(
            f"Data {quote(data.name)} must have at least two rows with a weight for "
            "draws from a normal. Use background 'rows'."
        )
    shares = data.weights / data.weights.sum()
    scale = np.ones(len(columns))
    if is_scaled:
        spread = np.sqrt(np.diag(covariance_of(matrix, shares, "sample")))
        scale = np.where(spread > 0, spread, 1.0)
    matrix = matrix / scale
    kinds = [data.X[name].dtype for name in columns]
    return GaussianSampler(
        columns=columns,
        matrix=matrix,
        normal=fit_normal(matrix, shares),
        scale=scale,
        is_whole=np.array([getattr(kind, "kind", "f") in "iu" for kind in kinds]),
        n_draws=n_draws,
        noise=noise,
    )
