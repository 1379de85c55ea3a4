"""Checks of the columns: do they hold the same, vary, depend on each other?"""

import hashlib
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...data.column_types import is_category
from ...records.dataset_and_model import Dataset, Floats
from ...records.errors import listed
from ...records.finding import Finding, cause_of
from ..dependence import associations, clusters
from .answers import Answer, Limit, Limits, answer

PROBES = 16
"""Values of a column that are enough to tell most columns apart."""
SETS = 5
"""How many sets of columns a message names."""
ROUNDINGS = 8
"""How many roundings lie between the stored cells of two units of one quantity: one in
each cell and each operation that holds them against each other."""


def same_columns(
    train: Dataset | None,
    test: Dataset,
    grouped: Collection[tuple[str, ...]],
    limits: Limits,
) -> Answer:
    """Fire if columns hold the same, up to unit or labels, on all rows of the audit.

    It is a note where all of them are asked together as a group. A derived column says
    by definition what others do, so it is not asked about.
    """
    del limits
    sides = [rows for rows in (train, test) if rows is not None]
    features = [name for name in test.features if not test.unread.get(name)]
    same = stand_ins([rows.X[features] for rows in sides])
    alone = [
        names
        for names in same
        if not any(set(names) <= set(columns) for columns in grouped)
    ]
    sets = [listed(names) for names in same[:SETS]]
    more = f"; and {len(same) - SETS} more sets" if len(same) > SETS else ""
    finding = Finding(
        check="same_columns",
        severity="warning" if alone else "info",
        subject=test.name,
        message=(
            "These columns carry the same information in all rows, up to unit or "
            "labels, so none of them has an importance of its own: "
            f"{'; '.join(sets)}{more}."
        ),
        remedy=(
            'Put them under [groups] and add an [[importance]] with of = "groups", or '
            "leave out all but one of them."
            if alone
            else "Read the importance of their group, not their own."
        ),
        evidence={"columns": sum(map(len, same))},
    )
    n_same = sum(map(len, same))
    return answer(finding, bool(same), n_same, Limit(0.0, "definition"))


def constant_column(
    train: Dataset | None,
    test: Dataset,
    grouped: Collection[tuple[str, ...]],
    limits: Limits,
) -> Answer:
    """Fire if a column never varies in the rows that importances are measured on."""
    del train, grouped, limits
    constant = [name for name in test.features if is_constant(test, (name,))]
    finding = Finding(
        check="constant_column",
        severity="info",
        subject=test.name,
        message=(
            "These columns are constant in the evaluation rows, so their importance "
            f"cannot be measured: {listed(constant)}."
        ),
        remedy="Leave them out, or audit rows in which they vary.",
        evidence={"columns": len(constant)},
        cause=cause_of("constant_column", test.name),
    )
    limit = Limit(0.0, "definition")
    return answer(finding, bool(constant), len(constant), limit)


def dependence(
    train: Dataset | None,
    test: Dataset,
    grouped: Collection[tuple[str, ...]],
    limits: Limits,
) -> Answer | None:
    """Note the features that depend on each other strongly, pair by pair linked.

    Judged are the `distinct_columns`.
    """
    names = distinct_columns(train, test)
    if len(names) < 2:
        return None
    strength, limit = associations(test.X[names]), limits["dependence"]
    strongest = float((strength - np.eye(len(names))).max())
    linked = list(clusters(strength, float(limit.value)))
    finding = Finding(
        check="dependence",
        severity="info",
        subject=test.name,
        message=(
            "These features are correlated, so their importances should not be read "
            f"one by one: {_describe_clusters(linked, names, strength)}."
        ),
        remedy=_remedy([{names[k] for k in places} for places in linked], grouped),
        evidence={"strongest": strongest, "features": sum(map(len, linked))},
    )
    return answer(finding, bool(linked), strongest, limit)


def distinct_columns(train: Dataset | None, test: Dataset) -> list[str]:
    """Return the columns that are neither derived nor repeat one before them.

    A derived column depends on others by definition; of columns that hold the same,
    which `same_columns` names, the first stands for all.
    """
    tables = [rows.X for rows in (train, test) if rows is not None]
    again = {name for names in stand_ins(tables) for name in names[1:]}
    again |= {name for name, sources in test.unread.items() if sources}
    return [name for name in test.features if name not in again]


def _describe_clusters(
    linked: list[list[int]], names: list[str], strength: Floats
) -> str:
    """Return the first clusters, each with the range of its linked pairs."""
    texts = []
    for places in linked[:SETS]:
        inside = strength[np.ix_(places, places)] - np.eye(len(places))
        weakest_link = inside.max(axis=1).min()
        low, high = f"{weakest_link:.2f}", f"{inside.max():.2f}"
        span = high if low == high else f"{low} to {high}"
        texts.append(f"{listed(names[k] for k in places)} ({span})")
    more = f"; and {len(linked) - SETS} more sets" if len(linked) > SETS else ""
    return "; ".join(texts) + more


def _remedy(linked: list[set[str]], grouped: Collection[tuple[str, ...]]) -> str:
    """Return what helps: the group they are asked in, or to ask in another way."""
    if all(any(names <= set(columns) for columns in grouped) for names in linked):
        return "Read the importance of their group beside their own."
    return (
        'Put them under [groups] and add an [[importance]] with of = "groups", or use '
        '"permutation" with within = "leaves".'
    )


def is_constant(data: Dataset, columns: tuple[str, ...]) -> bool:
    """Return whether no column of a feature or group ever varies."""
    return all(data.X[column].nunique(dropna=False) == 1 for column in columns)


def stand_ins(tables: list[pd.DataFrame]) -> list[tuple[str, ...]]:
    """Return the sets of columns that hold the same in every row.

    Numbers do if one is an affine image of the other, to rounding; a category and
    another column if each value of one goes with one value of the other. Where the
    values differ in every row that is no wonder, and they must be the same themselves.
    Missing cells must be the same. Constant columns are left out.

    Parameters
    ----------
    tables : list of DataFrame
        With equal columns, read one below the other.
    """
    alike: dict[tuple[int, bytes], dict[str, pd.Series]] = {}
    for name in tables[0]:
        codes, values = _coded([table[name] for table in tables])
        n_cells = int((codes >= 0).sum())
        if len(values) + (n_cells < len(codes)) > 1:
            key = n_cells, hashlib.sha256(codes.tobytes()).digest()
            alike.setdefault(key, {})[str(name)] = values
    sets = [names for (n, _), same in alike.items() for names in _sets(same, n)]
    order = list(tables[0])
    return sorted(sets, key=lambda names: order.index(names[0]))


def _coded(parts: list[pd.Series]) -> tuple[npt.NDArray[np.intp], pd.Series]:
    """Return a code per row, and the values in the order in which they come first."""
    kind = object if is_category(parts[0]) else None
    column = pd.concat([part.astype(kind or part.dtype) for part in parts])
    codes, values = pd.factorize(column)
    return codes, pd.Series(np.asarray(values), dtype=kind)


def _sets(columns: Mapping[str, pd.Series], n_cells: int) -> Iterator[tuple[str, ...]]:
    """Yield sets among columns that have equal values in the same rows."""
    left, apart = dict(columns), _Apart(columns)
    while left:
        name = next(iter(left))
        first = left.pop(name)
        same = [
            other
            for other in left.keys() - apart.from_column(name)
            if _go_together(first, left[other], n_cells)
        ]
        same.sort(key=list(columns).index)
        left = {other: left[other] for other in left if other not in same}
        if same:
            yield name, *same


class _Apart:
    """Tells of many columns at once, by a few of their values, which are no images.

    Of a thousand columns of numbers every two would have to be held against each other
    whole, which takes longer than to ask most models.
    """

    def __init__(self, columns: Mapping[str, pd.Series]) -> None:
        self._names = [n for n, values in columns.items() if values.dtype != object]
        few = len(self._names) < 2
        values = [columns[n].to_numpy(dtype=float) for n in self._names]
        self._table = np.empty((0, 0)) if few else np.array(values)
        self._sizes = np.abs(self._table).max(axis=1, initial=0.0)

    def from_column(self, name: str) -> set[str]:
        """Return columns of numbers that are surely no affine image of this one."""
        if not len(self._table) or name not in self._names:
            return set()
        row = self._names.index(name)
        a, size = self._table[row], self._sizes[row]
        low, high = a.argmin(), a.argmax()
        probes = self._table[:, :PROBES]
        rise = self._table[:, high] - self._table[:, low]
        slope = rise / (a[high] - a[low]) if low != high else np.ones(len(rise))
        line = self._table[:, [low]] + slope[:, None] * (a[:PROBES] - a[low])
        off = np.abs(probes - line).max(axis=1)
        limit = 2 * _rounding(self._sizes + np.abs(slope) * size)
        return {n for n, is_off in zip(self._names, off > limit, strict=True) if is_off}


def _rounding(size: Any) -> Any:
    """Return how far two images of one value may lie apart."""
    return ROUNDINGS * np.finfo(float).eps * size


def _go_together(a: pd.Series, b: pd.Series, n_cells: int) -> bool:
    """Return whether the values of two columns are each other's images."""
    if object not in (a.dtype, b.dtype):
        return _is_affine(a.to_numpy(dtype=float), b.to_numpy(dtype=float))
    return len(a) < n_cells or a.equals(b)


def _is_affine(a: Floats, b: Floats) -> bool:
    """Return whether ``b = c + d a`` but for the rounding of either side."""
    low, high = a.argmin(), a.argmax()
    slope = (b[high] - b[low]) / (a[high] - a[low]) if low != high else 1.0
    rounding = np.abs(b).max() + np.abs(slope) * np.abs(a).max()
    off = np.abs(b - (b[low] + slope * (a - a[low]))).max()
    return bool(off <= _rounding(rounding))
