"""What pipelines, searches and other wrappers are made of."""

import numpy as np
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from importance_audit.models.estimators import steps_of

X = np.random.default_rng(1).normal(size=(40, 3))
Y = X[:, 0] + 0.1 * X[:, 1]


def described_steps(estimator):
    """Return (path, class, changed parameters) of each step."""
    return [(step.path, step.kind, step.parameters) for step in steps_of(estimator)]


def test_a_pipeline_names_its_steps_and_what_is_not_a_default():
    imputer = SimpleImputer(strategy="median", add_indicator=True)
    changed = {"strategy": "median", "add_indicator": True}
    pipe = make_pipeline(imputer, StandardScaler(), Ridge(alpha=0.5)).fit(X, Y)
    assert described_steps(pipe) == [
        ("", "Pipeline", {}),
        ("simpleimputer", "SimpleImputer", changed),
        ("standardscaler", "StandardScaler", {}),
        ("ridge", "Ridge", {"alpha": 0.5}),
    ]
    pipe = make_pipeline(FunctionTransformer(described_steps), Ridge())
    (function,) = steps_of(pipe)[1].parameters.values()
    assert function == "<function described_steps>"  # without its place in memory


def test_what_has_no_steps_has_none():
    for estimator in (None, lambda X: X[:, 0], LogisticRegression(C=3.0)):
        assert steps_of(estimator) == ()


def test_steps_within_steps_are_found_by_their_names():
    numbers = make_pipeline(StandardScaler(with_mean=False))
    parts = [("numbers", numbers, [0, 1]), ("rest", "drop", [2])]
    pipe = Pipeline(
        [("columns", ColumnTransformer(parts)), ("fit", LinearRegression())]
    )
    assert described_steps(pipe.fit(X, Y)) == [
        ("", "Pipeline", {}),
        ("columns", "ColumnTransformer", {}),
        ("columns/numbers", "Pipeline", {}),
        ("columns/numbers/standardscaler", "StandardScaler", {"with_mean": False}),
        ("columns/rest", "drop", {}),
        ("fit", "LinearRegression", {}),
    ]


def test_a_search_shows_what_it_found_and_a_target_how_it_is_transformed():
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 10.0]}, cv=2).fit(X, Y)
    (_, kind, parameters), (path, best, alpha) = described_steps(search)
    assert (kind, path, best) == ("GridSearchCV", "best", "Ridge")
    assert parameters == {"cv": 2, "param_grid": "{'alpha': [0.1, 10.0]}"}
    assert alpha == {"alpha": search.best_params_["alpha"]} or alpha == {}
    target = TransformedTargetRegressor(Ridge(alpha=2.0), transformer=StandardScaler())
    assert described_steps(target.fit(X, Y)) == [
        ("", "TransformedTargetRegressor", {}),
        ("target", "StandardScaler", {}),
        ("regressor", "Ridge", {"alpha": 2.0}),
    ]


def test_a_class_of_ones_own_is_held_against_its_own_defaults():
    class Scaled(Pipeline):
        def __init__(self, alpha=1.0, depth=3):
            self.alpha, self.depth = alpha, depth
            super().__init__([("scale", StandardScaler()), ("fit", Ridge(alpha=alpha))])

    assert described_steps(Scaled(alpha=7.0)) == [
        ("", "Scaled", {"alpha": 7.0}),
        ("scale", "StandardScaler", {}),
        ("fit", "Ridge", {"alpha": 7.0}),
    ]
