"""Members of a random subspace ensemble: drawn, fitted, evaluated out of bag."""

from collections.abc import Callable, Iterator
from functools import partial
from math import ceil, isqrt
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.errors import NotApplicable, quote
from ...records.execution import each
from ...records.losses import evaluate
from ...records.streams import stream as generator_of
from .refits import Unit, columns_of, training_rows

Index: TypeAlias = npt.NDArray[np.int64]
T = TypeVar("T")
Mask: TypeAlias = npt.NDArray[np.bool_]
TRIES = 100
CELLS = 2_000_000  # of the table in one call of predict


class Member(NamedTuple):
    """One model of the ensemble: the units it draws, and its loss out of bag."""

    place: int
    mask: Mask
    model: FittedModel
    out: Dataset
    score: Floats


def members_of(
    model: FittedModel,
    units: list[Unit],
    method: str,
    seed: int,
    n_repeats: int,
    n_drawn: int | None,
    measure: Callable[[Member], T],
) -> Iterator[T]:
    """Yield a measure of each member in turn; more members keep the first ones."""
    training_rows(model, method)
    d = number_drawn(model, len(units), method, n_drawn)
    make = partial(_measured, measure, model.unfitted(), units, method, seed, d)
    yield from each(make, range(n_repeats))


def _measured(
    measure: Callable[[Member], T],
    model: FittedModel,
    units: list[Unit],
    method: str,
    seed: int,
    n_drawn: int,
    place: int,
) -> T:
    """Return a measure of one member, which is drawn and fitted here."""
    train = training_rows(model, method)
    generator, units_drawn = _draw(seed, place, len(units), n_drawn)
    columns = columns_of(model, [units[k] for k in units_drawn])
    fit_seed = int(generator.integers(2**31))
    bag = _bag(generator, train, method)
    fitted = model.refit(columns, bag, seed=fit_seed)
    out = train.part(columns, out_of(bag, train.n_samples))
    prediction = fitted.predict(out.X)
    score = evaluate(model.losses, out.y, prediction, out.weights)
    mask = np.isin(np.arange(len(units)), units_drawn)
    return measure(Member(place, mask, fitted, out, score))


def masks_of(seed: int, n_units: int, n_drawn: int, n_repeats: int) -> Mask:
    """Return the units each member draws, (n_members, n_units), without a fit."""
    masks = np.zeros((n_repeats, n_units), dtype=bool)
    for place in range(n_repeats):
        masks[place, _draw(seed, place, n_units, n_drawn)[1]] = True
    return masks


def _draw(
    seed: int, place: int, n_units: int, n_drawn: int
) -> tuple[np.random.Generator, Index]:
    """Return the stream of one member after it drew its units, and the units."""
    generator = generator_of(seed, "member", "", place)
    return generator, generator.choice(n_units, n_drawn, replace=False, shuffle=False)


def number_drawn(
    model: FittedModel, n_units: int, method: str, n_drawn: int | None
) -> int:
    """Return the number of units that each member draws."""
    if n_units < 2:
        raise NotApplicable(
            f"Model {quote(model.name)} must read at least two features or groups for "
            f"method {method!r}, which compares models of some of them; it reads "
            f"{n_units}. Use drop_column."
        )
    if n_drawn is None:
        usual = ceil(n_units / 3)
        if model.task != "regression":
            usual = isqrt(n_units - 1) + 1
        return min(usual, n_units - 1)
    if not 1 <= n_drawn < n_units:
        raise ValueError(
            f"n_drawn must lie between 1 and {n_units - 1}, one less than the features "
            f"and groups there are; {n_drawn} was given."
        )
    return n_drawn


def _bag(generator: np.random.Generator, train: Dataset, method: str) -> Index:
    """Return the rows of a bootstrap sample, (n_samples,).

    It is drawn again if it cannot be fitted or evaluated: rows of positive weight, of
    every class, must be both in it and out of it.
    """
    n = train.n_samples
    for _ in range(TRIES):
        bag = generator.integers(n, size=n)
        if _is_whole(train, bag) and _is_whole(train, out_of(bag, n)):
            return bag
    raise NotApplicable(
        f"The training rows must be enough for method {method!r} to find some, of "
        "every class, both in and out of a bootstrap sample; "
        f"{TRIES} samples in a row lacked some. Leave out classes of very few rows."
    )


def _is_whole(train: Dataset, rows: Index) -> bool:
    """Return whether every class has rows of positive weight among these."""
    is_counted = train.weights[rows] > 0
    if not train.classes:
        return bool(is_counted.any())
    return len(np.unique(train.y[rows][is_counted])) == len(train.classes)


def out_of(bag: Index, n_samples: int) -> Index:
    """Return the rows that are not in a bootstrap sample, in order."""
    return np.flatnonzero(np.bincount(bag, minlength=n_samples) == 0)


def rises_of(member: Member, units: list[Unit], seed: int) -> Floats:
    """Return the rise of each loss by permuting each unit, (n_units, n_losses).

    NaN for units that are not drawn. Several permuted copies are predicted in one call.
    """
    out, model = member.out, member.model
    rises = np.full((len(units), len(model.losses)), np.nan)
    members = np.flatnonzero(member.mask)
    per_call = max(1, CELLS // max(1, out.X.size))
    for start in range(0, len(members), per_call):
        part = members[start : start + per_call]
        table = _shuffled(out.X, [units[k] for k in part], seed, member.place)
        predictions = np.split(model.predict(table), len(part))
        for k, prediction in zip(part, predictions, strict=True):
            loss = evaluate(model.losses, out.y, prediction, out.weights)
            with np.errstate(invalid="ignore"):  # inf - inf: not measured, NaN
                rises[k] = loss - member.score
    return rises


def _shuffled(
    X: pd.DataFrame, units: list[Unit], seed: int, place: int
) -> pd.DataFrame:
    """Return the rows once per unit, stacked, with that unit permuted."""
    order = np.tile(np.arange(len(X)), (len(units), 1))
    index = dict.fromkeys(X, order)
    for k, unit in enumerate(units):
        generator = generator_of(seed, "permute", "|".join(unit), place)
        places = generator.permutation(len(X))
        for name in unit:
            index[name] = index[name].copy()
            index[name][k] = places
    return pd.DataFrame({n: X[n].array.take(rows.ravel()) for n, rows in index.items()})
