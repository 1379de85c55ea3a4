"""Rows of a configured audit: tables are read, joined, typed and split.

The steps are in `tables`, `column_types` and `splits`. `datasets` checks the columns
against their roles and makes a `Dataset` of each split.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..records.dataset_and_model import ColumnType
from ..records.errors import hints, listed, quote, quote_odd, several
from . import column_types, dates
from .column_roles import about, collecting, raise_all
from .derived_columns import DerivedSection, date_formats, derive, sources_of
from .encoding import column_type
from .left_out import columns_without_part, with_rows_that_count, with_seen_levels
from .section import DataSection
from .splits import Rows, drawn_rows, rows_with
from .tables import RFrame, Table, read_table, source_of

SOURCES = ("file", "sql", "r", "sklearn", "rds", "r_script")


class Side(NamedTuple):
    """The rows of one split, typed.

    Attributes
    ----------
    X : DataFrame
        The features, then the held-out columns, then the derived ones.
    target : Series
        Named like its column.
    weights : Series or None
        Named like its column.
    where : str
        The name of these rows in messages.
    facts : dict of str to Any
        Further fields of the `Dataset` of these rows, such as its name and source.
    """

    X: pd.DataFrame
    target: pd.Series
    weights: pd.Series | None
    where: str
    facts: dict[str, Any]


def read(
    section: DataSection,
    *,
    groups: Mapping[str, tuple[str, ...]],
    derived: Sequence[DerivedSection],
    seed: int,
    base: Path,
    r_frame: RFrame | None = None,
) -> tuple[dict[str, Side], tuple[str, ...]]:
    """Return the rows that the ``[data]`` of a configuration describes.

    Returns
    -------
    sides : dict of str to Side
        "train", "test", and "reference" if there are such rows, with NaN as target. If
        the training rows are not known, "train" holds the test rows, from which types
        and levels are derived.
    inferred : tuple of str
        The features whose levels are not declared.

    Raises
    ------
    DataError
        With all problems of the tables, else of column names, else of columns.
    """
    every, notes = with_rows_that_count(_tables(section, base, r_frame), section)
    every = every if section.train else (every[0], *every)
    tables = every[:-1] if section.reference_rows else every
    formats = date_formats(derived)
    split_column = section.test.get("column", "")
    single = (section.target, section.weights, split_column)
    others = (*single, *section.exclude, *section.held_out_columns, *formats)
    features = section.features or tuple(
        name for name in tables[0].frame.columns if name not in others
    )
    audited = (*features, *section.held_out_columns)
    derived_names = [item.name for item in derived]
    segments = [name for name in section.segments if name not in derived_names]
    raise_all(
        [
            *_unknown_columns(every, tables, section, features, segments),
            *group_problems(groups, (*audited, *derived_names)),
        ]
    )
    label = ", ".join(dict.fromkeys(table.name for table in every))
    dated = [name for name in formats if name in tables[0].frame]
    tables_by_column = dict.fromkeys(segments, tables)
    tables_by_column |= dict.fromkeys((*audited, *dated, section.weights), every)
    tables_by_column |= dict.fromkeys((section.target, split_column), tables)
    problems: list[str] = []
    typed: dict[str, pd.Series] = {}
    for name, own in tables_by_column.items():
        if name:
            with collecting(problems):
                column = _column(own, name, section, label, formats.get(name))
                typed[name] = pd.Series(column, name=name, copy=False)
    raise_all(problems)
    types = {name: _original_type(every, typed[name], section) for name in audited}
    new_columns = derive(
        {name: typed[name] for name in (*audited, *dated)},
        derived,
        where=label,
        taken_names=tuple(tables[0].frame.columns),
    )
    typed |= new_columns
    n_rows = sum(len(table.frame) for table in tables)
    by_segment = {}
    for name in section.segments:
        by_segment[name] = dates.as_years(typed[name]).iloc[:n_rows]
        if name in segments:
            cells = pd.concat([table.frame[name] for table in tables])
            by_segment[name] = column_types.flags_in_words(by_segment[name], cells)
    typed = {
        name: dates.seconds_of(column) if dates.is_dates(column) else column
        for name, column in typed.items()
    }
    is_test = _test_rows(tables, typed, section, seed)
    rows_of = {"train": np.flatnonzero(~is_test), "test": np.flatnonzero(is_test)}
    if section.reference_rows:
        rows_of["reference"] = np.arange(n_rows, len(typed[audited[0]]))
    frames = {
        split: pd.DataFrame(
            {name: typed[name].iloc[rows] for name in (*audited, *new_columns)}
        ).reset_index(drop=True)
        for split, rows in rows_of.items()
    }
    left_out = columns_without_part(every, section, audited=audited, dated=dated)
    facts: dict[str, dict[str, Any]] = {
        "train": {"notes": notes},
        "test": {"left_out": tuple(left_out)},
        "reference": {},
    }
    if by_segment:
        of_test = pd.DataFrame(by_segment).loc[is_test].reset_index(drop=True)
        facts["test"]["segments"] = of_test
    if section.unseen == "missing":
        own_levels = {
            name: column.cat.categories
            for name, column in tables[0].frame.items()
            if column_types.is_category(column)
        }
        declared = {**own_levels, **section.categories}
        frames, facts["test"]["notes"] = with_seen_levels(frames, declared)
    numbers = np.concatenate([table.row_numbers for table in tables])
    unread: dict[str, tuple[str, ...]] = dict.fromkeys(section.held_out_columns, ())
    unread |= sources_of(derived, audited)
    sides = {}
    labelled = _split_facts(every, tables, section, seed)
    for (split, X), (where, named) in zip(frames.items(), labelled, strict=True):
        rows = rows_of[split]
        own_facts: dict[str, Any] = {**named, **facts[split], "unread": unread}
        target = pd.Series(np.nan, X.index, name=section.target)
        if split != "reference":
            target = typed[section.target].iloc[rows].reset_index(drop=True)
            own_facts["types"] = {name: kind for name, kind in types.items() if kind}
            own_facts["declared"] = frozenset(section.categories)
            own_facts["row_numbers"] = numbers[rows]
        weights = None
        if section.weights:
            weights = typed[section.weights].iloc[rows].reset_index(drop=True)
        sides[split] = Side(X, target, weights, where, own_facts)
    inferred = tuple(
        name
        for name in audited
        if name not in section.categories
        and not column_types.is_category(tables[0].frame[name])
    )
    return sides, inferred


def group_problems(
    groups: Mapping[str, tuple[str, ...]], features: tuple[str, ...]
) -> Iterator[str]:
    """Yield a sentence for every column of a group that is not a feature."""
    known = frozenset(features)
    every = [(group, name) for group, members in groups.items() for name in members]
    unknown = [(group, name) for group, name in every if name not in known]
    suggestions = hints((name for _, name in unknown), features)
    for (group, name), hint in zip(unknown, suggestions, strict=True):
        what = f"which is no feature.{hint}"
        yield f"[groups] {quote_odd(group)} names {quote(name)}, {what}"


def _tables(
    section: DataSection, base: Path, r_frame: RFrame | None
) -> tuple[Table, ...]:
    """Return the tables of training, test and reference rows, as far as configured."""
    sources = {
        "train": section.train,
        "test": section.test,
        "reference_rows": section.reference_rows,
    }
    problems: list[str] = []
    tables: list[Table] = []
    for part, source in sources.items():
        if set(source) & set(SOURCES):
            with collecting(problems):
                table = read_table(source, base=base, r_frame=r_frame, part=part)
                tables.append(table)
                problems += row_problems(len(table.frame), table.name)
    raise_all(problems)
    return tuple(tables)


def row_problems(n_rows: int, where: str) -> Iterator[str]:
    """Yield the problem of fewer than two rows."""
    if n_rows < 2:
        rows = several(n_rows, "row") if n_rows else "no rows"
        yield f"{where} has {rows}, and at least two are needed. Give more rows."


def _unknown_columns(
    every: tuple[Table, ...],
    tables: tuple[Table, ...],
    section: DataSection,
    features: tuple[str, ...],
    segments: Sequence[str],
) -> Iterator[str]:
    """Yield a sentence for every configured column that a table does not have."""
    if not features:
        yield f"{tables[0].name} has no feature: all its columns have other roles."
    own: dict[str, Sequence[str]] = {
        "target": (section.target,),
        "test": (section.test.get("column", ""),),
        "segments": segments,
    }
    shared_roles: dict[str, Sequence[str]] = {
        "weights": (section.weights,),
        "features": features,
        "exclude": section.exclude,
        "held_out_columns": section.held_out_columns,
        "categories": tuple(section.categories),
    }
    for place, table in enumerate(every):
        columns = dict.fromkeys(table.frame.columns)
        roles = shared_roles if place >= len(tables) else own | shared_roles
        for key, names in roles.items():
            unknown = [name for name in names if name and name not in columns]
            for name, hint in zip(unknown, hints(unknown, columns), strict=True):
                remedy = hint or f" Its columns: {listed(columns)}."
                column = f"Column {quote(name)} ([data] {key})"
                if key == "features" and not section.features:
                    column = f"Column {quote(name)}, a feature in {tables[0].name},"
                yield f"{column} is not in {table.name}.{remedy}"


def _column(
    tables: tuple[Table, ...],
    name: str,
    section: DataSection,
    label: str,
    written: str | None,
) -> pd.Series:
    """Return one typed column over all rows; texts of all tables are typed together.

    `written` is the format of dates, None if no part of them is derived.
    """
    is_alike = all(table.is_text for table in tables)
    is_alike &= len({table.written for table in tables}) == 1
    if written is not None:  # texts of dates are not typed together with dates of Excel
        is_alike &= len({table.has_texts(name) for table in tables}) == 1
    typed_parts = []
    for together in (tables,) if is_alike else [(table,) for table in tables]:
        where = label if is_alike else together[0].name
        with about(f"{where}: column {quote(name)}"):
            typed_parts.append(_typed_cells(together, name, section, written))
    column, n_own = typed_parts[0], 1 + bool(set(section.test) & set(SOURCES))
    for place, part in enumerate(typed_parts[1:], start=1):
        rows = "test" if place < n_own else "reference"
        is_open = section.unseen == "missing"
        with about(f"{label}: column {quote(name)}"):
            column = column_types.joined(column, part, rows=rows, is_open=is_open)
    return column


def _typed_cells(
    tables: tuple[Table, ...], name: str, section: DataSection, written: str | None
) -> pd.Series:
    """Return the typed column of one table, or of several with cells of one kind."""
    is_text, split_column = tables[0].is_text, section.test.get("column")
    parts = [table.frame[name] for table in tables]
    if is_text and (written is not None or _needs_texts(parts, section)):
        parts = [table.texts(name) for table in tables]
    cells = pd.concat(parts, ignore_index=True) if parts[1:] else parts[0]
    if cells.dtype == object:
        cells = column_types.without(cells, section.missing_values)
    is_csv = all(table.is_csv for table in tables)
    is_text = is_csv or (is_text and column_types.is_of_texts(cells))
    if written is not None and (
        is_text or pd.api.types.infer_dtype(cells, skipna=True) == "string"
    ):
        return dates.from_texts(cells, written)
    if levels := section.categories.get(name):
        return column_types.as_levels(cells, levels)
    if is_text:
        is_target = name == section.target and section.task != "regression"
        return column_types.from_texts(
            cells, is_class=is_target or name == split_column, written=tables[0].written
        )
    is_feature = name not in (section.target, section.weights, split_column)
    return column_types.from_values(cells, is_feature=is_feature)


def _original_type(
    tables: tuple[Table, ...], typed: pd.Series, section: DataSection
) -> ColumnType | None:
    """Return the type that a column has in its tables, None if it did not change."""
    if typed.name in section.categories:
        return None
    is_of_texts = tables[0].has_texts(str(typed.name))
    if dates.is_dates(typed) and is_of_texts:
        return ColumnType(typed.dtype, "datetime64", (pd.NaT,))
    if is_of_texts:
        is_text = column_types.is_category(typed)
        return ColumnType(np.dtype(object)) if is_text else None
    parts = [table.frame[typed.name] for table in tables]
    kind = column_type(parts[0], typed)
    missing = {repr(cell): cell for part in parts for cell in part[part.isna()]}
    return kind and kind._replace(missing=tuple(missing.values()))


def _needs_texts(parts: Sequence[pd.Series], section: DataSection) -> bool:
    """Return whether columns that were read as numbers must be converted to texts.

    This is so if levels are declared, if one table has texts, or true and false, where
    another has numbers, or if a number is among the missing values.
    """
    n_texts = sum(part.dtype == object for part in parts)
    if n_texts == len(parts):
        return False
    if n_texts or parts[0].name in section.categories:
        return True
    if len({part.dtype == bool for part in parts}) > 1:
        return True
    words = [word for word in section.missing_values if column_types.is_number(word)]
    missing = [float(word) for word in words]
    return bool(words) and any(part.isin(missing).any() for part in parts)


def _test_rows(
    tables: tuple[Table, ...],
    typed: Mapping[str, pd.Series],
    section: DataSection,
    seed: int,
) -> Rows:
    """Return whether each row is a test row, (n_samples,)."""
    n_first = len(tables[0].frame)
    if len(tables) == 2:
        return np.arange(n_first + len(tables[1].frame)) >= n_first
    if "column" in section.test:
        name = section.test["column"]
        with about(f"{tables[0].name}: column {quote(name)}"):
            return rows_with(typed[name], section.test["value"])
    strata = np.zeros(n_first, dtype=object)
    if section.task != "regression":
        texts = typed[section.target].astype(object).map(column_types.text_of)
        strata = texts.to_numpy()
    return drawn_rows(section.test["fraction"], seed, strata=strata)


def _split_facts(
    every: tuple[Table, ...],
    tables: tuple[Table, ...],
    section: DataSection,
    seed: int,
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the name of each split in messages, and fields of its `Dataset`."""
    parts = (section.train or section.test, section.test)
    sources = [source_of(part) for part in parts]
    labels = [table.name for table in tables]
    names = [_stem(label) for label in labels]
    if len(tables) == 1:
        if "column" in section.test:
            column, value = section.test["column"], section.test["value"]
            held_out = f"rows with {column} = {quote(value)}"
        else:
            share = f"{section.test['fraction']:.4g} of the rows"
            held_out = f"{share}, drawn with seed {seed}"
        sources = [f"{sources[0]}, all other rows", f"{sources[0]}, {held_out}"]
        names = [f"{names[0]} ({split})" for split in ("train", "test")]
    if len(set(labels)) == 1:
        labels = [f"{labels[0]} ({split} rows)" for split in ("training", "test")]
    if section.reference_rows:
        label = every[-1].name
        is_taken = label in [table.name for table in tables]
        labels.append(f"{label} (reference rows)" if is_taken else label)
        names.append(_stem(label))
        sources.append(source_of(section.reference_rows))
    splits = (tables[0], tables[-1], every[-1])
    for label, name, source, table in zip(labels, names, sources, splits, strict=False):
        facts = {"name": name, "source": source, "script": table.script}
        yield label, facts | {"script_sha256": table.script_sha256}


def _stem(name: str) -> str:
    """Return the short name of a table: of its file or its data set."""
    if "::" in name:
        return name.partition("::")[2]
    return PurePath(name).stem.removeprefix("load_")
