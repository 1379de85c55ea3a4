"""Which columns are distributed otherwise than in the approved baseline: one table."""

import math
from collections.abc import Sequence
from dataclasses import replace

from ...runs.baseline.column_shifts import MISS_RATE, Shift
from ..text.blocks import Cell, Column, Link, Row, Sentence, Styled, Table
from ..text.number_text import percent, significant
from ..text.wording import look_up, named, say, word
from .facts import Facts, tallied

ROWS = 20
WORST = ("moved", "not comparable", "below the limit", "within chance")


def shifted(facts: Facts) -> tuple[Table | Sentence, ...]:
    """Return the columns that moved beyond chance, the worst first; others counted."""
    if not facts.shifts:
        kept = [s.quantiles for s in (facts.baseline, facts.result) if s is not None]
        unknown = any(frame.empty for frame in kept)
        return (say(f"change.shifts_{'unknown' if unknown else 'apart'}"),)
    found = sorted(facts.shifts, key=_order)
    loud = [shift for shift in found if _worst(shift) != "within chance"]
    total = tallied("change", len(found))
    if not loud:
        return (say("change.shifts_none", n=total),)
    table = Table(
        id="tab-shifts",
        caption=say("change.shifts", n=tallied("change", len(loud)), total=total),
        columns=(
            Column(say("change.shift_column"), "header", 24),
            Column(say("change.shift_rows"), width=12),
            Column(say("change.psi"), "number", 9),
            Column(say("change.chance"), "number", 9),
            Column(say("change.missing_before"), "number", 12),
            Column(say("change.missing_now"), "number", 12),
            Column(say("change.shift_verdict"), width=22),
        ),
        rows=tuple(map(_row, loud[:ROWS])),
        notes=(
            say(
                "change.shift_note",
                limit=significant(found[0].limit),
                miss=percent(MISS_RATE),
            ),
        ),
    )
    return (table if len(loud) <= ROWS else _cut(table, loud),)


def _cut(table: Table, loud: Sequence[Shift]) -> Table:
    """Return the table with all its rows behind it."""
    full = replace(table, id=f"{table.id}-all", rows=tuple(map(_row, loud)), notes=())
    full = replace(full, caption=say("ranking.whole", table=Link(table.id)))
    return replace(table, everything=full)


def _worst(shift: Shift) -> str:
    """Return the worse of the verdicts on values and on missing cells.

    Where no value is known in one run, the missing cells have told it.
    """
    return min(shift.verdict, shift.missing_verdict, key=WORST.index)


def _order(shift: Shift) -> tuple[int, float]:
    told = (shift.statistic, shift.missing_statistic)
    return WORST.index(_worst(shift)), -max(0.0, *(x for x in told if x == x))


def _row(shift: Shift) -> Row:
    told = word(f"change.shift_words.{shift.verdict}")
    gaps = look_up("change.missing_words").get(shift.missing_verdict)
    told = f"{told}; {gaps}" if gaps else told
    numbers = (_number(shift.statistic), _number(shift.noise))
    shares = (_share(shift.missing_old), _share(shift.missing_new))
    return Row(
        (
            Cell(_name(shift)),
            Cell((word(f"change.shift_splits.{shift.split}"),)),
            *(Cell((text,)) for text in (*numbers, *shares)),
            Cell((Styled("strong", (told,)) if _worst(shift) == "moved" else told,)),
        )
    )


def _name(shift: Shift) -> Sentence:
    name: Sentence = (named(shift.column),)
    return (*name, *say("change.of_target")) if shift.role == "target" else name


def _number(value: float) -> str:
    return "–" if math.isnan(value) else significant(value)


def _share(value: float) -> str:
    return "–" if math.isnan(value) else percent(value)
