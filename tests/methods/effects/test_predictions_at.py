"""Predictions at set values: those of predict to the last bit, or predict itself."""

import logging
from dataclasses import replace

import numpy as np
import pytest
from tests.methods.trees.conftest import _one_thread  # noqa: F401 (a fixture)
from tests.methods.trees.test_mean_predictions import (
    KINDS,
    LABELS,
    by_predict,
    model_of,
    rows_of,
    squares_of,
    weighted,
)

from importance_audit.methods.effects import predictions_at as module
from importance_audit.methods.effects.local_profiles import accumulated_profile
from importance_audit.methods.effects.partial_dependence import (
    partial_dependence,
    single_curves,
)
from importance_audit.methods.effects.surface import surface
from importance_audit.methods.importance.h_statistic import h_statistic
from importance_audit.methods.importance.vint import vint
from importance_audit.methods.trees import routes
from importance_audit.methods.trees.fitted import Trees
from importance_audit.records.errors import ModelError
from importance_audit.records.execution import workers

pytestmark = pytest.mark.needs_numba


@pytest.fixture(autouse=True)
def _is_worth(monkeypatch):
    """Let the trees answer however little is asked."""
    monkeypatch.setattr(routes, "WORTH", 0)


@pytest.fixture
def walks(monkeypatch):
    """Return the columns that were set in each walk of the trees."""
    columns = []

    replay = Trees.replay

    def noted(trees, bins, groups, draws, **options):
        columns.append([at for at, n in enumerate(trees.features) if n in groups[0]])
        return replay(trees, bins, groups, draws, **options)

    monkeypatch.setattr(Trees, "replay", noted)
    return columns


def banded(model, data, feature, **options):
    """Return a curve as an audit asks for it, with its band."""
    bands = []
    options["on_band"] = lambda *ends: bands.extend(ends)
    _, curve = partial_dependence(model, data, feature, seed=1, **options)
    return np.stack([curve, *bands])


def assert_same_bits(ours, theirs):
    assert np.asarray(ours).shape == np.asarray(theirs).shape
    assert np.asarray(ours).tobytes() == np.asarray(theirs).tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", LABELS)
def test_curves_and_bands_of_audits_are_those_of_predict(kind, task, walks):
    data = rows_of(task, missing=kind.startswith("Hist"))
    model = model_of(kind, data)
    theirs = by_predict(model)
    for scale in ("native", "centred_logit")[: 1 + (task != "regression")]:
        for feature in data.X:
            ours = banded(model, data, feature, scale=scale)
            assert_same_bits(ours, banded(theirs, data, feature, scale=scale))
            assert walks.pop() == [list(data.X).index(feature)]


@pytest.mark.parametrize("change", [None, weighted])
def test_whatever_sets_columns_gets_the_bits_of_predict(change, walks):
    data = change(rows_of("multiclass")) if change else rows_of("multiclass")
    model = model_of("GradientBoosting", data)
    pair, three = ("x1", "level"), ("x1", "x2", "whole")
    asked = (
        lambda m: surface(m, data, pair, seed=1)[2],
        lambda m: accumulated_profile(m, data, "x1", seed=1)[1],
        lambda m: np.concatenate([c for _, c in single_curves(m, data, "x2")], axis=1),
        lambda m: squares_of(m, data, ("x1",)),
        lambda m: squares_of(m, data, three),
        lambda m: h_statistic(m, data, seed=1, scale="link")[0],
        lambda m: vint(m, data.with_groups({"pair": pair}), seed=1)[0],
    )
    for ask in asked:
        walks.clear()
        assert_same_bits(ask(model), ask(by_predict(model)))
        assert walks


def test_a_feature_of_several_columns_is_set_in_all_of_them(walks):
    data = rows_of()
    model = model_of("RandomForest", data, encoder="one_hot_full")
    assert_same_bits(
        banded(model, data, "level"), banded(by_predict(model), data, "level")
    )
    assert len(walks[-1]) == 3


def test_how_many_points_are_taken_at_once_changes_no_bit(monkeypatch):
    data = rows_of("multiclass")
    model = model_of("RandomForest", data)
    at_once = banded(model, data, "x1")
    monkeypatch.setattr(module, "MAX_BYTES", 20_000)
    assert_same_bits(banded(model, data, "x1"), at_once)


def test_threads_change_no_bit():
    data = rows_of()
    model = model_of("RandomForest", data)
    alone = banded(model, data, "x1")
    with workers(3, "threads"):
        assert_same_bits(banded(model, data, "x1"), alone)


def test_an_estimator_that_was_fitted_again_is_read_again(walks, caplog):
    data = rows_of()
    model = model_of("RandomForest", data)
    banded(model, data, "x1")
    rows = data.X.assign(level=data.X["level"].cat.codes)
    model.estimator.fit(rows.to_numpy(dtype=float), data.X["x1"] ** 2)
    walks.clear()
    with caplog.at_level(logging.WARNING):
        ours = banded(model, data, "x1")
    assert_same_bits(ours, banded(by_predict(model), data, "x1"))
    assert walks
    assert not caplog.records


def test_rows_that_predict_refuses_are_refused():
    data = rows_of()
    model = model_of("GradientBoosting", data)  # a forest may take them
    banded(model, data, "x1")
    X = data.X.copy()
    X.iloc[-1, list(X).index("x2")] = np.nan
    with pytest.raises(ModelError, match="NaN"):
        banded(model, replace(data, X=X), "x1")


def test_missing_values_that_a_forest_takes_go_where_it_sends_them(walks):
    data = rows_of()
    model = model_of("RandomForest", data)
    rows = replace(data, X=data.X.assign(x2=data.X["x2"].where(data.X["x2"] < 0)))
    try:
        theirs = banded(by_predict(model), rows, "x1")
    except ModelError as error:
        pytest.skip(str(error))
    assert_same_bits(banded(model, rows, "x1"), theirs)
    assert walks


def test_trees_that_differ_from_predict_are_not_asked_again(monkeypatch, walks, caplog):
    data = rows_of()
    model = model_of("RandomForest", data)
    theirs = banded(by_predict(model), data, "x1")
    replay = Trees.replay
    monkeypatch.setattr(
        Trees,
        "replay",
        lambda *a, **k: (np.nextafter(each, np.inf) for each in replay(*a, **k)),
    )
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert_same_bits(banded(model, data, "x1"), theirs)
    assert [record.getMessage() for record in caplog.records] == [
        "The trees of model 'm' give other predictions than its predict, which is "
        "asked instead."
    ]
    assert len(walks) == 1


def test_little_is_asked_of_predict_however_often(monkeypatch, walks):
    data = rows_of()
    model = model_of("RandomForest", data)
    worth = 51 * (data.n_samples + routes.ROWS_OF_CALL)
    monkeypatch.setattr(routes, "WORTH", worth + 1)
    for _ in range(2):
        banded(model, data, "x1")
    assert not walks
    monkeypatch.setattr(routes, "WORTH", worth)
    banded(model, data, "x1")
    assert walks


def test_two_points_are_asked_of_predict(walks):
    data = rows_of()
    banded(model_of("RandomForest", data), data, "x1", grid=(0.0, 1.0))
    assert not walks
