"""The rows on which interactions are measured, drawn for each repeat; row limits."""

from collections.abc import Callable
from typing import Literal

import numpy as np

from ...records.dataset_and_model import Dataset, Floats
from ...records.errors import NotApplicable
from ...records.r_rng import RStream
from ...records.streams import stream as generator_of

Stream = Literal["numpy", "hstats"]


def rows_within(n_samples: int, **options: int | None) -> None:
    """Refuse numbers of rows that cannot be drawn; None stands for all rows."""
    for name, n_rows in options.items():
        if n_rows is not None and n_rows > n_samples:
            raise ValueError(
                f"{name} must be at most {n_samples}, the rows there are; {n_rows} was "
                "given."
            )


def repeated(
    of_rows: Callable[[Dataset], Floats],
    data: Dataset,
    seed: int,
    stream: Stream,
    n_repeats: int,
    n_rows: int | None,
) -> tuple[Floats, Floats]:
    """Return the values on each draw of rows, computed once if all rows are used."""
    if stream == "hstats" and n_repeats > 1:
        raise NotApplicable(
            f"Stream 'hstats' must have one repeat; n_repeats is {n_repeats}. "
            "Use the numpy stream."
        )
    values: list[Floats] = []
    for repeat in range(n_repeats):
        rows = draw_rows(data, n_rows, seed=seed, stream=stream, repeat=repeat)
        takes_all = n_rows is None or n_rows >= int((data.weights > 0).sum())
        values.append(values[0] if values and takes_all else of_rows(rows))
    raw = np.stack(values, axis=1)
    return raw, np.zeros(raw.shape[1:])


def draw_rows(
    data: Dataset,
    n_rows: int | None,
    *,
    seed: int,
    stream: Stream = "numpy",
    repeat: int = 0,
) -> Dataset:
    """Return `n_rows` of the rows, in their order; all if there are no more.

    They are drawn without replacement from the rows that have a weight ("numpy"), or
    from all as by R's ``set.seed(seed); sample(n, n_rows)`` ("hstats").

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
