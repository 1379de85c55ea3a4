"""What a method measured of one question, and what it kept of the rows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...records.dataset_and_model import Dataset, Floats
from .paired_losses import PairedLosses
from .row_terms import RowTerms
from .segment_losses import SegmentLosses

Kept = Literal["row_terms", "paired_losses"]


def each_group(
    data: Dataset, measure: Callable[[tuple[str, ...]], float]
) -> tuple[Floats, Floats]:
    """Return what the columns of each group measure, (n_groups, 1, 1), and zero."""
    raw = [measure(columns) for columns in data.groups.values()]
    return np.reshape(raw, (-1, 1, 1)).astype(np.float64), np.zeros((1, 1))


@dataclass(frozen=True, eq=False)
class MethodResult:
    """The numbers with and without each feature; unpacks into these two.

    Attributes
    ----------
    raw : ndarray of shape (n_features, n_repeats, n_scores)
    baseline : ndarray of shape (n_repeats, n_scores)
    row_terms : RowTerms, optional
        What each row adds to each importance, if it was to be kept.
    paired_losses : PairedLosses, optional
        The losses of each row with and without each feature, likewise.
    segment_losses : SegmentLosses, optional
        What the same draws measure in each segment, if there are some.
    y_permuted : ndarray of shape (n_repeats, n_scores), optional
        The losses with the target permuted, where an engine measures them too.
    quantity : str
        What was read off the model, where there is a choice.
    is_exact : bool
        Whether nothing was drawn.
    """

    raw: Floats
    baseline: Floats
    row_terms: RowTerms | None = None
    paired_losses: PairedLosses | None = None
    segment_losses: SegmentLosses | None = None
    y_permuted: Floats | None = None
    quantity: str = ""
    is_exact: bool = False

    def __iter__(self) -> Iterator[Floats]:
        """Yield `raw` and `baseline`, which is all that most methods return."""
        yield self.raw
        yield self.baseline
