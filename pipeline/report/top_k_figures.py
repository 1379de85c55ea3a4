"""Top-k error curves as figures of section F: one per judging model."""

from collections import Counter

import numpy as np
import pandas as pd

from pipeline.losses import LOSSES
from pipeline.report.blocks import Figure, Sentence
from pipeline.report.facts import Facts, tallied
from pipeline.report.number_text import loss_label, unit_text
from pipeline.report.top_k_drawing import STYLES, TopKLine, TopKPanel
from pipeline.report.wording import (
    counted,
    display_name,
    key_of,
    named,
    say,
    shortened,
    word,
)

WHO = ["entry", "method", "model", "ranked_by", "positive_class"]
ALT = 250


def top_k_figures(facts: Facts) -> tuple[Figure, ...]:
    """Return one figure per model that judges the rankings, none if none was asked."""
    frame = facts.result.top_k
    return tuple(
        _figure(facts, str(judge), part)
        for judge, part in frame.groupby("judge", sort=False)
    )


def lines_of(frame: pd.DataFrame) -> tuple[TopKLine, ...]:
    """Return the curve of each ranking: mean and standard error over its folds."""
    found, alike = [], Counter[str]()
    for who, part in frame.groupby(WHO, sort=False):
        folds = part.groupby("k")["value"]
        spread = folds.std(ddof=1) / np.sqrt(folds.count())
        means, errors = folds.mean().tolist(), spread.tolist()
        label = label_of(who)
        alike[label] += 1
        number = f" #{alike[label]}" if alike[label] > 1 else ""
        found.append(TopKLine(f"{label}{number}", tuple(means), tuple(errors)))
    return tuple(found)


def label_of(who: tuple[object, ...]) -> str:
    """Return how keys call a ranking, by its columns `WHO`: its method, and whose."""
    _, method, *others = (str(part) for part in who)
    told = [method.replace("_", " "), *(display_name(part) for part in others if part)]
    return ", ".join(told)


def _figure(facts: Facts, judge: str, frame: pd.DataFrame) -> Figure:
    loss = str(frame["loss"].iloc[0])
    panels, more = _panels(frame)
    names = list(dict.fromkeys(line.label for panel in panels for line in panel.lines))
    unit = unit_text(LOSSES[loss].unit, facts.target_unit)
    alt = word("top_k.alt").format(
        n=len(names), judge=display_name(judge), loss=loss_label(loss)
    )
    told = (say(f"top_k.{name}", folds=_folds(part)) for name, part in _parts(frame))
    return Figure(
        id=f"fig-top-k-{key_of(judge)}",
        function="top_k",
        data={
            "panels": panels,
            "axis_label": word("top_k.axis"),
            "head": ", ".join(text for text in (loss_label(loss), unit) if text),
        },
        alt=f"{alt} {'; '.join(names)}."[:ALT],
        headline=say("top_k.headline", judge=shortened(judge, 30)),
        caption=(
            *say("top_k.caption", judge=named(judge)),
            *(word for sentence in told for word in sentence),
            *say("top_k.data"),
            *_not_drawn(more),
        ),
    )


def _parts(frame: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Return the rows of each protocol."""
    return [(str(name), part) for name, part in frame.groupby("protocol", sort=False)]


def _folds(frame: pd.DataFrame) -> Sentence:
    return counted(tallied("top_k", int(frame["fold"].nunique())), "fold")


def _panels(frame: pd.DataFrame) -> tuple[tuple[TopKPanel, ...], int]:
    """Return a panel per protocol, and how many rankings there is no look left for."""
    curves = {name: lines_of(part) for name, part in _parts(frame)}
    labels = tuple(dict.fromkeys(line.label for c in curves.values() for line in c))
    drawn = labels[: len(STYLES)]
    panels = tuple(
        TopKPanel(
            word(f"top_k.panel_{name}") if len(curves) > 1 else "",
            tuple(line for line in lines if line.label in drawn),
        )
        for name, lines in curves.items()
    )
    return panels, len(labels) - len(drawn)


def _not_drawn(number: int) -> Sentence:
    return say("top_k.more", n=tallied("top_k", number)) if number else ()
