"""Association of two columns: mutual information, or rank correlation."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...data.column_types import is_category
from ...records.dataset_and_model import Floats

Measure = Literal["binned", "gaussian", "gaussian_ranks", "spearman"]


def matrix_of(columns: Sequence[pd.Series], measure: Measure, n_bins: int) -> Floats:
    """Return the association of each two columns, (n_columns, n_columns).

    In nats for the mutual informations; infinite for a column and its own copy under
    the normal ones. The diagonal of "binned" is 0, as it is not used.
    """
    if measure == "binned":
        return _binned([codes_of(column, n_bins) for column in columns])
    values = [column.to_numpy(np.float64) for column in columns]
    if measure != "gaussian":
        values = [pd.Series(v).rank(method="average").to_numpy() for v in values]
    # Rounding errors must not make the correlation with a copy differ from 1.
    correlation = np.clip(np.round(np.corrcoef(values), 14), -1, 1)
    if measure == "spearman":
        return np.asarray(np.abs(correlation))
    with np.errstate(divide="ignore"):
        return np.asarray(-0.5 * np.log1p(-(correlation**2)))


def codes_of(column: pd.Series, n_bins: int) -> npt.NDArray[Any]:
    """Return the level or the bin of each row, (n_samples,).

    Edges are values of the column itself, so an increasing transformation moves no row
    to another bin, and rows with equal values share a bin.
    """
    if is_category(column):
        return np.asarray(column.cat.codes)
    values = column.to_numpy(np.float64)
    distinct, place = np.unique(values, return_inverse=True)
    if len(distinct) <= n_bins:
        return np.asarray(place)
    shares = np.arange(1, n_bins) / n_bins
    edges = np.unique(np.quantile(values, shares, method="inverted_cdf"))
    return np.searchsorted(edges, values, side="left")


def _binned(codes: Sequence[npt.NDArray[Any]]) -> Floats:
    """Return the mutual information of each two columns of codes."""
    from sklearn.metrics import mutual_info_score

    information = np.zeros((len(codes), len(codes)))
    for high, a in enumerate(codes):
        for low, b in enumerate(codes[:high]):
            shape = (int(a.max()) + 1, int(b.max()) + 1)
            cells = np.ravel_multi_index((a, b), shape)
            counts = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
            shared = mutual_info_score(None, None, contingency=counts)
            information[high, low] = information[low, high] = shared
    return information
