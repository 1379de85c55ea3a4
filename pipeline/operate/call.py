"""The Python function `audit`: from fitted models and rows to an `Audit`.

Not: the measurements and their order (`auditing.audit`).
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from hashlib import sha256
from inspect import signature
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import pandas as pd

from importance_audit.r_bridge import host

from ..auditing.audit import audit as run_audit
from ..config.extensions import load_extensions
from ..config.load import AuditConfig, load_config, parse_config
from ..config.questions import unknown_loss
from ..data.column_types import is_category, text_of
from ..data.datasets import as_pandas, dataset, rows_that_count
from ..data.derived_columns import with_derived
from ..data.read import row_problems
from ..methods.importance import METHODS, options_of
from ..models import prediction, r_models
from ..models.estimators import class_name
from ..models.fit import columns_named, says_its_task, wrap
from ..models.libraries import columns_of
from ..models.scorers import is_scorer, loss_of_scorer
from ..models.section import ModelSection
from ..records.asker import PYTHON, asked_by
from ..records.dataset_and_model import Dataset, FittedModel, Task
from ..records.errors import (
    AuditError,
    ConfigError,
    DataError,
    ModelError,
    listed,
    quote,
    several,
)
from ..records.finding import Finding
from ..records.losses import LOSSES, SCORERS
from .audit import Audit
from .recomputation import as_table, classes_of

Function: TypeAlias = Callable[..., Any]
TASKS: Mapping[str, tuple[str, ...]] = {
    "regression": ("regression",),
    "binary": ("binary", "classification"),
    "multiclass": ("multiclass", "classification"),
}
"""The names of each task; "classification", as in scikit-learn, covers two tasks."""
PEEK = 20
"""Number of rows that a function predicts to infer the task from the shape."""


class RModel(NamedTuple):
    """A fitted model in an ``.rds`` file of R; see `r_model`."""

    path: Path


class _Task(NamedTuple):
    """A task, and the reason for it in words."""

    name: Task
    reason: str


def r_model(path: str | Path) -> RModel:
    """Return a fitted model of R, read from an ``.rds`` file, for `audit`.

    Loading the file can run code in it: name only files that you trust.

    Parameters
    ----------
    path : path
        A file written by ``saveRDS(model, path)``.
    """
    return RModel(Path(path))


# Flat keywords, as in scikit-learn: most stand for keys of `config`, and all but the
# models and rows are optional.
@asked_by(PYTHON)
def audit(
    models: Any,
    X: Any,
    y: Any,
    *,
    train: tuple[Any, ...] | None = None,
    task: str | None = None,
    positive_class: Any = None,
    engines: Sequence[str | type] = (),
    methods: Sequence[str | Mapping[str, Any] | Function] = ("permutation",),
    losses: Sequence[str | Function] | str | None = None,
    n_repeats: int | None = None,
    seed: int = 1,
    groups: Mapping[str, Sequence[str]] | None = None,
    sample_weight: Any = None,
    segments: Sequence[str] | Mapping[str, Any] = (),
    names: Sequence[str] | None = None,
    config: AuditConfig | Mapping[str, Any] | str | Path | None = None,
    n_jobs: int | None = None,
    minutes: float | None = None,
) -> Audit:
    """Measure how much fitted models rely on each feature of some rows.

    Parameters
    ----------
    models : fitted estimator, function, FittedModel, RModel, a list or a dict of them
        A function takes a frame and returns one number per row, or one column per
        class, in the order of the classes or named like them. The keys of a dict are
        the names of the models.
    X : DataFrame or array-like of shape (n_samples, n_features)
        The evaluation rows; models should not have been fitted to them. A table of
        Polars, pyarrow or another library that pandas can read is converted.
    y : array-like of shape (n_samples,) or (n_samples, 1)
        The target of these rows. If `X` and `y` have an index, it must be the same.
    train : (X, y) or (X, y, sample_weight), optional
        The rows the models were fitted to, for methods that refit: a clone of the
        estimator is fitted to them. Models that cannot be cloned are not measured by
        these methods; the result says so.
    task : {"regression", "binary", "multiclass", "classification"}, optional
        By default the task of the first model, else it follows from the target; the
        result names it with the reason.
    positive_class : str, int or bool, optional
        The class of two whose probability is used, as in `y`; by default the last
        class of the model, which scikit-learn sorts.
    engines : sequence of str
        R packages to compare with: "DALEX", "vip", "hstats", "iml", "pdp", "xplainfi";
        or user-defined engines: classes, or names such as "my_module:MyEngine".
    methods : sequence of str, mapping or callable
        Keys of METHODS, whole entries with the keys of ``[[importance]]``, or
        user-defined methods: functions, or "my_module:my_method" with the module in
        the working directory.
    losses : str or sequence of str or callable, optional
        Names of losses, or scikit-learn's names of scorers ("roc_auc"), whose loss is
        minus the score, or 1 minus the score; by default the loss of the task.
        User-defined losses are functions ``loss(y, prediction, weights)``, names such
        as "my_module:my_loss", or scorers of ``make_scorer``, whose loss is minus the
        score. Such a scorer has its own positive class, independent of
        `positive_class`.
    n_repeats : int, optional
        Repeats of each method that has them; the default depends on the method.
    seed : int, default 1
    groups : mapping of str to sequence of str, optional
        Groups of columns, measured in addition to the single features.
    sample_weight : array-like of shape (n_samples,), optional
    segments : sequence of str, or mapping of str to array-like of shape (n_samples,)
        Columns by whose values the rows are also evaluated separately: names of
        columns of `X`, or further columns, which no model gets.
    names : sequence of str, optional
        Names of the models in the report; by default their classes.
    config : path, mapping or AuditConfig, optional
        An audit.toml, or its content, for all other settings. Settings in it must not
        be given by `engines`, `methods`, `losses`, `n_repeats`, `seed` or `groups` too.
    n_jobs : int, optional
        Number of processes, or of threads of compiled loops, as `n_jobs` under
        ``[execution]``; also of threads of estimators without their own ``n_jobs``.
    minutes : float, optional
        Time limit: no prediction starts later; a finding names what was not measured.

    Returns
    -------
    Audit

    Raises
    ------
    ConfigError, DataError, ModelError
        If configuration, rows or models are not valid.
    AuditError
        If nothing could be measured; the message has the reason.
    importance_audit.r_bridge.errors.RBridgeError
        If R is needed and fails.

    Examples
    --------
    >>> import numpy as np
    >>> X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [0.0, 1.0, 0.0, 1.0]})
    >>> result = audit(lambda rows: 2 * rows["a"], X, 2 * X["a"], names=["double"])
    >>> result.to_frame()["feature"].tolist()
    ['a', 'b']
    """
    requested: dict[str, Any] = {
        **{"engines": engines, "methods": methods, "losses": losses},
        **{"n_repeats": n_repeats, "seed": seed, "groups": groups},
    }
    by_name = _models_by_name(models, names)
    if hasattr(X, "predict"):
        raise DataError(
            f"X must be rows to measure on; {class_name(X)} was given. Give models, X "
            "and y in this order."
        )
    if isinstance(X, str | Path):
        raise DataError(
            f"X must be rows to measure on; {quote(str(X))} was given. Read the file "
            "first, for instance with pandas.read_csv."
        )
    if isinstance(y, str):
        raise DataError(
            f"y must be the target of the rows, not the name of a column; {quote(y)} "
            f"was given. Pass its values, as in X[{y!r}], and X without it."
        )
    is_array = not isinstance(as_pandas(X), pd.DataFrame)
    frame, y, sample_weight = as_table(X, y, sample_weight)
    for problem in row_problems(len(frame), "X"):
        raise DataError(problem)
    for name, model in by_name.items() if is_array else ():
        if columns := columns_of(model):
            raise ModelError(
                f"Model {quote(name)} was fitted on the columns {listed(columns)}, and "
                "X is an array, whose columns have no names. Pass a data frame."
            )
    counts = rows_that_count(frame, sample_weight)
    target = np.asarray(y)[counts]
    the_task = _task_of(by_name, frame[counts], target, task, is_array=is_array)
    classes = classes_of(by_name.values(), target, the_task.name)
    if positive_class is not None:
        classes = _with_positive_last(positive_class, classes or ())
    settings = _settings(config, requested, minutes, the_task.name, classes or ())
    if n_jobs is not None:
        if not isinstance(n_jobs, Integral) or n_jobs < 1:
            rule = "n_jobs must be a whole number from 1"
            raise ConfigError([f"{rule}; {quote(n_jobs)} was given."])
        execution = replace(settings.execution, n_jobs=n_jobs)
        settings = replace(settings, execution=execution)
    rows = dataset(
        frame,
        y,
        task=the_task.name,
        name="rows given in Python",
        weights=sample_weight,
        classes=classes,
        segments=segments,
    )
    fit_rows = None
    if train is not None:
        fit_rows = with_derived(_training_rows(train, rows), settings.derived)
    r, threads = settings.r, nullcontext()
    if n_jobs is not None:  # for estimators without their own `n_jobs`
        from joblib import parallel_backend

        threads = parallel_backend("threading", n_jobs=n_jobs)
    with host.session(r_seconds=r.seconds, r_memory_gb=r.memory_gb), threads:
        fitted, by_place = [], list[str]()
        for name, model in by_name.items():
            one = _fitted(model, name, rows, is_array=is_array)
            if one.source == "given" and fit_rows is not None:
                one = one.with_facts(train_sha256=fit_rows.sha256)
                if one.fit_on is not None:  # it can be refitted
                    one = one.with_facts(train=fit_rows)
            fitted.append(one)
            is_own = hasattr(model, "predict") and not isinstance(model, FittedModel)
            if is_own and not is_array:
                encoding = prediction.asked_with(one)["encoding"]
                by_place += [name] * (not encoding.is_named)
        given, rows = rows, with_derived(rows, settings.derived)
        result = run_audit(fit_rows, rows, settings, models=tuple(fitted))
    result = result.with_findings(tuple(_place_note(name, given) for name in by_place))
    if task is None:
        result = result.with_findings((_task_note(the_task, rows),))
    if not any(np.isfinite(each.mean).any() for each in result.importances):
        # Other findings, such as on a weak model, do not explain it.
        found = [group[0] for group in result.grouped_findings]
        why = [finding for finding in found if finding.check in WHY_NOTHING]
        why = why or [finding for finding in found if finding.severity != "info"]
        reasons = (finding.message for finding in why)
        words = dict.fromkeys(("Nothing could be measured.", *reasons))
        raise AuditError("\n".join(words))
    return Audit(result)


WHY_NOTHING = (
    *("interrupted", "step_failed", "engine_required", "method_failed"),
    *("not_applicable", "absent_class", "time_limit"),
)
"""Checks whose findings can explain why nothing was measured."""

SECTION_OF = {"seed": "seed", "groups": "groups"} | dict.fromkeys(
    ("engines", "methods", "losses", "n_repeats"), "importance"
)
"""The section of a configuration with the settings of an argument of `audit`."""


def _settings(
    config: AuditConfig | Mapping[str, Any] | str | Path | None,
    requested: Mapping[str, Any],
    minutes: float | None,
    task: Task,
    classes: Sequence[Any],
) -> AuditConfig:
    """Return the configuration of a call; raise if a setting is given twice."""
    document = {} if config is None else config
    usual = signature(audit).parameters
    twice = [
        name
        for name, value in requested.items()
        if value != usual[name].default
        if not isinstance(document, Mapping) or SECTION_OF[name] in document
    ]
    if twice:
        has = "is a file, which says what is asked"
        if isinstance(document, Mapping):
            has = f"has {listed({SECTION_OF[name] for name in twice})}"
        where = "it" if len(twice) == 1 else "them"
        raise ConfigError(
            [
                f"{listed(twice)} and config are both given, and config {has}. Say "
                f"{where} there, or leave config out."
            ]
        )
    if isinstance(document, str | Path):
        document = load_config(document, required=())
    elif isinstance(document, Mapping) and "data" not in document:
        named, functions = _with_names(requested, task, classes)
        whole = _document(named, functions, task) | dict(document)
        document = parse_config(whole, audit="python", functions=functions, task=task)
    elif not isinstance(document, AuditConfig | Mapping):
        rule = "config must be a path, a mapping or what parse_config returns"
        raise ConfigError([f"{rule}; {quote(document)} was given."])
    if isinstance(document, Mapping) or document.data is not None:
        raise ConfigError(
            ["[data] says where rows are, and X and y are rows. Leave [data] out."]
        )
    if parts := [section.name for section in document.derived if section.is_given]:
        raise ConfigError(
            [
                f"[[derived]] {listed(parts)}: models are given parts of dates, and X "
                "is what they are given. Make these columns in X and leave them out of "
                "[[derived]]."
            ]
        )
    if minutes is not None:
        if minutes <= 0:
            raise ConfigError([f"minutes must be above 0; {minutes} was given."])
        return replace(document, limits=replace(document.limits, minutes=minutes))
    return document


def _with_names(
    requested: Mapping[str, Any], task: Task, classes: Sequence[Any]
) -> tuple[dict[str, Any], dict[str, Function]]:
    """Return the arguments of a call with functions replaced by names, and by name."""
    functions: dict[str, Function] = {}

    def named(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: named(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [named(inner) for inner in value]
        if not callable(value):
            return value
        if is_scorer(value):
            value = loss_of_scorer(value, task, classes)
        own = str(getattr(value, "__name__", type(value).__name__))
        if not own.isidentifier():
            rule = "methods, losses and engines of one's own must have a name"
            how = "Write it with def, or an engine with class, in a file."
            raise ConfigError([f"{rule}; {quote(own)} was given. {how}"])
        name = f"{value.__module__.rpartition('.')[2]}:{own}"
        if functions.setdefault(name, value) is not value:
            rule = "Two functions are called"
            raise ConfigError([f"{rule} {quote(name)}. Give each a name of its own."])
        return name

    keys = ("methods", "losses", "engines")
    return {k: named(v) if k in keys else v for k, v in requested.items()}, functions


def _document(
    requested: Mapping[str, Any], functions: Mapping[str, Function], task: Task
) -> dict[str, Any]:
    """Return the content of an audit.toml equivalent to the arguments of a call."""
    losses, methods, engines = (
        _as_tuple(requested[name]) for name in ("losses", "methods", "engines")
    )
    if not methods:
        raise ConfigError(["methods must name at least one method."])
    keys = [_loss_of(name, task) for name in losses]
    groups = requested["groups"] or {}
    if not isinstance(groups, Mapping) or any(
        isinstance(c, str) for c in groups.values()
    ):
        rule = "groups must be a dict of lists of columns, such as {'size': ['a', 'b']}"
        raise ConfigError([f"{rule}; {quote(groups)} was given."])
    of_groups = {
        entry["method"]
        for entry in methods
        if isinstance(entry, Mapping) and entry.get("of") == "groups"
    }
    entries = []
    for method in methods:
        entry = dict(method) if isinstance(method, Mapping) else {"method": method}
        name = entry.get("method", "")
        row: Any = METHODS.get(name)
        if row is None:
            named = {"importance": [{"method": name}]}
            extensions, _ = load_extensions(named, Path(), functions)
            row = extensions[0].row if extensions else None
        if row is not None:
            if "features" not in row.of:
                entry = {"of": row.of[0]} | entry
            repeats = requested["n_repeats"]
            takes = repeats is not None and "n_repeats" in options_of(row.function)
            usual = {"n_repeats": repeats} if takes else {}
            usual |= {"losses": keys} if keys and row.unit == "loss" else {}
            usual |= {"engines": list(engines)} if engines else {}
            entry = usual | entry
            given = entry.get("losses")
            if isinstance(given, str | list | tuple):
                entry["losses"] = [_loss_of(each, task) for each in _as_tuple(given)]
            takes_both = "groups" in row.of and "of" not in entry
            if groups and takes_both and name not in of_groups:
                entries.append(entry)
                own = {"name": f"{entry['name']} of groups"} if "name" in entry else {}
                entry = entry | {"of": "groups"} | own
        entries.append(entry)
    document = {"seed": requested["seed"], "importance": entries}
    groups = {name: list(columns) for name, columns in groups.items()}
    return document | ({"groups": groups} if groups else {})


def _as_tuple(value: Any) -> tuple[Any, ...]:
    """Return one value or several as a tuple; a text or mapping is one value."""
    return (value,) if isinstance(value, str | Mapping) else tuple(value or ())


def _loss_of(name: Any, task: Task) -> Any:
    """Return the loss of a scorer of scikit-learn; other names are unchanged."""
    if not isinstance(name, str):
        return name  # refused when the entry is parsed
    scorers = [key for key, by_task in SCORERS.items() if task in by_task]
    if name not in {*SCORERS, *LOSSES} and ":" not in name:
        raise ConfigError([unknown_loss("losses", name, task, scorers)])
    if name not in SCORERS:
        return name
    if task not in SCORERS[name]:
        suited = map(quote, scorers)
        raise ConfigError(
            [
                f"Scorer {quote(name)} measures no model of task {task!r}. Those of "
                f"that task are {', '.join(suited)}."
            ]
        )
    return SCORERS[name][task]


def _models_by_name(models: Any, names: Sequence[str] | None) -> dict[str, Any]:
    """Return the models by their names in the report."""
    if isinstance(models, Mapping):
        if names is not None:
            raise ModelError("The keys of models are their names; leave names out.")
        models, names = list(models.values()), list(models)
    is_one = isinstance(models, RModel) or not isinstance(models, list | tuple)
    every = [models] if is_one else list(models)
    if names is None:  # by their classes, later ones numbered
        by_name: dict[str, Any] = {}
        for model in every:
            number, name = 1, _class_of(model)
            while name in by_name:
                number += 1
                name = f"{_class_of(model)} {number}"
            by_name[name] = model
        return by_name
    if isinstance(names, str) or len(names) != len(every):
        raise ModelError(
            f"names must have one name for each of {several(len(every), 'model')}; "
            f"{quote(names)} was given."
        )
    are_texts = all(isinstance(name, str) and name.strip() for name in names)
    if not are_texts or len(set(names)) < len(names):
        raise ModelError(
            "The names of the models must be texts that differ and are not empty; "
            f"{quote(names)} was given."
        )
    return dict(zip(names, every, strict=True))


def _class_of(model: Any) -> str:
    """Return the default name of a model."""
    if isinstance(model, FittedModel):
        return model.name
    if isinstance(model, RModel):
        return model.path.stem
    if isinstance(model, type) or (callable(model) and not hasattr(model, "predict")):
        return str(getattr(model, "__name__", "function")).replace(
            "<lambda>", "function"
        )
    return class_name(model) if hasattr(model, "predict") else type(model).__name__


def _task_of(
    models: Mapping[str, Any],
    X: pd.DataFrame,
    y: Any,
    word: str | None,
    *,
    is_array: bool,
) -> _Task:
    """Return the task of a call: as given, else of a model, else from the target."""
    values = pd.Series(np.asarray(y)).dropna()
    n_classes = len(pd.unique(values))
    if word is not None:
        tasks = [task for task, words in TASKS.items() if word in words]
        if not tasks:
            every = sorted({each for words in TASKS.values() for each in words})
            raise ConfigError(
                [f"task must be one of {listed(every)}; {quote(word)} was given."]
            )
        if len(tasks) > 1:  # rows may lack a class of the model
            own = _task_of(models, X, y, None, is_array=is_array).name
            by_rows = "binary" if n_classes == 2 else "multiclass"
            tasks = [own if own in tasks else by_rows]
        return _Task(cast(Task, tasks[0]), "it was given")
    guess = ""
    for name, model in models.items():
        if isinstance(model, FittedModel):
            return _Task(model.task, f"model {quote(name)} was made for it")
        if isinstance(model, RModel) or not hasattr(model, "predict"):
            continue
        if says_its_task(name, model):
            columns = _columns_unnamed(name, model, tuple(map(str, X)))
            task = wrap(model, name=name, features=columns).task
            return _Task(task, f"{class_name(model)} was fitted for it")
        guess = f"; it is a guess, since {class_name(model)} does not say its task"
    for name, model in models.items():
        if not isinstance(model, RModel):
            shape = _prediction_shape(name, model, X.head(PEEK), is_array)
            if len(shape) == 2 and shape[1] > 1:
                task = "binary" if shape[1] == 2 else "multiclass"
                return _Task(
                    cast(Task, task), f"{quote(name)} predicts {shape[1]} columns"
                )
    if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
        if set(pd.unique(values)) <= {0, 1}:
            return _Task("binary", f"the target is 0 and 1 alone{guess}")
        return _Task("regression", f"the target has numbers{guess}")
    task = "binary" if n_classes == 2 else "multiclass"
    return _Task(cast(Task, task), f"the target has {n_classes} classes{guess}")


def _with_positive_last(positive_class: Any, classes: Sequence[Any]) -> list[Any]:
    """Return two classes, the positive one last."""
    labels = {text_of(label): label for label in classes}
    positive = text_of(positive_class)
    if len(labels) != 2 or positive not in labels:
        has = f"they are {listed(labels)}" if labels else "the task has no classes"
        raise ConfigError(
            [
                "positive_class must be one of two classes; "
                f"{quote(positive_class)} was given, and {has}."
            ]
        )
    return sorted(labels.values(), key=lambda label: text_of(label) == positive)


def _prediction_shape(
    name: str, model: Any, rows: pd.DataFrame, is_array: bool
) -> tuple[int, ...]:
    """Return the shape of the predictions of an object or a function for a few rows."""
    is_object = hasattr(model, "predict")
    predict, kind = (model.predict, class_name(model)) if is_object else (model, "")
    if not callable(predict):
        return ()
    given = rows.to_numpy() if is_array and is_object else rows.copy()
    try:
        return np.shape(predict(given))
    except Exception as error:
        form = prediction.Form(name, kind or "its function", "regression")
        refused = prediction.refusal(form, "predict the rows", rows, error)
        with suppress(Exception):
            predict(rows.to_numpy())
            how = "Give X as one, or wrap" if is_object else "Wrap"
            refused = ModelError(
                f"{str(refused).rstrip('.')}. It takes arrays. {how} the model: "
                f"ia.wrap(model, name={name!r}, task=…, features=[…], as_array=True)"
            )
        raise refused from error


def _training_rows(train: tuple[Any, ...], test: Dataset) -> Dataset:
    """Return the rows that models were fitted to, as a dataset like `test`."""
    if not isinstance(train, tuple | list) or len(train) not in (2, 3):
        raise DataError("train must be (X, y) or (X, y, sample_weight).")
    X, y, *more = train
    frame, y, weights = as_table(X, y, more[0] if more else None, "train")
    lacks = [name for name in test.features if name not in frame]
    more_columns = [name for name in frame if name not in test.features]
    if lacks or more_columns:
        what = [f"lacks {listed(lacks)}"] * bool(lacks)
        what += [f"has {listed(more_columns)} besides"] * bool(more_columns)
        raise DataError(f"train must have the columns of X; it {' and '.join(what)}.")
    rows = dataset(
        frame,
        y,
        task=test.task,
        name="training rows given in Python",
        split="train",
        weights=weights,
        classes=test.classes or None,
    )
    for name in test.features:
        kinds = ["text" if is_category(s.X[name]) else "numbers" for s in (rows, test)]
        if kinds[0] != kinds[1]:
            raise DataError(
                f"Column {quote(name)} has {kinds[0]} in train and {kinds[1]} in X. "
                "Give it one type."
            )
    return rows


def _fitted(model: Any, name: str, rows: Dataset, *, is_array: bool) -> FittedModel:
    """Return a model of a call as a `FittedModel`.

    An object without names of columns gets an array if X is one; a function gets a
    frame.
    """
    if isinstance(model, FittedModel):
        if model.classes[::-1] == rows.classes and model.task == "binary":
            raise ModelError(
                f"Model {quote(name)} predicts the probability of "
                f"{quote(model.classes[-1])}, and the positive class is "
                f"{quote(rows.classes[-1])}. Wrap it with classes=[…], the positive "
                "one last."
            )
        return replace(model, name=name)
    if isinstance(model, RModel):
        try:
            digest = sha256(model.path.read_bytes()).hexdigest()
        except OSError as error:
            raise ModelError(
                f"Model {quote(name)}: {str(model.path)!r} cannot be read: "
                f"{error.strerror}."
            ) from error
        section = ModelSection(name=name, file=str(model.path), sha256=digest)
        return r_models.load(section, rows)
    columns = _columns_unnamed(name, model, rows.features)
    wrapped = partial(wrap, model, name=name, task=rows.task, features=columns)
    is_object = hasattr(model, "predict")
    wrapped = partial(wrapped, as_array=is_array and is_object)
    if is_object and (rows.task == "regression" or says_its_task(name, model)):
        fitted = wrapped()
        if fitted.classes[::-1] != rows.classes or rows.task != "binary":
            return fitted
    return wrapped(classes=rows.classes or None)


def _columns_unnamed(
    name: str, model: Any, features: tuple[str, ...]
) -> tuple[str, ...] | None:
    """Return `features` for a model without names of columns, else None."""
    return None if columns_named(name, model) else features


def _place_note(name: str, rows: Dataset) -> Finding:
    return Finding(
        check="read_by_place",
        severity="info",
        subject=name,
        message=(
            f"Model {quote(name)} was fitted on an array, which names no columns, so "
            f"it reads those of X by place: {listed(rows.features)}."
        ),
        remedy="Give X in the order of the fit, or fit the model on a data frame.",
    )


def _task_note(task: _Task, rows: Dataset) -> Finding:
    positive, other = "", ""
    if rows.task == "binary":
        positive = f" The positive class is {quote(rows.classes[-1])}."
        other = " Pass positive_class= to ask for the other class."
    return Finding(
        check="task_inferred",
        severity="info",
        subject="audit",
        message=f"The task is {task.name}, because {task.reason}.{positive}",
        remedy=f"Pass task= to set another one.{other}",
    )
