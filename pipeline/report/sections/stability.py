"""Section H: how firm the rankings are, and what else would have moved them.

Another loss, more repeats, other draws, other rows, another measure or model, and
features that say the same as others.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd

from ...methods.importance import METHODS
from ...records.ranking import LEVEL
from ..figures.top_k import STYLES, TopKLine, TopKPanel, draw_top_k
from ..text.blocks import (
    Cell,
    Cells,
    Column,
    Figure,
    Group,
    Link,
    Row,
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
    number,
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
    word,
)
from .clusters import clusters, clusters_in_short
from .expectations import losses
from .facts import Facts, card_link, config_of, repeats_of, tallied, whole
from .ranking_tables import cut_alike, measured_in, table_id
from .rankings import Ranking
from .ranks import ranks

LARGE = 1e7
"""Counts above it are told by their size."""

ROWS = 10


def stability(facts: Facts) -> Section:
    """Return section H: one group per question that was asked of the rankings."""
    groups = (
        *losses(facts),
        *_group("ranks", ranks(facts)),
        *_group("rows", _over_rows(facts)),
        *_group("repeats", _over_repeats(facts)),
        *clusters(facts),
    )
    lede = _lede(facts) if facts.rankings else say("stability.none")
    title = word("sections.stability")
    return Section("H", "stability", title, lede, {"groups": groups})


def firmness(facts: Facts, ranking: Ranking) -> Sentence:
    """Return where section H says how firm a ranking is; empty if it does not."""
    tables = [stability_table(facts, ranking), *convergence(facts, ranking)]
    links = [Link(table.id) for table in tables if isinstance(table, Table)]
    return say("stability.firm", tables=series(links)) if links else ()


def _group(name: str, blocks: Iterator[Table | Figure | Sentence]) -> tuple[Group, ...]:
    """Return blocks under their heading; nothing without any."""
    content = tuple(blocks)
    title = say(f"stability.title.{name}")
    return (Group(f"firm-{name}", title, content),) if content else ()


def _over_repeats(facts: Facts) -> Iterator[Table | Figure]:
    for ranking in facts.rankings:
        yield from convergence(facts, ranking)


def _over_rows(facts: Facts) -> Iterator[Table | Figure]:
    for ranking in facts.rankings:
        if table := stability_table(facts, ranking):
            yield replace(table, is_single=True)


def _lede(facts: Facts) -> Sentence:
    """Return what was found, then what nobody asked."""
    candidates = [_first_place(facts), _loss(facts)]
    reasons = (_why_no_rows(facts), _why_no_losses(facts))
    unasked = [
        say(f"stability.unasked.{reason}")
        for reason, sentence in zip(reasons, candidates, strict=True)
        if not sentence
    ]
    sentences = [
        sentence for sentence in (*candidates, clusters_in_short(facts)) if sentence
    ]
    if unasked:
        sentences.append(say("stability.unasked.all", what=joined(unasked, "; ")))
    return joined(sentences, " ")


def _why_no_rows(facts: Facts) -> str:
    """Return why the leading ranking is not known on resampled rows."""
    if not config_of(facts, "stability").get("resamples", 0):
        return "rows"
    if not facts.came_to_end:
        return "rows_ended"
    models = {f.subject for f in facts.result.findings if f.check == "method_failed"}
    has_failed = facts.lead is not None and facts.lead.record.model in models
    return "rows_failed" if has_failed else "still"


def _why_no_losses(facts: Facts) -> str:
    """Return why no two losses are compared."""
    counts = [
        len(entry.get("losses", ()))
        for entry in facts.result.run.config.get("importance", ())
        if METHODS[entry["method"]].unit == "loss"
    ]
    if max(counts, default=0) < 2:
        return "losses"
    return "losses_apart" if facts.came_to_end else "losses_ended"


def _first_place(facts: Facts) -> Sentence:
    """Return how often the leader of the lead ranking leads on resampled rows."""
    ranking, frame = facts.lead, facts.result.resampled_ranks
    if ranking is None or not ranking.measured:
        return ()
    leader = ranking.record.features[ranking.measured[0]]
    first_places = frame[
        (frame["record"] == ranking.index) & (frame["feature"] == leader)
    ]
    if first_places.empty:
        return _first_place_held(facts, ranking, leader)
    first, total = (
        first_places[first_places["rank"] == 1.0],
        int(first_places["resamples"].sum()),
    )
    share = float(first["resamples"].sum()) / total
    path = "resampled_ranks.resamples"
    return say(
        "stability.first_place",
        feature=full_name(leader),
        model=full_name(ranking.subject),
        share=Value(path, share, percent(share), derived="share"),
        resamples=say_count(tallied(path, total), "resample"),
    )


def _first_place_held(facts: Facts, ranking: Ranking, leader: str) -> Sentence:
    """Return the same from the intervals over other rows, empty where there are none.

    They resample the rows without new predictions, so `[stability]` need not be set.
    """
    if not ranking.row_intervals:
        return ()
    place = ranking.row_intervals[ranking.record.features.index(leader)]
    share = float(facts.result.row_intervals.at[place, "lead_share"])
    if share != share:
        return ()
    path = f"row_intervals[{place}].lead_share"
    return say(
        "stability.first_place_held",
        feature=full_name(leader),
        model=full_name(ranking.subject),
        share=Value(path, share, percent(share)),
    )


def _loss(facts: Facts) -> Sentence:
    """Return what the choice of the loss changes, over all that were compared."""
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
    """Return how stable a ranking is, cut like its own table; None if not asked."""
    frame = facts.result.stability
    frame = frame[frame["record"] == ranking.index]
    if frame.empty:
        return None
    places = dict(zip(frame["feature"], frame.index, strict=True))
    return cut_alike(ranking, partial(_stability_table, facts, ranking, places))


def _stability_table(
    facts: Facts, ranking: Ranking, places: dict[str, int], rows: Sequence[int]
) -> Table:
    frame = facts.result.stability
    top_k = int(config_of(facts, "checks").get("top_k", 3))
    columns = [
        Column(say("ranking.rank"), "number"),
        Column(say(f"ranking.name.{ranking.record.of}"), "header"),
        Column(say("stability.ranks", level=percent(LEVEL)), "number"),
        Column(say("stability.top", k=str(top_k)), "number"),
    ]
    if ranking.is_drawn:
        columns.append(Column(say("stability.settle"), "number"))
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


def _row(ranking: Ranking, row: int, frame: pd.DataFrame, place: int) -> Cells:
    estimates = frame.loc[place]
    path = f"stability[{place}]"
    low, high, share = (
        float(estimates[name]) for name in ("rank_low", "rank_high", "p_top_k")
    )
    inside = Value(f"{path}.p_top_k", share, percent(share))
    cells = [
        Cell((rank_text(float(ranking.rank[row])),)),
        Cell((full_name(ranking.record.features[row]),)),
        Cell((interval_text(low, high),)),
        Cell((inside,)),
    ]
    if ranking.is_drawn:
        needed = float(estimates["repeats_to_settle"])
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
        model=full_name(ranking.subject),
        table=Link(table_id(ranking)),
    )
    if not most.raw:
        return (*what, *say("stability.not_resampled"))
    rows = whole(f"importances[{ranking.index}].n_samples", ranking.record.n_samples)
    resampling = say(
        "stability.resampled",
        resamples=say_count(most, "resample"),
        rows=say_count(rows, "row"),
    )
    return (*what, *resampling)


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
        (full_name(name), f" ({number(float(frame.at[at, 'resamples']), 0)})")
        for name, at in places.items()
        if frame.at[at, "resamples"] < most.raw
    ]
    if fewer:
        notes.append(say("stability.fewer", names=joined(fewer[:10])))
    if ranking.is_drawn:
        path = f"importances[{ranking.index}]"
        repeats = say_count(repeats_of(ranking.record, path), "repeat")
        notes.append(
            say("stability.settle_note", level=percent(LEVEL), repeats=repeats)
        )
    return tuple(notes)


def convergence(facts: Facts, ranking: Ranking) -> tuple[Table | Figure, ...]:
    """Return a table of ranks, and a figure where more repeats still move the first.

    Nothing after few repeats.
    """
    frame = facts.result.convergence
    frame = frame[frame["record"] == ranking.index]
    if frame.empty or not ranking.measured:
        return ()
    table = _convergence_table(ranking, frame)
    top_k = int(config_of(facts, "checks").get("top_k", 3))
    if not _reorders(ranking, frame, top_k):
        return (replace(table, is_single=True),)
    return table, _convergence_figure(facts, ranking, frame)


def _reorders(ranking: Ranking, frame: pd.DataFrame, top_k: int) -> bool:
    """Return whether the second half of the repeats moves any of the first features."""
    names = [ranking.record.features[row] for row in ranking.measured[:top_k]]
    half = frame["n_repeats"].max() / 2
    later = frame[frame["feature"].isin(names) & (frame["n_repeats"] >= half)]
    return bool((later.groupby("feature")["rank"].nunique() > 1).any())


def _convergence_table(ranking: Ranking, frame: pd.DataFrame) -> Table:
    """Return the rank of the first features after each number of repeats."""
    counts = sorted(set(frame["n_repeats"]))
    place = {(r.feature, r.n_repeats): r.Index for r in frame.itertuples()}
    names = [ranking.record.features[row] for row in ranking.leading(ROWS)]
    of = ranking.record.of
    return Table(
        id=table_id(ranking).replace("ranking", "convergence", 1),
        caption=say(
            "convergence.caption",
            what=word(f"asked.{of}"),
            model=full_name(ranking.subject),
            table=Link(table_id(ranking)),
        ),
        columns=(
            Column(say(f"ranking.name.{of}"), "header"),
            *(Column((str(n),), "number") for n in counts),
        ),
        rows=tuple(
            Row(
                (
                    Cell((full_name(name),)),
                    *(Cell((_rank(frame, place[name, n]),)) for n in counts),
                )
            )
            for name in names
        ),
    )


def _rank(frame: pd.DataFrame, place: int) -> Value:
    rank = float(frame.at[place, "rank"])
    return Value(f"convergence[{place}].rank", rank, rank_text(rank))


def _convergence_figure(facts: Facts, ranking: Ranking, frame: pd.DataFrame) -> Figure:
    """Return estimate and half-width of the first features against the repeats."""
    rows = ranking.measured[: len(STYLES)]
    lines = tuple(_line(frame, ranking.record.features[row]) for row in rows)
    alt = word("convergence.alt").format(
        n=len(lines), model=display_name(ranking.subject)
    )
    return Figure(
        id=table_id(ranking).replace("tab-ranking", "fig-convergence", 1),
        draw=draw_top_k,
        data={
            "panels": (TopKPanel("", lines),),
            "axis_label": word("convergence.axis"),
            "head": plain(measured_in(facts, ranking)),
            "steps": tuple(str(n) for n in sorted(set(frame["n_repeats"]))),
        },
        alt=alt_text(alt),
        headline=say("convergence.headline"),
        caption=say(
            "convergence.figure",
            model=full_name(ranking.subject),
            level=percent(LEVEL),
            card=card_link(facts.card(ranking.record)),
        ),
    )


def _line(frame: pd.DataFrame, feature: str) -> TopKLine:
    """Return the estimates of one feature, and the half-widths of their intervals."""
    from scipy.special import stdtrit

    rows = frame[frame["feature"] == feature].sort_values("n_repeats")
    quantiles = stdtrit(rows["n_repeats"].to_numpy(float) - 1, (1 + LEVEL) / 2)
    halves = rows["std_error"] * quantiles
    means = tuple(rows["value"].tolist())
    return TopKLine(display_name(feature), means, tuple(halves.tolist()))
