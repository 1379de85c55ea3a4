"""A figure of section F: one ranking as dots with intervals."""

from collections.abc import Sequence
from math import nan

import numpy as np

from ..figures.ranking import RankingRow, draw_ranking
from ..text.blocks import Figure, Link, Sentence, Value, plain
from ..text.number_text import count, lone, loss_label, number
from ..text.wording import (
    alt_text,
    display_name,
    full_name,
    joined,
    say,
    short_name,
    word,
)
from .facts import Facts, card_link, repeats_of
from .models_figure import interval_name, mark_title
from .ranking_tables import (
    baseline_of,
    measured_in,
    over_repeats,
    table_id,
    value_of,
    value_word,
)
from .rankings import ROWS, Ranking

REPEATS = 60
"""Most repeats that ticks can show one by one."""


def ranking_figure(
    facts: Facts, ranking: Ranking, ranked: Sequence[Ranking]
) -> Figure | None:
    """Return the ranking as dots with intervals; None of pairs, which have a map.

    The repeats are shown where no figure of several models, `ranked`, shows them.
    """
    record = ranking.record
    if record.of == "pairs" or not ranking.measured:
        return None
    in_boxes = ranking.starts_at_loss and len(ranked) > 1
    is_few = 1 < record.n_repeats <= REPEATS
    with_repeats = ranking.is_drawn and is_few and not in_boxes
    shown_rows = ranking.leading(ROWS)
    rows = tuple(_figure_row(ranking, row, with_repeats) for row in shown_rows)
    baseline = _baseline_text(ranking) if ranking.starts_at_loss else ()
    return Figure(
        id=table_id(ranking).replace("tab-", "fig-"),
        draw=draw_ranking,
        data={
            "rows": rows,
            "unit_label": plain(measured_in(facts, ranking)),
            "baseline_label": plain(
                joined((full_name(ranking.subject), baseline), " ")
            ),
            "baseline": ranking.nothing,
            "value_label": value_word(ranking).lower(),
        },
        alt=_ranking_alt(facts, ranking, len(rows)),
        headline=_headline(ranking),
        caption=_ranking_caption(facts, ranking, with_repeats),
    )


def _ranking_caption(facts: Facts, ranking: Ranking, with_repeats: bool) -> Sentence:
    """Return what the marks are: an interval and repeats only if they are drawn."""
    record, is_random = ranking.record, ranking.is_drawn
    repeats = repeats_of(record, f"importances[{ranking.index}]")
    from_loss, zero = ranking.starts_at_loss, lone(ranking.nothing)
    key = "ranking" if is_random else "ranking_exact"
    return (
        *say(
            f"figures.{key}",
            estimate=over_repeats(ranking) if is_random else "",
            interval=interval_name(ranking),
            card=card_link(facts.card(record)),
        ),
        *(say("figures.ranking_repeats", n=repeats) if with_repeats else ()),
        *say(
            "figures.dashed_loss" if from_loss else "figures.dashed_zero",
            zero=zero,
        ),
        *(say("figures.ranking_room") if _has_no_room(ranking) else ()),
        *say("figures.ranking_data", table=Link(table_id(ranking))),
    )


def _has_no_room(ranking: Ranking) -> bool:
    """Return whether some rows that are always shown are not in the figure."""
    must = {i for i in ranking.measured if ranking.record.features[i] in ranking.always}
    return not ({*ranking.negative} | must) <= {*ranking.leading(ROWS)}


def _figure_row(ranking: Ranking, row: int, with_repeats: bool) -> RankingRow:
    value = value_of(ranking, row)
    ends = float(ranking.low[row]), float(ranking.high[row])
    is_drawn = ranking.is_drawn and ends[0] < ends[1]
    repeats = ranking.record.values[row, : ranking.record.repeats[row]]
    return RankingRow(
        name=display_name(ranking.record.features[row]),
        estimate=value.raw,
        low=ends[0],
        high=ends[1],
        text=value.text,
        repeats=tuple(repeats.tolist()) if with_repeats else (),
        title=mark_title(ranking, row, value.text, ends if is_drawn else (nan, nan)),
    )


def _baseline_text(ranking: Ranking) -> Sentence:
    return say(
        "figures.as_it_is",
        loss=loss_label(ranking.record.loss),
        value=baseline_of(ranking).text,
    )


def _headline(ranking: Ranking) -> Sentence:
    """Return what the ranking shows in one short sentence."""
    record, measured = ranking.record, ranking.measured
    first = short_name(record.features[measured[0]])
    low = ranking.low[measured[0]]
    if np.isnan(low):
        return say("results.unknown", feature=first)
    if low <= ranking.nothing:
        return say("results.nobody")
    if len(measured) == 1:
        return say("results.only", feature=first)
    if ranking.last[measured[0]] == 1:
        above = ranking.mean - ranking.nothing
        one, other = above[list(measured[:2])]
        ratio = one / other if other else np.inf
        if 1.05 <= ratio < 100:
            path = f"importances[{ranking.index}].mean"
            times = Value(path, float(ratio), number(float(ratio), 1), derived="ratio")
            return say("results.times", feature=first, ratio=times)
        return say("results.first", feature=first)
    second = short_name(record.features[measured[1]])
    return say("results.together", first=first, second=second)


def _ranking_alt(facts: Facts, ranking: Ranking, n: int) -> str:
    record = ranking.record
    row = ranking.measured[0]
    text = say(
        "figures.ranking_alt" if ranking.is_drawn else "figures.ranking_alt_exact",
        n=count(n),
        total=count(len(record.features)),
        what=word(f"asked.{record.of}"),
        model=short_name(ranking.subject),
        measured=measured_in(facts, ranking),
        first=short_name(record.features[row]),
        value=value_of(ranking, row).text,
        low=number(float(ranking.low[row]), ranking.places),
        high=number(float(ranking.high[row]), ranking.places),
    )
    return alt_text(plain(text))
