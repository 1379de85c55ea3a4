"""The figures of curves: models beside each other, feature by feature.

And what a figure tells beside its curves: rows, mean, known lines, options.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...methods.importance import METHODS
from ...methods.mean_predictions import CURVE
from ...records.importance_record import Effect
from ..figures.effect_panels import Curve, EffectPanel, has_band
from ..figures.effects import draw_effects, paged_effects
from ..text.blocks import Figure, Sentence, Styled, Value, plain
from ..text.number_text import count, plain_number, significant
from ..text.wording import (
    alt_text,
    display_name,
    full_name,
    joined,
    key_of,
    look_up,
    say,
    series,
    short_name,
    short_value,
    show_hidden,
    shown_value,
    word,
)
from .facts import Facts, config_of, setting, tallied
from .models_figure import PANELS, not_drawn
from .rankings import OURS

CURVES = 12
LEVELS = 20
CLASSES = 12
"""What one figure can hold and stay legible, and of how many classes there is one."""
UNSEEN = 1e-3
"""The width of a band, as a share of the height of the curves, that no eye sees."""
OUTSIDE = 1e-2
"""How far, on that scale, a mean lies outside its band before the caption says so."""


def effect_figures(facts: Facts) -> tuple[Figure | Sentence, ...]:
    """Return the figures of curves per class and kind of curve, as many as it takes.

    Of many classes the first are drawn, and a sentence counts the others.
    """
    kinds: dict[tuple[str, ...], list[Effect]] = {}
    for effect in facts.result.effects:
        if effect.engine == OURS:
            options = (f"{k}={v}" for k, v in sorted(effect.options.items()))
            kind = (effect.method, effect.positive_class, *options)
            kinds.setdefault(kind, []).append(effect)
    alike = Counter(kind[:2] for kind in kinds)
    blocks: list[Figure | Sentence] = []
    for kind, curves in list(kinds.items())[:CLASSES]:
        others = [c[0] for key, c in kinds.items() if key[:2] == kind[:2]]
        key = kind if alike[kind[:2]] > 1 else kind[:2]
        blocks += effect_pages(facts, key, curves, apart_words(curves[0], others))
    if len(kinds) > CLASSES:
        n = tallied("effects", len(kinds) - CLASSES)
        blocks.append(say("results.more_curves", n=n))
    return tuple(blocks)


def effect_pages(
    facts: Facts, key: tuple[str, ...], curves: list[Effect], apart: Sentence = ()
) -> list[Figure]:
    """Return the curves of one kind: the leading features, divided into pages.

    `apart` says what tells the kind from another of the same method and class.
    """
    models = list(dict.fromkeys(effect.model for effect in curves))
    effects = [effect for effect in curves if effect.model in models[:PANELS]]
    features = _curved(facts, effects)[:CURVES]
    pages = paged_effects([_effect_panel(facts, n, effects) for n in features])
    figures, start = [], 0
    for place, page in enumerate(pages, start=1):
        names = features[start : start + len(page)]
        start += len(page)
        id_ = f"fig-effects-{key_of(*key)}" + (f"-{place}" if place > 1 else "")
        figures.append(_effect_figure(facts, id_, page, effects, names, models, apart))
    return figures


def _effect_figure(
    facts: Facts,
    id_: str,
    panels: Sequence[EffectPanel],
    curves: list[Effect],
    names: list[str],
    models: list[str],
    apart: Sentence,
) -> Figure:
    label = _effect_label(facts, curves[0])
    total = len({effect.feature for effect in curves})
    mean = mean_of(facts, curves[0])
    mean_text = "" if mean is None else plain(say("figures.mean_line", value=mean))
    band_text = plain(say("figures.band_key")) if _is_band_seen(panels) else ""
    return Figure(
        id=id_,
        draw=draw_effects,
        data={
            "panels": tuple(panels),
            "axis_label": label,
            "reference": None if mean is None else mean.raw,
            "reference_text": mean_text,
            "counts_label": look_up("nouns.row")[1],
            "band_text": band_text,
        },
        alt=_effects_alt(panels, total, label),
        headline=_effects_headline(facts, curves, names),
        caption=(
            *_caption(facts, panels, curves, names, apart),
            *not_drawn(models[PANELS:]),
        ),
    )


def _caption(
    facts: Facts,
    panels: Sequence[EffectPanel],
    curves: list[Effect],
    names: list[str],
    apart: Sentence,
) -> Sentence:
    """Return what the lines and the grey are, and where the numbers stand."""
    firsts = list({effect.model: effect for effect in reversed(curves)}.values())[::-1]
    first, *rest = (_subject(effect.model) for effect in firsts)
    lines = claim_lines(facts, [e for e in curves if e.feature in names])
    has_feet = any(panel.counts and panel.kind == "number" for panel in panels)
    files = ["tables/effects.csv"]
    files += ["tables/distributions.csv"] * any(panel.counts for panel in panels)
    mean = mean_words(facts, firsts)
    files += ["tables/mean_predictions.csv"] * bool(mean)
    return say(
        f"figures.effects_{'several' if rest else 'one'}",
        what=say(f"figures.curve.{curves[0].method}.what"),
        first=full_name(first),
        rest=series(full_name(model) for model in rest),
        n=tallied("effects", len(panels)),
        total=tallied("effects", len({effect.feature for effect in curves})),
        apart=apart,
        more=(
            *mean,
            *_band_words(panels),
            *line_words(lines),
            *(say("figures.feet") if has_feet else ()),
        ),
        files=series(Styled("code", (name,)) for name in files),
    )


def _band_words(panels: Sequence[EffectPanel]) -> Sentence:
    """Return what the band is, or that it has no width to be seen."""
    if not has_band(panels):
        return ()
    if not _is_band_seen(panels):
        return say("figures.band_unseen")
    left = say("figures.band_left") if _leaves_band(panels) else ()
    return say("figures.band", left=left)


def _is_band_seen(panels: Sequence[EffectPanel]) -> bool:
    """Return whether a band is wide enough somewhere to be seen beside its curve."""
    values, low, high = _banded(panels)
    return bool(len(values)) and bool((high - low > UNSEEN * np.ptp(values)).any())


def _leaves_band(panels: Sequence[EffectPanel]) -> bool:
    """Return whether a mean lies outside its band so far that it can be seen."""
    values, low, high = _banded(panels)
    outside = np.maximum(low - values, values - high)
    return bool((outside > OUTSIDE * np.ptp(values)).any())


def _banded(panels: Sequence[EffectPanel]) -> npt.NDArray[np.float64]:
    """Return value, lower and upper end at all points that have them, (3, n_points)."""
    points = [
        (value, low, high)
        for panel in panels
        for curve in panel.curves
        for value, (low, high) in zip(curve.values, curve.band, strict=False)
        if np.isfinite([value, low, high]).all()
    ]
    return np.array(points).reshape(-1, 3).T


def _curved(facts: Facts, curves: list[Effect]) -> list[str]:
    """Return the features with a curve, in the order of the lead ranking."""
    having = dict.fromkeys(
        e.feature for e in curves if e.kind == "number" or len(e.grid) <= LEVELS
    )
    lead = facts.lead
    if lead is None:
        return list(having)
    places = {lead.record.features[row]: n for n, row in enumerate(lead.order)}
    return sorted(having, key=lambda name: places.get(name, len(places)))


def _effect_panel(facts: Facts, feature: str, curves: list[Effect]) -> EffectPanel:
    own = [effect for effect in curves if effect.feature == feature]
    first = next(iter(facts.models), own[0].model)
    return EffectPanel(
        feature=display_name(feature),
        kind=own[0].kind,
        curves=tuple(
            Curve(
                label=display_name(_subject(effect.model)),
                grid=tuple(
                    shown_value(point) if isinstance(point, str) else float(point)
                    for point in effect.grid.tolist()
                ),
                values=tuple(effect.values.tolist()),
                lead=effect.model in ("", first),
                band=_band(effect) if effect.model == curves[0].model else (),
            )
            for effect in own
        ),
        counts=tuple(
            (shown_value(place) if isinstance(place, str) else place, n)
            for place, n in rows_of(facts, own[0])
        ),
        lines=tuple(line[1:3] for line in claim_lines(facts, own)),
    )


def _band(effect: Effect) -> tuple[tuple[float, float], ...]:
    """Return both ends of the band around a curve at each point, if it has one."""
    ends = (effect.band_low.tolist(), effect.band_high.tolist())
    return tuple(zip(*ends, strict=True))


def _subject(model: str) -> str:
    """Return whose curve it is: the name of a model, or the data."""
    return model or word("words.the_data")


def _effect_label(facts: Facts, effect: Effect) -> str:
    """Return what the axis of a curve shows, with class and unit."""
    unit, words = facts.unit(effect), f"figures.curve.{effect.method}"
    if effect.positive_class:
        cls = short_value(effect.positive_class)
        return plain(say(f"{words}.axis_class", unit=unit, cls=cls))
    text = say(f"{words}.axis", target=short_name(facts.target))
    return plain((*text, f", {show_hidden(unit)}") if unit else text)


def _effects_headline(facts: Facts, curves: list[Effect], names: list[str]) -> Sentence:
    """Return the feature whose curve spans most in the first model, or in the data."""
    first = curves[0].model
    spans = {
        e.feature: float(np.ptp(e.values))
        for e in curves
        if e.model == first and e.feature in names and np.isfinite(e.values).all()
    }
    if not spans or not max(spans.values()):
        return say("results.flat")
    widest = max(spans, key=lambda name: spans[name])
    is_whole = set(names) == {effect.feature for effect in curves}
    return say(
        f"figures.curve.{curves[0].method}.widest{'' if is_whole else '_here'}",
        feature=short_name(widest),
        span=_span(curves, first, widest),
        model=short_name(_subject(first)),
        target=short_name(facts.target),
    )


def _span(curves: list[Effect], model: str, feature: str) -> Value:
    """Return how far the curve of one feature reaches in one model."""
    effect = next(e for e in curves if (e.model, e.feature) == (model, feature))
    span = float(np.ptp(effect.values))
    return Value("effects", span, significant(span), derived="span")


def _effects_alt(panels: Sequence[EffectPanel], total: int, label: str) -> str:
    names = joined(panel.feature[:24] for panel in panels)
    text = say(
        "figures.effects_alt",
        label=label,
        n=str(len(panels)),
        total=count(total),
        names=names,
    )
    return alt_text(plain(text))


class KnownLine(NamedTuple):
    """A straight line that a claim says a curve to be: intercept + slope * x."""

    feature: str
    intercept: float
    slope: float
    source: str


def rows_of(facts: Facts, effect: Effect) -> tuple[tuple[float | str, float], ...]:
    """Return how many rows lie in each bin, by its middle and weight, or at a level."""
    frame = facts.result.distributions
    is_feature = frame["feature"] == effect.feature
    own = frame[(frame["split"] == effect.split) & is_feature]
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


def claim_lines(facts: Facts, curves: Iterable[Effect]) -> tuple[KnownLine, ...]:
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
        (full_name(effect.model), " ", value)
        for effect, value in rest
        if value is not None
    )
    first = full_name(firsts[0].model)
    return say("figures.mean_several", value=lead, first=first, rest=series(others))


def line_words(lines: Sequence[KnownLine]) -> Sentence:
    """Return the lines that are drawn dotted, each with who claims it."""
    if not lines:
        return ()
    return say("figures.known_lines", lines=series(_formula(line) for line in lines))


def _formula(line: KnownLine) -> Sentence:
    sign = "−" if line.slope < 0 else "+"
    slope, start = plain_number(abs(line.slope)), plain_number(line.intercept)
    feature = short_name(line.feature)
    source = f" ({show_hidden(line.source)})" if line.source else ""
    return (f"{start} {sign} {slope} × ", feature, source)


def apart_words(effect: Effect, others: Iterable[Effect]) -> Sentence:
    """Return the options of a curve that tell it from others of its kind."""
    options_of_others = [other.options for other in others]
    differing = (
        setting(name, value)
        for name, value in sorted(effect.options.items())
        if any(options.get(name) != value for options in options_of_others)
    )
    if not (settings := list(differing)):
        return ()
    return say("figures.apart", options=joined(show_hidden(text) for text in settings))
