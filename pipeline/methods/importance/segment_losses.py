r"""The losses of parts of the rows with and without each feature, as draws are made.

The importance of feature *j* in a segment *S* of the rows is

.. math:: \mathrm{VI}_j(S) = L_S(y, f(X^{\pi j})) - L_S(y, f(X)),

with :math:`L_S` the loss of the rows of *S* and :math:`\pi` a permutation of all rows:
no model is asked once more. Not: which rows are a segment (`assess.segments`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ...records.dataset_and_model import Floats, Form
from ...records.influence import INFLUENCE
from ...records.losses import Array, evaluate
from .exchange import Index
from .permutation_draws import Answer, Draw


@dataclass(kw_only=True)
class SegmentLosses:
    """What one question measured in each segment.

    Attributes
    ----------
    losses : tuple of str
        Those of the model.
    form : {"difference", "ratio", "raw"}
        How an importance follows from the loss with and without permuting.
    segments : sequence of ndarray of shape (n_rows,)
        The rows of each segment, by their place in the data.
    n_features, n_samples, n_repeats : int
    permuted : ndarray of shape (n_segments, n_features, n_repeats, n_losses)
        The loss of the rows of a segment that a repeat asks, one feature permuted; NaN
        where it asks none of them.
    unpermuted : ndarray of shape (n_segments, n_repeats, n_losses)
        The same with nothing permuted.
    """

    losses: tuple[str, ...]
    form: Form
    segments: Sequence[Index]
    n_features: int
    n_samples: int
    n_repeats: int
    permuted: Floats = field(init=False)
    unpermuted: Floats = field(init=False)

    def __post_init__(self) -> None:
        shape = len(self.segments), self.n_features, self.n_repeats, len(self.losses)
        self.permuted = np.full(shape, np.nan)
        self.unpermuted = np.full((shape[0], *shape[2:]), np.nan)
        self._n_made = np.zeros(self.n_features, dtype=np.int64)
        self._sums: list[Mapping[str, Floats]] = [
            {
                name: np.zeros((self.n_features, len(rows)))
                for name in self.losses
                if name in INFLUENCE
            }
            for rows in self.segments
        ]

    def start(self, rows: Index, answer: Answer) -> None:
        """Take the rows of a repeat, nothing permuted."""
        place = np.full(self.n_samples, -1)
        place[rows] = np.arange(len(rows))
        self._asked = [place[own] >= 0 for own in self.segments]
        self._places = [place[own][place[own] >= 0] for own in self.segments]
        self._intact = [self._judge(answer, at) for at in self._places]

    def add(self, draw: Draw, answer: Answer, loss: Floats, baseline: Floats) -> None:
        """Add one repeat of one feature: the same rows with this feature permuted."""
        feature, repeat = draw.what, draw.repeat
        self._n_made[feature] += 1
        for s, (at, (before, of_intact)) in enumerate(
            zip(self._places, self._intact, strict=True)
        ):
            if not len(at):
                continue
            after, of_rows = self._judge(answer, at)
            self.unpermuted[s, repeat] = before
            self.permuted[s, feature, repeat] = after
            for name, sums in self._sums[s].items():
                k, influence = self.losses.index(name), of_rows[name]
                with np.errstate(divide="ignore", invalid="ignore"):  # unmeasured: NaN
                    if self.form == "difference":
                        influence = influence - of_intact[name]
                    elif self.form == "ratio":
                        move = after[k] / before[k] * of_intact[name]
                        influence = (influence - move) / before[k]
                sums[feature, self._asked[s]] += influence / len(at)

    def std_errors(self, segment: int, loss: str) -> Floats:
        """Return the standard error over rows of each mean importance, (n_features,).

        To first order, from what each row of the segment adds by its own loss; NaN of a
        loss of which that is not known, or of a single row.
        """
        sums = self._sums[segment].get(loss)
        n = len(self.segments[segment])
        if sums is None or n < 2:
            return np.full(self.n_features, np.nan)
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            shares = sums / self._n_made[:, np.newaxis]
            return np.asarray(np.sqrt(np.square(shares).sum(axis=1) * n / (n - 1)))

    def _judge(
        self, answer: Answer, at: npt.NDArray[np.int64]
    ) -> tuple[Floats, dict[str, Array]]:
        """Return the losses of some rows, and the influence of each row on them."""
        if not len(at):
            return np.full(len(self.losses), np.nan), {}
        own = tuple(column[at] for column in answer)
        with np.errstate(all="ignore"):  # a class is absent, beyond floats: NaN
            influence = {
                name: INFLUENCE[name](*own) for name in self.losses if name in INFLUENCE
            }
            return evaluate(self.losses, *own), influence
