"""The tables below a ranking: p-values, what they are of, and whose they are."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from ...assess.paired_tests import NADEAU_BENGIO
from ...assess.significance import BY_SHUFFLES
from ...records.importance_record import Importance
from ...records.ranking import LEVEL, OURS, measure_of, question_of
from ..text.blocks import Cells, Column, Link, Sentence, Table, Value
from ..text.number_text import decimals, number, percent, rank_text, significant
from ..text.wording import full_name, joined, say, say_count, word
from .facts import Facts, card_link, engine_name, tallied, whole
from .ranking_tables import cut_alike, table_id
from .rankings import Ranking

P_VALUES = ("p_value", "p_adjusted")
LEAST = float(np.finfo(float).smallest_subnormal)
"""The least that a float holds, in place of a p-value below it."""
OF_SHUFFLES = (BY_SHUFFLES, "altmann")
"""Tests whose p-values count shuffled targets."""
PLACES = 4
"""Decimals of a p-value that is on no grid."""
BY_RANK = ("wilcoxon", "sign")
"""Statistics that ask which differences are 0 or equal."""
OF_VALUE = {"t": 2, "wilcoxon": 1, "sign": 0}
"""Decimals of a test statistic; others have those of the differences."""


@dataclass(frozen=True, eq=False)
class Tested:
    """The p-values of one ranking.

    Attributes
    ----------
    rows : DataFrame
        Those of the frame `significance`, by their place in it.
    places : dict of str to int
        The place of each feature.
    """

    rows: pd.DataFrame
    places: dict[str, int]

    @property
    def test(self) -> str:
        """The test; results up to schema 1.4 have one only."""
        return self._text("test") or BY_SHUFFLES

    @property
    def statistic(self) -> str:
        """The statistic, empty if there is none."""
        return self._text("statistic")

    @property
    def adjustment(self) -> str:
        """How p-values were adjusted."""
        return self._text("adjustment") or "benjamini_hochberg"

    @property
    def most(self) -> Value:
        """What most features were tested on: shuffles, or differences."""
        name = "shuffles" if self.test in OF_SHUFFLES else "n"
        column = self.rows[name]
        place = int(column.idxmax())
        return whole(f"significance[{place}].{name}", int(column[place]))

    def _text(self, name: str) -> str:
        return str(self.rows[name].iloc[0]) if name in self.rows else ""


def tested(facts: Facts, index: int) -> Tested | None:
    """Return the p-values of a record by its place, None if it has none."""
    frame = facts.result.significance
    rows = frame[frame["record"] == index]
    if rows.empty:
        return None
    return Tested(rows, dict(zip(rows["feature"], rows.index, strict=True)))


def significance_table(facts: Facts, ranking: Ranking) -> Table | None:
    """Return the p-values of a ranking, cut like its own table; None if not asked."""
    of_ranking = tested(facts, ranking.index)
    if of_ranking is None:
        return None
    return cut_alike(ranking, partial(_table, facts, ranking, of_ranking))


def engine_tables(facts: Facts, ranking: Ranking) -> list[Table]:
    """Return one table for each engine that makes the same test: ours beside it."""
    tables = []
    for index, other in ranking.others:
        theirs = tested(facts, index)
        ours = tested(facts, _in_its_draws(facts, other)) if theirs else None
        if theirs and ours:
            make = partial(_engine_table, ranking, other, ours, theirs)
            tables.append(replace(cut_alike(ranking, make), is_appended=False))
    return tables


def _in_its_draws(facts: Facts, other: Importance) -> int:
    """Return the place of our answer in the draws of an engine, -1 without one."""
    places = (
        place
        for place, record in enumerate(facts.result.importances)
        if (record.engine, record.stream) == (OURS, other.stream)
        and question_of(record) == question_of(other)
        and measure_of(record) == measure_of(other)
    )
    return next(places, -1)


def _engine_table(
    ranking: Ranking,
    other: Importance,
    ours: Tested,
    theirs: Tested,
    rows: Sequence[int],
) -> Table:
    """Return statistics and p-values of both, and how far they are apart."""
    engine = engine_name(other.engine)
    numbers = {"value": OF_VALUE[ours.statistic], "p_value": PLACES}
    heads = [
        say(f"significance.engine.{key}", number=_label(ours, name), engine=engine)
        for name in numbers
        for key in ("ours", "theirs", "difference")
    ]
    columns = (
        Column(say("ranking.rank"), "number"),
        Column(say(f"ranking.name.{ranking.record.of}"), "header"),
        *(Column(head, "number") for head in heads),
    )
    both = [
        [_both(ours, theirs, feature, name, places) for name, places in numbers.items()]
        for feature in ranking.record.features
    ]
    gaps = [gap for values in both for *_, gap in values if np.isfinite(gap.raw)]
    notes = [say("significance.engine.note")]
    if gaps:
        largest = max(gaps, key=lambda gap: gap.raw)
        notes.append(say("significance.engine.largest", value=largest))
    if ours.statistic in BY_RANK:
        notes.append(say("significance.engine.ties", engine=engine))
    if ranking.record.stream != other.stream:
        notes.append(say("significance.engine.draws"))
    return Table(
        id=table_id(ranking).replace("ranking", f"significance-{other.engine}", 1),
        caption=say(
            "significance.engine.caption",
            engine=engine,
            what=word(f"asked.{ranking.record.of}"),
            model=full_name(ranking.subject),
            table=Link(table_id(ranking)),
        ),
        columns=columns,
        rows=tuple(
            (
                rank_text(float(ranking.rank[row])),
                full_name(ranking.record.features[row]),
                *(value for values in both[row] for value in values),
            )
            for row in rows
        ),
        notes=tuple(notes),
    )


def _both(
    ours: Tested, theirs: Tested, feature: str, name: str, places: int
) -> tuple[Value, Value, Value]:
    """Return a number of ours, of an engine, and their relative difference."""
    paths = [f"significance[{side.places[feature]}].{name}" for side in (ours, theirs)]
    a, b = (float(side.rows.at[side.places[feature], name]) for side in (ours, theirs))
    size = max(abs(a), abs(b))
    gap = abs(a - b) / size if size else 0.0
    return (
        Value(paths[0], a, _number(name, a, places)),
        Value(paths[1], b, _number(name, b, places)),
        Value(paths[1], gap, significant(gap, 2), derived="relative difference"),
    )


def _table(
    facts: Facts, ranking: Ranking, of_ranking: Tested, rows: Sequence[int]
) -> Table:
    numbers = _numbers(of_ranking)
    columns = (
        Column(say("ranking.rank"), "number"),
        Column(say(f"ranking.name.{ranking.record.of}"), "header"),
        *(Column(_label(of_ranking, name), "number") for name in numbers),
    )
    key, count = "shuffles", say_count(of_ranking.most, "shuffle")
    if of_ranking.test not in OF_SHUFFLES:
        key, count = "differences", say_count(of_ranking.most, "row")
    if of_ranking.test == NADEAU_BENGIO:
        count = say_count(of_ranking.most, "refit")
    caption = say(
        f"significance.caption.{key}",
        what=word(f"asked.{ranking.record.of}"),
        model=full_name(ranking.subject),
        table=Link(table_id(ranking)),
        count=count,
    )
    return Table(
        id=table_id(ranking).replace("ranking", "significance", 1),
        caption=caption,
        columns=columns,
        rows=tuple(_row(ranking, row, of_ranking, numbers) for row in rows),
        notes=_notes(facts, ranking, of_ranking),
    )


def _numbers(of_ranking: Tested) -> dict[str, int]:
    """Return the columns of numbers, each with its decimals."""
    if of_ranking.test in OF_SHUFFLES:
        return dict.fromkeys(P_VALUES, _decimals(of_ranking.most))
    rows = of_ranking.rows
    places = decimals(rows["estimate"], rows["std_error"])
    numbers = {"estimate": places}
    if np.isfinite(rows["low"]).any():
        numbers |= {"low": places, "high": places}
    numbers["value"] = OF_VALUE.get(of_ranking.statistic, places)
    return numbers | dict.fromkeys(P_VALUES, PLACES)


def _label(of_ranking: Tested, name: str) -> Sentence:
    """Return the head of a column of numbers."""
    if name == "estimate":
        return say(f"significance.estimate.{of_ranking.test}")
    if name == "value":
        return say(f"significance.value.{of_ranking.statistic}")
    if name in ("low", "high"):
        return say(f"ranking.{name}", level=percent(LEVEL))
    return say(f"significance.{name}")


def _row(
    ranking: Ranking, row: int, of_ranking: Tested, numbers: dict[str, int]
) -> Cells:
    feature = ranking.record.features[row]
    place = of_ranking.places[feature]
    cells = [
        Value(f"significance[{place}].{name}", value, _number(name, value, places))
        for name, places in numbers.items()
        for value in [float(of_ranking.rows.at[place, name])]
    ]
    return (rank_text(float(ranking.rank[row])), full_name(feature), *cells)


def _number(name: str, value: float, places: int) -> str:
    """Return a number as printed; no p-value is 0, however little a float holds."""
    return number(value or (LEAST if name in P_VALUES else 0.0), places)


def _decimals(most: Value) -> int:
    """Return the decimals that tell one p-value of so many shuffles from the next."""
    return len(str(int(most.raw) + 1))


def _notes(facts: Facts, ranking: Ranking, of_ranking: Tested) -> tuple[Sentence, ...]:
    rows, most = of_ranking.rows, of_ranking.most
    n_p_values = int(rows["p_value"].notna().sum())
    if of_ranking.test not in OF_SHUFFLES:
        card = card_link(facts.card(ranking.record))
        notes = [say("significance.on_card", card=card)]
        if "low" in _numbers(of_ranking):
            notes.append(say("significance.interval", level=percent(LEVEL)))
        return (*notes, *_adjusted(of_ranking, "test", n_p_values))
    p = 1 / (most.raw + 1)
    least = Value(most.path, p, number(p, _decimals(most)), derived="least p-value")
    notes = [say("significance.note", least=least)]
    notes += _adjusted(of_ranking, "shuffles", n_p_values)
    fewer = [
        (full_name(name), f" ({number(float(rows.at[at, 'shuffles']), 0)})")
        for name, at in of_ranking.places.items()
        if rows.at[at, "shuffles"] < most.raw
    ]
    if fewer:
        notes.append(say("significance.fewer", names=joined(fewer[:10])))
    return tuple(notes)


def _adjusted(of_ranking: Tested, null: str, n_p_values: int) -> list[Sentence]:
    """Return what adjusted p-values are, where there are several."""
    if n_p_values < 2:
        return []
    name = of_ranking.adjustment
    n = say_count(tallied("significance", n_p_values), "p_value")
    aim = "share" if name == "benjamini_hochberg" else "any_error"
    by = word(f"significance.adjusted.by.{name}")
    return [say(f"significance.adjusted.{null}.{aim}", n=n, by=by)]
