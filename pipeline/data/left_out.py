"""What reading leaves out, and the findings that say it.

Rows of weight 0, and where a configuration says so rows without a target and levels
that no training row has; columns without a part.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..records.dataset_and_model import LeftOut
from ..records.errors import DataError, listed, quote, several
from ..records.finding import Finding, cause_of
from . import column_types
from .section import DataSection
from .tables import Table

NEARLY_ALL = 0.99
"""The share of the rows from which one value makes a column nearly constant."""


def columns_without_part(
    tables: Sequence[Table],
    section: DataSection,
    *,
    audited: Collection[str],
    dated: Collection[str],
) -> Iterator[LeftOut]:
    """Yield the columns of some tables that are neither audited nor the target.

    Parameters
    ----------
    tables : sequence of Table
        Of the training rows first. A column is looked at in the first that has it.
    section : DataSection
    audited : collection of str
        The features, and what is held out of the models.
    dated : collection of str
        Dates of which parts are taken.
    """
    roles = dict.fromkeys(section.exclude, "excluded")
    roles |= dict.fromkeys(section.segments, "segments")
    roles |= dict.fromkeys(dated, "dates")
    roles |= {section.weights: "weights", section.test.get("column", ""): "split"}
    first_with: dict[str, Table] = {}
    for table in tables:
        for name in table.frame.columns:
            first_with.setdefault(name, table)
    for name, table in first_with.items():
        if name in audited or name == section.target:
            continue
        look, distinct = _look(_cells(table, name, section).dropna())
        without = "not_listed" if name in tables[0].frame else "not_in_training"
        yield LeftOut(str(name), roles.get(name, without), look, distinct)


def _cells(table: Table, name: str, section: DataSection) -> pd.Series:
    """Return a column as it is read, or its texts if they have no type."""
    cells = table.frame[name]
    if cells.dtype == object:
        cells = column_types.without(cells, section.missing_values)
    if table.has_texts(name):
        with suppress(DataError):
            cells = column_types.from_texts(cells, where="", written=table.written)
    return cells


def _look(values: pd.Series) -> tuple[str, int]:
    """Return what the cells of a column are like, and how many differ."""
    if values.empty:
        return "empty", 0
    try:
        counts = np.bincount(pd.factorize(values)[0])
    except TypeError:  # lists and the like, which cannot be counted
        return "", 0
    distinct = len(counts)
    if distinct == 1:
        return "constant", 1
    if counts.max() >= NEARLY_ALL * len(values):
        return "near_constant", distinct
    is_name = not pd.api.types.is_float_dtype(values) and distinct == len(values)
    return "names_rows" if is_name else "", distinct


def with_target(
    tables: tuple[Table, ...], section: DataSection
) -> tuple[tuple[Table, ...], tuple[Finding, ...]]:
    """Return the tables without rows that lack a target, and what was left out."""
    parts, notes = list(tables), []
    n_own = len(tables) - bool(section.reference_rows)
    for place, table in enumerate(tables[:n_own] * section.drop_missing_target):
        if section.target not in table.frame:
            continue  # said where every column is looked for
        cells = table.texts(section.target)
        has_target = column_types.without(cells, section.missing_values).notna()
        if has_target.all():
            continue
        parts[place] = table.of_rows(has_target.to_numpy())
        finding = _rows_left_out(
            "rows_without_target",
            has_target.to_numpy(),
            table.name,
            f"lack the target {quote(section.target)} and were left out ([data] "
            "drop_missing_target).",
        )
        subject = f"{table.name} (test)" if place else table.name
        notes.append(replace(finding, subject=subject))
    return tuple(parts), tuple(notes)


def with_weight(
    tables: tuple[Table, ...], section: DataSection
) -> tuple[tuple[Table, ...], tuple[Finding, ...]]:
    """Return the tables without rows of weight 0, and what was left out."""
    parts, notes = list(tables), []
    for place, table in enumerate(tables):
        if section.weights in table.frame:
            counts = weighs(_cells(table, section.weights, section))
            if not counts.all():
                parts[place] = table.of_rows(counts)
                notes.append(without_weight(counts, table.name))
    return tuple(parts), tuple(notes)


def weighs(weights: pd.Series) -> npt.NDArray[np.bool_]:
    """Return which rows have another weight than 0.

    All, if a weight is at fault or fewer than two rows would be left.
    """
    numbers = pd.to_numeric(weights.astype(object), errors="coerce")
    counts = numbers.ne(0).to_numpy()
    is_sound = counts.sum() > 1 and bool((numbers[counts] > 0).all())
    return counts if is_sound else np.ones(len(counts), dtype=bool)


def without_weight(counts: npt.NDArray[np.bool_], name: str) -> Finding:
    """Return what says that the rows that do not count were left out."""
    why = "have weight 0 and were left out."
    return _rows_left_out("rows_without_weight", counts, name, why)


def _rows_left_out(
    check: str, is_kept: npt.NDArray[np.bool_], name: str, why: str
) -> Finding:
    n_left, rows = int((~is_kept).sum()), several(len(is_kept), "row")
    return Finding(
        check=check,
        severity="info",
        subject=name,
        message=f"{n_left} of {rows} of {name} {why}",
        evidence={"rows": n_left, "of": len(is_kept)},
    )


def with_seen_levels(
    frames: Mapping[str, pd.DataFrame], declared: Mapping[str, Collection[str]]
) -> tuple[dict[str, pd.DataFrame], tuple[Finding, ...]]:
    """Return rows with levels that no training row has as missing, and the findings.

    No column keeps such a level unless it is declared: a model that codes levels by
    their place must not depend on rows that it is not fitted on.

    Parameters
    ----------
    frames : mapping of str to DataFrame
        By what sentences call their rows: "train", "test", "reference".
    declared : mapping of str to levels
        By column, those that stay whatever the rows have.
    """
    frames = {name: X.copy() for name, X in frames.items()}
    notes = []
    for key, column in frames["train"].items():
        if not column_types.is_category(column):
            continue
        for name, X in frames.items():
            is_new = X[key].notna() & ~X[key].isin(set(column.dropna()))
            if not is_new.any():
                continue
            levels, n_rows = sorted(set(X[key][is_new])), int(is_new.sum())
            finding = Finding(
                check="unseen_levels",
                severity="warning",
                subject=str(key) if name == "test" else f"{key} ({name} rows)",
                message=(
                    f"Column {quote(str(key))} holds {listed(levels)} in {n_rows} of "
                    f"{several(len(X), f'{name} row')}, and in no training row; it is "
                    "read as missing there ([data] unseen)."
                ),
                remedy="Train on rows that have these levels, or merge rare ones.",
                evidence={"rows": n_rows, "levels": len(levels)},
                cause=cause_of("unseen_levels", str(key)),
            )
            notes.append(finding)
            X[key] = X[key].mask(is_new)
        unseen = set(column.cat.categories) - {*column.dropna(), *declared.get(key, ())}
        for X in frames.values():
            X[key] = X[key].cat.remove_categories(sorted(unseen))
    return frames, tuple(notes)
