"""Section H: the stability of the rankings under other losses, draws and rows.

It also has the ranks after fewer repeats, and the clusters of features.
"""

import math
from typing import Any

from ...records.ranking import LEVEL
from ..text.blocks import (
    Column,
    Section,
    Sentence,
    Table,
    Value,
)
from ..text.number_text import (
    MISSING,
    count,
    interval_text,
    percent,
    rank_text,
    rounded_up,
)
from ..text.wording import (
    full_name,
    joined,
    say,
    say_count,
    table_of,
    word,
)
from .clusters import clusters, clusters_in_short
from .expectations import losses
from .facts import (
    Facts,
    config_of,
    group,
    repeats_of,
    section,
    tallied,
    whole,
)
from .ranking_tables import caption_of, fewer, ranked_table
from .rankings import Ranking
from .ranks import ranks

ROWS = 10


def stability(facts: Facts) -> Section:
    """Return section H: groups on losses, ranks, rows, repeats and clusters."""
    over_rows = [stability_table(facts, ranking) for ranking in facts.rankings]
    in_time = [convergence_table(facts, ranking) for ranking in facts.rankings]
    groups = (
        *losses(facts),
        *group("firm-ranks", say("stability.title.ranks"), ranks(facts)),
        *group("firm-rows", say("stability.title.rows"), filter(None, over_rows)),
        *group("firm-repeats", say("stability.title.repeats"), filter(None, in_time)),
        *clusters(facts),
    )
    first = _first_place(facts) if facts.rankings else say("stability.none")
    lede = joined(filter(None, (first, clusters_in_short(facts))), " ")
    return section("H", lede, {"groups": groups})


def _first_place(facts: Facts) -> Sentence:
    """Return a sentence on the share of resamples in which the leader leads."""
    ranking, frame = facts.lead, facts.result.resampled_ranks
    if ranking is None or not ranking.measured:
        return ()
    leader = ranking.record.features[ranking.measured[0]]
    names = {"feature": full_name(leader), "model": full_name(ranking.subject)}
    own = frame[(frame["record"] == ranking.index) & (frame["feature"] == leader)]
    if not own.empty:
        path, total = "resampled_ranks.resamples", int(own["resamples"].sum())
        share = float(own.loc[own["rank"] == 1.0, "resamples"].sum()) / total
        return say(
            "stability.first_place",
            share=Value(path, share, percent(share), derived="share"),
            resamples=say_count(tallied(path, total), "resample"),
            **names,
        )
    # The intervals over other rows resample these without new predictions, so that
    # `[stability]` need not be set.
    if not ranking.row_intervals:
        return ()
    place = ranking.row_intervals[ranking.record.features.index(leader)]
    share = float(facts.result.row_intervals.at[place, "lead_share"])
    if share != share:
        return ()
    value = Value(f"row_intervals[{place}].lead_share", share, percent(share))
    return say("stability.first_place_held", share=value, **names)


def stability_table(facts: Facts, ranking: Ranking) -> Table | None:
    """Return the table of a ranking's stability, cut like its own; None if unknown."""
    frame, record = facts.result.stability, ranking.record
    frame = frame[frame["record"] == ranking.index]
    if frame.empty:
        return None
    place_of = dict(zip(frame["feature"], frame.index, strict=True))
    resamples = frame["resamples"].astype(int)
    place, most = int(resamples.idxmax()), int(resamples.max())
    path = f"importances[{ranking.index}]"
    top_k = int(config_of(facts, "checks").get("top_k", 3))
    columns = [
        Column(say("stability.ranks", level=percent(LEVEL)), "number"),
        Column(say("stability.top", k=str(top_k)), "number"),
    ]
    caption = caption_of("stability.caption", ranking)
    notes: list[Sentence] = []
    if most:
        n = whole(f"stability[{place}].resamples", most)
        rows = whole(f"{path}.n_samples", record.n_samples)
        caption += say(
            "stability.resampled",
            resamples=say_count(n, "resample"),
            rows=say_count(rows, "row"),
        )
        notes.append(say(f"stability.{'note_model' if record.model else 'note'}"))
    else:
        caption += say("stability.not_resampled")
    if names := fewer(frame, "resamples", most):
        notes.append(say("stability.fewer", names=names))
    if ranking.is_drawn:
        columns.append(Column(say("stability.settle"), "number"))
        repeats = say_count(repeats_of(record, path), "repeat")
        note = say("stability.settle_note", level=percent(LEVEL), repeats=repeats)
        notes.append(note)

    def cells_of(name: str) -> tuple[Any, ...]:
        path = f"stability[{place_of[name]}]"
        fields = ["rank_low", "rank_high", "p_top_k", "repeats_to_settle"]
        estimates = frame.loc[place_of[name], fields].astype(float)
        low, high, share, needed = estimates.tolist()
        inside = Value(f"{path}.p_top_k", share, percent(share))
        settle = Value(f"{path}.repeats_to_settle", needed, _repeats(needed))
        cells = (interval_text(low, high), inside, settle)
        return cells if ranking.is_drawn else cells[:2]

    return ranked_table(
        ranking,
        "stability",
        columns,
        cells_of,
        caption=caption,
        notes=tuple(notes),
        is_single=True,
    )


def _repeats(needed: float) -> str:
    """Return a number of repeats as text, which may be missing or infinite."""
    if math.isnan(needed):
        return MISSING
    if math.isinf(needed):
        return word("stability.never")
    if needed < 100:
        return count(int(needed))
    return word("stability.about").format(n=count(rounded_up(int(needed))))


def convergence_table(facts: Facts, ranking: Ranking) -> Table | None:
    """Return the ranks of the first features after each number of repeats.

    None if there were too few repeats.
    """
    frame, record = facts.result.convergence, ranking.record
    frame = frame[frame["record"] == ranking.index]
    if frame.empty or not ranking.measured:
        return None
    counts = sorted(set(frame["n_repeats"]))
    rank_at = {
        (row.feature, row.n_repeats): Value(
            f"convergence[{row.Index}].rank", float(row.rank), rank_text(row.rank)
        )
        for row in frame.itertuples()
    }
    names = [record.features[row] for row in ranking.leading(ROWS)]
    return table_of(
        f"convergence-{ranking.key}",
        "",
        [
            Column(say(f"ranking.name.{record.of}"), "header"),
            *(Column((str(n),), "number") for n in counts),
        ],
        [(full_name(name), *(rank_at[name, n] for n in counts)) for name in names],
        caption=caption_of("convergence.caption", ranking),
        is_single=True,
    )
