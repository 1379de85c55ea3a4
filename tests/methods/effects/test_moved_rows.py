"""Local effects by trees: one walk for all features; test_questions has the rest."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.methods.trees.small_ensembles import (
    N_ROWS,
    by_predict,
    model_of,
    rows_of,
    same_bits,
)

from importance_audit.methods.effects import ale as module
from importance_audit.methods.effects.ale import ale
from importance_audit.methods.trees.fitted import Trees
from importance_audit.methods.trees.routes import reporting_routes
from importance_audit.records.errors import ModelError, NotApplicable

pytestmark = [pytest.mark.needs_numba, pytest.mark.usefixtures("trees_answer")]


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


def of_x1(model, data, **options):
    return [ale(model, data, "x1", seed=1, **options)[1]]


def test_all_features_are_moved_in_one_walk(walks):
    data = rows_of()
    curves(model_of("RandomForest", data), data)
    assert walks == [len(data.features)]


def test_points_between_the_rows_are_answered_by_the_trees(walks):
    data = rows_of()
    low, high = data.X["x1"].min(), data.X["x1"].max()
    model = model_of("RandomForest", data)
    grid = (low, (low + high) / 2, high)
    ours = of_x1(model, data, grid=grid)
    assert len(walks) == 1
    assert same_bits(ours, of_x1(by_predict(model), data, grid=grid))


def test_what_is_refused_of_one_feature_does_not_stop_the_others(monkeypatch, walks):
    data = rows_of()
    model, change = model_of("RandomForest", data), module._change

    def of_numbers(model, data, scale, moves, *ends):
        if moves.interval.max() == 1:  # of three levels
            raise NotApplicable("No answer.")
        return change(model, data, scale, moves, *ends)

    monkeypatch.setattr(module, "_change", of_numbers)
    ours = of_x1(model, data)
    assert len(walks) == 1
    given = []
    refused = pytest.raises(NotApplicable, match=r"No answer\.")
    with reporting_routes(given.append), refused:
        ale(model, data, "level", seed=1)
    assert not given
    assert same_bits(ours, of_x1(by_predict(model), data))


@pytest.mark.parametrize(
    "x2", [1.0, 2**62 + np.arange(N_ROWS) % 2], ids=["constant", "one float"]
)
def test_a_feature_that_cannot_be_moved_does_not_stop_the_others(walks, x2):
    data = rows_of()
    data = replace(data, X=data.X.assign(x2=x2))
    model = model_of("RandomForest", data)
    ours = of_x1(model, data)
    assert len(walks) == 1
    assert same_bits(ours, of_x1(by_predict(model), data))


@pytest.mark.parametrize("kind", ["bool", "boolean", "Int64", "int64"])
def test_numbers_of_any_type_are_moved_by_the_trees(kind):
    data = rows_of()
    values = pd.Series(np.arange(N_ROWS) % 2).astype(kind)
    if kind == "int64":
        values += 2**53 + 2 * (np.arange(N_ROWS) % 3)
    data = replace(data, X=data.X.assign(x2=values))
    model, given = model_of("RandomForest", data), []
    with reporting_routes(given.append):
        ours = curves(model, data)
    assert {route.basis for route in given} == {"identical"}
    assert same_bits(ours, curves(by_predict(model), data))


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
    weights = (np.arange(N_ROWS) != at).astype(float)
    data = replace(data, X=data.X.assign(level=level), weights=weights)
    assert same_bits(curves(model, data), curves(by_predict(model), data))
    data = replace(data, weights=np.ones(N_ROWS))
    with pytest.raises(NotApplicable, match="did not see in training"):
        ale(model, data, "level", seed=1)


def test_trees_do_not_answer_for_a_missing_value_that_predict_refuses():
    data = rows_of()
    model = model_of("GradientBoosting", data)
    x1 = data.X["x1"].mask(np.arange(N_ROWS) == 80)
    data = replace(data, X=data.X.assign(x1=x1))
    ours = of_x1(model, data)  # where that row is not moved
    assert same_bits(ours, of_x1(by_predict(model), data))
    with pytest.raises(ModelError, match=r"contains NaN.*1 cell of 'x1'"):
        ale(model, data, "x2", seed=1)
