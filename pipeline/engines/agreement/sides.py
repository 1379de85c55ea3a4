"""Two records brought to one form and order, restricted to what both measured.

Not: judging their differences.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from ...records.errors import listed
from ...records.importance_record import Effect, Importance
from .numbers import is_finished
from .reasons import Why, because, differences

CONVERTIBLE = {"difference", "ratio", "raw"}
MEDIAN = "median"
SAME_GRID = 1e-12  # of the largest point: one grid, computed by two formulas


def side_by_side(
    a: Importance | Effect, b: Importance | Effect
) -> tuple[Importance, Importance, Why]:
    """Return both sides as importances of the same features, and their differences.

    The points of a curve become its features. Features that a side did not measure are
    left out on both and named; sides without a common order are returned empty.

    Raises
    ------
    TypeError
        If one is an importance and the other a curve.
    """
    if isinstance(a, Effect) and isinstance(b, Effect):
        why = differences(_card(a), _card(b))
        order_reasons = _other_grid(a, b)
        left, right = _points(a), _points(b)
    elif isinstance(a, Importance) and isinstance(b, Importance):
        why = differences(_card(a), _card(b))
        left, right, form_reasons = _same_form(a, b)
        order_reasons = _other_features(a, b)
        if not order_reasons:
            right = right.rows([b.features.index(name) for name in a.features])
            why += form_reasons + _other_columns(left, right)
    else:
        raise TypeError(
            "Two importances or two effects must be given, not one of each."
        )
    if order_reasons:
        return left.rows([]), right.rows([]), why + order_reasons
    left, right, missing_reasons = _measured(left, right)
    return left, right, why + missing_reasons


def _card(record: Importance | Effect) -> dict[str, Any]:
    """Return the definition of a quantity, without the form it is shown in."""
    form_fields = {"form", "aggregator"}
    card = {k: v for k, v in record.estimand.items() if k not in form_fields}
    return {**card, "scale": record.scale}


def _points(curve: Effect) -> Importance:
    """Return a curve as the importances of its points, each measured once."""
    same = (
        *("model", "method", "engine", "engine_version", "scale", "positive_class"),
        *("split", "unit", "options", "n_samples", "stream", "seed"),
    )
    return Importance(
        **{name: getattr(curve, name) for name in same},
        of="features",
        form="raw",
        features=tuple(str(point) for point in curve.grid),
        columns=((curve.feature,),) * len(curve.grid),
        raw=curve.values[:, np.newaxis],
        baseline=np.zeros(1),
    )


def _same_form(a: Importance, b: Importance) -> tuple[Importance, Importance, Why]:
    """Return both in one form: a side with known losses is converted."""
    a, b, why = _same_aggregate(a, b)
    if a.form == b.form:
        return a, b, why
    if not {a.form, b.form} <= CONVERTIBLE or (is_finished(a) and is_finished(b)):
        return a, b, [*why, because("COMPARE", a.form, b.form)]
    if is_finished(a):
        return a, replace(b, form=a.form, aggregator=a.aggregator), why
    return replace(a, form=b.form, aggregator=b.aggregator), b, why


def _same_aggregate(a: Importance, b: Importance) -> tuple[Importance, Importance, Why]:
    """Return both with one aggregator: a side with known repeats is aggregated again.

    The mean and the pooled mean differ only for ratios.
    """
    ways = (a.aggregator, b.aggregator)
    is_ratio = a.form == b.form == "ratio"
    if ways[0] == ways[1] or (MEDIAN not in ways and not is_ratio):
        return a, b, []
    again = [because("REAGGREGATED", *ways)]
    # Convert the side with the median, otherwise the one with known losses.
    first = ways[0] == MEDIAN or (MEDIAN not in ways and not is_finished(a))
    again_of = a if first else b
    is_median = again_of.aggregator == MEDIAN
    if again_of.n_repeats > 1 if is_median else not is_finished(again_of):
        if first:
            return replace(a, aggregator=b.aggregator), b, again
        return a, replace(b, aggregator=a.aggregator), again
    return a, b, [because("AGGREGATOR", *ways)]


def _other_grid(a: Effect, b: Effect) -> Why:
    """Return a reason if the grids of two curves differ."""
    if a.kind == b.kind == "number" and a.grid.shape == b.grid.shape:
        largest = np.abs(a.grid).max(initial=0.0)
        same = bool((np.abs(a.grid - b.grid) <= SAME_GRID * largest).all())
    else:
        same = np.array_equal(a.grid, b.grid)
    if same:
        return []
    return [because("GRID", *(f"{len(r.grid)} points of {r.engine}" for r in (a, b)))]


def _other_features(a: Importance, b: Importance) -> Why:
    """Return a reason if the features of two records differ."""
    only = [sorted(set(x.features) - set(y.features)) for x, y in ((a, b), (b, a))]
    if not any(only):
        return []
    return [because("ENCODING", *(listed(names) or "no other" for names in only))]


def _other_columns(a: Importance, b: Importance) -> Why:
    """Return a reason if a name has different columns on the two sides."""
    sides = zip(a.features, a.columns, b.columns, strict=True)
    other = [name for name, left, right in sides if set(left) != set(right)]
    return [because("GROUP_SEMANTICS", listed(other))] if other else []


def _measured(a: Importance, b: Importance) -> tuple[Importance, Importance, Why]:
    """Return both without features that either did not measure, and their names."""
    names = np.array(a.features, dtype=object)
    missing_a, missing_b = np.isnan(a.mean), np.isnan(b.mean)
    why = []
    if (missing_a != missing_b).any():
        why.append(because("NA_DROPPED", listed(names[missing_a != missing_b])))
    if (missing_a & missing_b).any():
        why.append(because("UNMEASURED", listed(names[missing_a & missing_b])))
    rows = np.flatnonzero(~(missing_a | missing_b)).tolist()
    if not rows:
        why.append(because("NO_ANSWER"))
    return a.rows(rows), b.rows(rows), why
