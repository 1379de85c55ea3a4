"""The possible ranks of each feature, and how often it took each on resampled rows."""

from collections.abc import Iterator, Sequence
from math import nan

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
from .facts import Facts, card_link, tallied
from .models_figure import shown_of
from .ranking_tables import caption_of, ranked_table, table_id
from .rankings import ROWS, SLACK, Ranking

PANELS, MOST_SHARES = 4, 4
ENSEMBLES = ("random_subspace", "random_subspace_permutation")
"""Methods with repeats that are the members of one ensemble, not single trials."""


def ranks(facts: Facts) -> Iterator[Table | Figure | Sentence]:
    """Yield the figure of possible ranks in the lead rankings, and a table of each.

    A sentence replaces the figure if all ranks are certain. Rankings without resamples,
    or in which each feature has the same rank in all of them, have no table.
    """
    rankings = [r for r in facts.leads if _is_tried(facts, r)][:PANELS]
    features = set(rankings[0].record.features) if rankings else set()
    rankings = [r for r in rankings if set(r.record.features) == features]
    if not rankings or len(rankings[0].measured) < 2:
        return
    yield _figure_or_sentence(facts, rankings)
    frame = facts.result.resampled_ranks
    for ranking in rankings:
        own = frame[frame["record"] == ranking.index]
        if own["feature"].duplicated().any():
            yield _table(ranking, own)


def _is_tried(facts: Facts, ranking: Ranking) -> bool:
    """Return whether the ranks could differ: over repeats, or over resampled rows."""
    record = ranking.record
    is_repeated = ranking.is_drawn and record.n_repeats > 1
    is_resampled = ranking.index in set(facts.result.resampled_ranks["record"])
    return (is_repeated and record.method not in ENSEMBLES) or is_resampled


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
    is_cut = len(names) > ROWS + SLACK
    names = names[:ROWS] if is_cut else names
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
            certain=(
                *(say("ranks.certain", n=certain) if certain != "0" else ()),
                *(shown_of(len(names), n_features) if is_cut else ()),
            ),
            card=card_link(facts.card(first.record)),
            table=joined(Link(table_id(ranking)) for ranking in rankings),
        ),
    )


def _table(ranking: Ranking, frame: pd.DataFrame) -> Table:
    """Return the table of the most frequent ranks of each feature and their shares."""
    frame = frame.astype({"resamples": int})
    total = int(frame.groupby("feature")["resamples"].sum().max())

    def cells_of(name: str) -> tuple[Sentence | str]:
        own = frame[frame["feature"] == name]
        own = own.sort_values("resamples", ascending=False, kind="stable")
        sentences = []
        for place, row in own.iloc[:MOST_SHARES].iterrows():
            share = float(row["resamples"] / total)
            path = f"resampled_ranks[{place}].resamples"
            value = Value(path, share, percent(share), derived="share")
            rank = rank_text(float(row["rank"]))
            sentences.append(say("ranks.taken", rank=rank, share=value))
        rest = (", …",) if len(own) > MOST_SHARES else ()
        return ((*joined(sentences), *rest) or MISSING,)

    n = tallied("resampled_ranks.resamples", total)
    return ranked_table(
        ranking,
        "ranks",
        [Column(say("ranks.over_resamples", n=n), "number")],
        cells_of,
        caption=caption_of("ranks.caption", ranking),
        notes=(say("ranks.note"),),
        source="tables/resampled_ranks.csv",
        is_single=True,
    )
