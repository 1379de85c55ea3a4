"""The rows on which interactions are measured, drawn for each repeat; row limits."""

from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt

from ...records.dataset_and_model import Dataset, Floats
from ...records.errors import NotApplicable, listed
from ...records.r_rng import RStream
from ...records.streams import stream as generator_of

Stream = Literal["numpy", "hstats"]
Index = npt.NDArray[np.int64]


def rows_within(n_samples: int, **options: int | None) -> None:
    """Refuse numbers of rows that cannot be drawn; None stands for all rows."""
    for name, n_rows in options.items():
        if n_rows is not None and n_rows > n_samples:
            raise ValueError(
                f"{name} must be at most {n_samples}, the rows there are; {n_rows} was "
                "given."
            )


def refuse_unlike(
    method: str, package: str, data: Dataset, unlike: dict[str, bool]
) -> None:
    """Refuse to replay a package that lacks something; groups and weights included."""
    joined = [name for name, columns in data.groups.items() if len(columns) != 1]
    needs = unlike | {
        "equal row weights": data.is_weighted,
        f"one column per group, not {listed(joined)}": bool(joined),
    }
    for need, lacks in needs.items():
        if lacks:
            raise NotApplicable(
                f"Method {method!r} must have {need} to replay {package}; it does not. "
                "Ask for it without naming an R engine."
            )


def draw_places(
    seed: int, purpose: str, repeat: int, places: Index, n: int | None
) -> Index:
    """Return `n` places, drawn and in their order; all of them if `n` is None."""
    if n is None or n >= len(places):
        return places
    generator = generator_of(seed, purpose, "", repeat)
    return np.sort(generator.choice(places, n, replace=False, shuffle=False))


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
    if stream == "numpy":
        weighing = np.flatnonzero(data.weights > 0)
        places = draw_places(seed, "rows", repeat, weighing, n_rows)
    elif n_rows is None or n_rows >= data.n_samples:
        return data
    else:
        places = np.sort(RStream(seed).sample(data.n_samples, n_rows))
    if len(places) == data.n_samples:
        return data
    return data.part(data.features, places).with_groups(data.groups)
