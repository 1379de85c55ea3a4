"""Movements against the baseline: leading rankings, their figure, other rankings."""

from collections.abc import Sequence

import numpy as np

from ...records.importance_record import Importance
from ...runs.baseline.change import Change, FeatureChange, QuestionChange
from ..figures.bands import BandPanel, BandRow, draw_bands
from ..text.blocks import (
    Figure,
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
    say,
    say_count,
    series,
    table_of,
    word,
)
from .facts import Facts, card_link, tallied
from .ranking_tables import cut_to, measured_in
from .rankings import Ranking

ROWS = 20
PANELS = 6
QUIET = ("no evidence of change", "rank moved within noise")
"""Outcomes that need not be listed."""
OUTSIDE = ("moved", "below the minimum")
"""Outcomes of differences outside their bands, however small."""


def movements(
    facts: Facts, comparison: Change
) -> tuple[Table | Figure | Sentence, ...]:
    """Return a table per leading ranking, their figure, and movements of the others.

    Sentences name the measures that only one of both runs has.
    """
    ranked = {ranking.index: ranking for ranking in facts.rankings}
    pairs = [(ranked[question.new], question) for question in comparison.questions]
    leading = {ranking.index for ranking in facts.leads}
    lead = [pair for pair in pairs if pair[0].index in leading]
    rest = [pair for pair in pairs if pair[0].index not in leading]
    blocks: list[Table | Figure | Sentence] = [_table(facts, *pair) for pair in lead]
    blocks += _figure(facts, lead)
    if any(question.features for _, question in rest):
        blocks.append(_others(facts, rest))
    sides = (
        ("only_before", facts.baseline, comparison.unmatched[0]),
        ("only_now", facts.result, comparison.unmatched[1]),
    )
    for key, result, places in sides:
        if places and result is not None:
            records = (result.importances[at] for at in places)
            measures = series(dict.fromkeys(map(_question_in_words, records)))
            blocks.append(say(f"change.{key}", measures=measures))
    return tuple(blocks)


def _table(facts: Facts, ranking: Ranking, question: QuestionChange) -> Table:
    """Return the table of the movements in a ranking, the largest first."""
    every = sorted(question.features, key=_size, reverse=True)
    key = "band" if ranking.record.stream else "band_exact"
    notes = [say(f"change.{key}", miss=percent(0.01))]
    if question.why_not:
        notes.append(say("change.cards", fields=question.why_not.replace("_", " ")))
    elif any(row.outcome == "not comparable" for row in every):
        notes.append(say("change.no_spread"))
    places = _decimals(question.features)
    cells = []
    for row in every:
        band = number(row.band, places)
        outcome = word(f"change.words.{row.outcome}")
        cells.append(
            {
                ranking.record.of: full_name(row.feature),
                **_estimates(facts, question, row, places),
                "difference": number(row.difference, places, sign=True),
                "half_width": band if row.band != row.band else f"±\u202f{band}",
                "ranks_before": interval_text(*row.places_old),
                "ranks_now": interval_text(*row.places_new),
                "movement_word": outcome
                if row.outcome in QUIET
                else Styled("strong", (outcome,)),
            }
        )
    whole = table_of(
        f"movement-{ranking.key}",
        "change",
        f"ranking.name.{ranking.record.of}:header baseline:number this_run:number "
        "difference:number half_width:number ranks_before:number ranks_now:number "
        "movement_word",
        cells,
        caption=say(
            "change.movement",
            model=full_name(ranking.subject),
            measured=measured_in(facts, ranking),
            card=card_link(facts.card(ranking.record)),
            **_counts(every),
        ),
        notes=tuple(notes),
        shape="wide",
    )
    rows = zip(whole.rows, every, strict=True)
    return cut_to(whole, [row for row, change in rows if _is_shown(change)])


def _counts(rows: Sequence[FeatureChange]) -> dict[str, Value | Sentence]:
    """Return the number of importances that moved, and of all, as fields of a text."""
    moved = sum(row.outcome == "moved" for row in rows)
    all_rows = tallied("change", len(rows))
    return {
        "moved": tallied("change", moved),
        "all": say_count(all_rows, "importance"),
    }


def _size(row: FeatureChange) -> float:
    """Return the size of a movement: the importance itself if one run lacks it."""
    known = [abs(value) for value in (row.old, row.new) if value == value]
    return abs(row.difference) if len(known) == 2 else max(known, default=0.0)


def _is_shown(row: FeatureChange) -> bool:
    """Return whether a feature is first in either run, or its outcome not `QUIET`."""
    is_first = row.rank_old <= ROWS or row.rank_new <= ROWS
    return is_first or row.outcome not in QUIET


def _decimals(rows: Sequence[FeatureChange]) -> int:
    """Return the decimals of all numbers of a question, from its bands."""
    bands = np.array([row.band for row in rows])
    gaps = np.array([row.difference for row in rows if row.outcome == "moved"])
    return decimals(np.array([row.new for row in rows]), bands / 3, gaps)


def _estimates(
    facts: Facts, question: QuestionChange, row: FeatureChange, places: int
) -> dict[str, Value | str]:
    """Return both estimates by column, each with its path in its result."""
    estimates: dict[str, Value | str] = {}
    sides = (
        ("baseline", "baseline.", facts.baseline, question.old, row.old),
        ("this_run", "", facts.result, question.new, row.new),
    )
    for column, start, result, at, value in sides:
        features = result.importances[at].features  # type: ignore[union-attr]
        estimates[column] = "–"
        if row.feature in features:
            path = f"{start}importances[{at}].mean[{features.index(row.feature)}]"
            estimates[column] = Value(path, value, number(value, places))
    return estimates


def _figure(
    facts: Facts, pairs: Sequence[tuple[Ranking, QuestionChange]]
) -> list[Figure]:
    """Return the figure of differences and their bands; empty without any band."""
    panels = [panel for pair in pairs[:PANELS] if (panel := _panel(*pair)).rows]
    if not panels:
        return []
    ranking = pairs[0][0]
    judged = [row for _, m in pairs for row in m.features if row.band == row.band]
    n_moved, total = sum(row.outcome in OUTSIDE for row in judged), len(judged)
    alt = say(
        "change.alt",
        models=series(panel.title[:24] for panel in panels[:3]),
        moved=str(n_moved),
        total=str(total),
    )
    unit, label = facts.unit(ranking.record), word("change.since_baseline")
    figure = Figure(
        id="fig-change",
        draw=draw_bands,
        data={
            "panels": tuple(panels),
            "unit_label": f"{label}, {unit}" if unit else label,
        },
        alt=alt_text(plain(alt)),
        headline=say(
            "change.headline" if n_moved else "change.headline_none",
            moved=tallied("change", n_moved),
            total=tallied("change", total),
        ),
        caption=say("change.figure", card=card_link(facts.card(ranking.record))),
    )
    return [figure]


def _panel(ranking: Ranking, question: QuestionChange) -> BandPanel:
    """Return the panel of one model: its features that have a band."""
    places = _decimals(question.features)
    with_band = [
        row for row in question.features if _is_shown(row) and row.band == row.band
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
            for row in with_band[:ROWS]
        ),
    )


def _others(
    facts: Facts, pairs: Sequence[tuple[Ranking, QuestionChange]]
) -> Table | Sentence:
    """Return the table of movements in the other rankings, or that there are none."""
    cells = []
    for ranking, question in pairs:
        places = _decimals(question.features)
        card: Sentence = (card_link(facts.card(ranking.record)),)
        loss = ranking.record.loss
        cells += [
            {
                "feature": full_name(row.feature),
                "model": full_name(ranking.subject),
                "card": (*card, f", {loss_label(loss)}") if loss else card,
                **_estimates(facts, question, row, places),
                "movement_word": word(f"change.words.{row.outcome}"),
            }
            for row in question.features
            if row.outcome not in QUIET
        ]
    every = [row for _, question in pairs for row in question.features]
    if not cells:
        return say("change.others_none", n=tallied("change", len(every)))
    return table_of(
        "movement-others",
        "change",
        "feature:header model card baseline:number this_run:number movement_word",
        cells,
        caption=say("change.others", **_counts(every)),
        shape="wide",
    )


def _question_in_words(record: Importance) -> str:
    """Return a question in words: its method, `of`, and the model or the data."""
    subject = display_name(record.model) if record.model else word("words.the_data")
    return f"{record.method.replace('_', ' ')} of {record.of}, {subject}"
