"""Rows, levels and columns that reading leaves out, and the findings about them.

Left out are rows of weight 0, columns that are neither audited nor the target, and, if
the configuration says so, rows without a target and levels that no training row has.
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
"""A column is nearly constant if one value has at least this share of the rows."""


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
        The training rows first. Of each column, the first table that has it is
        described.
    section : DataSection
    audited : collection of str
        The features and the held-out columns.
    dated : collection of str
        Date columns of which parts are derived.
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
    """Return the typed column, or its texts if they have no type."""
    cells = table.frame[name]
    if cells.dtype == object:
        cells = column_types.without(cells, section.missing_values)
    if table.has_texts(name):
        with suppress(DataError):
            cells = column_types.from_texts(cells, written=table.written)
    return cells


def _look(values: pd.Series) -> tuple[str, int]:
    """Return the kind of content of a column, and its number of distinct values."""
    if values.empty:
        return "empty", 0
    try:
        counts = np.bincount(pd.factorize(values)[0])
    except TypeError:  # values that cannot be hashed, such as lists
        return "", 0
    distinct = len(counts)
    if distinct == 1:
        return "constant", 1
    if counts.max() >= NEARLY_ALL * len(values):
        return "near_constant", distinct
    is_name = not pd.api.types.is_float_dtype(values) and distinct == len(values)
    return "names_rows" if is_name else "", distinct


def with_rows_that_count(
    tables: Sequence[Table], section: DataSection
) -> tuple[tuple[Table, ...], tuple[Finding, ...]]:
    """Return the tables without rows of weight 0, and a finding per table.

    Rows that lack a target go as well if the configuration says so, but stay among
    reference rows.
    """
    parts, notes = [], []
    n_own = len(tables) - bool(section.reference_rows)
    for place, table in enumerate(tables):
        if section.weights in table.frame:
            has_weight = weighs(_cells(table, section.weights, section))
            if not has_weight.all():
                notes.append(without_weight(has_weight, table.name))
                table = table.of_rows(has_weight)
        has_role = place < n_own and section.target in table.frame
        if section.drop_missing_target and has_role:
            cells = table.texts(section.target)
            cells = column_types.without(cells, section.missing_values)
            has_target = cells.notna().to_numpy()
            if not has_target.all():
                finding = _rows_left_out(
                    "rows_without_target",
                    has_target,
                    table.name,
                    f"lack the target {quote(section.target)} and were left out "
                    "([data] drop_missing_target).",
                )
                subject = f"{table.name} (test)" if place else table.name
                notes.append(replace(finding, subject=subject))
                table = table.of_rows(has_target)
        parts.append(table)
    return tuple(parts), tuple(notes)


def weighs(weights: pd.Series) -> npt.NDArray[np.bool_]:
    """Return whether each row has a weight other than 0, (n_samples,).

    All are true if a weight is invalid or fewer than two rows would be left; the later
    checks of the weights then report the problem.
    """
    numbers = pd.to_numeric(weights.astype(object), errors="coerce")
    has_weight = numbers.ne(0).to_numpy()
    is_valid = has_weight.sum() > 1 and bool((numbers[has_weight] > 0).all())
    return has_weight if is_valid else np.ones(len(has_weight), dtype=bool)


def without_weight(has_weight: npt.NDArray[np.bool_], name: str) -> Finding:
    """Return the finding that rows of weight 0 were left out."""
    why = "have weight 0 and were left out."
    return _rows_left_out("rows_without_weight", has_weight, name, why)


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
    """Return the rows with unseen levels set to missing, and a finding per column.

    A level is unseen if no training row has it. Columns keep such a level only if it is
    declared: a model that codes levels by their position must not depend on rows that
    it is not fitted on.

    Parameters
    ----------
    frames : mapping of str to DataFrame
        The rows by split: "train", "test", "reference".
    declared : mapping of str to levels
        The levels of each column that are kept in any case.
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
