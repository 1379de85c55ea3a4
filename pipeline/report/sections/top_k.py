"""What judging models say of rankings and sets: figures and tables."""

from collections.abc import Collection, Iterable, Mapping
from math import isfinite
from typing import Any

import numpy as np
import pandas as pd

from ...records.losses import LOSSES
from ..figures.top_k import STYLES, TopKLine, TopKPanel, draw_top_k
from ..text.blocks import Cell, Cells, Column, Figure, Row, Sentence, Table, Value
from ..text.number_text import decimals, loss_label, method_words, number, unit_text
from ..text.wording import (
    alt_text,
    display_name,
    full_name,
    joined,
    key_of,
    say,
    say_count,
    short_name,
    word,
)
from .facts import Facts, tallied

WHO = ["entry", "method", "model", "ranked_by", "positive_class"]
Who = tuple[Any, ...]


def top_k_figures(facts: Facts) -> tuple[Figure | Sentence, ...]:
    """Return one figure per model that judges the rankings, none if none was asked.

    Where a judge has no finite loss, a sentence stands in its place.
    """
    frame = facts.result.top_k
    labels = labels_of(facts, frame)
    return tuple(
        _figure(facts, str(judge), part, labels)
        if np.isfinite(part["value"]).any()
        else say("top_k.nothing", judge=full_name(str(judge)), loss=_loss(part))
        for judge, part in frame.groupby("judge", sort=False)
    )


def labels_of(facts: Facts, frame: pd.DataFrame) -> dict[Who, str]:
    """Return what each ranking of a frame is called: its method, whose, and which.

    Rankings that are called alike are told apart by their cards; by their places in
    the configuration where not each of them has a card.
    """
    every = [who for who, _ in frame.groupby(WHO, sort=False)]
    alike: dict[Who, list[Who]] = {}
    for who in every:
        alike.setdefault(who[1:], []).append(who)
    return {
        who: f"{_label(*measure)}{tail}"
        for measure, several in alike.items()
        for who, tail in zip(several, _tails(facts, several), strict=True)
    }


def _tails(facts: Facts, several: list[Who]) -> list[str]:
    """Return what tells rankings apart whose method, model, loss and class are one."""
    if len(several) == 1:
        return [""]
    measure = several[0][1:]
    cards = [
        facts.card(r.record)
        for r in facts.rankings
        if r.record.of == "features"
        and measure
        == (r.record.method, r.record.model, r.record.loss, r.record.positive_class)
    ]
    if len(cards) == len(several):
        return [f" ({card})" for card in cards]
    entries = (str(int(entry) + 1) for entry, *_ in several)
    return [f" ({word('top_k.entry').format(n=n)})" for n in entries]


def _label(method: str, model: str, loss: str, positive_class: str) -> str:
    words = [method_words(method), display_name(model) if model else ""]
    words += [loss_label(loss) if loss else ""]
    words += [display_name(positive_class) if positive_class else ""]
    return ", ".join(text for text in words if text)


def lines_of(frame: pd.DataFrame, labels: Mapping[Who, str]) -> tuple[TopKLine, ...]:
    """Return the curve of each ranking: mean and standard error over its folds."""
    tails = []
    for who, part in frame.groupby(WHO, sort=False):
        values = part["value"].where(np.isfinite(part["value"]))
        folds = values.groupby(part["k"])
        # a mean over some of the folds would be another quantity
        is_complete = folds.count() == folds.size()
        means = folds.mean().where(is_complete)
        spread = (folds.std(ddof=1) / np.sqrt(folds.count())).where(is_complete)
        tails.append(TopKLine(labels[who], tuple(means), tuple(spread)))
    return tuple(tails)


def _has_points(line: TopKLine) -> bool:
    return any(map(isfinite, line.means))


def _loss(frame: pd.DataFrame) -> str:
    return loss_label(str(frame["loss"].iloc[0]))


def _figure(
    facts: Facts, judge: str, frame: pd.DataFrame, labels: Mapping[Who, str]
) -> Figure:
    loss = str(frame["loss"].iloc[0])
    curves = {name: lines_of(part, labels) for name, part in _parts(frame)}
    every = [line for lines in curves.values() for line in lines]
    methods = _method_of_label(
        frame, labels, {line.label for line in every if _has_points(line)}
    )
    panels = _panels(curves, _labels_with_look(methods))
    names = list(dict.fromkeys(line.label for panel in panels for line in panel.lines))
    unit = unit_text(LOSSES[loss].unit, facts.target_unit)
    alt = word("top_k.alt").format(
        n=len(names), judge=display_name(judge), loss=loss_label(loss)
    )
    sentences = (
        say(f"top_k.{name}", folds=_rounds(name, part)) for name, part in _parts(frame)
    )
    return Figure(
        id=f"fig-top-k-{key_of(judge)}",
        draw=draw_top_k,
        data={
            "panels": panels,
            "axis_label": word("top_k.axis"),
            "head": ", ".join(text for text in (loss_label(loss), unit) if text),
        },
        alt=alt_text(f"{alt} {'; '.join(names)}."),
        headline=say("top_k.headline", judge=short_name(judge)),
        caption=(
            *say("top_k.caption", judge=full_name(judge)),
            *(word for sentence in sentences for word in sentence),
            *say("top_k.data"),
            *_left_out(every, len(methods)),
        ),
    )


def _parts(frame: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Return the rows of each protocol."""
    return [(str(name), part) for name, part in frame.groupby("protocol", sort=False)]


def _rounds(protocol: str, frame: pd.DataFrame) -> Sentence:
    """Return how many folds, or splits, there are."""
    count = tallied("top_k", int(frame["fold"].nunique()))
    if protocol == "splits":
        return say_count(count, "split")
    return say_count(count, "fold")


def _method_of_label(
    frame: pd.DataFrame, labels: Mapping[Who, str], visible: Collection[str]
) -> dict[str, str]:
    """Return the method of each ranking that has a curve, by its label."""
    every = (who for who, _ in frame.groupby(WHO, sort=False))
    return {labels[who]: str(who[1]) for who in every if labels[who] in visible}


def _labels_with_look(methods: Mapping[str, str]) -> list[str]:
    """Return the rankings there is a look for: one of each method before a second."""
    first = {method: label for label, method in reversed(methods.items())}
    order = sorted(methods, key=lambda label: first[methods[label]] != label)
    first_labels = order[: len(STYLES)]
    return [label for label in methods if label in first_labels]


def _panels(
    curves: Mapping[str, Iterable[TopKLine]], choice: Collection[str]
) -> tuple[TopKPanel, ...]:
    """Return a panel per protocol in which a ranking that is drawn has a curve."""
    by_protocol = {
        name: tuple(
            line for line in lines if line.label in choice and _has_points(line)
        )
        for name, lines in curves.items()
    }
    return tuple(
        TopKPanel(word(f"top_k.panel_{name}") if len(curves) > 1 else "", lines)
        for name, lines in by_protocol.items()
        if lines
    )


def _left_out(every: Iterable[TopKLine], n_lines: int) -> Sentence:
    """Return what the figure does not show: gaps, whole curves, and further ones."""
    holes = [line for line in every if not all(map(isfinite, line.means))]
    empty = dict.fromkeys(line.label for line in holes if not _has_points(line))
    text: Sentence = ()
    if any(map(_has_points, holes)):
        text += say("top_k.gaps")
    if empty:
        text += say("top_k.empty", names=joined(empty, "; "))
    if n_lines > len(STYLES):
        text += say("top_k.more", n=tallied("top_k", n_lines - len(STYLES)))
    return text


def selection_tables(facts: Facts) -> tuple[Table, ...]:
    """Return one table per model that judges the sets, none if none was asked."""
    frame = facts.result.selection
    return tuple(
        _selection_table(facts, str(judge), part)
        for judge, part in frame.groupby("judge", sort=False)
    )


def _selection_table(facts: Facts, judge: str, frame: pd.DataFrame) -> Table:
    loss = str(frame["loss"].iloc[0])
    unit = unit_text(LOSSES[loss].unit, facts.target_unit)
    head = ", ".join(text for text in (loss_label(loss), unit) if text)
    labels = labels_of(facts, frame)
    labelled = [(labels[who], part) for who, part in frame.groupby(WHO, sort=False)]
    means, errors = zip(*(_mean_and_error(part) for _, part in labelled), strict=True)
    places = decimals(means, errors)
    splits = tallied("selection", int(frame["split"].nunique()))
    return Table(
        id=f"tab-selection-{key_of(judge)}",
        caption=say(
            "selection.caption",
            judge=full_name(judge),
            splits=say_count(splits, "split"),
        ),
        columns=(
            Column(say("selection.ranking"), "header"),
            Column(say("selection.kept"), "number"),
            Column((head,), "number"),
            Column(say("selection.error"), "number"),
        ),
        rows=tuple(_row(name, part, places) for name, part in labelled),
        notes=_notes(frame),
        source="tables/selection.csv",
    )


def _mean_and_error(frame: pd.DataFrame) -> tuple[float, float]:
    """Return the mean over the splits in which anything is kept, and its error."""
    values = frame["value"].dropna()
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def _row(name: str, frame: pd.DataFrame, places: int) -> Cells:
    mean, error = _mean_and_error(frame)
    size = float(frame["k"].mean())
    return Row(
        (
            Cell((display_name(name),)),
            Cell((_value("k", size, 1, "mean"),)),
            Cell((_value("value", mean, places, "mean"),)),
            Cell((_value("value", error, places, "standard error"),)),
        )
    )


def _value(column: str, raw: float, places: int, derived: str) -> Value:
    return Value(f"selection.{column}", raw, number(raw, places), derived=derived)


def _notes(frame: pd.DataFrame) -> tuple[Sentence, ...]:
    """Return how sets were chosen, what the error leaves out, and empty sets."""
    notes: list[Sentence] = [say("selection.note"), say("selection.error_note")]
    empty: Any = frame.loc[frame["k"] == 0, "split"].nunique()
    if empty:
        n = say_count(tallied("selection", int(empty)), "split")
        notes.append(say("selection.empty", n=n))
    return tuple(notes)
