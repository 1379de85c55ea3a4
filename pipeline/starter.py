"""What `init` writes: a configuration to start from, as text.

Everything found in a file stands as a comment beside the key it led to, so that who
answers for the audit sees what to confirm. Not: writing the file.
"""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from pipeline import columns
from pipeline.errors import DataError, did_you_mean, listed
from pipeline.records import Task
from pipeline.tables import Table, read_table

EXAMPLE = Path(__file__).with_name("example.toml")
MISSING = ("NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "?", "-", ".")
FEW = 10  # levels that a comment can list
FOREST, BOOSTING = "RandomForest", "HistGradientBoosting"


class _Task(NamedTuple):
    """What a target column suggests: a task, why, and the positive class."""

    name: Task
    reason: str
    positive: str | None = None


def starter() -> str:
    """Return a configuration that runs as it is, with every key and its default."""
    return EXAMPLE.read_text(encoding="utf-8")


def starter_from(path: Path | str, target: str, folder: Path | str = Path()) -> str:
    """Return a configuration filled from a CSV file.

    Parameters
    ----------
    path : path
        The file.
    target : str
        The column that is predicted.
    folder : path
        Where the configuration will lie; the file is named from there.

    Raises
    ------
    DataError
        If the file cannot be read, or has no such column.
    """
    file = Path(path)
    table = read_table({"file": file.name}, base=file.parent)
    known = [str(name) for name in table.frame.columns]
    if target not in known:
        hint = did_you_mean(target, known) or f" Its columns: {listed(known)}."
        rule = f"{table.name} must have the target column {target!r}"
        raise DataError(f"{rule}, but has none of that name.{hint}")
    missing = _missing_values(table)
    meant = {name: _meant(table, name, missing) for name in known}
    task = _task(meant.pop(target), f"{table.name}: target {target!r}")
    source = os.path.relpath(file.resolve(), Path(folder).resolve())
    parts = (
        _data_text(Path(source).as_posix(), target, task, missing),
        _features_text(meant),
        _models_text(task.name, any(part.isna().any() for part in meant.values())),
        IMPORTANCE,
    )
    return "\n".join(parts)


IMPORTANCE = """\
[[importance]]
method = "permutation"
engines = []            # who answers besides Python: "DALEX", "vip"
n_repeats = 10

[[importance]]
method = "partial_dependence"

[report]
owner = ""              # who answers for the models
purpose = ""            # why this audit is run
intended_use = ""       # what the models are for
unit = ""               # of the target
"""


def _meant(table: Table, name: str, missing: tuple[str, ...]) -> pd.Series:
    where = f"{table.name}: column {name!r}"
    if not table.is_text:
        return columns.from_values(table.frame[name], where=where)
    return columns.from_texts(columns.without(table.frame[name], missing), where=where)


def _missing_values(table: Table) -> tuple[str, ...]:
    """Return the usual words for "missing" that stand in a column of numbers."""
    if not table.is_text:
        return ()
    found: list[str] = []
    for name in table.frame:
        cells = table.frame[name]
        try:
            columns.from_texts(columns.without(cells, ()), where=str(name))
        except DataError:
            found += [word for word in MISSING if (cells == word).any()]
    return tuple(dict.fromkeys(found))


def _task(target: pd.Series, where: str) -> _Task:
    """Return the task that a target suggests."""
    values = sorted(target.dropna().unique())
    if len(values) < 2:
        raise DataError(f"{where} must have two values or more, but has {len(values)}.")
    kind, names = columns.kind_of(target), _listed(values)
    if len(values) == 2:
        positive = None if values == [0, 1] else columns.text_of(values[1])
        return _Task("binary", f"two values: {names}", positive)
    if kind == "category":
        return _Task("multiclass", f"{len(values)} texts: {names}")
    if kind == "integer" and values == list(range(len(values))) and len(values) <= FEW:
        return _Task("multiclass", f"codes from 0 to {len(values) - 1}")
    return _Task("regression", f"{len(values)} different numbers")


def _data_text(file: str, target: str, task: _Task, missing: tuple[str, ...]) -> str:
    lines = [
        "# Filled from the data: confirm what stands in the comments.",
        "# Every key and its default: importance-audit init, in another folder.",
        "",
        "seed = 1",
        "",
        "[data]",
        f"train = {{ file = {_text(file)} }}",
        "test = { fraction = 0.25 }  # or a file, or a column and its value",
        f"target = {_text(target)}",
        f"task = {_text(task.name)}  # proposed, because it holds {task.reason}",
    ]
    if task.positive is not None:
        positive = f"positive_class = {_text(task.positive)}"
        lines.append(f"{positive}  # proposed: whose probability is measured")
    if missing:
        words = f"missing_values = {_text(missing)}"
        lines.append(f"{words}  # proposed: they stand among numbers")
    return "\n".join(lines)


def _features_text(meant: Mapping[str, pd.Series]) -> str:
    """Return the features and what was found in them, all as comments but the list."""
    lines = ["features = ["]
    lines += [f"    {_text(name)},  # {_found(part)}" for name, part in meant.items()]
    lines.append("]")
    levels = {
        name: list(part.cat.categories)
        for name, part in meant.items()
        if columns.is_category(part) and len(part.cat.categories) <= FEW
    }
    if levels:
        inside = ", ".join(f"{_text(name)} = {_text(levels[name])}" for name in levels)
        lines.append("# Levels are sorted; for another order, or a level not seen yet:")
        lines.append(f"# categories = {{ {inside} }}")
    return "\n".join(lines) + "\n"


def _found(column: pd.Series) -> str:
    """Return what a feature holds, in words."""
    values = column.dropna()
    kind = columns.kind_of(column)
    if kind == "category":
        told = f"category, {values.nunique()} levels: {_listed(column.cat.categories)}"
    elif kind == "boolean":
        told = "true or false"
    elif len(values):
        told = f"{kind}, {values.min():.6g} to {values.max():.6g}"
    else:
        told = "empty: leave it out"
    n_missing = int(column.isna().sum())
    return f"{told}; {n_missing} of {len(column)} missing" if n_missing else told


def _models_text(task: Task, has_missing: bool) -> str:
    """Return two models, or the one that takes missing values as they are."""
    suffix = "Regressor" if task == "regression" else "Classifier"
    if has_missing:
        return (
            "[[models]]\n"
            'name = "boosting"\n'
            f'estimator = "sklearn.ensemble.{BOOSTING}{suffix}"\n'
            "# It takes missing values as they are.\n"
            "parameters = { random_state = 1 }\n"
        )
    linear = 'estimator = "sklearn.linear_model.LinearRegression"\n'
    if task != "regression":
        linear = 'estimator = "sklearn.linear_model.LogisticRegression"\n'
        linear += "parameters = { max_iter = 5000 }\n"
    return (
        "[[models]]\n"
        'name = "forest"\n'
        f'estimator = "sklearn.ensemble.{FOREST}{suffix}"\n'
        "parameters = { random_state = 1 }\n\n"
        f'[[models]]\nname = "linear"\n{linear}'
    )


def _text(value: object) -> str:
    """Return a text, a number or a list of texts as TOML writes it."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _listed(values: Iterable[object]) -> str:
    """Return the first values, quoted so that no line breaks a comment."""
    words = [columns.text_of(value) for value in values]
    shown = ", ".join(_text(word) for word in words[:FEW])
    return f"{shown} and {len(words) - FEW} more" if len(words) > FEW else shown
