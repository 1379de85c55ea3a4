"""What else keeps two records apart: draws, repeats, predictions, known defects.

Not: what they measure, which `reasons.differences` reads from their cards.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from pipeline.agreement.numbers import Gaps
from pipeline.agreement.reasons import Why, because
from pipeline.estimates import Effect, Importance

OURS = "python"
FEWEST_DRAWS = 5  # fewer say too little about their own spread
SAME_DATA = 1e-9  # predictions further apart were made from other data
OTHER_BASELINE = "vip-0.4"  # with n_rows, its baseline is that of all rows


class Defect(Protocol):
    """A known fault of a package, as `known_defects` lists them."""

    @property
    def id(self) -> str:
        """The name of the entry."""

    @property
    def text(self) -> str:
        """What the report says about it."""


def circumstances(
    a: Importance | Effect,
    b: Importance | Effect,
    prediction_gap: float,
    defects: Sequence[Defect],
) -> Why:
    """Return the reasons that lie in the run, not in the definition."""
    why = [because("UPSTREAM_DEFECT", defect.id, defect.text) for defect in defects]
    if prediction_gap != 0:
        why.append(because("PREDICTIONS", f"{prediction_gap:.1e}"))
    if OURS not in (a.engine, b.engine) and a.engine != b.engine:
        why.append(because("REFERENCES", a.engine, b.engine))
    drawn = [draws(a), draws(b)]
    if drawn[0] != drawn[1]:
        said = [f"{d[0]} with seed {d[1]}" if d else "none" for d in drawn]
        why.append(because("STREAM", *said))
    if isinstance(a, Importance) and isinstance(b, Importance):
        why += _repeats_differ(a, b)
    return why


def draws(record: Importance | Effect) -> tuple[str, int] | None:
    """Return what the draws of a record are known by, None if nothing is drawn."""
    return (record.stream, record.seed) if record.stream else None


def draws_wanted(a: Importance, b: Importance, gaps: Gaps, resolution: float) -> Why:
    """Return why the draws are too few to call two sides equivalent, if they are."""
    drawn = [side.n_repeats for side in (a, b) if side.stream]
    if drawn and min(drawn) < FEWEST_DRAWS:
        return [because("REPEATS (few)", a.n_repeats, b.n_repeats)]
    largest = max(np.abs(a.mean).max(), np.abs(b.mean).max())
    if gaps.inside.all() and gaps.band.max() > resolution * largest:
        return [because("REPEATS (wide)", f"{gaps.band.max():.2g}", f"{largest:.2g}")]
    return []


def cause(
    shared: bool,
    redefined: Sequence[str],
    prediction_gap: float,
    defects: Sequence[Defect],
) -> tuple[str, str]:
    """Return what explains a difference that is not noise, and the evidence."""
    if prediction_gap > SAME_DATA:
        return "data", f"predictions differ by {prediction_gap:.1e} relative"
    if redefined:
        return "definition", ", ".join(redefined)
    if defects:
        return "known defect", ", ".join(defect.id for defect in defects)
    if shared:
        return "implementation", "same definition, same draws"
    return "not explained", "same definition, independent draws"


def _repeats_differ(a: Importance, b: Importance) -> Why:
    """Return the reasons that lie in how often, and on which rows, draws were made."""
    why = []
    if a.stream and b.stream and a.n_repeats != b.n_repeats:
        why.append(because("REPEATS", a.n_repeats, b.n_repeats))
    for side in (a, b) if a.stream != b.stream else ():
        if side.stream == OTHER_BASELINE and side.options.get("n_rows") is not None:
            why.append(because("BASELINE_ROWS", side.stream))
    return why
