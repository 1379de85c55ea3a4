"""How the columns of a feature or group are redrawn, and in which order.

`draws_of` yields the draws of all repeats and groups: by default the values of other
rows in the order of one permutation, as numpy or an R package draws it; otherwise
within leaves, with replacement, from a normal or from near rows. `permutation` predicts
them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...records.dataset_and_model import Dataset
from ...records.errors import NotApplicable
from ...records.streams import stream as generator_of
from .conditional import Given, near_of, normal_of, replayed_given
from .exchange import Index, drawn_within, leaves_of, permuted_within
from .neighbours import Convention
from .permutation_draws import BASELINE, DRAWS, Draw, Draws, Perturbation, Stream

Within = Literal["none", "leaves", "gaussian", "neighbours"]
GIVEN = ("gaussian", "neighbours")
"""The values of `within` that draw from a distribution given the other columns."""


@dataclass(frozen=True)
class Exchange:
    """Values of other rows of the same stratum.

    Attributes
    ----------
    strata : ndarray of shape (n_samples,)
    perturbation : {"permute", "resample"}
        Each value of a stratum once, or values drawn with replacement.
    """

    strata: Index
    perturbation: Perturbation

    def drawn(self, draw: Draw, generator: np.random.Generator) -> Draw:
        """Return a draw of these rows, in an order drawn by a Generator."""
        order = {"permute": permuted_within, "resample": drawn_within}
        own = order[self.perturbation](self.strata[draw.rows], generator)
        return draw._replace(order=own)


def draws_of(
    data: Dataset,
    *,
    seed: int,
    stream: Stream,
    n_repeats: int,
    n_rows: int | None,
    perturbation: Perturbation,
    within: Within,
    min_samples_leaf: int,
    n_neighbours: int,
    convention: Convention,
) -> Draws:
    """Return the draws for these options of `permutation`.

    Raises
    ------
    NotApplicable
        As `permutation`.
    """
    names = tuple(data.groups)
    in_order = DRAWS[stream](seed, names, data.n_samples, n_repeats, n_rows)
    if (perturbation, within) == ("permute", "none"):
        return in_order
    is_given = within in GIVEN
    if is_given and perturbation != "permute":
        raise NotApplicable(
            f'within = "{within}" draws the values of each row by themselves, so there '
            f'is nothing to set perturbation = "{perturbation}" for. Leave it out.'
        )
    if stream != "numpy" and not (is_given and stream == "xplainfi"):
        asked = {"within": within, "perturbation": perturbation}
        option = "within" if within != "none" else "perturbation"
        raise NotApplicable(
            f'{stream} does not draw with {option} = "{asked[option]}". Leave {option} '
            "or the engine out."
        )
    if convention == "xplainfi" and within == "neighbours" and n_neighbours == 1:
        raise NotApplicable(
            'With convention = "xplainfi" a row is the nearest of its own neighbours, '
            "so one neighbour changes nothing. Set n_neighbours to 2 or more."
        )

    def sampler(name: str) -> Given | Exchange:
        if within == "gaussian":
            return normal_of(data, name)
        if within == "neighbours":
            return near_of(data, name, n_neighbours, convention)
        strata = np.zeros(data.n_samples, dtype=np.int64)
        if within == "leaves":
            strata = leaves_of(data, name, seed=seed, min_samples_leaf=min_samples_leaf)
        return Exchange(strata, perturbation)

    samplers: list[Any] = [sampler(name) for name in names]
    if stream == "xplainfi":
        return replayed_given(in_order, samplers, names, seed)
    purpose = "given" if is_given else perturbation
    return redrawn(in_order, samplers, names, seed, purpose)


def redrawn(
    draws: Draws,
    samplers: Sequence[Given | Exchange],
    names: Sequence[str],
    seed: int,
    purpose: str,
) -> Draws:
    """Yield numpy's draws, each group redrawn by a Generator of its own.

    `purpose` selects the streams of these Generators.
    """
    for draw in draws:
        if draw.what == BASELINE:
            yield draw
            continue
        generator = generator_of(seed, purpose, names[draw.what], draw.repeat)
        yield samplers[draw.what].drawn(draw, generator)
