"""A refit on fewer columns is the fit by hand with every reference moved."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import (
    ColumnTransformer,
    TransformedTargetRegressor,
)
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingRegressor, VotingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)
from tests.methods.importance.toys import refused, rows_of

from importance_audit.models.column_references import move_references
from importance_audit.models.fit import fit, wrap
from importance_audit.models.section import ModelSection

COLUMNS = ("a", "k", "t", "u")
KEPT = (("k", "t", "u"), ("a", "t", "u"), ("k", "u"), ("t",), COLUMNS)


def rows():
    """Return numbers of which `k` and `u` are codes without an order."""
    rng = np.random.default_rng(0)
    n, effect = 240, rng.normal(size=6)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "k": rng.integers(0, 6, n).astype(float),
            "t": rng.normal(size=n),
            "u": rng.integers(0, 3, n).astype(float),
        }
    )
    y = (
        X.a
        + 2 * effect[X.k.astype(int)]
        - 0.5 * X.t
        + (X.u == 1)
        + 0.1 * rng.normal(size=n)
    )
    return rows_of(X, y)


def boosting(**parameters):
    return HistGradientBoostingRegressor(
        max_iter=8, min_samples_leaf=5, random_state=0, **parameters
    )


def places(columns, *names):
    return [columns.index(name) for name in names if name in columns]


def mask(columns, *names):
    return np.array([name in names for name in columns])


def values(columns, **own):
    return [own.get(name, 0) for name in columns]


def one_hot(chosen, **others):
    encoder = OneHotEncoder(handle_unknown="ignore")
    parts = ColumnTransformer([("levels", encoder, chosen)], remainder="passthrough")
    return make_pipeline(parts, LinearRegression(**others))


def in_levels(columns):
    """Return an encoder of `k` and `u`, each with levels of its own."""
    orders = {"k": [0, 1, 2, 3, 4, 5], "u": [0, 1, 2]}
    chosen = [name for name in ("k", "u") if name in columns]
    encoder = OrdinalEncoder(categories=[orders[name] for name in chosen])
    parts = [("levels", encoder, chosen)] if chosen else []
    return make_pipeline(
        ColumnTransformer(parts, remainder="passthrough"), LinearRegression()
    )


MADE_FOR = {
    "places": lambda c: boosting(categorical_features=places(c, "k", "u")),
    "a mask": lambda c: boosting(categorical_features=mask(c, "k", "u")),
    "names": lambda c: boosting(categorical_features=[n for n in "ku" if n in c]),
    "signs": lambda c: boosting(monotonic_cst=values(c, a=-1, t=1)),
    "signs by name": lambda c: boosting(
        monotonic_cst={n: s for n, s in {"a": -1, "t": 1}.items() if n in c}
    ),
    "transformed places": lambda c: one_hot(places(c, "k", "u")),
    "a transformed mask": lambda c: one_hot(mask(c, "k", "u")),
    "orders of levels": in_levels,
    "after a step column by column": lambda c: make_pipeline(
        StandardScaler(), boosting(monotonic_cst=values(c, a=-1, t=1))
    ),
    "within others": lambda c: TransformedTargetRegressor(
        VotingRegressor(
            [
                ("trees", boosting(categorical_features=places(c, "k"))),
                ("line", one_hot(places(c, "u"))),
            ]
        ),
        transformer=StandardScaler(),
    ),
}


@pytest.mark.parametrize("kept", KEPT, ids="".join)
@pytest.mark.parametrize("name", MADE_FOR)
def test_a_refit_on_fewer_columns_is_the_fit_by_hand_with_the_references_moved(
    name, kept
):
    data = rows()
    fitted = MADE_FOR[name](COLUMNS).fit(data.X, data.y)
    model = wrap(fitted, name="m").with_facts(train=data)
    by_hand = MADE_FOR[name](kept).fit(data.X[list(kept)], data.y)
    again = model.refit(kept)
    expected = by_hand.predict(data.X[list(kept)])
    assert again.predict(data.X) == pytest.approx(expected, rel=1e-9)
    # Another fit of the refit speaks of its columns, not of the first ones.
    other = again.with_facts(train=data.part(kept)).refit(kept[-1:])
    by_hand = MADE_FOR[name](kept[-1:]).fit(data.X[[kept[-1]]], data.y)
    expected = by_hand.predict(data.X[[kept[-1]]])
    assert other.predict(data.X) == pytest.approx(expected, rel=1e-9)


def test_a_refit_of_a_configured_estimator_moves_its_references():
    data = rows()
    parameters = {"categorical_features": [1, 3], "max_iter": 8, "random_state": 0}
    estimator = "sklearn.ensemble.HistGradientBoostingRegressor"
    model = fit(
        ModelSection(name="m", estimator=estimator, parameters=parameters), data
    )
    kept = ["k", "t"]
    by_hand = HistGradientBoostingRegressor(
        categorical_features=[0], max_iter=8, random_state=0
    ).fit(data.X[kept].to_numpy(), data.y)
    for again in (model.refit(kept), model.refit(["k", "t", "u"])):
        again = again.with_facts(train=data).refit(kept)
        expected = by_hand.predict(data.X[kept].to_numpy())
        assert again.predict(data.X) == pytest.approx(expected, rel=1e-9)


def test_a_level_that_a_refit_lacks_moves_references_to_one_hot_columns():
    levels = pd.Categorical(["p", "q", "r", "s"] * 30)
    x = np.linspace(-1, 1, 120)
    data = rows_of(pd.DataFrame({"c": levels, "x": x}), x**3)
    section = ModelSection(
        name="m",
        estimator="sklearn.ensemble.HistGradientBoostingRegressor",
        parameters={"monotonic_cst": [0, 0, 0, -1], "max_iter": 5},  # q, r, s, x
        encoder="one_hot",
    )
    kept = np.flatnonzero(levels != "r")
    again = fit(section, data).refit(("c", "x"), kept)
    assert again.estimator.monotonic_cst == [0, 0, -1]
    of_each_level = pd.Series(again.predict(data.X.iloc[kept])).groupby(levels[kept])
    assert of_each_level.std().max() < 1e-12  # x may only lower what it raises


@pytest.mark.parametrize(
    ("given", "kept", "moved"),
    [
        ({"monotone_constraints": (0, 0, 1, 0)}, ("t",), (1,)),
        ({"monotone_constraints": {"a": 1, "t": -1}}, ("t", "u"), {"t": -1}),
    ],
)
def test_constraints_of_xgboost_follow_their_columns(given, kept, moved):
    xgboost = pytest.importorskip("xgboost")
    data = rows()

    def booster(**parameters):
        return xgboost.XGBRegressor(n_estimators=6, max_depth=3, **parameters)

    fitted = booster(**given).fit(data.X, data.y)
    again = wrap(fitted, name="m").with_facts(train=data).refit(kept)
    (parameter,) = given
    assert getattr(again.estimator, parameter) == moved
    by_hand = booster(**{parameter: moved}).fit(data.X[list(kept)], data.y)
    assert again.predict(data.X) == pytest.approx(by_hand.predict(data.X[list(kept)]))


MADE_BY_A_STEP = {
    "categorical_features": lambda: make_pipeline(
        ColumnTransformer([("k", OrdinalEncoder(), ["k"])], remainder="passthrough"),
        boosting(categorical_features=[0]),
    ),
    "monotonic_cst": lambda: make_pipeline(PCA(2), boosting(monotonic_cst=[0, 1])),
    "transformers": lambda: make_pipeline(
        PCA(2),
        ColumnTransformer([("p", StandardScaler(), [0])]),
        LinearRegression(),
    ),
    "interaction_cst": lambda: boosting(interaction_cst=[{1}]),
    "a slice": lambda: one_hot(slice(1, None)),
}


@pytest.mark.parametrize("parameter", MADE_BY_A_STEP)
def test_references_that_cannot_be_moved_are_refused(parameter):
    data = rows()
    estimator = MADE_BY_A_STEP[parameter]()
    model = wrap(estimator.fit(data.X, data.y), name="m").with_facts(train=data)
    part = type(getattr(estimator, "steps", [("", estimator)])[-1][1]).__name__
    if parameter in ("transformers", "a slice"):
        part, parameter = "ColumnTransformer", "transformers"
    assert refused(model.refit, ("a", "t", "u")) == (
        f"{part} refers to columns by {parameter} in a way that cannot be carried over "
        "to a fit on other columns. Refer to the model's own columns, by name or by "
        "place, or use a method that fits no model again."
    )
    expected = model.predict(data.X)  # all columns, other rows: nothing has moved
    assert model.refit(COLUMNS).predict(data.X) == pytest.approx(expected)


def test_a_search_over_references_is_refused_and_over_numbers_is_not():
    data = rows()

    def fitted(**grid):
        search = GridSearchCV(boosting(), grid, cv=2).fit(data.X, data.y)
        return wrap(search, name="m").with_facts(train=data)

    fitted(max_leaf_nodes=[3, 5]).refit(("a", "t"))
    searched = fitted(categorical_features=[[1], [3]])
    assert "refers to columns by categorical_features" in refused(
        searched.refit, ("a", "t")
    )


SEARCHED_BY_PLACE = {
    "an estimator": ("line", [boosting(categorical_features=[1])]),
    "transformers": ("p", [ColumnTransformer([("s", StandardScaler(), [0, 1])])]),
    "a list of them": ("p__transformers", [[("s", StandardScaler(), [0, 1])]]),
    "a mask": ("p__transformers", ([("s", StandardScaler(), [True, False] * 2)],)),
    "within a pipeline": ("steps", [[("only", boosting(monotonic_cst=[1, 0, 0, 0]))]]),
}


@pytest.mark.parametrize("name", SEARCHED_BY_PLACE)
@pytest.mark.parametrize("form", [dict, lambda grid: [{}, dict(grid)]])
def test_a_search_over_parts_that_refer_by_place_is_refused(name, form):
    key, candidates = SEARCHED_BY_PLACE[name]
    data = rows()
    steps = [("p", ColumnTransformer([("s", StandardScaler(), ["a", "k"])]))]
    pipeline = Pipeline([*steps, ("line", LinearRegression())])
    if key == "line":
        pipeline.set_params(p=MaxAbsScaler())
    search = GridSearchCV(pipeline, form([(key, candidates)]), cv=2)
    model = wrap(search.fit(data.X, data.y), name="m").with_facts(train=data)
    assert "in a way that cannot be carried over" in refused(model.refit, ("k", "a"))


def test_a_search_over_parts_that_refer_by_name_is_the_search_by_hand():
    data = rows()
    steps = [("p", ColumnTransformer([("s", StandardScaler(), ["k", "t"])]))]
    grid = {
        "p__transformers": [[("s", StandardScaler(), ["k"])]],
        "line": [LinearRegression(), boosting()],
    }
    pipeline = Pipeline([*steps, ("line", LinearRegression())])
    search = GridSearchCV(pipeline, grid, cv=2).fit(data.X, data.y)
    again = wrap(search, name="m").with_facts(train=data).refit(("k", "t"))
    by_hand = boosting().fit(data.X[["k"]], data.y)
    assert again.predict(data.X) == pytest.approx(by_hand.predict(data.X[["k"]]))


def names_of_codes(frame):
    return [name for name in frame if name in "ku"]


@pytest.mark.parametrize(
    "choose",
    [
        lambda _: [0, 1],
        lambda frame: [True, False, *[False] * (frame.shape[1] - 2)],
    ],
)
def test_a_function_that_chooses_columns_by_place_is_refused(choose):
    data = rows()
    model = wrap(one_hot(choose).fit(data.X, data.y), name="m")
    message = refused(model.with_facts(train=data).refit, ("k", "t", "u"))
    assert message.startswith("ColumnTransformer refers to columns by transformers")


def test_a_function_that_chooses_columns_by_name_chooses_anew():
    data = rows()
    model = wrap(one_hot(names_of_codes).fit(data.X, data.y), name="m")
    kept = ["a", "u"]
    again = model.with_facts(train=data).refit(kept)
    by_hand = one_hot(["u"]).fit(data.X[kept], data.y)
    assert again.predict(data.X) == pytest.approx(by_hand.predict(data.X[kept]))
    pickle.loads(pickle.dumps(again.estimator))


def test_other_parameters_are_left_as_they_are():
    given = {"a": [(3,), [4, 5], None], "b": {"c": 1}, "d": np.arange(4), "e": None}

    class Odd(LinearRegression):
        def __init__(self, a=None, b=None, d=None, e=None):
            super().__init__()
            self.a, self.b, self.d, self.e = a, b, d, e

    odd = Odd(**given)
    move_references(odd, COLUMNS, COLUMNS[1:])
    assert all(getattr(odd, name) is value for name, value in given.items())
