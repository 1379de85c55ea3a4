"""A table per ranking: how far other rows or more repeats would move it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd

from ...records.ranking import LEVEL
from ..text.blocks import Cell, Column, Link, Row, Sentence, Table, Value
from ..text.number_text import (
    MISSING,
    count,
    interval_text,
    number,
    percent,
    rank_text,
    rounded_up,
    significant,
)
from ..text.wording import counted, joined, named, say, word
from .facts import Facts, config_of, tallied, whole
from .ranking_tables import DASH, table_id
from .rankings import Ranking, cut

LARGE = 1e7
"""Counts above it are told by their size."""


def stability_table(facts: Facts, ranking: Ranking) -> Table | None:
    """Return how stable a ranking is, cut like its own table; None if not asked."""
    frame = facts.result.stability
    frame = frame[frame["record"] == ranking.index]
    if frame.empty:
        return None
    places = dict(zip(frame["feature"], frame.index, strict=True))
    return cut_alike(ranking, partial(_table, facts, ranking, places))


def cut_alike(ranking: Ranking, made: Callable[[Sequence[int]], Table]) -> Table:
    """Return a table of a ranking's rows, cut like the ranking's own.

    `made` returns the table of some rows.
    """
    shown = cut(ranking)
    table = made(shown)
    if len(shown) == len(ranking.order):
        return table
    full = made(ranking.order)
    full = replace(
        full,
        id=f"{table.id}-all",
        notes=(),
        caption=say("ranking.whole", table=Link(table.id)),
    )
    n = tallied("importances", len(ranking.order) - len(shown))
    rest = [DASH, Cell(say("ranking.rest", n=n)), *[DASH] * (len(table.columns) - 2)]
    return replace(table, rows=(*table.rows, Row(tuple(rest))), everything=full)


def _table(
    facts: Facts, ranking: Ranking, places: dict[str, int], rows: Sequence[int]
) -> Table:
    frame = facts.result.stability
    top_k = int(config_of(facts, "checks").get("top_k", 3))
    columns = [
        Column(say("ranking.rank"), "number", 8),
        Column(say(f"ranking.name.{ranking.record.of}"), "header", 32),
        Column(say("stability.ranks", level=percent(LEVEL)), "number", 22),
        Column(say("stability.top", k=str(top_k)), "number", 16),
    ]
    if ranking.is_drawn:
        columns.append(Column(say("stability.settle"), "number", 22))
    return Table(
        id=table_id(ranking).replace("ranking", "stability", 1),
        caption=_caption(facts, ranking, places),
        columns=tuple(columns),
        rows=tuple(
            _row(ranking, row, frame, places[ranking.record.features[row]])
            for row in rows
        ),
        notes=_notes(facts, ranking, places),
    )


def _row(ranking: Ranking, row: int, frame: pd.DataFrame, place: int) -> Row:
    told = frame.loc[place]
    path = f"stability[{place}]"
    low, high, share = (
        float(told[name]) for name in ("rank_low", "rank_high", "p_top_k")
    )
    inside = Value(f"{path}.p_top_k", share, percent(share))
    cells = [
        Cell((rank_text(float(ranking.rank[row])),)),
        Cell((named(ranking.record.features[row]),)),
        Cell((interval_text(low, high),)),
        Cell((inside,)),
    ]
    if ranking.is_drawn:
        needed = float(told["repeats_to_settle"])
        settle = Value(f"{path}.repeats_to_settle", needed, _repeats(needed))
        cells.append(Cell((settle,)))
    return Row(tuple(cells))


def _repeats(needed: float) -> str:
    """Return a count of repeats in words where it is none."""
    if math.isnan(needed):
        return MISSING
    if math.isinf(needed):
        return word("stability.never")
    if needed >= LARGE:
        return significant(needed)
    if needed < 100:
        return count(int(needed))
    return word("stability.about").format(n=count(rounded_up(int(needed))))


def _caption(facts: Facts, ranking: Ranking, places: dict[str, int]) -> Sentence:
    """Return whose ranking it is, and on how many resamples of which rows."""
    most = _resamples(facts, places)
    what = say(
        "stability.caption",
        what=word(f"asked.{ranking.record.of}"),
        model=named(ranking.subject),
        table=Link(table_id(ranking)),
    )
    if not most.raw:
        return (*what, *say("stability.not_resampled"))
    rows = whole(f"importances[{ranking.index}].n_samples", ranking.record.n_samples)
    drawn = say(
        "stability.resampled",
        resamples=counted(most, "resample"),
        rows=counted(rows, "row"),
    )
    return (*what, *drawn)


def _resamples(facts: Facts, places: dict[str, int]) -> Value:
    """Return the resamples behind most features."""
    column = facts.result.stability["resamples"]
    place = max(places.values(), key=lambda at: int(column[at]))
    return whole(f"stability[{place}].resamples", int(column[place]))


def _notes(
    facts: Facts, ranking: Ranking, places: dict[str, int]
) -> tuple[Sentence, ...]:
    frame, most = facts.result.stability, _resamples(facts, places)
    notes: list[Sentence] = []
    if most.raw:
        key = "note_model" if ranking.record.model else "note"
        notes.append(say(f"stability.{key}"))
    fewer = [
        (named(name), f" ({number(float(frame.at[at, 'resamples']), 0)})")
        for name, at in places.items()
        if frame.at[at, "resamples"] < most.raw
    ]
    if fewer:
        notes.append(say("stability.fewer", names=joined(fewer[:10])))
    if ranking.is_drawn:
        path = f"importances[{ranking.index}].n_repeats"
        repeats = counted(whole(path, ranking.record.n_repeats), "repeat")
        notes.append(
            say("stability.settle_note", level=percent(LEVEL), repeats=repeats)
        )
    return tuple(notes)
