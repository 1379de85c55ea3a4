"""The result of a method, with the details it kept of the rows."""

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
    """Return the value of each group's columns, (n_groups, 1, 1), and zero."""
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
        The contribution of each row to each importance, if requested.
    paired_losses : PairedLosses, optional
        The losses of each row with and without each feature, if requested.
    segment_losses : SegmentLosses, optional
        The results of the same draws in each segment, if there are segments.
    y_permuted : ndarray of shape (n_repeats, n_scores), optional
        The losses with the target permuted, if the engine computes them.
    quantity : str
        The quantity that was read from the model, if there is a choice.
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
        """Yield `raw` and `baseline`."""
        yield self.raw
        yield self.baseline
