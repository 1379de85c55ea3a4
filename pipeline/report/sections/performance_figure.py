"""The figure of section D: ROC and calibration of classes, residuals of numbers.

With calibration comes its table: how many rows of the class each tenth holds, and how
many were to be expected.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from ...records.ranking import LEVEL
from ..figures.performance import (
    MOST_PANELS,
    CalibrationPanel,
    ResidualPanel,
    ResidualPart,
    RocLine,
    Tenth,
    draw_classes,
    draw_residuals,
)
from ..text.blocks import Cell, Column, Figure, Link, Row, Sentence, Table, Value, plain
from ..text.number_text import count, number, percent
from ..text.wording import (
    NO_BREAK,
    alt_text,
    display_name,
    full_name,
    joined,
    say,
    short_name,
    word,
)
from .facts import Facts, tallied
from .models_figure import not_drawn

Models: TypeAlias = list[tuple[str, list[dict[str, Any]]]]
"""Each model with its rows of a frame."""
QUANTILES = ("q05", "q25", "q50", "q75", "q95")


def performance_blocks(facts: Facts) -> tuple[Figure | Table, ...]:
    """Return the figure of a run that measured what it needs, and what goes with it."""
    if len(facts.result.residuals):
        return (_residuals(facts),)
    if len(facts.result.calibration):
        return (_classes(facts), _calibration_table(facts))
    return ()


def _by_model(facts: Facts, name: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the rows of a frame by model, in the order of the audit."""
    frame = facts.result.frames[name]
    for model in facts.models:
        rows = frame[(frame["model"] == model) & (frame["split"] == "test")]
        if name == "calibration":  # of several classes, the predicted one
            rows = rows[rows["positive_class"].isin(rows["positive_class"].iloc[:1])]
        if len(rows):
            yield model, [{"at": i, **row} for i, row in _rows(rows)]


def _rows(frame: Any) -> Iterator[tuple[int, Mapping[str, Any]]]:
    return zip(frame.index, frame.to_dict("records"), strict=True)


def _classes(facts: Facts) -> Figure:
    """Return ROC curves and calibration of models of classes."""
    every = list(_by_model(facts, "calibration"))
    panels = tuple(
        CalibrationPanel(
            display_name(model),
            tuple(
                Tenth(
                    *(float(row[k]) for k in ("predicted", "observed", "low", "high"))
                )
                for row in rows
            ),
        )
        for model, rows in every[:MOST_PANELS]
    )
    curves = tuple(
        RocLine(
            _with_area(facts, model),
            tuple(float(row["false_rate"]) for row in rows),
            tuple(float(row["true_rate"]) for row in rows),
        )
        for model, rows in list(_by_model(facts, "roc"))[:MOST_PANELS]
    )
    positive = str(every[0][1][0]["positive_class"])
    share = _share_of(positive)
    kind = "binary" if positive else "multiclass"
    return Figure(
        id="fig-performance",
        draw=draw_classes,
        data={
            "curves": curves,
            "panels": panels,
            "roc_title": word("diagnostics.roc"),
            "roc_labels": (
                word("diagnostics.true_rate"),
                word("diagnostics.false_rate"),
            ),
            "labels": (plain(share), word("diagnostics.tenths")),
        },
        alt=alt_text(
            plain(
                say(
                    f"diagnostics.alt.{kind}",
                    models=joined(
                        short_name(model) for model, _ in every[:MOST_PANELS]
                    ),
                )
            )
        ),
        headline=_calibration_headline(every),
        caption=(
            *(say("diagnostics.roc_caption") if curves else ()),
            *say(
                "diagnostics.calibration_caption",
                level=percent(LEVEL),
                table=Link("tab-calibration"),
            ),
            *_not_drawn(every),
        ),
    )


def _share_of(positive: str) -> Sentence:
    if positive:
        return say("diagnostics.share", cls=short_name(positive))
    return say("diagnostics.share_right")


def _with_area(facts: Facts, model: str) -> str:
    """Return a model, and the area under its curve where that was measured."""
    frame = facts.result.readings
    own = frame[(frame["model"] == model) & (frame["split"] == "test")]
    area = own.loc[own["reading"] == "auc", "value"]
    name = display_name(model)
    return (
        f"{name}, AUC{NO_BREAK}{number(float(area.iloc[0]), 3)}" if len(area) else name
    )


def _calibration_headline(every: Models) -> Sentence:
    """Return in how many tenths the mean prediction leaves the interval, by model."""
    counts = _counts(
        every,
        "calibration",
        "outside_tenths",
        lambda row: not row["low"] <= row["predicted"] <= row["high"],
    )
    return say("diagnostics.calibration_headline", models=counts)


def _counts(
    every: Models,
    frame: str,
    key: str,
    is_counted: Callable[[Mapping[str, Any]], bool],
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


def _calibration_table(facts: Facts) -> Table:
    """Return observed and expected rows of the class per tenth, two rows per model."""
    every = list(_by_model(facts, "calibration"))
    positive = str(every[0][1][0]["positive_class"])
    most = max(len(rows) for _, rows in every)
    body = [
        Row(
            (
                Cell((full_name(model),)),
                Cell((word(f"diagnostics.{what}"),)),
                *(_counted(row, what) for row in rows),
                *[Cell(("–",))] * (most - len(rows)),
            )
        )
        for model, rows in every
        for what in ("observed", "predicted")
    ]
    sizes = [int(row["rows"]) for _, rows in every for row in rows]
    least, largest = min(sizes), max(sizes)
    size = count(least)
    if largest > least:
        size = f"{count(least)} {word('words.to')} {count(largest)}"
    of_class = say("diagnostics.of_class", cls=short_name(positive))
    return Table(
        id="tab-calibration",
        caption=say(
            "diagnostics.table_caption",
            what=of_class if positive else say("diagnostics.right"),
            size=size,
        ),
        columns=(
            Column(say("data.model"), "header"),
            Column(say("diagnostics.counted")),
            *(Column((count(tenth),), "number") for tenth in range(1, most + 1)),
        ),
        rows=tuple(body),
        shape="wide",
    )


def _counted(row: Mapping[str, Any], what: str) -> Cell:
    """Return the weight of the rows of the class in a tenth, mostly their number."""
    total = float(row[what]) * float(row["weight"])
    is_whole = what == "observed" and row["weight"] == row["rows"]
    path = f"calibration[{row['at']}].{what}"
    text = number(round(total) if is_whole else total, 0 if is_whole else 1)
    return Cell((Value(path, total, text, derived="times weight"),))


def _residuals(facts: Facts) -> Figure:
    """Return the residuals of models of numbers."""
    every = list(_by_model(facts, "residuals"))
    panels = tuple(
        ResidualPanel(
            display_name(model),
            tuple(
                ResidualPart(
                    float(row["lowest"]),
                    float(row["highest"]),
                    float(row["fitted"]),
                    _quantiles(row),
                )
                for row in rows
            ),
        )
        for model, rows in every[:MOST_PANELS]
    )
    unit = facts.target_unit
    tail = f", {unit}" if unit else ""
    return Figure(
        id="fig-performance",
        draw=draw_residuals,
        data={
            "panels": panels,
            "labels": (
                f"{word('diagnostics.residual')}{tail}",
                f"{word('diagnostics.prediction')}{tail}",
            ),
        },
        alt=alt_text(
            plain(
                say(
                    "diagnostics.alt.regression",
                    models=joined(
                        short_name(model) for model, _ in every[:MOST_PANELS]
                    ),
                )
            )
        ),
        headline=_residual_headline(every),
        caption=(*say("diagnostics.residual_caption"), *_not_drawn(every)),
    )


def _quantiles(row: Mapping[str, Any]) -> tuple[float, float, float, float, float]:
    q05, q25, q50, q75, q95 = (float(row[name]) for name in QUANTILES)
    return q05, q25, q50, q75, q95


def _residual_headline(every: Models) -> Sentence:
    """Return in how many parts the middle half of the residuals leaves 0 out."""
    counts = _counts(
        every,
        "residuals",
        "outside_parts",
        lambda row: row["q25"] > 0 or row["q75"] < 0,
    )
    return say("diagnostics.residual_headline", models=counts)


def _not_drawn(every: Models) -> Sentence:
    return not_drawn([model for model, _ in every[MOST_PANELS:]])
