"""Which associations a result keeps: closed forms, the statistic, many features."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.report.made_records import made_importance

from importance_audit.assess.associations import association_rows
from importance_audit.methods.known_answers import normal_data
from importance_audit.records.frames import FRAMES


def associations_between(columns, importances=(), threshold=0.8, **fields):
    """Return the frame of associations between some columns."""
    X = pd.DataFrame(columns)
    test = replace(normal_data(1, 0), X=X, y=np.zeros(len(X)), weights=np.ones(len(X)))
    test = replace(test, **fields)
    rows = association_rows(test, importances, threshold=threshold)
    return FRAMES["associations"].of(rows)


def test_every_pair_of_few_features_is_kept_with_its_statistic():
    x = np.arange(20.0)
    kind = pd.Categorical(np.where(x < 10, "low", "high"))
    associations = associations_between(
        {"x": x, "same": x, "kind": kind, "again": kind}
    )
    statistics = {
        (r.feature_a, r.feature_b): r.statistic for r in associations.itertuples()
    }
    assert statistics == {
        **{("x", "same"): "spearman", ("kind", "again"): "cramers_v"},
        **{
            (x, k): "correlation_ratio"
            for x in ("x", "same")
            for k in ("kind", "again")
        },
    }
    of = associations.set_index(["feature_a", "feature_b"])["value"]
    assert of["x", "same"] == of["kind", "again"] == pytest.approx(1, rel=1e-12)


def test_a_derived_column_is_in_no_pair():
    x = np.arange(5.0)
    associations = associations_between(
        {"x": x, "y": x[::-1], "sum": x}, unread={"sum": ("x", "y")}
    )
    assert associations[["feature_a", "feature_b"]].to_numpy().tolist() == [["x", "y"]]


def test_of_many_features_the_strong_pairs_and_those_of_the_leaders_are_kept():
    names = [f"x{n:02}" for n in range(61)]
    draws = np.random.default_rng(1).normal(size=(200, 61))
    draws[:, 60] = draws[:, 59]  # both last: they lead nothing
    record = made_importance("m", names, -np.arange(61.0), stream="", repeats=1)
    associations = associations_between(
        dict(zip(names, draws.T, strict=True)), [record]
    )
    pairs = set(zip(associations["feature_a"], associations["feature_b"], strict=True))
    leaders = {name for pair in pairs - {("x59", "x60")} for name in pair}
    assert (len(pairs), leaders) == (40 * 39 // 2 + 1, set(names[:40]))
