"""What a configuration asks about each ranking as a whole. Its rules: `rules`."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pipeline.rules import Range

Protocol = Literal["folds", "holdout"]


@dataclass(frozen=True, kw_only=True, eq=False)
class StabilitySection:
    """How stable each ranking is: over resampled rows, and over more repeats.

    Attributes
    ----------
    resamples : int
        Bootstrap resamples of the rows on which every ranking is measured again, the
        model as it is; 0 leaves stability out.
    n_repeats : int
        Repeats in each resample, at most those of the entry; fewer widen the intervals
        by the noise of the repeats.
    """

    resamples: Annotated[int, Range(least=0)] = 0
    n_repeats: int = 1


@dataclass(frozen=True, kw_only=True, eq=False)
class TopKSection:
    """How well models predict from the first features of each ranking.

    Attributes
    ----------
    k : int
        The most features of a ranking that models are fitted to; 0 leaves it out.
    folds : int
        Parts of the training rows that are left out in turn.
    protocols : tuple of str
        Who sees what: "folds", rankings by the training rows only, judged by folds of
        them; "holdout", judged once by the test rows, on which fitted models were also
        asked for their ranking.
    all_rows : tuple of str
        Methods and models whose rankings are by all rows under "holdout".
    """

    k: Annotated[int, Range(least=0)] = 0
    folds: Annotated[int, Range(least=2)] = 5
    protocols: Annotated[tuple[Protocol, ...], Range(least=1)] = ("folds",)
    all_rows: tuple[str, ...] = ()
