"""The figure of top-k error curves: a loss over the number of features, by ranking."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..text.number_text import significant
from . import parts
from .drawing import SERIES, WIDTH, Look, Scale, Sheet, limits

MOST_LINES = len(SERIES)
"""Most rankings of one figure: each needs a look of its own."""
_TOP, _HEIGHT, _LEFT = 4.4, 62.0, 16.0
_SHIFT = 0.9  # to the right from curve to curve, so that error bars do not overlap
_HEAD = 8.0  # height of the title of a panel


@dataclass(frozen=True)
class TopKLine:
    """One ranking: mean and error of the loss with its first 1, 2, … features."""

    label: str
    means: tuple[float, ...]
    errors: tuple[float, ...]


Panel: TypeAlias = tuple[str, Sequence[TopKLine]]
"""The curves by one protocol; the title is empty if it is the only one."""


def draw_top_k(
    panels: Sequence[Panel],
    *,
    axis_label: str,
    head: str,
) -> Sheet:
    """Return the loss of one model over the number of features it is fitted to.

    Panels are one below the other, on one scale of losses. A ranking, of at most
    `MOST_LINES`, has the same look in all of them; error bars reach one error up and
    down. `axis_label` is printed below each plot, `head` above it.
    """
    every = [line for _, lines in panels for line in lines]
    labels = list(dict.fromkeys(line.label for line in every))
    looks = [look._replace(width=0.9) for look in SERIES]  # no ranking leads
    most = max(len(line.means) for line in every)
    means = np.concatenate([line.means for line in every])
    errors = np.concatenate([line.errors for line in every])
    ends = limits(np.concatenate([means, means - errors, means + errors]))
    steps = range(1, most + 1, 1 + most // 25)
    ticks = steps, [*map(str, steps)]
    sheet, x = Sheet(), Scale(0.5, most + 0.5, _LEFT, WIDTH - _LEFT)
    top = parts.key(sheet, list(zip(labels, looks, strict=False)))
    for row, (title, lines) in enumerate(panels):
        top += _HEAD if title else 0.0
        y = Scale(*ends, top + _TOP + _HEIGHT, -_HEIGHT)
        parts.upright(sheet, x, y, most=7)
        parts.foot(sheet, x, y.left, *ticks)
        parts.put_label(sheet, 0.0, top + _TOP / 2 - 0.6, head)
        parts.put_label(sheet, x.left, y.left + 7.6, axis_label)
        if title:
            (heading,) = parts.headings([title], WIDTH, most=1)
            parts.put_heading(sheet, (0.0, top - 3.6), heading)
        for line in lines:
            n = labels.index(line.label)
            shift = _SHIFT * (n - (len(labels) - 1) / 2)
            plot = parts.Plot(sheet, x._replace(left=x.left + shift), y)
            name = f"{row}-{n}"
            plot.line(
                range(1, len(line.means) + 1),
                line.means,
                looks[n],
                name=f"curve-{name}",
            )
            bar = Look(looks[n].colour, 0.6)
            for k, (mean, error) in enumerate(
                zip(line.means, line.errors, strict=True), 1
            ):
                if error > 0:
                    span = mean - error, mean + error
                    plot.line((k, k), span, bar, name=f"error-{name}")
            for k, mean in enumerate(line.means, start=1):
                title = f"{line.label}, {k}: {significant(mean, 4)}"
                plot.mark(k, mean, looks[n], name=f"point-{name}-{k - 1}", title=title)
        top += _TOP + _HEIGHT + parts.FOOT
    return sheet.cut(top)
