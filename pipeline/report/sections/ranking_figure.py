"""A figure of section F: one ranking as dots with intervals."""

from math import nan

import numpy as np

from ..figures.parts import Row
from ..figures.ranking import draw_ranking
from ..text.blocks import Figure, Link, Sentence, Value, plain
from ..text.number_text import count, end_text, lone, loss_label, number
from ..text.wording import (
    figure_of,
    full_name,
    joined,
    say,
    short_name,
    word,
)
from .facts import Facts, card_link, tallied
from .models_figure import figure_row, interval_name
from .ranking_tables import (
    baseline_of,
    measured_in,
    over_repeats,
    table_id,
    value_of,
    value_word,
)
from .rankings import ROWS, Ranking


def ranking_figure(facts: Facts, ranking: Ranking) -> Figure | None:
    """Return the figure of a ranking; None for pairs, which have a map."""
    record = ranking.record
    if record.of == "pairs" or not ranking.measured:
        return None
    path, is_random = f"importances[{ranking.index}]", ranking.is_drawn
    unit_label = measured_in(facts, ranking)
    rows = [
        estimate_row(ranking, row, value_of(ranking, row).text)
        for row in ranking.leading(ROWS)
    ]
    baseline: Sentence = ()
    if ranking.starts_at_loss:
        loss, value = loss_label(record.loss), baseline_of(ranking)
        baseline = say("figures.as_it_is", loss=loss, value=value.text)
    caption = say(
        "figures.ranking"
        if is_random
        else f"figures.ranking_{'single' if record.stream else 'exact'}",
        estimate=over_repeats(ranking) if is_random else "",
        interval=interval_name(ranking),
        card=card_link(facts.card(record)),
    )
    dashed = "dashed_loss" if ranking.starts_at_loss else "dashed_zero"
    caption += say(f"figures.{dashed}", zero=lone(ranking.null_value))
    if len(rows) < len(ranking.measured):
        counts = tallied(path, len(rows)), tallied(path, len(ranking.measured))
        caption += say("figures.ranking_some", n=counts[0], of=counts[1])
    caption += say("figures.ranking_data", table=Link(table_id(ranking)))
    first = ranking.measured[0]
    return figure_of(
        f"ranking-{ranking.key}",
        draw_ranking,
        {
            "rows": tuple(rows),
            "unit_label": plain(unit_label),
            "baseline_label": plain(
                joined((full_name(ranking.subject), baseline), " ")
            ),
            "baseline": ranking.null_value,
            "value_label": value_word(ranking).lower(),
        },
        alt=say(
            "figures.ranking_alt" if is_random else "figures.ranking_alt_exact",
            n=count(len(rows)),
            total=count(len(record.features)),
            what=word(f"asked.{record.of}"),
            model=short_name(ranking.subject),
            measured=unit_label,
            first=short_name(record.features[first]),
            value=value_of(ranking, first).text,
            low=end_text(float(ranking.low[first]), ranking.places),
            high=end_text(float(ranking.high[first]), ranking.places),
        ),
        headline=_headline(ranking),
        caption=caption,
    )


def _headline(ranking: Ranking) -> Sentence:
    """Return the headline: the leading features of the ranking."""
    names = [short_name(name) for name in ranking.in_order[:2]]
    row = ranking.measured[0]
    if np.isnan(ranking.low[row]):
        return say("results.unknown", feature=names[0])
    if ranking.low[row] <= ranking.null_value:
        return say("results.nobody")
    if len(names) == 1:
        return say("results.only", feature=names[0])
    if ranking.last[row] != 1:
        return say("results.together", first=names[0], second=names[1])
    one, other = (ranking.mean - ranking.null_value)[list(ranking.measured[:2])]
    ratio = float(one / other) if other else np.inf
    if not 1.05 <= ratio < 100:
        return say("results.first", feature=names[0])
    path = f"importances[{ranking.index}].mean"
    times = Value(path, ratio, number(ratio, 1), derived="ratio")
    return say("results.times", feature=names[0], ratio=times)


def estimate_row(ranking: Ranking, row: int, text: str) -> Row:
    """Return the row of one feature: its estimate, with an interval if it has one."""
    low, high = float(ranking.low[row]), float(ranking.high[row])
    ends = (low, high) if ranking.is_drawn and low < high else (nan, nan)
    return figure_row(ranking, row, float(ranking.mean[row]), ends, text)
