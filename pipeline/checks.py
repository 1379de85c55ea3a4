"""Canaries: can predict be believed, is the model any good, was everything measured?

Not: who agrees with whom (`agreement`), nor what R was told (`references`).
Every check answers with one row for the table of thresholds and, unless it passes
without remark, one Finding. What a check cannot judge gets no row, or says "not run".
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from pipeline.errors import listed
from pipeline.finding import Finding, Severity
from pipeline.records import Dataset, FittedModel, Floats, Importance
from pipeline.streams import stream

Row: TypeAlias = dict[str, Any]
Answer: TypeAlias = tuple[Row, Finding | None]
Answers: TypeAlias = list[Answer]

COLUMNS = ("check", "subject", "observed", "threshold", "set_by", "verdict")
VERDICTS: dict[Severity, str] = {"info": "pass", "warning": "warn", "failure": "fail"}


class Limit(NamedTuple):
    """A threshold, and who set it: "default", a file, or "definition" if nobody can."""

    value: float | str
    set_by: str = "default"


Limits: TypeAlias = Mapping[str, Limit]

DEFAULTS: Limits = {"prediction_gap": Limit(1e-12), "standard_errors": Limit(2.0)}
"""How far apart, relative to the larger, predictions may be that should be equal; and
by how many standard errors a model must beat the constant."""


class Check(NamedTuple):
    """What a check looks at, and the function that looks."""

    asks: Literal["model", "performance", "predictions", "importance"]
    function: Callable[..., Answer | None]


def of_model(
    model: FittedModel, data: Dataset, *, seed: int, limits: Limits = DEFAULTS
) -> Answers:
    """Ask whether `predict` reads its rows, repeats itself, and meets new rows here."""
    return _ask("model", model, data, seed, limits)


def of_performance(
    model: FittedModel, performance: pd.DataFrame, *, limits: Limits = DEFAULTS
) -> Answers:
    """Ask of each loss on the test rows whether the model beats the constant."""
    rows = performance[performance["split"] == "test"].to_dict("records")
    return [a for row in rows for a in _ask("performance", model, row, limits)]


def of_predictions(
    model: FittedModel, gap: float, *, limits: Limits = DEFAULTS
) -> Answers:
    """Ask whether R was told what Python predicts; `gap` is relative."""
    return _ask("predictions", model, gap, limits)


def of_importance(
    importance: Importance, data: Dataset, *, limits: Limits = DEFAULTS
) -> Answers:
    """Ask whether all was measured, and whether the numbers point the right way."""
    return _ask("importance", importance, data, limits)


def checks_frame(rows: Iterable[Row]) -> pd.DataFrame:
    """Return rows of checks as one frame.

    `observed` and `threshold` are numbers or words; `verdict` is pass, warn, fail,
    error or not run.
    """
    return pd.DataFrame(list(rows), columns=list(COLUMNS))


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
    return _answer(finding, ignored, observed, limit)


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
    return _answer(finding, gap != 0, gap, limit)


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
        row = _row(finding, "training rows unknown", limit, "not run")
        return row, None
    observed = "training rows" if same else "other rows"
    return _answer(finding, same, observed, limit)


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
    return _answer(finding, gap != 0, gap, limit)


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
        return _row(finding, unknown, limit, "not run"), None
    return _answer(finding, not errors > float(limit.value), errors, limit)


def unmeasured(importance: Importance, data: Dataset, limits: Limits) -> Answer:
    """Fire if an importance has no answer for some feature; a constant has none."""
    del limits
    missing = [
        name
        for name, mean in zip(importance.features, importance.mean, strict=True)
        if np.isnan(mean)
    ]
    of = dict(zip(importance.features, importance.columns, strict=True))
    expected = all(_is_constant(data, of[name]) for name in missing)
    finding = Finding(
        check="unmeasured",
        severity="info" if expected else "warning",
        subject=_asked(importance),
        message=(
            "Every feature must get a number, but there is none for "
            f"{listed(missing)}. They are shown without a rank."
        ),
        remedy="Look for constant columns, infinite losses and unknown levels.",
        evidence={"features": len(missing)},
    )
    return _answer(finding, bool(missing), len(missing), Limit(0.0, "definition"))


def constant_feature(
    importance: Importance, data: Dataset, limits: Limits
) -> Answer | None:
    """Fire if a column never varies: permuted, it must measure exactly the baseline."""
    del limits
    constant = [
        n for n, columns in enumerate(importance.columns) if _is_constant(data, columns)
    ]
    if not constant or not importance.loss or _has_other_baseline(importance):
        return None
    names = listed(importance.features[n] for n in constant)
    gaps = np.abs(importance.raw - importance.baseline)[constant]
    off = float(np.nanmax(gaps, initial=0.0))
    message = f"A constant column tells nothing of its importance: {names}."
    remedy = "Leave it out, or audit rows in which it varies."
    if off:
        message = (
            f"A constant column must measure exactly the baseline, but {names} is off "
            f"by {off:.2g}."
        )
        remedy = "Do not use these numbers: whoever measured them permutes wrongly."
    finding = Finding(
        check="constant_feature",
        severity="failure" if off else "info",
        subject=_asked(importance),
        message=message,
        remedy=remedy,
        evidence={"features": len(constant), "off": off},
    )
    return _answer(finding, True, off, Limit(0.0, "definition"))


def event_level(importance: Importance, data: Dataset, limits: Limits) -> Answer | None:
    """Fire if permuting the strongest feature does not raise the loss."""
    del data, limits
    rise = (importance.raw - importance.baseline).mean(axis=1)
    if not importance.loss or np.isnan(rise).all():
        return None
    strongest = int(np.nanargmax(np.abs(rise)))
    observed = float(rise[strongest])
    finding = Finding(
        check="event_level",
        severity="warning",
        subject=_asked(importance),
        message=(
            "Permuting the strongest feature must raise the loss, but permuting "
            f"{importance.features[strongest]!r} changes it by {observed:.3g}."
        ),
        remedy="Check which class is the positive one, and whether the model is "
        "better than chance.",
        evidence={"rise": observed},
    )
    return _answer(finding, not observed > 0, observed, Limit(0.0, "definition"))


CHECKS = {
    "predict_ignores_x": Check("model", predict_ignores_x),
    "not_deterministic": Check("model", not_deterministic),
    "scored_on_training_rows": Check("model", scored_on_training_rows),
    "weak_model": Check("performance", weak_model),
    "prediction_mismatch": Check("predictions", prediction_mismatch),
    "unmeasured": Check("importance", unmeasured),
    "constant_feature": Check("importance", constant_feature),
    "event_level": Check("importance", event_level),
}
"""Every check by the word of its finding. A function gets what its kind looks at, then
the limits; it returns None where there is nothing to judge."""


@np.errstate(invalid="ignore")  # infinite losses: inf - inf is NaN, not measured
def _ask(asks: str, *given: Any) -> Answers:
    """Return the answers of every check of one kind."""
    found = (check.function(*given) for check in CHECKS.values() if check.asks == asks)
    return [answer for answer in found if answer is not None]


def _answer(
    finding: Finding, fired: bool, observed: float | str, limit: Limit
) -> Answer:
    """Return the row of a check, and its finding if it fired."""
    verdict = VERDICTS[finding.severity] if fired else "pass"
    return _row(finding, observed, limit, verdict), finding if fired else None


def _row(finding: Finding, observed: float | str, limit: Limit, verdict: str) -> Row:
    """Return one row for the table of thresholds."""
    return {
        "check": finding.check,
        "subject": finding.subject,
        "observed": observed if isinstance(observed, str) else float(observed),
        "threshold": limit.value,
        "set_by": limit.set_by,
        "verdict": verdict,
    }


def _gap(a: Floats, b: Floats) -> float:
    """Return the largest difference relative to the larger of two predictions."""
    differs = a != b
    scale = np.maximum(np.abs(a), np.abs(b))
    return float(np.max(np.abs(a - b)[differs] / scale[differs], initial=0.0))


def _severity(gap: float, limit: Limit) -> Severity:
    """Return how grave a gap between predictions is that should not be there."""
    return "warning" if gap <= float(limit.value) else "failure"


def _asked(importance: Importance) -> str:
    """Return what an importance is about, for the reader."""
    parts = (importance.model, importance.method, importance.of, importance.loss)
    said = ", ".join(part for part in (*parts, importance.positive_class) if part)
    drawn = f", {importance.stream} draws" if importance.stream else ""
    return f"{said}: {importance.engine}{drawn}"


def _is_constant(data: Dataset, columns: tuple[str, ...]) -> bool:
    """Return whether no column of a feature or group ever varies."""
    return all(data.X[column].nunique(dropna=False) == 1 for column in columns)


def _has_other_baseline(importance: Importance) -> bool:
    """Return whether a package's draws hold losses against those of other rows."""
    subsampled = importance.options.get("n_rows") is not None
    return subsampled and importance.stream == "vip-0.4"
