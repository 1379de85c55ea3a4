"""Shared parts of the methods that refit a model: columns and losses."""

from collections.abc import Collection
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from ...data.splits import drawn_rows
from ...models.performance import constant
from ...records.dataset_and_model import Dataset, FittedModel, Floats, Form
from ...records.errors import NotApplicable, quote
from ...records.streams import stream

Unit: TypeAlias = tuple[str, ...]


def training_rows(model: FittedModel, method: str) -> Dataset:
    """Return the training rows of a model.

    Raises
    ------
    NotApplicable
        If the model was fitted elsewhere, and its training rows are not known.
    """
    if model.train is None:
        raise NotApplicable(
            f"Model {quote(model.name)} must be fitted by the audit for method "
            f"{method!r}, which fits it again; it came as it is. "
            f"{model.remedy_for_refit}"
        )
    return model.train


def units_of(
    model: FittedModel, data: Dataset, method: str
) -> tuple[list[Unit], list[int]]:
    """Return the units that enter a refit, and the position of each group among them.

    Parameters
    ----------
    model : FittedModel
    data : Dataset
        Only ``data.groups`` is read.
    method : str
        The name of the method, for messages.

    Returns
    -------
    units : list of tuple of str
        The columns of each group that `model` reads, and each of its other features
        separately, in the model's order: measuring fewer features changes none of them.
    places : list of int
        For each group its position in `units`, -1 if the model reads none of it.

    Raises
    ------
    NotApplicable
        If two groups share a column the model reads.
    """
    group_units = [columns_of(model, [unit]) for unit in data.groups.values()]
    grouped = [name for unit in group_units for name in unit]
    shared = [name for name in grouped if grouped.count(name) > 1]
    if shared:
        raise NotApplicable(
            f"Groups must not share a column for method {method!r}, which takes a "
            f"group in or leaves it out; {quote(shared[0])} is in more than one. Ask "
            "overlapping groups in different audits."
        )
    single = [(name,) for name in model.features if name not in grouped]
    units = [*(unit for unit in group_units if unit), *single]
    units.sort(key=lambda unit: model.features.index(unit[0]))
    return units, [units.index(unit) if unit else -1 for unit in group_units]


def by_group(
    values: Floats, places: list[int], *, unread: float
) -> tuple[Floats, Floats]:
    """Return the values of groups from those of units, (n_units, …), and zero."""
    raw = np.full((len(places), *values.shape[1:]), unread)
    for row, place in enumerate(places):
        if place >= 0:
            raw[row] = values[place]
    return raw, np.zeros(raw.shape[1:])


def columns_of(model: FittedModel, units: Collection[Unit]) -> Unit:
    """Return the columns of some units in the model's own order."""
    names = {name for unit in units for name in unit}
    return tuple(name for name in model.features if name in names)


def seed_of_fit(seed: int, repeat: int) -> int:
    """Return the `random_state` that all fits of one repeat share."""
    return int(stream(seed, "refit", "", repeat).integers(2**31))


def prediction_of_refit(
    model: FittedModel, columns: Collection[str], data: Dataset, *, seed: int
) -> Floats:
    """Return the predictions for `data` of the model fitted on some columns.

    Fitted on no column, a model predicts the mean of the training target, or the shares
    of its classes.
    """
    if columns:
        return model.refit(tuple(columns), seed=seed).predict(data.X)
    return constant(model, model.train or data, data)


def n_held_out(n_samples: int, held_out: float) -> int:
    """Return the number of held-out rows for a share of the rows, rounded."""
    return int(np.floor(held_out * n_samples + 0.5))


def parted(
    model: FittedModel, data: Dataset, held_out: float, *, seed: int, repeat: int
) -> tuple[FittedModel, Dataset]:
    """Return a model with the training rows of one repeat, and the evaluation rows.

    Parameters
    ----------
    model : FittedModel
        Fitted by the audit.
    data : Dataset
        The evaluation rows if nothing is held out.
    held_out : float
        The share of the training rows that is drawn for evaluation, within each class.
    seed, repeat : int
        Select the random stream.
    """
    if not held_out or model.train is None:
        return model, data
    train = model.train
    is_class = train.task != "regression"
    strata = (train.y if is_class else np.zeros(train.n_samples)).astype(object)
    part = f"held out {repeat}"
    is_out = drawn_rows(held_out, seed, strata=strata, part=part)
    kept, evaluated = (
        train.part(train.features, np.flatnonzero(rows)) for rows in (~is_out, is_out)
    )
    return replace(model, train=kept), evaluated


def refuse_ratio(form: Form, method: str) -> None:
    """Refuse to divide by a baseline of 0."""
    if form == "ratio":
        raise NotApplicable(
            f"form must not be 'ratio' for method {method!r}, whose baseline is 0; "
            "it is."
        )
