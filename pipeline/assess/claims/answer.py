"""What a claim is answered with, and the sentences that kinds share."""

from typing import Annotated, Literal, NamedTuple

import numpy as np

from ...records.dataset_and_model import Floats
from ...records.errors import NotApplicable, did_you_mean, listed, quote
from ...records.importance_record import Importance
from ...records.ranking import nothing_of
from ...records.value_rules import Range

Names = tuple[str, ...]
Count = Annotated[int, Range(least=1)]
Share = Annotated[float, Range(least=0, most=1)]
Tolerance = Annotated[float, Range(least=0)]
Side = Literal["at most", "at least"]


class Answer(NamedTuple):
    """What our numbers say to a claim.

    Attributes
    ----------
    quantity : str
        As a sentence begins with it: "rank of 'glu'".
    requirement : str
        What the claim takes: "at most 1".
    ours : float
    holds : bool
    """

    quantity: str
    requirement: str
    ours: float
    holds: bool


def numbers_of(record: Importance, numbers: Floats, features: Names) -> Floats:
    """Return the numbers of some features, in their order; a pair has two names."""
    at = {name: place for place, name in enumerate(record.features)}
    if record.of == "pairs":
        at = {":".join(pair[::-1]): k for k, pair in enumerate(record.columns)} | at
    for name in (name for name in features if name not in at):
        hint = did_you_mean(name, record.features)
        raise NotApplicable(f"There is no {quote(name)} among the {record.of}.{hint}")
    values = numbers[[at[name] for name in features]]
    missing = [name for name, n in zip(features, values, strict=True) if np.isnan(n)]
    if missing:
        raise NotApplicable(f"There is no number for {listed(missing)}.")
    return values


def above_nothing(record: Importance, features: Names) -> Floats:
    """Return how far the importances of some features are above no effect."""
    with np.errstate(invalid="ignore"):  # inf - inf: no number, NaN
        above = record.mean - nothing_of(record)
    return numbers_of(record, above, features)


def origin(record: Importance) -> str:
    """Return how a quantity says what it is measured from, if that is not 0."""
    nothing = nothing_of(record)
    return f", measured from {nothing:.4g}" if nothing else ""


def largest_of(features: Names) -> str:
    """Return how a sentence begins where the worst of several features counts."""
    return "largest " if len(features) > 1 else ""


def at_most(quantity: str, ranks: Floats, within: int) -> Answer:
    """Say whether the largest of some ranks is within a place."""
    largest = float(ranks.max())
    return Answer(quantity, f"at most {within}", largest, largest <= within)


def beside(quantity: str, ours: float, bound: float, side: Side) -> Answer:
    """Say whether our number is on one side of a bound."""
    holds = ours <= bound if side == "at most" else ours >= bound
    return Answer(quantity, f"{side} {bound:g}", ours, holds)


def near(quantity: str, ours: float, expected: float, tolerance: float) -> Answer:
    """Say whether our number is as expected."""
    number = float(ours)
    requirement = f"{expected:g} ± {tolerance:g}"
    return Answer(quantity, requirement, number, abs(number - expected) <= tolerance)
