"""The figures of section F: a ranking, models side by side, curves."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from pipeline.primary import LEVEL, OURS
from pipeline.records import Effect
from pipeline.report import figures
from pipeline.report.blocks import Figure, Link, Sentence, Value, plain
from pipeline.report.facts import Facts, card_link, tallied, whole
from pipeline.report.figure_data import (
    Curve,
    EffectPanel,
    ModelPanel,
    ModelRow,
    RankingRow,
)
from pipeline.report.number_text import (
    count,
    lone,
    loss_label,
    number,
    percent,
    significant,
    unit_text,
)
from pipeline.report.ranking_tables import (
    baseline_of,
    measured_in,
    over_repeats,
    table_id,
    value_label,
    value_of,
)
from pipeline.report.rankings import TOP, Ranking
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

PANEL_ROWS = 36
PANELS = 6
CURVES = 12
LEVELS = 20
CLASSES = 12
"""What one figure can hold and stay legible, and of how many classes there is one."""
ALT = 250


def ranking_figure(facts: Facts, ranking: Ranking) -> Figure | None:
    """Return the ranking as dots with intervals; None without a loss to start from."""
    record = ranking.record
    if record.form not in ("difference", "ratio") or not ranking.measured:
        return None
    if not ranking.starts_at_loss:
        return None
    shown_rows = ranking.measured[:TOP]
    rows = tuple(_figure_row(ranking, row) for row in shown_rows)
    baseline = plain((named(ranking.subject), " ", *_baseline_text(ranking)))
    return Figure(
        id=table_id(ranking).replace("tab-", "fig-"),
        function="ranking",
        data={
            "rows": rows,
            "unit_label": plain(measured_in(facts, ranking)),
            "baseline_label": baseline,
            "baseline": ranking.nothing,
            "value_label": value_label(ranking).lower(),
        },
        alt=_ranking_alt(facts, ranking, len(rows)),
        headline=_headline(ranking),
        caption=say(
            "figures.ranking",
            estimate=over_repeats(ranking),
            level=percent(LEVEL),
            card=card_link(facts.card(record)),
            table=Link(table_id(ranking)),
        ),
    )


def _figure_row(ranking: Ranking, row: int) -> RankingRow:
    value = value_of(ranking, row)
    return RankingRow(
        name=display_name(ranking.record.features[row]),
        estimate=value.raw,
        low=float(ranking.low[row]),
        high=float(ranking.high[row]),
        text=value.text,
    )


def _baseline_text(ranking: Ranking) -> Sentence:
    return say(
        "figures.as_it_is",
        loss=loss_label(ranking.record.loss),
        value=baseline_of(ranking).text,
    )


def _headline(ranking: Ranking) -> Sentence:
    """Return what the ranking shows in one short sentence."""
    record, measured = ranking.record, ranking.measured
    first = shortened(record.features[measured[0]], 24)
    if not ranking.low[measured[0]] > ranking.nothing:
        return say("results.nobody")
    if len(measured) == 1:
        return say("results.only", feature=first)
    if ranking.last[measured[0]] == 1:
        above = ranking.mean - ranking.nothing
        ratio = above[measured[0]] / above[measured[1]]
        if np.isfinite(ratio) and 1.05 <= ratio < 100:
            path = f"importances[{ranking.index}].mean"
            times = Value(path, float(ratio), number(float(ratio), 1), derived="ratio")
            return say("results.times", feature=first, ratio=times)
        return say("results.first", feature=first)
    second = shortened(record.features[measured[1]], 24)
    return say("results.together", first=first, second=second)


def _ranking_alt(facts: Facts, ranking: Ranking, n: int) -> str:
    record = ranking.record
    row = ranking.measured[0]
    text = say(
        "figures.ranking_alt",
        n=count(n),
        total=count(len(record.features)),
        what=word(f"asked.{record.of}"),
        model=shortened(ranking.subject, 30),
        measured=measured_in(facts, ranking),
        first=shortened(record.features[row], 30),
        value=value_of(ranking, row).text,
        low=number(float(ranking.low[row]), ranking.places),
        high=number(float(ranking.high[row]), ranking.places),
    )
    return plain(text)[:ALT]


def models_figure(facts: Facts, ranked: Sequence[Ranking]) -> Figure | None:
    """Return the losses of several models side by side, in the first one's order."""
    record = ranked[0].record
    alike = [r for r in ranked if set(r.record.features) == set(record.features)]
    chosen = alike[:PANELS]
    if not ranked[0].starts_at_loss or len(chosen) < 2 or not ranked[0].measured:
        return None
    names = [record.features[row] for row in ranked[0].measured]
    names = names[: max(PANEL_ROWS // len(chosen), 3)]
    card = card_link(facts.card(record))
    unit = unit_text(record.unit, facts.target_unit)
    label = say("figures.models_axis", loss=loss_label(record.loss))
    path = f"importances[{ranked[0].index}].n_repeats"
    repeats = whole(path, record.n_repeats)
    caption = say("figures.models", repeats=repeats, card=card)
    apart = facts.apart(record)
    key = key_of(record.method, record.of, record.loss, record.form, apart)
    return Figure(
        id=f"fig-models-{key}",
        function="models",
        data={
            "panels": tuple(_panel(r, names) for r in chosen),
            "axis_label": plain((*label, f", {shown(unit)}") if unit else label),
            "value_label": word("figures.models_value"),
        },
        alt=_models_alt(chosen, names),
        headline=_models_headline(chosen),
        caption=(
            *caption,
            *((f" {apart}.",) if apart else ()),
            *_not_drawn([r.subject for r in alike[PANELS:]]),
        ),
    )


def _panel(ranking: Ranking, names: Sequence[str]) -> ModelPanel:
    record = ranking.record
    base = float(record.baseline.mean())
    rows = []
    for name in names:
        raw = record.raw[record.features.index(name)]
        mean = float(raw.mean())
        repeats = tuple(raw.tolist()) if ranking.is_drawn else ()
        text = number(mean, ranking.places)
        rows.append(ModelRow(display_name(name), mean, repeats, text))
    as_it_is = lone(base, least=ranking.places)
    text = plain(say("figures.panel_base", value=as_it_is))
    return ModelPanel(display_name(record.model), base, text, tuple(rows))


def _models_headline(chosen: Sequence[Ranking]) -> Sentence:
    """Return what every model reacts most to, as far as the intervals settle it."""
    firsts = [_possible_leaders(r) for r in chosen if r.measured]
    shared = frozenset.intersection(*firsts)
    if shared and all(len(names) == 1 for names in firsts):
        return say("results.all_lead", feature=shortened(min(shared), 30))
    return say(f"results.{'open' if shared else 'differ'}_{chosen[0].record.of}")


def _possible_leaders(ranking: Ranking) -> frozenset[str]:
    """Return the features that may be the first: all, where no interval is known."""
    names, first = ranking.record.features, ranking.first
    may_lead = (row for row in ranking.measured if not first[row] > 1)
    return frozenset(names[row] for row in may_lead)


def _models_alt(chosen: Sequence[Ranking], names: Sequence[str]) -> str:
    record = chosen[0].record
    firsts = (
        (
            shortened(r.record.model, 20),
            f" {word('words.reacts_to')} ",
            shortened(r.record.features[r.measured[0]], 20),
        )
        for r in chosen
        if r.measured
    )
    text = say(
        "figures.models_alt",
        models=str(len(chosen)),
        n=str(len(names)),
        total=count(len(record.features)),
        loss=loss_label(record.loss),
        firsts=joined(firsts),
    )
    return plain(text)[:ALT]


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
    first, *rest = models[:PANELS]
    several = "several" if rest else "one"
    total = len({effect.feature for effect in curves})
    caption = say(
        f"figures.effects_{several}",
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
        headline=_effects_headline(curves, chosen),
        caption=(*caption, *_not_drawn(models[PANELS:])),
    )


def _not_drawn(models: Sequence[str]) -> Sentence:
    """Return which models a figure has no room for, empty if none."""
    if not models:
        return ()
    return say("figures.more_models", models=series(named(name) for name in models))


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
                label=display_name(effect.model),
                grid=tuple(
                    display_name(point) if isinstance(point, str) else float(point)
                    for point in effect.grid.tolist()
                ),
                values=tuple(effect.values.tolist()),
                lead=effect.model == first,
            )
            for effect in own
        ),
    )


def _effect_label(facts: Facts, effect: Effect) -> str:
    """Return what the axis of a curve shows, with class and unit."""
    unit = facts.unit(effect)
    if effect.positive_class:
        return plain(
            say(
                "figures.effects_axis_class",
                unit=unit,
                cls=shortened(effect.positive_class, 30),
            )
        )
    text = say("figures.effects_axis", target=shortened(facts.target, 30))
    return plain((*text, f", {shown(unit)}") if unit else text)


def _effects_headline(curves: list[Effect], chosen: list[str]) -> Sentence:
    """Return the feature whose curve spans most in the first model."""
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
        "results.widest" if is_whole else "results.widest_here",
        feature=shortened(widest, 24),
        span=_span(curves, first, widest),
        model=shortened(first, 20),
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
