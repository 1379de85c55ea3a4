"""What a configuration asks about each ranking as a whole. Its rules: `rules`."""

from dataclasses import dataclass
from typing import Annotated, Literal

from ..records.value_rules import Range

GOALS = ("simplification", "exploration", "domain validation", "discovery")
"""What importance is used for: Biecek and Burzykowski (2021), section 16.1."""

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
class SignificanceSection:
    """How much each ranking would measure if the target meant nothing.

    Attributes
    ----------
    shuffles : int
        Random orders of the target on which every ranking of the data is measured
        again, with all its repeats; 0 leaves p-values out.
    """

    shuffles: Annotated[int, Range(least=0)] = 0


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


@dataclass(frozen=True, kw_only=True, eq=False)
class SelectionSection:
    """How well models predict from the features that PERF keeps (Fokoué, eq. 1.1).

    Attributes
    ----------
    splits : int
        Random splits of the training rows. On one side of each, the first entry of
        method `random_subspace` keeps the features whose PERF is above 0, every other
        ranking as many from its top, and models are fitted; the other side judges
        them, by the loss of that entry. 0 leaves it out.
    fraction : float
        Share of the training rows that judge.
    """

    splits: Annotated[int, Range(least=0)] = 0
    fraction: Annotated[float, Range(above=0, below=1)] = 0.2
