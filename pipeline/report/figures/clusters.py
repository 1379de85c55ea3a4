"""The figure of clusters: a tree of the features, and their ranking in its order."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from . import parts, typeface
from .drawing import (
    AXIS,
    BLUE,
    DOTTED,
    HAIR,
    INK,
    SMALL,
    SOFT,
    WIDTH,
    Scale,
    Sheet,
    limits,
)

CLUSTER = "#eef2f5"
_TREE = Scale(0.0, 1.0, 1.2, 30.8)  # millimetres; the leaves stand at its right end
_NAMES = 36.0
_WIDEST = 50.0
_ROOM = 20.0  # what a page needs beside the rows


@dataclass(frozen=True)
class ClusterRow:
    """One row: a feature, or those of a cluster asked together.

    Attributes
    ----------
    name : str
    estimate, low, high : float
        NaN where it was not measured; `low` and `high` as in `RankingRow`.
    text : str
        The estimate as printed.
    cluster : int
        Which cluster it belongs to, from 0; -1 if to none.
    is_together : bool
        Whether it is the members of its cluster, asked together.
    title : str
        What the row tells under the pointer.
    """

    name: str
    estimate: float
    low: float
    high: float
    text: str
    cluster: int = -1
    is_together: bool = False
    title: str = ""


@dataclass(frozen=True)
class Join:
    """Where two branches meet.

    Attributes
    ----------
    ends : (float, float)
        The rows of both branches, counted from 0 among the features.
    strengths : (float, float)
        The association at which either branch was joined: 1 for a feature.
    strength : float
        That at which they meet.
    """

    ends: tuple[float, float]
    strengths: tuple[float, float]
    strength: float


@dataclass(frozen=True)
class ClusterWords:
    """What stands on the dotted line, below both axes, on the baseline, at the values.

    `unit`, `baseline` and `value` are those of `figures.ranking`.
    """

    limit: str
    tree: str
    unit: str
    baseline: str
    value: str


def draw_clusters(
    rows: Sequence[ClusterRow],
    *,
    joins: Sequence[Join],
    limit: float,
    baseline: float,
    words: ClusterWords,
    salt: str,
) -> str:
    """Return which features go together, and their ranking beside, as an SVG.

    The tree is read from its leaves at the right to the association at which branches
    meet; what meets at the dotted limit or above is drawn in ink. A dot is a feature
    alone, a diamond the members of a cluster together.

    Parameters
    ----------
    rows : sequence of ClusterRow
        In the order of the tree.
    joins : sequence of Join
    limit : float
        Where the dotted line stands; NaN for none.
    baseline : float
    words : ClusterWords
    salt : str
        The id of the figure; ids inside the file derive from it.

    Raises
    ------
    ValueError
        If there are fewer than 2 features or more than 40.
    """
    leaves = [row for row in rows if not row.is_together]
    parts.check(len(leaves), "The features of a tree")
    column = parts.name_column([row.name for row in rows], widest=_WIDEST)
    column = column._replace(pitch=min(column.pitch, (parts.PAGE - _ROOM) / len(rows)))
    right = WIDTH - parts.value_column([*(row.text for row in rows), words.value])
    numbers = [number for row in rows for number in (row.estimate, row.low, row.high)]
    ends = limits(numbers, include=(baseline,))
    scale = Scale(*ends, _NAMES + column.plot, right - _NAMES - column.plot)
    span = (parts.HEAD, parts.HEAD + column.height)
    places = column.places(span[0])

    sheet = Sheet()
    _shade(sheet, rows, places, column.pitch, (_NAMES - 1.5, WIDTH))
    heights = [y for row, y in zip(rows, places, strict=True) if not row.is_together]
    _tree(sheet, joins, heights, limit)
    if isfinite(limit):
        x = _TREE.at(limit)
        sheet.line((x, x), span, dashes=DOTTED, width=0.8, name="limit")
        half = typeface.width(words.limit, SMALL) * parts.SLACK / 2
        left = max(min(x, _NAMES - half) - half, 0.0)
        sheet.text(left, span[0] - 2.0, words.limit, size=SMALL, colour=SOFT)
    parts.foot(sheet, _TREE, span[1], (0.0, 0.5, 1.0), ("0", "0.5", "1"))
    parts.put_label(sheet, 0.0, span[1] + 7.6, words.tree, right=scale.left - 4.0)
    parts.axis(sheet, scale, span, label=words.unit)
    parts.put_names(sheet, column, span[0], left=_NAMES)
    for n, (row, y) in enumerate(zip(rows, places, strict=True)):
        _row(sheet, row, scale, y, baseline, name=f"estimate-{n}")
        parts.tell(sheet, scale, (y, column.pitch), row.title)
    parts.baseline(sheet, scale.at(baseline), span, words.baseline, right=right)
    parts.put_value_label(sheet, words.value, span[0])
    return sheet.svg(span[1] + parts.FOOT, salt=salt)


def _shade(
    sheet: Sheet,
    rows: Sequence[ClusterRow],
    places: Sequence[float],
    pitch: float,
    ends: tuple[float, float],
) -> None:
    """Shade the rows of each cluster from the names to the values."""
    for cluster in sorted({row.cluster for row in rows} - {-1}):
        inside = [
            y for row, y in zip(rows, places, strict=True) if row.cluster == cluster
        ]
        span = inside[0] - pitch / 2 + 0.3, inside[-1] + pitch / 2 - 0.3
        sheet.box(ends, span, face=CLUSTER, name=f"cluster-{cluster}")


def _tree(
    sheet: Sheet, joins: Sequence[Join], heights: Sequence[float], limit: float
) -> None:
    """Draw each join as a bracket that opens to its two branches."""

    def at(place: float) -> float:
        """Return the height of a place between two rows."""
        low = min(int(place), len(heights) - 2)
        return heights[low] + (place - low) * (heights[low + 1] - heights[low])

    for n, join in enumerate(joins):
        first, second = (_TREE.at(strength) for strength in join.strengths)
        x, (above, below) = _TREE.at(join.strength), map(at, join.ends)
        strong = join.strength >= limit
        look = {"colour": INK, "width": 1.4} if strong else {"colour": AXIS}
        path = (first, x, x, second), (above, above, below, below)
        sheet.line(*path, name=f"join-{n}", **look)  # type: ignore[arg-type]


def _row(
    sheet: Sheet,
    row: ClusterRow,
    scale: Scale,
    y: float,
    baseline: float,
    *,
    name: str,
) -> None:
    """Draw the mark of one row, its interval, and its number at the right edge."""
    colour, shape = (INK, "D") if row.is_together else (BLUE, "o")
    if isfinite(row.estimate):
        x = scale.at(row.estimate)
        sheet.line((scale.at(baseline), x), (y, y), colour=HAIR, width=0.7)
        parts.interval(sheet, scale, y, (row.low, row.high), colour=colour)
        sheet.mark(x, y, shape, colour=colour, name=name)
    parts.beyond(sheet, scale, y, row.estimate, colour=colour)
    tint = INK if isfinite(row.estimate) else SOFT
    sheet.text(WIDTH, y, row.text, colour=tint, anchor="right")
