"""Importances over trials: repeats that each use their own resampled rows."""

import numpy as np
import numpy.typing as npt

from .importance_record import Importance

LEAST = 2.0
"""Least ratio of mean to standard deviation over the trials of a stable feature."""


def is_of_trials(importance: Importance) -> bool:
    """Return whether each repeat has its own rows, not only its own draws."""
    return importance.options.get("resample", "none") in ("subsample", "bootstrap")


def unstable(importance: Importance) -> npt.NDArray[np.bool_]:
    """Return whether the mean of each feature is below two standard deviations.

    This is the rule of Parr, Wilson and Hamrick (2020) [1]_, over the trials. It does
    not apply to repeats on the same rows, where the standard deviation reflects the
    draws only.

    Returns
    -------
    ndarray of shape (n_features,)
        False for features without a value, after a single trial, and for repeats that
        are not trials.

    References
    ----------
    .. [1] Parr, Wilson and Hamrick (2020). Nonparametric Feature Impact and
       Importance. arXiv:2006.04750. doi:10.48550/arXiv.2006.04750
    """
    if not is_of_trials(importance):
        return np.zeros(len(importance.features), dtype=bool)
    return np.asarray(importance.mean < LEAST * importance.std)
