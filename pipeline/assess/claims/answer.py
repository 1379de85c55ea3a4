"""The result of testing a claim, and the tests that several kinds share."""

from typing import Annotated, Literal, NamedTuple

import numpy as np

from ...records.dataset_and_model import Floats
from ...records.errors import NotApplicable, did_you_mean, listed, quote
from ...records.importance_record import Importance
from ...records.ranking import null_value_of
from ...records.value_rules import Range

Names = tuple[str, ...]
Count = Annotated[int, Range(least=1)]
Share = Annotated[float, Range(least=0, most=1)]
Tolerance = Annotated[float, Range(least=0)]
Side = Literal["at most", "at least"]


class Answer(NamedTuple):
    """The result of testing a claim with our numbers.

    Attributes
    ----------
    quantity : str
        The measured quantity, as in "rank of 'glu'".
    requirement : str
        The values for which the claim holds, as in "at most 1".
    ours : float
    holds : bool
    """

    quantity: str
    requirement: str
    ours: float
    holds: bool


def numbers_of(record: Importance, numbers: Floats, features: Names) -> Floats:
    """Return the numbers of some features, in their order.

    A pair of features may be named in either order.
    """
    rows = {name: row for row, name in enumerate(record.features)}
    if record.of == "pairs":
        rows = {":".join(pair[::-1]): k for k, pair in enumerate(record.columns)} | rows
    for name in (name for name in features if name not in rows):
        hint = did_you_mean(name, record.features)
        raise NotApplicable(f"There is no {quote(name)} among the {record.of}.{hint}")
    values = numbers[[rows[name] for name in features]]
    missing = [name for name, n in zip(features, values, strict=True) if np.isnan(n)]
    if missing:
        raise NotApplicable(f"There is no number for {listed(missing)}.")
    return values


def above_null(record: Importance, features: Names) -> Floats:
    """Return the importances of some features less the null value."""
    with np.errstate(invalid="ignore"):  # inf - inf: no number, NaN
        above = record.mean - null_value_of(record)
    return numbers_of(record, above, features)


def origin(record: Importance) -> str:
    """Return the words for the null value in a quantity; empty if it is 0."""
    nothing = null_value_of(record)
    return f", measured from {nothing:.4g}" if nothing else ""


def largest_of(features: Names) -> str:
    """Return the word "largest " for a quantity of several features, else none."""
    return "largest " if len(features) > 1 else ""


def at_most(quantity: str, ranks: Floats, within: int) -> Answer:
    """Test whether the largest of some ranks is at most `within`."""
    largest = float(ranks.max())
    return Answer(quantity, f"at most {within}", largest, largest <= within)


def bounded(quantity: str, ours: float, bound: float, side: Side) -> Answer:
    """Test whether our number is on the given side of a bound, or equal to it."""
    holds = ours <= bound if side == "at most" else ours >= bound
    return Answer(quantity, f"{side} {bound:g}", ours, holds)


def near(quantity: str, ours: float, expected: float, tolerance: float) -> Answer:
    """Test whether our number is as expected, up to the tolerance."""
    number = float(ours)
    requirement = f"{expected:g} ± {tolerance:g}"
    return Answer(quantity, requirement, number, abs(number - expected) <= tolerance)
