"""Movements against the baseline, in leading rankings and in others."""

from collections.abc import Sequence

import numpy as np

from ...records.importance_record import Importance
from ...runs.baseline.change import Change, FeatureChange, QuestionChange
from ..text.blocks import (
    Sentence,
    Styled,
    Table,
    Value,
)
from ..text.number_text import decimals, interval_text, loss_label, number, percent
from ..text.wording import (
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
QUIET = ("no evidence of change", "rank moved within noise")
"""Outcomes that need not be listed."""


def movements(facts: Facts, comparison: Change) -> tuple[Table | Sentence, ...]:
    """Return a table per leading ranking, and movements in the others.

    Sentences name the measures that only one of both runs has.
    """
    ranked = {ranking.index: ranking for ranking in facts.rankings}
    pairs = [(ranked[question.new], question) for question in comparison.questions]
    leading = {ranking.index for ranking in facts.leads}
    lead = [pair for pair in pairs if pair[0].index in leading]
    rest = [pair for pair in pairs if pair[0].index not in leading]
    blocks: list[Table | Sentence] = [_table(facts, *pair) for pair in lead]
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
