"""Results made by hand, as large and as hostile as a report must bear."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pipeline.records import Effect, Finding, Importance
from pipeline.result import AuditResult, RunInfo

APARTMENTS = ("district", "surface", "floor", "construction.year", "no.rooms")
DISTRICTS = ("Srodmiescie", "Ochota", "Mokotow", "Zoliborz", "Bemowo", "Bielany")
HOSTILE = (
    "<script>alert(1)</script>",
    "\"quoted\" & 'single'",
    "$\\bad{$",
    "_hidden",
    "right\u202eleft",
    "two\nlines",
    "pipe | star * tilde ~",
    "x" * 300,
    "面积",
    "",
    " padded",
    "padded",
    "a{b}c",
)
MEAN = {
    "forest": (563.7, 182.4, 162.5, 122.4, 117.5),
    "linear": (559.2, 171.3, 150.8, 0.0, 14.6),
    "svm": (688.4, 264.9, 241.7, 189.6, 83.8),
}
LOSS = {"forest": 283.0, "linear": 283.1, "svm": 160.9}
ESTIMATORS = {
    "forest": ("RandomForestRegressor", {"n_estimators": 500, "random_state": 1}),
    "linear": ("LinearRegression", {}),
    "svm": ("SVR", {"C": 100.0, "epsilon": 10}),
}
PERMUTATION = {"n_repeats": 10, "n_rows": None}
CURVES = {"grid": "even", "n_grid": 51, "scale": "native"}
SPREAD = {**CURVES, "categorical_spread": "quarter_range"}
AGREEMENT = (
    "kind model method of loss positive_class feature engine_a engine_b stream verdict "
    "reasons max_relative_difference spearman kendall top_k_overlap max_rank_shift "
    "n_features n_outside cause rank_shift_limit"
).split()
DISAGREEMENTS = (
    "model method of loss positive_class engine_a engine_b feature value_a value_b "
    "difference band inside rank_a rank_b shift cause evidence"
).split()
NO_ROWS = {
    "columns": "feature kind dtype origin levels minimum maximum distinct missing_train "
    "missing_test",
    "datasets": "name split rows columns target task source sha256 weighted missing_cells",
    "models": "model estimator library task scale positive_class classes encoder "
    "parameters source sha256 n_train",
    "performance": "model loss split n_samples value std_error constant difference "
    "difference_std_error",
    "y_permuted": "model of loss repeat value",
    "agreement": " ".join(AGREEMENT),
    "disagreements": " ".join(DISAGREEMENTS),
    "checks": "check subject observed threshold set_by verdict",
}


def importance(
    model: str,
    features: Sequence[str],
    means: Sequence[float],
    *,
    sd: float = 12.0,
    baseline: float = 0.0,
    repeats: int = 10,
    draw: int = 7,
    **fields: Any,
) -> Importance:
    """Return an importance whose repeats have exactly these means."""
    noise = np.random.default_rng(draw).standard_normal((len(features), repeats))
    noise -= noise.mean(axis=1, keepdims=True)
    spread = sd if fields.get("stream", "numpy") else 0.0
    raw = baseline + np.asarray(means, dtype=float)[:, np.newaxis] + spread * noise
    given = {
        "method": "permutation",
        "engine": "python",
        "engine_version": "0.1.0",
        "of": "features",
        "form": "difference",
        "loss": "rmse",
        "scale": "response",
        "split": "test",
        "unit": "y",
        "options": PERMUTATION,
        "n_samples": 9000,
        "stream": "DALEX",
        "seed": 1804289383,
        "columns": tuple((name,) for name in features),
    }
    return Importance(
        model=model,
        features=tuple(features),
        raw=raw,
        baseline=np.full(repeats, baseline),
        **{**given, **fields},
    )


def _effect(model: str, feature: str, engine: str = "python", **fields: Any) -> Effect:
    slope = {"forest": 1.0, "linear": 0.8, "svm": 1.2}.get(model, 0.5)
    if feature == "district":
        grid: Any = np.array(DISTRICTS, dtype=object)
        values = 3500 + slope * np.array([1400.0, 320, 300, 290, -380, -410])
    elif feature == "construction.year":
        grid = np.linspace(1920, 2010, 51)
        values = (
            3400 + slope * 300 * (np.abs(grid - 1965) > 30) - 60.0 * (model == "svm")
        )
    else:
        low, high = {"surface": (20, 150), "floor": (1, 10)}.get(feature, (1, 6))
        grid = np.linspace(low, high, 51 if feature == "surface" else high - low + 1)
        values = 4000 - slope * 900 * (grid - low) / (high - low)
    given = {
        "engine_version": "0.1.0",
        "scale": "response",
        "split": "test",
        "unit": "y",
        "options": CURVES,
        "n_samples": 9000,
        "seed": 1,
        "kind": "category" if feature == "district" else "number",
    }
    return Effect(
        model=model,
        method="partial_dependence",
        engine=engine,
        feature=feature,
        grid=grid,
        values=values,
        **{**given, **fields},
    )


def _pair(model: str, verdict: str, reasons: str = "", **fields: Any) -> dict[str, Any]:
    compared = verdict != "not compared"
    number = 1.0 if compared else float("nan")
    return {
        "kind": "importance",
        "model": model,
        "method": "permutation",
        "of": "features",
        "loss": "rmse",
        "positive_class": "",
        "feature": "",
        "engine_a": "python",
        "engine_b": "DALEX",
        "stream": "DALEX",
        "verdict": verdict,
        "reasons": reasons,
        "max_relative_difference": 2.7e-15 if compared else float("nan"),
        "spearman": number,
        "kendall": number,
        "top_k_overlap": number,
        "max_rank_shift": number - 1,
        "n_features": 5 if compared else 0,
        "n_outside": 0,
        "cause": "",
        "rank_shift_limit": 2.0,
        **fields,
    }


def _run(audit: str = "apartments", **fields: Any) -> RunInfo:
    config = {
        "seed": 42,
        "require": ["DALEX"],
        "fail_on": "failure",
        "groups": {"size": ["surface", "no.rooms"], "place": ["district", "floor"]},
        "importance": [{"method": "permutation", "engines": ["DALEX", "vip"]}],
        "checks": {"resolution": 0.1, "max_rank_shift": 2, "top_k": 3},
        "report": {
            "title": "",
            "owner": "Pricing, A. Nowak",
            "purpose": "Domain validation before the yearly review.",
            "intended_use": "A second opinion beside a surveyor's valuation.",
            "classification": "Internal",
            "unit": "EUR/m²",
            "decision": "Accept, accept with conditions, or reject this evidence.",
            "limits": ["The ranking holds for the city as a whole."],
        },
    }
    given = {
        "status": "complete",
        "config": config,
        "config_sha256": "77d02b1c9ae4f8c5" * 4,
        "data_sha256": "0c3de6b18f72a945" * 4,
        "versions": {
            "Python": "3.11.2",
            "importance-audit": "0.1.0",
            "numpy": "1.24.2",
            "scikit-learn": "1.2.1",
            "R": "4.2.2",
            "DALEX": "2.5.4",
            "ingredients": "2.3.0",
        },
        "environment": {
            "operating system": "Debian GNU/Linux 12",
            "BLAS": "openblas 0.3.21",
            "locale": "C.UTF-8",
            "RNGkind": "Mersenne-Twister, Inversion, Rejection",
        },
        "volatile": {
            "run_id": "20261120T091204Z-7f3a91c2",
            "started": "2026-11-20T09:12:04.118230+00:00",
            "ended": "2026-11-20T09:12:41.902114+00:00",
            "seconds": 37.78,
        },
    }
    return RunInfo(audit=audit, **{**given, **fields})


def _frame(name: str, rows: Sequence[dict[str, Any]] = ()) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=NO_ROWS[name].split())


def _datasets(features: int, **fields: Any) -> pd.DataFrame:
    return _frame(
        "datasets",
        [
            {
                "name": name,
                "split": split,
                "rows": rows,
                "columns": features,
                "target": "m2.price",
                "task": "regression",
                "source": f"DALEX::{name}",
                "sha256": digest * 4,
                "weighted": False,
                "missing_cells": 0,
                **fields,
            }
            for name, split, rows, digest in (
                ("apartments", "train", 1000, "9c4107de55a2b6f0"),
                ("apartments_test", "test", 9000, "1fe893ab20c74d19"),
            )
        ],
    )


def _models(names: Sequence[str], **fields: Any) -> pd.DataFrame:
    return _frame(
        "models",
        [
            {
                "model": name,
                "estimator": ESTIMATORS.get(name, ("Pipeline", {}))[0],
                "library": "scikit-learn 1.2.1",
                "task": "regression",
                "scale": "response",
                "positive_class": "",
                "classes": (),
                "encoder": "ordinal" if name == "forest" else "one_hot",
                "parameters": json.dumps(ESTIMATORS.get(name, ("", {}))[1]),
                "source": "fitted",
                "sha256": "",
                "n_train": 1000,
                **fields,
            }
            for name in names
        ],
    )


def _performance(
    names: Sequence[str], loss: str = "rmse", **fields: Any
) -> pd.DataFrame:
    rows = []
    for name in names:
        for split, n, factor in (("train", 1000, 0.5), ("test", 9000, 1.0)):
            value, constant = (
                LOSS.get(name, 0.2) * factor,
                fields.get("constant", 901.9),
            )
            rows.append(
                {
                    "model": name,
                    "loss": loss,
                    "split": split,
                    "n_samples": n,
                    "value": value,
                    "std_error": value / 110,
                    "constant": constant,
                    "difference": value - constant,
                    "difference_std_error": value / 90,
                    **fields,
                }
            )
    return _frame("performance", rows)


def _columns(features: Sequence[str]) -> pd.DataFrame:
    ranges = {"surface": (20, 150), "construction.year": (1920, 2010), "floor": (1, 10)}
    rows = []
    for name in features:
        low, high = ranges.get(name, (1, 6))
        is_category = name == "district"
        rows.append(
            {
                "feature": name,
                "kind": "category" if is_category else "number",
                "dtype": "category" if is_category else "int64",
                "origin": "data" if is_category else "inferred",
                "levels": (*DISTRICTS, "Praga", "Ursus") if is_category else (),
                "minimum": float("nan") if is_category else float(low),
                "maximum": float("nan") if is_category else float(high),
                "distinct": 8 if is_category else high - low + 1,
                "missing_train": 0,
                "missing_test": 0,
            }
        )
    return _frame("columns", rows)


def _checks() -> pd.DataFrame:
    rows = (
        ("not_deterministic", "forest", 0.0, 0.0, "default", "pass"),
        ("prediction_mismatch", "forest", 0.0, 1e-12, "default", "pass"),
        ("weak_model", "forest", -618.9, 0.0, "default", "pass"),
        ("disagreement", "svm: python, vip", 1.0, 0.0, "definition", "fail"),
        ("rank_shift", "forest: python, DALEX", 0.0, 2.0, "audit.toml", "pass"),
        ("unmeasured", "linear", "not asked", "-", "audit.toml", "not run"),
        ("constant_feature", "apartments_test", "none", "none", "audit.toml", "pass"),
        ("r_restarted", "R", 1.0, 0.0, "definition", "warn"),
    )
    names = NO_ROWS["checks"].split()
    return _frame("checks", [dict(zip(names, row, strict=True)) for row in rows])


FINDINGS = (
    Finding(
        check="engine_missing",
        severity="info",
        subject="vip",
        message="R package 'vip' (>= 0.4.0) must be installed for engine 'vip', but R "
        "4.2.2 has none. Run: importance-audit install-r",
    ),
    Finding(
        check="not_applicable",
        severity="info",
        subject="linear",
        message="Model 'linear' must be a tree, a forest or a boosting of scikit-learn "
        "that reports its impurity for method 'impurity', but it is a LinearRegression.",
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


def apartments_result(**changes: Any) -> AuditResult:
    """Return three models, five features, two groups, three measures, two engines."""
    models = ("forest", "linear", "svm")
    records = []
    for engine, version in (("python", "0.1.0"), ("DALEX", "2.5.4")):
        for model in models:
            who = {"engine": engine, "engine_version": version, "baseline": LOSS[model]}
            records.append(importance(model, APARTMENTS, MEAN[model], **who))
        for model in models:
            who = {"engine": engine, "engine_version": version, "baseline": LOSS[model]}
            together = {
                "of": "groups",
                "columns": (("surface", "no.rooms"), ("district", "floor")),
            }
            sums = (MEAN[model][1] + MEAN[model][4], MEAN[model][0] + 100)
            records.append(
                importance(model, ("size", "place"), sums, **who, **together)
            )
    still = {"stream": "", "repeats": 1, "loss": ""}
    for model in models:
        spread = [value / 2 for value in MEAN[model]]
        curve = {"method": "partial_dependence", "options": SPREAD, **still}
        records.append(importance(model, APARTMENTS, spread, **curve))
    shares = {
        "method": "impurity",
        "options": {"normalised": True},
        "unit": "1",
        **still,
    }
    shares["scale"] = ""
    records.append(
        importance("forest", APARTMENTS, (0.61, 0.14, 0.11, 0.08, 0.06), **shares)
    )

    pairs = [
        *(_pair(model, "replayed") for model in models),
        *(_pair(model, "replayed", of="groups", n_features=2) for model in models),
        *(
            _pair(
                model, "not compared", "vip is not installed", engine_b="vip", stream=""
            )
            for model in models
        ),
        *(
            _pair(
                model,
                "replayed",
                kind="effect",
                feature=name,
                loss="",
                of="",
                stream="",
            )
            | {"method": "partial_dependence", "max_relative_difference": 4e-16}
            for model in models
            for name in APARTMENTS
        ),
    ]
    effects = [
        _effect(m, f, e)
        for e in ("python", "DALEX")
        for m in models
        for f in APARTMENTS
    ]
    y_permuted = [
        {"model": m, "of": o, "loss": "rmse", "repeat": b, "value": 1262.0 + b}
        for m in models
        for o in ("features", "groups")
        for b in range(1, 11)
    ]
    given = {
        "run": _run(),
        "columns": _columns(APARTMENTS),
        "datasets": _datasets(len(APARTMENTS)),
        "models": _models(models),
        "performance": _performance(models),
        "y_permuted": _frame("y_permuted", y_permuted),
        "agreement": _frame("agreement", pairs),
        "disagreements": _frame("disagreements"),
        "checks": _checks(),
        "importances": tuple(records),
        "effects": tuple(effects),
        "findings": FINDINGS,
    }
    return AuditResult(**{**given, **changes})


def disagreeing_result() -> AuditResult:
    """Return the same audit with vip present: one pair disagrees, one is equivalent."""
    whole = apartments_result()
    other = {
        "forest": (559.1, 185.6, 159.4, 125.0, 115.1),
        "svm": (693.0, 268.7, 210.9, 193.4, 86.2),
    }
    vip = tuple(
        importance(
            model,
            APARTMENTS,
            means,
            engine="vip",
            engine_version="0.4.1",
            stream="vip-0.4",
            baseline=LOSS[model],
            draw=8,
        )
        for model, means in other.items()
    )
    told = {"engine_a": "DALEX", "engine_b": "vip", "stream": "DALEX / vip-0.4"}
    reasons = "neither side is ours: DALEX and vip"
    pairs = [
        _pair("svm", "disagrees", "1 of 5 outside, cause: data", n_outside=1, **told),
        _pair("forest", "equivalent", reasons, **told),
        _pair(
            "linear",
            "comparable",
            "the losses are RMSE and MSE",
            **{**told, "max_relative_difference": float("nan"), "spearman": 0.9},
        ),
    ]
    differences = {
        "model": "svm",
        "method": "permutation",
        "of": "features",
        "loss": "rmse",
        "positive_class": "",
        "engine_a": "DALEX",
        "engine_b": "vip",
        "feature": "floor",
        "value_a": 241.7,
        "value_b": 210.9,
        "difference": 30.8,
        "band": 15.7,
        "inside": False,
        "rank_a": 3.0,
        "rank_b": 3.0,
        "shift": 0.0,
        "cause": "data",
        "evidence": "predictions differ by 2.4e-03 relative",
    }
    frame = pd.concat([_frame("agreement", pairs), whole.agreement.iloc[:6]])
    return apartments_result(
        agreement=frame.reset_index(drop=True),
        disagreements=_frame("disagreements", [differences]),
        importances=(*whole.importances, *vip),
        findings=(*FINDINGS[1:], FAILURE),
    )


def plain_result(
    features: Sequence[str], *, findings: Sequence[Finding] = (), **changes: Any
) -> AuditResult:
    """Return one model and one measure by Python alone, of any features."""
    means = 100.0 * 0.8 ** np.arange(len(features)) - 0.4
    record = importance(
        "forest", features, means, sd=0.9, baseline=283.0, stream="numpy"
    )
    config = {**_run().config, "groups": {}, "require": []}
    config["importance"] = [{"method": "permutation", "engines": []}]
    return apartments_result(
        **{
            "run": _run(config=config),
            "columns": _columns(features),
            "datasets": _datasets(len(features)),
            "models": _models(("forest",)),
            "performance": _performance(("forest",)),
            "y_permuted": _frame("y_permuted"),
            "agreement": _frame("agreement"),
            "checks": _frame("checks"),
            "importances": (record,),
            "effects": (),
            "findings": tuple(findings),
            **changes,
        }
    )


def multiclass_result() -> AuditResult:
    """Return two models of three classes: log loss, and curves per class."""
    features, classes = ("age", "hours", "evaluation"), ("ok", "fired", "promoted")
    models = ("forest", "linear")
    common = {"scale": "probability", "n_samples": 1962}
    records, effects = [], []
    for model in models:
        loss = {"loss": "log_loss", "unit": "nats", "baseline": 0.61, **common}
        records.append(importance(model, features, (0.31, 0.12, 0.02), sd=0.01, **loss))
        for number, name in enumerate(classes):
            spread = {
                "method": "partial_dependence",
                "options": SPREAD,
                "loss": "",
                "unit": "probability",
                "stream": "",
                "repeats": 1,
                "positive_class": name,
                **common,
            }
            means = np.roll((0.21, 0.09, 0.01), number)
            records.append(importance(model, features, means, **spread))
            for feature in features:
                grid = np.linspace(0, 50, 21)
                curve = 1 / (1 + np.exp((grid - 25) / (5 + 4 * number)))
                changes = {"grid": grid, "values": curve, "kind": "number", **common}
                effect = _effect(
                    model, "surface", positive_class=name, unit="probability"
                )
                effects.append(_changed(effect, feature=feature, **changes))
    told = {"task": "multiclass", "target": "status"}
    return plain_result(
        features,
        datasets=_datasets(3, **told),
        models=_models(models, task="multiclass", scale="probability", classes=classes),
        performance=_performance(
            models,
            "log_loss",
            value=0.61,
            std_error=0.02,
            constant=1.02,
            difference=-0.41,
            difference_std_error=0.03,
        ),
        importances=tuple(records),
        effects=tuple(effects),
    )


def _changed(record: Any, **changes: Any) -> Any:
    from dataclasses import replace

    return replace(record, **changes)


def interrupted_result() -> AuditResult:
    """Return what is left of an audit that was stopped before it measured anything."""
    stopped = Finding(
        check="interrupted",
        severity="failure",
        subject="audit",
        message="The audit was interrupted in the step 'permutation of features, forest'.",
    )
    empty = {
        name: _frame(name)
        for name in ("performance", "y_permuted", "agreement", "checks")
    }
    return apartments_result(
        run=_run(status="interrupted"),
        importances=(),
        effects=(),
        findings=(stopped,),
        **empty,
    )


def many_findings(number: int) -> tuple[Finding, ...]:
    """Return so many warnings, each of another subject."""
    return tuple(
        Finding(
            check="constant_feature",
            severity="warning",
            subject=f"column {place} of a table whose names are long and say little",
            message=f"Column {place} has one value in the evaluation rows, so no method "
            "can say anything about it, and none is asked to.",
        )
        for place in range(number)
    )


RESULTS = {
    "apartments": apartments_result,
    "disagreeing": disagreeing_result,
    "multiclass": multiclass_result,
    "interrupted": interrupted_result,
    "one feature": lambda: plain_result(("surface",)),
    "twenty features": lambda: plain_result([f"feature.{i:02}" for i in range(20)]),
    "wide": lambda: plain_result(
        [f"feature.{i:03}" for i in range(200)], findings=many_findings(40)
    ),
    "hostile": lambda: plain_result(HOSTILE, findings=many_findings(3)),
}


@pytest.fixture()
def make_result():
    """Return the results by name, and `plain_result` for any other features."""

    def make(name: str, *features: str, **changes: Any) -> AuditResult:
        return plain_result(features, **changes) if features else RESULTS[name]()

    return make


@pytest.fixture(params=list(RESULTS))
def any_result(request):
    """Return each of the results in turn."""
    return RESULTS[request.param]()


@pytest.fixture(scope="session")
def apartments():
    """Return the result most tests look at."""
    return apartments_result()
