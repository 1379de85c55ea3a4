"""The quality of each model: loss against the constant predictor, R², AUC, accuracy.

Not: figures (`performance_figure`).
"""

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from ...records.losses import LOSSES
from ..text.blocks import Column, Sentence, Table, Value
from ..text.number_text import (
    MISSING,
    count,
    decimals,
    loss_label,
    percent,
)
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
from .facts import Facts, number_in

ERRORS = 2.0
"""Standard errors by which a loss, or a difference of losses, must exceed zero."""
NO_TRAIN = "data.performance_note_alone"
SPLITS = ("train", "out_of_bag", "test")


def best_model(facts: Facts) -> Sentence:
    """Return sentences on the best model, and on those no better than the constant."""
    frame = facts.result.performance
    if frame.empty:
        return say("data.no_performance")
    first = frame["loss"].iloc[0]
    rows = frame[(frame["loss"] == first) & (frame["split"] == "test")]
    if rows.empty:
        return say("data.no_test")
    if rows["value"].isna().all():
        return say("data.not_defined", loss=loss_label(first), rows=facts.rows_word)
    row = rows.loc[rows["value"].astype(float).idxmin()]
    key = "data.best" if len(rows) > 1 else "data.only"
    text = say(
        f"{key}_alone" if math.isnan(row["constant"]) else key,
        model=full_name(row["model"]),
        share=_share(row),
        loss=loss_label(first),
        constant=_constant_in_words(facts),
        rows=facts.rows_word,
    )
    if equals := alike(facts, first, str(row["model"])):
        text = (*text, " ", *say("data.best_alike", models=equals))
    weak = [f.subject for f in facts.result.findings if f.check == "weak_model"]
    if weak:
        names = joined((full_name(name) for name in dict.fromkeys(weak)), "; ")
        return (*text, " ", *say("data.weak", models=names))
    return text


def performance_tables(facts: Facts) -> tuple[Table, ...]:
    """Return the table of R², AUC or accuracy, then one table per loss."""
    losses = dict.fromkeys(facts.result.performance["loss"])
    key = "data.performance_note" if facts.rows("train") else NO_TRAIN
    note = say(key, rows=facts.rows_word)
    return (
        *_readings_table(facts),
        *(
            _performance(facts, loss, notes=() if place else (note,))
            for place, loss in enumerate(losses)
        ),
    )


def alike(facts: Facts, loss: str, model: str) -> Sentence:
    """Return the models with a loss indistinguishable from that of a model.

    The paired difference on the evaluation rows is within two standard errors.
    """
    pairs = facts.result.comparisons
    gaps, errors = pairs["difference"].astype(float), pairs["std_error"].astype(float)
    close = pairs[(pairs["loss"] == loss) & (gaps.abs() <= ERRORS * errors)]
    return series(
        full_name(model_b if model_a == model else model_a)
        for model_a, model_b in zip(close["model_a"], close["model_b"], strict=True)
        if model in (model_a, model_b)
    )


def _readings_table(facts: Facts) -> Iterator[Table]:
    """Yield the table of R², AUC and Gini or accuracy by model and split, if known."""
    frame = facts.result.readings
    if frame.empty:
        return
    labels = {name: word(f"data.readings.{name}") for name in frame["reading"].unique()}
    splits = [split for split in SPLITS if split in set(frame["split"])]
    places = decimals(frame["value"], frame["std_error"])
    columns: list[str | Column] = ["model:header"]
    if len(labels) > 1:
        columns.append("reading")
    for split in splits:
        columns += [_column(facts, frame, split), Column(say("data.error"), "number")]
    rows = []
    for (model, name), own in frame.groupby(["model", "reading"], sort=False):
        cells: list[Any] = [full_name(model)]
        if len(labels) > 1:
            cells.append(labels[name])
        cells += [
            _number("readings", own[own["split"] == split], column, places)
            for split in splits
            for column in ("value", "std_error")
        ]
        rows.append(tuple(cells))
    yield table_of(
        "readings",
        "data",
        columns,
        rows,
        caption=say("data.readings_caption", readings=series(labels.values())),
        notes=(say("data.out_of_bag_note"),) if "out_of_bag" in splits else (),
        shape="wide",
        is_single=True,
    )


def _performance(facts: Facts, loss: str, *, notes: tuple[Sentence, ...]) -> Table:
    """Return the table of one loss: its models, and the constant predictor."""
    frame = facts.result.performance
    rows = frame[frame["loss"] == loss]
    test = rows[rows["split"] == "test"]
    places = decimals(rows["value"], test["std_error"], _clear_losses(test))
    unit = facts.unit_of(LOSSES[loss].unit)
    seen = {"train", "test", *rows["split"]}
    splits = [split for split in SPLITS if split in seen]

    def cell(own: Any, split: str, column: str, *, sign: bool = False) -> Value | str:
        there = own[own["split"] == split]
        return _number("performance", there, column, places, sign=sign)

    body: list[tuple[Any, ...]] = []
    for model, own in rows.groupby("model", sort=False):
        on_test = own[own["split"] == "test"]
        body.append(
            (
                full_name(model),
                *(cell(own, split, "value") for split in splits),
                cell(own, "test", "std_error"),
                cell(own, "test", "difference", sign=True),
                cell(own, "test", "difference_std_error"),
                _share(on_test.iloc[0]) if len(on_test) else MISSING,
            )
        )
    constants = (cell(rows, split, "constant") for split in splits)
    body.append((say("data.constant"), *constants, *[MISSING] * 3, percent(1.0)))
    return table_of(
        f"performance-{key_of(loss)}",
        "data",
        [
            "model:header",
            *(_column(facts, rows, split) for split in splits),
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
        notes=notes,
        shape="wide",
    )


def _column(facts: Facts, rows: Any, split: str) -> Column:
    """Return the column of a split, with its number of rows in the head."""
    sizes = rows.loc[rows["split"] == split, "n_samples"]
    n = count(int(sizes.iloc[0])) if len(sizes) else MISSING
    return Column(say(f"data.{facts.named(split)}", n=n), "number")


def _clear_losses(rows: Any) -> Any:
    """Return the losses distinguished from zero by their errors, and the constants."""
    value, error = rows["value"].astype(float), rows["std_error"].astype(float)
    return [*value[value.abs() > ERRORS * error.fillna(0.0)], *rows["constant"]]


def _number(
    frame: str, rows: pd.DataFrame, column: str, places: int, *, sign: bool = False
) -> Value | str:
    """Return a number from the first of some rows of a frame; a dash without rows."""
    if rows.empty:
        return MISSING
    return number_in(frame, rows.iloc[0], column, places, sign=sign)


def _share(row: "pd.Series[Any]") -> Value:
    """Return the loss of a model as a share of that of the constant predictor."""
    constant = float(row["constant"])
    share = float(row["value"]) / constant if constant else math.nan
    path = f"performance[{row.name}].value"
    return Value(path, share, percent(share), derived="share of the constant")


def _constant_in_words(facts: Facts) -> str:
    """Return an explanation of the constant predictor."""
    kind = "regression" if facts.task == "regression" else "classes"
    return word(f"data.constant_in_words.{kind}")
