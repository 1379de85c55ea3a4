"""What an importance says whose repeats are trials: the question put to other rows."""

import numpy as np
import numpy.typing as npt

from .importance_record import Importance

LEAST = 2.0
"""Standard deviations over the trials that a mean must reach to be stable."""


def is_of_trials(importance: Importance) -> bool:
    """Return whether each repeat has rows of its own, not only draws of its own."""
    return importance.options.get("resample", "none") in ("subsample", "bootstrap")


def unstable(importance: Importance) -> npt.NDArray[np.bool_]:
    """Return which features have a mean under two standard deviations over the trials.

    The rule of Parr, Wilson and Hamrick (2020) [1]_. Of repeats on the same rows it
    says nothing: their spread is that of the draws, and falls to nothing.

    Returns
    -------
    ndarray of shape (n_features,)
        False where nothing was measured, after a single trial, and for repeats that
        are no trials.

    References
    ----------
    .. [1] Parr, Wilson and Hamrick (2020). Nonparametric Feature Impact and
       Importance. arXiv:2006.04750. doi:10.48550/arXiv.2006.04750
    """
    if not is_of_trials(importance):
        return np.zeros(len(importance.features), dtype=bool)
    return np.asarray(importance.mean < LEAST * importance.std)
