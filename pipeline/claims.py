"""What a paper can say of an importance, each kind as a check that numbers answer.

Every row of `CLAIMS` is called in one way, ``function(record, features, **options)``,
and returns what was asked, what the claim takes, our number, and whether it holds. A
kind's options are its keyword-only arguments; those without a default must be given.
`NotApplicable` says in a whole sentence why there is no number. Not: which record is
asked, nor what becomes of the answer (`reproduction`).
"""

from collections.abc import Callable, Sequence
from inspect import Parameter, signature
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from pipeline.errors import NotApplicable, did_you_mean, listed
from pipeline.performance import Judged
from pipeline.records import Effect, Floats, Importance
from pipeline.rules import Range

Names = tuple[str, ...]
Count = Annotated[int, Range(least=1)]
Share = Annotated[float, Range(least=0, most=1)]
Split = Literal["train", "test", "out_of_bag"]
Tolerance = Annotated[float, Range(least=0)]
ROWS = {
    "train": "train rows",
    "test": "test rows",
    "out_of_bag": "train rows out of bag",
}


class Answer(NamedTuple):
    """What our numbers say to a claim.

    Attributes
    ----------
    asked : str
        The quantity, as a sentence begins with it: "rank of 'glu'".
    must : str
        What the claim takes: "at most 1".
    ours : float
    holds : bool
    """

    asked: str
    must: str
    ours: float
    holds: bool


Asks = Literal["importance", "importances", "effect", "performance", "folds"]
OF_LOSS = ("performance", "folds")  # what they ask has no method


class Claim(NamedTuple):
    """One row of the table of kinds.

    Attributes
    ----------
    asks : {"importance", "importances", "effect", "performance", "folds"}
        What answers: one importance, those of all models that are asked, a curve, the
        loss of a model, or its loss in folds of the training rows.
    function : callable
    least, most : int
        How many features a claim of this kind names; `most` 0 is any number.
    """

    asks: Asks
    function: Callable[..., Answer]
    least: int = 1
    most: int = 0


def leader(record: Importance, features: Names) -> Answer:
    """Say whether the features hold the first places, in any order."""
    return rank(record, features, within=len(features))


def rank(record: Importance, features: Names, *, within: Count) -> Answer:
    """Say whether the features are among the first.

    Parameters
    ----------
    within : int
        The last place that any of them may take; ties share the mean of theirs.
    """
    ranks = _of(record, record.rank, features)
    return _at_most(f"{_last_of(features)}rank of {listed(features)}", ranks, within)


def last(record: Importance, features: Names, *, within: Count | None = None) -> Answer:
    """Say whether the features are among the last.

    Parameters
    ----------
    within : int, optional
        The place from the end that none may come before; by default as many as there
        are features.
    """
    ranks = int(np.isfinite(record.rank).sum()) + 1 - record.rank
    words = f"{_last_of(features)}rank from the end of {listed(features)}"
    return _at_most(words, _of(record, ranks, features), within or len(features))


def frequency(
    records: Sequence[Importance],
    features: Names,
    *,
    within: Count,
    expected: Share,
    tolerance: Tolerance,
) -> Answer:
    """Say in which share of the models all these features are among the first.

    Parameters
    ----------
    within : int
        The last place that any of them may take; ties share the mean of theirs.
    expected : float
        The share: 1 for every model, 0 for none.
    tolerance : float
        The largest difference from `expected` that counts as equal.
    """
    told = [rank(record, features, within=within).holds for record in records]
    asked = f"share of {len(told)} models with {listed(features)} in the first {within}"
    return _near(asked, float(np.mean(told)), expected, tolerance)


def order(record: Importance, features: Names) -> Answer:
    """Say whether the features come in this order, whatever stands between them."""
    steps = -np.diff(_of(record, record.mean, features))
    asked = f"smallest step down along {listed(features)}"
    return Answer(asked, "above 0", float(steps.min()), bool((steps > 0).all()))


def sign(
    record: Importance,
    features: Names,
    *,
    sign: Literal["positive", "negative"],
    share: Annotated[float, Range(above=0, most=1)] = 1.0,
) -> Answer:
    """Say whether the features, or a share of them, have one sign.

    Parameters
    ----------
    sign : {"positive", "negative"}
        Which sign.
    share : float, default 1
        The least share of the features that must have it.
    """
    values = _of(record, record.mean, features)
    right = values > 0 if sign == "positive" else values < 0
    if len(features) == 1:
        must = "above 0" if sign == "positive" else "below 0"
        return Answer(f"value of {listed(features)}", must, values[0], bool(right[0]))
    found = float(right.mean())
    asked = f"share with a {sign} value among {listed(features)}"
    return Answer(asked, f"at least {share:g}", found, found >= share)


def value(
    record: Importance, features: Names, *, expected: float, tolerance: Tolerance
) -> Answer:
    """Say whether each feature has a value, with its sign.

    Parameters
    ----------
    expected : float
        What the paper says, or what follows from it.
    tolerance : float
        The largest difference from `expected` that counts as equal.
    """
    values = _of(record, record.mean, features)
    farthest = values[np.argmax(np.abs(values - expected))]
    of_all = "farthest value of " if len(features) > 1 else "value of "
    return _near(f"{of_all}{listed(features)}", farthest, expected, tolerance)


def ratio(
    record: Importance, features: Names, *, expected: float, tolerance: Tolerance
) -> Answer:
    """Say how many times the value of the second feature the first one has.

    Parameters
    ----------
    expected : float
        What the paper says, or what follows from it.
    tolerance : float
        The largest difference from `expected` that counts as equal.
    """
    first, second = _of(record, record.mean, features)
    if second == 0:
        raise NotApplicable(f"The value of {features[1]!r} is 0, so there is no ratio.")
    asked = f"{features[0]!r} divided by {features[1]!r}"
    return _near(asked, first / second, expected, tolerance)


def share(
    record: Importance, features: Names, *, expected: float, tolerance: Tolerance
) -> Answer:
    """Say which share of the sum over all features these have together.

    Parameters
    ----------
    expected : float
        What the paper says, or what follows from it.
    tolerance : float
        The largest difference from `expected` that counts as equal.
    """
    part = _of(record, record.mean, features).sum()
    total = _of(record, record.mean, record.features).sum()
    if total == 0:
        raise NotApplicable("The values of all features sum to 0: there is no share.")
    return _near(f"share of {listed(features)}", part / total, expected, tolerance)


def line(
    record: Effect,
    features: Names,
    *,
    intercept: float,
    slope: float,
    tolerance: Tolerance,
) -> Answer:
    """Say whether the curve of a feature is a straight line.

    Parameters
    ----------
    intercept, slope : float
        Of the line.
    tolerance : float
        The largest distance of the curve from it, at any point of its grid.
    """
    if record.kind != "number":
        raise NotApplicable(f"{features[0]!r} is a category, whose curve is no line.")
    gap = float(np.abs(record.values - (intercept + slope * record.grid)).max())
    if np.isnan(gap):
        raise NotApplicable(f"The curve of {features[0]!r} has points without a value.")
    drawn = f"{intercept:g} {'+' if slope >= 0 else '-'} {abs(slope):g} x"
    asked = f"largest distance of the curve of {features[0]!r} from {drawn}"
    return Answer(asked, f"at most {tolerance:g}", gap, gap <= tolerance)


def performance(
    record: Judged,
    features: Names,
    *,
    expected: float,
    tolerance: Tolerance,
    split: Split = "test",
) -> Answer:
    """Say whether the loss of the model is as expected.

    Parameters
    ----------
    expected : float
        What the paper says, or what follows from it.
    tolerance : float
        The largest difference from `expected` that counts as equal.
    split : {"train", "test", "out_of_bag"}
        The rows it is measured on; of "out_of_bag" each is predicted by the members of
        a bagged ensemble that did not see it.
    """
    del features
    return _near(f"loss on the {ROWS[split]}", record.value, expected, tolerance)


def explained(
    record: Judged,
    features: Names,
    *,
    expected: float,
    tolerance: Tolerance,
    split: Split = "test",
) -> Answer:
    """Say which share of the loss of a constant the model saves: R² if that is "mse".

    Parameters
    ----------
    expected : float
        What the paper says, or what follows from it.
    tolerance : float
        The largest difference from `expected` that counts as equal.
    split : {"train", "test", "out_of_bag"}
        As of kind "performance".
    """
    del features
    if record.constant == 0:
        raise NotApplicable("The constant has no loss, of which to save a share.")
    saved = 1 - record.value / record.constant
    asked = f"share saved of the loss of a constant on the {ROWS[split]}"
    return _near(asked, saved, expected, tolerance)


def cross_validated(
    record: Judged,
    features: Names,
    *,
    expected: float,
    tolerance: Tolerance,
    folds: Annotated[int, Range(least=2)] = 5,
    repeats: Count = 1,
) -> Answer:
    """Say whether the mean loss in folds of the training rows is as expected.

    Parameters
    ----------
    expected : float
        What the paper says, or what follows from it.
    tolerance : float
        The largest difference from `expected` that counts as equal.
    folds : int
        Parts of the training rows; each is left out in turn, and the model fitted anew.
    repeats : int
        How often the rows are cut into folds.
    """
    del features
    times = "" if repeats == 1 else f", cut {repeats} times"
    asked = f"mean loss in {folds} folds of the train rows{times}"
    return _near(asked, record.value, expected, tolerance)


CLAIMS: dict[str, Claim] = {
    "leader": Claim("importance", leader),
    "rank": Claim("importance", rank),
    "last": Claim("importance", last),
    "order": Claim("importance", order, least=2),
    "sign": Claim("importance", sign),
    "value": Claim("importance", value),
    "ratio": Claim("importance", ratio, least=2, most=2),
    "share": Claim("importance", share),
    "frequency": Claim("importances", frequency),
    "line": Claim("effect", line, most=1),
    "performance": Claim("performance", performance, least=0),
    "explained": Claim("performance", explained, least=0),
    "cross_validated": Claim("folds", cross_validated, least=0),
}


def keys_of(kind: str) -> dict[str, Any]:
    """Return the options of a kind and their defaults, `Parameter.empty` for none."""
    parameters = signature(CLAIMS[kind].function).parameters.values()
    own = (p for p in parameters if p.kind is Parameter.KEYWORD_ONLY)
    return {parameter.name: parameter.default for parameter in own}


def _of(record: Importance, numbers: Floats, features: Names) -> Floats:
    """Return the numbers of some features, in their order."""
    for name in (name for name in features if name not in record.features):
        hint = did_you_mean(name, record.features)
        raise NotApplicable(f"There is no {name!r} among the {record.of}.{hint}")
    found = numbers[[record.features.index(name) for name in features]]
    lost = [name for name, n in zip(features, found, strict=True) if np.isnan(n)]
    if lost:
        raise NotApplicable(f"There is no number for {listed(lost)}.")
    return found


def _last_of(features: Names) -> str:
    return "largest " if len(features) > 1 else ""


def _at_most(asked: str, ranks: Floats, within: int) -> Answer:
    found = float(ranks.max())
    return Answer(asked, f"at most {within}", found, found <= within)


def _near(asked: str, ours: float, expected: float, tolerance: float) -> Answer:
    found = float(ours)
    must = f"{expected:g} ± {tolerance:g}"
    return Answer(asked, must, found, abs(found - expected) <= tolerance)
