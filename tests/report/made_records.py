"""Synthetic records and frames, with exactly known means. Not: whole results."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from importance_audit.records.frames import FRAMES
from importance_audit.records.importance_record import Effect, Importance
from importance_audit.records.result import RunInfo

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
TRAIN_SHA256, TEST_SHA256 = "9c4107de55a2b6f0" * 4, "1fe893ab20c74d19" * 4
PERMUTATION = {"n_repeats": 10, "n_rows": None}
CURVES = {"grid": "even", "n_grid": 51, "scale": "native"}
SPREAD = {**CURVES, "categorical_spread": "quarter_range"}


def made_importance(
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
    defaults = {
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
        **{**defaults, **fields},
    )


def made_effect(
    model: str, feature: str, engine: str = "python", **fields: Any
) -> Effect:
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
    defaults = {
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
        **{**defaults, **fields},
    )


def made_pair(
    model: str, verdict: str, reasons: str = "", **fields: Any
) -> dict[str, Any]:
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
        "options": "n_repeats = 10, n_rows = None",
        **fields,
    }


def made_run(audit: str = "apartments", **fields: Any) -> RunInfo:
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
    defaults = {
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
            "DALEX (R)": "2.5.4",
            "ingredients (R)": "2.3.0",
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
    return RunInfo(audit=audit, **{**defaults, **fields})


def made_frame(
    name: str, rows: Sequence[dict[str, Any]] = (), /, **shared: Any
) -> pd.DataFrame:
    """Return a frame of these rows, all of which have the shared fields."""
    return FRAMES[name].of([row | shared for row in rows])


def made_rows(
    name: str, columns: str, /, *rows: Sequence[Any], **shared: Any
) -> pd.DataFrame:
    """Return a frame from the cells of its rows, in the order of these columns."""
    named = [dict(zip(columns.split(), row, strict=True)) for row in rows]
    return made_frame(name, named, **shared)


def row_intervals_frame(
    importances: Sequence[Importance], half_width: float
) -> pd.DataFrame:
    """Return row intervals of the estimates, plus or minus `half_width`."""
    rows = [
        {
            **{"record": record, "feature": feature, "std_error": half_width / 2},
            **{"low": mean - half_width, "high": mean + half_width},
            **{"rank_low": 1.0, "rank_high": float(len(importance.features))},
            **{"top_k_share": 1.0, "lead_share": 0.5, "route": "resampled"},
        }
        for record, importance in enumerate(importances)
        for feature, mean in zip(importance.features, importance.mean, strict=True)
    ]
    return made_frame("row_intervals", rows)


def datasets_frame(features: int, **fields: Any) -> pd.DataFrame:
    defaults = {
        **{"columns": features, "target": "m2.price", "task": "regression"},
        **{"weighted": False, "missing_cells": 0, "script": "", "script_sha256": ""},
    }
    return made_rows(
        "datasets",
        "name split rows source sha256",
        ("apartments", "train", 1000, "DALEX::apartments", TRAIN_SHA256),
        ("apartments_test", "test", 9000, "DALEX::apartments_test", TEST_SHA256),
        **{**defaults, **fields},
    )


def models_frame(names: Sequence[str], **fields: Any) -> pd.DataFrame:
    return made_frame(
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
                "predictions_sha256": "",
                **fields,
            }
            for name in names
        ],
    )


def performance_frame(
    names: Sequence[str], loss: str = "rmse", **fields: Any
) -> pd.DataFrame:
    shared = {"loss": loss, "constant": 901.9, **fields}
    values = [
        (name, split, n, LOSS.get(name, 0.2) * factor)
        for name in names
        for split, n, factor in (("train", 1000, 0.5), ("test", 9000, 1.0))
    ]
    return made_rows(
        "performance",
        "model split n_samples value std_error difference difference_std_error",
        *((*row, v, v / 110, v - shared["constant"], v / 90) for *row, v in values),
        **shared,
    )


def columns_frame(features: Sequence[str]) -> pd.DataFrame:
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
                "definition": "",
            }
        )
    return made_frame("columns", rows)


def losses_frame(*changes: dict[str, Any]) -> pd.DataFrame:
    """Return one row per change: the forest's rankings under two losses, changed."""
    row = {
        **{"model": "forest", "method": "permutation", "of": "features"},
        **{"positive_class": "", "loss_a": "rmse", "loss_b": "mae"},
        **{"record_a": 0, "record_b": 1, "n_features": 5, "kendall": 0.6},
        **{"top_k": 3, "top_k_overlap": 2 / 3, "leader_a": "'a'", "leader_b": "'a'"},
    }
    return made_frame("losses", [row | change for change in changes])


def checks_frame() -> pd.DataFrame:
    return made_rows(
        "checks",
        " ".join(FRAMES["checks"].columns),
        ("not_deterministic", "forest", 0.0, 0.0, "default", "pass"),
        ("prediction_mismatch", "forest", 0.0, 1e-12, "default", "pass"),
        ("weak_model", "forest", -618.9, 0.0, "default", "pass"),
        ("disagreement", "svm: python, vip", 1.0, 0.0, "definition", "fail"),
        ("rank_shift", "forest: python, DALEX", 0.0, 2.0, "audit.toml", "pass"),
        ("unmeasured", "linear", "not asked", "-", "audit.toml", "not run"),
        ("constant_feature", "apartments_test", "none", "none", "audit.toml", "pass"),
        ("r_restarted", "R", 1.0, 0.0, "definition", "warn"),
    )
