"""Draws of permutation importance, in numpy's order or in that of an R package.

The measured values follow from the draws alone.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from ...records.errors import NotApplicable
from ...records.r_rng import RStream
from ...records.streams import stream as generator_of
from .exchange import Index
from .sampled_rows import draw_places

Stream = Literal["numpy", "vip-0.4", "vip-0.5", "DALEX", "hstats", "xplainfi"]
Perturbation = Literal["permute", "resample"]
BASELINE, TARGET = -1, -2
"""Values of `Draw.what` that are not a group."""
REPEAT_BY_REPEAT = ("numpy", "DALEX", "vip-0.4", "vip-0.5")
"""Streams that end a repeat before the next begins, so fewer repeats are the first."""


class Draw(NamedTuple):
    """A group, the baseline or the target of one repeat, with rows and new values.

    Attributes
    ----------
    repeat : int
    what : int
        The position of a group among all groups, or `BASELINE` or `TARGET`.
    rows : ndarray of shape (n_rows,)
        The rows used, by their position in the data; the same object as long as they
        stay the same.
    order : ndarray of shape (n_rows,)
        For each of them, the one whose values it gets.
    values : tuple of array of shape (n_rows,)
        For each column of the group, the new values of the rows if they are not those
        of other rows; otherwise empty.
    """

    repeat: int
    what: int
    rows: Index
    order: Index
    values: tuple[Any, ...] = ()


Draws: TypeAlias = Iterator[Draw]
Answer: TypeAlias = tuple[Any, Any, Any]
"""The target, the predictions and the weights of the rows of a draw."""


def _numpy_draws(
    seed: int, names: tuple[str, ...], n: int, n_repeats: int, n_rows: int | None
) -> Draws:
    """Yield the draws of `permutation`, one Generator per feature and repeat."""
    every = np.arange(n)
    for repeat in range(n_repeats):
        rows = draw_places(seed, "rows", repeat, every, n_rows)
        yield Draw(repeat, BASELINE, rows, np.arange(len(rows)))
        for what, name in enumerate(names):
            generator = generator_of(seed, "permute", name, repeat)
            yield Draw(repeat, what, rows, generator.permutation(len(rows)))


def numpy_targets(
    seed: int, names: tuple[str, ...], n: int, n_repeats: int, n_rows: int | None
) -> Draws:
    """Yield the draws of `permuted_target`, on the rows of `_numpy_draws`."""
    every = np.arange(n)
    for repeat in range(n_repeats):
        rows = draw_places(seed, "rows", repeat, every, n_rows)
        generator = generator_of(seed, "y", "", repeat)
        yield Draw(repeat, TARGET, rows, generator.permutation(len(rows)))


def _vip_04_draws(
    seed: int, names: tuple[str, ...], n: int, n_repeats: int, n_rows: int | None
) -> Draws:
    """Yield the draws of vip 0.4, which samples the rows from the previous sample."""
    r = RStream(seed)
    rows = everything = np.arange(n)
    for repeat in range(n_repeats):
        yield Draw(repeat, BASELINE, everything, np.arange(n))
        for what in range(len(names)):
            if n_rows is not None:
                rows = rows[r.sample(len(rows), n_rows)]
            yield Draw(repeat, what, rows, r.sample(len(rows)))


def _draws_by_repeat(
    seed: int,
    names: tuple[str, ...],
    n: int,
    n_repeats: int,
    n_rows: int | None,
    *,
    draws_all: bool,
    before: tuple[int, ...],
) -> Draws:
    """Yield the draws of vip 0.5 and DALEX: rows, what is `before`, then variables.

    With `draws_all`, as in vip 0.5, rows are drawn even if all are used.
    """
    r = RStream(seed)
    rows = np.arange(n)
    for repeat in range(n_repeats):
        if n_rows is not None and (draws_all or n_rows < n):
            rows = r.sample(n, n_rows)
        yield Draw(repeat, BASELINE, rows, np.arange(len(rows)))
        for what in (*before, *range(len(names))):
            yield Draw(repeat, what, rows, r.sample(len(rows)))


def in_order_of_xplainfi(names: Sequence[str]) -> list[int]:
    """Return the positions of names in the order in which xplainfi takes them."""
    return sorted(range(len(names)), key=lambda what: names[what].encode())


def _draws_by_variable(
    seed: int,
    names: tuple[str, ...],
    n: int,
    n_repeats: int,
    n_rows: int | None,
    *,
    in_order: Callable[[Sequence[str]], list[int]],
) -> Draws:
    """Yield the draws of hstats and xplainfi: rows if not all are used, variables."""
    r = RStream(seed)
    rows = np.arange(n)
    if n_rows is not None and n_rows < n:
        rows = r.sample(n, n_rows)
    for repeat in range(n_repeats):
        yield Draw(repeat, BASELINE, rows, np.arange(len(rows)))
    for what in in_order(names):
        for repeat in range(n_repeats):
            yield Draw(repeat, what, rows, r.sample(len(rows)))


def _xplainfi_draws(
    seed: int, names: tuple[str, ...], n: int, n_repeats: int, n_rows: int | None
) -> Draws:
    """Yield the draws of xplainfi, which takes variables in alphabetical order."""
    if n_rows is not None and n_rows < n:
        raise NotApplicable(
            f"xplainfi permutes all {n} rows, but n_rows = {n_rows} was asked. Leave "
            "n_rows or the engine out."
        )
    of_all = seed, names, n, n_repeats, None
    yield from _draws_by_variable(*of_all, in_order=in_order_of_xplainfi)


DRAWS: dict[str, Callable[[int, tuple[str, ...], int, int, int | None], Draws]] = {
    "numpy": _numpy_draws,
    "vip-0.4": _vip_04_draws,
    "vip-0.5": partial(_draws_by_repeat, draws_all=True, before=()),
    "DALEX": partial(_draws_by_repeat, draws_all=False, before=(TARGET,)),
    "hstats": partial(_draws_by_variable, in_order=lambda names: [*range(len(names))]),
    "xplainfi": _xplainfi_draws,
}
"""By stream; draws of those in `REPEAT_BY_REPEAT` come repeat by repeat."""
