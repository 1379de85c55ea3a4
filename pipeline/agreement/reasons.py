"""Reason codes: why two correct answers may differ, and what that leaves to compare.

Not: numbers. A code is computed from the difference of two estimands or of two runs;
no verdict is assigned by hand.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

Rung = Literal["not compared", "comparable", "equivalent", "replayed"]
Why: TypeAlias = list[tuple[str, str]]

LADDER: tuple[Rung, ...] = ("not compared", "comparable", "equivalent", "replayed")


class Reason(NamedTuple):
    """The highest rung a pair may reach while it applies; {a} and {b} are the sides."""

    best: Rung
    sentence: str


REASONS = {
    "MODEL_STATE": Reason("not compared", "the models are {a} and {b}"),
    "EVENT_LEVEL": Reason("not compared", "the classes measured are {a} and {b}"),
    "ENCODING": Reason("not compared", "what is asked differs: {a} and {b}"),
    "NO_ANSWER": Reason("not compared", "nothing was measured on both sides"),
    "METHOD_FAMILY": Reason("comparable", "the methods are {a} and {b}"),
    "GROUP_SEMANTICS": Reason("comparable", "other columns are asked together in {a}"),
    "LOSS": Reason("comparable", "the losses are {a} and {b}"),
    "LOSS_SCALE": Reason("comparable", "{a} and {b} are one loss on two scales"),
    "LOSS_CLIP": Reason("comparable", "{a} and {b} clip probabilities differently"),
    "COMPARE": Reason("comparable", "values are shown as {a} and {b}"),
    "AGGREGATOR": Reason("comparable", "repeats are aggregated as {a} and {b}"),
    "PRED_SCALE": Reason("comparable", "the prediction scales are {a} and {b}"),
    "SPLIT": Reason("comparable", "the rows are {a} and {b}"),
    "SUBSAMPLE": Reason("comparable", "the numbers of rows are {a} and {b}"),
    "BASELINE_ROWS": Reason("comparable", "{a} measures its baseline on other rows"),
    "GRID": Reason("comparable", "the grids are {a} and {b}"),
    "CAT_SPREAD": Reason("comparable", "spreads over categories are {a} and {b}"),
    "OPTION": Reason("comparable", "an option differs: {a} and {b}"),
    "NA_DROPPED": Reason("comparable", "one side did not measure {a}"),
    "REPEATS (few)": Reason("comparable", "the numbers of draws are {a} and {b}"),
    "REPEATS (wide)": Reason("comparable", "the band is {a}, the largest mean {b}"),
    "REAGGREGATED": Reason("equivalent", "repeats made as {a} are aggregated as {b}"),
    "REPEATS": Reason("equivalent", "the numbers of repeats are {a} and {b}"),
    "STREAM": Reason("equivalent", "the draws are independent: {a} and {b}"),
    "REFERENCES": Reason("equivalent", "neither engine is ours: {a} and {b}"),
    "PREDICTIONS": Reason("equivalent", "the predictions differ by {a} relative"),
    "UNMEASURED": Reason("replayed", "neither side measured {a}"),
    "UPSTREAM_DEFECT": Reason("replayed", "{a}: {b}"),
}

REDEFINING = tuple(
    code
    for code, reason in REASONS.items()
    if reason.best == "comparable"
    and code not in {"NA_DROPPED", "REPEATS (few)", "REPEATS (wide)"}
)
"""Codes that say another quantity was measured: no number can be held against it."""

CODES = {
    "model": "MODEL_STATE",
    "positive_class": "EVENT_LEVEL",
    "of": "ENCODING",
    "feature": "ENCODING",
    "method": "METHOD_FAMILY",
    "scale": "PRED_SCALE",
    "split": "SPLIT",
    "n_samples": "SUBSAMPLE",
    "n_rows": "SUBSAMPLE",
    "grid": "GRID",
    "n_grid": "GRID",
    "categorical_spread": "CAT_SPREAD",
}
"""The code of each field of a card; a field that is not here is an option."""

SAME_UP_TO_SCALE = (
    {"rmse", "mse", "sum_of_squares"},
    {"log_loss", "negative_log_likelihood"},
)
SAME_UP_TO_CLIPPING = {"dalex_cross_entropy", "log_loss", "negative_log_likelihood"}


def because(code: str, a: object = "", b: object = "") -> tuple[str, str]:
    """Return a code and its sentence about `a` and `b`."""
    return code, REASONS[code].sentence.format(a=a, b=b)


def best(why: Iterable[tuple[str, str]]) -> Rung:
    """Return the highest rung that every reason allows."""
    rungs = [LADDER.index(REASONS[code].best) for code, _ in why]
    return LADDER[min(rungs, default=len(LADDER) - 1)]


def text(why: Iterable[tuple[str, str]]) -> str:
    """Return the reasons as one line: "CODE: sentence; CODE: sentence"."""
    return "; ".join(f"{code}: {sentence}" for code, sentence in why)


def differences(a: Mapping[str, Any], b: Mapping[str, Any]) -> Why:
    """Return one reason per field in which two cards differ, in the order of `a`."""
    absent = "not an option"
    found = []
    for name in dict.fromkeys((*a, *b)):
        left, right = a.get(name, absent), b.get(name, absent)
        if left == right:
            continue
        code = _loss_code(left, right) if name == "loss" else CODES.get(name, "OPTION")
        prefix = f"{name} " if code in {"OPTION", "SUBSAMPLE", "GRID"} else ""
        found.append(because(code, f"{prefix}{_said(left)}", _said(right)))
    return found


def _said(value: object) -> str:
    """Return a field of a card in words."""
    if value is None:
        return "all"
    return "none" if value == "" else str(value)


def _loss_code(a: str, b: str) -> str:
    """Return which code says how two losses differ."""
    pair = {a, b}
    if any(pair <= family for family in SAME_UP_TO_SCALE):
        return "LOSS_SCALE"
    return "LOSS_CLIP" if pair <= SAME_UP_TO_CLIPPING else "LOSS"
