"""Arrays that estimators get instead of frames: the same predictions, bit by bit."""

import warnings
from dataclasses import replace
from types import MethodType

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import GradientBoostingRegressor, VotingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from tests.cases import for_each

from importance_audit.auditing.watch import Watch
from importance_audit.methods.effects import predictions_at
from importance_audit.methods.effects.partial_dependence import partial_dependence
from importance_audit.methods.importance import permuted_predictions
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.known_answers import normal_data
from importance_audit.models import plain_rows
from importance_audit.models.fit import fit, wrap
from importance_audit.models.plain_rows import PlainModel, plain_models
from importance_audit.models.section import ModelSection
from importance_audit.records.errors import ModelError
from importance_audit.records.execution import workers

NETWORK = {"hidden_layer_sizes": (4,), "solver": "lbfgs", "max_iter": 5}
REGRESSORS = {
    "line": LinearRegression(),
    "neighbours": KNeighborsRegressor(),
    "network": MLPRegressor(**NETWORK, random_state=1),
    "trees": GradientBoostingRegressor(n_estimators=3),
    "scaled": make_pipeline(StandardScaler(), Ridge()),
    "by place": make_pipeline(
        make_column_transformer((StandardScaler(), [1]), remainder="passthrough"),
        LinearRegression(),
    ),
    "of its target": TransformedTargetRegressor(Ridge(), transformer=StandardScaler()),
    "vote": VotingRegressor([("a", LinearRegression()), ("b", Ridge())]),
}
CLASSIFIERS = {
    "logistic": LogisticRegression(),
    "machine": SVC(probability=True, random_state=1),
    "network": MLPClassifier(**NETWORK, random_state=1),
    "normal": GaussianNB(),
}


def rows_of(task="regression", n_samples=130, **columns):
    """Return rows of numbers of several types, and a target of this task."""
    data = normal_data(2, 1, 0, n_samples=n_samples)
    whole = np.arange(n_samples) % 7
    X = data.X.assign(whole=whole, flag=whole > 3, **columns)
    y = data.y + data.X["x1"] ** 2
    classes = {"regression": (), "binary": ("no", "yes"), "multiclass": ("a", "b", "c")}
    if n_classes := len(classes[task]):
        y = np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)
    groups = {name: (name,) for name in X} | {"both": ("x2", "whole")}
    facts = {"classes": classes[task], "groups": groups}
    return replace(data, X=X, y=np.asarray(y), task=task, **facts)


def fitted(estimator, data):
    """Return a model fitted on the frame of these rows, which knows its names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of networks that stop early
        return wrap(estimator.fit(data.X, data.y), name="m", features=[*data.X])


def by_frames(ask, *arguments, **options):
    """Return what a function returns, every question asked of frames."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(permuted_predictions, "FEWEST", np.inf)
        patched.setattr(predictions_at, "FEWEST_CALLS", np.inf)
        return ask(*arguments, **options)


@pytest.fixture
def calls(monkeypatch):
    """Return the arrays that models are asked about, of small tables too."""
    made, predict = [], PlainModel.predict

    def noted(self, values):
        made.append(values.copy(order="K"))
        return predict(self, values)

    monkeypatch.setattr(PlainModel, "predict", noted)
    monkeypatch.setattr(permuted_predictions, "STACKED_BYTES", 0)
    monkeypatch.setattr(predictions_at, "FEWEST_CALLS", 2)
    monkeypatch.setattr(predictions_at, "MAX_BYTES", 130 * 29 * 4)
    monkeypatch.setattr(plain_rows, "FEWEST_BY_ROWS", 100)
    return made


def assert_same_bits(ours, theirs):
    for one, other in zip(ours, theirs, strict=True):
        assert one.dtype == other.dtype == float
        assert one.tobytes() == other.tobytes()


def assert_same_importances(model, data, **options):
    """Ask a model with warnings as errors, and compare it with its frames."""
    ours, theirs = [], []
    options |= {"seed": 1, "n_repeats": 2}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        numbers = permutation(model, data, **options, on_row_terms=ours.append)
    options["on_row_terms"] = theirs.append
    assert_same_bits(numbers, by_frames(permutation, model, data, **options))
    for one, other in zip(ours, theirs, strict=True):
        assert_same_bits(one.terms.values(), other.terms.values())


def assert_same_curve(model, data, feature, **options):
    options |= {"seed": 1}
    _, curve = partial_dependence(model, data, feature, **options)
    _, same = by_frames(partial_dependence, model, data, feature, **options)
    assert_same_bits([curve], [same])


@pytest.mark.parametrize("name", REGRESSORS)
def test_an_array_measures_the_importances_of_a_frame(name, calls):
    data = rows_of()
    assert_same_importances(fitted(REGRESSORS[name], data), data)
    assert len(calls) == 2 * len(data.groups)  # the first is compared


@pytest.mark.parametrize("task", ["binary", "multiclass"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_an_array_measures_those_of_probabilities_too(name, task, calls):
    data = rows_of(task)
    numbers = replace(data, X=data.X.drop(columns="flag"))
    groups = {name: (name,) for name in numbers.X} | {"both": ("x2", "whole")}
    assert_same_importances(
        fitted(CLASSIFIERS[name], numbers), numbers.with_groups(groups)
    )
    assert len(calls) == 10


@pytest.mark.parametrize("encoder", ["ordinal", "one_hot", "one_hot_full"])
def test_all_columns_made_of_a_category_move_together(encoder, calls):
    level = pd.Categorical(np.array(list("uvw"))[np.arange(130) % 3])
    data = rows_of(level=level)
    data = data.with_groups({**data.groups, "level": ("level",), "x": ("level", "x1")})
    linear = "sklearn.linear_model.LinearRegression"
    model = fit(ModelSection(name="m", estimator=linear, encoder=encoder), data)
    assert_same_importances(model, data)
    n_columns = {"ordinal": 1, "one_hot": 2, "one_hot_full": 3}[encoder]
    assert {values.shape for values in calls} == {(130, 5 + n_columns)}


def test_rows_that_are_drawn_anew_are_read_anew(calls):
    data = rows_of(n_samples=200)
    data = replace(data, weights=np.arange(1.0, 201))
    groups = {f"{name}, {k}": (name,) for name in data.X for k in range(2)}
    model = fitted(LinearRegression(), data)
    assert_same_importances(model, data.with_groups(groups), n_rows=120)
    assert len(calls) == 20
    assert_same_importances(model, data.with_groups(groups), perturbation="resample")


def test_threads_have_arrays_of_their_own(calls):
    data = rows_of()
    model = fitted(LinearRegression(), data)
    with workers(3, "threads"):
        assert_same_importances(model, data)
    assert calls


def test_a_network_gets_its_rows_side_by_side(calls):
    data = rows_of()
    assert_same_importances(fitted(REGRESSORS["network"], data), data)
    assert {values.flags.c_contiguous for values in calls} == {True}
    calls.clear()
    assert_same_importances(fitted(REGRESSORS["line"], data), data)
    assert {values.flags.f_contiguous for values in calls} == {True}


@pytest.mark.parametrize("name", ["line", "network", "scaled"])
@pytest.mark.parametrize("feature", ["x1", "whole", "flag"])
def test_an_array_gives_the_curves_of_a_frame(name, feature, calls):
    data = rows_of()
    model, bands = fitted(REGRESSORS[name], data), []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        options = {"seed": 1, "on_band": lambda *ends: bands.append(ends)}
        _, curve = partial_dependence(model, data, feature, **options)
    _, same = by_frames(partial_dependence, model, data, feature, **options)
    assert_same_bits((curve, *bands[0]), (same, *bands[1]))
    assert calls or feature == "flag"  # of two points, which are one call
    assert {len(values) for values in calls} <= {3 * 130, 2 * 130, 130}


def test_a_category_is_set_in_all_its_columns(calls):
    level = pd.Categorical(np.array(list("uvwxyz"))[np.arange(130) % 6])
    data = rows_of(level=level)
    linear = "sklearn.linear_model.LinearRegression"
    model = fit(ModelSection(name="m", estimator=linear, encoder="one_hot"), data)
    assert_same_curve(model, data, "level")
    assert calls


def test_a_point_between_whole_numbers_is_set_among_them(calls):
    data = rows_of()
    whole = data.X[["whole"]].assign(other=np.arange(130) % 5)
    data = replace(data, X=whole, groups={name: (name,) for name in whole})
    model = fitted(LinearRegression(), data)
    assert_same_curve(model, data, "whole", grid=(*range(12), 2.5))
    assert calls == []
    assert_same_curve(model, data, "whole", grid=(*range(12),))
    assert {values.dtype for values in calls} == {np.dtype(int)}


class Renamed(TransformerMixin, BaseEstimator):
    """A step of a user, that looks at the names."""

    def fit(self, *_):
        return self

    def transform(self, X):
        return X.to_numpy() * [len(name) for name in X]


class OwnLine(LinearRegression):
    """An estimator of a user."""


def of_names(X):
    return X[["x1", "x2"]]


def squared(self, X):
    return type(self).predict(self, X) ** 2


FRAMES_ONLY = {
    "a step of a user": make_pipeline(Renamed(), LinearRegression()),
    "a function of a user": make_pipeline(
        FunctionTransformer(of_names), LinearRegression()
    ),
    "an estimator of a user": OwnLine(),
    "a distance of a user": KNeighborsRegressor(metric=lambda a, b: abs(a - b).sum()),
    "steps that hand on frames": make_pipeline(
        StandardScaler(), LinearRegression()
    ).set_output(transform="pandas"),
}


@for_each(FRAMES_ONLY)
def test_what_may_look_at_names_gets_frames(name):
    model = fitted(FRAMES_ONLY[name], rows_of())
    assert list(plain_models(model, 1000)) == []


def test_a_function_gets_frames():
    model = fitted(LinearRegression(), rows_of())
    function = replace(model, predict=lambda X: model.predict(X))
    assert list(plain_models(function, 1000)) == []


def test_steps_that_are_set_to_hand_on_frames_get_frames():
    model = fitted(LinearRegression(), rows_of())
    with config_context(transform_output="pandas"):
        assert list(plain_models(model, 1000)) == []
    assert len(list(plain_models(model, 1000))) == 1


def test_a_predict_given_to_a_part_gets_frames():
    data = rows_of()
    pipeline = make_pipeline(StandardScaler(), LinearRegression())
    model = fitted(pipeline, data)
    assert list(plain_models(model, 1000))
    line = pipeline[-1]
    vars(line)["predict"] = MethodType(squared, line)
    assert list(plain_models(model, 1000)) == []


def test_columns_chosen_by_name_are_asked_of_a_frame(calls):
    level = pd.Categorical(np.array(list("uvw"))[np.arange(130) % 3])
    data = rows_of(level=level)
    columns = make_column_transformer(
        (OneHotEncoder(), ["level"]), (StandardScaler(), ["x1", "x2"])
    )
    model = fitted(make_pipeline(columns, Ridge()), data)
    assert_same_importances(model, data)
    assert calls == []  # a category is no number
    columns = make_column_transformer((StandardScaler(), ["x1", "x2"]))
    numbers = rows_of()
    assert_same_importances(fitted(make_pipeline(columns, Ridge()), numbers), numbers)
    assert len(calls) == 1  # which fails


def test_a_few_rows_or_draws_are_asked_as_frames(calls):
    data = rows_of(n_samples=90)
    assert_same_importances(fitted(LinearRegression(), data), data)
    data = rows_of().with_groups({"x1": ("x1",)})
    assert_same_importances(fitted(LinearRegression(), data), data)
    assert calls == []


@pytest.mark.parametrize("wrong", ["another bit", "nothing"])
def test_another_answer_to_an_array_is_not_used(wrong, monkeypatch, calls):
    data, predict = rows_of(), PlainModel.predict

    def inexact(self, values):
        if wrong == "nothing":
            predict(self, values)
            raise ModelError("no")
        return np.nextafter(predict(self, values), np.inf)

    monkeypatch.setattr(PlainModel, "predict", inexact)
    model = fitted(LinearRegression(), data)
    assert_same_importances(model, data)
    assert len(calls) == 1
    calls.clear()
    assert_same_curve(model, data, "x1")
    assert len(calls) == 1


def test_an_array_without_an_answer_is_asked_as_a_frame(monkeypatch, calls):
    data, predict = rows_of(), PlainModel.predict

    def sometimes(self, values):
        if len(calls) % 3 == 2:
            calls.append(None)
            raise ModelError("no")
        return predict(self, values)

    monkeypatch.setattr(PlainModel, "predict", sometimes)
    model = fitted(LinearRegression(), data)
    assert_same_importances(model, data)
    assert len(calls) == 12
    assert_same_curve(model, data, "x1")


def test_steps_that_overwrite_their_input_leave_the_rows_as_they_are(calls):
    data = rows_of()
    before = data.X.copy()
    scaler = StandardScaler(copy=False)
    model = fitted(make_pipeline(scaler, LinearRegression()), replace(data, X=before))
    assert_same_importances(model, data)
    # What cannot be written is refused, and since scikit-learn 1.6 copied.
    assert len(calls) in (1, 2 * len(data.groups))
    pd.testing.assert_frame_equal(data.X, rows_of().X)


def test_an_estimator_keeps_its_names(calls):
    data = rows_of()
    pipeline = make_pipeline(StandardScaler(), LinearRegression())
    assert_same_importances(fitted(pipeline, data), data)
    assert calls
    assert list(pipeline.feature_names_in_) == list(data.X)
    assert list(pipeline[0].feature_names_in_) == list(data.X)


def test_an_estimator_fitted_again_is_asked_anew(calls):
    data = rows_of()
    line = LinearRegression()
    model = fitted(line, data)
    permutation(model, data, seed=1)
    line.fit(data.X, -data.y)
    assert_same_importances(model, data)
    assert calls


def test_every_array_is_watched():
    data, events = rows_of(), []
    asked = Watch(lambda: events.append("asked"), lambda *call: events.append(call[:2]))
    model = asked.watched(fitted(LinearRegression(), data))
    permutation(model, data, seed=1, n_repeats=2)
    n_calls = 1 + 2 * len(data.groups) + 1  # one is compared
    assert events == ["asked", ("m", 130)] * n_calls


def test_predictions_of_arrays_are_checked():
    data = rows_of()
    line = LinearRegression()
    model = fitted(line, data)
    (plain,) = plain_models(model, len(data.X))
    values = plain.read(data.X)
    assert_same_bits([plain.predict(values)], [model.predict(data.X)])
    values[3, 0] = np.finfo(float).max
    line.coef_[0] = 10.0
    (plain,) = plain_models(model, len(data.X))
    with np.errstate(over="ignore"), pytest.raises(ModelError) as refusal:
        plain.predict(values)
    assert str(refusal.value) == (
        "Model 'm' must predict finite numbers; 1 of the 130 that LinearRegression "
        "returned are NaN or infinite."
    )


def test_the_rows_are_not_those_of_the_array():
    data = rows_of()
    for X in (data.X, data.X[["x1", "x2"]]):
        for estimator, rows in ((LinearRegression(), X), (Ridge(), X.to_numpy())):
            y = data.y
            model = wrap(estimator.fit(rows, y), name="m", features=list(X))
            (plain,) = plain_models(model, len(X))
            values = plain.read(X)
            before = X.copy()
            values[:] = 7
            pd.testing.assert_frame_equal(X, before)
