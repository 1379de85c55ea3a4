"""A figure of section G: engines side by side; and whom a pair is about."""

from itertools import islice
from typing import Any

import numpy as np

from ...records.importance_record import Importance
from ...records.ranking import LEVEL, interval, options_text, question_of
from ..figures.engines import ENGINES, EngineRow, draw_engines
from ..text.blocks import Figure, Link, Sentence, plain
from ..text.number_text import count, percent
from ..text.wording import display_name, joined, say, shortened, word
from .facts import Facts, card_link, engine_name, tallied
from .ranking_tables import measured_in, table_id
from .rankings import Ranking

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
        rows.append(EngineRow(display_name(name), tuple(points)))
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


def is_about(record: Importance, row: Any) -> bool:
    """Return whether a row of the agreement is about the question of a record."""
    return is_asked(record, row) and options_text(record) == row["options"]


def is_asked(record: Importance, row: Any) -> bool:
    """Return whether a record is so too, whatever its options: a row has one side's."""
    names = ("model", "method", "of", "loss", "positive_class")
    return question_of(record) == tuple(row[name] for name in names)
