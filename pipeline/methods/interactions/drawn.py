"""Which rows an interaction is measured on. Not: what is measured there."""

from typing import Literal

import numpy as np

from ...records.dataset_and_model import Dataset
from ...records.r_rng import RStream
from ...records.streams import stream as generator_of

Stream = Literal["numpy", "hstats"]


def draw_rows(
    data: Dataset,
    n_rows: int | None,
    *,
    seed: int,
    stream: Stream = "numpy",
    repeat: int = 0,
) -> Dataset:
    """Return `n_rows` of the rows, in their order; all where there are no more.

    Drawn without replacement from the rows that have a weight ("numpy"), or as R's
    ``set.seed(seed); sample(n, n_rows)`` draws from all ("hstats").

    Raises
    ------
    ValueError
        If `n_rows` is less than 2.
    """
    if n_rows is not None and n_rows < 2:
        raise ValueError(f"n_rows must be at least 2; {n_rows} was given.")
    replays = stream == "hstats"
    weighing = np.flatnonzero(data.weights > 0)
    places = np.arange(data.n_samples) if replays else weighing
    if n_rows is not None and n_rows < len(places):
        if replays:
            places = np.sort(RStream(seed).sample(data.n_samples, n_rows))
        else:
            generator = generator_of(seed, "rows", "", repeat)
            rows = generator.choice(places, n_rows, replace=False, shuffle=False)
            places = np.sort(rows)
    if len(places) == data.n_samples:
        return data
    return data.part(data.features, places).with_groups(data.groups)
