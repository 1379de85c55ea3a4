"""The losses of judging models on the first features of rankings and on sets."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np
import pandas as pd

from ..figures.top_k import MOST_LINES, TopKLine, draw_top_k
from ..text.blocks import Column, Figure, Sentence, Table, Value
from ..text.number_text import decimals, loss_label, method_words, number
from ..text.wording import (
    display_name,
    figure_of,
    full_name,
    joined,
    key_of,
    say,
    say_count,
    short_name,
    table_of,
    word,
)
from .facts import Facts, tallied

WHO = ["entry", "method", "model", "ranked_by", "positive_class"]
Who = tuple[Any, ...]


def top_k_figures(facts: Facts) -> tuple[Figure | Sentence, ...]:
    """Return one figure per model that judges the rankings, none if not configured.

    A judge without a finite loss has a sentence instead.
    """
    frame = facts.result.top_k
    labels = _labels(frame)
    blocks: list[Figure | Sentence] = []
    for judge, own in frame.groupby("judge", sort=False):
        judge, loss = str(judge), str(own["loss"].iloc[0])
        if not np.isfinite(own["value"]).any():
            name, measured = full_name(judge), loss_label(loss)
            blocks.append(say("top_k.nothing", judge=name, loss=measured))
            continue
        curves: dict[str, list[TopKLine]] = {}
        caption = say("top_k.caption", judge=full_name(judge))
        for protocol, part in own.groupby("protocol", sort=False):
            curves[str(protocol)] = _lines(part, labels)
            folds = tallied("top_k", int(part["fold"].nunique()))
            counted = say_count(folds, "fold")
            if protocol == "splits":
                counted = say_count(folds, "split")
            caption += say(f"top_k.{protocol}", folds=counted)
        caption += say("top_k.data")

        # Line styles are limited: the first rankings of the configuration are drawn.
        every = [line for lines in curves.values() for line in lines]
        visible = dict.fromkeys(line.label for line in every if _has_points(line))
        names = list(visible)[:MOST_LINES]
        panels = []
        for protocol, lines in curves.items():
            shown = tuple(
                line for line in lines if line.label in names and _has_points(line)
            )
            title = word(f"top_k.panel_{protocol}") if len(curves) > 1 else ""
            if shown:
                panels.append((title, shown))

        empty = dict.fromkeys(line.label for line in every if not _has_points(line))
        if any(np.isnan(line.means).any() and _has_points(line) for line in every):
            caption += say("top_k.gaps")
        if empty:
            caption += say("top_k.empty", names=joined(empty, "; "))
        if len(visible) > MOST_LINES:
            more = tallied("top_k", len(visible) - MOST_LINES)
            caption += say("top_k.more", n=more)
        figure = figure_of(
            f"top-k-{key_of(judge)}",
            draw_top_k,
            {
                "panels": tuple(panels),
                "axis_label": word("top_k.axis"),
                "head": facts.head_of(loss),
            },
            alt=say(
                "top_k.alt",
                n=str(len(names)),
                judge=display_name(judge),
                loss=loss_label(loss),
                names="; ".join(names),
            ),
            headline=say("top_k.headline", judge=short_name(judge)),
            caption=caption,
        )
        blocks.append(figure)
    return tuple(blocks)


def selection_tables(facts: Facts) -> tuple[Table, ...]:
    """Return one table per model that judges the sets, none if not configured.

    Losses are means over the splits in which any feature is selected.
    """
    tables = []
    for judge, own in facts.result.selection.groupby("judge", sort=False):
        labels = _labels(own)
        found = []
        for who, part in own.groupby(WHO, sort=False):
            values = part["value"].dropna()
            error = float(values.std(ddof=1) / np.sqrt(len(values)))
            size, mean = float(part["k"].mean()), float(values.mean())
            found.append((labels[who], size, mean, error))
        _, _, means, errors = zip(*found, strict=True)
        places = decimals(means, errors)
        notes = [say("selection.note"), say("selection.error_note")]
        empty = int(own.loc[own["k"] == 0, "split"].nunique())
        if empty:
            n = say_count(tallied("selection", empty), "split")
            notes.append(say("selection.empty", n=n))
        path, splits = "selection.value", tallied("selection", own["split"].nunique())
        head = facts.head_of(str(own["loss"].iloc[0]))
        table = table_of(
            f"selection-{key_of(str(judge))}",
            "selection",
            [
                "ranking:header",
                "kept:number",
                Column((head,), "number"),
                "error:number",
            ],
            [
                (
                    display_name(label),
                    Value("selection.k", size, number(size, 1), derived="mean"),
                    Value(path, mean, number(mean, places), derived="mean"),
                    Value(path, error, number(error, places), derived="standard error"),
                )
                for label, size, mean, error in found
            ],
            caption=say(
                "selection.caption",
                judge=full_name(str(judge)),
                splits=say_count(splits, "split"),
            ),
            notes=tuple(notes),
            source="tables/selection.csv",
        )
        tables.append(table)
    return tuple(tables)


def _labels(frame: pd.DataFrame) -> dict[Who, str]:
    """Return the label of each ranking of a frame: method, model, loss and class.

    Rankings with the same label also have their places in the configuration.
    """
    same: dict[Who, list[Who]] = {}
    for who, _ in frame.groupby(WHO, sort=False):
        same.setdefault(who[1:], []).append(who)
    labels = {}
    for measure, several in same.items():
        method, model, loss, positive_class = measure
        words = [method_words(method), display_name(model) if model else ""]
        words += [loss_label(loss) if loss else ""]
        words += [display_name(positive_class) if positive_class else ""]
        name = ", ".join(text for text in words if text)
        for who in several:
            entry = word("top_k.entry").format(n=int(who[0]) + 1)
            labels[who] = f"{name} ({entry})" if len(several) > 1 else name
    return labels


def _lines(frame: pd.DataFrame, labels: Mapping[Who, str]) -> list[TopKLine]:
    """Return the curve of each ranking: mean and standard error over its folds."""
    lines = []
    for who, part in frame.groupby(WHO, sort=False):
        values = part["value"].where(np.isfinite(part["value"]))
        folds = values.groupby(part["k"])
        # a mean over some of the folds would be another quantity
        is_complete = folds.count() == folds.size()
        means = folds.mean().where(is_complete)
        spread = (folds.std(ddof=1) / np.sqrt(folds.count())).where(is_complete)
        lines.append(TopKLine(labels[who], tuple(means), tuple(spread)))
    return lines


def _has_points(line: TopKLine) -> bool:
    return any(map(isfinite, line.means))
