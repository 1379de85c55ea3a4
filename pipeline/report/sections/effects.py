"""The figures of curves: a panel per feature with the curves of all models.

Figures also have the distribution of rows, the mean prediction and options.
"""

from collections.abc import Iterable, Sequence
from math import nan

import numpy as np

from ...methods.effects.partial_dependence import SCALES
from ...records.importance_record import Effect
from ...records.surface_record import Surface
from ..figures.effects import Curve, EffectPanel, draw_effects, paged_effects
from ..text.blocks import Figure, Sentence, Styled, Value, plain
from ..text.number_text import count, percent, significant
from ..text.wording import (
    display_name,
    figure_of,
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
from .facts import Facts, first_few, setting, tallied
from .models_figure import PANELS, not_drawn
from .rankings import OURS

CURVES = 12
MISSING = 6
LEVELS = 20
CLASSES = 12
"""Features in the figures of a kind; features for which a caption has the prediction at
missing cells; levels of a category that is drawn; kinds of curves that have figures."""
UNSEEN = 1e-3
"""Largest width of an invisible band, as a share of the range of the curves."""


def effect_figures(facts: Facts) -> tuple[Figure | Sentence, ...]:
    """Return the figures of curves, one or several pages per class and kind of curve.

    They have the leading features and those always shown. With many classes, the first
    are drawn, and a sentence counts the others.
    """
    kinds: dict[tuple[str, ...], list[Effect]] = {}
    for effect in facts.result.effects:
        if effect.engine == OURS:
            options = (f"{k}={v}" for k, v in sorted(effect.options.items()))
            kind = (effect.method, effect.positive_class, *options)
            kinds.setdefault(kind, []).append(effect)
    blocks: list[Figure | Sentence] = []
    for kind, effects in list(kinds.items())[:CLASSES]:
        same = [own[0].options for key, own in kinds.items() if key[:2] == kind[:2]]
        settings = [
            show_hidden(setting(name, value))
            for name, value in sorted(effects[0].options.items())
            if any(options.get(name) != value for options in same)
        ]
        distinction = say("figures.apart", options=joined(settings)) if settings else ()
        models = list(dict.fromkeys(effect.model for effect in effects))
        undrawn = models[PANELS:]
        curves = [effect for effect in effects if effect.model not in undrawn]
        having = (
            e.feature for e in curves if e.kind == "number" or len(e.grid) <= LEVELS
        )
        names = facts.in_lead_order(having)
        first = sorted(names, key=lambda name: name not in facts.always_shown)
        names = facts.in_lead_order(first[:CURVES])
        id_ = f"effects-{key_of(*(kind if len(same) > 1 else kind[:2]))}"
        pages = paged_effects([_panel(facts, name, curves) for name in names])
        for number, page in enumerate(pages, start=1):
            on_page, names = names[: len(page)], names[len(page) :]
            own_id = f"{id_}-{number}" if number > 1 else id_
            blocks.append(
                _figure(facts, own_id, page, curves, on_page, distinction, undrawn)
            )
    if len(kinds) > CLASSES:
        n = tallied("effects", len(kinds) - CLASSES)
        blocks.append(say("results.more_curves", n=n))
    return tuple(blocks)


def axis_label(facts: Facts, method: str, curve: Effect | Surface) -> str:
    """Return the label of the axis of a curve or a surface, with class and unit."""
    unit, words = facts.unit_of(curve.unit), f"figures.curve.{method}"
    if curve.positive_class:
        cls = short_value(curve.positive_class)
        return plain(say(f"{words}.axis_class", unit=unit, cls=cls))
    text = say(f"{words}.axis", target=short_name(facts.target))
    return plain((*text, f", {show_hidden(unit)}") if unit else text)


def scale_of(facts: Facts, curve: Effect | Surface) -> Sentence:
    """Return the scale of a curve in words, empty if it is that of the model."""
    if curve.unit not in SCALES:
        return ()
    return say("figures.scale", unit=facts.unit_of(curve.unit))


def shown_points(points: Iterable[float | str]) -> tuple[float | str, ...]:
    """Return the points of a grid, with levels as shown on the page."""
    return tuple(shown_value(p) if isinstance(p, str) else float(p) for p in points)


def _panel(facts: Facts, feature: str, curves: Sequence[Effect]) -> EffectPanel:
    """Return the curves of one feature, with the rows per level or middle of a bin."""
    own = [effect for effect in curves if effect.feature == feature]
    first = next(iter(facts.models), own[0].model)
    rows = facts.result.distributions
    rows = rows[(rows["feature"] == feature) & (rows["split"] == own[0].split)]
    if own[0].kind == "category":
        places, counts = rows["level"].astype(str), rows["rows"].astype(int)
    else:
        places, counts = rows["low"] / 2 + rows["high"] / 2, rows["weight"]
    drawn = []
    for effect in own:
        grid = shown_points(effect.grid.tolist())
        values = tuple(effect.values.tolist())
        band: tuple[tuple[float, float], ...] = ()
        if effect.model == curves[0].model:  # bands of several models would overlap
            ends = effect.band_low.tolist(), effect.band_high.tolist()
            band = tuple(zip(*ends, strict=True))
        missing = facts.result.mean_at_missing(effect)
        if effect.kind == "category" and np.isfinite(missing):  # as a further level
            grid, values = (*grid, word("figures.no_level")), (*values, missing)
            band = (*band, (nan, nan)) if band else ()
        label, lead = display_name(_subject(effect.model)), effect.model in ("", first)
        drawn.append(Curve(label, grid, values, lead, band, missing))
    return EffectPanel(
        feature=display_name(feature),
        kind=own[0].kind,
        curves=tuple(drawn),
        counts=tuple(zip(shown_points(places), counts.tolist(), strict=True)),
    )


def _figure(
    facts: Facts,
    id_: str,
    panels: Sequence[EffectPanel],
    curves: Sequence[Effect],
    names: Sequence[str],
    distinction: Sentence,
    undrawn: Sequence[str],
) -> Figure:
    """Return one page of curves, of the features `names`.

    `distinction` has the options that distinguish the curves from others of the same
    method and class; `undrawn` are models beyond the limit of the figure.
    """
    first_of: dict[str, Effect] = {}
    for effect in curves:
        first_of.setdefault(effect.model, effect)
    lead, *others = first_of.values()
    files = ["tables/effects.csv"]
    files += ["tables/distributions.csv"] * any(panel.counts for panel in panels)

    scale = scale_of(facts, lead)
    more = say("figures.on_scale", scale=scale) if scale else ()
    mean, mean_text = _mean_of(facts, lead), ""
    if mean is not None:
        files.append("tables/mean_predictions.csv")
        mean_text = plain(say("figures.mean_line", value=mean))
        means = ((effect.model, _mean_of(facts, effect)) for effect in others)
        more += say(
            f"figures.mean_{'several' if others else 'one'}",
            value=mean,
            first=full_name(lead.model),
            rest=series((full_name(m), " ", v) for m, v in means if v is not None),
        )
    if missing := _missing(facts, lead, names):
        files.append("tables/missing_predictions.csv")
        more += missing
    drawn = [curve for panel in panels for curve in panel.curves]
    values = [value for curve in drawn for value in curve.values if np.isfinite(value)]
    least = UNSEEN * float(np.ptp(values)) if values else 0.0  # else rounding errors
    is_seen = any(high - low > least for curve in drawn for low, high in curve.band)
    if is_seen:
        more += say("figures.band")
    if any(panel.counts and panel.kind == "number" for panel in panels):
        more += say("figures.feet")

    label = axis_label(facts, lead.method, lead)
    total = len({effect.feature for effect in curves})
    return figure_of(
        id_,
        draw_effects,
        {
            "panels": tuple(panels),
            "axis_label": label,
            "reference": nan if mean is None else mean.raw,
            "reference_text": mean_text,
            "counts_label": look_up("nouns.row")[1],
            "missing_text": word("figures.no_value"),
            "band_text": plain(say("figures.band_key")) if is_seen else "",
        },
        alt=say(
            "figures.effects_alt",
            label=label,
            n=str(len(panels)),
            total=count(total),
            names=joined(panel.feature[:24] for panel in panels),
        ),
        headline=_headline(facts, curves, names),
        caption=(
            *say(
                f"figures.effects_{'several' if others else 'one'}",
                what=say(f"figures.curve.{lead.method}.what"),
                first=full_name(_subject(lead.model)),
                rest=series(full_name(_subject(effect.model)) for effect in others),
                n=tallied("effects", len(panels)),
                total=tallied("effects", total),
                apart=distinction,
                more=more,
                files=series(Styled("code", (name,)) for name in files),
            ),
            *not_drawn(undrawn),
        ),
    )


def _subject(model: str) -> str:
    """Return the subject of a curve: the name of its model, or the data."""
    return model or word("words.the_data")


def _headline(facts: Facts, curves: Sequence[Effect], names: Sequence[str]) -> Sentence:
    """Return the feature whose curve has the widest range in the first subject."""
    first = curves[0]
    spans = {
        e.feature: float(np.ptp(e.values))
        for e in curves
        if e.model == first.model and e.feature in names and np.isfinite(e.values).all()
    }
    widest = max(spans, key=spans.__getitem__, default="")
    if not spans.get(widest):
        return say("results.flat")
    span, is_whole = spans[widest], set(names) == {effect.feature for effect in curves}
    return say(
        f"figures.curve.{first.method}.widest{'' if is_whole else '_here'}",
        feature=short_name(widest),
        span=(
            Value("effects", span, significant(span), derived="span"),
            *scale_of(facts, first),
        ),
        model=short_name(_subject(first.model)),
        target=short_name(facts.target),
    )


def _mean_of(facts: Facts, effect: Effect) -> Value | None:
    """Return the mean prediction to which a curve refers, None if it has none."""
    own = facts.result.of_curve("mean_predictions", effect)
    if own.empty:
        return None
    place, mean = own.index[0], float(own["mean"].iloc[0])
    return Value(f"mean_predictions[{place}].mean", mean, significant(mean, 4))


def _missing(facts: Facts, lead: Effect, names: Sequence[str]) -> Sentence:
    """Return the mean predictions of the first model at missing cells of features."""
    own = facts.result.of_curve("missing_predictions", lead)
    points = []
    for place, row in own[own["feature"].isin(names)].iterrows():
        path, mean = f"missing_predictions[{place}]", float(row["mean"])
        share = float(row["share"])
        points.append(
            say(
                f"figures.missing_{'known' if np.isfinite(mean) else 'refused'}",
                feature=short_name(row["feature"]),
                mean=Value(f"{path}.mean", mean, significant(mean)),
                share=Value(f"{path}.share", share, percent(share)),
            )
        )
    if not points:
        return ()
    shown = joined(first_few(points, MISSING, "missing_predictions"))
    first = full_name(_subject(lead.model))
    return say("figures.missing", model=first, points=shown)
