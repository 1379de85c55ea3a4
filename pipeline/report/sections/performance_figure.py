"""The figure of section D: ROC and calibration of classes, residuals of numbers.

With calibration comes its table: how many rows of the class each tenth holds, and how
many were to be expected.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ...records.ranking import LEVEL
from ..figures.performance import (
    MOST_PANELS,
    CalibrationPanel,
    Decile,
    ResidualPanel,
    ResidualPart,
    RocLine,
    draw_classes,
    draw_residuals,
)
from ..text.blocks import Column, Figure, Link, Sentence, Table, Value, plain
from ..text.number_text import count, number, percent
from ..text.wording import (
    NO_BREAK,
    alt_text,
    display_name,
    full_name,
    joined,
    say,
    short_name,
    table_of,
    word,
)
from .facts import Facts, tallied
from .models_figure import not_drawn

Row: TypeAlias = Mapping[str, Any]
"""A row of a frame by column, and "at": its place in the frame."""
Models: TypeAlias = list[tuple[str, list[Row]]]
"""Each model with its rows of a frame."""
PART = ("lowest", "highest", "fitted", "q05", "q25", "q50", "q75", "q95")
"""What a figure shows of some rows: their predictions, and residuals at five shares."""


def performance_blocks(facts: Facts) -> tuple[Figure | Table, ...]:
    """Return the figure of a run that measured what it needs, and what goes with it."""
    if len(facts.result.residuals):
        return (_residuals(facts),)
    if len(facts.result.calibration):
        every = _by_model(facts, "calibration")
        positive = str(every[0][1][0]["positive_class"])
        return (_classes(facts, every, positive), _calibration_table(every, positive))
    return ()


def _by_model(facts: Facts, name: str) -> Models:
    """Return the rows of a frame by model, in the order of the audit."""
    frame = facts.result.frames[name]
    every: Models = []
    for model in facts.models:
        rows = frame[(frame["model"] == model) & (frame["split"] == "test")]
        if name == "calibration":  # of several classes, the predicted one
            rows = rows[rows["positive_class"].isin(rows["positive_class"].iloc[:1])]
        if len(rows):
            every.append((model, rows.assign(at=rows.index).to_dict("records")))
    return every


def _classes(facts: Facts, every: Models, positive: str) -> Figure:
    """Return ROC curves and calibration of models of classes."""
    readings = facts.result.readings
    is_area = (readings["split"] == "test") & (readings["reading"] == "auc")
    areas = readings[is_area].groupby("model")["value"].first()
    curves = []
    for model, rows in _by_model(facts, "roc")[:MOST_PANELS]:
        label = display_name(model)
        if model in areas:
            label = f"{label}, AUC{NO_BREAK}{number(float(areas[model]), 3)}"
        false_rates = tuple(float(row["false_rate"]) for row in rows)
        true_rates = tuple(float(row["true_rate"]) for row in rows)
        curves.append(RocLine(label, false_rates, true_rates))
    fields = ("predicted", "observed", "low", "high")
    panels = tuple(
        CalibrationPanel(
            display_name(model),
            tuple(Decile(*(float(row[name]) for name in fields)) for row in rows),
        )
        for model, rows in every[:MOST_PANELS]
    )
    share = say("diagnostics.share_right")
    if positive:
        share = say("diagnostics.share", cls=short_name(positive))
    roc_labels = word("diagnostics.true_rate"), word("diagnostics.false_rate")
    data = {
        "curves": tuple(curves),
        "panels": panels,
        "roc_title": word("diagnostics.roc"),
        "roc_labels": roc_labels,
        "labels": (plain(share), word("diagnostics.tenths")),
    }
    outside = _counts(
        every,
        "calibration",
        "outside_tenths",
        lambda row: not row["low"] <= row["predicted"] <= row["high"],
    )
    caption = say(
        "diagnostics.calibration_caption",
        level=percent(LEVEL),
        table=Link("tab-calibration"),
    )
    if curves:
        caption = (*say("diagnostics.roc_caption"), *caption)
    return Figure(
        id="fig-performance",
        draw=draw_classes,
        data=data,
        alt=_alt("binary" if positive else "multiclass", every),
        headline=say("diagnostics.calibration_headline", models=outside),
        caption=(*caption, *_not_drawn(every)),
    )


def _residuals(facts: Facts) -> Figure:
    """Return the residuals of models of numbers."""
    every = _by_model(facts, "residuals")
    panels = []
    for model, rows in every[:MOST_PANELS]:
        parts = []
        for row in rows:
            lowest, highest, fitted, q05, q25, q50, q75, q95 = (
                float(row[name]) for name in PART
            )
            quantiles = q05, q25, q50, q75, q95
            parts.append(ResidualPart(lowest, highest, fitted, quantiles))
        panels.append(ResidualPanel(display_name(model), tuple(parts)))
    tail = f", {facts.target_unit}" if facts.target_unit else ""
    labels = (
        f"{word('diagnostics.residual')}{tail}",
        f"{word('diagnostics.prediction')}{tail}",
    )
    outside = _counts(
        every,
        "residuals",
        "outside_parts",
        lambda row: row["q25"] > 0 or row["q75"] < 0,
    )
    return Figure(
        id="fig-performance",
        draw=draw_residuals,
        data={"panels": tuple(panels), "labels": labels},
        alt=_alt("regression", every),
        headline=say("diagnostics.residual_headline", models=outside),
        caption=(*say("diagnostics.residual_caption"), *_not_drawn(every)),
    )


def _alt(kind: str, every: Models) -> str:
    models = joined(short_name(model) for model, _ in every[:MOST_PANELS])
    return alt_text(plain(say(f"diagnostics.alt.{kind}", models=models)))


def _not_drawn(every: Models) -> Sentence:
    return not_drawn([model for model, _ in every[MOST_PANELS:]])


def _counts(
    every: Models, frame: str, key: str, is_counted: Callable[[Row], bool]
) -> Sentence:
    """Return of each model how many of its parts of the rows count, and of how many."""
    return joined(
        say(
            f"diagnostics.{key}",
            model=full_name(model),
            n=tallied(frame, sum(map(is_counted, rows))),
            total=tallied(frame, len(rows)),
        )
        for model, rows in every
    )


def _calibration_table(every: Models, positive: str) -> Table:
    """Return observed and expected rows of the class per tenth, two rows per model.

    What is counted is the weight of the rows: mostly their number.
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
    sizes = [int(row["rows"]) for _, rows in every for row in rows]
    size, largest = count(min(sizes)), count(max(sizes))
    if size != largest:
        size = f"{size} {word('words.to')} {largest}"
    of_class = say("diagnostics.of_class", cls=short_name(positive))
    what = of_class if positive else say("diagnostics.right")
    tenths = (Column((count(n),), "number") for n in range(1, most + 1))
    return table_of(
        "calibration",
        "diagnostics",
        ["data.model:header", "counted", *tenths],
        body,
        caption=say("diagnostics.table_caption", what=what, size=size),
        shape="wide",
    )
