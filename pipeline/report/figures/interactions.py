"""The figure of pairs: how strongly each feature acts together with each other one."""

from collections.abc import Sequence
from itertools import pairwise
from math import isfinite

from . import parts, typeface
from .drawing import AXIS, HAIR, INK, NAME, SMALL, WIDTH, Scale, Sheet

MOST = 12
_WIDEST, _HEIGHT = 16.0, 7.0  # one square in millimetres
_NAMES = 46.0  # room that the last names keep right of the squares
_STRIP, _STEPS = 60.0, 40  # the key, and its shades
_TOP = 0.6
# Ink is readable on the darkest: 4.5 to 1 and more on every shade between.
LIGHT, DARK = (255, 255, 255), (74, 140, 188)


def draw_interactions(
    names: Sequence[str],
    values: Sequence[Sequence[float]],
    texts: Sequence[Sequence[str]],
    *,
    axis_label: str,
    salt: str,
) -> str:
    """Return the strength of pairs as squares of one hue, as an SVG.

    The square of two features stands left of the one and below the other: each name
    stands once, at the right end of its row and at the head of its column. Darker is
    stronger, from white at 0; the strongest is framed. Squares have their numbers
    where all of them fit.

    Parameters
    ----------
    names : sequence of str
        2 to 12 features.
    values : sequence of sequence of float
        Row n has one number, not below 0, for each of the features before the n-th;
        NaN for a pair that was not measured.
    texts : sequence of sequence of str
        The same numbers as printed.
    axis_label : str
        What the shades show, and its unit.
    salt : str
        The id of the figure; ids inside the file derive from it.

    Raises
    ------
    ValueError
        If there are no names or more than 12, or rows of other lengths.
    """
    parts.check(len(names), "The features of a figure of pairs", most=MOST)
    for matrix in (values, texts):
        if [len(row) for row in matrix] != list(range(len(names))):
            raise ValueError(
                "The rows of a figure of pairs must have one number for each feature "
                f"before theirs; they have {[len(row) for row in matrix]}."
            )
    side = min((WIDTH - _NAMES) / max(len(names) - 1, 1), _WIDEST)
    finite = [number for row in values for number in row if isfinite(number)]
    largest = max(finite, default=0.0)
    widest = max((typeface.width(t, SMALL) for row in texts for t in row), default=0.0)
    has_room = widest * parts.SLACK <= side - 1.0
    room = WIDTH - side * (len(names) - 1) - 1.4
    short = typeface.shortened(names, room / parts.SLACK, NAME, lines=2)
    sheet, strongest = Sheet(), []
    for n, (name, lines) in enumerate(zip(names, short, strict=True)):
        y = _TOP + _HEIGHT * (n + 0.5)
        for m, (value, text) in enumerate(zip(values[n], texts[n], strict=True)):
            face = tint(value / largest) if isfinite(value) and largest > 0 else "none"
            box = (side * m, side * (m + 1)), (y - _HEIGHT / 2, y + _HEIGHT / 2)
            sheet.box(
                *box,
                face=face,
                edge=HAIR,
                width=0.5,
                name=f"pair-{n}-{m}",
                title=f"{names[m]}, {name}: {text}",
            )
            if value == largest > 0:
                strongest.append((box, f"strongest-{n}-{m}"))
            if has_room or not isfinite(value):
                sheet.label(side * (m + 0.5), y, text, colour=INK, anchor="center")
        parts.put_name(sheet, lines, side * n + 1.4 * (n > 0), y)
    for box, name in strongest:  # above the edges of their neighbours
        sheet.box(*box, edge=INK, width=1.1, name=name)
    bottom = _TOP + _HEIGHT * len(names)
    if largest > 0:
        _put_key(sheet, largest, bottom + 5.0, axis_label)
    return sheet.svg(bottom + (18.6 if largest > 0 else 1.0), salt=salt)


def tint(share: float) -> str:
    """Return the colour of a share of the largest, 0 white to 1 blue."""
    mixed = (
        round(light + (dark - light) * min(max(share, 0.0), 1.0))
        for light, dark in zip(LIGHT, DARK, strict=True)
    )
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _put_key(sheet: Sheet, largest: float, y: float, label: str) -> None:
    """Draw the strip of shades with its numbers, and what they show below it."""
    numbers, texts = parts.fitting_ticks(Scale(0.0, largest, 0.0, _STRIP))
    left = typeface.width(texts[0], SMALL) / 2  # half of it stands left of the strip
    scale = Scale(0.0, largest, left, _STRIP)
    edges = [left + _STRIP * n / _STEPS for n in range(_STEPS + 1)]
    for n, span in enumerate(pairwise(edges)):
        face = tint((n + 0.5) / _STEPS)
        sheet.box(span, (y, y + 3.0), face=face, edge=face, width=0.25)
    sheet.box((left, scale.right), (y, y + 3.0), edge=AXIS, width=0.5)
    parts.foot(sheet, scale, y + 3.0, numbers, texts)
    parts.put_label(sheet, left, y + 10.6, label)
