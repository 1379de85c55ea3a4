"""The figure of a ranking of pairs: features by features, and what stands out."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ..figures.interactions import MOST, draw_interactions
from ..text.blocks import Figure, Link, Name, Sentence, Value, plain
from ..text.number_text import count, number
from ..text.wording import alt_text, display_name, say, short_name
from .facts import Facts, card_link
from .ranking_tables import measured_in, table_id
from .rankings import Ranking

MAPS = 3
"""Most maps of one measure; the tables have every ranking."""
FEWEST = 3
"""Features below which a table of their pairs says all."""


def interaction_figure(
    facts: Facts, ranking: Ranking, ranked: Sequence[Ranking]
) -> Figure | None:
    """Return the pairs of a ranking as a map; None of fewer than three features.

    Of the rankings by one measure, `ranked`, the first are drawn.
    """
    if ranking.record.of != "pairs" or ranking not in ranked[:MAPS]:
        return None
    pairs = _pairs(ranking)
    features = _by_total(ranking, pairs)
    if len(features) < FEWEST:
        return None
    first = features[:MOST]
    rows = [
        [pairs.get(frozenset((one, other))) for other in first[:n]]
        for n, one in enumerate(first)
    ]
    return Figure(
        id=table_id(ranking).replace("tab-", "fig-"),
        draw=draw_interactions,
        data={
            "names": tuple(map(display_name, first)),
            "values": tuple(tuple(_value(ranking, i) for i in row) for row in rows),
            "texts": tuple(tuple(_text(ranking, i) for i in row) for row in rows),
            "axis_label": plain(measured_in(facts, ranking)),
        },
        alt=_alt(facts, ranking, len(first), len(features)),
        headline=_headline(ranking),
        caption=(
            *say(
                "interactions.caption",
                card=card_link(facts.card(ranking.record)),
                table=Link(table_id(ranking)),
            ),
            *_left_out(len(first), len(features)),
            *_not_drawn(ranked),
        ),
    )


def _pairs(ranking: Ranking) -> dict[frozenset[str], int]:
    """Return the row of each pair that was measured."""
    return {frozenset(ranking.record.columns[i]): i for i in ranking.measured}


def _by_total(ranking: Ranking, place_of: Mapping[frozenset[str], int]) -> list[str]:
    """Return the features of the pairs, by the sum of what their pairs measure."""
    total: dict[str, float] = defaultdict(float)
    for row in place_of.values():
        for name in ranking.record.columns[row]:
            total[name] += float(ranking.mean[row])
    return sorted(total, key=lambda name: -total[name])


def _value(ranking: Ranking, row: int | None) -> float:
    return float("nan") if row is None else float(ranking.mean[row])


def _text(ranking: Ranking, row: int | None) -> str:
    return number(_value(ranking, row), ranking.places)


def _names(ranking: Ranking) -> dict[str, Name]:
    one, other = ranking.record.columns[ranking.measured[0]]
    return {"one": short_name(one), "other": short_name(other)}


def _headline(ranking: Ranking) -> Sentence:
    """Return which pair is the strongest, and how far before the next."""
    measured = ranking.measured
    if not measured or not ranking.mean[measured[0]] > 0:
        return say("interactions.none")
    names = _names(ranking)
    if len(measured) > 1 and ranking.mean[measured[1]] > 0:
        ratio = float(ranking.mean[measured[0]] / ranking.mean[measured[1]])
        if 1.05 <= ratio < 100:
            path = f"importances[{ranking.index}].mean"
            times = Value(path, ratio, number(ratio, 1), derived="ratio")
            return say("interactions.times", ratio=times, **names)
        if ratio < 1.05:
            return say("interactions.close", **names)
    return say("interactions.first", **names)


def _alt(facts: Facts, ranking: Ranking, n: int, total: int) -> str:
    text = say(
        "interactions.alt",
        n=count(n),
        total=count(total),
        model=short_name(ranking.subject),
        measured=measured_in(facts, ranking),
        leader=plain(_headline(ranking)),
    )
    return alt_text(plain(text))


def _not_drawn(ranked: Sequence[Ranking]) -> Sentence:
    n = len(ranked) - MAPS
    return say("interactions.more", n=count(n)) if n > 0 else ()


def _left_out(n_drawn: int, total: int) -> Sentence:
    if n_drawn == total:
        return ()
    return say("interactions.left_out", n=count(n_drawn), total=count(total))
