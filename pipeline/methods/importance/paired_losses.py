"""Loss of each row without a feature, less its loss with it: the data of paired tests.

The tests are in `paired_tests`; `row_terms` has the effect of rows on an importance.
"""

from collections.abc import Sequence

import numpy as np

from ...records.dataset_and_model import Floats
from ...records.losses import OF_ROWS, Array
from .exchange import Index
from .permutation_draws import Answer, Draw

ROUNDING = 1e-9
"""As a share of the mean loss: a row whose loss changes by less is unchanged."""


class PairedLosses:
    """Losses of the same rows with and without each feature of one question.

    Attributes
    ----------
    totals : dict of str to ndarray of shape (n_features, n_samples)
        By loss, the sum over repeats of the loss without the feature less that with it.
        A loss that is not a mean over rows has no row losses.
    n_asked : ndarray of shape (n_features, n_samples)
        Number of repeats in which the row was used.
    weights : ndarray of shape (n_samples,)
        Weights of the rows that were used.
    sizes : dict of str to float
        By loss, its mean over rows with every feature, the largest of the repeats.
    """

    def __init__(self, losses: Sequence[str], n_features: int, n_samples: int) -> None:
        names = [name for name in losses if name in OF_ROWS]
        self.totals = {name: np.zeros((n_features, n_samples)) for name in names}
        self.n_asked = np.zeros((n_features, n_samples), dtype=np.int32)
        self.weights = np.zeros(n_samples)
        self.sizes = dict.fromkeys(names, 0.0)

    def start(self, rows: Index, answer: Answer) -> None:
        """Store the losses of the rows with every feature, for comparison."""
        y, prediction, _ = answer
        self._intact = {name: _losses(name, y, prediction) for name in self.totals}
        for name, loss in self._intact.items():
            mean = float(loss.mean()) if np.isfinite(loss).all() else 0.0
            self.sizes[name] = max(self.sizes[name], mean)

    def add(self, draw: Draw, answer: Answer) -> None:
        """Add one repeat of one feature.

        Parameters
        ----------
        draw : Draw
            Of the rows that `start` got, each once.
        answer : (y, prediction, weights)
            Target, predictions and weights of these rows, without the feature.
        """
        feature, rows = draw.what, draw.rows
        y, prediction, weights = answer
        self.weights[rows] = weights
        self.n_asked[feature, rows] += 1
        for name, totals in self.totals.items():
            with np.errstate(invalid="ignore"):  # two infinite losses: not a number
                rise = _losses(name, y, prediction) - self._intact[name]
            totals[feature, rows] += rise

    def differences(self, loss: str, feature: int) -> Floats:
        """Return the mean difference over repeats of each row that has a weight.

        Parameters
        ----------
        loss : str
            A key of `totals`.
        feature : int

        Returns
        -------
        ndarray of shape (n_rows,)
            The rows used in some repeat with a positive weight: differences times the
            weight over the mean weight.
        """
        n_asked = self.n_asked[feature]
        at = np.flatnonzero((n_asked > 0) & (self.weights > 0))
        weights = self.weights[at]
        means = self.totals[loss][feature, at] / n_asked[at]
        means[np.abs(means) <= ROUNDING * self.sizes[loss]] = 0.0
        return np.asarray(means * (weights / weights.mean()))


def _losses(name: str, y: Array, prediction: Array) -> Floats:
    """Return the loss of each row as a number; a misclassification is 1."""
    return np.asarray(OF_ROWS[name](y, prediction), dtype=np.float64)
