"""Checks of the columns: duplicate, constant, shifted or dependent ones."""

import hashlib
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...data.column_types import is_category, may_mean_missing
from ...data.target_copies import holds_target
from ...records.asker import remedy
from ...records.check_answers import Limits, Seen
from ...records.dataset_and_model import Dataset, Floats
from ...records.errors import first_of, listed, quote, several
from ...records.finding import cause_of
from ...records.frames import Row
from ..dependence import associations_of, clusters
from ..split_shifts import largest_index, moved

PROBES = 16
"""Number of first distinct values of a column that are compared before all values."""
LIKE = 1 - 1e-6
"""Absolute correlation of first values below which columns are no affine images."""
CLOSE = 1e-9
"""Smallest norm of the centred first values, relative to the largest value, for which
their correlation is used: rounding then changes it by 1e-10 at most."""
SETS = 5
"""Most columns, or sets of columns, that a message names."""
ROUNDINGS = 8
"""Most rounding errors between columns of one quantity in two units: one in each cell
and in each operation of their comparison."""


def same_columns(
    train: Dataset | None,
    test: Dataset,
    grouped: Collection[tuple[str, ...]],
    **_: Any,
) -> Seen:
    """Fire if columns are equal, up to unit or labels, on all rows of the audit.

    It is a note if each set of equal columns is measured as a group. Derived columns
    are left out, since they repeat other columns by definition.
    """
    features = [name for name in test.features if not test.unread.get(name)]
    same = _cached_stand_ins(train, test, features)
    alone = [names for names in same if not is_group(names, grouped, features)]
    sets = [listed(names) for names in same[:SETS]]
    more = f"; and {len(same) - SETS} more sets" if len(same) > SETS else ""
    n_same = sum(map(len, same))
    return Seen(
        bool(same),
        n_same,
        "These columns carry the same information in all rows, up to unit or labels, "
        f"so none of them has an importance of its own: {'; '.join(sets)}{more}.",
        severity="warning" if alone else "info",
        remedy=(
            remedy(
                "Put each set under [groups], without others, and add an "
                '[[importance]] with of = "groups", or leave out all but one column '
                "of it.",
                r="Name each set in groups = list(...) as one, or fit with one of it.",
                python="Name each set in groups={...} as one, or fit with one of it.",
            )
            if alone
            else "Read the importance of their group, not their own."
        ),
        evidence={"columns": n_same},
    )


def target_copy(train: Dataset | None, test: Dataset, **_: Any) -> Seen:
    """Fire if a column that a model may read equals the target in nearly all rows.

    Derived columns are left out: models do not read them.
    """
    tables = [rows for rows in (train, test) if rows is not None]
    y = np.concatenate([rows.y for rows in tables])
    copies = [
        name
        for name in test.features
        if name not in test.unread
        if holds_target(_in_all(name, [rows.X for rows in tables]), y)
    ]
    return Seen(
        bool(copies),
        len(copies),
        "These columns hold the target, up to unit or labels, in nearly all rows: "
        f"{first_of(list(map(quote, copies)), SETS)}.",
        evidence={"columns": len(copies)},
        measure=first_of(copies, SETS),
    )


def constant_column(test: Dataset, **_: Any) -> Seen:
    """Fire if a column is constant in the evaluation rows."""
    constant = [name for name in test.features if is_constant(test, (name,))]
    return Seen(
        bool(constant),
        len(constant),
        "These columns are constant in the evaluation rows, so their importance cannot "
        f"be measured: {listed(constant)}.",
        evidence={"columns": len(constant)},
        cause=cause_of("constant_column", test.name),
    )


def missing_words(train: Dataset | None, test: Dataset, **_: Any) -> Seen | None:
    """Note levels that usually mean "missing"; None if no column is a category."""
    categories = [name for name in test.features if is_category(test.X[name])]
    if not categories:
        return None
    found = []
    for name in categories:
        counts = Counter[str]()
        for rows in (train, test):
            counts.update({} if rows is None else rows.X[name].value_counts().to_dict())
        words = sorted(
            level for level, n in counts.items() if n and may_mean_missing(level)
        )
        if words:
            n_rows = several(sum(counts[word] for word in words), "row")
            found.append(f"{listed(words)} of {quote(name)} ({n_rows})")
    more = f"; and of {len(found) - SETS} more columns" if len(found) > SETS else ""
    return Seen(
        bool(found),
        len(found),
        "These levels usually mean that a value is missing, and are read as levels "
        f"like any other: {'; '.join(found[:SETS])}{more}.",
        remedy=remedy(
            "If they mean missing, add them to [data] missing_values.",
            r="If they mean missing, make them NA.",
            python="If they mean missing, make them NaN.",
        ),
        evidence={"columns": len(found)},
    )


def dependence(
    train: Dataset | None,
    test: Dataset,
    grouped: Collection[tuple[str, ...]],
    limits: Limits,
) -> Seen | None:
    """Note the `clusters` of strongly associated features, among `distinct_columns`."""
    names = distinct_columns(train, test)
    if len(names) < 2:
        return None
    strength = associations_of(test, names)
    is_pair = ~np.eye(len(names), dtype=bool)
    strongest = float(strength.max(where=is_pair, initial=0.0))
    linked = list(clusters(strength, float(limits["dependence"].value)))
    return Seen(
        bool(linked),
        strongest,
        "These features are correlated, so their importances should not be read one "
        f"by one: {_describe_clusters(linked, names, strength)}.",
        remedy=(
            "Read the importance of their group beside their own."
            if all(is_group([names[k] for k in s], grouped, names) for s in linked)
            else remedy(
                "Put each set under [groups], without others, and add an "
                '[[importance]] with of = "groups", or use "permutation" with within = '
                '"leaves".',
                r="Name each set in groups = list(...) as one.",
                python="Name each set in groups={...} as one.",
            )
        ),
        evidence={"strongest": strongest, "features": sum(map(len, linked))},
    )


def split_shift(rows: Sequence[Row], limits: Limits, **_: Any) -> Seen | None:
    """Note the columns that differ between training and evaluation rows."""
    if not rows:
        return None
    outside, largest = [row for row in rows if moved(row)], largest_index(rows[0])
    texts = [f"{quote(row['column'])} ({largest_index(row):.2f})" for row in outside]
    named = first_of(texts, SETS)
    return Seen(
        bool(outside),
        largest,
        "These columns are distributed differently in the evaluation rows than in the "
        "training rows, with a population stability index (PSI) above "
        f"{limits['split_shift'].value:g} that chance does not explain: {named}.",
        evidence={"psi": largest, "columns": len(outside)},
        measure=", ".join(sorted(row["column"] for row in outside)),
    )


def distinct_columns(train: Dataset | None, test: Dataset) -> list[str]:
    """Return the columns that are neither derived nor equal to an earlier column.

    A derived column depends on others by definition; of the sets of equal columns that
    `same_columns` reports, the first column is kept.
    """
    same = _cached_stand_ins(train, test, test.features)
    again = {name for names in same for name in names[1:]}
    again |= {name for name, sources in test.unread.items() if sources}
    return [name for name in test.features if name not in again]


def _describe_clusters(
    linked: list[list[int]], names: list[str], strength: Floats
) -> str:
    """Return the first clusters as text, with the range of their links."""
    texts = []
    for places in linked[:SETS]:
        inside = strength[np.ix_(places, places)] - np.eye(len(places))
        weakest_link = inside.max(axis=1).min()
        low, high = f"{weakest_link:.2f}", f"{inside.max():.2f}"
        span = high if low == high else f"{low} to {high}"
        texts.append(f"{listed(names[k] for k in places)} ({span})")
    more = f"; and {len(linked) - SETS} more sets" if len(linked) > SETS else ""
    return "; ".join(texts) + more


def is_group(
    names: Sequence[str], grouped: Collection[tuple[str, ...]], judged: Sequence[str]
) -> bool:
    """Return whether a group has exactly these columns among those that are `judged`.

    A larger group does not count: its importance is not that of these columns.
    """
    return any(set(columns).intersection(judged) == set(names) for columns in grouped)


def is_constant(data: Dataset, columns: tuple[str, ...]) -> bool:
    """Return whether all columns of a feature or group are constant."""
    return all(
        data.X[column].iloc[:n_rows].nunique(dropna=False) == 1
        for n_rows in (2, None)  # most columns differ in the first two rows
        for column in columns
    )


def stand_ins(
    tables: list[pd.DataFrame], names: Sequence[str] | None = None
) -> list[tuple[str, ...]]:
    """Return the sets of columns that are equal in every row, up to unit or labels.

    Two columns of numbers are if one is an affine image of the other, to rounding. A
    category and another column are if their values correspond one to one; if all rows
    have different values, which correspond in any case, the values must be equal. The
    missing cells must be in the same rows. Constant columns are left out.

    Parameters
    ----------
    tables : list of DataFrame
        With the same columns; their rows are concatenated.
    names : sequence of str, optional
        The columns that are compared; by default all.
    """
    names = list(tables[0]) if names is None else names
    by_codes: dict[tuple[int, bytes], dict[str, Floats]] = {}
    for name in names:
        codes, values = _coded(tables, name)
        n_cells = int((codes >= 0).sum())
        if len(values) + (n_cells < len(codes)) > 1:
            key = n_cells, hashlib.sha256(codes.tobytes()).digest()
            by_codes.setdefault(key, {})[name] = _probe(values)
    sets = []
    for (n_cells, _), probes in by_codes.items():
        columns, directions = list(probes), np.array(list(probes.values()))
        left = np.arange(len(columns))
        while len(left) > 1:
            at, left = left[0], left[1:]
            # Probes of NaN decide nothing. To compare all values of each pair of a
            # thousand columns would take longer than the predictions of most models.
            is_far = np.abs(directions[left] @ directions[at]) < LIKE
            if is_far.all():
                continue
            own = _coded(tables, columns[at])[1]
            same = [
                k
                for k in left[~is_far]
                if _go_together(own, _coded(tables, columns[k])[1], n_cells)
            ]
            if same:
                sets.append((columns[at], *(columns[k] for k in same)))
                left = np.setdiff1d(left, same)
    order = {name: at for at, name in enumerate(names)}
    return sorted(sets, key=lambda same: order[same[0]])


_LAST: WeakKeyDictionary[Dataset, tuple[Any, tuple[str, ...], Any]] = (
    WeakKeyDictionary()
)


def _cached_stand_ins(
    train: Dataset | None, test: Dataset, names: Sequence[str]
) -> list[tuple[str, ...]]:
    """Return the `stand_ins` of all rows, cached: an audit needs them three times."""
    key = None if train is None else ref(train), tuple(names)
    *last, same = _LAST.get(test, (None, (), None))
    if same is None or tuple(last) != key:
        tables = [rows.X for rows in (train, test) if rows is not None]
        same = stand_ins(tables, names)
        _LAST[test] = *key, same
    return same


def _in_all(name: str, tables: list[pd.DataFrame]) -> pd.Series:
    """Return a column of the concatenated tables; levels of a category as objects."""
    parts = [table[name] for table in tables]
    if is_category(parts[0]):
        parts = [part.astype(object) for part in parts]
    return parts[0] if len(parts) == 1 else pd.concat(parts)


def _coded(
    tables: list[pd.DataFrame], name: str
) -> tuple[npt.NDArray[np.intp], npt.NDArray[Any]]:
    """Return a code per row, and the distinct values in order of first appearance."""
    cells = _in_all(name, tables)
    codes, values = pd.factorize(cells)
    kind = cells.dtype if cells.dtype == object else None
    return codes, np.asarray(values, dtype=kind)


def _probe(values: npt.NDArray[Any]) -> Floats:
    """Return the first distinct values, centred and scaled to norm 1.

    Those of affine images are equal up to sign. NaN if they are not numbers, or if they
    differ too little, relative to the largest value, to be compared despite rounding.
    """
    if values.dtype == object:
        return np.full(min(PROBES, len(values)), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        first = values[:PROBES] / np.abs(values.astype(float)).max()
        first -= first.mean()
        length = np.linalg.norm(first)
        return np.asarray(first / (length if length > CLOSE else np.nan))


def _go_together(a: npt.NDArray[Any], b: npt.NDArray[Any], n_cells: int) -> bool:
    """Return whether the distinct values of two columns correspond, as in `stand_ins`.

    Numbers do if ``b = c + d a``, up to the rounding of both sides.
    """
    if object in (a.dtype, b.dtype):
        return len(a) < n_cells or pd.Series(a).equals(pd.Series(b))
    a, b = a.astype(float), b.astype(float)
    low, high = a.argmin(), a.argmax()
    slope = (b[high] - b[low]) / (a[high] - a[low]) if low != high else 1.0
    size = np.abs(b).max() + np.abs(slope) * np.abs(a).max()
    off = np.abs(b - (b[low] + slope * (a - a[low]))).max()
    return bool(np.isfinite(size) and off <= ROUNDINGS * np.finfo(float).eps * size)
