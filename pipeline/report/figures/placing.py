"""Where words find room beside the curve they name: a search, no drawing."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import inf, isfinite
from typing import NamedTuple

_STEP = 1.0  # millimetres between two places tried
_HALF = 1.4  # half the height of a small line of text
_OWN = 0.8  # from a word to its own curve
_OTHER = 1.7  # to any other curve, so that nobody takes it for that one's name
_SOFT = 0.3  # to a line that cannot be mistaken

Curve = Sequence[tuple[float, float]]  # (x, y) in millimetres, x rising


class Area(NamedTuple):
    """The part of a panel that words may use, in millimetres; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float


class Place(NamedTuple):
    """The middle of a word, and how far the nearest other thing is."""

    x: float
    y: float
    room: float


def place_words(
    curves: Mapping[str, Curve],
    widths: Mapping[str, float],
    area: Area,
    *,
    soft: str = "",
) -> dict[str, Place]:
    """Return a place for each word beside the curve of that name, or nothing.

    Parameters
    ----------
    curves : mapping of str to sequence of (x, y)
        Every line of the panel, also those that get no word.
    widths : mapping of str to float
        The words, first come first served, and their widths in millimetres.
    area : Area
    soft : str, default ""
        A line that words may come close to, without touching it.
    """
    placed: dict[str, Place] = {}
    for word, width in widths.items():
        tried = _candidates(word, width, curves, area, soft)
        free = [at for at in tried if _is_free(at, width, placed, widths)]
        if not free:
            return {}
        placed[word] = max(free, key=lambda at: min(at.room, 6.0))
    return placed


def _candidates(
    word: str, width: float, curves: Mapping[str, Curve], area: Area, soft: str
) -> list[Place]:
    """Return the places above and below the curve, middle of the panel first."""
    middle = (area.left + area.right) / 2
    places = []
    for n in range(int((area.right - area.left - width) / 2 / _STEP) + 1):
        for x in {middle - n * _STEP, middle + n * _STEP}:
            span = x - width / 2 - 0.5, x + width / 2 + 0.5
            own = _reach(curves[word], *span)
            if own is None:
                continue
            for y in (own[0] - _OWN - _HALF, own[1] + _OWN + _HALF):
                room = _room(word, y, span, curves, soft)
                inside = area.top <= y - _HALF and y + _HALF <= area.bottom
                if inside and room >= 0.0:
                    places.append(Place(x, y, room))
    return places


def _room(
    word: str,
    y: float,
    span: tuple[float, float],
    curves: Mapping[str, Curve],
    soft: str,
) -> float:
    """Return how far a word at `y` is from the nearest curve, less what it needs."""
    room = inf
    for name, curve in curves.items():
        reach = None if name == word else _reach(curve, *span)
        if reach is not None:
            needed = _HALF + (_SOFT if soft in (name, word) else _OTHER)
            room = min(room, max(reach[0] - y, y - reach[1]) - needed)
    return room


def _reach(curve: Curve, left: float, right: float) -> tuple[float, float] | None:
    """Return the highest and the lowest point of a curve between two x, if any."""
    ys = [y for x, y in curve if left <= x <= right and isfinite(y)]
    for (x0, y0), (x1, y1) in pairwise(curve):
        for x in (left, right):
            if x0 <= x <= x1 and x0 < x1 and isfinite(y0) and isfinite(y1):
                ys.append(y0 + (x - x0) / (x1 - x0) * (y1 - y0))
    return (min(ys), max(ys)) if ys else None


def _is_free(
    at: Place, width: float, placed: Mapping[str, Place], widths: Mapping[str, float]
) -> bool:
    """Whether a word there overlaps none of those already placed."""
    return all(
        abs(at.x - other.x) > (width + widths[word]) / 2 + 1.0
        or abs(at.y - other.y) > 2 * _HALF
        for word, other in placed.items()
    )
