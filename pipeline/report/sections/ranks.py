"""Ranks on the page: which each feature could take, and how often it took them.

A single repeat is the question with other draws, a resample the question on other
rows; the ranks in both are counted.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...records.ranking import LEVEL
from ..figures.parts import MOST_ROWS
from ..figures.ranks import RankPanel, RankRow, draw_rank_intervals, draw_rank_shares
from ..text.blocks import Cell, Column, Figure, Link, Row, Sentence, Table, Value, plain
from ..text.number_text import count, percent, rank_text
from ..text.wording import (
    display_name,
    full_name,
    joined,
    say,
    say_count,
    series,
    short_name,
    word,
)
from .facts import Facts, card_link, whole
from .ranking_tables import DASH, cut_alike, table_id
from .rankings import TOP, Ranking

ALT, PANELS, MOST_SHARES = 250, 4, 4
ENSEMBLES = ("random_subspace", "random_subspace_permutation")
"""Their repeats are the members of one ensemble, no trial alone."""

Shares = Mapping[str, tuple[tuple[float, float], ...]]


class Trials(NamedTuple):
    """The ranks of one kind of trial: how many trials, and the shares by feature."""

    number: Value
    noun: str
    shares: Shares


def ranks(facts: Facts) -> Iterator[Table | Figure | Sentence]:
    """Yield the intervals of the lead rankings, the shares of their ranks, tables."""
    rankings = [r for r in facts.leads if _trials(facts, r)][:PANELS]
    rankings = [r for r in rankings if set(r.record.features) == _features(rankings[0])]
    if not rankings or len(rankings[0].measured) < 2:
        return
    names = _names(rankings[0])
    yield _figure(
        facts, rankings, names, "intervals", _interval_panels(facts, rankings)
    )
    moving = [ranking for ranking in rankings if _moves(facts, ranking)]
    if moving:
        yield _figure(facts, rankings, names, "shares", _share_panels(facts, rankings))
    for ranking in moving:
        yield _cut(ranking, partial(_table, facts, ranking))
    for ranking in rankings:
        if ranking not in moving:
            yield _unmoved(facts, ranking)


def _moves(facts: Facts, ranking: Ranking) -> bool:
    """Return whether any trial gives any feature another rank than all others do."""
    every = (trials.shares.values() for trials in _trials(facts, ranking))
    return any(len(shares) > 1 for kind in every for shares in kind)


def _count(trials: Trials) -> Sentence:
    """Return how many trials there were, and of what kind."""
    if trials.noun == "single":
        return say_count(trials.number, "single")
    return say_count(trials.number, "resample")


def _unmoved(facts: Facts, ranking: Ranking) -> Sentence:
    """Return that all trials rank alike, where a table would say so in every row."""
    counts = (_count(trials) for trials in _trials(facts, ranking))
    return say("ranks.unmoved", model=full_name(ranking.subject), trials=series(counts))


def _features(ranking: Ranking) -> set[str]:
    return set(ranking.record.features)


def _names(ranking: Ranking) -> list[str]:
    """Return the features that the figures show, in the order of the first ranking."""
    rows = ranking.measured
    most = MOST_ROWS if len(rows) <= MOST_ROWS else TOP
    return [ranking.record.features[row] for row in rows[:most]]


def _trials(facts: Facts, ranking: Ranking) -> tuple[Trials, ...]:
    """Return what is known of other draws and of other rows."""
    kinds = (_repeats(ranking), _resamples(facts, ranking))
    return tuple(trials for trials in kinds if trials is not None)


def _repeats(ranking: Ranking) -> Trials | None:
    """Return the ranks in single repeats; None where nothing is drawn by them."""
    record = ranking.record
    if not ranking.is_drawn or record.n_repeats < 2 or record.method in ENSEMBLES:
        return None
    each = pd.DataFrame(record.values).rank(ascending=False).to_numpy()
    shares = {}
    for name, ranks_of_one in zip(record.features, each, strict=True):
        distinct, counts = np.unique(
            ranks_of_one[np.isfinite(ranks_of_one)], return_counts=True
        )
        parts = zip(
            distinct.tolist(), (counts / len(ranks_of_one)).tolist(), strict=True
        )
        shares[name] = tuple(parts)
    path = f"importances[{ranking.index}].n_repeats"
    return Trials(whole(path, record.n_repeats), "single", shares)


def _resamples(facts: Facts, ranking: Ranking) -> Trials | None:
    """Return the ranks on resampled rows; None if the rows were not drawn anew."""
    frame, stable = facts.result.resampled_ranks, facts.result.stability
    frame = frame[frame["record"] == ranking.index]
    stable = stable[stable["record"] == ranking.index]
    if frame.empty or stable.empty:
        return None
    place = int(stable["resamples"].astype(int).idxmax())
    number = whole(f"stability[{place}].resamples", int(stable.at[place, "resamples"]))
    shares: dict[str, Any] = {}
    for row in frame.itertuples():
        share = (float(row.rank), float(row.resamples) / number.raw)
        shares.setdefault(row.feature, []).append(share)
    shares_of_feature = {name: tuple(parts) for name, parts in shares.items()}
    return Trials(number, "resample", shares_of_feature)


def _interval_panels(
    facts: Facts, rankings: Sequence[Ranking]
) -> tuple[RankPanel, ...]:
    panels = []
    for ranking in rankings:
        frame = facts.result.stability
        frame = frame[frame["record"] == ranking.index].set_index("feature")
        rows = []
        for name in _names(rankings[0]):
            row = ranking.record.features.index(name)
            ends = (float(ranking.first[row]), float(ranking.last[row]))
            others = (float("nan"),) * 2
            if name in frame.index:
                low, high = frame.loc[name, ["rank_low", "rank_high"]]
                others = (float(low), float(high))
            rows.append(RankRow(float(ranking.rank[row]), ends, others))
        panels.append(RankPanel(display_name(ranking.subject), tuple(rows)))
    return tuple(panels)


def _share_panels(facts: Facts, rankings: Sequence[Ranking]) -> tuple[RankPanel, ...]:
    panels = []
    kinds = {trials.noun for ranking in rankings for trials in _trials(facts, ranking)}
    for ranking in rankings:
        for trials in _trials(facts, ranking):
            rows = []
            for name in _names(rankings[0]):
                rank = float(ranking.rank[ranking.record.features.index(name)])
                rows.append(RankRow(rank, shares=trials.shares.get(name, ())))
            title = plain((display_name(ranking.subject), ", ", *_count(trials)))
            if len(kinds) == 1:
                title = display_name(ranking.subject)
            panels.append(RankPanel(title, tuple(rows)))
    return tuple(panels)


def _figure(
    facts: Facts,
    rankings: Sequence[Ranking],
    names: Sequence[str],
    kind: str,
    panels: tuple[RankPanel, ...],
) -> Figure:
    first = rankings[0]
    alt = say(
        f"ranks.{kind}.alt",
        n=count(len(names)),
        total=count(len(first.record.features)),
        models=series(short_name(ranking.subject) for ranking in rankings),
        first=short_name(names[0]),
        places=rank_text(float(first.rank[first.measured[0]])),
    )
    return Figure(
        id=table_id(first).replace("tab-ranking", f"fig-rank-{kind}", 1),
        draw=draw_rank_intervals if kind == "intervals" else draw_rank_shares,
        data={
            "panels": panels,
            "names": tuple(display_name(name) for name in names),
            "axis_label": word("ranks.axis"),
        },
        alt=plain(alt)[:ALT],
        headline=_headline(first, kind),
        caption=say(
            f"ranks.{kind}.caption",
            level=percent(LEVEL),
            anew=_anew(panels),
            card=card_link(facts.card(first.record)),
            table=_data(facts, rankings, kind),
        ),
    )


def _headline(ranking: Ranking, kind: str) -> Sentence:
    """Return how many features the draws leave at one place, or what moves them."""
    if kind == "shares":
        return say("ranks.shares.headline")
    rows = list(ranking.measured)
    fixed = int((ranking.first[rows] == ranking.last[rows]).sum())
    path = f"importances[{ranking.index}].values"
    return say(
        "ranks.intervals.headline",
        model=short_name(ranking.subject),
        fixed=Value(path, fixed, count(fixed), derived="count"),
        n=count(len(rows)),
    )


def _data(facts: Facts, rankings: Sequence[Ranking], kind: str) -> Sentence:
    """Return the tables with the numbers of a figure: of each model, if they move."""
    if kind == "intervals":
        return joined(Link(table_id(ranking)) for ranking in rankings)
    return joined(Link(_id(r)) for r in rankings if _moves(facts, r))


def _anew(panels: Sequence[RankPanel]) -> Sentence:
    """Return what the dashed lines are; empty where no rows were drawn anew."""
    is_drawn = any(row.rows[0] == row.rows[0] for panel in panels for row in panel.rows)
    return say("ranks.intervals.anew", level=percent(LEVEL)) if is_drawn else ()


def _id(ranking: Ranking) -> str:
    return table_id(ranking).replace("ranking", "ranks", 1)


def _cut(ranking: Ranking, table_of: Callable[[Sequence[int]], Table]) -> Table:
    """Return a table cut like its ranking; its other rows would fill pages."""
    table = cut_alike(ranking, table_of)
    if table.everything is None:
        return table
    notes = (*table.notes, say("ranks.other_rows"))
    return replace(table, notes=notes, is_appended=False)


def _table(facts: Facts, ranking: Ranking, rows: Sequence[int]) -> Table:
    trials = _trials(facts, ranking)
    heads = (
        Column(say(f"ranks.over_{kind.noun}s", n=kind.number), width=68 / len(trials))
        for kind in trials
    )
    return Table(
        id=_id(ranking),
        caption=say(
            "ranks.caption",
            what=word(f"asked.{ranking.record.of}"),
            model=full_name(ranking.subject),
            table=Link(table_id(ranking)),
        ),
        columns=(
            Column(say("ranking.rank"), "number", 8),
            Column(say(f"ranking.name.{ranking.record.of}"), "header", 24),
            *heads,
        ),
        rows=tuple(_row(ranking, row, trials) for row in rows),
        notes=(say("ranks.note"),),
        source="resampled_ranks.csv" if len(trials) > 1 else "",
    )


def _row(ranking: Ranking, row: int, trials: Sequence[Trials]) -> Row:
    name = ranking.record.features[row]
    cells = [_shares(ranking, name, kind) for kind in trials]
    rank = Cell((rank_text(float(ranking.rank[row])),))
    return Row((rank, Cell((full_name(name),)), *cells))


def _shares(ranking: Ranking, name: str, trials: Trials) -> Cell:
    """Return the ranks that a feature took most often, each with its share."""
    shares = sorted(trials.shares.get(name, ()), key=lambda pair: -pair[1])
    if not shares:
        return DASH
    path = f"importances[{ranking.index}].raw"
    if trials.noun == "resample":
        path = "resampled_ranks.resamples"
    sentences = []
    for rank, share in shares[:MOST_SHARES]:
        value = Value(path, share, percent(share), derived="share")
        sentences.append(say("ranks.taken", rank=rank_text(rank), share=value))
    rest = (", …",) if len(shares) > MOST_SHARES else ()
    return Cell((*joined(sentences), *rest))
