"""Synthetic results of other sizes, tasks and states, and odd ones."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from tests.report.made_records import (
    HOSTILE,
    SPREAD,
    columns_frame,
    datasets_frame,
    made_effect,
    made_frame,
    made_importance,
    made_run,
    models_frame,
    performance_frame,
)
from tests.report.made_results import (
    FINDINGS,
    STILL,
    apartments_result,
    disagreeing_result,
    found,
)

from importance_audit.records.finding import Finding
from importance_audit.records.importance_record import Importance
from importance_audit.records.result import AuditResult
from importance_audit.report.pages.view import ReportView, build_view


def plain_result(
    features: Sequence[str],
    *,
    findings: Sequence[Finding] = (),
    leak: float = 1.0,
    **changes: Any,
) -> AuditResult:
    """Return a result with one model and one measure by Python, of any features.

    The importance of the first feature is multiplied by `leak`.
    """
    means = 100.0 * 0.8 ** np.arange(len(features)) - 0.4
    means[0] *= leak
    record = made_importance(
        "forest", features, means, sd=0.9, baseline=283.0, stream="numpy"
    )
    config = {**made_run().config, "groups": {}, "require": []}
    config["importance"] = [{"method": "permutation", "engines": []}]
    return apartments_result(
        **{
            "run": made_run(config=config),
            "columns": columns_frame(features),
            "datasets": datasets_frame(len(features)),
            "models": models_frame(("forest",)),
            "performance": performance_frame(("forest",)),
            "y_permuted": made_frame("y_permuted"),
            "agreement": made_frame("agreement"),
            "checks": made_frame("checks"),
            "stability": made_frame("stability"),
            "importances": (record,),
            "effects": (),
            "findings": tuple(findings),
            **changes,
        }
    )


def plain_view(features: Sequence[str] = ("a",), **changes: Any) -> ReportView:
    return build_view(plain_result(features, **changes))


def apartments_view(**changes: Any) -> ReportView:
    return build_view(apartments_result(**changes))


def view_of_records(*records: Importance, **frames: Any) -> ReportView:
    """Return the view of these importances and their models."""
    names = dict.fromkeys(record.model for record in records if record.model)
    features = dict.fromkeys(name for record in records for name in record.features)
    frames.setdefault("models", models_frame(names or ("forest",)))
    return plain_view(tuple(features), importances=records, **frames)


def configured(result: AuditResult, **sections: Any) -> AuditResult:
    """Return a copy of a result with these sections of the configuration."""
    config = {**result.run.config, **sections}
    return replace(result, run=replace(result.run, config=config))


def multiclass_result() -> AuditResult:
    """Return a result of two models of three classes: log loss, curves per class."""
    features, classes = ("age", "hours", "evaluation"), ("ok", "fired", "promoted")
    models = ("forest", "linear")
    common = {"scale": "probability", "n_samples": 1962}
    loss = {"loss": "log_loss", "unit": "nats", "baseline": 0.61, **common}
    spread = {"method": "partial_dependence", "options": SPREAD, **STILL, **common}
    grid = np.linspace(0, 50, 21)
    records, effects = [], []
    for model in models:
        means = (0.31, 0.12, 0.02)
        records.append(made_importance(model, features, means, sd=0.01, **loss))
        for number, name in enumerate(classes):
            of_class = {"positive_class": name, "unit": "probability"}
            means = np.roll((0.21, 0.09, 0.01), number)
            record = made_importance(model, features, means, **spread, **of_class)
            records.append(record)
            curve = 1 / (1 + np.exp((grid - 25) / (5 + 4 * number)))
            effect = made_effect(model, "surface", **of_class)
            changes = {"grid": grid, "values": curve, "kind": "number", **common}
            effects += [replace(effect, feature=name, **changes) for name in features]
    losses = {"value": 0.61, "constant": 1.02, "difference": -0.41}
    losses |= {"std_error": 0.02, "difference_std_error": 0.03}
    of_classes = {"task": "multiclass", "scale": "probability", "classes": classes}
    return plain_result(
        features,
        datasets=datasets_frame(3, task="multiclass", target="status"),
        models=models_frame(models, **of_classes),
        performance=performance_frame(models, "log_loss", **losses),
        importances=tuple(records),
        effects=tuple(effects),
    )


def binary_result() -> AuditResult:
    """Return a result of two models of two classes, under two losses."""
    features = ("gender", "class", "age")
    names = ("boosting", "logistic")
    common = {"scale": "probability", "positive_class": "1", "n_samples": 552}
    means = (0.22, 0.18, -0.002)
    records = [
        made_importance(model, features, means, sd=0.01, **loss, **common)
        for loss in (
            {"loss": "one_minus_auc", "unit": "1", "baseline": 0.149},
            {"loss": "log_loss", "unit": "nats", "baseline": 0.43},
        )
        for model in names
    ]
    fields = {"task": "binary", "positive_class": "1", "classes": ("0", "1")}
    return plain_result(
        features,
        datasets=datasets_frame(3, task="binary", target="survived"),
        models=models_frame(names, scale="probability", **fields),
        performance=performance_frame(names, "one_minus_auc", constant=0.5),
        importances=tuple(records),
    )


def stopped_in(step: str) -> Finding:
    message = f"The audit was interrupted in the step {step!r}."
    return found("interrupted", "audit", "failure", message=message)


def interrupted_result() -> AuditResult:
    """Return the result of an audit that was stopped before any measurement."""
    empty = {
        name: made_frame(name)
        for name in ("performance", "y_permuted", "agreement", "checks", "stability")
    }
    return apartments_result(
        run=made_run(status="interrupted"),
        importances=(),
        effects=(),
        findings=(stopped_in("permutation, forest"),),
        **empty,
    )


def stopped_result(**changes: Any) -> AuditResult:
    """Return the result of an audit that was stopped while engines were running.

    The forest is measured by both engines, under one of two losses. There is no
    agreement, no verdict on expectations and no stability.
    """
    whole = apartments_result()
    entry = {"method": "permutation", "engines": ["DALEX"], "losses": ["rmse", "mae"]}
    expected = [{"features": ["surface"], "place": "top", "reason": "Law."}]
    config = {
        **whole.run.config,
        "importance": [entry],
        "expected": expected,
        "stability": {"resamples": 50},
    }
    empty = {name: made_frame(name) for name in ("agreement", "stability")}
    forest = [r for r in whole.importances if r.model == "forest"]
    fields: dict[str, Any] = {
        "run": made_run(status="interrupted", config=config),
        "importances": tuple(r for r in forest if r.method == "permutation"),
        "effects": (),
        "findings": (stopped_in("permutation, linear"),),
        **empty,
    }
    return apartments_result(**fields | changes)


def failed_result() -> AuditResult:
    """Return the result of a complete audit with one failed measure of one model."""
    message = "Impurity of features by Python failed: no trees here."
    failed = found("method_failed", "svm", "failure", message=message)
    return apartments_result(findings=(*FINDINGS, failed))


def odd_result() -> AuditResult:
    """Return a result with an infinite, a missing and a negative importance."""
    names = ("endless", "small", "unknown", "negative", "nothing")
    result = plain_result(names)
    (record,) = result.importances
    raw = record.raw.copy()
    raw[0], raw[2], raw[3], raw[4] = np.inf, np.nan, 283.0 - 0.5, 283.0
    return replace(result, importances=(replace(record, raw=raw),))


def many_findings(number: int) -> tuple[Finding, ...]:
    """Return so many warnings with different subjects."""
    return tuple(
        found(
            "constant_feature",
            f"column {place} of a table whose names are long and say little",
            message=f"Column {place} has one value in the evaluation rows: no method "
            "can say anything about it, and none is asked to.",
        )
        for place in range(number)
    )


RESULTS = {
    "apartments": apartments_result,
    "disagreeing": disagreeing_result,
    "binary": binary_result,
    "multiclass": multiclass_result,
    "interrupted": interrupted_result,
    "stopped": stopped_result,
    "failed": failed_result,
    "odd": odd_result,
    "one feature": lambda: plain_result(("surface",)),
    "twenty features": lambda: plain_result([f"feature.{i:02}" for i in range(20)]),
    "wide": lambda: plain_result(
        [f"feature.{i:03}" for i in range(200)],
        findings=many_findings(40),
        leak=40.0,
    ),
    "hostile": lambda: plain_result(HOSTILE, findings=many_findings(3)),
}


@cache
def result_of(name: str) -> AuditResult:
    """Return one of the results, cached: results are frozen, so tests may share it."""
    return RESULTS[name]()


@cache
def view_of(name: str) -> ReportView:
    """Return the view of one of the results, cached."""
    return build_view(result_of(name))
