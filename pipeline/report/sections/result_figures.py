"""The figures of section F: a ranking, models side by side."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from ...records.ranking import LEVEL
from ..figures.models import ModelPanel, ModelRow, draw_models
from ..figures.ranking import RankingRow, draw_ranking
from ..text.blocks import Figure, Link, Sentence, Value, plain
from ..text.number_text import count, lone, loss_label, number, percent, unit_text
from ..text.wording import (
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
from . import linear_flags
from .facts import Facts, card_link, whole
from .linear_flags import Flag
from .ranking_tables import (
    baseline_of,
    measured_in,
    over_repeats,
    table_id,
    value_of,
    value_word,
)
from .rankings import TOP, Ranking

REPEATS = 60
"""Most repeats that ticks can show one by one."""
PANEL_ROWS = 36
PANELS = 6
"""What one figure can hold and stay legible."""
ALT = 250
NAMED = 3
"""Most features that an alternative text names as those that may lead."""


def ranking_figure(
    facts: Facts, ranking: Ranking, ranked: Sequence[Ranking]
) -> Figure | None:
    """Return the ranking as dots with intervals; None of pairs, which have a map.

    The repeats are shown where no figure of several models, `ranked`, shows them.
    """
    record = ranking.record
    if record.of == "pairs" or not ranking.measured:
        return None
    in_boxes = ranking.starts_at_loss and len(ranked) > 1
    is_few = 1 < record.n_repeats <= REPEATS
    with_repeats = ranking.is_drawn and is_few and not in_boxes
    shown_rows = ranking.leading(TOP)
    rows = tuple(_figure_row(ranking, row, with_repeats) for row in shown_rows)
    baseline = _baseline_text(ranking) if ranking.starts_at_loss else ()
    return Figure(
        id=table_id(ranking).replace("tab-", "fig-"),
        draw=draw_ranking,
        data={
            "rows": rows,
            "unit_label": plain(measured_in(facts, ranking)),
            "baseline_label": plain(joined((named(ranking.subject), baseline), " ")),
            "baseline": ranking.nothing,
            "value_label": value_word(ranking).lower(),
        },
        alt=_ranking_alt(facts, ranking, len(rows)),
        headline=_headline(ranking),
        caption=_ranking_caption(facts, ranking, with_repeats),
    )


def _ranking_caption(facts: Facts, ranking: Ranking, with_repeats: bool) -> Sentence:
    """Return what the marks are: an interval and repeats only if they are drawn."""
    record, drawn = ranking.record, ranking.is_drawn
    path = f"importances[{ranking.index}].n_repeats"
    repeats = whole(path, record.n_repeats)
    from_loss, zero = ranking.starts_at_loss, lone(ranking.nothing)
    key = ("ranking" if from_loss else "ranking_mean") if drawn else "ranking_exact"
    return (
        *say(
            f"figures.{key}",
            estimate=over_repeats(ranking) if drawn else "",
            level=percent(LEVEL),
            card=card_link(facts.card(record)),
        ),
        *(say("figures.ranking_repeats", n=repeats) if with_repeats else ()),
        *say(
            "figures.dashed_loss" if from_loss else "figures.dashed_zero",
            zero=zero,
        ),
        *say("figures.ranking_data", table=Link(table_id(ranking))),
    )


def _figure_row(ranking: Ranking, row: int, with_repeats: bool) -> RankingRow:
    value = value_of(ranking, row)
    return RankingRow(
        name=display_name(ranking.record.features[row]),
        estimate=value.raw,
        low=float(ranking.low[row]),
        high=float(ranking.high[row]),
        text=value.text,
        repeats=tuple(ranking.record.values[row].tolist()) if with_repeats else (),
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
        one, other = above[list(measured[:2])]
        ratio = one / other if other else np.inf
        if 1.05 <= ratio < 100:
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
        "figures.ranking_alt" if ranking.is_drawn else "figures.ranking_alt_exact",
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
    flagged = {flag.feature: flag for flag in linear_flags.flags(facts, chosen)}
    names = _drawn(ranked[0], flagged, max(PANEL_ROWS // len(chosen), 3))
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
        draw=draw_models,
        data={
            "panels": tuple(_panel(r, names, flagged) for r in chosen),
            "axis_label": plain((*label, f", {shown(unit)}") if unit else label),
            "value_label": word("figures.models_value"),
        },
        alt=_models_alt(chosen, names, flagged),
        headline=_models_headline(chosen),
        caption=(
            *caption,
            *((f" {apart}.",) if apart else ()),
            *linear_flags.in_words(facts, tuple(flagged.values())),
            *not_drawn([r.subject for r in alike[PANELS:]]),
        ),
    )


def _drawn(ranking: Ranking, flagged: Collection[str], most: int) -> list[str]:
    """Return the first features of a ranking, and before the last what is flagged."""
    names = [ranking.record.features[row] for row in ranking.measured]
    first = [name for name in names if name in flagged][:most]
    others = [name for name in names if name not in flagged]
    chosen = {*first, *others[: most - len(first)]}
    return [name for name in names if name in chosen]


def _panel(
    ranking: Ranking, names: Sequence[str], flagged: Mapping[str, Flag]
) -> ModelPanel:
    record = ranking.record
    base = float(record.baseline.mean())
    rows = []
    for name in names:
        raw = record.raw[record.features.index(name)]
        mean = float(raw.mean())
        repeats = tuple(raw.tolist()) if ranking.is_drawn else ()
        text = number(mean, ranking.places)
        mark, note = linear_flags.mark(flagged.get(name), record.model)
        rows.append(ModelRow(display_name(name), mean, repeats, text, mark, note))
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


def _models_alt(
    chosen: Sequence[Ranking], names: Sequence[str], flagged: Collection[str]
) -> str:
    record = chosen[0].record
    firsts = (
        joined((shortened(r.record.model, 20), _leading(r)), " ")
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
    marked = joined(shortened(name, 20) for name in flagged)
    exception = plain(say("flags.alt", features=marked)) if flagged else ""
    words = plain(text) + exception
    return words if len(words) <= ALT else plain(text)[:ALT]


def _leading(ranking: Ranking) -> Sentence:
    """Return all that a model may react most to, or that they are too many to name."""
    may_lead, names = _possible_leaders(ranking), ranking.record.features
    in_order = [names[row] for row in ranking.measured if names[row] in may_lead]
    if not 1 <= len(in_order) <= NAMED:
        return say("words.has_no_leader")
    either = joined((shortened(name, 20) for name in in_order), f" {word('words.or')} ")
    return (f"{word('words.reacts_to')} ", *either)


def not_drawn(models: Sequence[str]) -> Sentence:
    """Return which models a figure has no room for, empty if none."""
    if not models:
        return ()
    return say("figures.more_models", models=series(named(name) for name in models))
