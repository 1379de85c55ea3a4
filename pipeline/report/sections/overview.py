"""The overview of section F: the rank of each feature in every ranking at once."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..text.blocks import Cell, Column, Part, Sentence, Table, Value
from ..text.number_text import loss_label, rank_text
from ..text.wording import NO_BREAK, full_name, say, short_name
from .facts import Facts, card_link, tallied
from .ranking_tables import DASH
from .rankings import Ranking

MOST_COLUMNS = 10
ROWS = 24
SHADES = ((1, 5), (3, 4), (5, 3), (10, 2))
"""Up to which rank a cell has which shade."""


def overview_tables(facts: Facts) -> tuple[Table, ...]:
    """Return the matrices of ranks: features, then groups; nothing of one ranking."""
    tables: list[Table] = []
    for of in ("features", "groups"):
        rankings = [r for r in facts.rankings if r.record.of == of and r.measured]
        if len(rankings) > 1:
            tables += _matrices(facts, of, _by_model(rankings))
    note = (say("overview.note"),)
    return tuple(replace(t, notes=note if t is tables[0] else ()) for t in tables)


def in_overview(facts: Facts, ranking: Ranking) -> bool:
    """Return whether a matrix of `overview_tables` holds the ranks of a ranking."""
    of = ranking.record.of
    alike = [r for r in facts.rankings if r.record.of == of and r.measured]
    return of in ("features", "groups") and len(alike) > 1 and ranking in alike


def _by_model(rankings: Sequence[Ranking]) -> list[Ranking]:
    """Return the rankings of one model next to each other, those of the data last."""
    models = [r.record.model for r in rankings if r.record.model]
    order = {name: place for place, name in enumerate(dict.fromkeys(models))}
    return sorted(rankings, key=lambda r: order.get(r.record.model, len(order)))


def _matrices(facts: Facts, of: str, rankings: Sequence[Ranking]) -> list[Table]:
    """Return one table, or several where the page is too narrow for all columns."""
    names = _by_mean_rank(rankings)
    pages = -(-len(rankings) // MOST_COLUMNS)
    wide = -(-len(rankings) // pages)
    return [
        _matrix(facts, of, rankings[at : at + wide], names, n)
        for n, at in enumerate(range(0, len(rankings), wide))
    ]


def _by_mean_rank(rankings: Sequence[Ranking]) -> list[str]:
    """Return every name, sorted by its mean rank over the rankings that measured it.

    What fewer rankings measured comes behind what more did.
    """
    every = dict.fromkeys(name for r in rankings for name in r.record.features)
    ranks: dict[str, list[float]] = {name: [] for name in every}
    for ranking in rankings:
        for name, rank in zip(ranking.record.features, ranking.rank, strict=True):
            if np.isfinite(rank):
                ranks[name].append(float(rank))
    means = {name: float(np.mean(r)) if r else np.nan for name, r in ranks.items()}
    return sorted(every, key=lambda name: (-len(ranks[name]), means[name]))


def _matrix(
    facts: Facts,
    of: str,
    rankings: Sequence[Ranking],
    names: Sequence[str],
    number: int,
) -> Table:
    columns = (
        Column(say(f"ranking.name.{of}"), "header"),
        *(Column(_head(facts, r), "number") for r in rankings),
    )
    rows = [
        (short_name(name), *(_cell(ranking, name) for ranking in rankings))
        for name in names[:ROWS]
    ]
    if len(names) > ROWS:
        n = tallied("importances", len(names) - ROWS)
        rows.append((say("ranking.rest", n=n), *[DASH] * len(columns[1:])))
    return Table(
        id=f"tab-overview-{of}" + (f"-{number + 1}" if number else ""),
        caption=say(f"overview.{of}_more" if number else f"overview.{of}"),
        columns=columns,
        rows=tuple(rows),
        source="tables/importances.csv",
        shape="wide",
    )


def _head(facts: Facts, ranking: Ranking) -> Sentence:
    """Return the model, the card, and what tells rankings of one card apart."""
    record = ranking.record
    head: list[Part] = [short_name(ranking.subject)]
    head += [" ", card_link(facts.card(record))]
    alike = [
        r.record
        for r in facts.rankings
        if r.record.model == record.model and facts.card(r.record) == facts.card(record)
    ]
    if len({r.loss for r in alike}) > 1:
        head += [" ", loss_label(record.loss).replace(" ", NO_BREAK)]
    if len({r.positive_class for r in alike}) > 1:
        head += [" ", full_name(record.positive_class)]
    return tuple(head)


def _cell(ranking: Ranking, name: str) -> Cell:
    """Return a rank, shaded by how far up it is; an arrow if it is below nothing."""
    if name not in ranking.record.features:
        return DASH
    row = ranking.record.features.index(name)
    rank = float(ranking.rank[row])
    if not np.isfinite(rank):
        return DASH
    path = f"importances[{ranking.index}].rank[{row}]"
    shade = next((shade for most, shade in SHADES if rank <= most), 0)
    parts: list[Part] = [Value(path, rank, rank_text(rank))]
    if row in ranking.negative:
        parts.append(" ↓")
        shade = 0
    return Cell(tuple(parts), shade=shade)
