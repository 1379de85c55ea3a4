"""How good each model is: its loss against the constant predictor, R², AUC, accuracy.

Not: figures (`performance_figure`).
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from ...records.losses import LOSSES
from ..text.blocks import Cell, Cells, Column, Part, Row, Sentence, Table, Value
from ..text.number_text import count, decimals, loss_label, number, percent, unit_text
from ..text.wording import (
    full_name,
    joined,
    key_of,
    say,
    series,
    show_hidden,
    table_of,
    word,
)
from .facts import Facts, tallied

DASH = Cell(("–",))
ERRORS = 2.0
"""How many standard errors set a loss apart from zero."""
NO_TRAIN = "data.performance_note_alone"
SPLITS = ("train", "out_of_bag", "test")
ALIKE_SHOWN = 4
"""How many pairs of models that cannot be told apart are named; the rest is counted."""


class Apart(NamedTuple):
    """How far the losses of two models are apart on the evaluation rows.

    Attributes
    ----------
    model_a, model_b : str
    difference : Value
        Loss of a less loss of b.
    std_error : Value or None
        That of the difference, each row predicted by both models; None in a run that
        did not measure it.
    is_clear : bool
        Whether the difference, or the gap between both losses, is beyond two standard
        errors.
    """

    model_a: str
    model_b: str
    difference: Value
    std_error: Value | None
    is_clear: bool


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
        constant=_constant_in_words(facts),
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
        constant=_constant_in_words(facts),
    )
    if equals := alike(facts, first, str(row["model"])):
        text = (*text, " ", *say("data.best_alike", models=equals))
    weak = [f.subject for f in facts.result.findings if f.check == "weak_model"]
    if weak:
        names = joined((full_name(name) for name in dict.fromkeys(weak)), "; ")
        return (*text, " ", *say("data.weak", models=names))
    return text


def performance_tables(facts: Facts) -> tuple[Table, ...]:
    """Return what the trade reads, then one table per loss, of every model."""
    losses = dict.fromkeys(facts.result.performance["loss"])
    note = say("data.performance_note" if facts.rows("train") else NO_TRAIN)
    return (
        *_readings_table(facts),
        *(
            _performance(facts, loss, notes=() if place else (note,))
            for place, loss in enumerate(losses)
        ),
    )


def differences(facts: Facts, loss: str) -> tuple[Apart, ...]:
    """Return how far each two models are apart by a loss, on the evaluation rows."""
    frame = facts.result.performance
    rows = frame[(frame["loss"] == loss) & (frame["split"] == "test")]
    places = decimals(rows["value"], rows["std_error"])
    pairs = combinations(rows.index, 2)
    return tuple(_apart(facts, loss, one, other, places) for one, other in pairs)


def alike(facts: Facts, loss: str, model: str) -> Sentence:
    """Return the models that cannot be told apart from one by a loss, if any."""
    return series(
        full_name(pair.model_b if pair.model_a == model else pair.model_a)
        for pair in differences(facts, loss)
        if not pair.is_clear and model in pair[:2]
    )


def _apart(facts: Facts, loss: str, one: int, other: int, places: int) -> Apart:
    frame, pairs = facts.result.performance, facts.result.comparisons
    names = str(frame.at[one, "model"]), str(frame.at[other, "model"])
    measured = pairs[
        (pairs["model_a"] == names[0])
        & (pairs["model_b"] == names[1])
        & (pairs["loss"] == loss)
    ]
    if len(measured) and math.isfinite(measured["std_error"].iloc[0]):
        path = f"comparisons[{measured.index[0]}]"
        gap, error = (
            float(measured[name].iloc[0]) for name in ("difference", "std_error")
        )
        return Apart(
            *names,
            Value(f"{path}.difference", gap, number(gap, places, sign=True)),
            Value(f"{path}.std_error", error, number(error, places)),
            abs(gap) > ERRORS * error,
        )
    gap = float(frame.at[one, "value"]) - float(frame.at[other, "value"])
    errors = float(frame.at[one, "std_error"]) + float(frame.at[other, "std_error"])
    text = number(gap, places, sign=True)
    value = Value(f"performance[{one}].value", gap, text, derived="difference")
    # Without errors nothing is known; the larger loss is then taken at its word.
    return Apart(*names, value, None, not abs(gap) <= ERRORS * errors)


def _pairs_alike(facts: Facts, loss: str) -> Iterator[Sentence]:
    """Yield which models cannot be told apart by a loss."""
    pairs = [pair for pair in differences(facts, loss) if not pair.is_clear]
    for is_paired, key in ((True, "data.alike"), (False, "data.alike_unpaired")):
        own = [pair for pair in pairs if (pair.std_error is not None) is is_paired]
        if not own:
            continue
        named: list[Sentence] = []
        for pair in own[:ALIKE_SHOWN]:
            gap: list[Part] = [pair.difference]
            if pair.std_error:
                gap += [" ± ", pair.std_error]
            names = series([full_name(pair.model_a), full_name(pair.model_b)])
            named.append((*names, " (", *gap, ")"))
        if len(own) > ALIKE_SHOWN:
            rest = tallied("comparisons", len(own) - ALIKE_SHOWN)
            named.append(say("words.more", n=rest))
        yield say(key, pairs=joined(named, "; "))


def _readings_table(facts: Facts) -> Iterator[Table]:
    """Yield R², AUC and Gini or accuracy of each model on all rows it was judged on."""
    frame = facts.result.readings
    if frame.empty:
        return
    names = list(dict.fromkeys(frame["reading"]))
    splits = [split for split in SPLITS if split in set(frame["split"])]
    places = decimals(frame["value"], frame["std_error"])
    rows = []
    subjects = zip(frame["model"], frame["reading"], strict=True)
    for model, name in dict.fromkeys(subjects):
        own = frame[(frame["model"] == model) & (frame["reading"] == name)]
        which = [Cell((word(f"data.readings.{name}"),))] if len(names) > 1 else []
        cells = [Cell((full_name(model),)), *which]
        for split in splits:
            at = own.index[own["split"] == split]
            for column in ("value", "std_error"):
                value = f"readings[{at[0]}].{column}" if len(at) else ""
                raw = float(own.at[at[0], column]) if len(at) else math.nan
                cells.append(
                    Cell((Value(value, raw, number(raw, places)),)) if value else DASH
                )
        rows.append(Row(tuple(cells)))
    heads = [Column(say("data.model"), "header")]
    if len(names) > 1:
        heads.append(Column(say("data.reading")))
    for split in splits:
        size = _size(frame, split)
        heads += [
            Column(say(f"data.{split}", n=size), "number"),
            Column(say("data.error"), "number"),
        ]
    yield Table(
        id="tab-readings",
        caption=say(
            "data.readings_caption",
            readings=series(word(f"data.readings.{name}") for name in names),
        ),
        columns=tuple(heads),
        rows=tuple(rows),
        notes=(say("data.out_of_bag_note"),) if "out_of_bag" in splits else (),
        shape="wide",
        is_single=True,
    )


def _performance(facts: Facts, loss: str, *, notes: tuple[Sentence, ...]) -> Table:
    frame = facts.result.performance
    rows = frame[frame["loss"] == loss]
    test = rows[rows["split"] == "test"]
    places = decimals(rows["value"], test["std_error"], _clear(rows))
    unit = _unit(facts, loss)
    models = list(dict.fromkeys(rows["model"]))
    seen = set(rows["split"])
    splits = ("train", *(("out_of_bag",) if "out_of_bag" in seen else ()), "test")
    body = [_performance_row(facts, loss, model, places, splits) for model in models]
    body.append(_constant_row(rows, places, splits))
    of_rows = [
        Column(
            say(f"data.{split}", n=_size(rows, split)),
            "number",
        )
        for split in splits
    ]
    return table_of(
        f"performance-{key_of(loss)}",
        "data",
        [
            "model:header",
            *of_rows,
            "test_error:number",
            "difference:number",
            "difference_error:number",
            "of_constant:number",
        ],
        body,
        caption=say(
            "data.performance_caption",
            loss=loss_label(loss),
            unit=f", {show_hidden(unit)}" if unit else "",
        ),
        notes=(*_pairs_alike(facts, loss), *notes),
        shape="wide",
    )


def _performance_row(
    facts: Facts, loss: str, model: str, places: int, splits: Sequence[str]
) -> Cells:
    frame = facts.result.performance
    rows = frame[(frame["loss"] == loss) & (frame["model"] == model)]
    of_split = {split: rows.index[rows["split"] == split] for split in splits}

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
    return (
        full_name(model),
        *(cell(split, "value") for split in splits),
        cell("test", "std_error"),
        cell("test", "difference", sign=True),
        cell("test", "difference_std_error"),
        share,
    )


def _constant_row(rows: Any, places: int, splits: Sequence[str]) -> Cells:
    """Return the constant predictor as a row of its own."""
    cells = [Cell(say("data.constant"))]
    for split in splits:
        of_split = rows[rows["split"] == split]
        if of_split.empty:
            cells.append(DASH)
            continue
        place = of_split.index[0]
        value = _value(place, "constant", of_split.loc[place], places)
        cells.append(Cell((value,)))
    return (*cells, DASH, DASH, DASH, percent(1.0))


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


def _constant_in_words(facts: Facts) -> str:
    """Return what the constant predictor does, for who has not met it yet."""
    kind = "regression" if facts.task == "regression" else "classes"
    return word(f"data.constant_in_words.{kind}")


def _unit(facts: Facts, loss: str) -> str:
    return unit_text(LOSSES[loss].unit, facts.target_unit)
