"""Checks of a model: can its predictions be believed, and do they predict?"""

import pickle
import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ...methods.trees.fitted import trees_may_answer
from ...models.prediction import predict_unchanged
from ...records.asker import remedy
from ...records.dataset_and_model import Dataset, FittedModel, largest_gap
from ...records.errors import listed, quote, several
from ...records.finding import Finding, Severity, cause_of
from ...records.frames import Row
from ...records.losses import SUMS
from ...records.streams import stream
from ..calibration import chance
from .answers import Answer, Limit, Limits, answer, row_of

FEW_ROWS, SOME_ROWS = 200, 500
"""Rows that a check asks predict about: where any will do, and of trees."""
STATES = ("numpy", "random")


def predict_ignores_x(
    model: FittedModel, data: Dataset, seed: int, limits: Limits
) -> Answer:
    """Fire if predictions stay where they are when the rows change places."""
    del limits
    # What is the same for few rows in any order may still differ among all.
    ignored = all(_ignores_order(model, X, seed) for X in (_few(data), data.X))
    finding = Finding(
        check="predict_ignores_x",
        severity="failure",
        subject=model.name,
        message=(
            "No prediction changes when the rows are shuffled: predict ignores its "
            "argument, or always returns the same value."
        ),
        remedy="Make predict use its argument. A constant model has no importances.",
    )
    observed = "unchanged" if ignored else "changed"
    limit = Limit("changed", "definition")
    return answer(finding, ignored, observed, limit)


def not_deterministic(
    model: FittedModel, data: Dataset, seed: int, limits: Limits
) -> Answer:
    """Fire if the same rows, asked twice, get two answers.

    Of trees some rows are asked again: each has its answer by itself, and all answers
    are compared with those of the nodes when these answer for the model.
    """
    del seed
    rows, first = data.X, predict_unchanged(model, data.X)
    if trees_may_answer(model) and len(rows) > SOME_ROWS:
        at = np.linspace(0, len(rows) - 1, SOME_ROWS).astype(int)
        rows, first = rows.iloc[at], first[at]
    gap = largest_gap(first, model.predict(rows))
    limit = limits["prediction_gap"]
    finding = Finding(
        check="not_deterministic",
        severity=_severity(gap, limit),
        subject=model.name,
        message=(
            f"Two predictions of the same rows differ by up to {gap:.1e}, relative to "
            "the largest prediction."
        ),
        remedy="Fix the seed of the estimator, or use a single thread.",
        evidence={"gap": gap},
    )
    return answer(finding, gap != 0, gap, limit)


def scored_on_training_rows(
    model: FittedModel, data: Dataset, seed: int, limits: Limits
) -> Answer:
    """Fire if the importances are measured on rows the model was fitted on."""
    del seed, limits
    is_comparable = data.split == "train" or bool(model.train_sha256 and data.sha256)
    same = data.split == "train" or model.train_sha256 == data.sha256
    message = (
        "The importances are measured on the training rows of the model, not on "
        "unseen rows."
    )
    if not is_comparable and model.count_fitted is not None:
        counted = model.count_fitted(data)
        if counted is not None:
            is_comparable, (n_fitted, by_chance) = True, counted
            same = n_fitted > by_chance
            message = (
                f"{n_fitted} of the {data.n_samples} evaluation rows are equal to rows "
                "that the model was fitted on, which it keeps."
            )
    finding = Finding(
        check="scored_on_training_rows",
        severity="warning",
        subject=model.name,
        message=message,
        remedy=remedy(
            "Set test under [data] to other rows.",
            r="Give data and y of rows that it was not fitted on.",
        ),
        cause=cause_of("scored_on_training_rows", data.name),
    )
    limit = Limit("other rows", "definition")
    if not is_comparable:
        row = row_of(finding, "training rows unknown", limit, "not run")
        return row, None
    observed = "training rows" if same else "other rows"
    return answer(finding, same, observed, limit)


def predict_writes(
    model: FittedModel, data: Dataset, seed: int, limits: Limits
) -> Answer:
    """Fire if predict changes the rows it is given."""
    del seed, limits
    rows = _few(data)
    original = rows.copy(deep=True)
    try:
        model.predict(rows)
        changed = not rows.equals(original)
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        changed = True
    finding = Finding(
        check="predict_writes",
        severity="failure",
        subject=model.name,
        message="Predict modifies the rows that it is given.",
        remedy="Make predict work on a copy of its argument.",
    )
    observed = "changed" if changed else "unchanged"
    return answer(finding, changed, observed, Limit("unchanged", "definition"))


def predict_draws(
    model: FittedModel, data: Dataset, seed: int, limits: Limits
) -> Answer:
    """Fire if predict moves the global random state of numpy or of Python."""
    del seed, limits
    before = _random_states()
    model.predict(_few(data))
    changed_states = [
        name
        for name, old, new in zip(STATES, before, _random_states(), strict=True)
        if old != new
    ]
    finding = Finding(
        check="predict_draws",
        severity="warning",
        subject=model.name,
        message=(
            "Predict draws random numbers: it changes the global random state of "
            f"{listed(changed_states)}."
        ),
        remedy="Give the estimator a fixed seed of its own.",
    )
    limit = Limit(0.0, "definition")
    return answer(finding, bool(changed_states), len(changed_states), limit)


def reads_more(
    model: FittedModel, data: Dataset, seed: int, limits: Limits
) -> Answer | None:
    """Fire if a column that the model does not name changes its predictions."""
    del limits
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
    finding = Finding(
        check="reads_more",
        severity="failure",
        subject=model.name,
        message=(
            "The model reads columns that are not listed as its features: shuffling "
            f"{listed(others)} changes its predictions."
        ),
        remedy="List every column that predict reads.",
    )
    observed = "changed" if reads else "unchanged"
    return answer(finding, reads, observed, Limit("unchanged", "definition"))


def predict_draws_in_r(model: FittedModel, draws: int, limits: Limits) -> Answer:
    """Fire if predict takes numbers from R's stream, which moves all draws after it."""
    del limits
    finding = Finding(
        check="predict_draws_in_r",
        severity="warning",
        subject=model.name,
        message=(
            f"Predict takes {several(draws, 'number')} from R's random number "
            "generator for a few rows, so no draw of R can be replayed."
        ),
        remedy="Give the model a seed of its own for its predictions.",
        evidence={"draws": draws},
    )
    return answer(finding, draws != 0, draws, Limit(0.0, "definition"))


def prediction_mismatch(model: FittedModel, gap: float, limits: Limits) -> Answer:
    """Fire if R received other predictions than those of Python."""
    limit = limits["prediction_gap"]
    finding = Finding(
        check="prediction_mismatch",
        severity=_severity(gap, limit),
        subject=model.name,
        message=(
            "The predictions that R received differ from those in Python by up to "
            f"{gap:.1e}, relative to the largest prediction."
        ),
        remedy="Compare the types and category levels of the columns on both sides.",
        evidence={"gap": gap},
    )
    return answer(finding, gap != 0, gap, limit)


def weak_model(model: FittedModel, row: Mapping[str, Any], limits: Limits) -> Answer:
    """Fire if a model is not better than the constant predictor beyond its error."""
    limit = limits["standard_errors"]
    gain, error = -row["difference"], row["difference_std_error"]
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = float(np.divide(gain, error))
    side = "below" if gain > 0 else "above"
    size = f"{abs(errors):.2g}"
    unit = "standard error" if size == "1" else "standard errors"
    place = f"{size} {unit} {side}" if error > 0 else "not below"
    finding = Finding(
        check="weak_model",
        severity="warning",
        subject=f"{model.name}, {row['loss']}",
        message=(
            f"The loss of the model, {row['value']:.4g}, is {place} that of the "
            f"constant predictor, {row['constant']:.4g}. A model counts as better "
            f"only if its loss is more than {limit.value:g} standard errors below."
        ),
        remedy="Improve the model before interpreting its importances.",
        evidence={"loss": row["value"], "constant": row["constant"]},
        cause=cause_of("weak_model", model.name),
    )
    if gain > 0 and np.isnan(error):
        unknown = "no standard error: the loss is not defined on most resamples"
        return row_of(finding, unknown, limit, "not run"), None
    return answer(finding, not errors > float(limit.value), errors, limit)


def train_test_gap(
    model: FittedModel,
    rows: tuple[Mapping[str, Any], Mapping[str, Any]],
    limits: Limits,
) -> Answer | None:
    """Fire if a model predicts the rows of its fit better than chance explains.

    `rows` are those of the frame of performance, of the training rows and of the
    evaluation rows. The two losses are of different rows, so their errors add up; a
    model fits its own rows better by nature, which is within three of these errors of
    a line with many rows per column. A limit that `[checks]` sets, a share of the
    constant predictor's loss, makes it a warning.
    """
    train, test = rows
    loss = str(test["loss"])
    gap = test["value"] - train["value"]
    error = float(np.hypot(train["std_error"], test["std_error"]))
    if loss in SUMS or not (np.isfinite(gap) and error > 0):
        return None
    errors, limit = gap / error, limits["gap_errors"]
    fires, observed = errors > float(limit.value), errors
    is_over = False
    if "train_test_gap" in limits:
        limit = limits["train_test_gap"]
        observed = float(np.divide(gap, test["constant"]))
        is_over = fires and observed > float(limit.value)
    is_out = train["split"] == "out_of_bag"
    how = ", predicted out of bag" if is_out else ""
    finding = Finding(
        check="train_test_gap",
        severity="warning" if is_over else "info",
        subject=f"{model.name}, {loss}",
        message=(
            f"The loss of the model is {test['value']:.4g} on the evaluation rows and "
            f"{train['value']:.4g} on its training rows{how}: a gap of "
            f"{errors:.2g} standard errors."
        ),
        remedy=(
            "Check whether the evaluation rows come from another population or "
            "period. If not, fit a simpler model."
        ),
        evidence={
            "train": train["value"],
            "test": test["value"],
            "standard_error": error,
        },
        cause=cause_of("train_test_gap", model.name),
    )
    return answer(finding, fires, observed, limit)


def calibration(model: FittedModel, row: Row, limits: Limits) -> Answer | None:
    """Fire if more deciles of probabilities are off than chance explains."""
    if model.task == "regression":
        return None
    name = row["positive_class"]
    of_class = model.task == "multiclass"
    finding = Finding(
        check="calibration",
        severity="info",
        subject=f"{model.name}, {name}" if of_class else model.name,
        message=(
            f"The predicted probabilities of class {quote(name)} are "
            f"{_describe_deciles(row)}: {row['predicted']:.3g} on average, where "
            f"{row['observed']:.3g} was observed."
        ),
        remedy=(
            "Calibrate the model on rows that neither fitted nor evaluate it, or "
            "explain how the evaluation rows differ."
        ),
        evidence=_outside(row),
        cause=cause_of("calibration", model.name),
    )
    return _answer_of_deciles(finding, row, limits)


def bias(model: FittedModel, row: Row, limits: Limits) -> Answer | None:
    """Fire if more deciles of predictions are off than chance explains."""
    if model.task != "regression":
        return None
    finding = Finding(
        check="bias",
        severity="info",
        subject=model.name,
        message=(
            f"The predictions are {_describe_deciles(row)}: {row['predicted']:.4g} on "
            f"average, where the target is {row['observed']:.4g}."
        ),
        remedy=(
            "Plot the residuals against each feature to find a term that the model "
            "lacks, or explain how the evaluation rows differ."
        ),
        evidence=_outside(row),
    )
    return _answer_of_deciles(finding, row, limits)


def _answer_of_deciles(finding: Finding, row: Row, limits: Limits) -> Answer:
    """Hold the number of deciles outside against what chance explains."""
    limit, n = limits["calibration"], int(row["deciles"])
    explained = (k for k in range(n) if chance(k + 1, n) <= float(limit.value))
    most = Limit(float(next(explained, n)), limit.set_by)
    n_outside = row["too_low"] + row["too_high"]
    return answer(finding, n_outside > float(most.value), n_outside, most)


def _outside(row: Row) -> dict[str, float]:
    names = ("deciles", "too_low", "too_high", "chance", "predicted", "observed")
    return {name: float(row[name]) for name in names}


def _describe_deciles(row: Row) -> str:
    """Return in which deciles predictions are too low or too high."""
    parts = []
    for side in ("too low", "too high"):
        n = int(row[side.replace(" ", "_")])
        ends = [end for end in ("lowest", "highest") if row[end] == side]
        if n == len(ends):
            where = f"{' and '.join(ends)} {'decile' if n == 1 else 'deciles'}"
            parts += [f"{side} in the {where}"] if n else []
        else:
            among = f" (the {' and '.join(ends)} among them)" if ends else ""
            parts.append(f"{side} in {n} of {row['deciles']} deciles{among}")
    return " and ".join(parts)


def _ignores_order(model: FittedModel, X: pd.DataFrame, seed: int) -> bool:
    """Return whether predictions stay where they are when rows change places."""
    order = stream(seed, "check", "predict_ignores_x", 0).permutation(len(X))
    shuffled_rows = X.iloc[order].reset_index(drop=True)
    return np.array_equal(model.predict(X), model.predict(shuffled_rows))


def _few(data: Dataset) -> pd.DataFrame:
    """Return rows enough to see what predict does, in memory of their own."""
    return data.X.iloc[:FEW_ROWS].reset_index(drop=True).copy(deep=True)


def _random_states() -> tuple[bytes, bytes]:
    """Return the global states of numpy and of Python, in that order."""
    return pickle.dumps(np.random.get_state()), pickle.dumps(random.getstate())


def _severity(gap: float, limit: Limit) -> Severity:
    """Return how grave a gap between predictions is that should not be there."""
    return "warning" if gap <= float(limit.value) else "failure"
