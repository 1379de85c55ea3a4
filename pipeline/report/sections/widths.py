"""How wide the columns of a ranking are, in shares of a page of about 120."""

from collections.abc import Iterable, Sequence

from ..text.number_text import number
from .rankings import Ranking

BARS, ALONE, NARROW = 15.0, 34.0, 11.0
"""Bars beside intervals, bars beside nothing, bars beside answers of others too."""
WORDS = (9.0, 20.0)
NAMES = (14.0, 30.0)


def of_numbers(ranking: Ranking) -> float:
    """Return the width of a column of numbers: the longest, and a gap before it."""
    every = (*ranking.mean, *ranking.low, *ranking.high)
    longest = max((len(number(float(one), ranking.places)) for one in every), default=0)
    return max(8.0, 1.05 * longest + 2.4)


def of_bars(ranking: Ranking) -> float:
    """Return the width of the column of bars: what the numbers leave."""
    if not ranking.is_drawn:
        return ALONE
    return NARROW if len(ranking.others) > 1 else BARS


def of_names(names: Sequence[str]) -> float:
    """Return the width of the column of names: enough for the longest, in reason."""
    return _within(NAMES, 1.3 * max(map(len, names)))


def of_words(words: Iterable[str]) -> float:
    """Return the width of a last column of words: none is cut, in reason."""
    return _within(WORDS, 1.15 * max(map(len, words)) + 2.4)


def _within(limits: tuple[float, float], wanted: float) -> float:
    return min(max(wanted, limits[0]), limits[1])
