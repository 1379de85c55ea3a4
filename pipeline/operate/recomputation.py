"""Inputs for the recomputation of a hand-off in R: rows, questions, models.

Not: the numbers of the audit (`handoff`), or calling R.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..auditing.limits import limited
from ..config.load import load_config
from ..data.column_types import kind_of, text_of
from ..data.datasets import (
    as_frame,
    as_pandas,
    check_index,
    dataset,
    draw_rows,
    one_column,
    read_datasets,
    rows_that_count,
)
from ..engines.dalex import OWN_LOSSES
from ..models.r_models import frame_of
from ..records.dataset_and_model import Dataset, FittedModel, Task
from ..records.errors import DataError
from ..records.importance_record import Importance
from ..records.ranking import measure_of, options_text, question_of
from ..records.result import AuditResult

Table = Iterator[tuple[Any, ...]]
OF_R = re.compile(r", R \d+\.\d+")
"""The R version in the library of a model of R, as `models.r_models` writes it."""
ALONE = {"within": "none", "perturbation": "permute", "draws": "sampled"}
"""The options of permutation for which DALEX and vip measure the same."""


def read_evaluation_rows(folder: Path, result: AuditResult) -> Dataset:
    """Return the evaluation rows of a stored run, read again from its audit's folder.

    Parameters
    ----------
    folder : Path
        The run folder; relative files start two levels up.
    result : AuditResult

    Raises
    ------
    DataError
        If the rows were given in Python, cannot be read, or have changed.
    importance_audit.r_bridge.errors.RBridgeError
        If R has to read them and cannot.
    """
    if not result.run.config.get("data"):
        raise DataError(
            "The rows were given in Python, so there is no table to read them from. "
            "Give them once more: importance_audit.load(run).handoff(folder, X, y)."
        )
    folder = folder.resolve()
    config = load_config(folder / "audit.toml", base=folder.parents[1])
    _, test = read_datasets(**config.data_arguments)
    rows = limited(config, test)[1]
    check_rows(result, rows, f"{rows.source} has changed since the run", "Restore")
    return rows


def rows_again(
    result: AuditResult, X: Any, y: Any, sample_weight: Any = None
) -> Dataset:
    """Return the evaluation rows from rows given in Python, numbered from 1.

    Raises
    ------
    DataError
        If the audit read its rows from a table, or had other rows.
    """
    if result.run.config.get("data"):
        raise DataError(
            "The audit read its rows from a table. Run: importance-audit handoff"
        )
    frame, y, weights = as_table(X, y, sample_weight)
    counts = rows_that_count(frame, weights)
    facts = evaluation_of(result)
    rows = dataset(
        frame,
        y,
        task=facts["task"],
        name=facts["name"],
        weights=weights,
        classes=classes_of((), np.asarray(y)[counts], facts["task"]),
    )
    rows = replace(rows, row_numbers=np.flatnonzero(counts) + 1)
    most = result.run.config["limits"]["max_rows"]
    if most is not None and rows.n_samples > most:
        rows = draw_rows(rows, most, result.run.config["seed"])
    check_rows(result, rows, "X and y are not the rows of the audit", "Give")
    return rows


def as_table(
    X: Any, y: Any, sample_weight: Any = None, name: str = "X"
) -> tuple[pd.DataFrame, Any, Any]:
    """Return rows given in Python as a frame, with their target and weights.

    Raises
    ------
    DataError
        If they are no table, or do not belong together.
    """
    X = as_pandas(X)
    frame = X if isinstance(X, pd.DataFrame) else as_frame(X, name)
    y = one_column(() if y is None else y, "y")
    weights = one_column(sample_weight, "sample_weight")
    check_index(frame, y=y, sample_weight=weights)
    return frame, y, weights


def classes_of(models: Iterable[Any], y: Any, task: Task) -> Sequence[Any] | None:
    """Return the classes of the first model that has them, in its order.

    Labels are those of the target. If no model has classes, they are those of the
    target, sorted as in scikit-learn. None for regression.
    """
    if task == "regression":
        return None
    of_target = pd.unique(pd.Series(np.asarray(y)).dropna())
    by_text = {text_of(label): label for label in of_target}
    for model in models:
        is_ours = isinstance(model, FittedModel)
        own = model.classes or None if is_ours else getattr(model, "classes_", None)
        if own is not None:
            return [by_text.get(text_of(label), label) for label in own]
    return sorted(of_target)


def check_rows(result: AuditResult, rows: Dataset, what: str, remedy: str) -> None:
    """Raise if the digest of rows is not that of the evaluation rows of a run."""
    stated = str(evaluation_of(result)["sha256"])
    if rows.sha256 != stated:
        raise DataError(
            f"{what}: the rows have the digest {rows.sha256[:16]}, and the run states "
            f"{stated[:16]}. {remedy} the data."
        )


def evaluation_of(result: AuditResult) -> dict[str, Any]:
    """Return the row of ``datasets`` on the evaluation rows."""
    frame = result.datasets
    of_test = frame[~frame["split"].isin(["train", "reference"])]
    return dict(of_test.iloc[0]) if len(of_test) else dict.fromkeys(frame, "")


def evaluation(result: AuditResult) -> Table:
    """Yield the table on the evaluation rows: number, digest, target; one row."""
    names = ("rows", "sha256", "task", "target", "source")
    facts = evaluation_of(result)
    yield names
    yield tuple(facts[name] for name in names)


def row_numbers(rows: Dataset) -> Table:
    """Yield the number of each row in its table, from 1."""
    yield ("row",)
    yield from ((number,) for number in rows.row_numbers.tolist())


def columns(rows: Dataset, weights: str) -> Table:
    """Yield the table of columns, from which the digest of the rows is computed.

    It has one row per column, or per level of a category. The role is "feature",
    "unread" (no model gets it), "target" or "weights"; the kind is "number", "integer",
    "boolean", "category" or, for a target, "class".
    """
    yield ("column", "role", "kind", "level")
    for name, column in rows.X.items():
        role = "unread" if name in rows.unread else "feature"
        kind = kind_of(column)
        levels = column.cat.categories if kind == "category" else [""]
        yield from ((name, role, kind, level) for level in levels)
    kind = "class" if rows.classes else "number"
    yield from ((rows.target, "target", kind, name) for name in rows.classes or [""])
    if rows.is_weighted:
        yield (weights, "weights", "number", "")


def table_of(rows: Dataset, weights: str) -> pd.DataFrame:
    """Return the rows for R: all columns, the target, and weights if any differ."""
    frame = frame_of(replace(rows, unread={}))
    return frame.assign(**{weights: rows.weights}) if rows.is_weighted else frame


def questions(result: AuditResult) -> Table:
    """Yield the table of questions that DALEX and vip can recompute.

    It has one row per column of a feature. Records by several engines, or with several
    draws, are one question. There are none for rows with weights.
    """
    yield (
        *("question", "model", "of", "loss", "form", "n_repeats", "n_rows", "seed"),
        *("options", "dalex_loss", "feature", "column"),
    )
    if evaluation_of(result).get("weighted"):
        return
    by_question: dict[tuple[Any, ...], Importance] = {}
    for record in result.importances:
        if _can_recompute(record):
            by_question.setdefault((question_of(record), measure_of(record)), record)
    for number, record in enumerate(by_question.values(), start=1):
        facts = (record.model, record.of, record.loss, record.form)
        draws = (record.n_repeats, record.options.get("n_rows") or "", record.seed)
        more = (options_text(record), OWN_LOSSES.get(record.loss, ""))
        for feature, members in zip(record.features, record.columns, strict=True):
            for column in members:
                yield (number, *facts, *draws, *more, feature, column)


def _can_recompute(record: Importance) -> bool:
    """Return whether DALEX can recompute an importance."""
    return (
        record.method == "permutation"
        and not record.is_supplied
        and record.of in ("features", "groups")
        and record.form in ("difference", "ratio", "raw")
        and all(record.options.get(k, usual) == usual for k, usual in ALONE.items())
    )


def models(result: AuditResult) -> Table:
    """Yield the table of models, with their files and digests of predictions."""
    names = (
        *("model", "estimator", "library", "task", "scale", "source", "sha256"),
        "predictions_sha256",
    )
    yield (*names, "fitted_in", "predict_script")
    of_r = _of_r(result)
    scripts = {name: path for path, (name, _) in predict_scripts(result).items()}
    for row in result.models.to_dict("records"):
        name = row["model"]
        fitted_in = "R" if name in of_r else "Python"
        yield (*(row[key] for key in names), fitted_in, scripts.get(name, ""))


def predict_scripts(result: AuditResult) -> dict[str, tuple[str, str]]:
    """Return the prediction scripts of models of R: model and text, by path."""
    of_r = _of_r(result)
    parameters = zip(result.models["model"], result.models["parameters"], strict=True)
    texts = {
        name: json.loads(text or "{}").get("predict", "")
        for name, text in parameters
        if name in of_r
    }
    named = [(name, str(text)) for name, text in texts.items() if text]
    return {f"r/predict-{n}.R": item for n, item in enumerate(named, start=1)}


def _of_r(result: AuditResult) -> set[str]:
    """Return the names of the models that R fitted, by their library."""
    rows = zip(result.models["model"], result.models["library"], strict=True)
    return {str(name) for name, library in rows if OF_R.search(str(library))}
