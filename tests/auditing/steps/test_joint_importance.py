"""Claims about correlated features that are measured together without being asked."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.records.streams import seed_of

REPEATS = 4


def config(*, groups=None, dependence=0.8, entries=(), **options):
    entry = {"method": "permutation", "losses": ["mse"], "n_repeats": REPEATS}
    return parse_config(
        {
            "importance": [entry | options, *entries],
            "groups": groups or {},
            "checks": {"dependence": dependence},
        }
    )


def copies(n, *, n_samples=200, noise=0.0):
    """Return columns x1 to xn that are one column, and two others; y = 2 x1 + noise."""
    data = normal_data(2, 0, 0, n_samples=n_samples)
    draw = np.random.default_rng(1)
    names = [f"x{k + 1}" for k in range(n + 2)]
    same = [data.X["x1"] + noise * draw.normal(size=n_samples) for _ in range(n)]
    X = pd.DataFrame(dict(zip(names, [*same, data.X["x2"], data.X["x3"]], strict=True)))
    return replace(data, X=X, groups={name: (name,) for name in X})


def split_model(n):
    """Return the model that divides the coefficient of 2 among n copies."""
    return linear_model(*[2 / n] * n, 0, 0)


def test_two_copies_have_together_the_importance_of_one_in_a_model_of_one():
    result = audit(None, copies(2), config(), models=(split_model(2),))
    (row,) = result.joint_importances.to_dict("records")
    alone = normal_data(2, 0, 0).with_groups({"joint importance 1": ("x1",)})
    seed = seed_of(1, "linear", "joint importance", "")
    model = linear_model(2, 0, 0)
    raw, baseline = permutation(model, alone, seed=seed, n_repeats=REPEATS)
    assert row["mean"] == pytest.approx((raw - baseline).mean(), rel=1e-9)
    assert row["low"] < 2 * 2**2 < row["high"]  # 2 b^2 var(x)
    by_itself = result.importances[0].mean[0]
    assert by_itself < 0.6 * row["mean"]


def test_a_cluster_is_one_row_for_each_model_and_loss():
    n = 5
    models = (split_model(n), replace(split_model(n), name="other"))
    asked = config(losses=["mse", "mae"])
    result = audit(None, copies(n, noise=0.1), asked, models=models)
    assert result.clusters["feature"].tolist() == [f"x{k + 1}" for k in range(n)]
    assert set(result.clusters["cluster"]) == {1}
    frame = result.joint_importances
    assert frame[["model", "loss"]].to_numpy().tolist() == [
        *(["linear", "mse"], ["linear", "mae"]),
        *(["other", "mse"], ["other", "mae"]),
    ]
    assert set(frame["n_repeats"]) == {REPEATS}
    assert (frame["over"] == "rows").all()


def test_no_number_of_a_ranking_moves():
    data, models = copies(3, noise=0.1), (split_model(3),)
    groups = {"some": ["x1", "x4"]}
    entries = [{"method": "permutation", "of": "groups", "losses": ["mse"]}]
    options = {"groups": groups, "entries": entries, "n_rows": 50}
    results = [
        audit(None, data, config(**options, dependence=limit), models=models)
        for limit in (0.8, 1.0)
    ]
    assert [len(each.joint_importances) for each in results] == [1, 0]
    pairs = zip(*(each.importances for each in results), strict=True)
    for one, other in pairs:
        for name in ("of", "features", "seed"):
            assert getattr(one, name) == getattr(other, name)
        np.testing.assert_array_equal(one.raw, other.raw)
        np.testing.assert_array_equal(one.baseline, other.baseline)
    one, other = (each.row_intervals for each in results)
    assert one.equals(other)


def test_a_group_of_the_owner_with_exactly_these_columns_is_measured_instead():
    entries = [{"method": "permutation", "of": "groups", "losses": ["mse"]}]
    data, models = copies(3, noise=0.1), (split_model(3),)
    exact = config(groups={"same": ["x3", "x1", "x2"]}, entries=entries)
    larger = config(groups={"same": ["x1", "x2", "x3", "x4"]}, entries=entries)
    unasked = config(groups={"same": ["x1", "x2", "x3"]})
    for asked, group, n_rows in ((exact, "same", 0), (larger, "", 1), (unasked, "", 1)):
        result = audit(None, data, asked, models=models)
        assert set(result.clusters["group"]) == {group}
        assert len(result.joint_importances) == n_rows


def test_it_costs_a_prediction_for_each_cluster_and_repeat_and_a_baseline():
    n_predicted = []
    data, model = copies(2), split_model(2)

    def predict(X):
        n_predicted[-1] += 1
        return model.predict(X)

    for limit in (0.8, 1.0):
        n_predicted.append(0)
        own = data if limit == 0.8 else normal_data(2, 0, 0, 0)
        counted = replace(model, predict=predict)
        audit(None, own, config(dependence=limit), models=(counted,))
    assert REPEATS <= n_predicted[0] - n_predicted[1] <= REPEATS + 1


def test_the_warning_about_a_dependent_leader_stays_and_says_the_joint_number():
    data, models = copies(2, noise=0.1), (split_model(2),)
    result = audit(None, data, config(), models=models)
    (finding,) = (f for f in result.findings if f.check == "dependent_leader")
    (row,) = result.joint_importances.to_dict("records")
    assert finding.severity == "warning"
    assert finding.message.endswith(
        f" Permuted together, they have an importance of {row['mean']:.3g} "
        f"({row['low']:.3g} to {row['high']:.3g}) by MSE in 'linear'."
    )
