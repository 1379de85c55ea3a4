"""The table below a ranking: how often a shuffled target measures as much."""

from collections.abc import Sequence
from functools import partial

from ..text.blocks import Cell, Column, Link, Row, Sentence, Table, Value
from ..text.number_text import number, rank_text
from ..text.wording import full_name, joined, say, say_count, word
from .facts import Facts, tallied, whole
from .ranking_tables import cut_alike, table_id
from .rankings import Ranking

P_VALUES = ("p_value", "p_adjusted")


def significance_table(facts: Facts, ranking: Ranking) -> Table | None:
    """Return the p-values of a ranking, cut like its own table; None if not asked."""
    frame = facts.result.significance
    frame = frame[frame["record"] == ranking.index]
    if frame.empty:
        return None
    places = dict(zip(frame["feature"], frame.index, strict=True))
    return cut_alike(ranking, partial(_table, facts, ranking, places))


def _table(
    facts: Facts, ranking: Ranking, places: dict[str, int], rows: Sequence[int]
) -> Table:
    columns = (
        Column(say("ranking.rank"), "number", 10),
        Column(say(f"ranking.name.{ranking.record.of}"), "header", 46),
        *(Column(say(f"significance.{name}"), "number", 22) for name in P_VALUES),
    )
    most = _shuffles(facts, places)
    caption = say(
        "significance.caption",
        what=word(f"asked.{ranking.record.of}"),
        model=full_name(ranking.subject),
        table=Link(table_id(ranking)),
        shuffles=say_count(most, "shuffle"),
    )
    return Table(
        id=table_id(ranking).replace("ranking", "significance", 1),
        caption=caption,
        columns=columns,
        rows=tuple(
            _row(facts, ranking, row, places[ranking.record.features[row]], most)
            for row in rows
        ),
        notes=_notes(facts, places),
    )


def _row(facts: Facts, ranking: Ranking, row: int, place: int, most: Value) -> Row:
    estimates = facts.result.significance.loc[place]
    cells = [
        Value(
            f"significance[{place}].{name}",
            float(estimates[name]),
            number(float(estimates[name]), _decimals(most)),
        )
        for name in P_VALUES
    ]
    return Row(
        (
            Cell((rank_text(float(ranking.rank[row])),)),
            Cell((full_name(ranking.record.features[row]),)),
            *(Cell((value,)) for value in cells),
        )
    )


def _decimals(most: Value) -> int:
    """Return the decimals that tell one p-value of so many shuffles from the next."""
    return len(str(int(most.raw) + 1))


def _shuffles(facts: Facts, places: dict[str, int]) -> Value:
    """Return the shuffles behind most features."""
    column = facts.result.significance["shuffles"]
    place = max(places.values(), key=lambda at: int(column[at]))
    return whole(f"significance[{place}].shuffles", int(column[place]))


def _notes(facts: Facts, places: dict[str, int]) -> tuple[Sentence, ...]:
    frame, most = facts.result.significance, _shuffles(facts, places)
    p = 1 / (most.raw + 1)
    least = Value(most.path, p, number(p, _decimals(most)), derived="least p-value")
    n_p_values = int(frame.loc[list(places.values()), "p_value"].notna().sum())
    n = say_count(tallied("significance", n_p_values), "p_value")
    notes = [say("significance.note", least=least)]
    if n_p_values > 1:
        notes.append(say("significance.adjusted_note", n=n))
    fewer = [
        (full_name(name), f" ({number(float(frame.at[at, 'shuffles']), 0)})")
        for name, at in places.items()
        if frame.at[at, "shuffles"] < most.raw
    ]
    if fewer:
        notes.append(say("significance.fewer", names=joined(fewer[:10])))
    return tuple(notes)
