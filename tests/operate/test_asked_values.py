"""What a model is asked is what its columns can hold, and steps are those it saw."""

from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest

import importance_audit as ia

N = 60
RANDOM = np.random.default_rng(1)
Z = RANDOM.normal(size=N)
FLAGS = RANDOM.permutation(np.array([True, False, None] * (N // 3), dtype=object))
GRIDS = [
    "partial_dependence",
    {"method": "vint", "of": "pairs"},
    {"method": "curve_importance", "curve": "conditional_profile"},
    {"method": "curve_impact", "curve": "ale"},
]


@pytest.mark.parametrize(
    "column",
    [
        FLAGS,
        pd.array(FLAGS, dtype="boolean"),
        pd.array([1, 4, None] * (N // 3), dtype="Int64"),
    ],
    ids=["objects", "boolean", "Int64"],
)
def test_a_column_with_missing_values_is_asked_in_its_own_type(column):
    rows = pd.DataFrame({"v": column, "z": Z})
    seen = set()

    def predict(X):
        assert X["v"].dtype == rows["v"].dtype
        seen.update(map(type, X["v"].dropna()))
        return (
            np.array([7.0 if v is None or v is pd.NA else v for v in X["v"]]) * X["z"]
        )

    result = ia.audit(predict, rows, Z, methods=GRIDS, task="regression")
    assert seen == set(map(type, rows["v"].dropna()))
    curves = (c for c in result.effects if c.feature == "v")
    curve = next(c for c in curves if c.method == "partial_dependence")
    assert curve.values == pytest.approx(curve.grid * Z.mean())


def test_dates_without_a_time_are_asked_at_whole_days():
    days = RANDOM.integers(0, 300, N)
    column = [date(2000, 1, 1) + timedelta(int(day)) for day in days]
    rows = pd.DataFrame({"v": np.array(column, dtype=object), "z": Z})
    epoch = date(1970, 1, 1).toordinal()

    def predict(X):
        return X["v"].map(date.toordinal) - epoch + X["z"]

    methods = ["partial_dependence", "gradient_sensitivity"]
    result = ia.audit(predict, rows, Z, methods=methods, task="regression")
    (curve,) = (c for c in result.effects if c.feature == "v")
    truth = curve.grid / 86400 + Z.mean()
    assert curve.values == pytest.approx(truth, abs=1e-6)
    (slope,) = (r for r in result.importances if r.method == "gradient_sensitivity")
    assert slope.mean[0] == pytest.approx(days.std(), rel=1e-6)


@pytest.mark.parametrize("offset", [0, 1000, 100_000])
@pytest.mark.parametrize("dtype", ["float16", "float32", "Float32", "float64"])
def test_slopes_do_not_depend_on_the_digits_of_a_column(dtype, offset):
    offset = min(offset, 100) if dtype == "float16" else offset
    rows = pd.DataFrame({"v": pd.Series(Z + offset).astype(dtype), "z": Z[::-1]})

    def predict(X):
        assert X["v"].dtype == dtype
        return 2 * (X["v"].astype("float64") - offset) + X["z"]

    gaussian = {"method": "firm", "estimator": "gaussian", "covariance": "sample"}
    methods = ["gradient_sensitivity", gaussian]
    result = ia.audit(predict, rows, Z, methods=methods, task="regression")
    v, z = rows["v"].to_numpy(float), Z[::-1]
    given = 2 * v.std(ddof=1) + np.cov(v, z)[0, 1] / v.std(ddof=1)
    sensitivity, firm = (record.mean[0] for record in result.importances)
    assert sensitivity == pytest.approx(2 * v.std(), rel=1e-6)
    assert firm == pytest.approx(given, rel=0.02)  # 59 or 60 is its divisor
