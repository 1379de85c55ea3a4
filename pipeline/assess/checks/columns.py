"""Checks of the columns: do they hold the same, vary, depend on each other?"""

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
"""Values of a column that are enough to tell most columns apart."""
LIKE, CLOSE = 1 - 1e-6, 1e-9
"""The correlation of such values above which two columns may be images of each other,
and how far they must lie apart, relative to the largest value, to say so: rounding
changes the correlation of what is farther apart by 1e-10 at most."""
SETS = 5
"""How many columns, or sets of them, a message names."""
ROUNDINGS = 8
"""How many roundings lie between the stored cells of two units of one quantity: one in
each cell and each operation that holds them against each other."""


def same_columns(
    train: Dataset | None,
    test: Dataset,
    grouped: Collection[tuple[str, ...]],
    **_: Any,
) -> Seen:
    """Fire if columns hold the same, up to unit or labels, on all rows of the audit.

    It is a note where each set is asked as a group of its own. A derived column says
    by definition what others do, so it is not asked about.
    """
    features = [name for name in test.features if not test.unread.get(name)]
    same = _stand_ins_of(train, test, features)
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
    """Fire if a column that a model may be given holds the target in nearly all rows.

    A derived column is made of features, and models are not given it.
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
    """Fire if a column never varies in the rows that importances are measured on."""
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
    """Note levels that usually mean "missing"; None where no column has levels."""
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
    """Note the features that depend on each other strongly, pair by pair linked.

    Judged are the `distinct_columns`.
    """
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
    """Return the columns that are neither derived nor repeat one before them.

    A derived column depends on others by definition; of columns that hold the same,
    which `same_columns` names, the first stands for all.
    """
    same = _stand_ins_of(train, test, test.features)
    again = {name for names in same for name in names[1:]}
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


def is_group(
    names: Sequence[str], grouped: Collection[tuple[str, ...]], judged: Sequence[str]
) -> bool:
    """Return whether a group is exactly these columns, among those that are judged.

    The importance of a larger one does not tell what the columns are worth together.
    """
    return any(set(columns).intersection(judged) == set(names) for columns in grouped)


def is_constant(data: Dataset, columns: tuple[str, ...]) -> bool:
    """Return whether no column of a feature or group ever varies."""
    return all(
        data.X[column].iloc[:n_rows].nunique(dropna=False) == 1
        for n_rows in (2, None)  # two rows tell most columns
        for column in columns
    )


def stand_ins(
    tables: list[pd.DataFrame], names: Sequence[str] | None = None
) -> list[tuple[str, ...]]:
    """Return the sets of columns that hold the same in every row.

    Numbers do if one is an affine image of the other, to rounding; a category and
    another column if each value of one goes with one value of the other. Where the
    values differ in every row that is no wonder, and they must be the same themselves.
    Missing cells must be the same. Constant columns are left out.

    Parameters
    ----------
    tables : list of DataFrame
        With equal columns, read one below the other.
    names : sequence of str, optional
        The columns that are held against each other; by default all.
    """
    names = list(tables[0]) if names is None else names
    alike: dict[tuple[int, bytes], dict[str, Floats]] = {}
    for name in names:
        codes, values = _coded(tables, name)
        n_cells = int((codes >= 0).sum())
        if len(values) + (n_cells < len(codes)) > 1:
            key = n_cells, hashlib.sha256(codes.tobytes()).digest()
            alike.setdefault(key, {})[name] = _probe(values)
    sets = []
    for (n_cells, _), probes in alike.items():
        columns, directions = list(probes), np.array(list(probes.values()))
        left = np.arange(len(columns))
        while len(left) > 1:
            at, left = left[0], left[1:]
            # NaN: their probes do not tell. Each pair held against each other whole
            # takes longer than to ask most models, of a thousand columns.
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


def _stand_ins_of(
    train: Dataset | None, test: Dataset, names: Sequence[str]
) -> list[tuple[str, ...]]:
    """Return the `stand_ins` of all rows, for which an audit asks three times."""
    of_train = None if train is None else ref(train)
    asked = of_train, tuple(names)
    *last, same = _LAST.get(test, (None, (), None))
    if same is None or tuple(last) != asked:
        tables = [rows.X for rows in (train, test) if rows is not None]
        same = stand_ins(tables, names)
        _LAST[test] = *asked, same
    return same


def _in_all(name: str, tables: list[pd.DataFrame]) -> pd.Series:
    """Return the cells of a column in all tables, those of a category as objects."""
    parts = [table[name] for table in tables]
    if is_category(parts[0]):
        parts = [part.astype(object) for part in parts]
    return parts[0] if len(parts) == 1 else pd.concat(parts)


def _coded(
    tables: list[pd.DataFrame], name: str
) -> tuple[npt.NDArray[np.intp], npt.NDArray[Any]]:
    """Return a code per row, and the values in the order in which they come first."""
    cells = _in_all(name, tables)
    codes, values = pd.factorize(cells)
    kind = cells.dtype if cells.dtype == object else None
    return codes, np.asarray(values, dtype=kind)


def _probe(values: npt.NDArray[Any]) -> Floats:
    """Return the first values about their mean, scaled to length 1.

    Those of affine images point the same or the opposite way. NaN where they are no
    numbers, or so close beside the largest of all that rounding may turn them.
    """
    if values.dtype == object:
        return np.full(min(PROBES, len(values)), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        first = values[:PROBES] / np.abs(values.astype(float)).max()
        first -= first.mean()
        length = np.linalg.norm(first)
        return np.asarray(first / (length if length > CLOSE else np.nan))


def _go_together(a: npt.NDArray[Any], b: npt.NDArray[Any], n_cells: int) -> bool:
    """Return whether the values of two columns are each other's images.

    Of numbers: whether ``b = c + d a`` but for the rounding of either side.
    """
    if object in (a.dtype, b.dtype):
        return len(a) < n_cells or pd.Series(a).equals(pd.Series(b))
    a, b = a.astype(float), b.astype(float)
    low, high = a.argmin(), a.argmax()
    slope = (b[high] - b[low]) / (a[high] - a[low]) if low != high else 1.0
    size = np.abs(b).max() + np.abs(slope) * np.abs(a).max()
    off = np.abs(b - (b[low] + slope * (a - a[low]))).max()
    return bool(np.isfinite(size) and off <= ROUNDINGS * np.finfo(float).eps * size)
