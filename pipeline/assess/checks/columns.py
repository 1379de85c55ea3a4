"""Checks of the columns: do they hold the same, vary, depend on each other?"""

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, ref

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...data.column_types import is_category, is_missing_word
from ...records.asker import remedy
from ...records.dataset_and_model import Dataset, Floats
from ...records.errors import listed, quote, several
from ...records.finding import cause_of
from ...records.frames import Row
from ..dependence import associations_of, clusters
from ..split_shifts import largest_index, moved
from .answers import Limits, Seen

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
    """Note levels that usually mean "missing"; None where no column has levels.

    "none" is not among them: of a column of levels it is as often an answer.
    """
    categories = [name for name in test.features if is_category(test.X[name])]
    if not categories:
        return None
    found = []
    for name in categories:
        counts = Counter[str]()
        for rows in (train, test):
            counts.update({} if rows is None else rows.X[name].value_counts().to_dict())
        words = sorted(
            level
            for level, n in counts.items()
            if n and is_missing_word(level) and level.strip().casefold() != "none"
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
    named = ", ".join(texts[:SETS])
    more = f" and {len(texts) - SETS} more" if len(texts) > SETS else ""
    return Seen(
        bool(outside),
        largest,
        "These columns are distributed differently in the evaluation rows than in the "
        "training rows, with a population stability index (PSI) above "
        f"{limits['split_shift'].value:g} that chance does not explain: {named}{more}.",
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
    alike: dict[tuple[int, bytes], list[_Sketch]] = {}
    for name in names:
        codes, values = _coded([table[name] for table in tables])
        n_cells = int((codes >= 0).sum())
        if len(values) + (n_cells < len(codes)) > 1:
            key = n_cells, hashlib.sha256(codes.tobytes()).digest()
            alike.setdefault(key, []).append(_sketch(str(name), values))

    def values_of(name: str) -> npt.NDArray[Any]:
        return _coded([table[name] for table in tables])[1]

    sets = [
        same
        for (n_cells, _), sketches in alike.items()
        for same in _sets(sketches, values_of, n_cells)
    ]
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


def _coded(parts: list[pd.Series]) -> tuple[npt.NDArray[np.intp], npt.NDArray[Any]]:
    """Return a code per row, and the values in the order in which they come first."""
    kind = object if is_category(parts[0]) else None
    typed = [part.astype(kind) if kind else part for part in parts]
    codes, values = pd.factorize(typed[0] if len(typed) == 1 else pd.concat(typed))
    return codes, np.asarray(values, dtype=kind)


class _Sketch(NamedTuple):
    """What tells most columns apart; their values would be a second table.

    Attributes
    ----------
    name : str
    first : ndarray of shape (n_probes,)
        The first different values, empty if they are no numbers.
    size, span : float
        The largest of all, whatever its sign, and how far they reach.
    """

    name: str
    first: Floats
    size: float
    span: float

    @property
    def is_number(self) -> bool:
        return len(self.first) > 0


def _sketch(name: str, values: npt.NDArray[Any]) -> _Sketch:
    """Return the sketch of a column of these different values."""
    if values.dtype == object or not len(values):
        return _Sketch(name, np.empty(0), 0.0, 0.0)
    values = values.astype(float)
    return _Sketch(name, values[:PROBES].copy(), np.abs(values).max(), np.ptp(values))


def _sets(
    sketches: Sequence[_Sketch],
    values_of: Callable[[str], npt.NDArray[Any]],
    n_cells: int,
) -> Iterator[tuple[str, ...]]:
    """Yield sets among columns that have equal values in the same rows."""
    numbers = np.array([at for at, one in enumerate(sketches) if one.is_number], int)
    probes = _Probes([sketches[at] for at in numbers])
    is_left = np.ones(len(sketches), dtype=bool)
    for at, (name, *_) in enumerate(sketches):
        if not is_left[at]:
            continue
        is_left[at] = False
        may_be_same = is_left.copy()
        if sketches[at].is_number:
            images = numbers[probes.possible_images(int(np.searchsorted(numbers, at)))]
            may_be_same[numbers] = False
            may_be_same[images] = is_left[images]
        if not may_be_same.any():
            continue
        first = values_of(name)
        same = [
            k
            for k in np.flatnonzero(may_be_same)
            if _go_together(first, values_of(sketches[k].name), n_cells)
        ]
        is_left[same] = False
        if same:
            yield name, *(sketches[k].name for k in same)


class _Probes:
    """The sketches of many columns of numbers, side by side.

    Of a thousand columns every two would have to be held against each other whole,
    which takes longer than to ask most models.
    """

    def __init__(self, sketches: Sequence[_Sketch]) -> None:
        self._values = np.array([one.first for one in sketches]).T
        self._sizes = np.array([one.size for one in sketches])
        self._spans = np.array([one.span for one in sketches])

    def possible_images(self, at: int) -> npt.NDArray[np.intp]:
        """Return the columns after this one that may be affine images of it.

        Each probe lies between the two that a line is drawn through, so that the line
        is off by no more than rounding where `_is_affine` would say yes.
        """
        own = self._values[:, at]
        low, high = own.argmin(), own.argmax()
        others = np.arange(at + 1, self._values.shape[1])
        if low == high:
            return others
        steepest = 2 * self._sizes[at] / self._spans[at]  # for an image of size 1
        limit = 4 * _rounding(1 + steepest)
        for k, share in enumerate((own - own[low]) / (own[high] - own[low])):
            first, last = self._values[low, others], self._values[high, others]
            off = np.abs(self._values[k, others] - (first + (last - first) * share))
            others = others[~(off > limit * self._sizes[others])]
        return others


def _rounding(size: Any) -> Any:
    """Return how far two images of one value may lie apart."""
    return ROUNDINGS * np.finfo(float).eps * size


def _go_together(a: npt.NDArray[Any], b: npt.NDArray[Any], n_cells: int) -> bool:
    """Return whether the values of two columns are each other's images."""
    if object not in (a.dtype, b.dtype):
        return _is_affine(a.astype(float), b.astype(float))
    return len(a) < n_cells or pd.Series(a).equals(pd.Series(b))


def _is_affine(a: Floats, b: Floats) -> bool:
    """Return whether ``b = c + d a`` but for the rounding of either side."""
    low, high = a.argmin(), a.argmax()
    slope = (b[high] - b[low]) / (a[high] - a[low]) if low != high else 1.0
    rounding = np.abs(b).max() + np.abs(slope) * np.abs(a).max()
    off = np.abs(b - (b[low] + slope * (a - a[low]))).max()
    return bool(off <= _rounding(rounding))
