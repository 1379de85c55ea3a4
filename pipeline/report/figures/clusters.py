"""The figure of clusters: the dendrogram of the features, and their ranking."""

from collections.abc import Sequence
from math import isnan
from typing import Any, TypeAlias

import numpy as np

from . import parts
from .drawing import DOTTED, INK, WIDTH, Look, Scale, Sheet
from .parts import Row
from .ranking import draw_ranking

CLUSTER = "#eef2f5"
_TREE = Scale(0.0, 1.0, 1.2, 30.8)  # millimetres; the leaves are at its right end
_NAMES = 36.0
_WIDEST = 50.0
_ROOM = 20.0  # height of the figure without its rows


Join: TypeAlias = tuple[Sequence[float], Sequence[float]]
"""A bracket of the dendrogram by its four corners, from branch to branch: their rows,
counted from 0, and their associations (1 at the leaf of a single feature)."""


def draw_clusters(
    rows: Sequence[Row],
    *,
    joins: Sequence[Join],
    limit: float,
    limit_label: str,
    tree_label: str,
    **ranking: Any,
) -> Sheet:
    """Return the dendrogram of the features, and to its right their `ranking`.

    Rows are in the order of the dendrogram. Its leaves are at the right; branches meet
    at their association, and those that meet at the dotted limit (NaN: none) or above
    are drawn black and thick.
    """
    column = parts.name_column([row.name for row in rows], widest=_WIDEST)
    column = column._replace(pitch=min(column.pitch, (parts.PAGE - _ROOM) / len(rows)))
    top, bottom = parts.HEAD, parts.HEAD + column.height
    placed = list(zip(rows, column.places(top), strict=True))
    sheet = Sheet()
    for cluster in sorted({row.cluster for row in rows} - {-1}):
        inside = [y for row, y in placed if row.cluster == cluster]
        half = column.pitch / 2 - 0.3
        shaded = inside[0] - half, inside[-1] + half
        name = f"cluster-{cluster}"
        sheet.box((_NAMES - 1.5, WIDTH), shaded, face=CLUSTER, name=name)
    for n, (at, strengths) in enumerate(joins):
        ys = np.interp(at, range(len(rows)), column.places(top)).tolist()
        look = Look(INK, 1.4) if strengths[1] >= limit else parts.THIN
        sheet.line([*map(_TREE.at, strengths)], ys, look, name=f"join-{n}")
    if not isnan(limit):
        x, half = _TREE.at(limit), parts.wide(limit_label) / 2
        sheet.line((x, x), (top, bottom), Look(INK, 0.8, DOTTED), name="limit")
        left = max(min(x, _NAMES - half) - half, 0.0)
        sheet.label(left, top - 2.0, limit_label)
    parts.foot(sheet, _TREE, bottom, (0.0, 0.5, 1.0), ("0", "0.5", "1"))
    right = _NAMES + column.plot - 4.0
    parts.put_label(sheet, 0.0, bottom + 7.6, tree_label, right=right)
    return draw_ranking(rows, layout=(sheet, column, _NAMES), **ranking)
