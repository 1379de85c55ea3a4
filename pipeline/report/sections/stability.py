"""Section H: the stability of the rankings under other losses, draws and rows.

It also has their convergence over the repeats, and the clusters of features.
"""

import math
from dataclasses import replace
from itertools import chain
from typing import Any

import pandas as pd

from ...methods.importance import METHODS
from ...records.ranking import LEVEL
from ..figures.top_k import MOST_LINES, TopKLine, draw_top_k
from ..text.blocks import (
    Column,
    Figure,
    Link,
    Section,
    Sentence,
    Table,
    Value,
    plain,
)
from ..text.number_text import (
    MISSING,
    count,
    interval_text,
    lone,
    percent,
    rank_text,
    rounded_up,
    significant,
)
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
from .clusters import clusters, clusters_in_short
from .expectations import losses
from .facts import (
    Facts,
    card_link,
    config_of,
    group,
    repeats_of,
    section,
    tallied,
    whole,
)
from .ranking_tables import caption_of, fewer, measured_in, ranked_table, table_id
from .rankings import Ranking
from .ranks import ranks

LARGE = 1e7
"""Numbers of repeats from this on are printed in few significant digits."""

ROWS = 10


def stability(facts: Facts) -> Section:
    """Return section H: groups on losses, ranks, rows, repeats and clusters."""
    tables = [stability_table(facts, ranking) for ranking in facts.rankings]
    converging = [convergence(facts, ranking) for ranking in facts.rankings]
    over_rows = [replace(table, is_single=True) for table in tables if table]
    groups = (
        *losses(facts),
        *group("firm-ranks", say("stability.title.ranks"), ranks(facts)),
        *group("firm-rows", say("stability.title.rows"), over_rows),
        *group("firm-repeats", say("stability.title.repeats"), chain(*converging)),
        *clusters(facts),
    )
    nothing = filter(None, (say("stability.none"), clusters_in_short(facts)))
    lede = _lede(facts) if facts.rankings else joined(nothing, " ")
    return section("H", lede, {"groups": groups})


def firmness(facts: Facts, ranking: Ranking) -> Sentence:
    """Return a note with the tables of section H on a ranking; empty without any."""
    names = []
    if (facts.result.stability["record"] == ranking.index).any():
        names.append("stability")
    if ranking.measured and (facts.result.convergence["record"] == ranking.index).any():
        names.append("convergence")
    links = [Link(table_id(ranking, name)) for name in names]
    return say("stability.firm", tables=series(links)) if links else ()


def _lede(facts: Facts) -> Sentence:
    """Return the results in sentences, then what is not known, and why."""
    first, loss = _first_place(facts), _loss(facts)
    reasons = []
    if not first:
        lead, findings = facts.lead, facts.result.findings
        failed = {f.subject for f in findings if f.check == "method_failed"}
        if not config_of(facts, "stability").get("resamples", 0):
            reasons.append("rows")
        elif not facts.came_to_end:
            reasons.append("rows_ended")
        elif lead is not None and lead.record.model in failed:
            reasons.append("rows_failed")
        else:
            reasons.append("still")
    if not loss:
        counts = [
            len(entry.get("losses", ()))
            for entry in facts.result.run.config.get("importance", ())
            if METHODS[entry["method"]].unit == "loss"
        ]
        if max(counts, default=0) < 2:
            reasons.append("losses")
        else:
            reasons.append("losses_apart" if facts.came_to_end else "losses_ended")
    sentences = [text for text in (first, loss, clusters_in_short(facts)) if text]
    if reasons:
        unasked = (say(f"stability.unasked.{reason}") for reason in reasons)
        sentences.append(say("stability.unasked.all", what=joined(unasked, "; ")))
    return joined(sentences, " ")


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


def _loss(facts: Facts) -> Sentence:
    """Return a sentence on how the choice of the loss changes rankings, if compared."""
    frame = facts.result.losses
    comparable = frame[frame["kendall"].notna()]
    if comparable.empty:
        return ()
    n_moved = int((comparable["leader_a"] != comparable["leader_b"]).sum())
    if n_moved:
        n = say_count(tallied("losses", len(comparable)), "pair")
        return say("stability.loss.moves", moved=tallied("losses", n_moved), n=n)
    place = comparable["kendall"].astype(float).idxmin()
    least = float(comparable.at[place, "kendall"])
    key = "same" if least == 1.0 else "leads"
    tau = Value(f"losses[{place}].kendall", least, lone(least, least=2))
    return say(f"stability.loss.{key}", tau=tau)


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
    columns = [
        Column(say("stability.ranks", level=percent(LEVEL)), "number"),
        Column(say("stability.top", k=str(_top_k(facts))), "number"),
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
        ranking, "stability", columns, cells_of, caption=caption, notes=tuple(notes)
    )


def _top_k(facts: Facts) -> int:
    """Return `top_k` of [checks]."""
    return int(config_of(facts, "checks").get("top_k", 3))


def _repeats(needed: float) -> str:
    """Return a number of repeats as text, which may be missing or infinite."""
    if math.isnan(needed):
        return MISSING
    if math.isinf(needed):
        return word("stability.never")
    if needed >= LARGE:
        return significant(needed)
    if needed < 100:
        return count(int(needed))
    return word("stability.about").format(n=count(rounded_up(int(needed))))


def convergence(facts: Facts, ranking: Ranking) -> tuple[Table | Figure, ...]:
    """Return the table of ranks of the first features after each number of repeats.

    A figure follows if the rank of any of the first `top_k` changes in the second half
    of the repeats. Empty if there were too few repeats.
    """
    frame, record = facts.result.convergence, ranking.record
    frame = frame[frame["record"] == ranking.index]
    if frame.empty or not ranking.measured:
        return ()
    counts = sorted(set(frame["n_repeats"]))
    rank_at = {
        (row.feature, row.n_repeats): Value(
            f"convergence[{row.Index}].rank", float(row.rank), rank_text(row.rank)
        )
        for row in frame.itertuples()
    }
    names = [record.features[row] for row in ranking.leading(ROWS)]
    table = table_of(
        f"convergence-{ranking.key}",
        "",
        [
            Column(say(f"ranking.name.{record.of}"), "header"),
            *(Column((str(n),), "number") for n in counts),
        ],
        [(full_name(name), *(rank_at[name, n] for n in counts)) for name in names],
        caption=caption_of("convergence.caption", ranking),
    )
    first = [record.features[row] for row in ranking.measured[: _top_k(facts)]]
    later = frame[frame["feature"].isin(first) & (frame["n_repeats"] >= counts[-1] / 2)]
    n_ranks = later.groupby("feature")["rank"].nunique()
    moved = [name for name in first if n_ranks.get(name, 1) > 1]
    if not moved:
        return (replace(table, is_single=True),)
    drawn = [record.features[row] for row in ranking.measured[:MOST_LINES]]
    lines = tuple(_line(frame, name) for name in drawn)
    model = display_name(ranking.subject)
    figure = Figure(
        id=f"fig-convergence-{ranking.key}",
        draw=draw_top_k,
        data={
            "panels": (("", lines),),
            "axis_label": word("convergence.axis"),
            "head": plain(measured_in(facts, ranking)),
            "steps": tuple(map(str, counts)),
        },
        alt=alt_text(word("convergence.alt").format(n=len(lines), model=model)),
        headline=say(
            f"convergence.headline{'_one' if len(moved) == 1 else ''}",
            features=series(map(short_name, moved)),
        ),
        caption=say(
            "convergence.figure",
            model=full_name(ranking.subject),
            level=percent(LEVEL),
            card=card_link(facts.card(record)),
        ),
    )
    return table, figure


def _line(frame: pd.DataFrame, feature: str) -> TopKLine:
    """Return the line of one feature: estimates, and half-widths of their intervals."""
    from scipy.special import stdtrit

    rows = frame[frame["feature"] == feature].sort_values("n_repeats")
    quantiles = stdtrit(rows["n_repeats"].to_numpy(float) - 1, (1 + LEVEL) / 2)
    halves = rows["std_error"] * quantiles
    means = tuple(rows["value"].tolist())
    return TopKLine(display_name(feature), means, tuple(halves.tolist()))
