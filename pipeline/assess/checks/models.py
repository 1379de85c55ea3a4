"""Checks of a model: is predict deterministic, and are its predictions accurate?"""

import pickle
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pandas as pd

from ...data.column_types import is_category
from ...methods.importance.out_of_bag import is_bagged
from ...methods.trees.fitted import trees_may_answer
from ...models.prediction import predict_unchanged
from ...records.asker import remedy
from ...records.check_answers import Limit, Limits, Seen
from ...records.dataset_and_model import Dataset, FittedModel, largest_gap
from ...records.errors import listed, quote, several
from ...records.finding import Severity, cause_of
from ...records.frames import DECILES, Row
from ...records.losses import SUMS
from ...records.streams import stream
from ..calibration import ROUNDING, chance

FEW_ROWS = 200
"""Rows that are predicted by checks for which any rows will do."""
SOME_ROWS = 500
"""Rows of trees that `not_deterministic` predicts twice."""
SHARED = 0.1
"""Largest share of the evaluation rows that may be rows of the fit for a note."""
SPREADS = 5
"""Binomial standard deviations that chance explains, as its mean is estimated too."""
STATES = ("numpy", "random")


def predict_ignores_x(model: FittedModel, data: Dataset, seed: int, **_: Any) -> Seen:
    """Fire if no prediction changes when the rows are shuffled."""
    # Equal predictions of a few rows may still differ among all rows.
    ignored = all(_ignores_order(model, X, seed) for X in (_few(data), data.X))
    return Seen(
        ignored,
        "unchanged" if ignored else "changed",
        "No prediction changes when the rows are shuffled: predict ignores its "
        "argument, or always returns the same value.",
    )


def not_deterministic(
    model: FittedModel, data: Dataset, limits: Limits, **_: Any
) -> Seen:
    """Fire if two predictions of the same rows differ.

    Of trees only some rows are predicted again: trees predict each row by itself, and
    all predictions are compared with those of the tree nodes if these replace predict.
    """
    rows, first = data.X, predict_unchanged(model, data.X)
    if trees_may_answer(model) and len(rows) > SOME_ROWS:
        at = np.linspace(0, len(rows) - 1, SOME_ROWS).astype(int)
        rows, first = rows.iloc[at], first[at]
    gap = largest_gap(first, model.predict(rows))
    return Seen(
        gap != 0,
        gap,
        f"Two predictions of the same rows differ by up to {gap:.1e}, relative to the "
        "largest prediction.",
        severity=_severity(gap, limits["prediction_gap"]),
        evidence={"gap": gap},
    )


def scored_on_training_rows(
    model: FittedModel, data: Dataset, train: Dataset | None = None, **_: Any
) -> Seen:
    """Fire if the importances are measured on rows that the model was fitted on.

    If the two tables differ, equal rows are counted, in any order. It is a note if the
    share beyond chance is at most `SHARED`: the loss is then still that of new rows.
    """
    is_comparable = data.split == "train" or bool(model.train_sha256 and data.sha256)
    same = data.split == "train" or model.train_sha256 == data.sha256
    message = (
        "The importances are measured on the training rows of the model, not on "
        "unseen rows."
    )
    observed: str | float = "training rows" if same else "other rows"
    counted, evidence, limit = None, {}, None
    severity: Severity | None = None
    # The rows stored in the file of a model may differ from the rows of the audit.
    may_keep_others = model.source == "file" or not is_comparable
    if not same and may_keep_others and model.count_fitted is not None:
        counted = model.count_fitted(data)
    train = model.train or train
    is_known = train is not None and train.sha256 == model.train_sha256 != ""
    if not same and counted is None and is_known:
        counted = _rows_in_common(cast(Dataset, train), data)
    if counted is not None:
        (observed, by_chance), n = counted, data.n_samples
        spread = np.sqrt(by_chance * max(0.0, 1 - by_chance / n))
        explained = by_chance + SPREADS * spread
        columns = (pd.Series(data.y), *(data.X[name] for name in model.features))
        if not by_chance and not any(column.is_unique for column in columns):
            explained = SHARED * n  # no column is unique: a few rows may be equal
        is_comparable, same = True, observed > explained
        limit = Limit(explained, "chance")
        severity = "info" if observed - by_chance <= SHARED * n else None
        message = (
            f"{observed} of the {n} evaluation rows {'is' if observed == 1 else 'are'} "
            "equal to rows that the model was fitted on."
        )
        evidence = {"rows": float(observed), "of": float(n), "by_chance": by_chance}
    if not is_comparable:
        return Seen(None, "training rows unknown")
    return Seen(
        same,
        observed,
        message,
        limit=limit,
        severity=severity,
        remedy=remedy(
            "Set test under [data] to other rows.",
            r="Give data and y of rows that it was not fitted on.",
            python="Pass X and y of rows that it was not fitted on.",
        ),
        evidence=evidence,
        cause=cause_of("scored_on_training_rows", data.name),
    )


def _rows_in_common(train: Dataset, data: Dataset) -> tuple[int, float]:
    """Return the number of rows that are equal to training rows, and that by chance.

    Rows are equal if target and columns are. The share by chance is the share of the
    training rows that are equal to another training row.
    """
    of_train, of_data = (_hashes(rows, train.inputs) for rows in (train, data))
    share = of_train.duplicated(keep=False).mean()
    return int(of_data.isin(of_train).sum()), float(share) * len(of_data)


def _hashes(rows: Dataset, names: Sequence[str]) -> "pd.Series[int]":
    """Return a hash per row, equal if target and columns are equal."""
    table = {"y": pd.Series(rows.y)}
    for place, name in enumerate(names):
        column = rows.X[name].reset_index(drop=True)
        if not is_category(column):
            column = column.astype(float) + 0.0  # numbers of one type, without -0.0
        table[f"x{place}"] = column
    return pd.util.hash_pandas_object(pd.DataFrame(table), index=False)


def predict_writes(model: FittedModel, data: Dataset, **_: Any) -> Seen:
    """Fire if predict changes the rows it is given."""
    rows = _few(data)
    original = rows.copy(deep=True)
    try:
        model.predict(rows)
        changed = not rows.equals(original)
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        changed = True
    observed = "changed" if changed else "unchanged"
    return Seen(changed, observed, "Predict modifies the rows that it is given.")


def predict_draws(model: FittedModel, data: Dataset, **_: Any) -> Seen:
    """Fire if predict changes the global random state of numpy or of Python."""
    before = _random_states()
    model.predict(_few(data))
    changed_states = [
        name
        for name, old, new in zip(STATES, before, _random_states(), strict=True)
        if old != new
    ]
    return Seen(
        bool(changed_states),
        len(changed_states),
        "Predict draws random numbers: it changes the global random state of "
        f"{listed(changed_states)}.",
    )


def reads_more(model: FittedModel, data: Dataset, seed: int, **_: Any) -> Seen | None:
    """Fire if a column that is not among the features changes the predictions."""
    rows = _few(data)
    others = [name for name in rows.columns if name not in model.features]
    if not others or not model.features:
        return None
    order = stream(seed, "check", "reads_more", 0).permutation(len(rows))
    shuffled_rows = rows.copy()
    for name in others:
        shuffled_rows[name] = rows[name].take(order).to_numpy()
        shuffled_rows[name] = shuffled_rows[name].astype(rows[name].dtype)
    reads = not np.array_equal(model.predict(rows), model.predict(shuffled_rows))
    return Seen(
        reads,
        "changed" if reads else "unchanged",
        "The model reads columns that are not listed as its features: shuffling "
        f"{listed(others)} changes its predictions.",
    )


def predict_draws_in_r(draws: int, **_: Any) -> Seen:
    """Fire if predict draws from R's generator, which changes all later draws."""
    return Seen(
        draws != 0,
        draws,
        f"Predict takes {several(draws, 'number')} from R's random number generator "
        "for a few rows, so no draw of R can be replayed.",
        evidence={"draws": draws},
    )


def prediction_mismatch(gap: float, limits: Limits, **_: Any) -> Seen:
    """Fire if the predictions that R received differ from those of Python."""
    return Seen(
        gap != 0,
        gap,
        "The predictions that R received differ from those in Python by up to "
        f"{gap:.1e}, relative to the largest prediction.",
        severity=_severity(gap, limits["prediction_gap"]),
        evidence={"gap": gap},
    )


def weak_model(
    model: FittedModel, row: Mapping[str, Any], limits: Limits, **_: Any
) -> Seen:
    """Fire if a model is not better than the constant predictor beyond chance."""
    limit = limits["standard_errors"]
    subject = f"{model.name}, {row['loss']}"
    gain, error = -row["difference"], row["difference_std_error"]
    if np.isnan(row["constant"]):
        unknown = "the loss of the constant predictor is not defined"
        return Seen(None, unknown, subject=subject)
    if gain > 0 and np.isnan(error):
        unknown = "no standard error of the difference to the constant predictor"
        return Seen(None, unknown, subject=subject)
    if abs(gain) < ROUNDING * abs(row["constant"]):
        gain = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = float(np.divide(gain, error))
    side = "below" if gain > 0 else "above"
    size = f"{abs(errors):.2g}"
    unit = "standard error" if size == "1" else "standard errors"
    place = f"{size} {unit} {side}" if gain and error > 0 else "not below"
    return Seen(
        not errors > float(limit.value),
        errors,
        f"The loss of the model, {row['value']:.4g}, is {place} that of the constant "
        f"predictor, {row['constant']:.4g}. A model counts as better only if its loss "
        f"is more than {limit.value:g} standard errors below.",
        subject=subject,
        evidence={"loss": row["value"], "constant": row["constant"]},
        cause=cause_of("weak_model", model.name),
    )


def train_test_gap(
    model: FittedModel,
    rows: tuple[Mapping[str, Any], Mapping[str, Any]],
    limits: Limits,
    **_: Any,
) -> Seen | None:
    """Fire if the training loss is lower than the test loss beyond chance.

    `rows` are those of the frame of performance, of the training rows and of the
    evaluation rows. The two losses are of different rows, so their variances add up.
    Every model fits its training rows better; the gap of a linear model with many rows
    per column is within three standard errors. A forest fits them well whether it
    overfits or not, so its training rows are compared out of bag only. It is a warning
    if the gap, as a share of the loss of the constant predictor, exceeds a limit in
    `[checks]`.
    """
    train, test = rows
    loss = str(test["loss"])
    gap = test["value"] - train["value"]
    error = float(np.hypot(train["std_error"], test["std_error"]))
    if loss in SUMS or not (np.isfinite(gap) and error > 0):
        return None
    if train["split"] == "train" and is_bagged(model.estimator):
        return Seen(None, "not out of bag", subject=f"{model.name}, {loss}")
    errors, limit = gap / error, limits["gap_errors"]
    fires, observed = errors > float(limit.value), errors
    is_over = False
    if "train_test_gap" in limits:
        limit = limits["train_test_gap"]
        observed = float(np.divide(gap, test["constant"]))
        is_over = fires and observed > float(limit.value)
    is_out = train["split"] == "out_of_bag"
    how = ", predicted out of bag" if is_out else ""
    return Seen(
        fires,
        observed,
        f"The loss of the model is {test['value']:.4g} on the evaluation rows and "
        f"{train['value']:.4g} on its training rows{how}: a gap of {errors:.1f} "
        "standard errors.",
        limit=limit,
        severity="warning" if is_over else "info",
        subject=f"{model.name}, {loss}",
        evidence={
            "train": train["value"],
            "test": test["value"],
            "standard_error": error,
        },
        cause=cause_of("train_test_gap", model.name),
    )


def calibration(model: FittedModel, row: Row, limits: Limits, **_: Any) -> Seen | None:
    """Fire if more deciles of probabilities are miscalibrated than chance explains."""
    if model.task == "regression":
        return None
    name = row["positive_class"]
    of_class = model.task == "multiclass"
    message = (
        f"The predicted probabilities of class {quote(name)} are "
        f"{_describe_deciles(row)}: {row['predicted']:.3g} on average, where "
        f"{row['observed']:.3g} was observed."
    )
    return replace(
        _judge_deciles(row, limits, message),
        subject=f"{model.name}, {name}" if of_class else model.name,
        cause=cause_of("calibration", model.name),
    )


def bias(model: FittedModel, row: Row, limits: Limits, **_: Any) -> Seen | None:
    """Fire if more deciles of predictions are biased than chance explains."""
    if model.task != "regression":
        return None
    message = (
        f"The predictions are {_describe_deciles(row)}: {row['predicted']:.4g} on "
        f"average, where the target is {row['observed']:.4g}."
    )
    return _judge_deciles(row, limits, message)


def _judge_deciles(row: Row, limits: Limits, message: str) -> Seen:
    """Compare the number of deciles outside their intervals with that by chance."""
    limit, n = limits["calibration"], int(row["deciles"])
    explained = (k for k in range(n) if chance(k + 1, n) <= float(limit.value))
    most = Limit(float(next(explained, n)), limit.set_by)
    n_outside = row["too_low"] + row["too_high"]
    names = ("deciles", "too_low", "too_high", "chance", "predicted", "observed")
    return Seen(
        n_outside > float(most.value),
        n_outside,
        message,
        limit=most,
        evidence={name: float(row[name]) for name in names},
    )


def _describe_deciles(row: Row) -> str:
    """Return the deciles in which predictions are too low or too high, in words.

    They are called groups if tied predictions leave fewer than ten.
    """
    one, more = "group of predictions", "groups of predictions"
    if row["deciles"] == DECILES:
        one, more = "decile", "deciles"
    parts = []
    for side in ("too low", "too high"):
        n = int(row[side.replace(" ", "_")])
        ends = [end for end in ("lowest", "highest") if row[end] == side]
        if n == len(ends):
            where = f"{' and '.join(ends)} {one if n == 1 else more}"
            parts += [f"{side} in the {where}"] if n else []
        else:
            among = f" (the {' and '.join(ends)} among them)" if ends else ""
            parts.append(f"{side} in {n} of {row['deciles']} {more}{among}")
    return " and ".join(parts)


def _ignores_order(model: FittedModel, X: pd.DataFrame, seed: int) -> bool:
    """Return whether the predictions of shuffled rows are in the original order."""
    order = stream(seed, "check", "predict_ignores_x", 0).permutation(len(X))
    shuffled_rows = X.iloc[order].reset_index(drop=True)
    return np.array_equal(model.predict(X), model.predict(shuffled_rows))


def _few(data: Dataset) -> pd.DataFrame:
    """Return a copy of the first rows."""
    return data.X.iloc[:FEW_ROWS].reset_index(drop=True).copy(deep=True)


def _random_states() -> tuple[bytes, bytes]:
    """Return the global random states, in the order of `STATES`."""
    return pickle.dumps(np.random.get_state()), pickle.dumps(random.getstate())


def _severity(gap: float, limit: Limit) -> Severity:
    """Return the severity of a gap between predictions that should be equal."""
    return "warning" if gap <= float(limit.value) else "failure"
