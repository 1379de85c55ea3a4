"""What must hold of a model before its importances can be believed."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pipeline.checks.answers import Answer, Limit, Limits, answer, row_of
from pipeline.finding import Finding, Severity
from pipeline.records import Dataset, FittedModel, Floats
from pipeline.streams import stream


def predict_ignores_x(
    model: FittedModel, data: Dataset, seed: int, limits: Limits
) -> Answer:
    """Fire if predictions stay where they are when the rows change places."""
    del limits
    order = stream(seed, "check", "predict_ignores_x", 0).permutation(data.n_samples)
    moved = data.X.iloc[order].reset_index(drop=True)
    ignored = np.array_equal(model.predict(data.X), model.predict(moved))
    finding = Finding(
        check="predict_ignores_x",
        severity="failure",
        subject=model.name,
        message=(
            "Predictions must change when rows change places, but none did: predict "
            "does not use the rows it is given, or always says the same."
        ),
        remedy="Let predict use its argument. A constant model has no importances.",
    )
    observed = "unchanged" if ignored else "changed"
    limit = Limit("changed", "definition")
    return answer(finding, ignored, observed, limit)


def not_deterministic(
    model: FittedModel, data: Dataset, seed: int, limits: Limits
) -> Answer:
    """Fire if the same rows, asked twice, get two answers."""
    del seed
    gap = _gap(model.predict(data.X), model.predict(data.X))
    limit = limits["prediction_gap"]
    finding = Finding(
        check="not_deterministic",
        severity=_severity(gap, limit),
        subject=model.name,
        message=(
            "The same rows must get the same predictions, but asked twice they differ "
            f"by {gap:.1e} relative."
        ),
        remedy="Give the estimator a fixed seed, or one thread.",
        evidence={"gap": gap},
    )
    return answer(finding, gap != 0, gap, limit)


def scored_on_training_rows(
    model: FittedModel, data: Dataset, seed: int, limits: Limits
) -> Answer:
    """Fire if the importances are measured on the rows the model was fitted on."""
    del seed, limits
    known = data.split == "train" or bool(model.train_sha256 and data.sha256)
    same = data.split == "train" or model.train_sha256 == data.sha256
    finding = Finding(
        check="scored_on_training_rows",
        severity="warning",
        subject=model.name,
        message=(
            "Importances must be measured on rows the model has not seen, but these "
            "are its training rows."
        ),
        remedy="Name other rows under [data] test.",
    )
    limit = Limit("other rows", "definition")
    if not known:
        row = row_of(finding, "training rows unknown", limit, "not run")
        return row, None
    observed = "training rows" if same else "other rows"
    return answer(finding, same, observed, limit)


def prediction_mismatch(model: FittedModel, gap: float, limits: Limits) -> Answer:
    """Fire if R received other predictions than Python makes."""
    limit = limits["prediction_gap"]
    finding = Finding(
        check="prediction_mismatch",
        severity=_severity(gap, limit),
        subject=model.name,
        message=(
            "R must receive the predictions that Python makes, but they differ by "
            f"{gap:.1e} relative."
        ),
        remedy="Compare types and category levels of the columns on both sides.",
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
    how_far = f", {abs(errors):.2g} standard errors {side} it" if error > 0 else ""
    finding = Finding(
        check="weak_model",
        severity="warning",
        subject=f"{model.name}, {row['loss']}",
        message=(
            f"The loss must lie more than {limit.value:g} standard errors below that "
            f"of the constant predictor, {row['constant']:.4g}, but it is "
            f"{row['value']:.4g}{how_far}."
        ),
        remedy="Do not explain what does not predict: improve the model first.",
        evidence={"loss": row["value"], "constant": row["constant"]},
    )
    if gain > 0 and np.isnan(error):
        unknown = "no standard error: the loss is not defined on most resamples"
        return row_of(finding, unknown, limit, "not run"), None
    return answer(finding, not errors > float(limit.value), errors, limit)


def _gap(a: Floats, b: Floats) -> float:
    """Return the largest difference relative to the larger of two predictions."""
    differs = a != b
    scale = np.maximum(np.abs(a), np.abs(b))
    return float(np.max(np.abs(a - b)[differs] / scale[differs], initial=0.0))


def _severity(gap: float, limit: Limit) -> Severity:
    """Return how grave a gap between predictions is that should not be there."""
    return "warning" if gap <= float(limit.value) else "failure"
