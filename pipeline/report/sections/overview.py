"""The overview of section F: the ranks of all features in all rankings."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from ..text.blocks import Cell, Column, Part, Sentence, Table, Value
from ..text.number_text import MISSING, loss_label, rank_text
from ..text.wording import NO_BREAK, full_name, joined, say, short_name, table_of
from .facts import Facts, card_link, tallied
from .rankings import Ranking

MOST_COLUMNS = 10
ROWS = 24
SHADES = ((1, 5), (3, 4), (5, 3), (10, 2))
"""Largest rank with a shade, and the shade."""


def overview_tables(facts: Facts) -> tuple[Table, ...]:
    """Return the matrices of ranks of features, then of groups; none of one ranking.

    A matrix is split if the page is too narrow for all columns. The rankings of one
    model are next to each other, those of the data last.
    """
    tables: list[Table] = []
    for of in ("features", "groups"):
        rankings = _compared(facts, of)
        if not rankings:
            continue
        models = dict.fromkeys(r.record.model for r in rankings if r.record.model)
        order = [*models, ""]
        rankings.sort(key=lambda r: order.index(r.record.model))
        # Most often measured first, then by the mean rank.
        ranks = pd.DataFrame(
            dict(zip(r.record.features, r.rank, strict=True)) for r in rankings
        )
        counts, means = ranks.count(), ranks.mean()
        names = sorted(ranks, key=lambda name: (-counts[name], means[name]))
        wide = -(-len(rankings) // -(-len(rankings) // MOST_COLUMNS))
        for page, start in enumerate(range(0, len(rankings), wide)):
            on_page = rankings[start : start + wide]
            tables.append(_matrix(facts, of, on_page, names, page))
    note = (say("overview.note"),)
    return tuple(replace(t, notes=note if t is tables[0] else ()) for t in tables)


def in_overview(facts: Facts, ranking: Ranking) -> bool:
    """Return whether a matrix of `overview_tables` contains a ranking."""
    of = ranking.record.of
    return of in ("features", "groups") and ranking in _compared(facts, of)


def _compared(facts: Facts, of: str) -> list[Ranking]:
    """Return the rankings of features or of groups, none if there is only one."""
    rankings = [r for r in facts.rankings if r.record.of == of and r.measured]
    return rankings if len(rankings) > 1 else []


def _matrix(
    facts: Facts, of: str, rankings: Sequence[Ranking], names: Sequence[str], page: int
) -> Table:
    columns: list[str | Column] = [
        f"ranking.name.{of}:header",
        *(Column(_head(facts, ranking), "number") for ranking in rankings),
    ]
    rows: list[tuple[Any, ...]] = [
        (short_name(name), *(_cell(ranking, name) for ranking in rankings))
        for name in names[:ROWS]
    ]
    if len(names) > ROWS:
        n = tallied("importances", len(names) - ROWS)
        rows.append((say("ranking.rest", n=n), *[""] * len(rankings)))
    return table_of(
        f"overview-{of}" + (f"-{page + 1}" if page else ""),
        "overview",
        columns,
        rows,
        caption=say(f"overview.{of}_more" if page else f"overview.{of}"),
        source="tables/importances.csv",
        shape="wide",
    )


def _head(facts: Facts, ranking: Ranking) -> Sentence:
    """Return the head of a column: model, card, and loss or class if these differ."""
    record, card = ranking.record, facts.card(ranking.record)
    same_card = [
        r.record
        for r in facts.rankings
        if r.record.model == record.model and facts.card(r.record) == card
    ]
    head: list[Part] = [short_name(ranking.subject), card_link(card)]
    if len({r.loss for r in same_card}) > 1:
        head.append(loss_label(record.loss).replace(" ", NO_BREAK))
    if len({r.positive_class for r in same_card}) > 1:
        head.append(full_name(record.positive_class))
    return joined(head, " ")


def _cell(ranking: Ranking, name: str) -> Cell | str:
    """Return the cell of a rank: shaded for the first, with an arrow if negative.

    Features that are not measured or are indistinguishable from zero have a dash.
    """
    row = ranking.record.features.index(name) if name in ranking.in_order else None
    if row is None or not (ranking.is_above_zero[row] or row in ranking.negative):
        return MISSING
    rank = float(ranking.rank[row])
    value = Value(f"importances[{ranking.index}].rank[{row}]", rank, rank_text(rank))
    if row in ranking.negative:
        return Cell((value, " ↓"))
    return Cell((value,), shade=next((s for most, s in SHADES if rank <= most), 0))
