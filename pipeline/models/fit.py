"""Creates all fitted models, from estimators, files and functions.

In a notebook, use `wrap`:

    model = wrap(forest, name="forest")
    model = wrap(score, name="scorecard", task="binary", features=["age", "income"])
"""

import hashlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from inspect import isclass, signature
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, cast

import numpy as np
import pandas as pd

from ..data.column_types import is_category, text_of
from ..data.encoding import Encoding, Kind, encode, has_category, learn, refuse_dates
from ..records.dataset_and_model import Dataset, FittedModel, Floats, Task
from ..records.errors import (
    AuditError,
    ModelError,
    NotApplicable,
    listed,
    quote,
    several,
    words,
)
from ..records.finding import Finding
from ..records.losses import OF_CLASS, OF_ORDER, default_losses, predicted_class
from . import estimators, prediction, r_models
from .column_references import Columns, move_references
from .libraries import (
    OFFSETS,
    Facts,
    ask_with_margin,
    ask_with_offsets,
    check_offsets,
    columns_of,
    facts_of,
)
from .lightgbm_text import LightGBMModel
from .own_code import ask_with_modules, code_of, modules_of
from .section import ModelSection
from .standardised import standardised

# Models that split on a threshold use ordinal codes. The remaining ensembles of
# scikit-learn wrap given estimators, which a configuration cannot name.
TREES = ("sklearn.tree.", "sklearn.ensemble.", "xgboost.", "lightgbm.", "catboost.")


def fit_models(
    sections: Sequence[ModelSection],
    train: Dataset,
    *,
    base: Path = Path(),
    phase: Callable[[str], AbstractContextManager[Any]] = nullcontext,
) -> tuple[FittedModel, ...]:
    """Fit or load every model of a configuration, or raise all its problems at once.

    Parameters
    ----------
    sections : sequence of ModelSection
    train : Dataset
        The training rows; a model from a file is checked against their columns.
    base : Path
        The folder that relative paths start from.
    phase : callable, optional
        Takes a description and returns a context that is active during the fit or load.

    Raises
    ------
    ModelError, DataError
        The error of one model; errors of several models as one ModelError, a line each.
    importance_audit.r_bridge.errors.RUnavailable
        R, or an R package that a model needs, is not installed.
    """
    models, faults = [], []
    made: dict[str, Any] = {}
    for section in sections:  # to fit the others may take long
        try:
            if section.estimator:
                made[section.name] = _make(section, train, base)
        except AuditError as fault:
            faults.append(fault)
    cheap = [section for section in sections if section.file]
    for section in cheap if faults else sections:
        try:
            with phase(f"model {section.name}"):
                if r_models.is_of_r(section):
                    model = r_models.load(section, train, base=base)
                elif section.file:
                    model = load(section, train, base=base)
                else:
                    model = fit(section, train, base=base, made=made[section.name])
            if train.split == "train":
                model = model.with_facts(train_sha256=train.sha256)
            models.append(model)
        except AuditError as fault:
            faults.append(fault)
    if len(faults) == 1:
        raise faults[0]
    if faults:
        raise ModelError("\n".join(str(fault) for fault in faults))
    return tuple(models)


def _make(section: ModelSection, train: Dataset, base: Path) -> Any:
    """Return the estimator of a section, which suits the task."""
    with modules_of(base):
        made = estimators.make(section.name, section.estimator, section.parameters)
    prediction.check_task(section.name, made, train.task)
    return made


def fit(
    section: ModelSection,
    train: Dataset,
    *,
    base: Path = Path(),
    made_for: Columns | None = None,
    made: Any = None,
) -> FittedModel:
    """Construct the estimator of a section and fit it on training rows.

    Row weights are used in the fit. The estimator gets the target of a binary task as 0
    and 1, and that of a multiclass task as codes.

    Parameters
    ----------
    section : ModelSection
        ``encoder`` is the encoding of categories for the estimator: "ordinal",
        "one_hot", "none" (the frame unchanged), or "auto": ordinal for trees, forests
        and boosting, one-hot for other estimators, none if there are no categories.
    train : Dataset
    base : Path
        The folder of the audit, which may contain the module of the estimator.
    made_for : tuple, optional
        The columns that its parameters refer to, by default those it is fitted on.
    made : estimator, optional
        The estimator of the section, if it was constructed before.

    Raises
    ------
    ModelError
        The estimator cannot be found, constructed or fitted, or does not suit the task.
    DataError
        It does not accept missing values, and a column has some.
    """
    name = section.name
    estimator = _make(section, train, base) if made is None else made
    if absent := _absent(train):
        raise ModelError(
            f"Model {quote(name)} cannot be fitted: no training row has the class "
            f"{listed(absent)}. Add such rows, or leave the class out."
        )
    refuse_dates(name, train.inputs, train.types)
    weights = _weights(name, estimator, train)
    X = train.X[list(train.inputs)] if train.unread else train.X
    kind = _encoder(section.encoder, estimator, X)
    encoding = learn(X, kind, is_named=section.encoder == "none")
    columns = encoding.columns
    if section.standardise:
        names = encoding.encoded
        numbers = [k for k, name in enumerate(names) if not is_category(X[name])]
        others = set(range(len(names))) - set(numbers)
        columns = tuple(columns[k] for k in (*numbers, *sorted(others)))
    made_for = made_for or columns
    move_references(estimator, made_for, columns)
    if section.standardise:
        estimator = standardised(estimator, numbers, train.task)
        weights = {f"estimator__{key}": each for key, each in weights.items()}
    # A copy: records are read-only, and some libraries require writeable arrays.
    y = np.array(train.y, dtype=np.float64 if train.task == "regression" else np.int64)
    own_code = modules_of(base) if code_of(base) else nullcontext()
    try:
        with own_code:
            estimator.fit(encode(encoding, X, name), y, **weights)
    except Exception as error:
        form = prediction.Form(name, type(estimator).__name__, train.task)
        refusal = prediction.refusal(form, "fit the training rows", X, error)
        remedy = "Change its parameters under [[models]], or the columns it reads."
        raise ModelError(f"{str(refusal).rstrip('.')}. {remedy}") from error

    task, classes = train.task, train.classes
    labels = prediction.codes(classes)
    if task != "regression" and prediction.names_classes(estimator):
        fitted = by_class(name, estimator, task, classes, labels, encoding, base)
    else:
        ask = prediction.asking(name, estimator, task, labels)
        fitted = _record(name, estimator, encoding, task, classes, ask, base)
    return fitted.with_facts(
        source="fitted",
        n_train=train.n_samples,
        train_sha256=train.sha256,
        train=train,
        fit_on=partial(_fit_again, section, base.resolve(), made_for),
    )


def _fit_again(
    section: ModelSection,
    base: Path,
    made_for: Columns,
    rows: Dataset,
    seed: int | None,
) -> FittedModel:
    """Fit the estimator of a section on other rows or columns, for `refit`."""
    _check_classes_left(section.name, rows)
    if seed is not None and estimators.is_seeded(section.name, section.estimator):
        parameters = {**section.parameters, "random_state": seed}
        section = replace(section, parameters=parameters)
    return fit(section, rows, base=base, made_for=made_for)


def _fit_clone(
    name: str, estimator: Any, encoding: Encoding, rows: Dataset, seed: int | None
) -> FittedModel:
    """Fit a clone of a given estimator in the way it was fitted, for `refit`.

    The clone gets a frame or array, the column types and the class labels of the
    original fit, and the seed in every `random_state` of its own and its parts'
    parameters.
    """
    from sklearn.base import clone

    try:
        fresh = clone(estimator)
    except Exception as error:
        raise NotApplicable(
            f"Model {quote(name)} cannot be fitted again, because scikit-learn cannot "
            f"clone it. It says: {words(error)}"
        ) from error
    _check_classes_left(name, rows)
    if seed is not None:
        parameters = fresh.get_params()
        seeded = (k for k in parameters if k.rpartition("__")[2] == "random_state")
        fresh.set_params(**dict.fromkeys(seeded, seed))
    y = np.array(rows.y)
    if rows.classes:
        own = getattr(estimator, "classes_", np.arange(len(rows.classes)))
        texts = [text_of(label) for label in own]
        labels = prediction.labels_of(estimator, rows.classes)
        order = [texts.index(label) for label in labels]
        y = np.asarray(own)[order][y.astype(np.int64)]
    made_for = encoding.columns
    encoding = encoding._replace(features=tuple(rows.X.columns))
    move_references(fresh, made_for, encoding.columns)
    weights = _weights(name, fresh, rows)
    types = {key: rows.types[key] for key in encoding.features if key in rows.types}
    try:
        fresh.fit(encode(encoding, rows.X, name, types), y, **weights)
    except AuditError:
        raise
    except Exception as error:
        form = prediction.Form(name, type(fresh).__name__, rows.task)
        raise prediction.refusal(form, "fit the rows", rows.X, error) from error
    fitted = wrap(
        fresh,
        name=name,
        task=rows.task,
        classes=rows.classes or None,
        features=encoding.features,
        encoder=cast(Literal["none", "ordinal"], encoding.kind),
    )
    return fitted.for_rows(rows)


def load(section: ModelSection, train: Dataset, *, base: Path = Path()) -> FittedModel:
    """Return the fitted model of a `.joblib` file, or of LightGBM's text (`.txt`).

    The bytes are compared with the digest stated in the section before they are
    unpickled, since a pickle is code. With encoder "auto" or "none" the model gets the
    raw columns in the types of their table, with "ordinal" the positions of levels.

    Parameters
    ----------
    section : ModelSection
    train : Dataset
        Task, classes and columns that the estimator must suit; its rows are not used.
    base : Path
        The folder that a relative path starts from.

    Raises
    ------
    ModelError
        The file is missing, has another digest, or holds no suitable estimator.
    """
    name, task, classes = section.name, train.task, train.classes
    path, sha256 = base / section.file, section.sha256
    if path.suffix.lower() == ".txt":  # no code, so its digest may be left out
        content = estimators.read(name, path)
        sha256 = sha256 or hashlib.sha256(content).hexdigest()
        estimators.trusted(name, path, sha256)
        notes: tuple[Finding, ...] = ()
        estimator: Any = LightGBMModel(name, content)
    else:
        with modules_of(base):
            estimator, notes = estimators.unpickled(name, path, sha256)
    facts = facts_of(name, estimator)
    held = _held(section.offset, section.exposure)
    default = [column for column in train.inputs if column not in held.values()]
    loaded = _given(
        *(name, estimator, facts, task, classes, section.encoder, default),
        held=held,
        base=base,
    )
    prediction.check_columns(name, loaded.features, train)
    loaded = loaded.with_facts(source="file", sha256=sha256, notes=notes)
    return loaded.for_rows(train)


def wrap(
    estimator: Any,
    *,
    name: str,
    task: Task | None = None,
    classes: Sequence[Any] | None = None,
    features: Sequence[str] | None = None,
    encoder: Literal["none", "ordinal"] = "none",
    predict: Callable[[pd.DataFrame], Any] | None = None,
    as_array: bool = False,
    offset: str = "",
    exposure: str = "",
) -> FittedModel:
    """Return a fitted estimator, or a plain function, as a model that can be audited.

    Parameters
    ----------
    estimator : fitted estimator or callable
        An estimator with the scikit-learn interface: `predict`, or `predict_proba` for
        classes; results of statsmodels; a Booster of XGBoost or LightGBM, or the path
        of a text file (.txt) written by LightGBM; or a function of a frame that returns
        one number per row, the probability of the positive class, or one column of
        probabilities per class, the positive one last. If it returns a frame with the
        classes as column names, they can be in any order.
    name : str
        Its name in the report.
    task : {"regression", "binary", "multiclass"}, optional
        Needed for a function. An estimator with `classes_` is a classifier; for models
        of other libraries the task follows from their family or objective.
    classes : sequence, optional
        The classes, the positive one last if binary; by default the estimator's own.
    features : sequence of str, optional
        The columns that it uses, in its order; by default the names it was fitted with,
        or those in its formula; different names are refused. Needed for an estimator
        that was fitted on an array; it is given arrays.
    encoder : {"none", "ordinal"}, default "none"
        Pass the raw columns, or categories as their positions in the order of levels.
    predict : callable, optional
        A function of a frame, used instead of the estimator's own methods.
    as_array : bool, default False
        Pass arrays to a function, or to an object without column names of its own; an
        estimator of scikit-learn gets the type it was fitted on.
    offset, exposure : str, optional
        The columns that results of statsmodels, or a model of XGBoost, add to the
        linear predictor, exposure as its logarithm. They are never permuted and are not
        features.

    Returns
    -------
    FittedModel
        With the default losses of its task.

    Raises
    ------
    ModelError
        A required argument is missing and cannot be derived from the estimator.

    Examples
    --------
    >>> model = wrap(lambda X: 2 * X["x"], name="double", task="regression",
    ...              features=["x"])
    >>> model.predict(pd.DataFrame({"x": [1.0, 2.0]})).tolist()
    [2.0, 4.0]
    """
    from sklearn.base import ClassifierMixin

    if isinstance(estimator, str | Path) and str(estimator).lower().endswith(".txt"):
        content = estimators.read(name, Path(estimator))
        estimator = LightGBMModel(name, content)
    if isclass(estimator) or (predict is None and not hasattr(estimator, "predict")):
        if isclass(estimator) or not callable(estimator):
            raise ModelError(
                f"Model {quote(name)} must be a fitted estimator with predict or a "
                f"function of a frame; {quote(estimator)} was given."
            )
        estimator, predict = None, estimator
    facts = facts_of(name, estimator)
    own = facts.classes if facts else getattr(estimator, "classes_", ())
    labels = tuple(map(text_of, own if classes is None else classes))
    is_classifier = isinstance(estimators.final(estimator), ClassifierMixin)
    if is_classifier and not labels and not hasattr(estimator, "classes_"):
        raise ModelError(
            f"Model {quote(name)} is a classifier without classes_, so it is not "
            "fitted. Call its fit first, or pass classes=[…]."
        )
    if task is None and estimator is None:
        raise ModelError(
            f"Model {quote(name)} is a function, and its task is not stated. Pass "
            "task as 'regression', 'binary' or 'multiclass'."
        )
    n = len(labels)
    of_labels: Task = "regression" if n == 0 else "binary" if n == 2 else "multiclass"
    task = task or (facts.task if facts else of_labels)
    rule, fits = {
        "regression": ("no classes", n == 0),
        "binary": ("two classes", n == 2),
    }.get(task, ("two classes or more", n > 1))
    if not fits:
        raise ModelError(
            f"Model {quote(name)} must have {rule} for task {task!r}; {n} "
            f"{'was' if n == 1 else 'were'} given. Pass classes=[…], the positive one "
            "last, for a classifier only."
        )
    held = _held(offset, exposure)
    if predict is None:
        if features is not None:
            features = [each for each in features if each not in held.values()]
            own_columns = columns_named(name, estimator)
            if own_columns and sorted(features) != sorted(own_columns):
                raise ModelError(
                    f"Model {quote(name)} was fitted on {listed(own_columns)}, and "
                    f"features is {listed(features)}. Leave features out."
                )
        given = _given(
            *(name, estimator, facts, task, labels, encoder, features),
            held=held,
            as_array=as_array,
        )
        if held:  # estimators have no common argument of fit for an offset
            return given
        encoding = prediction.asked_with(given)["encoding"]
        again = partial(_fit_clone, name, estimator, encoding)
        return given.with_facts(fit_on=again)
    if held:
        raise ModelError(
            f"Model {quote(name)} has a predict of its own, which reads its offset "
            "itself. Leave offset and exposure out."
        )
    columns = features or (facts.features if facts else columns_of(estimator))
    encoding = Encoding("none", _columns_read(name, columns), {}, not as_array)
    # A user's own predict may differ from that of a clone, so it is not refitted.
    given = _record(name, estimator, encoding, task, labels, predict)
    return replace(given, takes_types=True)


def _given(
    name: str,
    estimator: Any,
    facts: Facts | None,
    task: Task,
    classes: tuple[str, ...],
    encoder: str,
    features: Sequence[str] | None,
    *,
    held: Mapping[str, str],
    base: Path | None = None,
    as_array: bool = False,
) -> FittedModel:
    """Return a model that was fitted before, from a file or passed in Python.

    `held` maps the keywords "offset" and "exposure" to columns, which are passed last.
    """
    if facts is None:
        prediction.check_task(name, estimator, task)
    check_offsets(name, estimator, held)
    if encoder in ("one_hot", "one_hot_full"):
        raise ModelError(
            f"Model {quote(name)}: encoder {encoder!r} works only where the audit "
            "fits the model. Save a Pipeline that includes the encoding, or set "
            "'ordinal'."
        )
    own = columns_named(name, estimator)
    columns = _columns_read(name, own or features)
    n_seen: Any = getattr(estimator, "n_features_in_", None)
    if n_seen not in (None, len(columns)):
        raise ModelError(
            f"Model {quote(name)} was fitted on {several(n_seen, 'column')}, and "
            f"{len(columns)} are named: {listed(columns)}."
        )
    is_named = own is not None or (n_seen is None and not as_array)
    kind: Kind = "ordinal" if encoder == "ordinal" else "none"
    encoding = Encoding(kind, (*columns, *held.values()), {}, is_named)
    if facts is None:
        labels = prediction.labels_of(estimator, classes)
        if task != "regression" and prediction.names_classes(estimator):
            given = by_class(name, estimator, task, classes, labels, encoding, base)
            return given.with_facts(takes_types=True)
        ask = prediction.asking(name, estimator, task, labels)
    else:
        encoding, ask = encoding._replace(is_named=own is not None), facts.ask
    if held:
        is_margin = type(estimator).__module__.startswith("xgboost.")
        with_words = partial(ask_with_margin, ask) if is_margin else ask
        ask = partial(ask_with_offsets, with_words, tuple(held))
    if facts is not None:
        ask = prediction.of_library(name, ask, facts.classes, task, classes)
    given = _record(name, estimator, encoding, task, classes, ask, base, held)
    return replace(given, takes_types=True)


def by_class(
    name: str,
    estimator: Any,
    task: Task,
    classes: tuple[str, ...],
    labels: tuple[str, ...],
    encoding: Encoding,
    base: Path | None = None,
) -> FittedModel:
    """Return a classifier as a model of the class that its `predict` returns.

    Losses that depend on the order of two classes use its `decision_function`, if it
    has one; losses of probabilities are not available. `labels` are the classes in the
    estimator's own terms.
    """
    own = prediction.own_classes(estimator)
    if own and set(own) != set(labels):
        raise prediction.other_classes(name, own, classes)
    ask = partial(prediction.ask_class, estimator, labels)
    given = _record(name, estimator, encoding, task, classes, ask, base)
    given = replace(given, scale="class", losses=("one_minus_accuracy",))
    if task != "binary" or not hasattr(estimator, "decision_function"):
        return given
    ask = partial(prediction.ask_score, estimator, labels[1])
    numbers = _record(name, estimator, encoding, "regression", (), ask, base)
    score = replace(given, scale="score", predict=numbers.predict)
    losses = default_losses(task)
    return replace(given, losses=losses, instead=dict.fromkeys(OF_ORDER, score))


def by_predict_where_it_differs(
    model: FittedModel, rows: Dataset, base: Path | None = None
) -> FittedModel:
    """Return a model whose losses of classes use the `predict` of its estimator.

    This applies only if `predict` does not always return the most probable class of
    these rows (the first in ties): the classes of an SVC with probabilities do not
    follow from them. Otherwise, and if predicting fails, the model itself is returned.
    `base` is the folder of the audit.
    """
    named = _named_by_predict(model, base)
    if named is None:
        return model
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the audit's own predictions repeat them
            ours = predicted_class(model.predict(rows.X))
            own = predicted_class(named.predict(rows.X))
    except AuditError:
        return model
    if np.array_equal(ours, own):
        return model
    return replace(model, instead=dict.fromkeys(OF_CLASS, named))


def _named_by_predict(model: FittedModel, base: Path | None) -> FittedModel | None:
    """Return a model on the scale "class", by `predict` of its estimator.

    None if it has no classifier with a `predict` method of its own.
    """
    sole = prediction.sole_estimator(model.predict)
    estimator = sole.estimator if sole else None
    if sole is None and model.source in ("fitted", "file"):  # with code of the user
        estimator = model.estimator
    if model.scale != "probability" or not hasattr(estimator, "classes_"):
        return None
    labels = prediction.codes(model.classes)
    if model.source != "fitted":
        labels = prediction.labels_of(estimator, model.classes)
    asked = prediction.asked_with(model)
    predict = by_class(
        *(model.name, estimator, model.task, model.classes, labels),
        *(asked["encoding"], base),
    ).predict
    if "types" in asked:
        predict = partial(predict, types=asked["types"])
    again = model.fit_on and partial(_fit_by_predict, model.fit_on, base)
    return replace(model, scale="class", predict=predict, fit_on=again)


def _fit_by_predict(
    fit_on: Callable[..., FittedModel],
    base: Path | None,
    rows: Dataset,
    seed: int | None,
) -> FittedModel:
    """Fit a model on the scale "class", by its `predict`, for `refit`."""
    fitted = fit_on(rows, seed)
    return _named_by_predict(fitted, base) or fitted


def says_its_task(name: str, estimator: Any) -> bool:
    """Return whether the kind of prediction of an object is known.

    It is known for scikit-learn's estimators, by the classes they were fitted with, and
    for models of the supported libraries.
    """
    is_of_library = facts_of(name, estimator) is not None
    return is_of_library or prediction.says_its_kind(estimator)


def _encoder(encoder: str, estimator: Any, X: pd.DataFrame) -> Kind:
    """Return the encoding of categories for an estimator to be fitted."""
    if encoder != "auto":
        return cast(Kind, encoder)
    if not has_category(X):
        return "none"
    lineage = (f"{kind.__module__}." for kind in type(estimator).__mro__)
    return "ordinal" if any(name.startswith(TREES) for name in lineage) else "one_hot"


def _weights(name: str, estimator: Any, train: Dataset) -> dict[str, Floats]:
    """Return the row weights as keyword arguments of `fit`, none if all are equal."""
    if not train.is_weighted:
        return {}
    if "sample_weight" in signature(estimator.fit).parameters:
        return {"sample_weight": train.weights.copy()}
    raise ModelError(
        f"Model {quote(name)} cannot be fitted with the row weights of the data: "
        f"{type(estimator).__name__} does not accept them. Choose another estimator, "
        "or leave the weights out."
    )


def _check_classes_left(name: str, rows: Dataset) -> None:
    """Refuse rows for a refit that lack a class."""
    absent = _absent(rows)
    if absent:
        raise NotApplicable(
            f"Model {quote(name)} cannot be fitted again: none of the "
            f"{rows.n_samples} rows has the class {listed(absent)}. Add training rows "
            "of the class, or leave it out."
        )


def _absent(rows: Dataset) -> list[str]:
    """Return the classes without rows."""
    return [
        label for code, label in enumerate(rows.classes) if not (rows.y == code).any()
    ]


def columns_named(name: str, estimator: Any) -> tuple[str, ...] | None:
    """Return the names of the columns an estimator was fitted on, None if it has none.

    For a model with a formula, the columns in the formula.
    """
    facts = facts_of(name, estimator)
    return facts.features if facts else columns_of(estimator)


def _held(offset: str, exposure: str) -> dict[str, str]:
    """Return the columns of offset and exposure, as far as they are given."""
    named = zip(OFFSETS, (offset, exposure), strict=True)
    return {word: column for word, column in named if column}


def _columns_read(name: str, features: Sequence[str] | None) -> tuple[str, ...]:
    """Return the columns that a model uses, or raise an error if they are unknown."""
    if features:
        return tuple(features)
    raise ModelError(
        f"The columns that model {quote(name)} reads are not stated. Pass "
        "features=[…] in the order of its columns."
    )


def _record(
    name: str,
    estimator: Any,
    encoding: Encoding,
    task: Task,
    classes: tuple[str, ...],
    ask: Callable[[Any], Any],
    base: Path | None = None,
    held: Mapping[str, str] = MappingProxyType({}),
) -> FittedModel:
    """Return a model with encoding and checks around every prediction.

    With the folder of an audit, user code in it can be imported during prediction, and
    is listed among the parameters.
    """
    kind = estimators.class_name(estimator) or "its function"
    form = prediction.Form(name, kind, task, classes)
    parameters = estimators.parameters_of(estimator)
    if base is not None and (code := code_of(base)):
        ask = partial(ask_with_modules, base, ask)
        parameters["code_in_the_folder_of_the_audit"] = code
    return FittedModel(
        name=name,
        task=task,
        scale="response" if task == "regression" else "probability",
        predict=partial(prediction.predict, ask=ask, encoding=encoding, form=form),
        features=encoding.features,
        losses=default_losses(task),
        classes=classes,
        estimator=estimator,
        encoder=encoding.kind,
        encoded=encoding.encoded[: len(encoding.encoded) - len(held)],
        held=tuple(held.values()),
        library=estimators.library_of(estimator) if estimator is not None else "",
        parameters={**parameters, **held},
    )
