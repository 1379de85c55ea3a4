"""The figures of section G: engines side by side, and differences in their bands."""

from collections.abc import Hashable
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from pipeline.agreement import numbers
from pipeline.agreement.sides import side_by_side
from pipeline.estimates import Importance
from pipeline.primary import LEVEL, interval, options_text, question_of
from pipeline.report import figures
from pipeline.report.blocks import Figure, Link, Sentence, plain
from pipeline.report.facts import Facts, card_link, engine_name, tallied
from pipeline.report.figure_data import BandPanel, BandRow, EngineRow
from pipeline.report.figure_rows import ENGINES
from pipeline.report.number_text import count, decimals, number, percent
from pipeline.report.ranking_tables import measured_in, table_id
from pipeline.report.rankings import Ranking
from pipeline.report.wording import (
    display_name,
    joined,
    say,
    shortened,
    word,
)

ROWS = 20
PANELS = 8
MODELS = 3
ALT = 250


def engine_figures(facts: Facts) -> tuple[Figure, ...]:
    """Return the lead ranking as each engine measured it, the first five of them.

    The first model always, the others where an engine was not replayed: equal numbers
    need one picture.
    """
    having = [ranking for ranking in facts.leads if ranking.others and ranking.measured]
    telling = [r for r in having[1:] if not _is_replayed(facts, r)]
    chosen = (having[:1] + telling)[:MODELS]
    return tuple(_engine_figure(facts, ranking) for ranking in chosen)


def _is_replayed(facts: Facts, ranking: Ranking) -> bool:
    """Return whether every engine that answered a question was replayed."""
    frame = facts.result.agreement
    about = [
        place for place in frame.index if _is_about(ranking.record, frame.loc[place])
    ]
    answered = {other.engine for _, other in ranking.others}
    rows = frame.loc[about]
    verdicts = rows.loc[rows["engine_b"].isin(answered), "verdict"]
    return bool(len(verdicts)) and bool((verdicts == "replayed").all())


def _engine_figure(facts: Facts, ranking: Ranking) -> Figure:
    record = ranking.record
    others = (other for _, other in ranking.others)
    sides = [record, *islice(others, len(ENGINES) - 1)]
    engines = tuple(engine_name(side.engine) for side in sides)
    bounds = [interval(side) for side in sides]
    names = [record.features[row] for row in ranking.measured[:ROWS]]
    rows = []
    for name in names:
        points = []
        for side, engine, (low, high) in zip(sides, engines, bounds, strict=True):
            at = side.features.index(name)
            if np.isfinite(side.mean[at]):
                ends = (float(low[at]), float(high[at]))
                points.append((engine, float(side.mean[at]), *ends))
        rows.append(EngineRow(display_name(name), tuple(points)))
    return Figure(
        id=table_id(ranking).replace("tab-ranking", "fig-engines"),
        function="engines",
        data={
            "rows": tuple(rows),
            "engines": engines,
            "unit_label": plain(measured_in(facts, ranking)),
            "baseline": 1.0 if record.form == "ratio" else 0.0,
            "baseline_label": word("figures.model_as_it_is") if record.loss else "",
        },
        alt=_engines_alt(ranking, engines, len(rows)),
        headline=_engines_headline(ranking, sides),
        caption=say(
            "figures.engines",
            level=percent(LEVEL),
            card=card_link(facts.card(record)),
            table=Link(table_id(ranking)),
        ),
    )


def _engines_headline(ranking: Ranking, sides: list[Importance]) -> Sentence:
    """Return whether all engines order the features alike."""
    orders = {tuple(np.array(side.features)[np.argsort(side.rank)]) for side in sides}
    key = "figures.one_order" if len(orders) == 1 else "figures.orders"
    return say(
        key,
        model=shortened(ranking.subject, 24),
        n=tallied("importances", len(sides)),
    )


def _engines_alt(ranking: Ranking, engines: tuple[str, ...], n: int) -> str:
    record = ranking.record
    text = say(
        "figures.engines_alt",
        n=str(n),
        total=count(len(record.features)),
        what=word(f"asked.{record.of}"),
        model=shortened(ranking.subject, 30),
        engines=joined(engines),
        first=shortened(record.features[ranking.measured[0]], 30),
    )
    return plain(text)[:ALT]


class _Bands(NamedTuple):
    """One pair as a panel, and how many of all its differences lie outside."""

    panel: BandPanel
    outside: int
    total: int


def band_figures(facts: Facts) -> tuple[Figure, ...]:
    """Return differences in their bands for pairs with independent draws.

    Pairs with equal draws have no band: their differences are rounding.
    """
    frame = facts.result.agreement
    judged = frame[
        (frame["kind"] == "importance")
        & frame["verdict"].isin(["disagrees", "equivalent"])
    ].sort_values("verdict", kind="stable")
    found = [bands for place in judged.index if (bands := _bands(facts, place))]
    pages = figures.paged_bands([bands.panel for bands in found[:PANELS]])
    drawn, start = [], 0
    for place, page in enumerate(pages, start=1):
        here = found[start : start + len(page)]
        start += len(page)
        id_ = "fig-bands" + (f"-{place}" if place > 1 else "")
        drawn.append(_band_figure(facts, id_, here, len(found)))
    return tuple(drawn)


def _band_figure(facts: Facts, id_: str, here: list[_Bands], n_pairs: int) -> Figure:
    """Return one page of pairs; its headline is about all their differences."""
    panels = [bands.panel for bands in here]
    outside, total = sum(b.outside for b in here), sum(b.total for b in here)
    record = facts.leads[0].record
    caption = say(
        "figures.bands",
        miss=percent(numbers.MISS_RATE),
        card=card_link(facts.card(record)),
    )
    if len(here) < n_pairs:
        n, of = tallied("agreement", len(here)), tallied("agreement", n_pairs)
        caption += say("figures.bands_cut", n=n, total=of)
    return Figure(
        id=id_,
        function="bands",
        data={
            "panels": tuple(panels),
            "unit_label": plain(_difference_label(facts)),
        },
        alt=_bands_alt(panels, outside, total),
        headline=say(
            "figures.bands_outside" if outside else "figures.bands_inside",
            n=tallied("agreement", outside),
            total=tallied("agreement", total),
        ),
        caption=caption,
    )


def _difference_label(facts: Facts) -> Sentence:
    unit = facts.unit(facts.leads[0].record)
    label = word("figures.difference")
    return (f"{label}, {unit}" if unit else label,)


def _bands(facts: Facts, place: Hashable) -> _Bands | None:
    """Return one pair of the lead measure as a panel; None for any other pair.

    Of many features those outside their band are drawn, then the first of the others.
    """
    row = facts.result.agreement.loc[place]
    ranking = next((r for r in facts.leads if _is_about(r.record, row)), None)
    if ranking is None:
        return None
    sides = _sides(facts, row)
    if sides is None or sides[0].form != ranking.record.form:
        return None
    one, other = sides
    gaps = numbers.mean_gaps(one, other)
    places = decimals(gaps.difference, gaps.band / 10, gaps.difference[~gaps.inside])
    names = [ranking.record.features[i] for i in ranking.measured]
    measured = [one.features.index(name) for name in names if name in one.features]
    outside = [i for i in measured if not gaps.inside[i]]
    inside = [i for i in measured if gaps.inside[i]]
    chosen = {*outside[:ROWS], *inside[: max(ROWS - len(outside), 0)]}
    rows = tuple(
        BandRow(
            name=display_name(one.features[i]),
            difference=float(gaps.difference[i]),
            half_width=float(gaps.band[i]),
            inside=bool(gaps.inside[i]),
            text=number(float(gaps.difference[i]), places, sign=True),
        )
        for i in measured
        if i in chosen
    )
    panel = BandPanel(
        title=display_name(one.model),
        verdict=str(row["verdict"]),
        rows=rows,
        engines=f"{engine_name(one.engine)} − {other.engine}",
    )
    return _Bands(panel, len(outside), len(measured))


def _sides(facts: Facts, row: Any) -> tuple[Importance, Importance] | None:
    """Return a pair in one form and order; None unless its draws differ.

    Of our records for one question, the one in the draw order of the row was compared.
    """
    records = [r for r in facts.result.importances if _is_asked(r, row)]
    asked = sorted(records, key=lambda r: not _is_about(r, row))
    pairs = (
        (one, other)
        for one in asked
        for other in asked
        if (one.engine, other.engine) == (row["engine_a"], row["engine_b"])
        and one.stream != other.stream
        and f"{one.stream or 'none'} / {other.stream or 'none'}" == row["stream"]
    )
    pair = next(pairs, None)
    return side_by_side(*pair)[:2] if pair else None


def _is_about(record: Importance, row: Any) -> bool:
    """Return whether a row of the agreement is about the question of a record."""
    return _is_asked(record, row) and options_text(record) == row["options"]


def _is_asked(record: Importance, row: Any) -> bool:
    """Return whether a record is so too, whatever its options: a row has one side's."""
    names = ("model", "method", "of", "loss", "positive_class")
    return question_of(record) == tuple(row[name] for name in names)


def _bands_alt(panels: list[BandPanel], outside: int, total: int) -> str:
    text = say(
        "figures.bands_alt",
        panels=joined(f"{panel.title[:24]}, {panel.engines}" for panel in panels),
        outside=str(outside),
        total=str(total),
    )
    return plain(text)[:ALT]
