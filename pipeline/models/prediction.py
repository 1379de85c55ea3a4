"""Predictions of models: calls estimators, checks results, explains errors."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from inspect import unwrap
from typing import Any, NamedTuple, TypeAlias, cast
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from ..data.column_roles import class_among
from ..data.column_types import text_of
from ..data.encoding import Encoding, encode
from ..records.asker import remedy
from ..records.dataset_and_model import ColumnType, Dataset, FittedModel, Floats, Task
from ..records.errors import (
    AuditError,
    DataError,
    ModelError,
    first_of,
    listed,
    quote,
    several,
    words,
)
from .estimators import final
from .libraries import ask_xgboost

# A mean of the trees' probabilities can exceed 1 by a rounding error.
ROUNDING = 1e-9
_Answers: TypeAlias = WeakKeyDictionary[Callable[[pd.DataFrame], Floats], Floats]
MOST_COMPARED = 64
"""Rows predicted again to verify that the estimator, or its trees, are unchanged."""
MOST_NAMED = 5  # columns with missing cells that a message names


_UNCHANGED: ContextVar[tuple[pd.DataFrame, _Answers] | None] = ContextVar(
    "_UNCHANGED", default=None
)


@contextmanager
def asking_once_about(X: pd.DataFrame) -> Iterator[None]:
    """Cache the predictions of `predict_unchanged` for these rows inside the block."""
    token = _UNCHANGED.set((X, WeakKeyDictionary()))
    try:
        yield
    finally:
        _UNCHANGED.reset(token)


def predict_unchanged(model: FittedModel, X: pd.DataFrame) -> Floats:
    """Return the predictions for unchanged rows.

    Inside `asking_once_about` for the same rows, all of them are predicted only once;
    later calls predict a few, to verify that the estimator is unchanged. The model gets
    a shallow copy, so that columns it adds do not appear in `X`.
    """
    rows, answers = _UNCHANGED.get() or (None, None)
    if answers is None or rows is not X:
        return model.predict(X.copy(deep=False))
    known = answers.get(model.predict)
    if known is not None and np.array_equal(
        known[:MOST_COMPARED], model.predict(X.iloc[:MOST_COMPARED].copy())
    ):
        return known
    answers[model.predict] = answer = np.array(model.predict(X.copy(deep=False)))
    answer.flags.writeable = False  # the cached array is shared
    return answer


class Form(NamedTuple):
    """Requirements on the predictions of a model.

    Attributes
    ----------
    model : str
        Its name.
    kind : str
        The class of its estimator, for messages.
    task : {"regression", "binary", "multiclass"}
    classes : tuple of str
        In the order of its columns, if there is one column per class.
    """

    model: str
    kind: str
    task: Task
    classes: tuple[str, ...] = ()


def check_task(name: str, estimator: Any, task: Task) -> None:
    """Refuse an estimator that does not support a task."""
    from sklearn.base import ClassifierMixin, OutlierMixin

    kind = type(estimator).__name__
    is_mute = not hasattr(estimator, "predict_proba") and not names_classes(estimator)
    if task != "regression" and is_mute and says_its_kind(estimator):
        raise ModelError(
            f"Model {quote(name)} gives no classes for task {task!r}: {kind} is no "
            "classifier. Name a classifier, or set task 'regression'."
        )
    kinds = {ClassifierMixin: "is a classifier", OutlierMixin: "finds outliers"}
    reasons = [
        reason for base, reason in kinds.items() if isinstance(final(estimator), base)
    ]
    if not hasattr(estimator, "predict"):
        reasons.append("has no predict")
    if task == "regression" and reasons:
        raise ModelError(
            f"Model {quote(name)} does not suit task 'regression': {kind} "
            f"{reasons[0]}. Name a regressor, or set another task."
        )


def says_its_kind(estimator: Any) -> bool:
    """Return whether the kind of prediction of an estimator is known."""
    from sklearn.base import ClassifierMixin, OutlierMixin, RegressorMixin

    kinds = (ClassifierMixin, OutlierMixin, RegressorMixin)
    last = final(estimator)
    return (
        hasattr(estimator, "classes_")
        or isinstance(last, kinds)
        or hasattr(last, "_estimator_type")
    )


def names_classes(estimator: Any) -> bool:
    """Return whether an estimator predicts classes and has no probabilities."""
    from sklearn.base import ClassifierMixin

    is_classifier = isinstance(final(estimator), ClassifierMixin)
    has_classes = is_classifier or len(getattr(estimator, "classes_", ())) > 0
    return has_classes and not hasattr(estimator, "predict_proba")


def asking(
    name: str, estimator: Any, task: Task, labels: tuple[str, ...]
) -> Callable[[Any], Any]:
    """Return the function that predicts with an estimator, classes in our order.

    If an object has only `predict`, its values are probabilities, like those of a
    function.
    """
    has_more = hasattr(estimator, "predict_proba") or says_its_kind(estimator)
    if task == "regression" or not has_more:
        return cast(Callable[[Any], Any], estimator.predict)
    own = own_classes(estimator)
    if not own:
        raise ModelError(
            f"Model {quote(name)} does not say which column of its probabilities is "
            f"which class: {type(estimator).__name__} has predict_proba and no "
            "classes_. Give it classes_, in the order of the columns."
        )
    if set(own) != set(labels):
        raise other_classes(name, own, labels)
    columns = [own.index(label) for label in labels]
    target_columns = columns[1] if task == "binary" else columns
    return partial(of_classes, estimator, target_columns)


def of_library(
    name: str,
    ask: Callable[[Any], Any],
    own: tuple[str, ...],
    task: Task,
    classes: tuple[str, ...],
) -> Callable[[Any], Any]:
    """Return the function that predicts with a model of another library, in our order.

    The model returns the probability of its second class, or one probability per class.
    If its class names are not ours, they are in the order of our codes.
    """
    if (task == "regression") != (not own) or len(own) != len(classes):
        raise other_classes(name, own or ("a number",), classes or ("a number",))
    own = tuple(class_among(label, classes) for label in own)
    order = [own.index(c) for c in classes] if set(own) == set(classes) else None
    return partial(_reordered, ask, order)


def _reordered(ask: Callable[[Any], Any], order: list[int] | None, rows: Any) -> Any:
    values = np.asarray(ask(rows))
    if not order or order == sorted(order):
        return values
    return values[:, order] if values.ndim == 2 else 1 - values


def other_classes(name: str, own: Sequence[str], classes: Sequence[str]) -> ModelError:
    """Return the error for a model whose classes differ from those of the target."""
    return ModelError(
        f"Model {quote(name)} predicts the classes {listed(own)}, and the target has "
        f"{listed(classes)}. Name the same classes in both."
    )


def check_columns(name: str, features: Sequence[str], train: Dataset) -> None:
    """Refuse a model, fitted elsewhere, that uses columns no model is given."""
    stray = [feature for feature in features if feature not in train.inputs]
    if stray:
        is_column = set(stray) <= set(train.unread)
        what = "kept out of the models" if is_column else "not in the data"
        if stray == [train.target]:
            what = "the target. Fit it, or make its explainer, without that column"
        raise ModelError(f"Model {quote(name)} reads {listed(stray)}, which is {what}.")


def labels_of(estimator: Any, classes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the class labels of an estimator fitted elsewhere: names or codes."""
    own = own_classes(estimator)
    by_class = {class_among(label, classes): label for label in own}
    if set(by_class) == set(classes):
        return tuple(by_class[name] for name in classes)
    return codes(classes)


def own_classes(estimator: Any) -> list[str]:
    """Return the classes that an estimator was fitted with, empty if it has none."""
    return [text_of(label) for label in getattr(estimator, "classes_", ())]


def codes(classes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the classes in the terms of an estimator fitted here: their codes."""
    return tuple(str(code) for code in range(len(classes)))


def of_classes(estimator: Any, columns: int | list[int], rows: Any, **more: Any) -> Any:
    """Return some columns of an estimator's probabilities."""
    return estimator.predict_proba(rows, **more)[:, columns]


def ask_class(estimator: Any, labels: tuple[str, ...], rows: Any) -> Floats:
    """Return 1 for the predicted class and 0 for others, (n_samples, n_classes).

    For two classes, the second column only, (n_samples,).
    """
    named, at = np.unique(np.asarray(estimator.predict(rows)), return_inverse=True)
    columns = [labels.index(text_of(label)) for label in named.tolist()]
    is_named = np.eye(len(labels))[np.array(columns, dtype=int)[at]]
    return is_named[:, 1] if len(labels) == 2 else is_named


def ask_score(estimator: Any, positive: str, rows: Any) -> Floats:
    """Return the decision function of two classes, larger for the positive one."""
    score = np.asarray(estimator.decision_function(rows), dtype=np.float64)
    return score if text_of(estimator.classes_[1]) == positive else -score


def predict(
    X: pd.DataFrame,
    *,
    ask: Callable[[Any], Any],
    encoding: Encoding,
    form: Form,
    types: Mapping[str, ColumnType] | None = None,
) -> Floats:
    """Return checked predictions, (n_samples,), or (n_samples, n_classes).

    Parameters
    ----------
    X : DataFrame
        Rows with at least the columns that the model uses; not changed.
    ask : callable
        Returns the predictions for encoded rows.
    encoding : Encoding
    form : Form
    types : mapping of str to ColumnType, optional
        The types of columns before the audit converted them.

    Raises
    ------
    DataError
        If the model does not accept a level or a missing value in `X`.
    ModelError
        If it fails, or does not return predictions.
    """
    rows = encode(encoding, X, form.model, types)
    try:
        predictions = ask(rows)
    except AuditError:
        raise
    except Exception as error:
        raise refusal(
            form, "predict the rows", X[list(encoding.features)], error
        ) from error
    own: Any = getattr(predictions, "index", None)
    is_labelled = isinstance(own, pd.Index) and len(own) == len(X)
    if is_labelled and not own.equals(X.index) and set(own) == set(X.index):
        raise ModelError(
            f"Model {quote(form.model)} must predict rows in their order; {form.kind} "
            "returned their index in another one. Return predictions.loc[X.index]."
        )
    return checked(predictions, len(X), form)


class SoleEstimator(NamedTuple):
    """The only estimator behind the predictions of a model.

    Attributes
    ----------
    estimator : Any
    columns : int or list of int
        The columns of its probabilities, or of its numbers, that are the prediction.
    read : callable
        Encodes a frame for the estimator.
    encoded : tuple of str
        For each input column, the feature that it was derived from.
    """

    estimator: Any
    columns: int | list[int]
    read: Callable[[pd.DataFrame], Any]
    encoded: tuple[str, ...]


def sole_estimator(function: Callable[..., Any]) -> SoleEstimator | None:
    """Return the only estimator that `predict` of a model calls, None otherwise.

    None also for an estimator with code in the folder of the audit, with a `predict`
    attribute of its own, or used for labels. A function that only wraps another one
    must name it as `__wrapped__`.
    """
    function = unwrap(function)
    if not isinstance(function, partial) or function.func is not predict:
        return None
    ask, encoding = function.keywords["ask"], function.keywords["encoding"]
    form = function.keywords["form"]
    estimator, columns = _estimator_of(ask, form) or (None, 0)
    if estimator is None or has_own(estimator, "predict", "predict_proba"):
        return None
    types = function.keywords.get("types")
    read = partial(encode, encoding, model=form.model, types=types)
    return SoleEstimator(estimator, columns, read, encoding.encoded)


def asked_with(model: FittedModel) -> Mapping[str, Any]:
    """Return the keyword arguments that `predict` of a model binds."""
    return cast("partial[Floats]", unwrap(model.predict)).keywords


def has_own(thing: Any, *methods: str) -> bool:
    """Return whether an object has a method as an attribute of the instance."""
    return bool(getattr(thing, "__dict__", {}).keys() & {*methods})


def _estimator_of(ask: Any, form: Form) -> tuple[Any, int | list[int]] | None:
    """Return the estimator that a function calls, and the columns of its predictions.

    For two classes, models of other libraries predict the second class only; they count
    as having two columns, as with `predict_proba`.
    """
    if isinstance(ask, partial) and ask.func is of_classes:
        return cast(tuple[Any, int | list[int]], ask.args)
    if isinstance(ask, partial) and ask.func is _reordered:
        of_model, order = ask.args
        order = order or list(range(len(form.classes)))
        if form.task != "multiclass":
            return _owner(of_model), order[-1] if order else 0
        return _owner(of_model), order
    estimator = _owner(ask)
    gives_labels = form.task != "regression" or hasattr(estimator, "classes_")
    return None if gives_labels else (estimator, 0)


def _owner(ask: Any) -> Any:
    """Return the object whose `predict` method is called, None for anything else."""
    if isinstance(ask, partial) and ask.func is ask_xgboost:
        return ask.args[0]
    is_predict = getattr(ask, "__name__", "") == "predict"
    return getattr(ask, "__self__", None) if is_predict else None


def refusal(form: Form, verb: str, X: pd.DataFrame, error: Exception) -> ModelError:
    """Return the error for a failed estimator: its own message, and missing cells.

    Missing cells are added only to a message that mentions them, and do not replace it:
    a pipeline may fill them and fail for another reason.
    """
    reason = words(error)
    if type(error) is not Exception and reason != type(error).__name__:
        reason = f"{type(error).__name__}: {reason}"
    counts = {name: int(X[name].isna().sum()) for name in X.columns if X[name].hasnans}
    if counts and re.search(r"\b(nan|na|none|missing|null)\b", reason, re.IGNORECASE):
        each = [f"{several(n, 'cell')} of {quote(name)}" for name, n in counts.items()]
        where = first_of(each, MOST_NAMED)
        reason = f"{reason.rstrip('.')}. Missing in these rows: {where}."
    return ModelError(
        f"Model {quote(form.model)} cannot {verb}; {form.kind} says: {reason}"
    )


def missing(form: Form, column: pd.Series) -> DataError:
    """Return the error for missing values in a column of a model that accepts none."""
    n_missing = int(column.isna().sum())
    how = remedy(
        "Leave those rows or the column out, or choose an estimator that takes missing "
        "values.",
        r="Leave those rows or the column out; or, if its formula has a place for "
        "them, as addNA() makes one, give predict_function = function(model, data) "
        "predict(model, data).",
    )
    return DataError(
        f"Column {quote(column.name)} has {several(n_missing, 'missing value')}, and "
        f"model {quote(form.model)} ({form.kind}) does not accept them. {how}"
    )


def checked(predictions: Any, n_samples: int, form: Form) -> Floats:
    """Return predictions as float64; labelled columns are put in the order of classes.

    Raises
    ------
    ModelError
        With the reason why they are invalid.
    """
    if isinstance(predictions, pd.DataFrame):
        own = [text_of(name) for name in predictions.columns]
        is_numbered = isinstance(predictions.columns, pd.RangeIndex)
        if set(own) == set(form.classes) and not is_numbered:
            predictions = predictions.iloc[:, [*map(own.index, form.classes)]]
    try:
        values = np.asarray(predictions, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"Model {quote(form.model)} must predict numbers; {form.kind} returned "
            f"something else: {words(error)}"
        ) from error
    is_wide = form.task == "multiclass"
    if not is_wide and values.shape == (n_samples, 1):
        values = values[:, 0]  # the target was a frame
    if form.task == "binary" and values.shape == (n_samples, 2):
        sums = values.sum(axis=1)
        off = np.abs(sums - 1) > 1e-6  # float32 probabilities pass, other scores do not
        if off.any():
            raise ModelError(
                f"Model {quote(form.model)} must predict two probabilities that sum to "
                f"1; {form.kind} returned a row that sums to {float(sums[off][0])!r}. "
                "Return the probability of the positive class alone."
            )
        values = values[:, 1]
    shape = (n_samples, len(form.classes)) if is_wide else (n_samples,)
    if values.shape != shape:
        how = " Return one number per row." if form.task == "regression" else ""
        if form.task == "binary" and values.ndim == 2:
            how = " Return the probability of the positive class alone."
        raise ModelError(
            f"Model {quote(form.model)} must predict an array of shape {shape}; "
            f"{form.kind} returned {values.shape}.{how}"
        )
    finite = np.isfinite(values)
    if not finite.all():
        raise ModelError(
            f"Model {quote(form.model)} must predict finite numbers; "
            f"{int((~finite).sum())} of the {values.size} that {form.kind} returned "
            "are NaN or infinite."
        )
    if form.task != "regression" and len(values):
        for extreme in (values.min(), values.max()):
            if not -ROUNDING <= extreme <= 1 + ROUNDING:
                raise ModelError(
                    f"Model {quote(form.model)} must predict probabilities; "
                    f"{form.kind} returned {float(extreme)!r}."
                )
    return values
