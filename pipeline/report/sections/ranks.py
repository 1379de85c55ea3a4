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
from ..figures.ranks import RankPanel, RankRow, draw_rank_intervals
from ..text.blocks import (
    Cell,
    Cells,
    Column,
    Figure,
    Link,
    Sentence,
    Table,
    Value,
    plain,
)
from ..text.number_text import count, percent, rank_text
from ..text.wording import (
    alt_text,
    display_name,
    full_name,
    joined,
    say,
    say_count,
    series,
    short_name,
    table_of,
    word,
)
from .facts import Facts, card_link, whole
from .ranking_tables import DASH, cut_alike, table_id
from .rankings import ROWS, SLACK, Ranking

PANELS, MOST_SHARES = 4, 4
ENSEMBLES = ("random_subspace", "random_subspace_permutation")
"""Their repeats are the members of one ensemble, no trial alone."""

Shares = Mapping[str, tuple[tuple[float, float], ...]]


class Trials(NamedTuple):
    """The ranks of one kind of trial: how many trials, and the shares by feature."""

    number: Value
    noun: str
    shares: Shares


def ranks(facts: Facts) -> Iterator[Table | Figure | Sentence]:
    """Yield a figure of the ranks of the lead rankings, and a table of each."""
    rankings = [r for r in facts.leads if _trials(facts, r)][:PANELS]
    rankings = [r for r in rankings if set(r.record.features) == _features(rankings[0])]
    if not rankings or len(rankings[0].measured) < 2:
        return
    names = _names(rankings[0])
    yield _figure(facts, rankings, names)
    unmoved: dict[str, list[Ranking]] = {}
    for ranking in rankings:
        if _moves(facts, ranking):
            yield _cut(ranking, partial(_table, facts, ranking))
        else:
            unmoved.setdefault(plain(_counts(facts, ranking)), []).append(ranking)
    for alike in unmoved.values():
        models = series(full_name(ranking.subject) for ranking in alike)
        counts = _counts(facts, alike[0])
        yield say("ranks.unmoved", models=models, trials=counts)


def _moves(facts: Facts, ranking: Ranking) -> bool:
    """Return whether any trial gives any feature another rank than all others do."""
    every = (trials.shares.values() for trials in _trials(facts, ranking))
    return any(len(shares) > 1 for kind in every for shares in kind)


def _count(trials: Trials) -> Sentence:
    """Return how many trials there were, and of what kind."""
    if trials.noun == "single":
        return say_count(trials.number, "single")
    return say_count(trials.number, "resample")


def _counts(facts: Facts, ranking: Ranking) -> Sentence:
    """Return how many trials of each kind there were of a ranking."""
    return series(_count(trials) for trials in _trials(facts, ranking))


def _features(ranking: Ranking) -> set[str]:
    return set(ranking.record.features)


def _names(ranking: Ranking) -> list[str]:
    """Return the features that the figures show, in the order of the first ranking."""
    rows = ranking.measured
    most = len(rows) if len(rows) <= ROWS + SLACK else ROWS
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
            ends = (float(ranking.repeats_first[row]), float(ranking.repeats_last[row]))
            others = (float("nan"),) * 2
            if name in frame.index:
                low, high = frame.loc[name, ["rank_low", "rank_high"]]
                others = (float(low), float(high))
            elif ranking.row_intervals:
                others = (float(ranking.first[row]), float(ranking.last[row]))
            rows.append(RankRow(float(ranking.rank[row]), ends, others))
        panels.append(RankPanel(display_name(ranking.subject), tuple(rows)))
    return tuple(panels)


def _figure(facts: Facts, rankings: Sequence[Ranking], names: Sequence[str]) -> Figure:
    first, panels = rankings[0], _interval_panels(facts, rankings)
    alt = say(
        "ranks.alt",
        n=count(len(names)),
        total=count(len(first.record.features)),
        models=series(short_name(ranking.subject) for ranking in rankings),
        first=short_name(names[0]),
        places=rank_text(float(first.rank[first.measured[0]])),
    )
    return Figure(
        id=table_id(first).replace("tab-ranking", "fig-rank-intervals", 1),
        draw=draw_rank_intervals,
        data={
            "panels": panels,
            "names": tuple(display_name(name) for name in names),
            "axis_label": word("ranks.axis"),
        },
        alt=alt_text(plain(alt)),
        headline=_headline(first),
        caption=say(
            "ranks.figure",
            anew=_anew(panels),
            card=card_link(facts.card(first.record)),
            table=joined(Link(table_id(ranking)) for ranking in rankings),
        ),
    )


def _headline(ranking: Ranking) -> Sentence:
    """Return how many ranks the random draws leave certain, and other rows."""
    rows = list(ranking.measured)
    fixed = int((ranking.repeats_first[rows] == ranking.repeats_last[rows]).sum())
    path = f"importances[{ranking.index}].values"
    on_rows: Sentence = ()
    if ranking.row_intervals:
        n_sure = int((ranking.first[rows] == ranking.last[rows]).sum())
        sure = Value("row_intervals", n_sure, count(n_sure), derived="count")
        on_rows = say("ranks.headline_rows", fixed=sure)
    return say(
        "ranks.headline",
        model=short_name(ranking.subject),
        fixed=Value(path, fixed, count(fixed), derived="count"),
        n=count(len(rows)),
        rows=on_rows,
    )


def _anew(panels: Sequence[RankPanel]) -> Sentence:
    """Return what the dashed lines are; empty where no rows were drawn anew."""
    is_drawn = any(row.rows[0] == row.rows[0] for panel in panels for row in panel.rows)
    return say("ranks.anew", level=percent(LEVEL)) if is_drawn else ()


def _id(ranking: Ranking) -> str:
    return table_id(ranking).replace("ranking", "ranks", 1)


def _cut(ranking: Ranking, table_of: Callable[[Sequence[int]], Table]) -> Table:
    """Return a table cut like its ranking."""
    table = cut_alike(ranking, table_of)
    return replace(table, is_single=True)


def _table(facts: Facts, ranking: Ranking, rows: Sequence[int]) -> Table:
    trials = _trials(facts, ranking)
    heads = (Column(say(f"ranks.over_{kind.noun}s", n=kind.number)) for kind in trials)
    return table_of(
        _id(ranking).removeprefix("tab-"),
        "ranking",
        [
            "rank:number",
            Column(say(f"ranking.name.{ranking.record.of}"), "header"),
            *heads,
        ],
        [_row(ranking, row, trials) for row in rows],
        caption=say(
            "ranks.caption",
            what=word(f"asked.{ranking.record.of}"),
            model=full_name(ranking.subject),
            table=Link(table_id(ranking)),
        ),
        notes=(say("ranks.note"),),
        source="tables/resampled_ranks.csv" if len(trials) > 1 else "",
    )


def _row(ranking: Ranking, row: int, trials: Sequence[Trials]) -> Cells:
    name = ranking.record.features[row]
    cells = [_shares(ranking, name, kind) for kind in trials]
    rank = Cell((rank_text(float(ranking.rank[row])),))
    return (rank, full_name(name), *cells)


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
