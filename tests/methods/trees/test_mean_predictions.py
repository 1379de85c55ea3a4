"""Trees that answer for means of predict: the same numbers, or predict itself."""

import logging
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from importance_audit.methods.effects import partial_dependence as effects
from importance_audit.methods.effects.partial_dependence import partial_dependence
from importance_audit.methods.importance.h_statistic import (
    at_rows,
    h_squared,
    h_statistic,
)
from importance_audit.methods.importance.partial_dependence import (
    partial_dependence as pd_importance,
)
from importance_audit.methods.known_answers import normal_data
from importance_audit.methods.trees import mean_predictions as module
from importance_audit.methods.trees import routes
from importance_audit.methods.trees.mean_predictions import TreeMeans, tree_means
from importance_audit.models.fit import fit
from importance_audit.models.section import ModelSection

pytestmark = pytest.mark.needs_numba

KINDS = {
    "RandomForest": {"n_estimators": 5, "random_state": 1},
    "GradientBoosting": {"n_estimators": 8, "random_state": 1},
    "HistGradientBoosting": {"max_iter": 8},
}
LABELS = {"regression": (), "binary": ("no", "yes"), "multiclass": ("a", "b", "c")}


def rows_of(task="regression", missing=False):
    """Return rows of numbers, whole numbers and one category."""
    data = normal_data(2, 1, 0, n_samples=90)
    level = pd.Categorical(np.array(list("uvw"))[np.arange(90) % 3])
    X = data.X.assign(level=level, whole=np.arange(90) % 7)
    y = data.y + (level == "v") * X["x1"].to_numpy()
    if missing:
        X.loc[::5, "x1"] = np.nan
    if classes := LABELS[task]:
        edges = np.quantile(y, np.linspace(0, 1, len(classes) + 1)[1:-1])
        y = np.searchsorted(edges, y)
    groups = {name: (name,) for name in X}
    return replace(data, X=X, y=y, task=task, classes=classes, groups=groups)


def model_of(kind, data, **options):
    suffix = "Regressor" if data.task == "regression" else "Classifier"
    estimator = f"sklearn.ensemble.{kind}{suffix}"
    parameters = KINDS[kind]
    return fit(
        ModelSection(name="m", estimator=estimator, parameters=parameters, **options),
        data,
    )


def pairs(data):
    return data.with_groups({a + b: (a, b) for a, b in combinations(data.X, 2)})


@pytest.fixture(autouse=True)
def _is_worth(monkeypatch):
    """Let the trees answer however little is asked."""
    monkeypatch.setattr(routes, "WORTH", 0)


@pytest.fixture
def around(monkeypatch):
    """Return the columns whose dependences trees answered for."""
    names = []
    method = TreeMeans.dependences

    def noted(self, columns):
        names.append(columns)
        return method(self, columns)

    monkeypatch.setattr(TreeMeans, "dependences", noted)
    return names


@pytest.fixture
def answered(monkeypatch):
    """Return the features that trees answered for."""
    names = []
    for method in (TreeMeans.curve, TreeMeans.together):

        def noted(self, *arguments, method=method):
            names.append([a for a in arguments if isinstance(a, str)])
            return method(self, *arguments)

        monkeypatch.setattr(TreeMeans, method.__name__, noted)
    return names


def by_predict(model):
    """Return the same model behind a function, so that predict answers."""
    return replace(model, predict=lambda X: model.predict(X))


def squares_of(model, data, columns):
    """Return numerator and denominator of H squared."""
    dependence_on = partial(at_rows, model, data, scale="native")
    return h_squared(columns, dependence_on, data.weights)


def assert_same(ours, theirs):
    scale = np.abs(theirs).max()
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12 * scale)


SUMS = [
    *((kind, "regression", {}) for kind in KINDS),
    ("HistGradientBoosting", "regression", {"missing": True}),
    ("RandomForest", "binary", {}),
    ("RandomForest", "multiclass", {}),
]


@pytest.mark.parametrize(("kind", "task", "options"), SUMS)
@pytest.mark.parametrize("grid", ["even", "unique"])
def test_curves_are_those_of_predict(kind, task, options, grid, answered):
    data = rows_of(task, **options)
    model = model_of(kind, data)
    for feature in data.X:
        points, ours = partial_dependence(model, data, feature, seed=1, grid=grid)
        same, theirs = partial_dependence(
            by_predict(model), data, feature, seed=1, grid=grid
        )
        assert points.tolist() == same.tolist()
        assert_same(ours, theirs)
    assert answered == [[name] for name in data.X]


@pytest.mark.parametrize(("kind", "task", "options"), SUMS)
def test_the_mean_beside_a_band_of_some_rows_is_of_all(
    kind, task, options, monkeypatch, answered
):
    data = rows_of(task, **options)
    model = model_of(kind, data)
    grid = tuple(np.linspace(-1, 1, 5))
    monkeypatch.setattr(effects, "MAX_BAND_BYTES", 8 * 5 * len(model.outputs) * 30)
    ends = []
    for asked in (model, by_predict(model)):
        _, means = partial_dependence(
            asked, data, "x1", seed=1, grid=grid, on_band=lambda *b: ends.append(b)
        )
        ends.append(means)
    ours, theirs = ends[:2], ends[2:]
    assert_same(ours[1], theirs[1])
    for own, asked in zip(ours[0], theirs[0], strict=True):
        assert_same(own, asked)
    assert answered == [["x1"]]


@pytest.mark.parametrize(("kind", "task", "options"), SUMS)
@pytest.mark.parametrize("standardised", [True, False])
def test_pairs_are_those_of_predict(kind, task, options, standardised, answered):
    data = rows_of(task, **options)
    model = model_of(kind, data)
    ours, baseline = h_statistic(
        model, pairs(data), seed=1, standardised=standardised, n_rows=60
    )
    assert len(answered) == 1 + 10
    theirs, _ = h_statistic(
        by_predict(model), pairs(data), seed=1, standardised=standardised, n_rows=60
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    assert not baseline.any()


@pytest.mark.parametrize(("kind", "task", "options"), SUMS)
@pytest.mark.parametrize("encoder", ["ordinal", "one_hot_full"])
def test_one_column_and_three_are_those_of_predict(
    kind, task, options, encoder, around
):
    data = rows_of(task, **options)
    model = model_of(kind, data, encoder=encoder)
    theirs = by_predict(model)
    for columns in (("x1",), ("level",), ("x1", "level", "whole")):
        around.clear()
        ours = squares_of(model, data, columns)
        assert len(around) == 2 ** len(columns) - 1
        np.testing.assert_allclose(
            ours, squares_of(theirs, data, columns), rtol=1e-9, atol=1e-12
        )


def test_dependences_that_differ_from_predict_are_not_used(monkeypatch, around, caplog):
    data = rows_of()
    model = model_of("RandomForest", data)
    theirs, _ = h_statistic(by_predict(model), data, seed=1)
    both = module.dependences
    for changed in (lambda own, others: (own + 1, others), lambda a, b: (a, b + 1)):
        fresh = replace(model)
        monkeypatch.setattr(
            module, "dependences", lambda *a, c=changed, **k: c(*both(*a, **k))
        )
        around.clear()
        with caplog.at_level(logging.WARNING):
            ours, _ = h_statistic(fresh, data, seed=1)
        assert ours.tobytes() == theirs.tobytes()
        assert around == [("x1",)]
    assert len(caplog.records) == 2


def test_the_importance_of_a_curve_is_that_of_predict(answered):
    data = rows_of()
    model = model_of("RandomForest", data)
    ours, _ = pd_importance(model, data, seed=1)
    assert len(answered) == len(data.groups)
    theirs, _ = pd_importance(by_predict(model), data, seed=1)
    assert_same(ours, theirs)


def test_a_feature_that_is_not_compared_is_exactly_flat():
    data = rows_of()
    data = replace(data, X=data.X.assign(x3=1.0))
    model = model_of("RandomForest", data)
    _, curve = partial_dependence(model, data, "x3", seed=1, grid=(-1, 0, 5))
    assert np.ptp(curve) == 0
    raw, _ = h_statistic(model, pairs(data), seed=1)
    assert not raw[list(pairs(data).groups).index("x1x3")].any()


def weighted(data):
    return replace(data, weights=np.arange(data.n_samples) + 1.0)


@pytest.mark.parametrize(
    ("kind", "task", "changed", "options"),
    [
        ("GradientBoosting", "binary", None, {}),
        ("RandomForest", "binary", None, {"scale": "centred_logit"}),
        ("RandomForest", "regression", weighted, {}),
    ],
)
def test_what_is_no_sum_over_leaves_is_asked_of_predict(
    kind, task, changed, options, answered
):
    data = rows_of(task)
    model = model_of(kind, data)
    rows = changed(data) if changed else data
    _, ours = partial_dependence(model, rows, "x1", seed=1, **options)
    _, theirs = partial_dependence(by_predict(model), rows, "x1", seed=1, **options)
    assert ours.tobytes() == theirs.tobytes()
    assert not answered


def test_a_feature_of_several_columns_is_asked_of_predict(answered):
    data = rows_of()
    model = model_of("RandomForest", data, encoder="one_hot_full")
    _, ours = partial_dependence(model, data, "level", seed=1)
    _, theirs = partial_dependence(by_predict(model), data, "level", seed=1)
    assert ours.tobytes() == theirs.tobytes()
    partial_dependence(model, data, "x1", seed=1)
    assert answered == [["x1"]]


def test_little_is_asked_of_predict(monkeypatch, answered):
    data = rows_of()
    worth = 51 * (data.n_samples + routes.ROWS_OF_CALL)
    monkeypatch.setattr(routes, "WORTH", worth + 1)
    partial_dependence(model_of("RandomForest", data), data, "x1", seed=1)
    assert not answered
    monkeypatch.setattr(routes, "WORTH", worth)
    partial_dependence(model_of("RandomForest", data), data, "x1", seed=1)
    assert answered


def test_an_estimator_that_was_fitted_again_is_read_again(answered):
    data = rows_of().with_groups({"x1": ("x1",)})
    model = model_of("RandomForest", data)
    partial_dependence(model, data, "x1", seed=1)
    rows = data.X.assign(level=data.X["level"].cat.codes)
    model.estimator.fit(rows.to_numpy(dtype=float), data.X["x1"] ** 2)
    _, ours = partial_dependence(model, data, "x1", seed=1)
    _, theirs = partial_dependence(by_predict(model), data, "x1", seed=1)
    assert_same(ours, theirs)
    assert answered == [["x1"], ["x1"]]


def test_trees_that_differ_from_predict_are_not_asked_again(
    monkeypatch, answered, caplog
):
    data = rows_of()
    model = model_of("RandomForest", data)
    theirs = partial_dependence(by_predict(model), data, "x1", seed=1)[1]
    curves = module.curves_at_bins
    monkeypatch.setattr(
        module,
        "curves_at_bins",
        lambda *a, **k: [1.0 + each for each in curves(*a, **k)],
    )
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            _, ours = partial_dependence(model, data, "x1", seed=1)
            assert ours.tobytes() == theirs.tobytes()
    assert [record.getMessage() for record in caplog.records] == [
        "The trees of model 'm' give other predictions than its predict, which is "
        "asked instead."
    ]
    assert len(answered) == 1
    assert tree_means(model, data, "native", 1) is None
