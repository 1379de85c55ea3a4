"""The figures of section G: differences between engines in their bands."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from ...engines.agreement import numbers
from ...engines.agreement.sides import side_by_side
from ...records.importance_record import Importance
from ...records.ranking import options_text, question_of
from ..figures.bands import BandPanel, BandRow, draw_bands, paged_bands
from ..text.blocks import Figure
from ..text.number_text import decimals, number, percent
from ..text.wording import (
    display_name,
    figure_of,
    joined,
    say,
    word,
)
from .facts import Facts, card_link, engine_name, tallied
from .rankings import Ranking

ROWS = 20
PANELS = 8
DRAWN = ("disagrees", "equivalent", "comparable")
"""Verdicts whose pairs are drawn, in the order of drawing, the worst first."""


def is_about(record: Importance, row: Any) -> bool:
    """Return whether a row of the agreement is about the question of a record."""
    return is_same_question(record, row) and options_text(record) == row["options"]


def is_same_question(record: Importance, row: Any) -> bool:
    """Return whether a record has the question of a row, options not compared."""
    names = ("model", "method", "of", "loss", "positive_class")
    return question_of(record) == tuple(row[name] for name in names)


def band_figures(facts: Facts) -> tuple[Figure, ...]:
    """Return figures of differences in their bands, for pairs with independent draws.

    Pairs with equal draws have no band: their differences are rounding errors. The two
    records of a comparable pair measure different quantities; their differences are
    drawn hollow and do not count for the headline.
    """
    frame = facts.result.agreement
    judged = frame[(frame["kind"] == "importance") & frame["verdict"].isin(DRAWN)]
    pairs = sorted(
        judged.to_dict("records"), key=lambda row: DRAWN.index(row["verdict"])
    )
    drawn = []
    for row in pairs:
        ranking = next((r for r in facts.leads if is_about(r.record, row)), None)
        if ranking and (sides := _sides(facts, ranking, row)):
            drawn.append(_bands(facts, ranking, row["verdict"], *sides))
    pages = paged_bands([panel for panel, _ in drawn[:PANELS]])
    left = iter(drawn)
    return tuple(
        _band_figure(facts, place, list(islice(left, len(page))), len(drawn))
        for place, page in enumerate(pages, start=1)
    )


def _band_figure(
    facts: Facts,
    place: int,
    here: Sequence[tuple[BandPanel, Sequence[bool]]],
    n_pairs: int,
) -> Figure:
    """Return one page of pairs.

    `here` has the panels of the page, each with a boolean per feature, drawn or not:
    whether its difference is inside its band. The headline counts those outside among
    the pairs on the page that were judged, or all if none was.
    """
    panels = [panel for panel, _ in here]
    judged = [pair for pair in here if pair[0].verdict != "comparable"]
    inside = [is_inside for _, own in judged or here for is_inside in own]
    outside, total = inside.count(False), len(inside)
    key = "outside" if outside else "inside"
    lead = facts.leads[0].record
    label, unit = word("figures.difference"), facts.unit(lead)
    card = card_link(facts.card(lead))
    caption = say("figures.bands", miss=percent(numbers.MISS_RATE), card=card)
    if len(judged) < len(here):
        caption += say("bands.hollow")
    if len(here) < n_pairs:
        n, of = tallied("agreement", len(here)), tallied("agreement", n_pairs)
        caption += say("figures.bands_cut", n=n, total=of)
    return figure_of(
        "bands" + (f"-{place}" if place > 1 else ""),
        draw_bands,
        {
            "panels": tuple(panels),
            "unit_label": f"{label}, {unit}" if unit else label,
        },
        alt=say(
            "figures.bands_alt",
            panels=joined(f"{panel.title[:24]}, {panel.engines}" for panel in panels),
            outside=str(outside),
            total=str(total),
        ),
        headline=say(
            f"figures.bands_{key}" if judged else f"bands.comparable_{key}",
            n=tallied("agreement", outside),
            total=tallied("agreement", total),
        ),
        caption=caption,
    )


def _sides(
    facts: Facts, ranking: Ranking, row: Any
) -> tuple[Importance, Importance] | None:
    """Return the two records of a pair in one form and order of features.

    None if the pair cannot be drawn, such as one with the same draws, or none. If
    several records of ours have the question of the row, the one with the stream of the
    row is taken.
    """
    if " / " not in row["stream"]:
        return None
    records = [r for r in facts.result.importances if is_same_question(r, row)]
    by_match = sorted(records, key=lambda r: not is_about(r, row))
    pairs = (
        (one, other)
        for one in by_match
        for other in by_match
        if (one.engine, other.engine) == (row["engine_a"], row["engine_b"])
        and one.stream != other.stream
        and f"{one.stream or 'none'} / {other.stream or 'none'}" == row["stream"]
    )
    pair = next(pairs, None)
    if pair is None:
        return None
    one, other = side_by_side(*pair)[:2]
    is_like_ranking = one.form == other.form == ranking.record.form
    is_drawn = is_like_ranking and one.unit == other.unit and one.features
    return (one, other) if is_drawn else None


def _bands(
    facts: Facts, ranking: Ranking, verdict: str, one: Importance, other: Importance
) -> tuple[BandPanel, list[bool]]:
    """Return the panel of a pair, and of each feature whether it is inside its band.

    The panel has at most `ROWS` features: those outside their bands, then the first of
    the others.
    """
    gaps = numbers.mean_gaps(one, other)
    places = decimals(gaps.difference, gaps.band / 10, gaps.difference[~gaps.inside])
    first = facts.leads[0]  # its order for all panels, which share a column of names
    leading, own = first.in_order, ranking.in_order
    names = sorted(own, key=lambda n: leading.index(n) if n in leading else len(own))
    measured = [one.features.index(name) for name in names if name in one.features]
    # A stable sort: those outside come first.
    visible = sorted(measured, key=lambda i: bool(gaps.inside[i]))[:ROWS]
    rows = tuple(
        BandRow(
            name=display_name(one.features[i]),
            difference=float(gaps.difference[i]),
            half_width=float(gaps.band[i]),
            inside=bool(gaps.inside[i]),
            text=number(float(gaps.difference[i]), places, sign=True),
        )
        for i in measured
        if i in visible
    )
    panel = BandPanel(
        title=display_name(one.model),
        verdict=verdict,
        rows=rows,
        engines=f"{engine_name(one.engine)} − {other.engine}",
    )
    return panel, [bool(gaps.inside[i]) for i in measured]
