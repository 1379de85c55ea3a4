"""Checks of a random subspace ensemble: too few rows, draws or differences."""

from typing import Any

import numpy as np

from ...methods.importance.random_subspace import PERF, TWIN
from ...methods.importance.refits import Unit, units_of
from ...methods.importance.subspaces import masks_of, number_drawn
from ...models.estimators import class_name, final
from ...records.check_answers import Limits, Seen
from ...records.dataset_and_model import Dataset, FittedModel
from ...records.errors import listed
from ...records.importance_record import Importance

UNPENALISED = ("LinearRegression", "LogisticRegression")
"""Estimators that fit one slope per column, unpenalised unless `penalty` is set."""


def crowded_fits(
    importance: Importance, model: FittedModel, data: Dataset, limits: Limits
) -> Seen | None:
    """Fire if unpenalised members are fitted to few distinct rows per column.

    A bootstrap sample of *n* rows has ``n (1 - (1 - 1/n)^n)`` distinct rows on average.
    Columns are those that the estimator reads, such as indicators of levels: their
    number is the average over the features that a member may draw.
    """
    last = final(model.estimator)
    is_linear = any(kind.__name__ in UNPENALISED for kind in type(last).__mro__)
    is_penalised = getattr(last, "penalty", None) not in (None, "none")
    if importance.method not in (PERF, TWIN) or not is_linear or is_penalised:
        return None
    units, n_drawn = _units_and_n_drawn(importance, model, data)
    width = len(model.encoded or model.features) / len(units)
    n = int((model.train.weights > 0).sum()) if model.train is not None else 0
    distinct = n * (1 - (1 - 1 / n) ** n)
    limit, share = float(limits["columns_per_row"].value), n_drawn * width / distinct
    most = int(np.ceil(limit * distinct / width)) - 1
    return Seen(
        share >= limit,
        share,
        f"Each member fits {class_name(model.estimator)} to {n_drawn * width:.3g} "
        f"columns, and a bootstrap sample has about {distinct:.0f} distinct rows out "
        f"of {n}. With {limit:g} or more columns per row, out-of-bag performance is "
        "mostly chance.",
        remedy=(
            f"Set n_drawn to {most} or less, or choose a penalised base learner."
            if most > 0
            else "Choose a penalised base learner."
        ),
        evidence={"columns": n_drawn * width, "distinct_rows": distinct},
    )


def not_drawn(
    importance: Importance, model: FittedModel, data: Dataset, **_: Any
) -> Seen | None:
    """Fire if too few members draw a feature of the model to measure it."""
    if importance.method not in (PERF, TWIN):
        return None
    units, n_drawn = _units_and_n_drawn(importance, model, data)
    places = units_of(model, data, importance.method)[1]
    # (n_members, n_units), the draws of the method.
    masks = masks_of(importance.seed, len(units), n_drawn, importance.n_repeats)
    with_it = masks.sum(axis=0)
    without = importance.n_repeats - with_it
    rare = with_it if importance.method == TWIN else np.minimum(with_it, without)
    missing = {
        name: int(with_it[place])
        for name, place in zip(importance.features, places, strict=True)
        if place >= 0 and rare[place] < 2
    }
    names = listed(f"{name} ({n})" for name, n in missing.items())
    needs = "" if importance.method == TWIN else ", and at least two to leave it out"
    return Seen(
        bool(missing),
        len(missing),
        f"An importance requires at least two of the {importance.n_repeats} members to "
        f"draw the feature{needs}. These features have no importance and no rank, "
        "which is not an importance of 0 (in parentheses the number of members that "
        f"draw them): {names}.",
        evidence={"features": len(missing)},
    )


def no_better_than_average(
    importance: Importance, limits: Limits, **_: Any
) -> Seen | None:
    """Fire if the PERF of a feature is not above 0 beyond chance."""
    if importance.method != PERF:
        return None
    limit = float(limits["standard_errors"].value)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = importance.mean / importance.std_error
    z[importance.mean == 0] = 0.0  # also where no member differs from another
    order = [j for j in np.argsort(-z, kind="stable") if z[j] <= limit]
    names = listed(f"{importance.features[j]} (z = {z[j]:.2g})" for j in order)
    they_are = "it is" if len(order) == 1 else "they are"
    return Seen(
        bool(order),
        len(order),
        f"The PERF of {names} is not more than {limit:g} standard errors above 0, so "
        f"there is no evidence that {they_are} better than the average feature. This "
        f"does not mean that {they_are} irrelevant.",
        evidence={"features": len(order)},
    )


def _units_and_n_drawn(
    importance: Importance, model: FittedModel, data: Dataset
) -> tuple[list[Unit], int]:
    """Return the units that can be drawn, and the number that each member draws."""
    units, _ = units_of(model, data, importance.method)
    n_drawn = importance.options["n_drawn"]
    return units, number_drawn(model, len(units), importance.method, n_drawn)
