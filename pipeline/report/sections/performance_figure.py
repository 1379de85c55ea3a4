"""The figure of section D: ROC and calibration of classes, residuals of numbers.

Calibration also has a table: observed and expected rows of the class in each tenth of
the rows.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ...records.ranking import LEVEL
from ..figures.performance import MOST_PANELS, draw_classes, draw_residuals
from ..text.blocks import Column, Figure, Link, Sentence, Table, Value, plain
from ..text.number_text import count, number, percent
from ..text.wording import (
    NO_BREAK,
    display_name,
    figure_of,
    full_name,
    joined,
    say,
    short_name,
    table_of,
    word,
)
from .facts import Facts
from .model_quality import deciles_off
from .models_figure import not_drawn

Row: TypeAlias = Mapping[str, Any]
"""A row of a frame by column, and "at": its place in the frame."""
Models: TypeAlias = list[tuple[str, list[Row]]]
"""Each model with its rows of a frame."""


def performance_blocks(facts: Facts) -> tuple[Figure | Table, ...]:
    """Return the figure, and for classes its table; empty without diagnostics."""
    if every := _by_model(facts, "residuals"):
        tail = f", {facts.target_unit}" if facts.target_unit else ""
        up, across = word("diagnostics.residual"), word("diagnostics.prediction")
        data: dict[str, Any] = {"labels": (f"{up}{tail}", f"{across}{tail}")}
        caption = say("diagnostics.residual_caption")
        return (_figure(facts, "regression", every, draw_residuals, data, caption),)
    if every := _by_model(facts, "calibration"):
        positive = str(every[0][1][0]["positive_class"])
        kind = "binary" if positive else "multiclass"
        readings = facts.result.readings
        is_area = (readings["split"] == "test") & (readings["reading"] == "auc")
        areas = readings[is_area].groupby("model")["value"].first()
        curves = []
        for model, rows in _by_model(facts, "roc")[:MOST_PANELS]:
            label = display_name(model)
            if model in areas:
                label = f"{label}, AUC{NO_BREAK}{number(float(areas[model]), 3)}"
            curves.append((label, rows))
        share = say("diagnostics.share_right")
        if positive:
            share = say("diagnostics.share", cls=short_name(positive))
        data = {
            "curves": tuple(curves),
            "roc_title": word("diagnostics.roc"),
            "roc_labels": (
                word("diagnostics.true_rate"),
                word("diagnostics.false_rate"),
            ),
            "labels": (plain(share), word("diagnostics.tenths")),
        }
        caption = (
            *(say("diagnostics.roc_caption") if curves else ()),
            *say(
                "diagnostics.calibration_caption",
                level=percent(LEVEL),
                table=Link("tab-calibration"),
            ),
            *(() if positive else say("diagnostics.of_predicted_class")),
        )
        return (
            _figure(facts, kind, every, draw_classes, data, caption),
            _calibration_table(every, positive),
        )
    return ()


def _figure(
    facts: Facts,
    kind: str,
    every: Models,
    draw: Callable[..., Any],
    data: Mapping[str, Any],
    caption: Sentence,
) -> Figure:
    """Return the figure of the first models; its caption names the others."""
    drawn, others = every[:MOST_PANELS], every[MOST_PANELS:]
    models = joined(short_name(model) for model, _ in drawn)
    panels = tuple((display_name(model), rows) for model, rows in drawn)
    return figure_of(
        "performance",
        draw,
        {**data, "panels": panels},
        alt=say(f"diagnostics.alt.{kind}", models=models),
        headline=_headline(facts, every, kind),
        caption=(*caption, *not_drawn([model for model, _ in others])),
    )


def _by_model(facts: Facts, name: str) -> Models:
    """Return the rows of a frame by model, in the order of the audit."""
    frame = facts.result.frames[name]
    every: Models = []
    for model in facts.models:
        rows = frame[(frame["model"] == model) & (frame["split"] == "test")]
        if name == "calibration":  # with several classes, the predicted one
            rows = rows[rows["positive_class"].isin(rows["positive_class"].iloc[:1])]
        if len(rows):
            every.append((model, rows.assign(at=rows.index).to_dict("records")))
    return every


def _headline(facts: Facts, every: Models, kind: str) -> Sentence:
    """Return the headline: the deciles predicted too low or too high, if tested."""
    found = [(full_name(model), deciles_off(facts, model)) for model, _ in every]
    if kind == "multiclass" or not all(where for _, where in found):
        return say(f"diagnostics.headline.{kind}")
    statement = joined(((name, ": ", *where) for name, where in found), "; ")
    return (*statement, ".")


def _calibration_table(every: Models, positive: str) -> Table:
    """Return the table of observed and expected rows of the class in each tenth.

    Each model has two rows. Rows are counted by their weights, by default 1.
    """

    def counted(row: Row, what: str) -> Value:
        total = float(row[what]) * float(row["weight"])
        is_whole = what == "observed" and row["weight"] == row["rows"]
        text = number(round(total) if is_whole else total, 0 if is_whole else 1)
        path = f"calibration[{row['at']}].{what}"
        return Value(path, total, text, derived="times weight")

    most = max(len(rows) for _, rows in every)
    body = [
        (
            full_name(model),
            word(f"diagnostics.{what}"),
            *(counted(row, what) for row in rows),
            *["–"] * (most - len(rows)),
        )
        for model, rows in every
        for what in ("observed", "predicted")
    ]
    of_class = say("diagnostics.of_class", cls=short_name(positive))
    what = of_class if positive else say("diagnostics.right")
    deciles = [row for _, rows in every for row in rows]
    sizes = [int(row["rows"]) for row in deciles]
    size, largest = count(min(sizes)), count(max(sizes))
    if size != largest:
        size = f"{size} {word('words.to')} {largest}"
    caption = say("diagnostics.table_caption", what=what, size=size)
    if any(row["weight"] != row["rows"] for row in deciles):
        caption += say("diagnostics.table_weighted")
    tenths = (Column((count(n),), "number") for n in range(1, most + 1))
    return table_of(
        "calibration",
        "diagnostics",
        ["data.model:header", "counted", *tenths],
        body,
        caption=caption,
        shape="wide",
    )
