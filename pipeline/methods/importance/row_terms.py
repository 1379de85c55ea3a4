r"""Contribution of each row to an importance, by its own loss and by its values.

A permutation importance is, in expectation, a mean over all pairs of rows: of row *i*,
given the values of *j* of row *k*. With other rows both change, so a row contributes
twice: by its own loss, and by the losses of the rows that are given its values.
Weighting its own loss only omits the second part, and with it half of the standard
deviation for a linear model. With :math:`\varphi_r(i)` the influence of row *i* on the
rise of the loss in repeat *r* (`records.influence`, permuted less unpermuted) and
:math:`\pi_r(i)` the row whose values it is given,

.. math:: z_i = \frac1R \sum_r \varphi_r(i)
   + \frac1R \sum_{r,\,l:\,\pi_r(l) = i} \varphi_r(l)

is the contribution of row *i*: on rows resampled to hold it :math:`c_i` times, the rise
moves by :math:`\sum_i c_i z_i / n` (Hoeffding's projection of a V-statistic). A feature
that the model does not read has 0 in every row.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...records.influence import INFLUENCE
from ...records.losses import Array
from .exchange import Index
from .permutation_draws import Answer, Draw


class RowTerms:
    """Contribution of each row to the rises of the losses of one question.

    Attributes
    ----------
    terms : dict of str to ndarray of shape (n_features, n_samples)
        By loss, :math:`z` above, in the unit of the loss; each row of it has mean 0. A
        row that is not drawn in a repeat adds nothing there, and sums are divided by
        the share drawn, so that drawn rows represent all. A loss without influence
        values has no terms.
    noise : dict of str to ndarray of shape (n_features,)
        By loss, the part of the variance of `terms` that is due to the draws:
        :math:`\\sum_r \\overline{\\varphi_r^2} / R^2`, over the share drawn. With
        a, b and c the parts of :math:`\\varphi` that depend on the row, on the lender
        and on both together, terms have the variance of a + b, which is wanted, plus
        that of a and b once and of c twice, over R; the mean itself has that of c over
        R.
    """

    def __init__(
        self, losses: Sequence[str], n_features: int, n_samples: int, n_repeats: int
    ) -> None:
        names = [name for name in losses if name in INFLUENCE]
        self._n_samples, self._n_repeats, self._n_starts = n_samples, n_repeats, 0
        self.terms = {name: np.zeros((n_features, n_samples)) for name in names}
        self.noise = {name: np.zeros(n_features) for name in names}
        self._sums = {name: np.zeros(n_samples) for name in names}

    def start(self, rows: Index, answer: Answer) -> None:
        """Store the influence of the unpermuted rows, for comparison."""
        self._unpermuted = {name: INFLUENCE[name](*answer) for name in self.terms}
        self._n_starts += 1
        for name, influence in self._unpermuted.items():
            self._sums[name][rows] += influence * self._n_samples / len(rows)

    def of_baseline(self, loss: str) -> Array:
        """Return each row's contribution to the unpermuted loss, (n_samples,)."""
        return self._sums[loss] / self._n_starts

    def add(self, draw: Draw, answer: Answer) -> None:
        """Add one repeat of one feature.

        Parameters
        ----------
        draw : Draw
            A draw that has each of its rows once.
        answer : (y, prediction, weights)
            Target, predictions and weights of these rows, permuted.
        """
        feature, rows, order = draw.what, draw.rows, draw.order
        scale = self._n_samples / (len(rows) * self._n_repeats)
        is_whole = np.array_equal(rows, np.arange(self._n_samples))
        at: Any = slice(None) if is_whole else rows  # a slice takes a tenth of the time
        for name, terms in self.terms.items():
            with np.errstate(invalid="ignore"):  # not measured: NaN
                own = INFLUENCE[name](*answer) - self._unpermuted[name]
            lent = np.bincount(order, weights=own, minlength=len(rows))
            terms[feature, at] += scale * (own + lent)
            with np.errstate(over="ignore"):
                square = float((own * own).mean())
            self.noise[name][feature] += scale * square / self._n_repeats

    def spread_over(self, counts: npt.NDArray[np.int64]) -> None:
        """Divide by the number of repeats of each feature, where there are fewer."""
        share = self._n_repeats / np.maximum(counts, 1)
        for name, terms in self.terms.items():
            terms *= share[:, np.newaxis]
            self.noise[name][:] *= share**2

    def add_expected(self, feature: int, expected: Mapping[str, Array]) -> None:
        """Set the terms of one feature over all permutations, which have no noise.

        Parameters
        ----------
        feature : int
        expected : mapping of str to ndarray of shape (n_samples,)
            By name, the influence of each row on the mean loss over all permutations,
            by its own loss and by its values.
        """
        for name, terms in self.terms.items():
            with np.errstate(invalid="ignore"):  # not measured: NaN
                terms[feature] = expected[name] - self._unpermuted[name]
