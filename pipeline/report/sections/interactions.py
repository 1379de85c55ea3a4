"""The figure of a ranking of pairs: a map of features by features."""

from collections import defaultdict
from collections.abc import Sequence
from math import nan

from ..figures.interactions import MOST, draw_interactions
from ..text.blocks import Figure, Link, Sentence, Value, plain
from ..text.number_text import count, number
from ..text.wording import display_name, figure_of, say, short_name
from .facts import Facts, card_link
from .ranking_tables import measured_in, table_id
from .rankings import Ranking

MAPS = 3
"""Largest number of maps of one measure; the tables have every ranking."""
FEWEST = 3
"""Number of features below which the table of pairs suffices."""


def interaction_figure(
    facts: Facts, ranking: Ranking, ranked: Sequence[Ranking]
) -> Figure | None:
    """Return the pairs of a ranking as a map, or None with fewer than three features.

    Only the first of `ranked`, the rankings by one measure, have a map. Features are in
    the order of the sum over their pairs.
    """
    if ranking.record.of != "pairs" or ranking not in ranked[:MAPS]:
        return None
    values: dict[frozenset[str], float] = {}
    total: dict[str, float] = defaultdict(float)
    for row in ranking.measured:
        pair, value = ranking.record.columns[row], float(ranking.mean[row])
        values[frozenset(pair)] = value
        for name in pair:
            total[name] += value
    features = sorted(total, key=lambda name: -total[name])
    if len(features) < FEWEST:
        return None
    drawn = features[:MOST]
    rows = [
        [values.get(frozenset((one, other)), nan) for other in drawn[:n]]
        for n, one in enumerate(drawn)
    ]
    headline = _headline(ranking)
    caption = say(
        "interactions.caption",
        card=card_link(facts.card(ranking.record)),
        table=Link(table_id(ranking)),
    )
    if len(drawn) < len(features):
        n, every = count(len(drawn)), count(len(features))
        caption += say("interactions.left_out", n=n, total=every)
    if len(ranked) > MAPS:
        caption += say("interactions.more", n=count(len(ranked) - MAPS))
    return figure_of(
        f"ranking-{ranking.key}",
        draw_interactions,
        {
            "names": tuple(map(display_name, drawn)),
            "values": tuple(map(tuple, rows)),
            "texts": tuple(
                tuple(number(value, ranking.places) for value in row) for row in rows
            ),
            "axis_label": plain(measured_in(facts, ranking)),
        },
        alt=say(
            "interactions.alt",
            n=count(len(drawn)),
            total=count(len(features)),
            model=short_name(ranking.subject),
            measured=measured_in(facts, ranking),
            leader=plain(headline),
        ),
        headline=headline,
        caption=caption,
    )


def _headline(ranking: Ranking) -> Sentence:
    """Return the strongest pair, and its ratio to the next."""
    measured = ranking.measured
    if not ranking.mean[measured[0]] > 0:
        return say("interactions.none")
    one, other = map(short_name, ranking.record.columns[measured[0]])
    if len(measured) > 1 and ranking.mean[measured[1]] > 0:
        ratio = float(ranking.mean[measured[0]] / ranking.mean[measured[1]])
        if ratio < 1.05:
            return say("interactions.close", one=one, other=other)
        if ratio < 100:
            path = f"importances[{ranking.index}].mean"
            times = Value(path, ratio, number(ratio, 1), derived="ratio")
            return say("interactions.times", ratio=times, one=one, other=other)
    return say("interactions.first", one=one, other=other)
