"""Reason codes: why two correct results may differ, and what can still be compared.

Not: numbers. A code follows from the difference of two estimands or of two runs; no
verdict is assigned by hand.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

Rung = Literal["not compared", "comparable", "equivalent", "replayed"]
Why: TypeAlias = list[tuple[str, str]]

LADDER: tuple[Rung, ...] = ("not compared", "comparable", "equivalent", "replayed")


class Reason(NamedTuple):
    """The best verdict of a pair while it applies; {a} and {b} are the sides."""

    best: Rung
    sentence: str


REASONS = {
    "ENCODING": Reason("not compared", "what is measured differs: {a} and {b}"),
    "NO_ANSWER": Reason("not compared", "nothing was measured by both sides"),
    "GROUP_SEMANTICS": Reason("comparable", "the columns differ in {a}"),
    "GROUP_SEMANTICS (apart)": Reason(
        "comparable", "the columns of a group are permuted {a} and {b}"
    ),
    "PERM_SCHEME": Reason("comparable", "what is permuted differs: {a} and {b}"),
    "COMPARE": Reason("comparable", "values are expressed as {a} and {b}"),
    "AGGREGATOR": Reason("comparable", "repeats are aggregated as {a} and {b}"),
    "PRED_SCALE": Reason("comparable", "the prediction scales are {a} and {b}"),
    "SPLIT": Reason("comparable", "the rows are {a} and {b}"),
    "SUBSAMPLE": Reason("comparable", "the numbers of rows are {a} and {b}"),
    "BASELINE_ROWS": Reason(
        "comparable", "{a} computes its baseline on different rows"
    ),
    "GRID": Reason("comparable", "the grids are {a} and {b}"),
    "GRID_WEIGHT": Reason("comparable", "the weights of grid points are {a} and {b}"),
    "CAT_SPREAD": Reason("comparable", "spreads over categories are {a} and {b}"),
    "CENTERING": Reason("comparable", "curves are centred by {a} and {b}"),
    "OPTION": Reason("comparable", "an option differs: {a} and {b}"),
    "NA_DROPPED": Reason("comparable", "one side did not measure {a}"),
    "REPEATS (few)": Reason("comparable", "the numbers of draws are {a} and {b}"),
    "REPEATS (wide)": Reason(
        "comparable", "the band is too wide: {a}, with a largest mean of {b}"
    ),
    "REAGGREGATED": Reason(
        "equivalent", "repeats computed as {a} are aggregated as {b}"
    ),
    "REPEATS": Reason("equivalent", "the numbers of repeats are {a} and {b}"),
    "SUBSAMPLE (fresh)": Reason("equivalent", "rows drawn per repeat are {a} and {b}"),
    "PERM_SCHEME (equal in law)": Reason(
        "equivalent", "{a} and {b} are permuted, with the same distribution"
    ),
    "SHARED_SHUFFLE": Reason("equivalent", "one permutation serves {a} and {b}"),
    "TIE_MERGE": Reason("equivalent", "some predictions are tied {a}, {b}"),
    "TEXT_ROUNDING": Reason("equivalent", "rows are passed as text {a} and {b}"),
    "PRED_RNG": Reason(
        "equivalent", "predict draws random numbers from the stream {a} and {b}"
    ),
    "STREAM": Reason("equivalent", "the draws are independent: {a} and {b}"),
    "REFERENCES": Reason("equivalent", "neither engine is Python: {a} and {b}"),
    "PREDICTIONS": Reason("equivalent", "the predictions differ by {a} relative"),
    "REPEATS (first)": Reason(
        "replayed", "the first {a} of at most {b} repeats are compared"
    ),
    "NEWER_VERSION": Reason("replayed", "{a}"),
    "REPEAT_RUN": Reason("replayed", "{a}"),
    "UNMEASURED": Reason("replayed", "neither side measured {a}"),
    "UPSTREAM_DEFECT": Reason("replayed", "{a}: {b}"),
}

_CODES = "|".join(map(re.escape, REASONS))
_BEFORE_CODE = re.compile(rf"; (?=(?:{_CODES}): )")

REDEFINING = tuple(
    code
    for code, reason in REASONS.items()
    if reason.best == "comparable"
    and code not in {"NA_DROPPED", "REPEATS (few)", "REPEATS (wide)"}
)
"""Codes of different quantities: their numbers cannot be compared."""

CODES = {
    "perturbation": "PERM_SCHEME",
    "within": "PERM_SCHEME",
    "scale": "PRED_SCALE",
    "split": "SPLIT",
    "n_samples": "SUBSAMPLE",
    "n_rows": "SUBSAMPLE",
    "grid": "GRID",
    "n_grid": "GRID",
    "categorical_spread": "CAT_SPREAD",
    "centred": "CENTERING",
}
"""The code of each field of a card; a field without one is an option.

Model, method, loss, class and feature are equal in every pair that is compared.
"""

DATA_WEIGHTED = "data_weighted"
"""The spread that weights a grid point by the rows around it."""
MEANS = {"mse", "mae", "log_loss", "log_loss_clipped", "brier", "one_minus_accuracy"}
"""Losses with the same expectation for any number of drawn rows."""


def because(code: str, a: object = "", b: object = "") -> tuple[str, str]:
    """Return a code and its sentence about `a` and `b`."""
    return code, REASONS[code].sentence.format(a=a, b=b)


def count_outside(n_outside: int, n_features: int, cause: str) -> tuple[str, str]:
    """Return the number of features outside in a disagreeing pair, without a code."""
    return "", f"{n_outside} of {n_features} outside, cause: {cause}"


def best(why: Iterable[tuple[str, str]]) -> Rung:
    """Return the best verdict that every reason allows."""
    rungs = [LADDER.index(REASONS[code].best) for code, _ in why]
    return LADDER[min(rungs, default=len(LADDER) - 1)]


def gravest_first(why: Iterable[tuple[str, str]]) -> Why:
    """Return the reasons, those that lower the verdict most first."""
    return sorted(why, key=lambda reason: LADDER.index(REASONS[reason[0]].best))


def text(why: Iterable[tuple[str, str]]) -> str:
    """Return the reasons as one line: "CODE: sentence; CODE: sentence".

    It is the column `reasons` of the agreement; a reason without a code is its
    sentence.
    """
    return "; ".join(
        f"{code}: {sentence}" if code else sentence for code, sentence in why
    )


def why_of(reasons: str) -> Why:
    """Return the reasons in the format of `text`: code, or "", and sentence.

    This is the only function that reads the format. Sentences may contain "; ", so a
    reason begins only at one of `REASONS`.
    """
    why: Why = []
    for part in filter(None, _BEFORE_CODE.split(reasons)):
        code, colon, sentence = part.partition(": ")
        why.append((code, sentence) if colon and code in REASONS else ("", part))
    return why


def codes_of(reasons: str) -> tuple[str, ...]:
    """Return the codes in a text of reasons."""
    return tuple(code for code, _ in why_of(reasons) if code)


def differences(a: Mapping[str, Any], b: Mapping[str, Any]) -> Why:
    """Return one reason per field in which two cards differ, in the order of `a`."""
    absent = "not an option"
    # Subsamples of any size estimate the same mean.
    shared = all(a.get(n) == b.get(n) for n in ("split", "n_samples"))
    same_means = shared and a.get("method") == "permutation" and a.get("loss") in MEANS
    why = []
    for name in dict.fromkeys((*a, *b)):
        left, right = a.get(name, absent), b.get(name, absent)
        if left == right:
            continue
        code = _code(name, left, right, same_means=same_means)
        prefix = f"{name} " if code in {"OPTION", "SUBSAMPLE", "GRID"} else ""
        why.append(because(code, f"{prefix}{_in_words(left)}", _in_words(right)))
    return why


def _code(name: str, left: Any, right: Any, *, same_means: bool) -> str:
    """Return the code for two values of a field."""
    if name == "spread" and DATA_WEIGHTED in (left, right):
        return "GRID_WEIGHT"
    if name == "n_rows" and same_means:
        return "SUBSAMPLE (fresh)"
    return CODES.get(name, "OPTION")


def _in_words(value: object) -> str:
    """Return the value of a field in words."""
    if value is None:
        return "all"
    return "none" if value == "" else str(value)
