"""The possible ranks of each feature, and the frequency of each rank over trials.

A trial is a single repeat, with other draws, or a resample, with other rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from ...records.ranking import LEVEL
from ..figures.ranks import draw_rank_intervals
from ..text.blocks import Column, Figure, Link, Sentence, Table, Value
from ..text.number_text import MISSING, count, percent, rank_text
from ..text.wording import (
    display_name,
    figure_of,
    full_name,
    joined,
    say,
    series,
    short_name,
    word,
)
from .facts import Facts, card_link, whole
from .ranking_tables import caption_of, ranked_table, table_id
from .rankings import ROWS, SLACK, Ranking

PANELS, MOST_SHARES = 4, 4
ENSEMBLES = ("random_subspace", "random_subspace_permutation")
"""Methods with repeats that are the members of one ensemble, not single trials."""

Shares: TypeAlias = "Mapping[str, Sequence[tuple[float, float]]]"
"""For each feature the ranks that it took, each with its share of the trials."""


class Trials(NamedTuple):
    """The ranks over one kind of trial: number of trials, their noun, the shares."""

    number: Value
    noun: str
    shares: Shares


def ranks(facts: Facts) -> Iterator[Table | Figure | Sentence]:
    """Yield the figure of possible ranks in the lead rankings, and a table of each.

    A sentence replaces the figure if all ranks are certain. Rankings in which each
    feature has the same rank in all trials have no table.
    """
    pairs = [(ranking, _trials(facts, ranking)) for ranking in facts.leads]
    pairs = [(ranking, trials) for ranking, trials in pairs if trials][:PANELS]
    features = set(pairs[0][0].record.features) if pairs else set()
    pairs = [pair for pair in pairs if set(pair[0].record.features) == features]
    if not pairs or len(pairs[0][0].measured) < 2:
        return
    yield _figure_or_sentence(facts, [ranking for ranking, _ in pairs])
    for ranking, trials in pairs:
        every = [shares for kind in trials for shares in kind.shares.values()]
        if any(len(shares) > 1 for shares in every):
            yield _table(ranking, trials)


def _trials(facts: Facts, ranking: Ranking) -> list[Trials]:
    """Return the trials of a ranking: single repeats, and resamples of the rows."""
    record, kinds = ranking.record, []
    if ranking.is_drawn and record.n_repeats > 1 and record.method not in ENSEMBLES:
        each = pd.DataFrame(record.values).rank(ascending=False).to_numpy()
        in_repeats = {}
        for name, own in zip(record.features, each, strict=True):
            taken, times = np.unique(own[np.isfinite(own)], return_counts=True)
            shares = (times / len(own)).tolist()
            in_repeats[name] = list(zip(taken.tolist(), shares, strict=True))
        path = f"importances[{ranking.index}].n_repeats"
        kinds.append(Trials(whole(path, record.n_repeats), "single", in_repeats))

    frame, stable = facts.result.resampled_ranks, facts.result.stability
    frame = frame[frame["record"] == ranking.index]
    stable = stable[stable["record"] == ranking.index]
    if not frame.empty and not stable.empty:
        place = int(stable["resamples"].astype(int).idxmax())
        total = int(stable.at[place, "resamples"])
        on_rows: dict[str, list[tuple[float, float]]] = {}
        for row in frame.itertuples():
            share = (float(row.rank), float(row.resamples) / total)
            on_rows.setdefault(row.feature, []).append(share)
        number = whole(f"stability[{place}].resamples", total)
        kinds.append(Trials(number, "resample", on_rows))
    return kinds


def _rank_rows(facts: Facts, ranking: Ranking) -> pd.DataFrame:
    """Return the rank of each feature with its intervals over draws and over rows.

    Columns as in `draw_rank_intervals`, and `is_certain`: whether the known intervals
    contain a single rank.
    """
    frame = pd.DataFrame(
        {
            "rank": ranking.rank,
            "draws_low": ranking.repeats_first,
            "draws_high": ranking.repeats_last,
            "rows_low": ranking.first if ranking.row_intervals else nan,
            "rows_high": ranking.last if ranking.row_intervals else nan,
        },
        index=[*ranking.record.features],
        dtype=float,
    )
    stable = facts.result.stability
    stable = stable[stable["record"] == ranking.index].set_index("feature")
    ends = stable[["rank_low", "rank_high"]].to_numpy(float)
    frame.loc[stable.index, ["rows_low", "rows_high"]] = ends
    widths = [frame[f"{of}_high"] - frame[f"{of}_low"] for of in ("draws", "rows")]
    known = pd.concat(widths, axis=1)
    is_certain = known.notna().any(axis=1) & (known.fillna(0.0) == 0.0).all(axis=1)
    return frame.assign(is_certain=is_certain)


def _figure_or_sentence(facts: Facts, rankings: Sequence[Ranking]) -> Figure | Sentence:
    """Return the figure of uncertain ranks by ranking, or a sentence if none is."""
    first = rankings[0]
    rows, n_features = first.measured, len(first.record.features)
    ranked = [_rank_rows(facts, ranking) for ranking in rankings]
    names = [
        name
        for name in (first.record.features[row] for row in rows)
        if not all(of.at[name, "is_certain"] for of in ranked)
    ]
    certain = count(len(rows) - len(names))
    names = names if len(names) <= ROWS + SLACK else names[:ROWS]
    is_resampled = [of["rows_low"].notna() for of in ranked]

    # Number of ranks that are certain over the draws, and over other rows.
    path, order = f"importances[{first.index}].values", list(rows)
    fixed = int((first.repeats_first[order] == first.repeats_last[order]).sum())
    on_rows: Sentence = ()
    if first.row_intervals:
        n_sure = int((first.first[order] == first.last[order]).sum())
        sure = Value("row_intervals", n_sure, count(n_sure), derived="count")
        on_rows = say("ranks.headline_rows", fixed=sure)
    number = Value(path, fixed, count(fixed), derived="count")
    if not names:
        models = series(full_name(ranking.subject) for ranking in rankings)
        on_all_rows = all(known.all() for known in is_resampled)
        on_rows = say("ranks.settled_rows") if on_all_rows else ()
        card = card_link(facts.card(first.record))
        return say("ranks.settled", models=models, n=number, rows=on_rows, card=card)
    return figure_of(
        f"rank-intervals-{first.key}",
        draw_rank_intervals,
        {
            "panels": tuple(
                (
                    display_name(ranking.subject),
                    of.loc[names].drop(columns="is_certain"),
                )
                for ranking, of in zip(rankings, ranked, strict=True)
            ),
            "names": tuple(map(display_name, names)),
            "axis_label": word("ranks.axis"),
        },
        alt=say(
            "ranks.alt",
            n=count(len(names)),
            total=count(n_features),
            models=series(short_name(ranking.subject) for ranking in rankings),
            first=short_name(names[0]),
            places=rank_text(ranked[0].at[names[0], "rank"]),
        ),
        headline=say(
            "ranks.headline",
            model=short_name(first.subject),
            fixed=number,
            n=count(len(rows)),
            rows=on_rows,
        ),
        caption=say(
            "ranks.figure",
            anew=say("ranks.anew", level=percent(LEVEL))
            if any(map(any, is_resampled))
            else (),
            certain=say("ranks.certain", n=certain) if certain != "0" else (),
            card=card_link(facts.card(first.record)),
            table=joined(Link(table_id(ranking)) for ranking in rankings),
        ),
    )


def _table(ranking: Ranking, trials: Sequence[Trials]) -> Table:
    """Return the table of the most frequent ranks of each feature and their shares."""

    def cells_of(name: str) -> Iterator[Any]:
        for kind in trials:
            shares = sorted(kind.shares.get(name, ()), key=lambda pair: -pair[1])
            path = f"importances[{ranking.index}].raw"
            if kind.noun == "resample":
                path = "resampled_ranks.resamples"
            sentences = []
            for rank, share in shares[:MOST_SHARES]:
                value = Value(path, share, percent(share), derived="share")
                sentences.append(say("ranks.taken", rank=rank_text(rank), share=value))
            rest = (", …",) if len(shares) > MOST_SHARES else ()
            yield (*joined(sentences), *rest) or MISSING

    heads = (Column(say(f"ranks.over_{k.noun}s", n=k.number)) for k in trials)
    table = ranked_table(
        ranking,
        "ranks",
        heads,
        cells_of,
        caption=caption_of("ranks.caption", ranking),
        notes=(say("ranks.note"),),
        source="tables/resampled_ranks.csv" if len(trials) > 1 else "",
    )
    return replace(table, is_single=True)
