"""A model fitted elsewhere is asked with the types its rows had.

What scikit-learn's own `permutation_importance` would measure is computed beside it:
the estimator is fed the rows as they are, permuted in the order that we drew.
"""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn import metrics
from sklearn.compose import make_column_transformer as of_columns
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
)
from tests.data.reading import configured
from tests.models.saved import saved

import importance_audit as ia
from importance_audit.auditing.audit import audit
from importance_audit.data.datasets import read_datasets
from importance_audit.methods.importance.permutation_draws import BASELINE, DRAWS

N = 120
VERSION = tuple(map(int, sklearn.__version__.split(".")[:2]))
OBJECTS = ["town", "kind"]


def frame(missing=None):
    """Return columns of every type that a frame of a user has."""
    random = np.random.default_rng(5)
    town = random.choice(["Bern", "Graz", "Ulm"], N).astype(object)
    kind = random.choice(["flat", "house"], N).astype(object)
    kind[random.random(N) < 0.2] = missing
    rooms = pd.array(random.integers(1, 6, N), dtype="Int64")
    rooms[random.random(N) < 0.2] = pd.NA
    new = pd.array(random.random(N) < 0.4, dtype="boolean")
    new[random.random(N) < 0.2] = pd.NA
    note = random.choice(["bright new", "old dark", "bright old", ""], N)
    return pd.DataFrame(
        {
            "town": town,
            "kind": kind,
            "rooms": rooms,
            "new": new,
            "note": pd.array(note, dtype="string"),
            "grade": pd.Categorical(random.choice([3, 1, 2], N), [3, 1, 2]),
            "size": random.normal(size=N).astype(np.float32),
            "year": random.integers(1900, 2020, N).astype(np.int16),
        }
    )


def target(X):
    """Return a number that every column has a part in."""
    effect = {"Bern": 2.0, "Graz": 0.5, "Ulm": -1.0}
    return (
        X["town"].map(effect).to_numpy()
        + 1.5 * (X["kind"] == "flat").to_numpy()
        + 0.4 * X["rooms"].fillna(0).to_numpy(dtype=float)
        + X["new"].fillna(False).to_numpy(dtype=float)
        + X["note"].str.contains("bright").to_numpy(dtype=float)
        + 0.7 * X["grade"].astype(int).to_numpy()
        + X["size"].to_numpy(dtype=float)
        + 0.01 * (X["year"].to_numpy() - 1950)
    )


def numbers(X):
    """Return nullable columns filled by pandas' own rules."""
    filled = X.assign(new=X["new"].fillna(False) & True, rooms=X["rooms"].fillna(0))
    return filled.astype(float).to_numpy()


ONE_HOT = OneHotEncoder(handle_unknown="ignore")  # sparse output by default
HIST = partial(HistGradientBoostingRegressor, max_iter=15, min_samples_leaf=5)


def categories_of_the_frame():
    mask = [True, False] if VERSION < (1, 4) else "from_dtype"
    return HIST(categorical_features=mask)


def piped(*steps):
    return make_pipeline(*steps, LinearRegression())


KNOWN = (OneHotEncoder(handle_unknown="error"), OBJECTS)
CODES = of_columns((OrdinalEncoder(), ["town", "grade"]), remainder="passthrough")
PIPELINES = {
    "one-hot of objects, sparse": (
        make_pipeline(of_columns((ONE_HOT, OBJECTS), sparse_threshold=1), Ridge()),
        OBJECTS,
    ),
    "one-hot that knows None": (
        make_pipeline(
            of_columns(KNOWN, ("passthrough", ["size"])),
            RandomForestRegressor(20, random_state=1),
        ),
        [*OBJECTS, "size"],
    ),
    "nullable numbers": (piped(FunctionTransformer(numbers)), ["rooms", "new"]),
    "ordinal codes": (make_pipeline(CODES, HIST()), ["size", "town", "grade", "year"]),
    "histogram boosting of categories": (categories_of_the_frame(), ["grade", "size"]),
    "narrow floats": (LinearRegression(), ["size"]),
}


def by_hand(estimator, X, y, seed, n_repeats, loss):
    """Return raw losses of an estimator that is fed permuted rows as they are."""
    raw = np.empty((X.shape[1], n_repeats))
    draws = DRAWS["numpy"](seed, tuple(X.columns), len(X), n_repeats, None)
    for draw in draws:
        if draw.what == BASELINE:
            continue
        permuted = X.copy()
        column = X.columns[draw.what]
        permuted[column] = X[column].iloc[draw.order].set_axis(X.index)
        raw[draw.what, draw.repeat] = loss(estimator, permuted, y)
    return raw


def rmse(estimator, X, y):
    return np.sqrt(metrics.mean_squared_error(y, estimator.predict(X)))


def one_minus_auc(estimator, X, y):
    return 1 - metrics.roc_auc_score(y, estimator.predict_proba(X)[:, 1])


QUESTION = {"importance": [{"method": "permutation", "n_repeats": 4}]}


def measured(model, rows):
    """Return the one record of an audit; what failed is said."""
    result = audit(None, rows, ia.parse_config(QUESTION), models=(model,))
    assert len(result.importances) == 1, result.findings
    return result.importances[0]


@pytest.mark.parametrize("name", PIPELINES)
def test_a_pipeline_is_measured_exactly_as_scikit_learn_measures_it(name):
    made, columns = PIPELINES[name]
    X, y = frame()[columns], target(frame())
    estimator = made.fit(X, y)
    model = ia.wrap(estimator, name="m", task="regression", features=columns)
    record = measured(model, ia.dataset(X, y, name="rows", task="regression"))
    expected = by_hand(estimator, X, y, record.seed, 4, rmse)
    assert record.raw == pytest.approx(expected, abs=1e-12)
    assert (record.raw != rmse(estimator, X, y)).any()


def test_a_classifier_of_texts_is_measured_as_scikit_learn_measures_it():
    y = np.where(target(frame()) > 3, "yes", "no")
    X = frame()[[*OBJECTS, "size"]]
    columns = of_columns((ONE_HOT, OBJECTS), remainder="passthrough")
    estimator = make_pipeline(columns, LogisticRegression()).fit(X, y)
    model = ia.wrap(estimator, name="m")
    rows = ia.dataset(X, y, name="rows", task="binary", classes=["no", "yes"])
    record = measured(model, rows)
    expected = by_hand(estimator, X, y, record.seed, 4, one_minus_auc)
    assert record.raw == pytest.approx(expected, abs=1e-12)


def test_a_model_of_an_array_of_texts_gets_an_array_of_texts():
    X, y = frame()[["town", "year"]], target(frame())
    given = X.to_numpy(dtype=object)
    encoder = of_columns((ONE_HOT, [0]), remainder="passthrough")
    estimator = make_pipeline(encoder, LinearRegression()).fit(given, y)
    model = ia.wrap(estimator, name="m", features=["x1", "x2"])
    rows = ia.dataset(given, y, name="rows", task="regression")
    assert rows.types["x1"].dtype == object
    asked = model.for_rows(rows).predict(rows.X)
    assert asked == pytest.approx(estimator.predict(given), rel=1e-12)


class Nosy(LinearRegression):
    """Remembers the type of what it was asked about."""

    def predict(self, X):
        self.seen_ = X.dtype
        return super().predict(X)


def test_a_model_of_a_narrow_array_gets_a_narrow_array():
    given = np.random.default_rng(1).normal(size=(N, 3)).astype(np.float32)
    estimator = Nosy().fit(given, given[:, 0])
    model = ia.wrap(estimator, name="m", features=["x1", "x2", "x3"])
    rows = ia.dataset(given, given[:, 0], name="rows", task="regression")
    model.for_rows(rows).predict(rows.X)
    assert estimator.seen_ == np.float32


@pytest.mark.parametrize("is_declared", [False, True])
def test_texts_of_a_csv_file_are_objects_unless_their_levels_are_declared(
    tmp_path, is_declared
):
    names = [*OBJECTS, "size"]
    X = frame(missing=np.nan)[names].astype({"size": float})
    X.assign(y=target(frame())).to_csv(tmp_path / "rows.csv", index=False)
    read = pd.read_csv(tmp_path / "rows.csv", float_precision="round_trip")
    columns = of_columns((ONE_HOT, OBJECTS), remainder="passthrough")
    estimator = make_pipeline(columns, LinearRegression()).fit(read[names], read["y"])
    levels = {"categories": {"town": ["Ulm", "Graz", "Bern"]}} if is_declared else {}
    asked = QUESTION | {"models": [saved(tmp_path, estimator)]}
    config = configured(tmp_path, {"file": "rows.csv"}, **levels, **asked)
    train, test = read_datasets(**config.data_arguments)
    assert set(train.types) == {"kind"} if is_declared else {"town", "kind"}
    (record,) = audit(train, test, config).importances
    expected = by_hand(estimator, read[names], read["y"], record.seed, 4, rmse)
    assert record.raw == pytest.approx(expected, abs=1e-12)


def test_every_column_returns_to_what_it_was():
    X = frame().assign(
        mixed=pd.Series([1, None] * (N // 2), dtype=object),
        flag=pd.Series([True, None] * (N // 2), dtype=object),
        real=pd.Series([1.5, None] * (N // 2), dtype="Float64"),
    )
    model, rows, seen = reader_of(X)
    model.predict(rows.X)
    pd.testing.assert_frame_equal(seen[0], X, check_column_type=True)
    for column in ("kind", "mixed", "flag"):
        kinds = [type(cell) for cell in X[column]]
        assert [type(cell) for cell in seen[0][column]] == kinds


def reader_of(X):
    """Return a model that keeps what it is given, as it is asked about rows."""
    seen = []

    def keep(given):
        seen.append(given)
        return np.zeros(len(given))

    rows = ia.dataset(X, np.arange(len(X)), name="rows", task="regression")
    model = ia.wrap(keep, name="m", task="regression", features=list(X))
    return model.for_rows(rows), rows, seen


def test_a_number_that_a_whole_column_cannot_hold_stays_a_number():
    X = pd.DataFrame({"rooms": pd.array([1, 2, None, 4], dtype="Int64")})
    model, _, seen = reader_of(X)
    model.predict(pd.DataFrame({"rooms": [1.5, 2.5]}))
    assert seen[0]["rooms"].tolist() == [1.5, 2.5]


def test_two_kinds_of_missing_values_are_not_made_one():
    X = pd.DataFrame({"town": ["Bern", None, np.nan, "Ulm"], "size": [1.0, 2, 3, 4]})
    rows = ia.dataset(X, [1.0, 2, 3, 4], name="rows", task="regression")
    reader = ia.wrap(len, name="m", task="regression", features=["town"])
    with pytest.raises(ia.DataError) as refusal:
        reader.for_rows(rows)
    assert str(refusal.value) == (
        "Column 'town' mixes the missing values None, nan, which model 'm' may tell "
        "apart. Make them one: column.where(column.notna(), None)"
    )
    other = ia.wrap(len, name="m", task="regression", features=["size"])
    assert other.for_rows(rows).features == ("size",)


def test_a_model_that_the_audit_fits_is_asked_as_it_was_fitted():
    X = frame()[["town", "size"]]
    rows = ia.dataset(X, target(frame()), name="rows", task="regression", split="train")
    question = QUESTION | {
        "models": [{"name": "m", "estimator": "sklearn.linear_model.LinearRegression"}]
    }
    result = audit(rows, rows, ia.parse_config(question))
    assert result.models["encoder"].tolist() == ["one_hot"]
    assert (result.importances[0].mean > 0).all()
