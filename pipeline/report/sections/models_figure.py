"""A figure of section F: the losses of several models side by side."""

from collections.abc import Sequence
from dataclasses import replace
from math import nan

import numpy as np

from ...records.ranking import LEVEL, interval
from ..figures.models import ModelPanel, draw_models
from ..figures.parts import Row
from ..text.blocks import Figure, Sentence, plain
from ..text.number_text import count, end_text, lone, number, percent
from ..text.wording import (
    display_name,
    figure_of,
    full_name,
    joined,
    key_of,
    say,
    series,
    short_name,
    word,
)
from .facts import Facts, card_link, repeats_of
from .ranking_tables import measured_in
from .rankings import Ranking

PANEL_ROWS, MOST_EACH = 36, 8
PANELS = 6
"""Most rows of all panels, rows of one panel, and panels of a legible figure."""
NAMED = 3
"""Most possible leaders of a model that an alternative text names."""


def interval_name(ranking: Ranking) -> Sentence:
    """Return the name of an interval: over other rows, or over the random draws alone.

    The latter is no statement about the importance of a feature, and is named without
    its level for permutation.
    """
    if ranking.row_intervals:
        return say("figures.over_rows", level=percent(LEVEL))
    if ranking.starts_at_loss:
        return say("figures.shuffling_noise")
    return say("figures.over_repeats", level=percent(LEVEL))


def models_figure(facts: Facts, ranked: Sequence[Ranking]) -> Figure | None:
    """Return the figure of losses after permutation, with a panel per model.

    Features are in the order of the first ranking. None for other measures, and unless
    two models have the same features.
    """
    first = ranked[0]
    record, features = first.record, first.record.features
    comparable = [r for r in ranked if set(r.record.features) == set(features)]
    rankings = comparable[:PANELS]
    if not first.starts_at_loss or len(rankings) < 2 or not first.measured:
        return None
    over_rows = all(
        r.row_intervals and r.record.form in ("difference", "ratio") for r in rankings
    )
    most = min(max(PANEL_ROWS // len(rankings), 3), MOST_EACH)
    names = first.in_order[:most]
    apart = facts.apart(record)
    caption = say(
        "figures.models_over_rows" if over_rows else "figures.models",
        repeats=repeats_of(record, f"importances[{first.index}]"),
        level=percent(LEVEL),
        card=card_link(facts.card(record)),
    )
    panels = tuple(_panel(r, names, over_rows=over_rows) for r in rankings)
    losses = replace(first, record=replace(record, form="raw"))
    axis_label = plain(measured_in(facts, losses))
    id_ = key_of(record.method, record.of, record.loss, record.form, apart)
    return figure_of(
        f"models-{id_}",
        draw_models,
        {
            "panels": panels,
            "axis_label": axis_label,
            "value_label": word("figures.models_value"),
        },
        alt=say(
            "figures.models_alt",
            models=str(len(rankings)),
            n=str(len(names)),
            total=count(len(features)),
            of=word(f"asked.{record.of}"),
            label=axis_label,
            firsts=joined(
                (short_name(r.subject), " ", *_leading(r))
                for r in rankings
                if r.measured
            ),
        ),
        headline=_headline(facts, rankings),
        caption=(
            *caption,
            *shown_of(len(names), len(features)),
            *((f" {apart}.",) if apart else ()),
            *not_drawn([r.subject for r in comparable[PANELS:]]),
        ),
    )


def _panel(ranking: Ranking, names: Sequence[str], *, over_rows: bool) -> ModelPanel:
    """Return the panel of one model, with intervals over other rows or its repeats."""
    record = ranking.record
    base = float(record.baseline.mean())
    # The intervals of a rise or a ratio as losses after shuffling.
    factor = base if record.form == "ratio" else 1.0
    start = base if record.form == "difference" else 0.0
    bounds = (ranking.low, ranking.high) if over_rows else interval(record)
    rows = []
    for name in names:
        at = record.features.index(name)
        mean = float(record.raw[at].mean())
        low, high = (start + factor * float(ends[at]) for ends in bounds)
        ends = (low, high) if ranking.is_drawn else (nan, nan)
        rows.append(figure_row(ranking, at, mean, ends, number(mean, ranking.places)))
    before = lone(base, least=ranking.places)
    text = plain(say("figures.panel_base", value=before))
    return ModelPanel(display_name(record.model), base, text, tuple(rows))


def figure_row(
    ranking: Ranking,
    row: int,
    estimate: float,
    ends: tuple[float, float],
    text: str,
) -> Row:
    """Return a feature as a row of a figure, with its estimate and interval.

    Its tooltip also names the model.
    """
    name = display_name(ranking.record.features[row])
    words = say(
        "figures.mark" if np.isfinite(ends).all() else "figures.mark_alone",
        model=short_name(ranking.subject),
        feature=name,
        value=text,
        low=end_text(ends[0], ranking.places),
        high=end_text(ends[1], ranking.places),
    )
    return Row(name, estimate, *ends, text, title=plain(words))


def _headline(facts: Facts, rankings: Sequence[Ranking]) -> Sentence:
    """Return the headline: the common leading feature, if the intervals settle it."""
    firsts = [set(_possible_leaders(r)) for r in rankings if r.measured]
    shared = set.intersection(*firsts)
    if shared and all(len(names) == 1 for names in firsts):
        is_every = {r.record.model for r in rankings} >= set(facts.models)
        key = "all_lead" if is_every else "these_lead"
        return say(f"results.{key}", feature=short_name(min(shared)))
    return say(f"results.{'open' if shared else 'differ'}_{rankings[0].record.of}")


def _possible_leaders(ranking: Ranking) -> list[str]:
    """Return the features that may rank first: all of them without intervals."""
    may_lead = (row for row in ranking.measured if not ranking.first[row] > 1)
    return [ranking.record.features[row] for row in may_lead]


def _leading(ranking: Ranking) -> Sentence:
    """Return the possible leaders of a model in words, or that it has no leader."""
    names = _possible_leaders(ranking)
    if not 1 <= len(names) <= NAMED:
        return say("words.has_no_leader")
    either = joined(map(short_name, names), f" {word('words.or')} ")
    return (f"{word('words.reacts_to')} ", *either)


def shown_of(n: int, total: int) -> Sentence:
    """Return a sentence on the features in a figure; empty if none is left out."""
    if n == total:
        return ()
    return say("figures.ranking_some", n=count(n), of=count(total))


def not_drawn(models: Sequence[str]) -> Sentence:
    """Return a sentence on the models that are not in a figure; empty without any."""
    if not models:
        return ()
    return say("figures.more_models", models=series(map(full_name, models)))
