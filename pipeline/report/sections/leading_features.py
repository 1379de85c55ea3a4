"""What the models rely on, for page one: the leading features, models side by side."""

from collections.abc import Sequence

import numpy as np

from ...records.ranking import LEVEL
from ..text.blocks import Cell, Column, Part, Row, Sentence, Table
from ..text.number_text import interval_text, loss_label, percent, rank_text
from ..text.wording import (
    full_name,
    joined,
    say,
    section_link,
    sentence_case,
    series,
    short_name,
)
from .facts import Facts, card_link, tallied
from .model_quality import best_first
from .ranking_tables import (
    axis_of,
    bar_cell,
    baseline_of,
    bound_values,
    bounds_of,
    interval_columns,
    measured_in,
    on_drawn_rows,
    over_repeats,
    places_of,
    value_label,
    value_of,
)
from .rankings import Ranking

FEATURES, BESIDE = 7, 6
"""Rows of one model alone, and of several side by side."""
MODELS, WITH_BOUNDS = 3, 2
"""Models side by side, and up to how many there is room for the intervals too."""
WITH_INTERVAL, WITHOUT = (8.5, 15, 9.5), (11, 11)
"""Widths of the columns of a model: value, interval where there is room, rank."""


def shown_rankings(facts: Facts) -> list[Ranking]:
    """Return the rankings that page one shows: of the best models on new rows."""
    return _by_quality(facts)[:MODELS]


def _by_quality(facts: Facts) -> list[Ranking]:
    order = best_first(facts)
    names = {name: place for place, name in enumerate(order)}
    return sorted(facts.leads, key=lambda r: names.get(r.record.model, len(order)))


def leading_table(facts: Facts) -> Table | None:
    """Return the leading features, each model beside the others; None of no ranking."""
    rankings = shown_rankings(facts)
    if not rankings:
        return None
    if len(rankings) == 1:
        return _of_one(facts, rankings[0])
    return _of_several(facts, rankings)


def negative_features(facts: Facts) -> tuple[Sentence, ...]:
    """Return a sentence per model on what it does better with shuffled."""
    sentences = []
    for ranking in facts.leads:
        below = [row for row in ranking.order if row in ranking.negative]
        if below:
            names = ranking.record.features
            features = series(short_name(names[row]) for row in below[:MODELS])
            more = len(below) - MODELS
            rest = say("words.more", n=tallied("row_intervals", more))
            sentences.append(
                say(
                    "leading.negative",
                    features=(*features, ", ", *rest) if more > 0 else features,
                    model=full_name(ranking.subject),
                )
            )
    return tuple(sentences)


def _of_one(facts: Facts, ranking: Ranking) -> Table:
    """Return the first rows of the one ranking as a short table."""
    rows = ranking.order[:FEATURES]
    axis = axis_of(ranking, rows)
    columns = [
        Column(say("ranking.rank"), "number", 7),
        Column(say(f"ranking.name.{ranking.record.of}"), "header", 31),
        Column((value_label(ranking),), "number", 12),
        Column((axis.text,), "bar", 14),
    ]
    if ranking.is_drawn:
        columns += interval_columns(ranking)
    body = []
    for row in rows:
        cells = [
            Cell((rank_text(float(ranking.rank[row])),)),
            Cell((short_name(ranking.record.features[row]),)),
            Cell((value_of(ranking, row),)),
            bar_cell(ranking, row, axis),
        ]
        if ranking.is_drawn:
            cells += [*bounds_of(ranking, row), places_of(ranking, row)]
        body.append(Row(tuple(cells)))
    return Table(
        id="tab-executive",
        caption=_caption_of_one(facts, ranking),
        columns=tuple(columns),
        rows=tuple(body),
        notes=_notes(facts, [ranking], len(ranking.order) - len(rows)),
        shape="tight",
    )


def _of_several(facts: Facts, rankings: Sequence[Ranking]) -> Table:
    """Return the features that lead on average, with every model's own numbers."""
    names, n_all = _leading_names(rankings)
    with_bounds = len(rankings) <= WITH_BOUNDS and rankings[0].is_drawn
    own = WITH_INTERVAL if with_bounds else WITHOUT
    columns = [
        Column(
            say(f"ranking.name.{rankings[0].record.of}"),
            "header",
            100 - sum(own) * len(rankings),
        )
    ]
    for ranking in rankings:
        columns += _heads(ranking, own, with_bounds=with_bounds)
    return Table(
        id="tab-executive",
        caption=_caption_of_several(facts, rankings),
        columns=tuple(columns),
        rows=tuple(
            (
                short_name(name),
                *(
                    cell
                    for ranking in rankings
                    for cell in _cells(ranking, name, with_bounds=with_bounds)
                ),
            )
            for name in names
        ),
        notes=_notes(facts, rankings, n_all - len(names)),
        shape="wide",
        abreast=len(own),
    )


def _leading_names(rankings: Sequence[Ranking]) -> tuple[list[str], int]:
    """Return the first features by their mean rank, and how many there are in all.

    What a model has not measured takes a place behind all that it has.
    """
    every = list(dict.fromkeys(n for r in rankings for n in r.record.features))
    ranks = np.full((len(every), len(rankings)), np.nan)
    for column, ranking in enumerate(rankings):
        own = dict(zip(ranking.record.features, ranking.rank, strict=True))
        ranks[:, column] = [own.get(name, np.nan) for name in every]
    means = np.where(np.isnan(ranks), len(every) + 1, ranks).mean(axis=1)
    order = np.argsort(means, kind="stable")
    return [every[place] for place in order[:BESIDE]], len(every)


def _heads(
    ranking: Ranking, widths: Sequence[float], *, with_bounds: bool
) -> list[Column]:
    heads: list[Sentence] = [(short_name(ranking.subject),)]
    if with_bounds:
        key = "interval" if ranking.row_intervals else "interval_draws"
        heads.append(say(f"leading.{key}", level=percent(LEVEL)))
    heads.append(say("ranking.rank"))
    return [
        Column(head, "number", width) for head, width in zip(heads, widths, strict=True)
    ]


def _cells(ranking: Ranking, name: str, *, with_bounds: bool) -> list[Cell]:
    if name not in ranking.record.features:
        return [Cell(("–",))] * (3 if with_bounds else 2)
    row = ranking.record.features.index(name)
    cells = [Cell((value_of(ranking, row),))]
    if with_bounds:
        low, high = bound_values(ranking, row)
        cells.append(Cell(say("leading.from_to", low=low, high=high)))
    rank = rank_text(float(ranking.rank[row]))
    ranks = interval_text(ranking.first[row], ranking.last[row])
    is_open = ranking.is_drawn and ranks != rank
    cells.append(Cell((f"{rank} ({ranks})" if is_open else rank,)))
    return cells


def _caption_of_one(facts: Facts, ranking: Ranking) -> Sentence:
    """Return the estimand in one sentence: model, measure, repeats, card."""
    name: Part = sentence_case((ranking.subject,))[0]
    if ranking.record.model:
        name = short_name(ranking.subject)
    text = say(
        "leading.caption_one",
        model=name,
        measured=measured_in(facts, ranking),
        card=card_link(facts.card(ranking.record)),
    )
    if ranking.is_drawn:
        text += say("leading.over", estimate=over_repeats(ranking))
    if ranking.starts_at_loss:
        text += say(
            "leading.before",
            loss=loss_label(ranking.record.loss),
            value=baseline_of(ranking),
            rows=on_drawn_rows(ranking),
        )
    return (*text, ".")


def _caption_of_several(facts: Facts, rankings: Sequence[Ranking]) -> Sentence:
    first = rankings[0]
    text = say(
        "leading.caption_several",
        measured=sentence_case(measured_in(facts, first)),
        card=card_link(facts.card(first.record)),
    )
    if first.is_drawn:
        text += say("leading.over", estimate=over_repeats(first))
    return (*text, ".")


def _notes(
    facts: Facts, rankings: Sequence[Ranking], more: int
) -> tuple[Sentence, ...]:
    notes = []
    if more > 0:
        n, section = tallied("importances", more), section_link("F")
        notes.append(say("leading.more", n=n, section=section))
    if left_out := [r.subject for r in _by_quality(facts)[MODELS:]]:
        models = joined(short_name(name) for name in dict.fromkeys(left_out))
        section = section_link("F")
        notes.append(say("leading.other_models", models=models, section=section))
    if any(ranking.is_drawn for ranking in rankings):
        is_over_rows = all(ranking.row_intervals for ranking in rankings)
        key = "over_rows" if is_over_rows else "over_draws"
        what = "one" if len(rankings) == 1 else "both"
        what = what if len(rankings) <= WITH_BOUNDS else "ranks"
        subject = say(f"leading.shown.{what}")
        notes.append((*subject, *say(f"leading.{key}")))
    return tuple(notes)
