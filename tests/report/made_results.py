"""Synthetic results of an audit of three models of apartment prices."""

from typing import Any

import pandas as pd
from tests.report.made_records import (
    APARTMENTS,
    LOSS,
    MEAN,
    SPREAD,
    checks_frame,
    columns_frame,
    datasets_frame,
    made_effect,
    made_frame,
    made_importance,
    made_pair,
    made_rows,
    made_run,
    models_frame,
    performance_frame,
)

from importance_audit.records.finding import Finding
from importance_audit.records.importance_record import Effect, Importance
from importance_audit.records.result import AuditResult

FINDINGS = (
    Finding(
        check="engine_missing",
        severity="info",
        subject="vip",
        message="R package 'vip' (>= 0.4.0) must be installed for engine 'vip'; R "
        "4.2.2 has none. Run: importance-audit install-r",
    ),
    Finding(
        check="not_applicable",
        severity="info",
        subject="linear",
        message="Model 'linear' must be a tree, a forest or a boosting of scikit-learn "
        "that reports its impurity; it is a LinearRegression.",
        remedy="Use permutation importance.",
    ),
    Finding(
        check="rank_shift",
        severity="warning",
        subject="svm: python, vip",
        message="floor moves from rank 3 to rank 5.",
        remedy="Declare floor as an integer, run again.",
        evidence={"largest_shift": 2.0, "limit": 1.0},
    ),
)
FAILURE = Finding(
    check="disagreement",
    severity="failure",
    subject="svm: python, vip",
    message="1 of 5 features lies outside its band, cause: data.",
    remedy="Declare floor as an integer in the configuration, and run again.",
    evidence={"n_outside": 1.0, "predictions_differ_by": 2.4e-3},
)


def found(check: str, subject: str = "a", severity: str = "warning", **fields: Any):
    """Return a finding with a default message."""
    fields.setdefault("message", "It was found.")
    return Finding(check=check, subject=subject, severity=severity, **fields)


MODELS = ("forest", "linear", "svm")
STILL = {"stream": "", "repeats": 1, "loss": ""}
"""Fields of a measure without random draws and without a loss."""


def apartments_result(**changes: Any) -> AuditResult:
    """Return a result: 3 models, 5 features, 2 groups, 3 measures, 2 engines."""
    permuted = (*_permuted("python", "0.1.0"), *_permuted("DALEX", "2.5.4"))
    defaults = {
        "run": made_run(),
        "columns": columns_frame(APARTMENTS),
        "datasets": datasets_frame(len(APARTMENTS)),
        "models": models_frame(MODELS),
        "performance": performance_frame(MODELS),
        "y_permuted": _targets_permuted(),
        "agreement": made_frame("agreement", _pairs()),
        "checks": checks_frame(),
        "stability": _stability(),
        "importances": (*permuted, *_spreads(), _impurity()),
        "effects": _effects(),
        "findings": FINDINGS,
    }
    return AuditResult(**{**defaults, **changes})


def _permuted(engine: str, version: str) -> tuple[Importance, ...]:
    """Return the permutation importances of one engine, of features, then of groups."""
    columns = (("surface", "no.rooms"), ("district", "floor"))
    alone, of_groups = [], []
    for m in MODELS:
        fields = {"engine": engine, "engine_version": version, "baseline": LOSS[m]}
        alone.append(made_importance(m, APARTMENTS, MEAN[m], **fields))
        sums = (MEAN[m][1] + MEAN[m][4], MEAN[m][0] + 100)
        fields |= {"of": "groups", "columns": columns}
        of_groups.append(made_importance(m, ("size", "place"), sums, **fields))
    return (*alone, *of_groups)


def _spreads() -> tuple[Importance, ...]:
    """Return the importances by curves of each model: half those by permutation."""
    shared_fields = {"method": "partial_dependence", "options": SPREAD, **STILL}
    return tuple(
        made_importance(m, APARTMENTS, [v / 2 for v in MEAN[m]], **shared_fields)
        for m in MODELS
    )


def _impurity() -> Importance:
    shares = (0.61, 0.14, 0.11, 0.08, 0.06)
    shared_fields = {"options": {"normalised": True}, "unit": "1", "scale": "", **STILL}
    return made_importance(
        "forest", APARTMENTS, shares, method="impurity", **shared_fields
    )


def _pairs() -> list[dict[str, Any]]:
    """Return the agreement: DALEX is replayed, vip is not installed."""
    absent = {"reasons": "vip is not installed", "engine_b": "vip", "stream": ""}
    curve = {"kind": "effect", "method": "partial_dependence", "of": "", "loss": ""}
    curve |= {"stream": "", "max_relative_difference": 4e-16}
    curves = [(model, name) for model in MODELS for name in APARTMENTS]
    return [
        *(made_pair(m, "replayed") for m in MODELS),
        *(made_pair(m, "replayed", of="groups", n_features=2) for m in MODELS),
        *(made_pair(m, "not compared", **absent) for m in MODELS),
        *(made_pair(m, "replayed", feature=name, **curve) for m, name in curves),
    ]


def _stability() -> pd.DataFrame:
    """Return the stability of the forest's ranking; the first two ranks vary."""
    return made_rows(
        "stability",
        "feature rank_low rank_high p_top_k repeats_to_settle resamples",
        ("district", 1, 2, 1.0, 2.0, 50),
        ("surface", 1, 2, 1.0, 7.0, 50),
        ("floor", 3, 3, 0.9, 1e9, 49),
        ("construction.year", 4, 5, 0.1, float("inf"), 50),
        ("no.rooms", 4, 5, 0.0, float("nan"), 50),
        **{"record": 0, "model": "forest", "method": "permutation", "of": "features"},
        **{"loss": "rmse", "positive_class": ""},
    )


def _effects() -> tuple[Effect, ...]:
    return tuple(
        made_effect(m, f, e)
        for e in ("python", "DALEX")
        for m in MODELS
        for f in APARTMENTS
    )


def _targets_permuted() -> pd.DataFrame:
    rows = [
        (model, of, repeat, 1262.0 + repeat)
        for model in MODELS
        for of in ("features", "groups")
        for repeat in range(1, 11)
    ]
    return made_rows("y_permuted", "model of repeat value", *rows, loss="rmse")


def disagreeing_result() -> AuditResult:
    """Return the same result with vip: one pair disagrees, one is equivalent."""
    whole = apartments_result()
    other = {
        "forest": (559.1, 185.6, 159.4, 125.0, 115.1),
        "svm": (693.0, 268.7, 210.9, 193.4, 86.2),
    }
    of_vip = {"engine": "vip", "engine_version": "0.4.1", "stream": "vip-0.4"}
    vip = tuple(
        made_importance(m, APARTMENTS, means, baseline=LOSS[m], draw=8, **of_vip)
        for m, means in other.items()
    )
    pair = {"engine_a": "DALEX", "engine_b": "vip"}
    engines = {**pair, "stream": "DALEX / vip-0.4"}
    reasons = ("1 of 5 outside, cause: data", "neither side is ours: DALEX and vip")
    pairs = [
        made_pair("svm", "disagrees", reasons[0], n_outside=1, **engines),
        made_pair("forest", "equivalent", reasons[1], **engines),
        made_pair("linear", "comparable", "the losses are RMSE and MSE", **engines)
        | {"max_relative_difference": float("nan"), "spearman": 0.9},
    ]
    differences = {
        **{"model": "svm", "method": "permutation", "of": "features", "loss": "rmse"},
        **{"positive_class": "", **pair, "feature": "floor", "cause": "data"},
        **{"value_a": 241.7, "value_b": 210.9, "difference": 30.8, "band": 15.7},
        **{"inside": False, "rank_a": 3.0, "rank_b": 3.0, "shift": 0.0},
        "evidence": "predictions differ by 2.4e-03 relative",
    }
    frame = pd.concat([made_frame("agreement", pairs), whole.agreement.iloc[:6]])
    return apartments_result(
        agreement=frame.reset_index(drop=True),
        disagreements=made_frame("disagreements", [differences]),
        importances=(*whole.importances, *vip),
        findings=(*FINDINGS[1:], FAILURE),
    )
