"""Where the words of a figure of effects stand: beside the curves, if there is room."""

from collections.abc import Mapping, Sequence

from . import figure_parts as parts
from . import typeface
from .drawing import SMALL
from .effect_panels import REFERENCE, NumberPanel
from .placing import Area, Place, place_words


def best_words(
    numbers: Sequence[NumberPanel], words: Mapping[str, str]
) -> dict[str, Place]:
    """Return places for words, by label; empty if there is not room for all.

    The words of the curves stand in the panel that leaves them most room, that of
    the reference in the first other panel where it fits.
    """
    if len(numbers) == 1:
        return _find_words(numbers[0], words)
    curves = {label: text for label, text in words.items() if label != REFERENCE}
    line = {label: text for label, text in words.items() if label == REFERENCE}
    found = [_find_words(number, curves) for number in numbers]
    best = max(range(len(found)), key=lambda n: _least_room(found[n]), default=-1)
    rest = [number for n, number in enumerate(numbers) if n != best or not curves]
    lines = [places for number in rest if (places := _find_words(number, line))]
    both = {**(found[best] if found else {}), **(lines[0] if lines else {})}
    return both if set(both) == set(words) else {}


def _least_room(places: Mapping[str, Place]) -> float:
    return min((min(place.room, 6.0) for place in places.values()), default=-1.0)


def _find_words(number: NumberPanel, words: Mapping[str, str]) -> dict[str, Place]:
    curves = {curve.label: number.points(curve) for curve in number.panel.curves}
    curves |= {f"{REFERENCE}{n}": line for n, line in enumerate(number.straight())}
    if number.axis.reference is not None:
        level = number.y.at(number.axis.reference)
        curves[REFERENCE] = [(number.x.left, level), (number.x.right, level)]
    if set(words) - set(curves):
        return {}
    widths = {
        label: typeface.width(text, SMALL, bold=not n) * parts.SLACK
        for n, (label, text) in enumerate(words.items())
    }
    floor = number.y.at(number.axis.floor)
    area = Area(number.x.left, number.y.right, number.x.right, floor)
    return place_words(curves, widths, area, soft=REFERENCE)
