"""Local effects by the trees: those of predict to the last bit, or predict itself."""

import logging
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.methods.importance.test_permuted_predictions import assert_same_bits
from tests.methods.trees.conftest import _one_thread  # noqa: F401 (a fixture)
from tests.methods.trees.test_mean_predictions import (
    KINDS,
    LABELS,
    by_predict,
    model_of,
    rows_of,
    weighted,
)

from importance_audit.methods.effects import ale as ale_module
from importance_audit.methods.effects import moved_rows as module
from importance_audit.methods.effects.ale import ale
from importance_audit.methods.trees import routes
from importance_audit.methods.trees.fitted import Trees
from importance_audit.methods.trees.routes import reporting_routes
from importance_audit.records.errors import ModelError, NotApplicable
from importance_audit.records.execution import workers

pytestmark = pytest.mark.needs_numba


@pytest.fixture(autouse=True)
def _is_worth(monkeypatch):
    """Let the trees answer however little is asked."""
    monkeypatch.setattr(routes, "WORTH", 0)


@pytest.fixture
def walks(monkeypatch):
    """Return how many features were asked about in each walk of the trees."""
    counts, replay = [], Trees.replay

    def noted(trees, bins, groups, draws, **options):
        counts.append(len(groups))
        return replay(trees, bins, groups, draws, **options)

    monkeypatch.setattr(Trees, "replay", noted)
    return counts


def curves(model, data, **options):
    return [ale(model, data, name, seed=1, **options)[1] for name in data.X]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", LABELS)
def test_all_features_are_moved_in_one_walk(kind, task, walks):
    data = rows_of(task, missing=kind.startswith("Hist"))
    model = model_of(kind, data)
    for scale in ("native", "centred_logit")[: 1 + (task != "regression")]:
        ours = curves(model, data, scale=scale)
        assert walks == [len(data.features)]
        walks.clear()
        assert_same_bits(ours, curves(by_predict(model), data, scale=scale))
    assert not walks


@pytest.mark.parametrize(
    "options",
    [
        {"grid": "unique"},
        {"n_grid": 4},
        {"convention": "iml"},
        {"convention": "iml", "n_grid": 4},
    ],
)
@pytest.mark.parametrize("change", [None, weighted])
@pytest.mark.parametrize("encoder", ["ordinal", "one_hot", "one_hot_full"])
def test_whatever_is_moved_where(options, change, encoder, walks):
    data = change(rows_of("multiclass")) if change else rows_of("multiclass")
    model = model_of("GradientBoosting", data, encoder=encoder)
    ours = curves(model, data, **options)
    assert len(walks) == 1
    assert_same_bits(ours, curves(by_predict(model), data, **options))


def test_threads_change_no_bit():
    data = rows_of()
    alone = curves(model_of("RandomForest", data), data)
    with workers(3, "threads"):
        assert_same_bits(curves(model_of("RandomForest", data), data), alone)


def test_points_between_the_rows_are_asked_of_predict():
    data = rows_of()
    low, high = data.X["x1"].min(), data.X["x1"].max()
    model, routes = model_of("RandomForest", data), []
    options = {"seed": 1, "grid": (low, (low + high) / 2, high)}
    with reporting_routes(routes.append):
        ours = ale(model, data, "x1", **options)
    assert [(route.basis, route.reason) for route in routes] == [
        ("unread", module.NO_ROW)
    ]
    assert_same_bits(ours, ale(by_predict(model), data, "x1", **options))


def test_an_estimator_that_was_fitted_again_is_read_again(walks, caplog):
    data = rows_of()
    model = model_of("RandomForest", data)
    curves(model, data)
    rows = data.X.assign(level=data.X["level"].cat.codes)
    model.estimator.fit(rows.to_numpy(dtype=float), data.X["x1"] ** 2)
    with caplog.at_level(logging.WARNING):
        ours = curves(model, data)
    assert len(walks) == 2
    assert_same_bits(ours, curves(by_predict(model), data))
    assert not caplog.records


def test_trees_that_differ_from_predict_are_not_asked_again(monkeypatch, walks, caplog):
    data = rows_of()
    model, replay = model_of("RandomForest", data), Trees.replay
    monkeypatch.setattr(
        Trees,
        "replay",
        lambda *a, **k: (np.nextafter(each, np.inf) for each in replay(*a, **k)),
    )
    with caplog.at_level(logging.WARNING):
        ours = curves(model, data)
    assert len(walks) == 1
    assert [record.getMessage() for record in caplog.records] == [
        "The trees of model 'm' give other predictions than its predict, which is "
        "asked instead."
    ]
    assert_same_bits(ours, curves(by_predict(model), data))


def test_what_is_refused_of_one_feature_does_not_stop_the_others(monkeypatch, walks):
    data = rows_of()
    model, means = model_of("RandomForest", data), ale_module._weighted_means

    def of_numbers(change, interval, weights):
        if interval.max() == 1:  # of three levels
            raise NotApplicable("No answer.")
        return means(change, interval, weights)

    monkeypatch.setattr(ale_module, "_weighted_means", of_numbers)
    ours = ale(model, data, "x1", seed=1)
    assert len(walks) == 1
    routes = []
    refused = pytest.raises(NotApplicable, match=r"No answer\.")
    with reporting_routes(routes.append), refused:
        ale(model, data, "level", seed=1)
    assert not routes
    assert_same_bits(ours, ale(by_predict(model), data, "x1", seed=1))


def test_a_feature_that_cannot_be_moved_does_not_stop_the_others(walks):
    data = rows_of()
    data = replace(data, X=data.X.assign(x2=1.0))
    model = model_of("RandomForest", data)
    ours = ale(model, data, "x1", seed=1)
    assert len(walks) == 1
    assert_same_bits(ours, ale(by_predict(model), data, "x1", seed=1))


@pytest.mark.parametrize("kind", ["bool", "boolean", "Int64", "int64"])
def test_numbers_of_any_type_are_moved_by_the_trees(kind):
    data = rows_of()
    values = pd.Series(np.arange(90) % 2).astype(kind)
    if kind == "int64":
        values += 2**53 + 2 * (np.arange(90) % 3)
    data = replace(data, X=data.X.assign(x2=values))
    model, routes = model_of("RandomForest", data), []
    with reporting_routes(routes.append):
        ours = curves(model, data)
    assert {route.basis for route in routes} == {"identical"}
    assert_same_bits(ours, curves(by_predict(model), data))


def test_threads_that_round_otherwise_are_not_taken_for_another_fit(monkeypatch, walks):
    data = rows_of()
    model = model_of("RandomForest", data)
    model.estimator.n_jobs = 2
    calls, forest = iter(range(10**6)), type(model.estimator)

    def noisy(self, X, predict=forest.predict):
        return predict(self, X) * (1 + next(calls) % 2 * np.finfo(float).eps)

    monkeypatch.setattr(forest, "predict", noisy)
    curves(model, data)
    assert walks == [len(data.features)]


@pytest.mark.parametrize("at", [3, 80])
def test_a_row_that_predict_refuses_is_not_asked_unless_it_is_moved(at):
    data = rows_of()
    model = model_of("RandomForest", data)
    level = data.X["level"].cat.add_categories(["new"]).copy()
    level.iloc[at] = "new"
    weights = (np.arange(90) != at).astype(float)
    data = replace(data, X=data.X.assign(level=level), weights=weights)
    assert_same_bits(curves(model, data), curves(by_predict(model), data))
    data = replace(data, weights=np.ones(90))
    with pytest.raises(NotApplicable, match="did not see in training"):
        ale(model, data, "level", seed=1)


def test_columns_whose_floats_are_all_equal_do_not_stop_the_others(walks):
    data = rows_of()
    large = 2**62 + np.arange(90) % 2
    data = replace(data, X=data.X.assign(x2=large))
    model = model_of("RandomForest", data)
    ours = ale(model, data, "x1", seed=1)
    assert len(walks) == 1
    assert_same_bits(ours, ale(by_predict(model), data, "x1", seed=1))


def test_a_grid_may_be_a_list():
    data = rows_of()
    model = model_of("RandomForest", data)
    grid = np.sort(data.X["x1"].to_numpy())[[0, 40, 89]].tolist()
    ours = ale(model, data, "x1", seed=1, grid=grid)
    assert_same_bits(ours, ale(by_predict(model), data, "x1", seed=1, grid=grid))


def test_trees_do_not_answer_for_a_missing_value_that_predict_refuses():
    data = rows_of()
    model = model_of("GradientBoosting", data)
    x1 = data.X["x1"].mask(np.arange(90) == 80)
    data = replace(data, X=data.X.assign(x1=x1))
    ours = ale(model, data, "x1", seed=1)  # where that row is not moved
    assert_same_bits(ours, ale(by_predict(model), data, "x1", seed=1))
    with pytest.raises(ModelError, match=r"contains NaN.*1 cell of 'x1'"):
        ale(model, data, "x2", seed=1)
