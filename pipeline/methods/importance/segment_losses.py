r"""Losses of parts of the rows with and without each feature, from the same draws.

The importance of feature *j* in a segment *S* of the rows is

.. math:: \mathrm{VI}_j(S) = L_S(y, f(X^{\pi j})) - L_S(y, f(X)),

with :math:`L_S` the loss of the rows of *S* and :math:`\pi` a permutation of all rows:
no more predictions are needed. `assess.segments` defines segments.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ...records.dataset_and_model import Floats, Form
from ...records.influence import INFLUENCE
from ...records.losses import Array, evaluate
from .exchange import Index
from .permutation_draws import Answer, Draw


class SegmentLosses:
    """Results of one question in each segment.

    Attributes
    ----------
    losses : tuple of str
        The losses of the model.
    segments : sequence of ndarray of shape (n_rows,)
        The rows of each segment, by their position in the data.
    permuted : ndarray of shape (n_segments, n_features, n_repeats, n_losses)
        The loss of the rows of a segment that a repeat uses, one feature permuted; NaN
        if it uses none of them.
    unpermuted : ndarray of shape (n_segments, n_repeats, n_losses)
        The same with nothing permuted.
    """

    def __init__(
        self,
        losses: tuple[str, ...],
        form: Form,
        segments: Sequence[Index],
        n_features: int,
        n_samples: int,
        n_repeats: int,
    ) -> None:
        self.losses, self.segments, self._form = losses, segments, form
        self._n_samples = n_samples
        shape = len(segments), n_features, n_repeats, len(losses)
        self.permuted = np.full(shape, np.nan)
        self.unpermuted = np.full((shape[0], *shape[2:]), np.nan)
        self._n_made = np.zeros(n_features, dtype=np.int64)
        names = [name for name in losses if name in INFLUENCE]
        self._sums = [
            {name: np.zeros((n_features, len(rows))) for name in names}
            for rows in segments
        ]

    def start(self, rows: Index, answer: Answer) -> None:
        """Store the losses of the rows of a repeat, with nothing permuted."""
        place = np.full(self._n_samples, -1)
        place[rows] = np.arange(len(rows))
        self._is_used = [place[own] >= 0 for own in self.segments]
        self._places = [place[own][place[own] >= 0] for own in self.segments]
        self._reference = [self._evaluate(answer, at) for at in self._places]

    def add(self, draw: Draw, answer: Answer) -> None:
        """Add one repeat of one feature: the same rows with this feature permuted."""
        feature, repeat = draw.what, draw.repeat
        self._n_made[feature] += 1
        for s, (at, (before, of_reference)) in enumerate(
            zip(self._places, self._reference, strict=True)
        ):
            if not len(at):
                continue
            after, of_rows = self._evaluate(answer, at)
            self.unpermuted[s, repeat] = before
            self.permuted[s, feature, repeat] = after
            for name, sums in self._sums[s].items():
                k, influence = self.losses.index(name), of_rows[name]
                with np.errstate(divide="ignore", invalid="ignore"):  # unmeasured: NaN
                    if self._form == "difference":
                        influence = influence - of_reference[name]
                    elif self._form == "ratio":
                        move = after[k] / before[k] * of_reference[name]
                        influence = (influence - move) / before[k]
                sums[feature, self._is_used[s]] += influence / len(at)

    def std_errors(self, segment: int, loss: str) -> Floats:
        """Return the standard error over rows of each mean importance, (n_features,).

        To first order, from the contribution of each row's own loss; NaN for a loss
        without influence values, and for a single row.
        """
        sums = self._sums[segment].get(loss)
        n = len(self.segments[segment])
        if sums is None or n < 2:
            return np.full(len(self._n_made), np.nan)
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            shares = sums / self._n_made[:, np.newaxis]
            return np.asarray(np.sqrt(np.square(shares).sum(axis=1) * n / (n - 1)))

    def _evaluate(
        self, answer: Answer, at: npt.NDArray[np.int64]
    ) -> tuple[Floats, dict[str, Array]]:
        """Return the losses of some rows, and the influence of each row on them."""
        if not len(at):
            return np.full(len(self.losses), np.nan), {}
        own = tuple(column[at] for column in answer)
        with np.errstate(all="ignore"):  # a class is absent, or overflow: NaN
            influence = {
                name: INFLUENCE[name](*own) for name in self.losses if name in INFLUENCE
            }
            return evaluate(self.losses, *own), influence
