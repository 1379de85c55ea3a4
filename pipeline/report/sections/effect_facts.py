"""What a figure of curves tells beside the curves: rows, mean, known lines, options."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ...methods.importance import METHODS
from ...methods.mean_predictions import CURVE
from ...records.importance_record import Effect
from ..text.blocks import Sentence, Value
from ..text.number_text import plain_number, significant
from ..text.wording import joined, named, say, series, shortened, shown
from .facts import Facts, config_of, setting
from .rankings import OURS


class KnownLine(NamedTuple):
    """A straight line that a claim says a curve to be: intercept + slope * x."""

    feature: str
    intercept: float
    slope: float
    source: str


def rows_of(facts: Facts, effect: Effect) -> tuple[tuple[float | str, float], ...]:
    """Return how many rows lie in each bin, by its middle and weight, or at a level."""
    frame = facts.result.distributions
    of_feature = frame["feature"] == effect.feature
    own = frame[(frame["split"] == effect.split) & of_feature]
    if effect.kind == "category":
        levels = zip(own["level"], own["rows"], strict=True)
        return tuple((str(level), int(rows)) for level, rows in levels)
    middles = own["low"] / 2 + own["high"] / 2
    bins = zip(middles.tolist(), own["weight"].tolist(), strict=True)
    return tuple((float(middle), float(weight)) for middle, weight in bins)


def mean_of(facts: Facts, effect: Effect) -> Value | None:
    """Return the mean prediction that a curve is about, if it is about one."""
    frame = facts.result.mean_predictions
    if effect.method != CURVE or frame.empty:
        return None
    same = frame["model"] == effect.model
    for name in ("positive_class", "split", "scale"):
        same &= frame[name] == getattr(effect, name)
    if not same.any():
        return None
    place = frame.index[same][0]
    mean = float(frame.at[place, "mean"])
    return Value(f"mean_predictions[{place}].mean", mean, significant(mean, 4))


def known_lines(facts: Facts, curves: Iterable[Effect]) -> tuple[KnownLine, ...]:
    """Return the line of each claim about one of these curves, once."""
    own = list(curves)
    return tuple(
        dict.fromkeys(
            KnownLine(
                claim["features"][0],
                float(claim["intercept"]),
                float(claim["slope"]),
                claim["source"],
            )
            for claim in config_of(facts, "claims")
            if claim["kind"] == "line"
            and any(_is_about(claim, effect) for effect in own)
        )
    )


def _is_about(claim: Any, effect: Effect) -> bool:
    """Return whether a claim is about a curve that can be drawn as a line."""
    return (
        claim["engine"] == OURS
        and effect.kind == "number"
        and tuple(claim["features"]) == (effect.feature,)
        and METHODS[claim["method"]].curve == effect.method
        and claim["model"] in ("", effect.model)
        and claim["output"] in ("", effect.positive_class)
    )


def mean_words(facts: Facts, firsts: Sequence[Effect]) -> Sentence:
    """Return what the dashed line is, and the mean of the models that have none.

    `firsts` holds one curve of each model, the leading one first.
    """
    means = [(effect, mean_of(facts, effect)) for effect in firsts]
    (_, lead), *rest = means
    if lead is None:
        return ()
    if not rest:
        return say("figures.mean_one", value=lead)
    others = (
        (named(effect.model), " ", value) for effect, value in rest if value is not None
    )
    first = named(firsts[0].model)
    return say("figures.mean_several", value=lead, first=first, rest=series(others))


def line_words(lines: Sequence[KnownLine]) -> Sentence:
    """Return the lines that are drawn dotted, each with who claims it."""
    if not lines:
        return ()
    return say("figures.known_lines", lines=series(_formula(line) for line in lines))


def _formula(line: KnownLine) -> Sentence:
    sign = "−" if line.slope < 0 else "+"
    slope, start = plain_number(abs(line.slope)), plain_number(line.intercept)
    feature = shortened(line.feature, 24)
    source = f" ({shown(line.source)})" if line.source else ""
    return (f"{start} {sign} {slope} × ", feature, source)


def apart_words(effect: Effect, others: Iterable[Effect]) -> Sentence:
    """Return the options of a curve that tell it from others of its kind."""
    told = [other.options for other in others]
    differing = (
        setting(name, value)
        for name, value in sorted(effect.options.items())
        if any(options.get(name) != value for options in told)
    )
    if not (settings := list(differing)):
        return ()
    return say("figures.apart", options=joined(shown(text) for text in settings))
