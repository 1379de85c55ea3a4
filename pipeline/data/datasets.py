"""The rows of an audit: read as a configuration describes, or passed in Python.

Problems that do not depend on each other are reported together, one per line.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..records.asker import PYTHON, current_asker
from ..records.dataset_and_model import Dataset, Task
from ..records.errors import DataError, hints, listed, quote
from ..records.finding import Finding
from ..records.frames import FRAMES
from . import column_roles, dates
from .column_roles import collecting, raise_all
from .column_types import (
    digest_of,
    flags_in_words,
    from_values,
    is_category,
    refuse_new_levels,
    text_of,
)
from .derived_columns import DerivedSection, definition_of
from .encoding import column_type
from .left_out import weighs, without_weight
from .read import Side, read, row_problems
from .section import DataSection
from .splits import drawn_rows
from .tables import RFrame, check_header, is_text_file

Split = Literal["train", "test", "all", "reference"]
SPLITS: tuple[Split, Split] = ("train", "test")


def read_datasets(
    section: DataSection | None,
    *,
    groups: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    derived: Sequence[DerivedSection] = (),
    seed: int = 1,
    base: Path = Path(),
    r_frame: RFrame | None = None,
) -> tuple[Dataset | None, Dataset]:
    """Return the training and the test rows that a configuration describes.

    In both, a category has the levels of the training rows. The rows keep the order of
    their table. Missing features stay missing; integers stay integers if none is
    missing.

    Parameters
    ----------
    section : DataSection
        The ``[data]`` of a configuration. ``config.data_arguments`` holds it and all
        of the following.
    groups : mapping of str to tuple of str
        Columns that are permuted together; each must be a feature.
    derived : sequence of DerivedSection
        Columns computed from other columns.
    seed : int
        Seed of the draw of the rows held out.
    base : Path
        The folder that relative files start from.
    r_frame : callable, optional
        ``r_frame("package::name") -> DataFrame`` reads an R data set; by default the
        R process of the audit does.

    Returns
    -------
    train, test : Dataset
        Each feature is a group of its own; ``with_groups`` sets other groups. `train`
        is None if it is configured as {}: these rows are not known. The reference
        rows, if there are any, are ``test.reference``; their target is not read and is
        NaN.

    Raises
    ------
    DataError
        One line per problem.
    importance_audit.r_bridge.errors.RUnavailable
        If an R data set is to be read and R is not available.
    """
    if section is None:
        raise DataError(
            "The configuration has no [data], so the rows are not specified. Add "
            "it, or make them with importance_audit.dataset."
        )
    sides, inferred = read(
        section, groups=groups, derived=derived, seed=seed, base=base, r_frame=r_frame
    )
    problems = [
        text
        for split, side in sides.items()
        if split != "train" or section.train  # else "train" holds the test rows
        for text in _problems(side, is_learnt=split == "train")
    ]
    others = [(rows, side) for rows, side in sides.items() if rows != "train"]
    for key, (rows, side) in product(inferred, others):
        known = sides["train"].X[key]
        if is_category(known):
            with collecting(problems, f"{side.where}: column {quote(key)}"):
                refuse_new_levels(known.dropna(), side.X[key], rows=rows)
    with collecting(problems):
        classes, targets = _targets(
            [sides[split] for split in SPLITS],
            section.task,
            positive_class=section.positive_class,
        )
    raise_all(problems)
    train, test = (
        _dataset_of(sides[split], y, section.task, classes, split=split)
        for split, y in zip(SPLITS, targets, strict=True)
    )
    if side := sides.get("reference"):
        y = side.target.to_numpy()
        reference = _dataset_of(side, y, section.task, classes, split="reference")
        test = replace(test, reference=reference)
    if not section.train:
        return None, replace(test, notes=(*train.notes, *test.notes))
    return train, test


def dataset(
    X: pd.DataFrame | npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    task: Task,
    name: str,
    split: Split = "test",
    weights: npt.ArrayLike | None = None,
    classes: Sequence[Any] | None = None,
    held_out: Sequence[str] = (),
    segments: Sequence[str] | Mapping[str, npt.ArrayLike] = (),
) -> Dataset:
    """Return rows passed in Python, checked like those of a file.

    Parameters
    ----------
    X : DataFrame or array-like of shape (n_samples, n_features)
        The features, copied; `as_pandas` converts tables of other libraries. The
        columns of an array are named x1, x2, …. The methods read texts as categories
        with sorted levels, and nullable columns as numbers; a model that was fitted
        elsewhere gets every column in the type it has here.
    y : array-like of shape (n_samples,)
        The target: numbers, or the classes that the estimator was fitted to.
    task : {"regression", "binary", "multiclass"}
    name : str
        The name of these rows in the report.
    split : {"test", "train", "all"}, default "test"
        "all" if the model was fitted on some of the rows.
    weights : array-like of shape (n_samples,), optional
    classes : sequence, optional
        The classes in the order of the model's outputs, such as
        ``estimator.classes_``; if binary, the last is the one whose probability is
        measured. By default the sorted classes of `y`, 1 or true last.
    held_out : sequence of str, optional
        Columns that are audited, but not given to a model that the audit fits.
    segments : sequence of str, or mapping of str to array-like of shape (n_samples,)
        Columns that divide the rows into segments, for which results are also shown
        separately: names of columns of `X`, or columns of any values.

    Returns
    -------
    Dataset
        Each feature is a group of its own; ``with_groups`` sets other groups, and
        ``derived_columns.with_derived`` adds columns computed from these.

    Raises
    ------
    DataError
        One line per problem.

    Examples
    --------
    >>> import numpy as np
    >>> rows = dataset(np.eye(3), ["no", "yes", "no"], task="binary", name="eye",
    ...                classes=["no", "yes"])
    >>> rows.features, rows.y.tolist(), rows.classes
    (('x1', 'x2', 'x3'), [0.0, 1.0, 0.0], ('no', 'yes'))
    """
    X, weights = as_frame(X, name), as_pandas(weights)
    y = one_column(y, f"{name}: y")
    others = {"y": y} if weights is None else {"y": y, "weights": weights}
    problems = [
        f"{name}: {role} must have one value for each of {len(X)} rows; its shape is "
        f"{np.shape(values)}."
        for role, values in others.items()
        if np.shape(values) != (len(X),)
    ]
    raise_all(problems)
    counts = rows_that_count(X, weights)
    rows: dict[str, pd.Series] = {}
    for key in X:
        with collecting(problems, f"{name}: column {quote(key)}"):
            column = X[key][counts].reset_index(drop=True)
            column = from_values(column, is_feature=True)
            rows[key] = dates.seconds_of(column) if dates.is_dates(column) else column
    roles: dict[str, pd.Series] = {}
    for role, values in others.items():
        with collecting(problems, f"{name}: {role}"):
            column = pd.Series(values)[counts].reset_index(drop=True)
            roles[role] = from_values(column)
    raise_all(problems)
    types = {key: column_type(X[key], rows[key]) for key in X}
    side = Side(
        X=pd.DataFrame(rows),
        target=roles["y"].rename(str(getattr(y, "name", None) or "y")),
        weights=roles["weights"].rename("weights") if "weights" in roles else None,
        where=name,
        facts={
            "name": name,
            "source": "given in Python",
            "types": {key: kind for key, kind in types.items() if kind},
            "notes": () if counts.all() else (without_weight(counts, name),),
            "unread": dict.fromkeys(held_out, ()),
            "segments": _segments_of(X, segments, name, counts),
        },
    )
    problems = list(_problems(side, is_learnt=split == "train"))
    unknown = [key for key in held_out if key not in side.X]
    problems += [
        f"{name}: held_out names {quote(key)}, which is not a column.{hint}"
        for key, hint in zip(unknown, hints(unknown, list(side.X)), strict=True)
    ]
    with collecting(problems):
        order, targets = _targets((side,), task, classes=classes, is_configured=False)
    raise_all(problems)
    return _dataset_of(side, targets[0], task, order, split=split)


def draw_rows(data: Dataset, n_rows: int, seed: int) -> Dataset:
    """Return a sample of the rows without replacement, in their original order.

    It is stratified by class. The source states the number of rows drawn, and the
    digest is that of the sample. The reference rows stay.

    Parameters
    ----------
    data : Dataset
    n_rows : int
        Size of the sample, at most the number of rows.
    seed : int
    """
    strata = data.y.astype(int) if data.classes else np.zeros(data.n_samples, dtype=int)
    is_drawn = drawn_rows(
        n_rows / data.n_samples, seed, strata=strata.astype(object), part="limit"
    )
    at = np.flatnonzero(is_drawn)
    cut = data.part(data.features, at)
    features = [(name, cut.X[name]) for name in cut.features]
    facts = (data.task, *data.classes)
    of_all = f"{len(at)} of {data.n_samples} rows drawn"
    return replace(
        cut,
        groups=data.groups,
        source=f"{data.source}, {of_all}" if data.source else of_all,
        sha256=digest_of(features, [cut.y, cut.weights], facts=facts),
    )


def describe(
    train: Dataset | None,
    test: Dataset | None,
    section: DataSection | None = None,
    derived: Sequence[DerivedSection] = (),
) -> pd.DataFrame:
    """Return a description of each feature, one row per feature.

    Without `test` there are no rows.

    Columns: feature; kind, "number" or "category"; dtype; origin of the type,
    "declared" in the configuration, "inferred" from the texts of a CSV file, "data" if
    the source has types, "derived", or "held_out" for other columns that no model is
    given; levels; minimum, maximum (NaN for a category) and the number of distinct
    values over all rows; missing_train and missing_test, the numbers of missing cells,
    the first NaN without training rows; definition of derived columns and of dates.
    """
    if test is None:
        return FRAMES["columns"].of()
    dated = [name for name, kind in test.types.items() if dates.was_dates(kind)]
    definitions = dict.fromkeys(dated, dates.UNIT)
    definitions |= {item.name: definition_of(item) for item in derived}
    is_inferred = section and is_text_file(str(section.train.get("file", "")))
    origins = dict.fromkeys(test.features, "inferred" if is_inferred else "data")
    origins |= dict.fromkeys(test.declared, "declared")
    origins |= {item.name: "derived" for item in derived}
    held_out = (name for name, made_of in test.unread.items() if not made_of)
    origins |= dict.fromkeys(held_out, "held_out")
    rows = []
    for name in test.features:
        parts = [data.X[name] for data in (train, test) if data]
        values = pd.concat(parts, ignore_index=True).dropna()
        has_levels = is_category(parts[0])
        is_ranged = len(values) and not has_levels
        row = {
            "feature": name,
            "kind": "category" if has_levels else "number",
            "dtype": str(parts[0].dtype),
            "origin": origins[name],
            "levels": tuple(parts[0].cat.categories) if has_levels else (),
            "minimum": float(values.min()) if is_ranged else np.nan,
            "maximum": float(values.max()) if is_ranged else np.nan,
            "distinct": int(values.nunique()),
            "missing_train": int(train.X[name].isna().sum()) if train else np.nan,
            "missing_test": int(test.X[name].isna().sum()),
            "definition": definitions.get(name, ""),
        }
        rows.append(row)
    return FRAMES["columns"].of(rows)


def datasets_frame(train: Dataset | None, test: Dataset | None) -> pd.DataFrame:
    """Return a description of each set of rows: training, test, then reference rows.

    Without `test` there are no rows.

    Columns: name; split; rows; columns; target; task; source; sha256; weighted, whether
    the weights of the rows differ; missing_cells, over all features; script and
    script_sha256, the R script that made the rows, empty if there is none.
    """
    return FRAMES["datasets"].of(
        [
            {
                "name": rows.name,
                "split": rows.split,
                "rows": rows.n_samples,
                "columns": len(rows.features),
                "target": rows.target,
                "task": rows.task,
                "source": rows.source,
                "sha256": rows.sha256,
                "weighted": rows.is_weighted,
                "missing_cells": int(rows.X.isna().to_numpy().sum()),
                "script": rows.script,
                "script_sha256": rows.script_sha256,
            }
            for rows in (train, test, test.reference if test else None)
            if rows is not None
        ]
    )


def left_out_frame(test: Dataset | None) -> pd.DataFrame:
    """Return the columns that are neither audited nor the target, one row each.

    Columns: the fields of `LeftOut`. No rows without `test`, or if the rows were passed
    in Python.
    """
    columns = test.left_out if test else ()
    return FRAMES["left_out"].of([column._asdict() for column in columns])


def _segments_of(
    X: pd.DataFrame,
    segments: Sequence[str] | Mapping[str, Any],
    name: str,
    counts: npt.NDArray[np.bool_],
) -> pd.DataFrame:
    """Return the segment columns of rows passed in Python, typed."""
    segments = as_pandas(segments)
    if not isinstance(segments, Mapping | pd.DataFrame):
        unknown = [key for key in segments if key not in X]
        raise_all(
            f"{name}: segments names {quote(key)}, which is not a column.{hint}"
            for key, hint in zip(unknown, hints(unknown, list(X)), strict=True)
        )
        segments = {key: X[key] for key in segments}
    columns = {}
    for key in segments:
        where = f"{name}: segment {quote(key)}"
        values = () if segments[key] is None else one_column(segments[key], where)
        check_index(X, **{f"segments[{quote(key)}]": values})
        column = pd.Series(values)[counts].reset_index(drop=True)
        with column_roles.about(where):
            typed = from_values(column, is_feature=True)
        columns[str(key)] = flags_in_words(dates.as_years(typed), column)
    return pd.DataFrame(columns)


def check_index(X: pd.DataFrame, **others: Any) -> None:
    """Refuse columns whose length or index differs from that of X."""
    for name, values in others.items():
        if values is not None and np.shape(values)[:1] != (len(X),):
            raise DataError(
                f"{name} must have one value for each of the {len(X)} rows of X; its "
                f"shape is {np.shape(values)}."
            )
        index = getattr(values, "index", None)
        if not isinstance(index, pd.Index) or index.equals(X.index):
            continue
        same = len(index) == len(X) and set(index) == set(X.index)
        problem = "the same labels in another order" if same else "other labels"
        remedy = f"Pass {name}.loc[X.index]" if same else f"Pass {name}.to_numpy()"
        why = "" if same else " if its rows are in the order of X"
        raise DataError(
            f"The index of {name} has {problem} than that of X. {remedy}{why}."
        )


def rows_that_count(X: pd.DataFrame, weights: Any) -> npt.NDArray[np.bool_]:
    """Return whether each row has a weight other than 0; all true without weights."""
    return weighs(pd.Series(np.ones(len(X)) if weights is None else weights))


def as_pandas(values: Any) -> Any:
    """Return a table or a column of another library as a pandas object.

    It is converted by its own ``to_pandas`` (Polars, pyarrow, cuDF, Modin), or else by
    the dataframe interchange protocol. A column has no index unless its library has
    one. Pandas objects, and values that are not a table or column, are returned
    unchanged.

    Raises
    ------
    DataError
        If the conversion fails, or its result is not a pandas object.
    """
    of_pandas = (pd.DataFrame, pd.Series, pd.Index)
    ways = ("to_pandas", "__dataframe__")
    way = next((each for each in ways if hasattr(values, each)), "")
    if isinstance(values, (type, *of_pandas)) or not way:
        return values
    kind = type(values).__name__
    try:
        if way == "to_pandas":
            converted = values.to_pandas()
        else:
            converted = pd.api.interchange.from_dataframe(values)
    except Exception as error:
        raise DataError(
            f"A {kind} could not be converted to pandas by {way}: "
            f"{type(error).__name__}: {error}. Give a table of pandas."
        ) from error
    if not isinstance(converted, of_pandas):
        raise DataError(
            f"{way} of a {kind} gave a {type(converted).__name__}, and must give a "
            "table or column of pandas."
        )
    numbered = pd.RangeIndex(len(converted))  # of a library without an index
    if isinstance(converted, pd.Series) and converted.index.equals(numbered):
        return converted.array
    return converted


def one_column(values: Any, where: str) -> Any:
    """Return values of shape (n, 1) as shape (n,); one-dimensional ones are unchanged.

    Raises
    ------
    DataError
        If there are several columns.
    """
    values = as_pandas(values)
    if np.ndim(values) != 2:
        return values
    if np.shape(values)[1] != 1:
        names = f" ({listed(values)})" if isinstance(values, pd.DataFrame) else ""
        how = "Give one of them, and the models that were fitted to it."
        cells = np.asarray(values)
        if np.isin(cells, (0, 1)).all() and (cells.sum(axis=1) == 1).all():
            how = f"If each is a class, give numpy.asarray({where}).argmax(axis=1)."
        raise DataError(
            f"{where} must be one column; it has {np.shape(values)[1]}{names}. {how}"
        )
    is_frame = isinstance(values, pd.DataFrame)
    return values.iloc[:, 0] if is_frame else _as_array(values)[:, 0]


def _as_array(values: Any) -> npt.NDArray[Any]:
    """Return values as an array; masked cells stay masked, as pandas can read them."""
    return values if isinstance(values, np.ma.MaskedArray) else np.asarray(values)


def as_frame(X: Any, name: str) -> pd.DataFrame:
    """Return the features as a frame with unique column names that are strings."""
    X = as_pandas(X)
    if not isinstance(X, pd.DataFrame):
        cells = _as_array(X)
        if cells.ndim != 2:
            what = f"its shape is {cells.shape}."
            if hasattr(X, "toarray"):
                what = f"it is a {type(X).__name__}. Pass X.toarray()."
            raise DataError(f"{name}: X must have rows and columns; {what}")
        columns = [f"x{number}" for number in range(1, cells.shape[1] + 1)]
        return pd.DataFrame(cells, columns=columns)
    others = [key for key in X if not isinstance(key, str)]
    if others:
        raise DataError(
            f"{name}: column names must be strings; {listed(others)} "
            f"{'was' if len(others) == 1 else 'were'} given. Rename them: X.columns "
            "= X.columns.map(str)"
        )
    check_header(name, tuple(X.columns))
    return X


def _problems(side: Side, *, is_learnt: bool) -> Iterator[str]:
    """Yield the problems of the rows, the features and the weights of one split.

    A feature without any value is a problem only in rows that models are fitted on.
    """
    yield from row_problems(len(side.X), side.where)
    for key in side.X:
        own = column_roles.feature_problems(side.X[key], may_be_empty=not is_learnt)
        yield from (f"{side.where}: column {quote(key)} {problem}" for problem in own)
    if side.weights is not None:
        is_argument = current_asker() == PYTHON
        what = "sample_weight" if is_argument else f"column {quote(side.weights.name)}"
        for problem in column_roles.weight_problems(side.weights):
            yield f"{side.where}: {what} {problem}"


def _targets(
    sides: Sequence[Side],
    task: Task,
    *,
    positive_class: str | int | bool | None = None,
    classes: Sequence[Any] | None = None,
    is_configured: bool = True,
) -> tuple[tuple[str, ...], list[npt.NDArray[Any]]]:
    """Return the classes, and the target of each side as numbers."""
    where = [f"{side.where}: target {quote(side.target.name)}" for side in sides]
    raise_all(
        f"{label} {problem}"
        for side, label in zip(sides, where, strict=True)
        for problem in column_roles.target_problems(
            side.target, task, is_configured=is_configured
        )
    )
    if classes is not None:
        order = tuple(text_of(value) for value in classes)
    else:
        with column_roles.about(where[0]):
            order = column_roles.classes_of(
                sides[0].target, task, positive_class=positive_class
            )
    targets = []
    for side, label in zip(sides, where, strict=True):
        with column_roles.about(label):
            targets.append(column_roles.coded(side.target, task, order))
    return order, targets


def _dataset_of(
    side: Side,
    y: npt.NDArray[Any],
    task: Task,
    classes: tuple[str, ...],
    *,
    split: Split,
) -> Dataset:
    """Return the `Dataset` of rows that have been checked."""
    weights = np.ones(len(y))
    if side.weights is not None:
        weights = side.weights.to_numpy(dtype=np.float64)
    features = [(str(key), side.X[key]) for key in side.X]
    facts = dict(side.facts)
    facts["notes"] = (*facts.get("notes", ()), *_gaps(side, y, classes, split))
    return Dataset(
        X=side.X,
        y=y,
        task=task,
        weights=weights,
        groups={key: (key,) for key, _ in features},
        split=split,
        target=str(side.target.name),
        sha256=digest_of(features, [y, weights], facts=(task, *classes)),
        classes=classes,
        **facts,
    )


def _gaps(
    side: Side, y: npt.NDArray[Any], classes: tuple[str, ...], split: Split
) -> Iterator[Finding]:
    """Yield findings: columns without a value, or classes without an evaluation row."""
    if split in ("train", "reference"):
        return
    empty = [str(key) for key in side.X if side.X[key].isna().all()]
    if empty:
        yield Finding(
            check="empty_column",
            severity="info",
            subject=side.facts["name"],
            message=(
                "These columns have no value in any evaluation row, so what a model "
                f"reads of them is that they are missing: {listed(empty)}."
            ),
            remedy="Audit rows in which they have values, or leave them out.",
            evidence={"columns": len(empty)},
        )
    absent = [name for code, name in enumerate(classes) if not (y == code).any()]
    if absent:
        yield Finding(
            check="absent_class",
            severity="warning",
            subject=side.facts["name"],
            message=(
                f"No evaluation row has the class {listed(absent)}, so losses that "
                "take each class by itself, such as 1 - AUC and 1 - balanced accuracy, "
                "are not defined."
            ),
            remedy="Add rows of the class, or choose a loss that is a mean over rows.",
            evidence={"classes": len(absent)},
        )
