"""The figure of a history: the verdict of each run, and curves of leading features."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from . import parts, typeface
from .drawing import AXIS, BLUE, HAIR, RED, SMALL, WIDTH, Look, Scale, Sheet

MARKS = {
    "confirmed": Look(BLUE, 0.0, (), "o", 4.2),
    "confirmed with exceptions": Look(BLUE, 0.0, (), "D", 3.6),
    "not cross-checked": Look(AXIS, 0.0, (), "d", 4.0),
    "not confirmed": Look(RED, 0.0, (), "s", 4.2),
    "not established": Look(AXIS, 0.0, (), "O", 4.0),
    "": Look(RED, 0.0, (), "x", 4.0),
}
"""The mark of each verdict; "" is an attempt that produced no run."""
MOST_RUNS = 60
"""Marks of more runs would overlap."""
_ABOVE = 11.8  # from the key to the first row: the verdicts
_PITCH = 11.0  # from row to row
_FILLED = 0.82  # share of the pitch that the curve with the widest range takes
_DOTS = 30  # most runs with a dot at each estimate


@dataclass(frozen=True)
class LeaderLine:
    """One feature: estimate and interval in each run, and the newest estimate as text.

    NaN for a run that did not measure the feature in the same way.
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
) -> Sheet:
    """Return verdicts and leading features over the runs of an audit.

    Runs are evenly spaced, oldest on the left. All curves have one scale, so that equal
    heights are equal differences; each is centred on the middle of its own range. A
    thin vertical line is the interval of a run.

    Parameters
    ----------
    lines, names : sequence
        The leading features, at most 40, and their names.
    verdicts, days : sequence of str
        One per run, at most 60: a key of `MARKS`, and the day of the run.
    words : sequence of str
        The verdicts as printed in the key, in the order of `MARKS`.
    head : (str, str)
        The heads of the names and of the newest estimates.
    baseline : (int, str), optional
        Index of the approved baseline run, and the word for it.
    """
    n_runs = len(verdicts)
    column = parts.name_column([*names, head[0]], pitch=_PITCH)
    left, texts = column.plot, [*(line.text for line in lines), head[1]]
    wide = WIDTH - left - parts.value_column(texts) - 4.0
    room = wide / (2 * n_runs)
    x = Scale(0.0, max(n_runs - 1.0, 1.0), left + room, wide - 2 * room)
    called = zip(MARKS.items(), words, strict=True)
    sheet = Sheet()
    top = _ABOVE + parts.key(
        sheet, [(word, look) for (key, look), word in called if key in verdicts]
    )
    bottom = top + _PITCH * len(lines)
    edges = [top + _PITCH * n for n in range(len(lines) + 1)]
    sheet.levels((left, left + wide), edges)
    if baseline is not None:
        span = top - 7.4, bottom
        sheet.uprights([x.at(baseline[0])], span, Look(HAIR, 3.0), name="baseline")
    sheet.label(0.0, top - 4.6, head[0])
    size = 1.0 if n_runs <= _DOTS else 0.72
    for n, verdict in enumerate(verdicts):
        look = MARKS[verdict]
        sheet.mark(x.at(n), top - 4.6, look._replace(size=look.size * size))
    # All rows have the scale of the curve with the widest range.
    ends = []
    for line in lines:
        numbers = [*filter(isfinite, (*line.values, *line.low, *line.high))]
        ends.append((min(numbers, default=0.0), max(numbers, default=0.0)))
    most = max((high - low for low, high in ends), default=0.0) or 1.0
    for n, (line, (low, high)) in enumerate(zip(lines, ends, strict=True)):
        middle = top + _PITCH * (n + 0.5)
        parts.put_name(sheet, column.names[n], 0.0, middle)
        centre = (low + high) / 2
        plot = parts.Plot(
            sheet, x, Scale(centre, centre + most, middle, -_FILLED * _PITCH)
        )
        for run, interval in enumerate(zip(line.low, line.high, strict=True)):
            plot.line((run, run), interval, Look(BLUE, 0.7))
        plot.line(range(n_runs), line.values, Look(BLUE, 1.0), name=f"line-{n}")
        for run, value in enumerate(line.values):
            around = line.values[max(run - 1, 0) : run + 2]
            # A value without neighbours has no line: without a dot it is invisible.
            if n_runs <= _DOTS or sum(map(isfinite, around)) == 1:
                plot.mark(run, value, Look(size=3.0))
        sheet.text(WIDTH, middle, line.text, anchor="right")
    if lines:
        parts.put_value_label(sheet, head[1], top)
    # As many days as fit, always that of the last run.
    wide = parts.widest(days) + 3.0
    has_room = (s for s in (1, 2, 5, 10, 20, 50) if s * (x.at(1) - x.at(0)) >= wide)
    for n in range(len(days) - 1, -1, -next(has_room, len(days))):
        at = x.at(n)
        sheet.uprights([at], (bottom, bottom + 0.9), parts.THIN)
        middle = min(at, WIDTH - typeface.width(days[n], SMALL) / 2)
        sheet.label(middle, bottom + 3.4, days[n], anchor="center")
    return sheet.cut(bottom + 6.0)
