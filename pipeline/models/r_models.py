"""Models of R as fitted models of the audit, from an .rds file or an R script.

Input for which R would silently predict wrong values is refused before it reaches R: a
level unknown to the model, a missing value, or a factor where the model has a number.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from inspect import unwrap
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
import pandas as pd

from importance_audit.r_bridge import r_models
from importance_audit.r_bridge.errors import (
    RBridgeError,
    RError,
    RUnavailable,
    UnknownClass,
)

from ..data.column_roles import about
from ..data.column_types import from_values, is_category
from ..data.encoding import codes_in, refuse_dates, selected
from ..records.asker import remedy
from ..records.dataset_and_model import Dataset, FittedModel, Floats
from ..records.errors import (
    AuditError,
    DataError,
    ModelError,
    NotApplicable,
    in_short,
    listed,
    quote,
    several,
    words,
)
from ..records.finding import Finding
from ..records.losses import default_losses
from . import estimators, prediction
from .section import ModelSection

LONGEST_CALL = 300
SAME_PREDICTIONS = 1e-8
"""Largest difference of predictions in two sessions, as a share of the largest."""
SOME_ROWS = 1000
"""Rows on which side effects of predict are looked for."""


class Reader(NamedTuple):
    """Conversion of a frame to the input of an R model, and of its predictions to ours.

    Attributes
    ----------
    features : tuple of str
        The columns that it uses, in its order.
    levels : mapping of str to Index
        The levels in training, in their order, of each column that is a factor.
    ordered, numbers, logicals, texts : frozenset of str
        The columns that are ordered factors; that are certainly not factors; of these,
        the logical ones; and those that were character in training.
    takes_missing : bool
        Whether missing values are passed on to R.
    columns : list of int, int or None
        The columns of R's predictions to use; None for a regression.
    form : Form
        Requirements on predictions.
    """

    features: tuple[str, ...]
    levels: Mapping[str, pd.Index]
    ordered: frozenset[str]
    numbers: frozenset[str]
    logicals: frozenset[str]
    texts: frozenset[str]
    takes_missing: bool
    columns: list[int] | int | None
    form: prediction.Form


def is_of_r(section: ModelSection) -> bool:
    """Return whether a section describes a model of R."""
    return bool(section.r_script) or Path(section.file).suffix.lower() == ".rds"


def asks_r(model: FittedModel) -> bool:
    """Return whether a fitted model predicts in R."""
    return isinstance(model.estimator, r_models.RModel)


def load(section: ModelSection, train: Dataset, *, base: Path = Path()) -> FittedModel:
    """Return the model of an .rds file, or the model that an R script fits.

    Parameters
    ----------
    section : ModelSection
    train : Dataset
        The training rows for a script. For a file: the task, classes and columns that
        the model must suit, and the levels of factors if it did not keep them.
    base : Path
        The folder that relative paths start from.

    Returns
    -------
    FittedModel
        Its `estimator` is the `RModel`. `predict` calls R, and works only in a session.

    Raises
    ------
    ModelError
        The file is missing, has another digest, or holds no suitable model.
    importance_audit.r_bridge.errors.RUnavailable
        R, or the R package that predicts for the model, is not installed.
    """
    if section.r_script:
        return _fit_script(section, train, base)
    path = base / section.file
    content = estimators.trusted(section.name, path, section.sha256)
    script = _predict_script(section, base)
    try:
        about = f"model {quote(section.name)}"
        model = r_models.read_model(path.name, content, script, about)
    except RUnavailable:
        raise
    except RBridgeError as error:
        raise ModelError(f"Model {quote(section.name)}: {_words(error)}") from error
    record = _record(section.name, model, train)
    notes: tuple[Finding, ...] = ()
    if model.saved_by.split(".")[:2] != model.r_version.split(".")[:2]:
        says = f"R {model.saved_by} saved it, and R {model.r_version} reads it."
        notes = (estimators.loaded_otherwise(section.name, path.name, says),)
    notes += record.notes
    return replace(record, source="file", sha256=section.sha256, notes=notes)


def _predict_script(section: ModelSection, base: Path) -> str | None:
    """Return the script that predicts for a model, None if there is none."""
    if not section.predict:
        return None
    path = base / section.predict
    return _text(section.name, path, estimators.read(section.name, path))


def _text(name: str, path: Path, content: bytes) -> str:
    """Return an R script as text."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ModelError(
            f"Model {quote(name)}: R script {path.name!r} is not UTF-8. Save it as "
            "UTF-8."
        ) from error


def _fit_script(section: ModelSection, train: Dataset, base: Path) -> FittedModel:
    """Return the model that an R script fits on training rows."""
    path = base / section.r_script
    name, content = section.name, estimators.read(section.name, path)
    sha256 = hashlib.sha256(content).hexdigest()
    if section.sha256 not in ("", sha256):
        raise ModelError(
            f"Model {quote(name)}: the sha256 of {path.name!r} is {sha256!r}, and "
            f"the configuration gives {section.sha256!r}. State the new one, or "
            "leave it out."
        )
    script, predict = _text(name, path, content), _predict_script(section, base)
    weights = train.weights if train.is_weighted else None
    refuse_dates(name, train.inputs, train.types)
    rows = frame_of(train)
    try:
        model, warnings = r_models.fit_by_script(
            path.name, script, rows, weights, predict, f"model {quote(name)}"
        )
    except RUnavailable:
        raise
    except RError as error:
        raise ModelError(
            f"Model {quote(name)} cannot be fitted by R script {path.name!r}. R says: "
            f"{words(_r_message(error))}"
        ) from error
    except RBridgeError as error:
        raise ModelError(
            f"Model {quote(name)} (R script {path.name!r}): {_words(error)}"
        ) from error
    record = _record(name, model, train)
    noted = {"warnings": list(warnings)} if warnings else {}
    return replace(
        record,
        source="r_script",
        sha256=sha256,
        parameters={**record.parameters, **noted, "script": script},
        n_train=train.n_samples,
        train_sha256=train.sha256,
        train=train,
        fit_on=partial(_refuse_refit, name),
    )


def _words(error: RBridgeError) -> str:
    """Return the error's message; for an unknown class also how to supply predict."""
    if not isinstance(error, UnknownClass):
        return str(error)
    how = remedy(
        'Name an R script that predicts for it: predict = "predict.R".',
        r="Say how it predicts: importance_audit(model, data, y, predict_function = "
        "function(model, data) ...).",
    )
    return f"{error} {how}"


def _refuse_refit(name: str, rows: Dataset, seed: int | None) -> NoReturn:
    del rows, seed
    raise NotApplicable(
        f"Model {quote(name)} cannot be fitted again: an R script fits it, and may "
        "use columns that other fits do not receive. Name an estimator under "
        "[[models]]."
    )


def frame_of(rows: Dataset) -> pd.DataFrame:
    """Return rows for an R script: the columns that models use, and the target.

    Classes that are all whole numbers become integers; "true" and "false" become
    logical; all others become a factor with the levels of the audit.
    """
    if rows.target in rows.inputs:
        raise ModelError(
            f"The target and a column that an R script reads are both named "
            f"{quote(rows.target)}. Rename one of them."
        )
    frame = rows.X[list(rows.inputs)].copy()
    frame[rows.target] = _target(rows)
    return frame


def _target(rows: Dataset) -> Any:
    if rows.task == "regression":
        return rows.y.copy()
    codes = rows.y.astype(np.int64)
    if rows.classes == ("false", "true"):
        return codes.astype(bool)
    if all(label.removeprefix("-").isdecimal() for label in rows.classes):
        return np.array([int(label) for label in rows.classes])[codes]
    return pd.Categorical.from_codes(codes, categories=list(rows.classes))


def _record(name: str, model: r_models.RModel, train: Dataset) -> FittedModel:
    """Return a model with checks around every prediction."""
    rows = None
    if model.script is not None:
        refuse_dates(name, train.inputs, train.types)
        rows = train.X[list(train.inputs)].iloc[[0, 0]].reset_index(drop=True)
    try:
        question = {"task": train.task, "rows": rows, "columns": list(train.inputs)}
        facts = model.call("describe_model", question)
    except RError as error:
        reason = words(_r_message(error))
        raise ModelError(
            f"Model {quote(name)} ({model.kind}) cannot be audited. R says: {reason}."
        ) from error
    own = tuple(facts["classes"]) if facts["classes"] is not None else ()
    features = tuple(facts["features"])
    prediction.check_columns(name, features, train)
    refuse_dates(name, features, train.types)
    own_levels = dict(facts["levels"] or {})
    levels = {feature: pd.Index(list(known)) for feature, known in own_levels.items()}
    ordered = set(facts["ordered"])
    for feature in features:
        column = train.X[feature]
        if feature not in levels and is_category(column):  # the model kept none
            levels[feature] = pd.Index([str(level) for level in column.cat.categories])
            ordered |= {feature} if column.cat.ordered else set()
    assumed = [name for name in levels if name not in {*own_levels, *train.declared}]
    reader = Reader(
        features=features,
        levels=levels,
        ordered=frozenset(ordered),
        numbers=frozenset(facts["numbers"]),
        logicals=frozenset(facts["logicals"]),
        texts=frozenset(facts["texts"]),
        takes_missing=bool(facts["judges_missing"][0]),
        columns=_columns(name, model.kind, own, train),
        form=prediction.Form(name, model.kind, train.task, train.classes),
    )
    _frame_for_r(train.X.iloc[:0], reader)  # checks the types of columns
    call = facts["call"][0]
    parameters: dict[str, Any] = {}
    if 0 < len(call) <= LONGEST_CALL:
        parameters["call"] = call
    if note := facts["note"][0]:
        parameters["note"] = note
    if model.script is not None:
        parameters["predict"] = model.script
    notes: tuple[Finding, ...] = ()
    if assumed and train.split == "train":  # the model kept no levels
        parameters["levels_of_the_training_rows"] = assumed
    elif assumed:
        parameters["levels_of_the_evaluation_rows"] = assumed
        doubtful = set(assumed) - set(facts["verified"])
        notes = _levels_note(name, model.kind, levels, doubtful)
    if facts["has_weights"][0] and not train.is_weighted:
        notes += (_unused_weights(name),)
    return FittedModel(
        name=name,
        task=train.task,
        scale="response" if train.task == "regression" else "probability",
        predict=partial(predict, model=model, reader=reader),
        features=features,
        losses=default_losses(train.task),
        classes=train.classes,
        estimator=model,
        encoded=features,
        library=f"{model.package} {model.package_version}, R {model.r_version}",
        parameters=parameters,
        notes=notes,
        count_fitted=partial(_count_fitted, model=model, reader=reader),
    )


def _levels_note(
    name: str, kind: str, levels: Mapping[str, pd.Index], doubtful: set[str]
) -> tuple[Finding, ...]:
    """Return the finding that the levels of the rows are used as those of training."""
    if not doubtful:
        return ()
    shown = "; ".join(
        f"of {quote(feature)} {listed(known)}"
        for feature, known in levels.items()
        if feature in doubtful
    )
    return (
        Finding(
            check="assumed_levels",
            severity="warning",
            subject=name,
            message=f"The model ({kind}) keeps no levels of its factors, so those of "
            f"the rows were assumed: {shown}. If training had others, or another "
            "order, its predictions here are wrong.",
            remedy=remedy(
                "Name the training rows as train under [data], or declare the levels "
                "of training, in their order, under [data] categories.",
                r="Give train and train_y, whose factors have the levels of training.",
                python="Give train=(X, y), the training rows.",
            ),
        ),
    )


def _unused_weights(name: str) -> Finding:
    """Return the finding that an explainer has weights that the audit does not use."""
    return Finding(
        check="unused_weights",
        severity="warning",
        subject=name,
        message="The explainer has weights, which this audit does not use: its rows "
        "count equally, as in DALEX's own importances and profiles.",
        remedy=remedy(
            "To weigh the rows, name the column of the weights as weights under "
            "[data]; or save the explainer without weights.",
            r="To weigh the rows, give weights, such as weights = explainer$weights; "
            "or make the explainer without weights.",
            python="To weigh the rows, give sample_weight; or save the explainer "
            "without weights.",
        ),
    )


def _count_fitted(
    rows: Dataset, *, model: r_models.RModel, reader: Reader
) -> tuple[int, float] | None:
    """Return how many rows are training rows of a model, and how many by chance.

    None if the fitted object keeps no rows. By chance, rows are assumed to equal a
    training row as often as a training row equals another one.
    """
    question = {"data": _frame_for_r(rows.X, reader), "y": _target(rows)}
    facts = model.call("count_fitted", question)
    if not facts:
        return None
    return int(facts["equal"][0]), float(facts["share"][0]) * rows.n_samples


def side_effects(model: FittedModel, rows: Dataset) -> list[Finding]:
    """Return a finding if predict warns, with its first warning.

    Empty if it cannot predict, which another check reports.
    """
    function = unwrap(model.predict)
    if not isinstance(function, partial):  # a user's function, not called in R
        return []
    try:
        frame = _frame_for_r(rows.X.iloc[:SOME_ROWS], function.keywords["reader"])
        facts = model.estimator.call("warnings_of_predict", {"data": frame})
    except (RBridgeError, AuditError):
        return []
    if not facts["warning"][0]:
        return []
    return [
        Finding(
            check="predict_side_effects",
            severity="warning",
            subject=model.name,
            message=f"Predict warns ({several(int(facts['n_warnings'][0]), 'warning')} "
            f"for {several(len(frame), 'row')}): {in_short(facts['warning'][0])}",
            remedy="Find out what it means for these rows.",
            measure="warning",
        )
    ]


def draws_numbers(model: FittedModel, rows: Dataset) -> bool:
    """Return whether predict of an R model uses R's random numbers in plain R.

    The audit gives ranger a seed; in DALEX, called directly, predict advances the
    random stream. False for other models, and if R fails.
    """
    function = unwrap(model.predict)
    if not asks_r(model) or not isinstance(function, partial):
        return False
    try:
        frame = _frame_for_r(rows.X.iloc[:2], function.keywords["reader"])
        return bool(model.estimator.call("draws_numbers", {"data": frame})[0])
    except (RBridgeError, AuditError):
        return False


def refuse_other_predictions(model: FittedModel) -> None:
    """Refuse a model that predicts differently here than where it was saved.

    The comparison uses the predictions stored in an explainer of DALEX, or made by R's
    `importance_audit` in the session of its caller, for at most 1000 rows. They may
    differ by 1e-8 of the largest, or by twice the difference of two predictions here.

    Raises
    ------
    ModelError
    """
    function = unwrap(model.predict)
    try:
        rows = None
        if isinstance(function, partial):
            reader = function.keywords["reader"]
            question = {"columns": list(reader.features)}
            rows = model.estimator.call("session_rows", question)
        if rows is not None:  # a session without rows, or without some column, has none
            typed = {}
            for name, column in rows.items():
                with about(f"column {quote(name)}"):
                    typed[name] = from_values(column, is_feature=True)
            rows = _frame_for_r(pd.DataFrame(typed), reader)
        facts = model.estimator.call("distance_to_session", {"rows": rows})
    except RUnavailable:
        raise
    except RError as error:
        reason = words(_r_message(error))
        raise ModelError(
            f"Model {quote(model.name)} cannot predict the rows that it was saved "
            f"with. R says: {reason}"
        ) from error
    except RBridgeError as error:
        raise ModelError(str(error)) from error
    if not facts:
        return
    distance, noise, largest = (
        float(facts[name][0]) for name in ("distance", "noise", "largest")
    )
    if distance > max(SAME_PREDICTIONS * largest, 2 * noise):
        raise ModelError(
            f"Model {quote(model.name)} predicts otherwise in a fresh R than in the "
            f"session that saved it: by up to {distance:.3g} for {facts['n_rows'][0]} "
            f"rows, with predictions up to {largest:.3g}. What its predict calls is "
            "not the same here: a method, function or variable of that session, or a "
            "package. Write it into the predict function, or name its package "
            "(package::name)."
        )


def _columns(
    name: str, kind: str, own: tuple[str, ...], train: Dataset
) -> list[int] | int | None:
    """Return the columns of R's predictions to use; refuse wrong tasks and classes."""
    if train.task == "regression":
        if own:
            how = remedy(
                "Set another task.",
                r="Give y as a factor of these classes, or as 0 and 1.",
            )
            raise ModelError(
                f"Model {quote(name)} ({kind}) predicts the classes {listed(own)}, and "
                f"task 'regression' needs a number. {how}"
            )
        return None
    if not own:
        how = remedy(
            "Fit it to a factor, or set task 'regression'.",
            r="Fit it to a factor, or give y as numbers.",
        )
        raise ModelError(
            f"Model {quote(name)} ({kind}) predicts a number, and task {train.task!r} "
            f"needs probabilities. {how}"
        )
    classes = train.classes
    labels = classes if set(own) == set(classes) else prediction.codes(classes)
    if set(own) != set(labels):
        raise prediction.other_classes(name, own, classes)
    columns = [own.index(label) for label in labels]
    return columns[1] if train.task == "binary" else columns


def predict(X: pd.DataFrame, *, model: r_models.RModel, reader: Reader) -> Floats:
    """Return checked predictions of R, (n_samples,), or (n_samples, n_classes).

    Parameters
    ----------
    X : DataFrame
        Rows with at least the columns that the model uses; not changed.
    model : RModel
    reader : Reader

    Raises
    ------
    DataError
        If the model does not accept a level or a missing value in `X`.
    ModelError
        If R stops, or does not return predictions.
    importance_audit.r_bridge.errors.RBridgeError
        If the R process died, or timed out.
    """
    frame, form = _frame_for_r(X, reader), reader.form
    if not len(frame):
        width = (len(form.classes),) if form.task == "multiclass" else ()
        return np.empty((0, *width))
    if len(frame) == 1:
        frame = frame.take([0, 0])  # R packages drop dimensions for a single row
    try:
        answer = np.asarray(model.call("predict_model", {"data": frame}))
    except RError as error:
        raise prediction.refusal(
            form, "predict the rows", X, _r_message(error)
        ) from error
    columns = reader.columns
    if columns is not None and answer.ndim > 1:
        answer = answer[:, columns]
    elif columns == 0:  # a vector holds the second class
        answer = 1 - answer
    return prediction.checked(answer, len(frame), form)[: len(X)]


def _frame_for_r(X: pd.DataFrame, reader: Reader) -> pd.DataFrame:
    """Return the columns that a model uses, in the types of its training."""
    rows = selected(reader.features, X, reader.form.model)
    sent = [_column_for_r(column, reader) for _, column in rows.items()]
    return pd.DataFrame(dict(zip(reader.features, sent, strict=True)))


def sole_model(function: Callable[..., Any]) -> prediction.SoleEstimator | None:
    """Return the only R model that `predict` of a model calls, None otherwise.

    Its inputs are given as R's codes of factors, 1 for the first level.
    """
    function = unwrap(function)
    if not isinstance(function, partial) or function.func is not predict:
        return None
    reader = function.keywords["reader"]
    return prediction.SoleEstimator(
        function.keywords["model"],
        0 if reader.columns is None else reader.columns,
        partial(_codes, reader=reader),
        reader.features,
    )


def _codes(X: pd.DataFrame, *, reader: Reader) -> Any:
    """Return rows as by R's data.matrix; text columns stay unchanged."""
    frame = _frame_for_r(X, reader)
    columns: list[Any] = []
    for _, column in frame.items():
        if is_category(column):
            codes = column.cat.codes.to_numpy()
            columns.append(np.where(codes < 0, np.nan, codes + 1.0))
        elif pd.api.types.is_numeric_dtype(column):
            columns.append(column.to_numpy(dtype=np.float64, na_value=np.nan))
        else:
            columns.append(column.to_numpy(dtype=object))
    return np.column_stack(columns)


def _column_for_r(column: pd.Series, reader: Reader) -> pd.Series:
    """Return a column in the type of training, or refuse it."""
    name, form = str(column.name), reader.form
    is_text = pd.api.types.infer_dtype(column, skipna=True) == "string"
    is_factor = is_category(column) or is_text
    if column.hasnans and not reader.takes_missing:
        raise prediction.missing(form, column)
    if name in reader.numbers and is_factor:
        raise _other_kind(column, form, "a number", "a category")
    if name in reader.logicals and column.dropna().isin((0, 1)).all():
        return column.astype("boolean").reset_index(drop=True)
    if name in reader.texts and is_factor:
        return column.astype(object).reset_index(drop=True)
    if name not in reader.levels:
        return column.reset_index(drop=True)
    levels = reader.levels[name]
    if not is_factor:
        raise _other_kind(column, form, f"one of {listed(levels)}", "a number")
    category = column if is_category(column) else column.astype("category")
    texts = pd.Index([str(level) for level in category.cat.categories])
    codes = codes_in(levels, category.cat.rename_categories(texts), form.model)
    dtype = pd.CategoricalDtype(levels, ordered=name in reader.ordered)
    return pd.Series(pd.Categorical.from_codes(codes, dtype=dtype))


def _other_kind(
    column: pd.Series, form: prediction.Form, training_kind: str, kind: str
) -> DataError:
    how = remedy(
        "Declare its type under [data] categories.",
        r="Give it in data as the model was fitted to it.",
        python="Pass it in X as the model was fitted to it.",
    )
    return DataError(
        f"Column {quote(column.name)} is {kind}, and model {quote(form.model)} was "
        f"trained on {training_kind}. {how}"
    )


def _r_message(error: RBridgeError) -> Exception:
    """Return an error with R's own message, if it has one."""
    return Exception(getattr(error, "message", "") or str(error))
