"""Order of the levels of a category by the similarity of their rows."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...data.column_types import is_category

N_QUANTILES = 100


def by_similarity(X: pd.DataFrame, feature: str) -> npt.NDArray[np.int64]:
    r"""Return the codes of the levels that rows have, similar levels side by side.

    The distance of two levels is a sum over all other columns of the distance of their
    rows: for a number the largest difference of the two distribution functions at 100
    quantiles of all rows, for a category half the sum of absolute differences of
    shares. Classical scaling of these distances gives each level a position on a line.
    The level with the lowest code is in the first half of the order, which is that of
    R's iml and ALEPlot [1]_.

    Parameters
    ----------
    X : DataFrame of shape (n_samples, n_columns)
    feature : str
        A category.

    Returns
    -------
    ndarray of shape (n_levels,)

    References
    ----------
    .. [1] Apley and Zhu (2020). Visualizing the effects of predictor variables in
       black box supervised learning models. Journal of the Royal Statistical Society
       B 82(4), 1059-1086. doi:10.1111/rssb.12377
    """
    codes, level = np.unique(X[feature].cat.codes, return_inverse=True)
    distance = np.zeros((len(codes), len(codes)))
    for name in X.columns.drop(feature):
        # Shares of the rows of each level: at each value, or up to quantiles.
        if is_level := is_category(X[name]):
            values = X[name].cat.codes.to_numpy()
            is_at = values == np.unique(values)[:, np.newaxis]
        else:
            values = X[name].to_numpy(np.float64)
            points = np.nanquantile(values, np.linspace(0, 1, N_QUANTILES))
            is_at = values <= points[:, np.newaxis]
        counts = np.stack([np.bincount(level, row) for row in is_at.astype(np.float64)])
        profile = np.asarray((counts / np.bincount(level)).T)  # (n_levels, n_points)
        gaps = np.abs(profile[:, np.newaxis] - profile)
        distance += gaps.sum(axis=2) / 2 if is_level else gaps.max(axis=2)
    squares = distance**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, np.newaxis]
    _, vectors = np.linalg.eigh(-(centred + squares.mean()) / 2)
    order = np.argsort(vectors[:, -1], kind="stable")
    is_turned = 2 * np.argmin(order) > len(order) - 1
    return np.asarray(codes[order[::-1] if is_turned else order])
