"""The figure of clusters: a tree of the features, and their ranking in its order."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from . import parts, typeface
from .drawing import AXIS, BLUE, DOTTED, INK, SMALL, WIDTH, Scale, Sheet
from .ranking import Estimate, estimate_scale, put_estimate

CLUSTER = "#eef2f5"
_TREE = Scale(0.0, 1.0, 1.2, 30.8)  # millimetres; the leaves stand at its right end
_NAMES = 36.0
_WIDEST = 50.0
_ROOM = 20.0  # what a page needs beside the rows


@dataclass(frozen=True)
class ClusterRow(Estimate):
    """One row: a feature, or those of a cluster asked together.

    Its numbers are NaN where it was not measured.

    Attributes
    ----------
    cluster : int
        Which cluster it belongs to, from 0; -1 if to none.
    is_together : bool
        Whether it is the members of its cluster, asked together.
    title : str
        What the row tells under the pointer.
    """

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
    parts.check(sum(not row.is_together for row in rows), "The features of a tree")
    column = parts.name_column([row.name for row in rows], widest=_WIDEST)
    column = column._replace(pitch=min(column.pitch, (parts.PAGE - _ROOM) / len(rows)))
    scale = estimate_scale(rows, _NAMES + column.plot, words.value, baseline)
    span = (parts.HEAD, parts.HEAD + column.height)
    places = column.places(span[0])
    sheet = Sheet()
    for cluster in sorted({row.cluster for row in rows} - {-1}):
        inside = [
            y for row, y in zip(rows, places, strict=True) if row.cluster == cluster
        ]
        half = column.pitch / 2 - 0.3
        shaded = inside[0] - half, inside[-1] + half
        name = f"cluster-{cluster}"
        sheet.box((_NAMES - 1.5, WIDTH), shaded, face=CLUSTER, name=name)
    leaves = [y for row, y in zip(rows, places, strict=True) if not row.is_together]
    _put_tree(sheet, joins, leaves, limit)
    if isfinite(limit):
        x = _TREE.at(limit)
        sheet.line((x, x), span, dashes=DOTTED, width=0.8, name="limit")
        half = typeface.width(words.limit, SMALL) * parts.SLACK / 2
        left = max(min(x, _NAMES - half) - half, 0.0)
        sheet.label(left, span[0] - 2.0, words.limit)
    parts.foot(sheet, _TREE, span[1], (0.0, 0.5, 1.0), ("0", "0.5", "1"))
    parts.put_label(sheet, 0.0, span[1] + 7.6, words.tree, right=scale.left - 4.0)
    slot = parts.Slot(scale.left, span[0], scale.right)
    parts.put_plot(sheet, column, scale, slot, label=words.unit, names_at=_NAMES)
    for n, (row, y) in enumerate(zip(rows, places, strict=True)):
        mark = (INK, "D") if row.is_together else (BLUE, "o")
        put_estimate(sheet, row, scale, y, baseline, f"estimate-{n}", mark=mark)
        parts.tell(sheet, scale, (y, column.pitch), row.title)
    parts.baseline(sheet, scale, baseline, span, words.baseline)
    parts.put_value_label(sheet, words.value, span[0])
    return sheet.svg(span[1] + parts.FOOT, salt=salt)


def _put_tree(
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
        colour, width = (INK, 1.4) if join.strength >= limit else (AXIS, 0.6)
        xs, ys = (first, x, x, second), (above, above, below, below)
        sheet.line(xs, ys, colour=colour, width=width, name=f"join-{n}")
