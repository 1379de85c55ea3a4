"""The figure of a history: the verdict of each run, and small lines of its leaders."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan

from . import parts, typeface
from .drawing import AXIS, BLUE, GRID, HAIR, RED, SMALL, SOFT, WIDTH, Scale, Sheet

MARKS = {
    "confirmed": ("o", BLUE, 4.2),
    "confirmed with exceptions": ("D", BLUE, 3.6),
    "not cross-checked": ("d", AXIS, 4.0),
    "not confirmed": ("s", RED, 4.2),
    "not established": ("O", AXIS, 4.0),
    "": ("x", RED, 4.0),
}
"""Shape, colour and size of each verdict; "" is an attempt that left no run."""
MOST_RUNS = 60
"""More stand too close to be told apart."""
_TOP = 16.0  # from the upper edge to the first line: key and verdicts
_PITCH = 11.0  # from line to line
_FILLED = 0.82  # of the pitch, by the line that moves most
_DOTS = 30  # most runs whose estimates are dots


@dataclass(frozen=True)
class LeaderLine:
    """One feature over the runs; NaN where a run did not measure it alike.

    Attributes
    ----------
    values, low, high : tuple of float
        Estimate and the ends of its interval, one per run.
    text : str
        The newest estimate as text.
    """

    values: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    text: str = ""


def draw_history(
    lines: Sequence[LeaderLine],
    *,
    names: Sequence[str],
    verdicts: Sequence[str],
    words: Sequence[str],
    days: Sequence[str],
    head: tuple[str, str],
    baseline: tuple[int, str] | None,
    salt: str,
) -> str:
    """Return verdicts and leaders over the runs of an audit, as an SVG.

    Runs stand evenly, oldest on the left. All lines have one scale, so that equal
    heights are equal differences; each stands about its own middle. A light upright is
    the interval of its run.

    Parameters
    ----------
    lines : sequence of LeaderLine
    names : sequence of str
        Of the lines.
    verdicts : sequence of str
        One per run: a key of `MARKS`.
    words : sequence of str
        What those keys are called, in the order of `MARKS`.
    days : sequence of str
        One per run.
    head : (str, str)
        What stands above the names and above the newest estimates.
    baseline : (int, str), optional
        Which run is the approved baseline, and the word for it.
    salt : str
        The id of the figure; ids inside the file derive from it.

    Raises
    ------
    ValueError
        If there are no runs or more than 60, or more than 40 lines.
    """
    parts.check(len(verdicts), "The runs of a history", most=MOST_RUNS)
    parts.check(max(len(lines), 1), "The lines of a history")
    column = parts.name_column([*names, head[0]], pitch=_PITCH)
    right = parts.value_column([*(line.text for line in lines), head[1]])
    wide = WIDTH - column.plot - right - 4.0
    room = wide / (2 * len(verdicts))
    scale = Scale(
        0.0, max(len(verdicts) - 1.0, 1.0), column.plot + room, wide - 2 * room
    )
    bottom = _TOP + _PITCH * len(lines)

    sheet = Sheet()
    sheet.levels(
        (column.plot, column.plot + wide),
        [_TOP + _PITCH * n for n in range(len(lines) + 1)],
        colour=GRID,
        width=0.5,
    )
    if baseline is not None:
        _baseline(sheet, scale, baseline, bottom)
    _verdicts(sheet, scale, verdicts, words, head[0])
    unit = _height_of_one(lines)
    for n, line in enumerate(lines):
        middle = _TOP + _PITCH * (n + 0.5)
        parts.put_name(sheet, column.names[n], 0.0, middle)
        _line(sheet, scale, line, middle, unit, f"line-{n}")
        sheet.text(WIDTH, middle, line.text, anchor="right")
    if lines:
        parts.put_value_label(sheet, head[1], _TOP)
    _days(sheet, scale, days, bottom)
    return sheet.svg(bottom + 6.0, salt=salt)


def _height_of_one(lines: Sequence[LeaderLine]) -> float:
    """Return the millimetres of one unit: the line that moves most fills its row."""
    ranges = [
        max(numbers) - min(numbers) for line in lines if (numbers := _finite(line))
    ]
    most = max(ranges, default=0.0)
    return _FILLED * _PITCH / most if most > 0 else 0.0


def _finite(line: LeaderLine) -> list[float]:
    every = (*line.values, *line.low, *line.high)
    return [number for number in every if isfinite(number)]


def _line(
    sheet: Sheet, scale: Scale, line: LeaderLine, middle: float, unit: float, name: str
) -> None:
    numbers = _finite(line)
    if not numbers:
        return
    centre = (max(numbers) + min(numbers)) / 2

    def y(number: float) -> float:
        return middle - unit * (number - centre) if isfinite(number) else nan

    for n, ends in enumerate(zip(line.low, line.high, strict=True)):
        if isfinite(ends[0]) and isfinite(ends[1]):
            x = scale.at(n)
            sheet.line((x, x), (y(ends[0]), y(ends[1])), colour=BLUE, width=0.7)
    places = [scale.at(n) for n in range(len(line.values))]
    heights = [y(number) for number in line.values]
    sheet.line(places, heights, colour=BLUE, width=1.0, name=name)
    for n, height in enumerate(heights):
        alone = len(heights) <= _DOTS or _is_alone(heights, n)
        if alone and isfinite(height):
            sheet.mark(places[n], height, "o", size=3.0)


def _is_alone(heights: Sequence[float], n: int) -> bool:
    """Return whether a line has no neighbour to lead to, and would not be seen."""
    beside = heights[max(n - 1, 0) : n + 2]
    return sum(map(isfinite, beside)) == 1


def _verdicts(
    sheet: Sheet, scale: Scale, verdicts: Sequence[str], words: Sequence[str], head: str
) -> None:
    """Draw one mark per run above the lines, and what the marks mean above these."""
    sheet.text(0.0, _TOP - 4.6, head, size=SMALL, colour=SOFT)
    size = 1.0 if len(verdicts) <= _DOTS else 0.72
    for n, verdict in enumerate(verdicts):
        shape, colour, wide = MARKS[verdict]
        sheet.mark(scale.at(n), _TOP - 4.6, shape, colour=colour, size=wide * size)
    there = [
        (*MARKS[verdict], word)
        for verdict, word in zip(MARKS, words, strict=True)
        if verdict in verdicts
    ]
    parts.key(sheet, there, WIDTH, 2.4)


def _baseline(
    sheet: Sheet, scale: Scale, baseline: tuple[int, str], bottom: float
) -> None:
    x = scale.at(baseline[0])
    sheet.line((x, x), (_TOP - 7.4, bottom), colour=HAIR, width=3.0, name="baseline")


def _days(sheet: Sheet, scale: Scale, days: Sequence[str], bottom: float) -> None:
    """Write the days of some runs below the lines, the last one always."""
    wide = max(typeface.width(day, SMALL) for day in days) * parts.SLACK + 3.0
    last = len(days) - 1
    step = next(
        (s for s in (1, 2, 5, 10, 20, 50) if s * (scale.at(1) - scale.at(0)) >= wide),
        len(days),
    )
    for n in range(last, -1, -step):
        x = scale.at(n)
        sheet.uprights([x], (bottom, bottom + 0.9), colour=AXIS)
        left = min(x, WIDTH - typeface.width(days[n], SMALL) / 2)
        sheet.text(
            left, bottom + 3.4, days[n], size=SMALL, colour=SOFT, anchor="center"
        )
