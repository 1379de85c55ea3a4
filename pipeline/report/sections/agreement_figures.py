"""The figures of section G: engines side by side, and their differences in bands."""

from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...engines.agreement import numbers
from ...engines.agreement.sides import side_by_side
from ...records.importance_record import Importance
from ...records.ranking import interval, options_text, question_of
from ..figures.bands import BandPanel, BandRow, draw_bands, paged_bands
from ..figures.engines import ENGINES, EngineRow, draw_engines
from ..text.blocks import Figure, Link, plain
from ..text.number_text import count, decimals, number, percent
from ..text.wording import (
    alt_text,
    display_name,
    full_name,
    joined,
    say,
    short_name,
    word,
)
from .facts import Facts, card_link, engine_name, tallied
from .models_figure import interval_name
from .ranking_tables import measured_in, table_id
from .rankings import Ranking

ROWS = 20
PANELS = 8
MODELS = 3
NAMED = 6
"""Most pairs that a caption names as not drawn."""
DRAWN = ("disagrees", "equivalent", "comparable")
"""In this order: the worst is seen first."""


def engine_figures(facts: Facts) -> tuple[Figure, ...]:
    """Return the lead ranking as each engine measured it, the first five of them.

    The first model always, the others where an engine was not replayed: equal numbers
    need one picture.
    """
    figures: list[Figure] = []
    for ranking in facts.leads:
        if not ranking.others or not ranking.measured or len(figures) == MODELS:
            continue
        pairs = _pairs_about(facts, ranking.record)
        answered = [other.engine for _, other in ranking.others]
        verdicts = pairs.loc[pairs["engine_b"].isin(answered), "verdict"]
        is_replayed = len(verdicts) and (verdicts == "replayed").all()
        if not figures or not is_replayed:
            figures.append(_engine_figure(facts, ranking, pairs))
    return tuple(figures)


def _engine_figure(facts: Facts, ranking: Ranking, pairs: pd.DataFrame) -> Figure:
    """Return a ranking as each engine measured it; `pairs` compare its engines."""
    record, model = ranking.record, short_name(ranking.subject)
    sides = [record, *(other for _, other in ranking.others)][: len(ENGINES)]
    engines = tuple(engine_name(side.engine) for side in sides)
    bounds = [interval(side) for side in sides]
    rows = []
    for name in (record.features[row] for row in ranking.leading(ROWS)):
        points, values = [], []
        for side, engine, (low, high) in zip(sides, engines, bounds, strict=True):
            at = side.features.index(name)
            mean = float(side.mean[at])
            if np.isfinite(mean):
                points.append((engine, mean, float(low[at]), float(high[at])))
                values.append(f"{engine} {number(mean, ranking.places)}")
        title = say(
            "figures.mark_alone",
            model=model,
            feature=display_name(name),
            value="; ".join(values),
        )
        rows.append(EngineRow(display_name(name), tuple(points), plain(title)))
    uncompared = set(pairs.loc[pairs["verdict"] == "not compared", "engine_b"])
    compared = [side for side in sides if side.engine not in uncompared]
    orders = {tuple(np.array(one.features)[np.argsort(one.rank)]) for one in compared}
    key, n = "one_order" if len(orders) == 1 else "orders", len(compared)
    if n == 1:
        key, n = "uncompared", len(engines)
    alt = say(
        "figures.engines_alt",
        n=str(len(rows)),
        total=count(len(record.features)),
        what=word(f"asked.{record.of}"),
        model=model,
        engines=joined(engines),
        first=short_name(ranking.in_order[0]),
    )
    return Figure(
        id=f"fig-engines-{ranking.key}",
        draw=draw_engines,
        data={
            "rows": tuple(rows),
            "engines": engines,
            "unit_label": plain(measured_in(facts, ranking)),
            "baseline": ranking.nothing,
            "baseline_label": word("figures.model_as_it_is") if record.loss else "",
        },
        alt=alt_text(plain(alt)),
        headline=say(f"figures.{key}", model=model, n=tallied("importances", n)),
        caption=say(
            "figures.engines",
            interval=interval_name(ranking, of_draws=True),
            card=card_link(facts.card(record)),
            table=Link(table_id(ranking)),
        ),
    )


def _pairs_about(facts: Facts, record: Importance) -> pd.DataFrame:
    """Return the rows of the agreement about the question of a record."""
    frame = facts.result.agreement
    about = [is_about(record, row) for row in frame.to_dict("records")]
    return frame[np.array(about, dtype=bool)]


def is_about(record: Importance, row: Any) -> bool:
    """Return whether a row of the agreement is about the question of a record."""
    return is_same_question(record, row) and options_text(record) == row["options"]


def is_same_question(record: Importance, row: Any) -> bool:
    """Return whether a record answers the question of a row, whatever its options."""
    names = ("model", "method", "of", "loss", "positive_class")
    return question_of(record) == tuple(row[name] for name in names)


class _Bands(NamedTuple):
    """One pair as a panel, and how many of all its differences lie outside."""

    panel: BandPanel
    outside: int
    total: int


def band_figures(facts: Facts) -> tuple[Figure, ...]:
    """Return differences in their bands for pairs with independent draws.

    Pairs with equal draws have no band: their differences are rounding. Comparable
    pairs answer other questions, so theirs are drawn hollow and judged by nobody.
    """
    frame = facts.result.agreement
    judged = frame[(frame["kind"] == "importance") & frame["verdict"].isin(DRAWN)]
    pairs = sorted(
        judged.to_dict("records"), key=lambda row: DRAWN.index(row["verdict"])
    )
    drawn, undrawn = [], []
    for row in pairs:
        ranking = next((r for r in facts.leads if is_about(r.record, row)), None)
        if ranking is None:
            continue
        sides = _sides(facts, row)
        why = _why_not(ranking, row, sides)
        if why or sides is None:
            undrawn.append((row, why))
        else:
            drawn.append(_bands(facts, ranking, row["verdict"], *sides))
    pages = paged_bands([bands.panel for bands in drawn[:PANELS]])
    left = iter(drawn)
    return tuple(
        _band_figure(facts, place, list(islice(left, len(page))), len(drawn), undrawn)
        for place, page in enumerate(pages, start=1)
    )


def _band_figure(
    facts: Facts,
    place: int,
    here: list[_Bands],
    n_pairs: int,
    undrawn: Sequence[tuple[Any, str]],
) -> Figure:
    """Return one page of pairs; its headline is about all that were judged on it.

    It names pairs that have no panel, each with its reason.
    """
    panels = [bands.panel for bands in here]
    judged = [bands for bands in here if bands.panel.verdict != "comparable"]
    outside = sum(bands.outside for bands in judged or here)
    total = sum(bands.total for bands in judged or here)
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
    if undrawn:
        named = [
            say(
                "bands.pair",
                model=full_name(row["model"]),
                engines=f"{engine_name(row['engine_a'])} − {row['engine_b']}",
                why=why,
            )
            for row, why in undrawn[:NAMED]
        ]
        if (rest := len(undrawn) - NAMED) > 0:
            named.append(say("bands.more", n=tallied("agreement", rest)))
        caption += say("bands.not_drawn", pairs=joined(named, "; "))
    alt = say(
        "figures.bands_alt",
        panels=joined(f"{panel.title[:24]}, {panel.engines}" for panel in panels),
        outside=str(outside),
        total=str(total),
    )
    return Figure(
        id="fig-bands" + (f"-{place}" if place > 1 else ""),
        draw=draw_bands,
        data={
            "panels": tuple(panels),
            "unit_label": f"{label}, {unit}" if unit else label,
        },
        alt=alt_text(plain(alt)),
        headline=say(
            f"figures.bands_{key}" if judged else f"bands.comparable_{key}",
            n=tallied("agreement", outside),
            total=tallied("agreement", total),
        ),
        caption=caption,
    )


def _why_not(
    ranking: Ranking, row: Any, sides: tuple[Importance, Importance] | None
) -> str:
    """Return why a pair has no place on the axis, empty if it has."""
    if " / " not in row["stream"]:
        return word("bands.same_draws" if row["stream"] else "bands.no_draws")
    if sides is None:
        return word("bands.absent")
    one, other = sides
    if one.form != other.form:
        return plain(say("bands.forms", one=one.form, other=other.form))
    if one.form != ranking.record.form:
        return plain(say("bands.form", form=one.form))
    if one.unit != other.unit:
        return word("bands.units")
    return "" if one.features else word("bands.features")


def _sides(facts: Facts, row: Any) -> tuple[Importance, Importance] | None:
    """Return a pair in one form and order; None unless its draws differ.

    Of our records for one question, the one in the draw order of the row was compared.
    """
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
    return side_by_side(*pair)[:2] if pair else None


def _bands(
    facts: Facts, ranking: Ranking, verdict: str, one: Importance, other: Importance
) -> _Bands:
    """Return one pair of the lead measure as a panel.

    Of many features those outside their band are drawn, then the first of the others.
    """
    gaps = numbers.mean_gaps(one, other)
    places = decimals(gaps.difference, gaps.band / 10, gaps.difference[~gaps.inside])
    first = facts.leads[0]  # all panels in its order share one column of names
    leading, own = first.in_order, ranking.in_order
    names = sorted(own, key=lambda n: leading.index(n) if n in leading else len(own))
    measured = [one.features.index(name) for name in names if name in one.features]
    outside = [i for i in measured if not gaps.inside[i]]
    inside = [i for i in measured if gaps.inside[i]]
    visible = {*outside[:ROWS], *inside[: max(ROWS - len(outside), 0)]}
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
    return _Bands(panel, len(outside), len(measured))
