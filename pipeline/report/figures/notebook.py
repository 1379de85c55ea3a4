"""Figures for notebooks, as ordinary matplotlib figures that can be changed and saved.

The figures of the report are drawn by other functions.
"""

import io
from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure as PlainFigure

from ...records.importance_record import Effect, Importance
from ...records.losses import loss_label
from ...records.ranking import LEVEL, Interval, null_value_of, order_of
from ..text.blocks import plain
from ..text.number_text import percent
from ..text.wording import say
from .drawing import INK

MOST = 30
"""Most features shown; the title has the number of those left out."""


class Figure(PlainFigure):
    """A matplotlib figure that a notebook shows, whether or not pyplot is loaded."""

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=100)
        return file.getvalue()


def ranking(record: Importance, interval: Interval) -> Figure:
    """Return a ranking: the mean of each feature with its 95 % interval, best on top.

    A feature that was not measured has no dot; one without an interval has no error
    bar. The legend names the sampling that the intervals describe: draws, rows, ….
    """
    order = order_of(record)[:MOST][::-1]
    mean, low, high = record.mean, interval.low, interval.high
    places = np.arange(len(order))
    figure = Figure(figsize=(6.4, 1.2 + 0.28 * len(order)), layout="constrained")
    axes = figure.subplots()
    has_interval = np.isfinite(mean[order] - low[order])
    rows = order[has_interval]
    errors = np.maximum([mean[rows] - low[rows], high[rows] - mean[rows]], 0.0)
    if len(rows):
        axes.errorbar(
            mean[rows],
            places[has_interval],
            xerr=errors,
            fmt="none",
            color=INK,
            capsize=2,
            label=plain(say(f"figures.over_{interval.over}", level=percent(LEVEL))),
        )
        axes.legend(loc="lower right", fontsize=8)
    axes.plot(mean[order], places, "o", color=INK)
    axes.axvline(null_value_of(record), color=INK, linestyle="--", linewidth=0.7)
    names = [record.features[row] for row in order]
    axes.set_yticks(places, names, parse_math=False)
    axes.set_xlabel(_unit(record))
    n_more = len(record.features) - len(order)
    more = f"; {n_more} more are not shown" if n_more else ""
    subject = f"{record.model}: " if record.model else ""
    axes.set_title(
        f"{subject}{record.method} of {record.of}{more}", loc="left", parse_math=False
    )
    return figure


def effects(curves: Sequence[Effect], at_missing: Sequence[float]) -> Figure:
    """Return the curves of one feature, one per output of the model.

    A dotted line is the output where the feature is missing, if known.
    """
    first = curves[0]
    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    for curve, missing in zip(curves, at_missing, strict=True):
        at = curve.grid if curve.kind == "number" else np.arange(len(curve.grid))
        style = "-" if curve.kind == "number" else "o"
        of_class = f"{curve.positive_class} " if len(curves) > 1 else ""
        name = f" {of_class}" if of_class else None  # matplotlib leaves out "_name"
        (line,) = axes.plot(at, curve.values, style, label=name)
        if np.isfinite(missing):
            label = f" {of_class}if missing"
            axes.axhline(missing, linestyle=":", color=line.get_color(), label=label)
    if len(curves) > 1 or np.isfinite(at_missing).any():
        title = "class" if len(curves) > 1 else None
        for text in axes.legend(title=title).get_texts():
            text.set_parse_math(False)
    if first.kind == "category":
        levels = list(map(str, first.grid))
        axes.set_xticks(np.arange(len(levels)), levels, parse_math=False)
    axes.set_xlabel(first.feature, parse_math=False)
    axes.set_ylabel(f"prediction ({first.scale})")
    title = f"{first.model}: {first.method} of {first.feature}"
    axes.set_title(title, loc="left", parse_math=False)
    return figure


def agreement(ours: Importance, other: Importance) -> Figure:
    """Return the means of two engines against each other, with the line of equality."""
    places = {name: row for row, name in enumerate(other.features)}
    names = [name for name in ours.features if name in places]
    x = ours.mean[[ours.features.index(name) for name in names]]
    y = other.mean[[places[name] for name in names]]
    figure = Figure(figsize=(4.8, 4.8), layout="constrained")
    axes = figure.subplots()
    axes.axline((0.0, 0.0), slope=1.0, color=INK, linestyle="--", linewidth=0.7)
    axes.plot(x, y, "o", color=INK)
    for name, left, right in zip(names, x, y, strict=True):
        axes.annotate(
            name,
            (left, right),
            xytext=(4, -3),
            textcoords="offset points",
            fontsize=8,
            parse_math=False,
        )
    axes.set_xlabel(f"{ours.engine}: {_unit(ours)}")
    axes.set_ylabel(f"{other.engine}: {_unit(other)}")
    title = f"{ours.model}: {ours.method} of {ours.of}"
    axes.set_title(title, loc="left", parse_math=False)
    return figure


def _unit(record: Importance) -> str:
    """Return the axis label of an importance: its loss and form, or form and unit."""
    if record.loss:
        return f"{loss_label(record.loss)}, {record.form}"
    return f"{record.form}, in {record.unit}" if record.unit != "1" else record.form
