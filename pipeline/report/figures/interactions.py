"""The figure of pairs: the strength of the interaction of every two features."""

from collections.abc import Sequence
from math import isfinite

from . import parts, typeface
from .drawing import AXIS, HAIR, INK, NAME, SMALL, WIDTH, Scale, Sheet

MOST = 12
_WIDEST, _HEIGHT = 16.0, 7.0  # most width of a cell, and its height, in millimetres
_NAMES = 46.0  # width of the last names, right of the cells
_STRIP = 60.0  # width of the colour key
_TOP = 0.6
# Black text has a contrast of at least 4.5 to 1 on every shade between these.
LIGHT, DARK = (255, 255, 255), (74, 140, 188)


def draw_interactions(
    names: Sequence[str],
    values: Sequence[Sequence[float]],
    texts: Sequence[Sequence[str]],
    *,
    axis_label: str,
) -> Sheet:
    """Return the strength of pairs as the lower triangle of a heat map of one hue.

    Each name is printed once, on the diagonal: at the right end of its row and at the
    head of its column. Darker is stronger, from white at 0; the strongest pair has a
    frame. Cells have their numbers if all of them fit.

    Parameters
    ----------
    names : sequence of str
        2 to 12 features.
    values, texts : sequence of sequence
        Row n has one number, not below 0, for each of the features before the n-th;
        NaN for a pair that was not measured. Texts are the same numbers as printed.
    axis_label : str
        Name and unit of the values.
    """
    side = min((WIDTH - _NAMES) / max(len(names) - 1, 1), _WIDEST)
    finite = [number for row in values for number in row if isfinite(number)]
    largest = max(finite, default=0.0)
    has_room = parts.widest(text for row in texts for text in row) <= side - 1.0
    room = WIDTH - side * (len(names) - 1) - 1.4
    short = typeface.shortened(names, room / parts.SLACK, NAME, lines=2)
    sheet, strongest = Sheet(), []
    for n, (name, lines) in enumerate(zip(names, short, strict=True)):
        y = _TOP + _HEIGHT * (n + 0.5)
        for m, (value, text) in enumerate(zip(values[n], texts[n], strict=True)):
            box = (side * m, side * (m + 1)), (y - _HEIGHT / 2, y + _HEIGHT / 2)
            face = tint(value / largest) if isfinite(value) and largest > 0 else "none"
            title, own = f"{names[m]}, {name}: {text}", f"pair-{n}-{m}"
            sheet.box(*box, face=face, edge=HAIR, width=0.5, name=own, title=title)
            if value == largest > 0:
                strongest.append((box, f"strongest-{n}-{m}"))
            if has_room or not isfinite(value):
                sheet.label(side * (m + 0.5), y, text, colour=INK, anchor="center")
        parts.put_name(sheet, lines, side * n + 1.4 * (n > 0), y)
    for box, name in strongest:  # above the edges of their neighbours
        sheet.box(*box, edge=INK, width=1.1, name=name)
    bottom = _TOP + _HEIGHT * len(names)
    if not largest > 0:
        return sheet.cut(bottom + 1.0)
    numbers, words = parts.fitting_ticks(Scale(0.0, largest, 0.0, _STRIP))
    left = typeface.width(words[0], SMALL) / 2  # the first tick text starts at 0
    scale, y = Scale(0.0, largest, left, _STRIP), bottom + 5.0
    parts.strip(sheet, scale, (y, y + 3.0), tint, is_upright=False)
    sheet.box((left, scale.right), (y, y + 3.0), edge=AXIS, width=0.5)
    parts.foot(sheet, scale, y + 3.0, numbers, words)
    parts.put_label(sheet, left, y + 10.6, axis_label)
    return sheet.cut(bottom + 18.6)


def tint(share: float) -> str:
    """Return the colour of a share of the largest value, 0 white to 1 blue."""
    mixed = (
        round(light + (dark - light) * min(max(share, 0.0), 1.0))
        for light, dark in zip(LIGHT, DARK, strict=True)
    )
    return "#" + "".join(f"{part:02x}" for part in mixed)
