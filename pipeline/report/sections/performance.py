"""How good each model is: its loss on both splits, against the constant predictor."""

import math
from typing import Any

from ...records.losses import LOSSES
from ..text.blocks import Cell, Column, Row, Sentence, Table, Value
from ..text.number_text import count, decimals, loss_label, number, percent, unit_text
from ..text.wording import full_name, joined, key_of, say, show_hidden
from .facts import Facts

DASH = Cell(("–",))
ERRORS = 2.0
"""How many standard errors set a loss apart from zero."""
NO_TRAIN = "data.performance_note_alone"


def against_constant(facts: Facts, model: str) -> Sentence:
    """Return how good one model is on the evaluation rows, empty if not measured."""
    frame = facts.result.performance
    rows = frame[(frame["model"] == model) & (frame["split"] == "test")]
    if rows.empty:
        return ()
    place = rows.index[0]
    row = rows.loc[place]
    places = decimals([row["value"]], [row["std_error"]], _clear(rows))
    unit = _unit(facts, row["loss"])
    return say(
        "data.against",
        loss=loss_label(row["loss"]),
        value=_value(place, "value", row, places, unit=unit),
        share=_share(place, row),
    )


def best_model(facts: Facts) -> Sentence:
    """Return which model predicts best, and whether any is no better than none."""
    frame = facts.result.performance
    if frame.empty:
        return say("data.no_performance")
    first = frame["loss"].iloc[0]
    rows = frame[(frame["loss"] == first) & (frame["split"] == "test")]
    if rows.empty:
        return say("data.no_test")
    best = rows["value"].astype(float).idxmin()
    row = rows.loc[best]
    text = say(
        "data.best" if len(rows) > 1 else "data.only",
        model=full_name(row["model"]),
        share=_share(best, row),
        loss=loss_label(first),
    )
    weak = [f.subject for f in facts.result.findings if f.check == "weak_model"]
    if weak:
        names = joined(full_name(name) for name in dict.fromkeys(weak))
        return (*text, " ", *say("data.weak", models=names))
    return text


def performance_tables(facts: Facts) -> tuple[Table, ...]:
    """Return one table per loss: every model against the constant predictor."""
    losses = dict.fromkeys(facts.result.performance["loss"])
    note = say("data.performance_note" if facts.rows("train") else NO_TRAIN)
    return tuple(
        _performance(facts, loss, notes=() if place else (note,))
        for place, loss in enumerate(losses)
    )


def _performance(facts: Facts, loss: str, *, notes: tuple[Sentence, ...]) -> Table:
    frame = facts.result.performance
    rows = frame[frame["loss"] == loss]
    test = rows[rows["split"] == "test"]
    places = decimals(rows["value"], test["std_error"], _clear(rows))
    unit = _unit(facts, loss)
    models = list(dict.fromkeys(rows["model"]))
    body = [_performance_row(facts, loss, model, places) for model in models]
    body.append(_constant_row(rows, places))
    sizes = {split: _size(rows, split) for split in ("train", "test")}
    return Table(
        id=f"tab-performance-{key_of(loss)}",
        caption=say(
            "data.performance_caption",
            loss=loss_label(loss),
            unit=f", {show_hidden(unit)}" if unit else "",
        ),
        columns=(
            Column(say("data.model"), "header", 20),
            Column(say("data.train", n=sizes["train"]), "number", 13),
            Column(say("data.test", n=sizes["test"]), "number", 14),
            Column(say("data.test_error"), "number", 14),
            Column(say("data.difference"), "number", 15),
            Column(say("data.difference_error"), "number", 11),
            Column(say("data.of_constant"), "number", 13),
        ),
        rows=tuple(body),
        notes=notes,
        shape="wide",
    )


def _performance_row(facts: Facts, loss: str, model: str, places: int) -> Row:
    frame = facts.result.performance
    rows = frame[(frame["loss"] == loss) & (frame["model"] == model)]
    of_split = {
        split: rows.index[rows["split"] == split] for split in ("train", "test")
    }

    def cell(split: str, column: str, *, sign: bool = False) -> Cell:
        if not len(of_split[split]):
            return DASH
        place = of_split[split][0]
        value = _value(place, column, rows.loc[place], places, sign=sign)
        return Cell((value,))

    share = DASH
    if len(of_split["test"]):
        place = of_split["test"][0]
        share = Cell((_share(place, rows.loc[place]),))
    return Row(
        (
            Cell((full_name(model),)),
            cell("train", "value"),
            cell("test", "value"),
            cell("test", "std_error"),
            cell("test", "difference", sign=True),
            cell("test", "difference_std_error"),
            share,
        )
    )


def _constant_row(rows: Any, places: int) -> Row:
    """Return the constant predictor as a row of its own."""
    cells = [Cell(say("data.constant"))]
    for split in ("train", "test"):
        of_split = rows[rows["split"] == split]
        if of_split.empty:
            cells.append(DASH)
            continue
        place = of_split.index[0]
        value = _value(place, "constant", of_split.loc[place], places)
        cells.append(Cell((value,)))
    return Row((*cells, DASH, DASH, DASH, Cell((percent(1.0),))))


def _clear(rows: Any) -> Any:
    """Return the losses that their own errors set apart from zero, and constants."""
    value, error = rows["value"].astype(float), rows["std_error"].astype(float)
    return [*value[value.abs() > ERRORS * error.fillna(0.0)], *rows["constant"]]


def _value(
    place: Any,
    column: str,
    row: Any,
    places: int,
    *,
    sign: bool = False,
    unit: str = "",
) -> Value:
    raw = float(row[column])
    text = number(raw, places, sign=sign)
    return Value(f"performance[{place}].{column}", raw, text, unit=unit)


def _share(place: Any, row: Any) -> Value:
    constant = float(row["constant"])
    share = float(row["value"]) / constant if constant else math.nan
    path = f"performance[{place}].value"
    return Value(path, share, percent(share), derived="share of the constant")


def _size(rows: Any, split: str) -> str:
    sizes = rows.loc[rows["split"] == split, "n_samples"]
    return count(int(sizes.iloc[0])) if len(sizes) else "–"


def _unit(facts: Facts, loss: str) -> str:
    return unit_text(LOSSES[loss].unit, facts.target_unit)
