"""For a ranking of many repeats: its order and values after fewer of them."""

import pandas as pd

from ...records.ranking import LEVEL
from ..figures.top_k import STYLES, TopKLine, TopKPanel, draw_top_k
from ..text.blocks import Cell, Column, Figure, Link, Row, Table, Value, plain
from ..text.number_text import percent, rank_text
from ..text.wording import display_name, named, say, word
from .facts import Facts, card_link
from .ranking_tables import measured_in, table_id
from .rankings import Ranking

ROWS = 10
ALT = 250


def convergence(facts: Facts, ranking: Ranking) -> tuple[Table | Figure, ...]:
    """Return a table of ranks and a figure of values; nothing after few repeats."""
    frame = facts.result.convergence
    frame = frame[frame["record"] == ranking.index]
    if frame.empty or not ranking.measured:
        return ()
    return _table(ranking, frame), _figure(facts, ranking, frame)


def _table(ranking: Ranking, frame: pd.DataFrame) -> Table:
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
            model=named(ranking.subject),
            table=Link(table_id(ranking)),
        ),
        columns=(
            Column(say(f"ranking.name.{of}"), "header", 32),
            *(Column((str(n),), "number", 9) for n in counts),
        ),
        rows=tuple(
            Row(
                (
                    Cell((named(name),)),
                    *(Cell((_rank(frame, place[name, n]),)) for n in counts),
                )
            )
            for name in names
        ),
    )


def _rank(frame: pd.DataFrame, place: int) -> Value:
    rank = float(frame.at[place, "rank"])
    return Value(f"convergence[{place}].rank", rank, rank_text(rank))


def _figure(facts: Facts, ranking: Ranking, frame: pd.DataFrame) -> Figure:
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
        alt=alt[:ALT],
        headline=say("convergence.headline"),
        caption=say(
            "convergence.figure",
            model=named(ranking.subject),
            level=percent(LEVEL),
            card=card_link(facts.card(ranking.record)),
        ),
    )


def _line(frame: pd.DataFrame, feature: str) -> TopKLine:
    """Return the estimates of one feature, and the half-widths of their intervals."""
    from scipy.special import stdtrit

    told = frame[frame["feature"] == feature].sort_values("n_repeats")
    quantiles = stdtrit(told["n_repeats"].to_numpy(float) - 1, (1 + LEVEL) / 2)
    halves = told["std_error"] * quantiles
    means = tuple(told["value"].tolist())
    return TopKLine(display_name(feature), means, tuple(halves.tolist()))
