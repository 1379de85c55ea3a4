"""Pipelines: trees answer behind steps that keep columns apart, and no others."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import (
    ColumnTransformer,
    TransformedTargetRegressor,
    make_column_transformer,
)
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_regression
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

import importance_audit as ia
from importance_audit.methods.effects.partial_dependence import partial_dependence
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.trees import fitted, pipelines, routes
from importance_audit.methods.trees.fitted import Trees, not_of_trees, trees_of
from importance_audit.methods.trees.routes import reporting_routes
from importance_audit.models.fit import wrap

from .small_ensembles import by_predict, same_bits

pytestmark = pytest.mark.needs_numba

N_ROWS = 130
NUMBERS, LEVELS = ["size", "age", "part", "same"], ["town", "kind"]
FOREST = RandomForestRegressor(5, random_state=1)


def table():
    """Return numbers with holes and ties, a constant, texts, levels and a target."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(
        {
            "town": rng.choice(["Bern", "Graz", "Ulm", "Wien"], N_ROWS),
            "size": rng.normal(size=N_ROWS),
            "kind": pd.Categorical(rng.choice(list("xyz"), N_ROWS), list("zyxw")),
            "age": rng.exponential(size=N_ROWS).round(1),
            "part": rng.integers(0, 5, N_ROWS) * 1.0,
            "same": 1.0,
        }
    )
    y = X["size"] * (X["town"] == "Ulm") + X["age"] + X["part"] * (X["kind"] == "x")
    X.loc[rng.random(N_ROWS) < 0.2, "size"] = np.nan
    return X, y.to_numpy() + rng.normal(size=N_ROWS) / 5


def filled():
    return make_pipeline(SimpleImputer(), StandardScaler())


def both(*others, **options):
    """Return a transformer of the numbers and the levels."""
    one_hot = OneHotEncoder(handle_unknown="ignore")
    parts = (filled(), NUMBERS), (one_hot, LEVELS), *others
    return make_column_transformer(*parts, **options)


KEPT_APART = {
    "one-hot": lambda: make_pipeline(both(), FOREST),
    "dense one-hot, boosting": lambda: make_pipeline(
        both(sparse_threshold=0), GradientBoostingRegressor(n_estimators=5)
    ),
    "missing values, other order": lambda: make_pipeline(
        make_column_transformer(
            (OrdinalEncoder(), ["kind", "town"]),
            ("passthrough", ["part", "size"]),
            # scikit-learn 1.9 cannot bin a column without any value.
            (SimpleImputer(keep_empty_features=True), ["empty"]),
            remainder="passthrough",
        ),
        HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=3),
    ),
    "dropped columns": lambda: make_pipeline(
        make_column_transformer(
            ("drop", ["age"]),
            (OneHotEncoder(drop="first"), ["town"]),
            (filled(), NUMBERS[:1]),
        ),
        FOREST,
    ),
    "selected columns": lambda: make_pipeline(
        both(), VarianceThreshold(), SelectKBest(f_regression, k=4), FOREST
    ),
    "infrequent levels": lambda: make_pipeline(
        make_column_transformer(
            (OneHotEncoder(min_frequency=33, drop="if_binary"), LEVELS),
            remainder=SimpleImputer(strategy="median"),
        ),
        FunctionTransformer(accept_sparse=True),
        FOREST,
    ),
    "a column twice": lambda: make_pipeline(
        make_column_transformer(
            (RobustScaler(), ["age", "part"]),
            (MaxAbsScaler(), ["part"]),
            (QuantileTransformer(n_quantiles=20), ["part"]),
            (PowerTransformer(), ["age"]),
            (OneHotEncoder(), ["kind"]),
        ),
        "passthrough",
        MinMaxScaler(),
        FOREST,
    ),
    "pipelines within": lambda: make_pipeline(
        both(), make_pipeline(None, make_pipeline(MaxAbsScaler(), FOREST))
    ),
    "weights, frames": lambda: make_pipeline(
        ColumnTransformer(
            [("a", filled(), NUMBERS), ("b", OrdinalEncoder(), LEVELS)],
            transformer_weights={"a": 2.5},
        ).set_output(transform="pandas"),
        FOREST,
    ),
    "an empty column, a constant": lambda: make_pipeline(
        make_column_transformer(
            (SimpleImputer(strategy="constant"), ["empty", "size", "age"])
        ),
        FOREST,
    ),
}


def data_for(make, task="regression"):
    """Return a fitted pipeline as an audit asks it, and the rows."""
    X, y = table()
    X["empty"] = np.nan
    pipeline = make()
    if task != "regression":
        y = np.searchsorted(np.quantile(y, [0.3, 0.6]), y)
    pipeline.fit(X, y)
    X["empty"] = np.arange(N_ROWS) * 1.0  # after the fit
    groups = {name: [name] for name in X} | {"two": ["town", "size"]}
    names = {"classes": ["0", "1", "2"]} if task != "regression" else {}
    rows = ia.dataset(X, y.astype(str) if names else y, name="r", task=task, **names)
    rows = rows.with_groups({name: tuple(own) for name, own in groups.items()})
    return wrap(pipeline, name="m").for_rows(rows), rows


@pytest.mark.parametrize("kind", [*KEPT_APART, "classes"])
def test_trees_behind_steps_answer_for_predict(assert_as_by_predict, kind):
    if kind == "classes":
        forest = RandomForestClassifier(5, random_state=1)
        model, rows = data_for(lambda: make_pipeline(both(), forest), "multiclass")
    else:
        model, rows = data_for(KEPT_APART[kind])
    assert_as_by_predict(model, rows, n_repeats=3)


def test_curves_behind_steps_are_those_of_predict(calls):
    model, rows = data_for(KEPT_APART["one-hot"])
    for feature, basis in (("age", "means"), ("town", "identical")):
        given = []
        with routes.reporting_routes(given.append):
            _, ours = partial_dependence(model, rows, feature, seed=1)
        assert {route.basis for route in given} >= {basis}
        _, theirs = partial_dependence(by_predict(model), rows, feature, seed=1)
        assert ours == pytest.approx(theirs, rel=1e-12)
    assert not calls


def test_xgboost_reads_levels_as_codes_behind_no_steps(assert_as_by_predict):
    xgboost = pytest.importorskip("xgboost")
    X, y = table()
    options = {"n_estimators": 5, "tree_method": "hist", "enable_categorical": True}
    X = X.drop(columns="town").astype({"kind": "category"})
    X.loc[::7, "kind"] = np.nan
    model = xgboost.XGBRegressor(**options, n_jobs=1).fit(X, y)
    rows = ia.dataset(X, y, name="r", task="regression")
    assert_as_by_predict(wrap(model, name="m").for_rows(rows), rows)


@pytest.mark.slow
@pytest.mark.parametrize("sparse_threshold", [0, 1])
def test_what_a_sparse_matrix_leaves_out_is_missing_to_xgboost(
    assert_as_by_predict, sparse_threshold
):
    xgboost = pytest.importorskip("xgboost")
    model, rows = data_for(
        lambda: make_pipeline(
            both(sparse_threshold=sparse_threshold),
            xgboost.XGBRegressor(n_estimators=5, n_jobs=1),
        )
    )
    n_calls = 1 if sparse_threshold == 0 else 2 * len(rows.groups)
    assert_as_by_predict(model, rows, n_calls)


class OwnScaler(StandardScaler):
    """A class of the user, which may do anything."""


def given_another_transform():
    scaler = StandardScaler()
    scaler.transform = lambda X: np.cumsum(X, axis=1)
    return scaler


NUMERIC = make_column_transformer((filled(), NUMBERS))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (PCA(2), "PCA"),
        (PolynomialFeatures(2), "PolynomialFeatures"),
        (FunctionTransformer(np.cbrt), "FunctionTransformer"),
        (KBinsDiscretizer(3, encode="ordinal"), "KBinsDiscretizer"),
        (OwnScaler(), "OwnScaler"),
        (given_another_transform(), "StandardScaler"),
        (SimpleImputer(add_indicator=True), "SimpleImputer"),
        (make_pipeline(StandardScaler(), PCA(2)), "Pipeline"),
        (make_column_transformer((PCA(1), [0, 1])), "ColumnTransformer"),
    ],
)
def test_a_step_that_is_not_looked_through_leaves_predict_to_answer(
    assert_as_by_predict, step, kind
):
    model, rows = data_for(
        lambda: Pipeline([("n", NUMERIC), ("own", step), ("f", FOREST)])
    )
    assert trees_of(model, rows.X) == (
        f"Its step 'own' ({kind}) is not known to make each column of one column."
    )
    assert_as_by_predict(model, rows, 2 * len(rows.groups))


def test_a_target_that_is_transformed_is_left_to_predict():
    X, y = table()
    model = TransformedTargetRegressor(
        make_pipeline(both(), FOREST), func=np.cbrt, inverse_func=lambda z: z**3
    )
    assert not_of_trees(wrap(model.fit(X, y), name="m"))


def test_an_estimator_within_that_was_given_another_predict_is_left_to_it():
    X, y = table()
    forest = RandomForestRegressor(3)
    pipeline = make_pipeline(both(), forest).fit(X, y)
    forest.predict = lambda rows: np.zeros(rows.shape[0])
    model = wrap(pipeline, name="m")
    assert trees_of(model, X) == "Its estimator was given a predict of its own."


FAULTS = {
    "a step is forgotten": (
        "rows_given",
        lambda X, *, steps, **more: pipelines.rows_given(X, steps=steps[:1], **more),
    ),
    "columns are taken for others": (
        "features_after",
        lambda *a: pipelines.features_after(*a)[::-1],
    ),
    "a step mixes columns": ("features_after", lambda *_: ("town",) * 4),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_run_itself_sees_a_fault_and_no_number_changes(monkeypatch, calls, fault):
    kind = {"a step mixes columns": make_pipeline(both(), PCA(4), FOREST)}
    model, rows = data_for(
        lambda: kind.get(
            fault, make_pipeline(both(), StandardScaler(with_mean=False), FOREST)
        )
    )
    monkeypatch.setattr(fitted, *FAULTS[fault])
    given = []
    with reporting_routes(given.append):
        ours = permutation(model, rows, seed=1)
    assert len(calls) >= len(rows.groups)
    # Columns that a step does not keep apart are seen before trees are compared.
    basis = "differ" if fault == "a step is forgotten" else "unread"
    assert {route.basis for route in given} == {basis}
    assert same_bits(ours, permutation(by_predict(model), rows, seed=1))


def test_rows_that_a_step_refuses_are_refused_in_its_words():
    X, y = table()
    model = wrap(make_pipeline(both(), FOREST).fit(X, y), name="m")
    trees = trees_of(model, X)
    assert isinstance(trees, Trees)
    with pytest.raises(ia.ModelError, match=r"'columntransformer' .* says: "):
        trees.bins(X.assign(size="none"))
