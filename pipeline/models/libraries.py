"""Properties of models of other libraries: statsmodels, XGBoost, LightGBM.

Estimators of these libraries with the scikit-learn interface need only their column
names from here. LightGBM is recognised by its module name, and its Python package was
never run: it was not available where this was written.
"""

import ast
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..records.dataset_and_model import Task
from ..records.errors import ModelError, listed, quote
from .lightgbm_text import LightGBMModel

OFFSETS = ("offset", "exposure")
"""Arguments that statsmodels adds to a linear predictor, exposure as its logarithm."""


class Facts(NamedTuple):
    """Properties of a model of another library.

    Attributes
    ----------
    features : tuple of str or None
        The columns that it uses, in its order; None if it was fitted on an array.
    task : {"regression", "binary", "multiclass"}
    classes : tuple of str
        Its class names, in the order of its predictions; codes if it has no names.
    ask : callable
        ``ask(X)`` returns predictions as `FittedModel.predict` does; for two classes it
        may return both columns.
    """

    features: tuple[str, ...] | None
    task: Task
    classes: tuple[str, ...]
    ask: Callable[[Any], Any]


def facts_of(name: str, model: Any) -> Facts | None:
    """Return the properties of results of statsmodels or of a Booster.

    None for any other object, which is treated as an estimator of scikit-learn.

    Raises
    ------
    ModelError
        If the model `name` predicts classes without their probabilities.
    """
    if isinstance(model, LightGBMModel):
        task, classes = _task(name, model.objective, model.n_classes)
        return Facts(model.feature_names, task, classes, model.predict)
    module, kind = type(model).__module__, type(model).__name__
    if module.startswith("statsmodels.") and hasattr(model, "model"):
        return _of_statsmodels(model)
    if kind == "Booster" and module.startswith("xgboost."):
        learner = json.loads(model.save_config())["learner"]
        n_classes = int(learner["learner_model_param"]["num_class"])
        task, classes = _task(name, learner["objective"]["name"], n_classes)
        names = None if model.feature_names is None else tuple(model.feature_names)
        return Facts(names, task, classes, partial(ask_xgboost, model))
    if kind == "Booster" and module.startswith("lightgbm."):
        lines = model.model_to_string().partition("\n\n")[0].splitlines()
        head = dict(line.partition("=")[::2] for line in lines)
        objective = head.get("objective", "").partition(" ")[0]
        task, classes = _task(name, objective, int(head.get("num_class", 1)))
        return Facts(_given_names(model.feature_name()), task, classes, model.predict)
    return None


def check_offsets(name: str, model: Any, held: Mapping[str, str]) -> None:
    """Refuse a model whose offset has no column, or that does not accept one.

    `held` maps "offset" and "exposure" to columns. Only results of statsmodels record
    whether they were fitted with an offset.
    """
    library = type(model).__module__.partition(".")[0]
    if library == "xgboost":
        return
    fitted = getattr(model, "model", None) if library == "statsmodels" else None
    predict = getattr(fitted, "predict", None)
    words = set(signature(predict).parameters) if predict else set()
    if not held.keys() <= words:
        raise ModelError(
            f"Model {quote(name)} cannot be given {listed(held)}: only models of "
            "XGBoost and results of statsmodels whose predict takes it can."
        )
    used = [word for word in OFFSETS if np.any(getattr(fitted, word, 0.0))]
    if len(used) > len(held):
        raise ModelError(
            f"Model {quote(name)} was fitted with {' and '.join(used)}, which its "
            "predict leaves out of other rows. Name the column that holds it: "
            f'ia.wrap(results, name={name!r}, {used[0]}="column"), or {used[0]} = '
            '"column" under [[models]].'
        )


def ask_with_offsets(ask: Callable[..., Any], words: Sequence[str], rows: Any) -> Any:
    """Return predictions for rows whose last columns are offset, exposure, or both."""
    n = len(words)
    if isinstance(rows, pd.DataFrame):
        held, rest = rows.iloc[:, -n:].to_numpy(dtype=np.float64), rows.iloc[:, :-n]
        return ask(rest.copy(), **dict(zip(words, held.T, strict=True)))
    held = rows[:, -n:].astype(np.float64)
    return ask(rows[:, :-n], **dict(zip(words, held.T, strict=True)))


def ask_with_margin(
    ask: Callable[..., Any], rows: Any, offset: Any = 0.0, exposure: Any = 1.0
) -> Any:
    """Return predictions of XGBoost with offset plus log exposure as the margin."""
    return ask(rows, base_margin=np.log(exposure) + offset)


def columns_of(estimator: Any) -> tuple[str, ...] | None:
    """Return the column names an estimator was fitted with, None if on an array."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None and type(estimator).__module__.startswith("lightgbm."):
        names = _given_names(estimator.feature_name_)
    return None if names is None else tuple(str(name) for name in names)


def _of_statsmodels(results: Any) -> Facts:
    """Return the properties of the results of a fit by statsmodels."""
    model = results.model
    n_classes = getattr(model, "J", 0)
    family = type(getattr(model, "family", None)).__name__
    lineage = [kind.__name__ for kind in type(model).__mro__]
    is_binary = family == "Binomial" or "BinaryModel" in lineage
    task: Task = "binary" if is_binary else "regression"
    classes: tuple[str, ...] = ("0", "1") if is_binary else ()
    if n_classes:
        task = "multiclass"
        classes = tuple(str(label) for label in model._ynames_map.values())
    if hasattr(model, "formula"):
        return Facts(_columns_of_formula(model), task, classes, results.predict)
    names, place = list(model.exog_names), model.data.const_idx
    constant = None
    if place is not None:
        constant = (place, names[place], float(np.asarray(model.exog)[0, place]))
        del names[place]
    ask = partial(_ask_design, results, constant)
    is_named = hasattr(model.data.orig_exog, "columns")
    return Facts(tuple(names) if is_named else None, task, classes, ask)


def _columns_of_formula(model: Any) -> tuple[str, ...] | None:
    """Return the columns used in the terms of a formula, in the order of its data."""
    frame = getattr(model.data, "frame", None)
    if frame is None:  # results.remove_data() was called
        return None
    words: set[str] = set()
    for factor in model.data.design_info.factor_infos:
        nodes = list(ast.walk(ast.parse(factor.code, mode="eval")))
        words |= {node.id for node in nodes if isinstance(node, ast.Name)}
        # Q("a b") quotes a name that is not an identifier.
        words |= {str(node.value) for node in nodes if isinstance(node, ast.Constant)}
    return tuple(str(column) for column in frame.columns if column in words)


def _ask_design(
    results: Any, constant: tuple[int, str, float] | None, rows: Any, **held: Any
) -> Any:
    """Return predictions for the columns of a design, after inserting its constant."""
    if constant is not None:
        place, name, value = constant
        if isinstance(rows, pd.DataFrame):
            rows.insert(place, name, value)
        else:
            rows = np.insert(rows, place, value, axis=1)
    return np.asarray(results.predict(rows, **held))


def ask_xgboost(booster: Any, rows: Any, base_margin: Any = None) -> Any:
    """Return the predictions of a Booster of XGBoost."""
    from xgboost import DMatrix

    table = DMatrix(rows, base_margin=base_margin, enable_categorical=True)
    return booster.predict(table)


def _given_names(names: Sequence[str]) -> tuple[str, ...] | None:
    """Return LightGBM's column names, None if it generated them for an array."""
    numbered = [f"Column_{number}" for number in range(len(names))]
    return None if list(names) == numbered else tuple(names)


BINARY = ("binary:logistic", "binary", "cross_entropy")
MULTICLASS = ("multi:softprob", "multiclass", "multiclassova")
NO_PROBABILITY = ("multi:softmax", "binary:hinge", "binary:logitraw")


def _task(name: str, objective: str, n_classes: int) -> tuple[Task, tuple[str, ...]]:
    """Return the task and the class codes that a Booster was trained for."""
    if objective in NO_PROBABILITY:
        instead = "multi:softprob" if n_classes else "binary:logistic"
        raise ModelError(
            f"Model {quote(name)} gives no probabilities: it was trained with "
            f"objective {quote(objective)}. Train it with {quote(instead)}."
        )
    if objective in MULTICLASS:
        return "multiclass", tuple(str(code) for code in range(n_classes))
    if objective in BINARY:
        return "binary", ("0", "1")
    return "regression", ()
