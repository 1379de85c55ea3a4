"""The text of the configuration that `init` writes as a starting point.

Each property found in a file is a comment on the key that it led to, so that the person
responsible for the audit sees what to confirm. Columns that cannot be features are
excluded, with the reason. The template is from_data.toml.j2.
"""

import json
import os
import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..data import column_roles, column_types, dates
from ..data.csv_dialects import guessed
from ..data.splits import Rows, drawn_rows
from ..data.tables import Table, is_text_file, option_problems, read_table
from ..data.target_copies import holds_target
from ..engines import ENGINES, describe_engine
from ..records.dataset_and_model import Task
from ..records.errors import DataError, did_you_mean, first_of, listed, quote, several
from .questions import R_ENGINES

STARTER = Path(__file__).with_name("starter.toml")
EXAMPLE = STARTER.with_name("example.toml")
FROM_DATA = STARTER.with_name("from_data.toml.j2")
FRACTION, SEED = 0.25, 1
FEW = 10  # most levels that a comment lists
WIDE = 60  # number of features above which the cost is stated
LARGE = 10_000  # number of test rows above which a sample is proposed
MINUTES = 30.0  # time limit proposed for many features
RARE = 0.1  # largest share of test rows with levels that no training row has
PARTS = ("days", "month", "weekday", "hour")
_DAYS = (
    *("%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y"),
    *("%Y/%m/%d", "%Y.%m.%d", "%d %b %Y", "%d-%b-%Y", "%b %d, %Y"),
)
DATE_FORMATS = (
    "",
    *(day + time for day in _DAYS for time in ("", " %H:%M", " %H:%M:%S")),
)
_IDENTIFIER = re.compile(r"(?i:(?<![a-z])id)$|[a-z]I[dD]$")
YES = frozenset({"yes", "y", "true", "t", "ja", "j", "oui", "si", "sí", "sim", "tak"})
"""Names of classes that are proposed as the positive one of two."""


def starter(*, every_key: bool = False) -> str:
    """Return a configuration that runs unchanged: with the main keys, or with all."""
    return (EXAMPLE if every_key else STARTER).read_text(encoding="utf-8")


class _Columns(NamedTuple):
    """The roles of columns: features, dates, and others with the reason.

    `dated` has the parts of each column of dates that can be features, and its format,
    `unseen` the levels of each feature that only test rows have.
    """

    features: dict[str, pd.Series]
    dated: dict[str, tuple[dict[str, pd.Series], str]]
    left_out: dict[str, str]
    unseen: dict[str, list[str]]


def starter_from(
    path: Path | str,
    target: str,
    folder: Path | str = Path(),
    given: Mapping[str, Any] | None = None,
) -> str:
    """Return a configuration filled from a file.

    Parameters
    ----------
    path : path
        The file.
    target : str
        The column that is predicted.
    folder : path
        The folder of the configuration; the path of the file is relative to it.
    given : mapping, optional
        Further keys of the source, such as separator. Other keys that a CSV file needs
        are guessed.

    Raises
    ------
    DataError
        If the file cannot be read, `target` is missing or cannot be a target, or no
        other column can be a feature.
    """
    file = Path(path)
    given = given or {}
    guesses = guessed(file, given) if is_text_file(file.name) else ()
    keys = {**given, **{guess.key: guess.value for guess in guesses}}
    for problem in option_problems({"file": file.name, **keys}):
        raise DataError(f"--{problem}")
    table = read_table({"file": file.name, **keys}, base=file.parent)
    columns = [str(name) for name in table.frame.columns]
    if target not in columns:
        hint = did_you_mean(target, columns) or f" Its columns: {listed(columns)}."
        raise DataError(f"Target column {quote(target)} is not in {table.name}.{hint}")
    if len(columns) == 1:
        raise DataError(
            f"{table.name} has one column, {quote(target)}, and needs another as a "
            "feature. If another sign than a semicolon, tab, comma or vertical bar "
            "separates its cells, give it as --separator."
        )
    missing = _missing_values(table, target)
    has_target = column_types.without(table.texts(target), missing).notna().to_numpy()
    n_missing = int((~has_target).sum())
    table = table.of_rows(has_target) if n_missing else table
    with column_roles.about(f"{table.name}: column {quote(target)}"):
        column = _typed_column(table, target, missing)
    with column_roles.about(f"{table.name}: target {quote(target)}"):
        task, reason, positive = _task(column)
        column_roles.raise_all(column_roles.target_problems(column, task))
    names = [name for name in columns if name != target]
    strata = pd.Series("", index=column.index, dtype=object)
    if task != "regression":
        strata = column.astype(object).map(column_types.text_of)
    is_test = drawn_rows(FRACTION, SEED, strata=strata.to_numpy())
    y = column.to_numpy() if task == "regression" else pd.factorize(column)[0]
    found = _assign_roles(table, names, missing, is_test, y)
    every = list(found.features.values())
    every += [part for parts, _ in found.dated.values() for part in parts.values()]
    n_test = int(is_test.sum())
    source = os.path.relpath(file.resolve(), Path(folder).resolve())
    keys = {"file": Path(source).as_posix(), **keys}
    return _render(
        seed=SEED,
        fraction=FRACTION,
        source=", ".join(f"{key} = {_text(value)}" for key, value in keys.items()),
        target=target,
        task=task,
        reason=reason,
        positive=positive,
        missing=missing,
        n_missing=n_missing,
        n_rows=len(has_target),
        guesses=guesses,
        names=names,
        **found._asdict(),
        is_wide=len(found.features) > WIDE,
        levels={
            name: list(part.cat.categories)
            for name, part in found.features.items()
            if column_types.is_category(part) and len(part.cat.categories) <= FEW
        },
        has_missing=bool(found.unseen) or any(part.isna().any() for part in every),
        engines=[
            name
            for name in R_ENGINES
            if "permutation" in ENGINES[name]["importance"]
            and describe_engine(name).available
        ],
        n=len(every),
        is_cost=len(every) > WIDE,
        n_test=n_test,
        is_large=n_test > LARGE,
        large=LARGE,
        minutes=MINUTES,
    )


def _render(**facts: Any) -> str:
    """Return the configuration made from the properties of a file."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "toml": _text,
        "values": _list_values,
        "described": _describe,
    }
    environment.globals["several"] = several
    template = environment.from_string(FROM_DATA.read_text(encoding="utf-8"))
    return template.render(**facts)


def _typed_column(table: Table, name: str, missing: Collection[str]) -> pd.Series:
    if not table.has_texts(name):
        return column_types.from_values(table.frame[name])
    cells = column_types.without(table.frame[name], missing)
    return column_types.from_texts(cells, written=table.written)


def _missing_values(table: Table, target: str) -> tuple[str, ...]:
    """Return the usual words for "missing" to declare as missing values.

    Without these words a column can be read, or the target is yes or no.
    """
    words: list[str] = []
    for name in filter(table.has_texts, table.frame):
        cells = table.frame[name]
        words_in = cells.dropna().unique() if cells.dtype == object else ()
        usual = [word for word in words_in if column_types.is_missing_word(word)]
        others = [str(word).strip().casefold() for word in {*words_in} - {*usual}]
        is_yes_or_no = name == target and len(others) == 2 and YES.intersection(others)
        if (
            usual
            and (is_yes_or_no or not _can_be_read(table, name, ()))
            and _can_be_read(table, name, usual)
        ):
            words += usual
    return tuple(dict.fromkeys(words))


def _can_be_read(table: Table, name: str, missing: Collection[str]) -> bool:
    try:
        _typed_column(table, name, missing)
    except DataError:
        return bool(missing and _dates_in(table, name, missing))
    return True


def _dates_in(
    table: Table, name: str, missing: Collection[str]
) -> list[tuple[pd.Series, str]]:
    """Return the dates of a column in each format that fits, with the format."""
    if not table.has_texts(name):
        column = column_types.from_values(table.frame[name], is_feature=True)
        return [(column, "")] * dates.is_dates(column)
    cells = column_types.without(table.frame[name], missing)
    first, read = cells.dropna().head(1), []
    for written in DATE_FORMATS if len(first) else ():
        with suppress(DataError):
            dates.from_texts(first, written)
            read.append((dates.from_texts(cells, written), written))
    return read


def _assign_roles(
    table: Table,
    names: Iterable[str],
    missing: tuple[str, ...],
    is_test: Rows,
    y: npt.NDArray[Any],
) -> _Columns:
    found = _Columns({}, {}, {}, {})
    for name in names:
        try:
            column = _typed_column(table, name, missing)
        except DataError as error:
            found.left_out[name] = _reason(str(error))
            try:
                read = _dates_in(table, name, missing)
            except DataError:
                continue
            if len(read) > 1:
                formats = " or ".join(_text(written) for _, written in read)
                how = "say which under [[derived]]"
                found.left_out[name] += f", whose format may be {formats}: {how}"
            if len(read) == 1:
                ((column, written),) = read
                parts = {}
                for part in PARTS:
                    values = pd.Series(dates.date_part(column, part))
                    is_new = f"{name}_{part}" not in table.frame
                    is_new &= values.nunique() > 1
                    if is_new and not _reason_left_out("", values, is_test):
                        parts[part] = values
                found.dated.update({name: (parts, written)} if parts else {})
            continue
        new: list[str] = []  # levels of a category that no training row has
        if column_types.is_category(column):
            new = sorted(set(column[is_test].dropna()) - set(column[~is_test]))
        if reason := _reason_left_out(name, column, is_test):
            found.left_out[name] = reason
        elif holds_target(column, y):
            found.left_out[name] = (
                "it holds the target in nearly all rows, up to unit or labels"
            )
        elif column[is_test].isin(new).mean() > RARE:
            found.left_out[name] = (
                f"in the test rows only: {_list_values(new)}; merge rare levels"
            )
        else:
            found.features[name] = column
            found.unseen.update({name: new} if new else {})
    if not found.features:
        reasons = (f"{quote(name)}: {why}" for name, why in found.left_out.items())
        raise DataError(
            f"{table.name} has no column that can be a feature "
            f"({'; '.join(reasons)}). Correct one of them."
        )
    return found


def _reason_left_out(name: str, column: pd.Series, is_test: Rows) -> str:
    """Return the reason why a column cannot be a feature, empty if it can."""
    values, n_missing = column.dropna(), int(column.isna().sum())
    kind = column_types.kind_of(column)
    if values.empty:
        return "empty"
    if not n_missing and (values == values.iloc[0]).all():
        return f"constant, {_list_values(values.unique())}"
    if kind in ("category", "integer") and values.is_unique:
        return "every value is different, so it identifies rows"
    if _IDENTIFIER.search(name):
        return "its name suggests an identifier"
    if 2 * n_missing > len(column):
        return f"{n_missing} of {len(column)} missing"
    for part in (column[~is_test], column[is_test]):
        for problem in column_roles.feature_problems(part):
            return _reason(problem)
    return ""


def _reason(problem: str) -> str:
    """Return the first sentence of a problem, for a comment."""
    return re.split(r"\. (?=[A-Z][a-z])", problem.strip())[0].rstrip(".")


def _task(target: pd.Series) -> tuple[Task, str, str | None]:
    """Return the task that a target suggests, the reason, and the positive class.

    A constant target is refused.
    """
    values = np.sort(np.asarray(target.dropna().unique())).tolist()
    if len(values) < 2:
        n_values = several(len(values), "value") if values else "no value"
        raise DataError(f"has {n_values}, and a target needs two or more.")
    kind, names = column_types.kind_of(target), _list_values(values)
    if len(values) == 2:
        words = [column_types.text_of(value) for value in values]
        yes = [word for word in words if word.strip().casefold() in YES]
        positive = None if values == [0, 1] else (yes or words[1:])[0]
        return "binary", f"two values: {names}", positive
    if kind == "category":
        return "multiclass", f"{len(values)} texts: {names}", None
    if kind == "integer" and values == list(range(len(values))) and len(values) <= FEW:
        reason = f"codes from 0 to {len(values) - 1}"
        return "multiclass", f'{reason} (or counts? then task = "regression")', None
    return "regression", f"{len(values)} different numbers", None


def _describe(column: pd.Series) -> str:
    """Return a description of the values of a feature."""
    values = column.dropna()
    kind = column_types.kind_of(column)
    if kind == "category":
        levels = column.cat.categories
        text = f"category, {values.nunique()} levels: {_list_values(levels)}"
        if levels.str.casefold().has_duplicates:
            text += "; some differ in case only"
        if words := [level for level in levels if column_types.may_mean_missing(level)]:
            text += f"; if {_list_values(words)} mean missing, add to missing_values"
    elif kind == "boolean":
        text = "true or false"
    else:
        text = f"{kind}, {values.min():.6g} to {values.max():.6g}"
    n_missing = int(column.isna().sum())
    return f"{text}; {n_missing} of {len(column)} missing" if n_missing else text


def _text(value: object) -> str:
    """Return a text, a number or a list of texts in TOML notation."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _list_values(values: Iterable[object]) -> str:
    """Return the first values, quoted so that no line break can end a comment."""
    return first_of(list(values), FEW, lambda value: _text(column_types.text_of(value)))
