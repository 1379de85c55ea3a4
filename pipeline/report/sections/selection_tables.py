"""The test error of selected sets as tables of section F: one per judging model."""

from typing import Any

import numpy as np
import pandas as pd

from ...records.losses import LOSSES
from ..text.blocks import Cell, Column, Row, Sentence, Table, Value
from ..text.number_text import decimals, loss_label, number, unit_text
from ..text.wording import counted, display_name, key_of, named, say
from .facts import Facts, tallied
from .top_k_figures import WHO, labels_of


def selection_tables(facts: Facts) -> tuple[Table, ...]:
    """Return one table per model that judges the sets, none if none was asked."""
    frame = facts.result.selection
    return tuple(
        _table(facts, str(judge), part)
        for judge, part in frame.groupby("judge", sort=False)
    )


def _table(facts: Facts, judge: str, frame: pd.DataFrame) -> Table:
    loss = str(frame["loss"].iloc[0])
    unit = unit_text(LOSSES[loss].unit, facts.target_unit)
    head = ", ".join(text for text in (loss_label(loss), unit) if text)
    labels = labels_of(facts, frame)
    told = [(labels[who], part) for who, part in frame.groupby(WHO, sort=False)]
    means, errors = zip(*(_mean_and_error(part) for _, part in told), strict=True)
    places = decimals(means, errors)
    splits = tallied("selection", int(frame["split"].nunique()))
    return Table(
        id=f"tab-selection-{key_of(judge)}",
        caption=say(
            "selection.caption", judge=named(judge), splits=counted(splits, "split")
        ),
        columns=(
            Column(say("selection.ranking"), "header", 46),
            Column(say("selection.kept"), "number", 14),
            Column((head,), "number", 20),
            Column(say("selection.error"), "number", 20),
        ),
        rows=tuple(_row(name, part, places) for name, part in told),
        notes=_notes(frame),
        source="selection.csv",
    )


def _mean_and_error(frame: pd.DataFrame) -> tuple[float, float]:
    """Return the mean over the splits in which anything is kept, and its error."""
    known = frame["value"].dropna()
    return float(known.mean()), float(known.std(ddof=1) / np.sqrt(len(known)))


def _row(name: str, frame: pd.DataFrame, places: int) -> Row:
    mean, error = _mean_and_error(frame)
    kept = float(frame["k"].mean())
    return Row(
        (
            Cell((display_name(name),)),
            Cell((_value("k", kept, 1, "mean"),)),
            Cell((_value("value", mean, places, "mean"),)),
            Cell((_value("value", error, places, "standard error"),)),
        )
    )


def _value(column: str, found: float, places: int, derived: str) -> Value:
    return Value(f"selection.{column}", found, number(found, places), derived=derived)


def _notes(frame: pd.DataFrame) -> tuple[Sentence, ...]:
    """Return how sets were chosen, what the error leaves out, and empty sets."""
    notes: list[Sentence] = [say("selection.note"), say("selection.error_note")]
    empty: Any = frame.loc[frame["k"] == 0, "split"].nunique()
    if empty:
        n = counted(tallied("selection", int(empty)), "split")
        notes.append(say("selection.empty", n=n))
    return tuple(notes)
