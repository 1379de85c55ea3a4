"""How the columns of a feature or group are redrawn, and in which order.

`draws_of` yields the draws of all repeats and groups: by default the values of other
rows in the order of one permutation, as numpy or an R package draws it; otherwise
within leaves, with replacement, from a normal or from near rows. `permutation` predicts
them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

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
    _refuse_unavailable(stream, perturbation, within)
    names = tuple(data.groups)
    in_order = DRAWS[stream](seed, names, data.n_samples, n_repeats, n_rows)
    if (perturbation, within) == ("permute", "none"):
        return in_order
    if within in GIVEN:
        given = _given_others(data, within, n_neighbours, convention)
        if stream == "xplainfi":
            return replayed_given(in_order, given, names, seed)
        return redrawn(in_order, given, names, seed, "given")
    strata = [np.zeros(data.n_samples, dtype=np.int64)] * len(names)
    if within == "leaves":
        leaves = partial(leaves_of, seed=seed, min_samples_leaf=min_samples_leaf)
        strata = [leaves(data, name) for name in names]
    own = [Exchange(stratum, perturbation) for stratum in strata]
    return redrawn(in_order, own, names, seed, perturbation)


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


def _given_others(
    data: Dataset, within: Within, n_neighbours: int, convention: Convention
) -> list[Given]:
    """Return the sampler of each group given all other columns."""
    if within == "gaussian":
        return [normal_of(data, name) for name in data.groups]
    if convention == "xplainfi" and n_neighbours == 1:
        raise NotApplicable(
            'With convention = "xplainfi" a row is the nearest of its own neighbours, '
            "so one neighbour changes nothing. Set n_neighbours to 2 or more."
        )
    near = partial(near_of, n_neighbours=n_neighbours, convention=convention)
    return [near(data, name) for name in data.groups]


def _refuse_unavailable(stream: str, perturbation: str, within: str) -> None:
    """Refuse options that no R package has, or that have nothing to resample."""
    if (perturbation, within) == ("permute", "none"):
        return
    options = {"perturbation": perturbation, "within": within}
    if within in GIVEN and perturbation != "permute":
        raise NotApplicable(
            f'within = "{within}" draws the values of each row by themselves, so there '
            f'is nothing to set perturbation = "{perturbation}" for. Leave it out.'
        )
    if stream == "xplainfi" and within in GIVEN:
        return
    if stream != "numpy":
        option = "within" if within != "none" else "perturbation"
        raise NotApplicable(
            f'{stream} does not draw with {option} = "{options[option]}". Leave '
            f"{option} or the engine out."
        )
