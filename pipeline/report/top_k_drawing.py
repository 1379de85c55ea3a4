"""The figure of top-k error curves: a loss over the number of features, by ranking."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from pipeline.report import figure_parts as parts
from pipeline.report import typeface
from pipeline.report.drawing import (
    AXIS,
    BLUE,
    GRID,
    INK,
    SMALL,
    SOFT,
    WIDTH,
    Scale,
    Sheet,
    limits,
    tick_texts,
    ticks,
)

STYLES = (
    *((BLUE, "o", ()), (INK, "s", ()), (AXIS, "D", ())),
    *((BLUE, "v", (4.0, 2.0)), (INK, ">", (4.0, 2.0)), (AXIS, "<", (4.0, 2.0))),
)
"""Colour, mark and dashes of each line: told apart without colour too."""
_TOP, _HEIGHT, _LEFT, _KEY = 4.4, 62.0, 16.0, 54.0
_ASIDE = 0.9  # from one line to the next, so that their error bars stand apart


@dataclass(frozen=True)
class TopKLine:
    """The curve of one ranking.

    Attributes
    ----------
    label : str
    means, errors : tuple of float
        Of the loss with the first feature, the first two, and so on.
    """

    label: str
    means: tuple[float, ...]
    errors: tuple[float, ...]


def top_k(
    lines: Sequence[TopKLine],
    *,
    axis_label: str,
    head: str,
    salt: str,
    steps: Sequence[str] = (),
) -> str:
    """Return the loss of one model over the features it is fitted to, as an SVG.

    Parameters
    ----------
    lines : sequence of TopKLine
        One per ranking, drawn with bars of one error up and down.
    axis_label, head : str
        What stands below the plot, of features, and above it, of the loss.
    salt : str
        The id of the figure; ids inside the file derive from it.
    steps : sequence of str
        What stands below each place; by default 1, 2, 3, ….

    Raises
    ------
    ValueError
        If there are no lines, or more than 6.
    """
    parts.check(len(lines), "The lines of a top-k figure", most=len(STYLES))
    most = max(len(line.means) for line in lines)
    x = Scale(0.5, most + 0.5, _LEFT, WIDTH - _LEFT - _KEY)
    seen = [
        mean + sign * error
        for line in lines
        for mean, error in zip(line.means, line.errors, strict=True)
        for sign in (-1, 0, 1)
    ]
    y = Scale(*limits(seen), _TOP + _HEIGHT, -_HEIGHT)

    sheet = Sheet()
    _axes(sheet, x, y, steps or [str(step) for step in range(1, most + 1)])
    parts.put_label(sheet, 0.0, _TOP / 2 - 0.6, head)
    parts.put_label(sheet, x.left, _TOP + _HEIGHT + 7.6, axis_label)
    for n, line in enumerate(lines):
        _draw(sheet, (x, y), line, n, aside=_ASIDE * (n - (len(lines) - 1) / 2))
    return sheet.svg(_TOP + _HEIGHT + parts.FOOT, salt=salt)


def _axes(sheet: Sheet, x: Scale, y: Scale, texts: Sequence[str]) -> None:
    numbers = ticks(y.low, y.high, most=7)
    places = [y.at(number) for number in numbers]
    sheet.levels((x.left, x.right), places, colour=GRID, width=0.5)
    for place, text in zip(places, tick_texts(numbers), strict=True):
        sheet.text(x.left - 1.2, place, text, size=SMALL, colour=SOFT, anchor="right")
    every = slice(None, None, 1 + len(texts) // 25)
    parts.foot(sheet, x, y.left, range(1, len(texts) + 1)[every], texts[every])


def _draw(
    sheet: Sheet, scales: tuple[Scale, Scale], line: TopKLine, n: int, *, aside: float
) -> None:
    """Draw one line with its bars and marks, and its row of the key."""
    x, y = scales
    colour, shape, dashes = STYLES[n]
    across = [x.at(k) + aside for k in range(1, len(line.means) + 1)]
    up = [y.at(mean) for mean in line.means]
    sheet.line(across, up, colour=colour, width=0.9, dashes=dashes, name=f"curve-{n}")
    for place, mean, error in zip(across, line.means, line.errors, strict=True):
        if isfinite(mean) and isfinite(error) and error > 0:
            ends = (y.at(mean - error), y.at(mean + error))
            sheet.line((place, place), ends, colour=colour, name=f"error-{n}")
    for k, place in enumerate(across):
        if isfinite(up[k]):
            sheet.mark(place, up[k], shape, colour=colour, name=f"point-{n}-{k}")
    left, row = x.right + 5.0, _TOP + 3.0 + 5.0 * n
    sheet.mark(left, row, shape, colour=colour)
    room = (WIDTH - left - 2.5) / parts.SLACK
    ((label,),) = typeface.shortened([line.label], room, SMALL)
    tint = parts.word_colour(colour)
    sheet.text(left + 2.5, row, label, size=SMALL, colour=tint)
