"""The figures of curves: models beside each other, feature by feature."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from pipeline.estimates import Effect
from pipeline.report import figures
from pipeline.report.blocks import Figure, Sentence, Value, plain
from pipeline.report.facts import Facts, tallied
from pipeline.report.figure_data import Curve, EffectPanel
from pipeline.report.number_text import count, significant
from pipeline.report.rankings import OURS
from pipeline.report.result_figures import ALT, PANELS, not_drawn
from pipeline.report.wording import (
    display_name,
    joined,
    key_of,
    named,
    say,
    series,
    shortened,
    shown,
    word,
)

CURVES = 12
LEVELS = 20
CLASSES = 12
"""What one figure can hold and stay legible, and of how many classes there is one."""


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
    drawn: list[Figure | Sentence] = []
    for kind, curves in list(kinds.items())[:CLASSES]:
        drawn += effect_pages(facts, kind if alike[kind[:2]] > 1 else kind[:2], curves)
    if len(kinds) > CLASSES:
        n = tallied("effects", len(kinds) - CLASSES)
        drawn.append(say("results.more_curves", n=n))
    return tuple(drawn)


def effect_pages(
    facts: Facts, key: tuple[str, ...], curves: list[Effect]
) -> list[Figure]:
    """Return the curves of one kind: the leading features, divided into pages."""
    models = list(dict.fromkeys(effect.model for effect in curves))
    drawn = [effect for effect in curves if effect.model in models[:PANELS]]
    wanted = _curved(facts, drawn)[:CURVES]
    pages = figures.paged_effects([_effect_panel(facts, n, drawn) for n in wanted])
    found, start = [], 0
    for place, page in enumerate(pages, start=1):
        chosen = wanted[start : start + len(page)]
        start += len(page)
        id_ = f"fig-effects-{key_of(*key)}" + (f"-{place}" if place > 1 else "")
        found.append(_effect_figure(facts, id_, page, drawn, chosen, models))
    return found


def _effect_figure(
    facts: Facts,
    id_: str,
    panels: Sequence[EffectPanel],
    curves: list[Effect],
    chosen: list[str],
    models: list[str],
) -> Figure:
    label = _effect_label(facts, curves[0])
    first, *rest = map(_subject, models[:PANELS])
    several = "several" if rest else "one"
    total = len({effect.feature for effect in curves})
    caption = say(
        f"figures.effects_{several}",
        what=say(f"figures.curve.{curves[0].method}.what"),
        first=named(first),
        rest=series(named(model) for model in rest),
        n=tallied("effects", len(panels)),
        total=tallied("effects", total),
    )
    return Figure(
        id=id_,
        function="effects",
        data={
            "panels": tuple(panels),
            "axis_label": label,
            "reference": None,
            "reference_text": "",
        },
        alt=_effects_alt(panels, total, label),
        headline=_effects_headline(facts, curves, chosen),
        caption=(*caption, *not_drawn(models[PANELS:])),
    )


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
                    display_name(point) if isinstance(point, str) else float(point)
                    for point in effect.grid.tolist()
                ),
                values=tuple(effect.values.tolist()),
                lead=effect.model in ("", first),
            )
            for effect in own
        ),
    )


def _subject(model: str) -> str:
    """Return whose curve it is: the name of a model, or the data."""
    return model or word("words.the_data")


def _effect_label(facts: Facts, effect: Effect) -> str:
    """Return what the axis of a curve shows, with class and unit."""
    unit, words = facts.unit(effect), f"figures.curve.{effect.method}"
    if effect.positive_class:
        cls = shortened(effect.positive_class, 30)
        return plain(say(f"{words}.axis_class", unit=unit, cls=cls))
    text = say(f"{words}.axis", target=shortened(facts.target, 30))
    return plain((*text, f", {shown(unit)}") if unit else text)


def _effects_headline(
    facts: Facts, curves: list[Effect], chosen: list[str]
) -> Sentence:
    """Return the feature whose curve spans most in the first model, or in the data."""
    first = curves[0].model
    spans = {
        e.feature: float(np.ptp(e.values))
        for e in curves
        if e.model == first and e.feature in chosen and np.isfinite(e.values).all()
    }
    if not spans or not max(spans.values()):
        return say("results.flat")
    widest = max(spans, key=lambda name: spans[name])
    is_whole = set(chosen) == {effect.feature for effect in curves}
    return say(
        f"figures.curve.{curves[0].method}.widest{'' if is_whole else '_here'}",
        feature=shortened(widest, 24),
        span=_span(curves, first, widest),
        model=shortened(_subject(first), 20),
        target=shortened(facts.target, 24),
    )


def _span(curves: list[Effect], model: str, feature: str) -> Value:
    """Return how far the curve of one feature reaches in one model."""
    effect = next(e for e in curves if (e.model, e.feature) == (model, feature))
    span = float(np.ptp(effect.values))
    return Value("effects.values", span, significant(span), derived="span")


def _effects_alt(panels: Sequence[EffectPanel], total: int, label: str) -> str:
    names = joined(panel.feature[:24] for panel in panels)
    text = say(
        "figures.effects_alt",
        label=label,
        n=str(len(panels)),
        total=count(total),
        names=names,
    )
    return plain(text)[:ALT]
