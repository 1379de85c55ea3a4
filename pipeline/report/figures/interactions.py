"""The figure of pairs: the strength of the interaction of every two features."""

from collections.abc import Sequence
from math import isfinite

from . import parts, typeface
from .drawing import HAIR, INK, NAME, WIDTH, Sheet

MOST = 12
_WIDEST, _HEIGHT = 16.0, 7.0  # most width of a cell, and its height, in millimetres
_NAMES = 46.0  # width of the last names, right of the cells
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
    frame.

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
    side = max(side, parts.widest(text for row in texts for text in row) + 1.0)
    finite = [number for row in values for number in row if isfinite(number)]
    largest = max(finite, default=0.0)
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
            sheet.label(side * (m + 0.5), y, text, colour=INK, anchor="center")
        parts.put_name(sheet, lines, side * n + 1.4 * (n > 0), y)
    for box, name in strongest:  # above the edges of their neighbours
        sheet.box(*box, edge=INK, width=1.1, name=name)
    bottom = _TOP + _HEIGHT * len(names)
    parts.put_label(sheet, 0.0, bottom + 3.2, axis_label)
    return sheet.cut(bottom + 6.0)


def tint(share: float) -> str:
    """Return the colour of a share of the largest value, 0 white to 1 blue."""
    mixed = (
        round(light + (dark - light) * min(max(share, 0.0), 1.0))
        for light, dark in zip(LIGHT, DARK, strict=True)
    )
    return "#" + "".join(f"{part:02x}" for part in mixed)
