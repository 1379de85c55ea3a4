"""The figure of top-k error curves: a loss over the number of features, by ranking."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from math import isfinite
from typing import TypeAlias

from ..text.number_text import significant
from . import parts
from .drawing import SERIES, WIDTH, Look, Scale, Sheet, limits

MOST_LINES = len(SERIES)
"""Most rankings that one figure tells apart."""
_TOP, _HEIGHT, _LEFT = 4.4, 62.0, 16.0
_ASIDE = 0.9  # from one line to the next, so that their error bars stand apart
_HEAD = 8.0  # of a panel that is named


@dataclass(frozen=True)
class TopKLine:
    """One ranking: mean and error of the loss with the first feature, two, …"""

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
    steps: Sequence[str] = (),
) -> Sheet:
    """Return the loss of one model over the features it is fitted to.

    Panels stand one below the other on one scale of losses; a ranking, of at most
    `MOST_LINES`, has the same look in all of them, and bars are one error up and down.
    `axis_label` stands below each plot, `head` above it; `steps` are what stands below
    each place, by default 1, 2, 3, ….
    """
    every = [line for _, lines in panels for line in lines]
    labels = tuple(dict.fromkeys(line.label for line in every))
    most = max(len(line.means) for line in every)
    looks = {
        label: look._replace(width=0.9)  # no ranking leads
        for label, look in zip(labels, SERIES, strict=False)
    }
    x = Scale(0.5, most + 0.5, _LEFT, WIDTH - _LEFT)
    losses = [
        loss
        for line in every
        for mean, error in zip(line.means, line.errors, strict=True)
        for loss in (mean - error, mean, mean + error)
    ]
    ends = limits(losses)
    texts = steps or [str(step) for step in range(1, most + 1)]
    shown = slice(None, None, 1 + len(texts) // 25)
    ticks = range(1, len(texts) + 1)[shown], texts[shown]
    sheet = Sheet()
    top = parts.key(sheet, [*looks.items()])
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
            aside = _ASIDE * (n - (len(labels) - 1) / 2)
            across = x._replace(left=x.left + aside)
            _put_line(sheet, across, y, line, looks[line.label], f"{row}-{n}")
        top += _TOP + _HEIGHT + parts.FOOT
    return sheet.cut(top)


def _put_line(
    sheet: Sheet, x: Scale, y: Scale, line: TopKLine, look: Look, name: str
) -> None:
    """Draw one line with its bars and marks."""
    points = list(zip(map(x.at, count(1)), line.means, line.errors, strict=False))
    across, up = [place for place, _, _ in points], [y.at(mean) for mean in line.means]
    sheet.line(across, up, look, name=f"curve-{name}")
    for place, mean, error in points:
        if isfinite(mean) and isfinite(error) and error > 0:
            ends = (y.at(mean - error), y.at(mean + error))
            bar = Look(look.colour, 0.6)
            sheet.line((place, place), ends, bar, name=f"error-{name}")
    for k, (place, mean, _) in enumerate(points):
        if isfinite(mean):
            title = f"{line.label}, {k + 1}: {significant(mean, 4)}"
            sheet.mark(place, y.at(mean), look, name=f"point-{name}-{k}", title=title)
