"""The figures of section G: engines side by side, and their differences in bands."""

from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ...engines.agreement import numbers
from ...engines.agreement.sides import side_by_side
from ...records.importance_record import Importance
from ...records.ranking import interval, options_text, question_of
from ..figures.bands import BandPanel, BandRow, draw_bands, paged_bands
from ..figures.engines import ENGINES, EngineRow, draw_engines
from ..text.blocks import Figure, Link, Sentence, plain
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
_Sides: TypeAlias = tuple[Importance, Importance] | None
DRAWN = ("disagrees", "equivalent", "comparable")
"""In this order: the worst is seen first."""


def engine_figures(facts: Facts) -> tuple[Figure, ...]:
    """Return the lead ranking as each engine measured it, the first five of them.

    The first model always, the others where an engine was not replayed: equal numbers
    need one picture.
    """
    having = [ranking for ranking in facts.leads if ranking.others and ranking.measured]
    telling = [r for r in having[1:] if not _is_replayed(facts, r)]
    rankings = (having[:1] + telling)[:MODELS]
    return tuple(_engine_figure(facts, ranking) for ranking in rankings)


def _is_replayed(facts: Facts, ranking: Ranking) -> bool:
    """Return whether every engine that answered a question was replayed."""
    frame = facts.result.agreement
    about = [
        place for place in frame.index if is_about(ranking.record, frame.loc[place])
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
    names = [record.features[row] for row in ranking.leading(ROWS)]
    rows = []
    for name in names:
        points = []
        for side, engine, (low, high) in zip(sides, engines, bounds, strict=True):
            at = side.features.index(name)
            if np.isfinite(side.mean[at]):
                ends = (float(low[at]), float(high[at]))
                points.append((engine, float(side.mean[at]), *ends))
        title = _engines_title(ranking, name, points)
        rows.append(EngineRow(display_name(name), tuple(points), title))
    return Figure(
        id=table_id(ranking).replace("tab-ranking", "fig-engines"),
        draw=draw_engines,
        data={
            "rows": tuple(rows),
            "engines": engines,
            "unit_label": plain(measured_in(facts, ranking)),
            "baseline": 1.0 if record.form == "ratio" else 0.0,
            "baseline_label": word("figures.model_as_it_is") if record.loss else "",
        },
        alt=_engines_alt(ranking, engines, len(rows)),
        headline=_engines_headline(facts, ranking, sides),
        caption=say(
            "figures.engines",
            interval=interval_name(ranking, of_draws=True),
            card=card_link(facts.card(record)),
            table=Link(table_id(ranking)),
        ),
    )


def _engines_title(
    ranking: Ranking, name: str, points: Sequence[tuple[str, float, float, float]]
) -> str:
    """Return what a row tells under the pointer: what each engine measured."""
    values = [f"{engine} {number(mean, ranking.places)}" for engine, mean, *_ in points]
    words = say(
        "figures.mark_alone",
        model=short_name(ranking.subject),
        feature=display_name(name),
        value="; ".join(values),
    )
    return plain(words)


def _engines_headline(
    facts: Facts, ranking: Ranking, sides: list[Importance]
) -> Sentence:
    """Return whether all engines order the features alike that were compared."""
    frame = facts.result.agreement
    about = [is_about(ranking.record, row) for _, row in frame.iterrows()]
    rows = frame[np.array(about, dtype=bool)]
    uncompared = set(rows.loc[rows["verdict"] == "not compared", "engine_b"])
    own, *others = sides
    sides = [own, *(side for side in others if side.engine not in uncompared)]
    orders = {tuple(np.array(side.features)[np.argsort(side.rank)]) for side in sides}
    key = "figures.one_order" if len(orders) == 1 else "figures.orders"
    if len(sides) == 1:
        key, sides = "figures.uncompared", [own, *others]
    return say(
        key,
        model=short_name(ranking.subject),
        n=tallied("importances", len(sides)),
    )


def _engines_alt(ranking: Ranking, engines: tuple[str, ...], n: int) -> str:
    record = ranking.record
    text = say(
        "figures.engines_alt",
        n=str(n),
        total=count(len(record.features)),
        what=word(f"asked.{record.of}"),
        model=short_name(ranking.subject),
        engines=joined(engines),
        first=short_name(record.features[ranking.measured[0]]),
    )
    return alt_text(plain(text))


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
    pairs = [judged.loc[place] for place in judged.index]
    pairs = sorted(pairs, key=lambda row: DRAWN.index(row["verdict"]))
    answers = [
        (row, _bands(facts, ranking, row))
        for row in pairs
        if (ranking := _of_lead(facts, row))
    ]
    all_bands = [bands for _, bands in answers if isinstance(bands, _Bands)]
    undrawn = [(row, why) for row, why in answers if isinstance(why, str)]
    pages = paged_bands([bands.panel for bands in all_bands[:PANELS]])
    figures, start = [], 0
    for place, page in enumerate(pages, start=1):
        here = all_bands[start : start + len(page)]
        start += len(page)
        id_ = "fig-bands" + (f"-{place}" if place > 1 else "")
        figures.append(_band_figure(facts, id_, here, len(all_bands), undrawn))
    return tuple(figures)


def _band_figure(
    facts: Facts,
    id_: str,
    here: list[_Bands],
    n_pairs: int,
    undrawn: Sequence[tuple[Any, str]],
) -> Figure:
    """Return one page of pairs; its headline is about all that were judged on it."""
    panels = [bands.panel for bands in here]
    judged = [b for b in here if b.panel.verdict != "comparable"]
    outside, total = (
        sum(n) for n in zip(*(b[1:] for b in judged or here), strict=True)
    )
    key = "outside" if outside else "inside"
    return Figure(
        id=id_,
        draw=draw_bands,
        data={
            "panels": tuple(panels),
            "unit_label": plain(_difference_label(facts)),
        },
        alt=_bands_alt(panels, outside, total),
        headline=say(
            f"figures.bands_{key}" if judged else f"bands.comparable_{key}",
            n=tallied("agreement", outside),
            total=tallied("agreement", total),
        ),
        caption=(
            *say(
                "figures.bands",
                miss=percent(numbers.MISS_RATE),
                card=card_link(facts.card(facts.leads[0].record)),
            ),
            *(say("bands.hollow") if len(judged) < len(here) else ()),
            *_cut(len(here), n_pairs),
            *_not_drawn(undrawn),
        ),
    )


def _cut(n_drawn: int, total: int) -> Sentence:
    if n_drawn == total:
        return ()
    n, of = tallied("agreement", n_drawn), tallied("agreement", total)
    return say("figures.bands_cut", n=n, total=of)


def _not_drawn(undrawn: Sequence[tuple[Any, str]]) -> Sentence:
    """Return which pairs have no panel, each with its reason."""
    if not undrawn:
        return ()
    sentences = [
        say(
            "bands.pair",
            model=full_name(row["model"]),
            engines=f"{engine_name(row['engine_a'])} − {row['engine_b']}",
            why=why,
        )
        for row, why in undrawn[:NAMED]
    ]
    rest = len(undrawn) - NAMED
    more = (say("bands.more", n=tallied("agreement", rest)),) if rest > 0 else ()
    return say("bands.not_drawn", pairs=joined((*sentences, *more), "; "))


def _difference_label(facts: Facts) -> Sentence:
    unit = facts.unit(facts.leads[0].record)
    label = word("figures.difference")
    return (f"{label}, {unit}" if unit else label,)


def _of_lead(facts: Facts, row: Any) -> Ranking | None:
    """Return the ranking of the lead measure that a pair is about, if there is one."""
    return next((r for r in facts.leads if is_about(r.record, row)), None)


def _why_not(ranking: Ranking, row: Any, sides: _Sides) -> str:
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


def _bands(facts: Facts, ranking: Ranking, row: Any) -> _Bands | str:
    """Return one pair of the lead measure as a panel, or why it has none.

    Of many features those outside their band are drawn, then the first of the others.
    """
    sides = _sides(facts, row)
    if (why := _why_not(ranking, row, sides)) or sides is None:
        return why
    one, other = sides
    gaps = numbers.mean_gaps(one, other)
    places = decimals(gaps.difference, gaps.band / 10, gaps.difference[~gaps.inside])
    first = facts.leads[0]  # all panels in its order share one column of names
    leading = [first.record.features[i] for i in first.measured]
    own = [ranking.record.features[i] for i in ranking.measured]
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
        verdict=str(row["verdict"]),
        rows=rows,
        engines=f"{engine_name(one.engine)} − {other.engine}",
    )
    return _Bands(panel, len(outside), len(measured))


def _sides(facts: Facts, row: Any) -> _Sides:
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


def _bands_alt(panels: list[BandPanel], outside: int, total: int) -> str:
    text = say(
        "figures.bands_alt",
        panels=joined(f"{panel.title[:24]}, {panel.engines}" for panel in panels),
        outside=str(outside),
        total=str(total),
    )
    return alt_text(plain(text))
