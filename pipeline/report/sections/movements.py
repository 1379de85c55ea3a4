"""What moved against the baseline: a table per leading ranking, a figure, the rest."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...records.importance_record import Importance
from ...runs.baseline.change import Change, FeatureChange, QuestionChange
from ..figures.bands import BandPanel, BandRow, draw_bands
from ..text.blocks import (
    Cell,
    Cells,
    Column,
    Figure,
    Link,
    Sentence,
    Styled,
    Table,
    Value,
    plain,
)
from ..text.number_text import decimals, interval_text, loss_label, number, percent
from ..text.wording import (
    alt_text,
    display_name,
    full_name,
    look_up,
    say,
    series,
    table_of,
    word,
)
from .facts import Facts, card_link, tallied
from .ranking_tables import measured_in, table_id
from .rankings import Ranking

ROWS = 20
PANELS = 6
QUIET = ("no evidence of change", "rank moved within noise")
"""What the measures behind the leading one need not list."""
OUTSIDE = ("moved", "below the minimum")
"""What left its band, however little."""


def movements(
    facts: Facts, comparison: Change
) -> tuple[Table | Figure | Sentence, ...]:
    """Return a table for each leading ranking, their figure, and what else moved."""
    ranked = {ranking.index: ranking for ranking in facts.rankings}
    leading = {ranking.index for ranking in facts.leads}
    lead = [question for question in comparison.questions if question.new in leading]
    rest = [
        question for question in comparison.questions if question.new not in leading
    ]
    tables = (_table(facts, ranked[question.new], question) for question in lead)
    figure = _figure(facts, [(ranked[question.new], question) for question in lead])
    return (
        *tables,
        *figure,
        *_others(facts, ranked, rest),
        *_unmatched_questions(facts, comparison),
    )


def _table(facts: Facts, ranking: Ranking, question: QuestionChange) -> Table:
    every = sorted(question.features, key=_size, reverse=True)
    short = _first(every)
    table = _rows(facts, ranking, question, short)
    if len(short) == len(every):
        return table
    full = _rows(facts, ranking, question, every)
    full = replace(full, id=f"{table.id}-all", notes=())
    full = replace(full, caption=say("ranking.whole", table=Link(table.id)))
    return replace(table, everything=full)


def _size(row: FeatureChange) -> float:
    """Return how far a feature went; of one that a run lacks, all of the other's."""
    known = [abs(value) for value in (row.old, row.new) if value == value]
    is_in_both = len(known) == 2
    return abs(row.difference) if is_in_both else max(known, default=0.0)


def _first(rows: Sequence[FeatureChange]) -> tuple[FeatureChange, ...]:
    """Return the first of either run, and of the others those that are not quiet."""
    return tuple(
        row
        for row in rows
        if row.rank_old <= ROWS or row.rank_new <= ROWS or row.outcome not in QUIET
    )


def _rows(
    facts: Facts,
    ranking: Ranking,
    question: QuestionChange,
    rows: Sequence[FeatureChange],
) -> Table:
    places = _decimals(question.features)
    caption = say(
        "change.movement",
        model=full_name(ranking.subject),
        measured=measured_in(facts, ranking),
        card=card_link(facts.card(ranking.record)),
    )
    key = "band" if ranking.record.stream else "band_exact"
    notes = [say(f"change.{key}", miss=percent(0.01))]
    if question.why_not:
        notes.append(say("change.cards", fields=question.why_not.replace("_", " ")))
    elif any(row.outcome == "not comparable" for row in rows):
        notes.append(say("change.no_spread"))
    return table_of(
        table_id(ranking).replace("ranking", "movement", 1).removeprefix("tab-"),
        "change",
        [
            Column(say(f"ranking.name.{ranking.record.of}"), "header"),
            "baseline:number",
            "this_run:number",
            "difference:number",
            "half_width:number",
            "ranks_before:number",
            "ranks_now:number",
            "movement_word",
        ],
        [_row(facts, question, row, places) for row in rows],
        caption=caption,
        notes=tuple(notes),
        shape="wide",
    )


def _decimals(rows: Sequence[FeatureChange]) -> int:
    """Return the decimals of all numbers of a question, from its bands."""
    bands = np.array([row.band for row in rows])
    gaps = np.array([row.difference for row in rows if row.outcome == "moved"])
    return decimals(np.array([row.new for row in rows]), bands / 3, gaps)


def _row(
    facts: Facts, question: QuestionChange, row: FeatureChange, places: int
) -> Cells:
    old, new = (
        Cell((_estimate(facts, question, row, side, places),))
        for side in ("old", "new")
    )
    text: Sentence = (str(look_up("change.words")[row.outcome]),)
    band = f"±\u202f{number(row.band, places)}" if row.band == row.band else "–"
    return (
        full_name(row.feature),
        old,
        new,
        number(row.difference, places, sign=True),
        band,
        interval_text(*row.places_old),
        interval_text(*row.places_new),
        text if row.outcome in QUIET else (Styled("strong", text),),
    )


def _estimate(
    facts: Facts, question: QuestionChange, row: FeatureChange, side: str, places: int
) -> Value | str:
    """Return one side's estimate with its place in that side's result."""
    result = facts.baseline if side == "old" else facts.result
    at = question.old if side == "old" else question.new
    features = result.importances[at].features  # type: ignore[union-attr]
    if row.feature not in features:
        return "–"
    start = "baseline." if side == "old" else ""
    path = f"{start}importances[{at}].mean[{features.index(row.feature)}]"
    value = getattr(row, side)
    return Value(path, value, number(value, places))


def _figure(
    facts: Facts, pairs: Sequence[tuple[Ranking, QuestionChange]]
) -> tuple[Figure, ...]:
    """Return F7: differences from the baseline in their bands, a panel per model."""
    panels = [panel for pair in pairs[:PANELS] if (panel := _panel(*pair)).rows]
    if not panels:
        return ()
    ranking = pairs[0][0]
    judged = [row for _, m in pairs for row in m.features if row.band == row.band]
    n_moved, total = sum(row.outcome in OUTSIDE for row in judged), len(judged)
    alt = say(
        "change.alt",
        models=series(panel.title[:24] for panel in panels[:3]),
        moved=str(n_moved),
        total=str(total),
    )
    return (
        Figure(
            id="fig-change",
            draw=draw_bands,
            data={
                "panels": tuple(panels),
                "unit_label": plain((_difference_label(facts, ranking),)),
            },
            alt=alt_text(plain(alt)),
            headline=say(
                "change.headline" if n_moved else "change.headline_none",
                moved=tallied("change", n_moved),
                total=tallied("change", total),
            ),
            caption=say("change.figure", card=card_link(facts.card(ranking.record))),
        ),
    )


def _difference_label(facts: Facts, ranking: Ranking) -> str:
    unit, label = facts.unit(ranking.record), word("change.since_baseline")
    return f"{label}, {unit}" if unit else label


def _panel(ranking: Ranking, question: QuestionChange) -> BandPanel:
    """Return one model's features that have a band, for the figure of bands."""
    places = _decimals(question.features)
    with_band = [row for row in _first(question.features) if row.band == row.band][
        :ROWS
    ]
    n_moved = sum(row.outcome == "moved" for row in question.features)
    return BandPanel(
        title=display_name(ranking.subject),
        verdict=word("change.panel").format(n=n_moved) if n_moved else "",
        rows=tuple(
            BandRow(
                name=display_name(row.feature),
                difference=row.difference,
                half_width=row.band,
                inside=row.outcome not in OUTSIDE,
                text=number(row.difference, places, sign=True),
            )
            for row in with_band
        ),
    )


def _others(
    facts: Facts, ranked: dict[int, Ranking], rest: Sequence[QuestionChange]
) -> tuple[Table | Sentence, ...]:
    """Return what moved in the measures behind the leading one, or that nothing did."""
    loud = [
        (question, row)
        for question in rest
        for row in question.features
        if row.outcome not in QUIET
    ]
    total = sum(len(question.features) for question in rest)
    if not total:
        return ()
    if not loud:
        return (say("change.others_none", n=tallied("change", total)),)
    table = table_of(
        "movement-others",
        "change",
        ("feature:header model card baseline:number this_run:number movement_word"),
        [
            _other_row(facts, ranked[question.new], question, row)
            for question, row in loud
        ],
        caption=say("change.others", n=tallied("change", total)),
        shape="wide",
    )
    return (table,)


def _other_row(
    facts: Facts, ranking: Ranking, question: QuestionChange, row: FeatureChange
) -> Cells:
    places = _decimals(question.features)
    sides = (_estimate(facts, question, row, side, places) for side in ("old", "new"))
    return (
        full_name(row.feature),
        full_name(ranking.subject),
        _measure(facts, ranking),
        *sides,
        str(look_up("change.words")[row.outcome]),
    )


def _measure(facts: Facts, ranking: Ranking) -> Sentence:
    """Return the card of a ranking, with its loss if it has one."""
    card: Sentence = (card_link(facts.card(ranking.record)),)
    loss = ranking.record.loss
    return (*card, f", {loss_label(loss)}") if loss else card


def _unmatched_questions(facts: Facts, comparison: Change) -> tuple[Sentence, ...]:
    """Return which questions one run alone asked."""
    before, after = comparison.unmatched
    texts: list[Sentence] = []
    for key, result, places in (
        ("change.only_before", facts.baseline, before),
        ("change.only_now", facts.result, after),
    ):
        if places and result is not None:
            labels = dict.fromkeys(
                _question_in_words(result.importances[at]) for at in places
            )
            texts.append(say(key, measures=series(labels)))
    return tuple(texts)


def _question_in_words(record: Importance) -> str:
    """Return a question in words: the measure, of what, and of whom."""
    subject = display_name(record.model) if record.model else word("words.the_data")
    return f"{record.method.replace('_', ' ')} of {record.of}, {subject}"
