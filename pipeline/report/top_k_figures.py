"""Top-k error curves as figures of section F: one per judging model."""

import numpy as np
import pandas as pd

from pipeline.losses import LOSSES
from pipeline.report.blocks import Figure, Sentence
from pipeline.report.facts import Facts, tallied
from pipeline.report.number_text import loss_label, unit_text
from pipeline.report.top_k_drawing import STYLES, TopKLine
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
    found = []
    for who, part in frame.groupby(WHO, sort=False):
        folds = part.groupby("k")["value"]
        spread = folds.std(ddof=1) / np.sqrt(folds.count())
        means, errors = folds.mean().tolist(), spread.tolist()
        found.append(TopKLine(_label(who), tuple(means), tuple(errors)))
    return tuple(found)


def _label(who: tuple[object, ...]) -> str:
    """Return how the key calls a ranking: its method, and whose it is."""
    _, method, *others = (str(part) for part in who)
    told = [method.replace("_", " "), *(display_name(part) for part in others if part)]
    return ", ".join(told)


def _figure(facts: Facts, judge: str, frame: pd.DataFrame) -> Figure:
    lines, loss = lines_of(frame), str(frame["loss"].iloc[0])
    drawn = lines[: len(STYLES)]
    unit = unit_text(LOSSES[loss].unit, facts.target_unit)
    folds = tallied("top_k", int(frame["fold"].nunique()))
    alt = word("top_k.alt").format(
        n=len(drawn), judge=display_name(judge), loss=loss_label(loss)
    )
    names = "; ".join(line.label for line in drawn)
    return Figure(
        id=f"fig-top-k-{key_of(judge)}",
        function="top_k",
        data={
            "lines": drawn,
            "axis_label": word("top_k.axis"),
            "head": ", ".join(text for text in (loss_label(loss), unit) if text),
        },
        alt=f"{alt} {names}."[:ALT],
        headline=say("top_k.headline", judge=shortened(judge, 30)),
        caption=(
            *say("top_k.caption", judge=named(judge), folds=counted(folds, "fold")),
            *_not_drawn(len(lines) - len(drawn)),
        ),
    )


def _not_drawn(number: int) -> Sentence:
    return say("top_k.more", n=tallied("top_k", number)) if number else ()
