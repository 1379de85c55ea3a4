"""Models: encoders beside scikit-learn by hand, classes, files, refusals."""

import json
import pickle
import sys
import warnings
from dataclasses import replace
from functools import partial
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.data.reading import configured
from tests.models.saved import saved, trusted

from importance_audit.auditing.audit import audit
from importance_audit.data.datasets import read_datasets
from importance_audit.models import r_models
from importance_audit.models.fit import fit, fit_models, load, wrap
from importance_audit.models.model_table import models_frame
from importance_audit.models.section import ModelSection
from importance_audit.records.dataset_and_model import Dataset
from importance_audit.records.errors import (
    AuditError,
    DataError,
    ModelError,
    NotApplicable,
)

LEVELS = ["low", "mid", "high"]
LINEAR = "sklearn.linear_model.LinearRegression"
LOGISTIC = "sklearn.linear_model.LogisticRegression"
FOREST = "sklearn.ensemble.RandomForestRegressor"
BOOSTING = "sklearn.ensemble.GradientBoostingRegressor"
NEIGHBOURS = "sklearn.neighbors.KNeighborsRegressor"
HISTOGRAM = "sklearn.ensemble.HistGradientBoostingRegressor"


def table(n_samples=90):
    """Return a number, a count and a category."""
    generator = np.random.default_rng(1)
    size = generator.normal(size=n_samples)
    grade = pd.Categorical(generator.choice(LEVELS, n_samples), categories=LEVELS)
    count = generator.integers(0, 5, n_samples)
    return pd.DataFrame({"size": size, "grade": grade, "count": count})


def rows(X=None, y=None, **facts):
    """Return rows whose target depends on all three columns."""
    X = table() if X is None else X
    if y is None:
        grade = X["grade"].cat.codes.to_numpy() if "grade" in X else 0
        y = X["size"].to_numpy() + 2 * (grade == 1) + 0.3 * X["count"].to_numpy() ** 2
    usual = {"name": "rows", "task": "regression", "split": "train", "target": "y"}
    usual |= {"groups": {name: (name,) for name in X}, "sha256": "d" * 64}
    usual |= {"weights": np.ones(len(X))}
    return Dataset(X=X, y=np.asarray(y), **usual | facts)


def binary_rows(classes=("no", "yes")):
    """Return rows of two classes, 1 the positive one."""
    X = table()
    return rows(X, (X["size"] > 0).astype(float), task="binary", classes=classes)


def multiclass_rows():
    """Return rows of three classes, named against the alphabet."""
    X = table()
    codes = np.digitize(X["size"], [-0.5, 0.5])
    return rows(X, codes, task="multiclass", classes=("zero", "one", "two"))


def section(estimator=LINEAR, **facts):
    """Return a section of the configuration."""
    return ModelSection(**{"name": "m", "estimator": estimator, **facts})


def refused(call, *arguments, **options):
    """Return the class and the sentence with which a call is refused."""
    with pytest.raises(AuditError) as refusal:
        call(*arguments, **options)
    return type(refusal.value), str(refusal.value)


@pytest.mark.parametrize(
    ("estimator", "encoder", "own", "encoded"),
    [
        (FOREST, OrdinalEncoder(categories=[LEVELS]), RandomForestRegressor, 1),
        (LINEAR, OneHotEncoder(categories=[LEVELS], drop="first"), LinearRegression, 2),
    ],
)
def test_forests_see_positions_and_linear_models_a_column_per_level_but_the_first(
    estimator, encoder, own, encoded
):
    data = rows()
    draws = {"n_estimators": 5, "random_state": 1} if estimator == FOREST else {}
    by_hand = make_pipeline(
        make_column_transformer(
            ("passthrough", ["size"]), (encoder, ["grade"]), ("passthrough", ["count"])
        ),
        own(**draws),
    ).fit(data.X, data.y)
    model = fit(section(estimator, parameters=draws), data)
    assert model.predict(data.X) == pytest.approx(by_hand.predict(data.X), rel=1e-9)
    assert model.encoder == ("ordinal" if estimator == FOREST else "one_hot")
    assert model.encoded == ("size", *["grade"] * encoded, "count")


def test_the_first_level_met_is_the_reference():
    data = rows()
    declared = data.X["grade"].cat.set_categories(["none", *LEVELS])
    more = replace(data, X=data.X.assign(grade=declared))
    assert fit(section(), more).estimator.coef_.tolist() == pytest.approx(
        fit(section(), data).estimator.coef_.tolist(), rel=1e-9
    )


@pytest.fixture
def library_of_tests(monkeypatch):
    """Return a module that can be imported."""
    module = ModuleType("library")
    monkeypatch.setitem(sys.modules, "library", module)
    return module


def test_auto_is_ordinal_for_trees_and_one_hot_for_everything_else(library_of_tests):
    tree = {"__module__": "xgboost.sklearn"}
    library_of_tests.OfXGBoost = type("Tree", (LinearRegression,), tree)
    library_of_tests.Own = type("Tree", (DecisionTreeRegressor,), {"__module__": "own"})
    for estimator, encoder in {
        "sklearn.tree.DecisionTreeRegressor": "ordinal",
        "sklearn.ensemble.AdaBoostRegressor": "ordinal",
        "library.OfXGBoost": "ordinal",
        "library.Own": "ordinal",
        "sklearn.svm.SVR": "one_hot",
    }.items():
        assert fit(section(estimator), rows()).encoder == encoder, estimator


def test_numbers_alone_need_no_encoder():
    data = numbers()
    model = fit(section(), data)
    by_hand = LinearRegression().fit(data.X.to_numpy(), data.y)
    expected = by_hand.predict(data.X.to_numpy())
    assert model.encoder == "none"
    assert model.predict(data.X) == pytest.approx(expected, rel=1e-12)


def test_an_encoder_that_is_named_is_used():
    assert fit(section(encoder="ordinal"), rows()).encoded == ("size", "grade", "count")
    assert len(fit(section(FOREST, encoder="one_hot"), rows()).encoded) == 4
    assert len(fit(section(FOREST, encoder="one_hot_full"), rows()).encoded) == 5


def test_one_hot_full_exchanges_all_indicators_of_a_column_together():
    data = rows()
    model = fit(section(FOREST, encoder="one_hot_full"), data)
    at = np.random.default_rng(4).permutation(data.n_samples)
    exchanged = data.X.assign(grade=data.X["grade"].array[at])
    grades = np.column_stack([data.X["grade"] == level for level in LEVELS])[at]
    by_hand = np.column_stack([data.X["size"], grades, data.X["count"]])
    own = model.estimator.predict(by_hand)
    assert model.predict(exchanged) == pytest.approx(own, rel=1e-12)
    assert not np.allclose(own, model.predict(data.X))


class Naming(LinearRegression):
    """Reads columns of a frame by name."""

    def fit(self, X, y):
        self.shift_ = y.mean() + 0 * X["size"].mean()
        return self

    def predict(self, X):
        return X["grade"].cat.codes + X["size"]


def test_without_an_encoder_the_estimator_gets_the_frame(library_of_tests):
    library_of_tests.Naming = Naming
    model = fit(section("library.Naming", encoder="none"), rows())
    X = table()
    truth = X["grade"].cat.codes + X["size"]
    assert model.predict(X).tolist() == truth.tolist()


@pytest.mark.parametrize("estimator", [LINEAR, BOOSTING])
def test_columns_are_found_by_name_and_levels_in_any_order(estimator):
    data = rows()
    model = fit(section(estimator), data)
    turned = data.X[["count", "size", "grade"]]
    levels = data.X["grade"].cat.reorder_categories(LEVELS[::-1])
    for other in (turned, turned.assign(more="text"), data.X.assign(grade=levels)):
        assert model.predict(other).tolist() == model.predict(data.X).tolist()


@pytest.mark.parametrize("estimator", [LINEAR, BOOSTING])
def test_a_level_not_met_in_training_is_refused(estimator):
    data = rows()
    declared = data.X["grade"].cat.set_categories([*LEVELS, "top"])
    new = data.X.assign(grade=declared.where(data.X.index > 0, "top"))
    message = (
        "Column 'grade' holds 'top', which model 'm' did not see in training; it "
        "knows 'low', 'mid', 'high'. Train on rows that have it, or leave it out of "
        "the column's levels."
    )
    for X in (data.X, data.X.assign(grade=declared)):
        model = fit(section(estimator), replace(data, X=X))
        assert refused(model.predict, new) == (DataError, message)


def with_a_gap(column):
    """Return rows of which two lack a value."""
    data = rows()
    return replace(
        data, X=data.X.assign(**{column: data.X[column].where(data.X.index > 1)})
    )


@pytest.mark.parametrize("column", ["size", "grade"])
def test_missing_values_are_passed_on_to_what_takes_them(column):
    data = with_a_gap(column)
    model = fit(section(HISTOGRAM, parameters={"max_iter": 2}), data)
    assert model.encoder == "ordinal"
    encoded = data.X.assign(grade=data.X["grade"].cat.codes.replace(-1, np.nan))
    by_hand = model.estimator.predict(encoded.to_numpy(dtype=float))
    assert model.predict(data.X).tolist() == by_hand.tolist()


@pytest.mark.parametrize(
    ("estimator", "column", "kind"),
    [
        (LINEAR, "size", "LinearRegression"),
        (BOOSTING, "size", "GradientBoostingRegressor"),
        (BOOSTING, "grade", "GradientBoostingRegressor"),
    ],
)
def test_missing_values_are_refused_by_what_takes_none(estimator, column, kind):
    says = (
        rf"{kind} says: ValueError: .*\. Missing in these rows: 2 cells of '{column}'"
    )
    with pytest.raises(ModelError, match=f"cannot predict the rows; {says}"):
        fit(section(estimator), rows()).predict(with_a_gap(column).X)
    with pytest.raises(ModelError, match=rf"fit the training rows; {says}.*\[models"):
        fit(section(estimator), with_a_gap(column))


def test_a_missing_level_has_no_place_among_indicators():
    X, model = table(), fit(section(), rows())
    for n, words in ((1, "1 missing value"), (2, "2 missing values")):
        gap = X.assign(grade=X["grade"].where(X.index >= n))
        with pytest.raises(DataError, match=f"'grade' has {words}, for which the"):
            model.predict(gap)


def failing(error):
    """Return a model whose function raises an error, as it is."""

    def broken(_):
        raise error

    features = [f"x{k}" for k in range(8)]
    return wrap(broken, name="m", task="regression", features=features)


ONE_CELL = "Missing in these rows: 1 cell of "


@pytest.mark.parametrize(
    ("error", "n_columns", "words"),
    [
        (ValueError("no rate\nfor 2 rows"), 0, "ValueError: no rate for 2 rows"),
        (TypeError, 0, "TypeError"),
        # That a word is missing has another cause: the function fills what is missing.
        (KeyError("missing"), 1, f"KeyError: 'missing'. {ONE_CELL}'x0'."),
        (ValueError("NaN"), 8, f"ValueError: NaN. {ONE_CELL}'x0', "),
    ],
)
def test_a_function_that_fails_is_told_in_its_own_words_and_with_what_is_missing(
    error, n_columns, words
):
    X = pd.DataFrame({f"x{k}": [np.nan if k < n_columns else 2.0] for k in range(8)})
    kind, said = refused(failing(error).predict, X)
    start = "Model 'm' cannot predict the rows; its function says: "
    assert kind is ModelError
    assert said.startswith(f"{start}{words}")
    assert said.endswith("and 3 more.") == (n_columns > 5)
    assert (said == f"{start}{words}") == (n_columns < 5)


@pytest.mark.parametrize("classes", [("no", "yes"), ("1", "0"), ("b", "a")])
def test_a_binary_model_predicts_the_positive_class(classes):
    data = binary_rows(classes)
    model = fit(section(LOGISTIC), data)
    high = data.X.assign(size=5.0)
    assert (model.predict(high) > 0.9).all()
    assert (model.scale, model.outputs) == ("probability", classes[1:])
    assert model.estimator.classes_.dtype == np.int64


def test_a_multiclass_model_has_its_columns_in_the_order_of_the_classes():
    data = multiclass_rows()
    model = fit(section(LOGISTIC), data)
    for code, size in enumerate([-9.0, 0.0, 9.0]):
        predicted = model.predict(data.X.assign(size=size))
        assert (predicted.argmax(axis=1) == code).all()
    assert predicted.sum(axis=1) == pytest.approx(np.ones(90))


@pytest.mark.parametrize("positive", ["a", "b"])
def test_classes_of_a_given_estimator_are_matched_by_name_and_codes_by_place(positive):
    data = binary_rows()
    X = data.X[["size"]]
    estimator = LogisticRegression().fit(X, np.where(data.y == 1, "a", "b"))
    classes = ("b", "a") if positive == "a" else ("a", "b")
    model = wrap(estimator, name="m", classes=classes)
    column = estimator.classes_.tolist().index(positive)
    assert model.predict(X).tolist() == estimator.predict_proba(X)[:, column].tolist()
    coded = LogisticRegression().fit(X, data.y.astype(int))
    codes = wrap(coded, name="m", classes=classes).predict(X)
    assert codes.tolist() == coded.predict_proba(X)[:, 1].tolist()


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([0, 1], ("0", "1")),
        ([False, True], ("false", "true")),
        ([0.0, 1.0], ("0", "1")),
    ],
)
def test_classes_of_a_given_estimator_are_named_as_the_data_name_them(labels, classes):
    X = pd.DataFrame({"size": [-1.0, 1.0, -2.0, 2.0]})
    model = wrap(LogisticRegression().fit(X, np.array(labels * 2)), name="m")
    assert (model.task, model.classes) == ("binary", classes)
    assert model.predict(X).round().tolist() == [0, 1, 0, 1]


def test_a_weight_of_two_is_fitted_as_two_rows():
    data = rows()
    weights = np.where(np.arange(90) < 30, 2.0, 1.0)
    twice = np.repeat(np.arange(90), weights.astype(int))
    repeated = rows(data.X.iloc[twice].reset_index(drop=True), data.y[twice])
    weighted = fit(section(), replace(data, weights=weights))
    expected = fit(section(), repeated).predict(data.X)
    assert weighted.predict(data.X) == pytest.approx(expected, rel=1e-9)


def test_a_fitted_model_says_what_it_stands_on():
    model = fit(section(FOREST, parameters={"n_estimators": 3}), rows())
    assert (model.source, model.n_train, model.train_sha256) == ("fitted", 90, "d" * 64)
    assert model.library == f"scikit-learn {sklearn.__version__}"
    assert (model.losses, model.features) == (("rmse",), ("size", "grade", "count"))
    assert model.parameters == RandomForestRegressor(n_estimators=3).get_params()


def test_a_refit_reads_the_columns_rows_and_weights_of_the_rows_its_model_holds():
    other, drawn = rows(weights=np.linspace(1, 2, 90)), np.array([5, 5, 8, 13, 21, 34])
    taught = replace(fit(section(), rows()), train=other).with_losses(("mae",))
    again = taught.refit(["size"], drawn)
    X, weights = other.X[["size"]], other.weights
    direct = LinearRegression().fit(X.iloc[drawn], other.y[drawn], weights[drawn])
    assert again.predict(table()) == pytest.approx(direct.predict(X), rel=1e-12)
    assert (again.features, again.losses) == (("size",), ("mae",))
    whole = taught.refit(taught.features).predict(table())
    assert whole.tolist() == fit(section(), other).predict(table()).tolist()


def test_a_refit_draws_by_its_seed_where_the_estimator_draws():
    model = fit(section(FOREST, parameters={"n_estimators": 3}), rows())
    first, second, third = (
        model.refit(model.features, seed=seed).predict(table()).tolist()
        for seed in (1, 1, 2)
    )
    assert first == second != third
    linear = fit(section(), rows())
    again = linear.refit(linear.features, seed=1)
    assert again.predict(table()).tolist() == linear.predict(table()).tolist()


def test_what_was_fitted_elsewhere_or_would_not_meet_a_class_is_not_fitted_again():
    elsewhere = wrap(LinearRegression().fit(table()[["size"]], np.ones(90)), name="m")
    with pytest.raises(NotApplicable, match=r"because the audit did not fit it. Pass"):
        elsewhere.refit(["size"])
    model = fit(section(LOGISTIC), multiclass_rows())
    few = np.flatnonzero(model.train.y < 2)
    assert refused(model.refit, ["size"], few) == (
        NotApplicable,
        f"Model 'm' cannot be fitted again: none of the {len(few)} rows has the class "
        "'two'. Add training rows of the class, or leave it out.",
    )


def test_a_prediction_survives_a_pickle():
    X = table()
    for data in (rows(), binary_rows(), multiclass_rows()):
        path = LINEAR if data.task == "regression" else LOGISTIC
        predict = fit(section(path), data).predict
        again = pickle.loads(pickle.dumps(predict))
        assert again(X).tolist() == predict(X).tolist()


@pytest.mark.parametrize(
    ("estimator", "parameters", "message"),
    [
        ("sklearn.svn.SVR", {}, "no module 'sklearn.svn'. Did you mean 'sklearn.svm'?"),
        ("no_such_library.A", {}, "no module 'no_such_library'. Install the package"),
        ("sklearn.svm.SRV", {}, "'sklearn.svm' has no 'SRV'. Did you mean 'SVR'?"),
        ("math.sqrt", {}, "'math.sqrt' has no fit. Name an estimator class"),
        (FOREST, {"n_trees": 5, "max": 3}, "has no parameters 'n_trees', 'max'"),
        ("sklearn.ensemble.IsolationForest", {}, "IsolationForest finds outliers."),
    ],
)
def test_an_estimator_that_cannot_be_made_says_why(estimator, parameters, message):
    kind, words = refused(fit, section(estimator, parameters=parameters), rows())
    assert kind is ModelError
    assert message in words


class Open(LinearRegression):
    """Takes any parameter, as estimators that hand them on do."""

    def __init__(self, **parameters):
        super().__init__(**parameters)


def test_parameters_are_not_judged_where_any_is_taken(library_of_tests):
    library_of_tests.Open = Open
    model = fit(section("library.Open", parameters={"fit_intercept": False}), rows())
    assert model.estimator.intercept_ == 0


def test_weights_and_classes_that_an_estimator_cannot_be_fitted_with_are_refused():
    data, no_weights = replace(rows(), weights=np.arange(90.0)), section(NEIGHBOURS)
    with pytest.raises(ModelError, match=r"row weights .* KNeighborsRegressor does"):
        fit(no_weights, data)
    data = multiclass_rows()
    with pytest.raises(ModelError, match=r"no training row has the class 'two'. Add"):
        fit(section(LOGISTIC), replace(data, y=np.minimum(data.y, 1)))


def test_the_faults_of_all_models_are_told_together():
    faulty = section(FOREST, name="a", parameters={"max_dept": 3})
    sections = [faulty, section(name="b"), section(LOGISTIC, name="c")]
    _, message = refused(fit_models, sections, rows())
    assert message == (
        "Model 'a': RandomForestRegressor has no parameter 'max_dept'. Did you mean "
        "'max_depth'?\nModel 'c' does not suit task 'regression': LogisticRegression "
        "is a classifier. Name a regressor, or set another task."
    )


def test_no_model_is_fitted_if_another_names_no_estimator(monkeypatch, tmp_path):
    def fit(*_):
        raise AssertionError("fitted")

    monkeypatch.setattr(LinearRegression, "fit", fit)
    factory = section("sklearn.pipeline.make_pipeline", name="b")
    file = ModelSection(name="c", file="c.joblib", sha256="0" * 64)
    sections = [section(name="a"), factory, file]
    _, message = refused(partial(fit_models, base=tmp_path), sections, rows())
    assert message.startswith(
        "Model 'b': 'sklearn.pipeline.make_pipeline' has no fit. Name an estimator "
        "class with fit and predict.\nModel 'c'"
    )


def of_file(folder, thing, **facts):
    """Save a model; return the section that trusts it."""
    return ModelSection(**saved(folder, thing), **facts)


def numbers(**facts):
    return rows(table().drop(columns="grade"), **facts)


def test_a_trusted_file_predicts_as_the_estimator_in_it(tmp_path):
    data = numbers()
    estimator = LinearRegression().fit(data.X, data.y)
    trusted_file = of_file(tmp_path, estimator)
    model = load(trusted_file, data, base=tmp_path)
    assert model.predict(data.X).tolist() == estimator.predict(data.X).tolist()
    assert (model.source, model.sha256) == ("file", trusted_file.sha256)
    assert (model.n_train, model.train_sha256) == (0, "")
    for split, digest in (("train", "d" * 64), ("test", "")):
        (model,) = fit_models((trusted_file,), numbers(split=split), base=tmp_path)
        assert (model.source, model.train_sha256) == ("file", digest)


@pytest.mark.filterwarnings("error")
def test_what_was_fitted_on_positions_of_levels_can_say_so(tmp_path):
    data = rows()
    codes = data.X.assign(grade=data.X["grade"].cat.codes)
    estimator = LinearRegression().fit(codes, data.y)
    trusted_file = of_file(tmp_path, estimator, encoder="ordinal")
    for model in (
        load(trusted_file, data, base=tmp_path),
        wrap(estimator, name="m", encoder="ordinal"),
    ):
        assert model.predict(data.X).tolist() == estimator.predict(codes).tolist()
        assert model.encoded == ("size", "grade", "count")


class Trap:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return (open, (self.path, "w"))


@pytest.mark.parametrize("sha256", ["", "0" * 64])
def test_a_file_that_is_not_trusted_is_never_unpickled(tmp_path, sha256):
    sprung = of_file(tmp_path, Trap(tmp_path / "sprung"))
    error = refused(load, replace(sprung, sha256=sha256), rows(), base=tmp_path)
    assert error == (
        ModelError,
        f"Model 'm': the sha256 of 'm.joblib' is {sprung.sha256!r}, and the "
        f"configuration gives {sha256!r}. Loading the file runs its code: state the "
        "new one only if you trust the file.",
    )
    assert not (tmp_path / "sprung").exists()


def test_a_file_must_be_there_and_hold_what_its_name_says(tmp_path):
    missing = section("", file="gone.joblib", sha256="0" * 64)
    _, words = refused(load, missing, rows(), base=tmp_path)
    assert words.endswith("gone.joblib' cannot be read: No such file or directory.")
    _, words = refused(load, section("", file="m.pkl"), rows(), base=tmp_path)
    assert words.endswith(
        "file must be a .joblib, .rds or .txt file; 'm.pkl' was given."
    )
    start = "Model 'm' cannot be loaded from 'm.joblib'. joblib says: "
    message = told(tmp_path, b"no pickle")
    assert message.startswith(start)
    assert message != start


def told(folder, content):
    """Return why the bytes of a file are no model."""
    (folder / "m.joblib").write_bytes(content)
    section_of = ModelSection(**trusted(folder / "m.joblib"))
    return refused(load, section_of, rows(), base=folder)[1]


def test_a_warning_that_is_not_about_the_file_is_shown(tmp_path):
    content = b"cwarnings\nwarn\n(S'too old'\ncbuiltins\nFutureWarning\ntR."
    with pytest.warns(FutureWarning, match="too old"):
        told(tmp_path, content)


@pytest.mark.skipif(hasattr(np, "_core"), reason="numpy 2 reads its own pickles")
def test_a_pickle_of_numpy_2_says_so(tmp_path):
    content = b"\x80\x02cnumpy._core.multiarray\n_reconstruct\n."
    assert told(tmp_path, content) == (
        "Model 'm' cannot be loaded from 'm.joblib'. joblib says: No module named "
        "'numpy._core'. The file was saved with numpy 2, and numpy "
        f"{np.__version__} is installed here: install numpy 2, or save the model again "
        "with numpy 1."
    )


def test_a_class_of_a_notebook_says_where_it_belongs(tmp_path):
    kind = type("OfNotebook", (LinearRegression,), {"__module__": "__main__"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["__main__"], "OfNotebook", kind, raising=False)
        saved(tmp_path, kind())
    message = told(tmp_path, (tmp_path / "m.joblib").read_bytes())
    assert "'OfNotebook'" in message  # in Python's words, which 3.14 changed
    assert "(__main__) has no module to be imported from: put it into a" in message


def test_a_pointer_of_git_lfs_is_no_model(tmp_path):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
    for file in ("m.joblib", "m.rds", "m.txt"):
        (tmp_path / file).write_text(pointer)
        read = r_models.load if file == "m.rds" else load
        with pytest.raises(ModelError, match=rf"^{file} is a pointer of Git LFS, and"):
            read(section("", file=file, sha256="0" * 64), rows(), base=tmp_path)


def test_a_model_saved_by_another_scikit_learn_is_a_finding(tmp_path):
    data, own = numbers(), sklearn.__version__.encode()
    other = b"0" + own[1:]  # as long, so that the pickle stays one
    estimator = LinearRegression().fit(data.X, data.y)
    sound = of_file(tmp_path, estimator)
    assert load(sound, data, base=tmp_path).notes == ()
    content = (tmp_path / "m.joblib").read_bytes()
    assert own in content
    (tmp_path / "m.joblib").write_bytes(content.replace(own, other))
    facts = trusted(tmp_path / "m.joblib")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = load(ModelSection(**facts), data, base=tmp_path)
    (note,) = model.notes
    assert (note.check, note.severity) == ("loaded_otherwise", "warning")
    assert f"from version {other.decode()} when using version {own.decode()}" in (
        note.message
    )
    entry = {"method": "permutation", "n_repeats": 2}
    text = data.X.assign(y=data.y).to_csv(index=False)
    config = configured(tmp_path, text, models=[facts], importance=[entry])
    result = audit(*read_datasets(**config.data_arguments), config)
    assert note.message in [finding.message for finding in result.findings]


@pytest.mark.parametrize(
    ("columns", "facts", "message"),
    [
        ({"size": "weight"}, {}, "reads 'weight', which is not in the data."),
        ({"size": "y"}, {}, "reads 'y', which is the target. Fit it, or make its expl"),
        ({}, {"encoder": "one_hot"}, "encoder 'one_hot' works only where the audit"),
    ],
)
def test_a_file_that_does_not_suit_the_data_is_refused(
    tmp_path, columns, facts, message
):
    data = numbers()
    estimator = LinearRegression().fit(data.X.rename(columns=columns), data.y)
    with pytest.raises(ModelError, match=message):
        load(of_file(tmp_path, estimator, **facts), data, base=tmp_path)


@pytest.mark.filterwarnings("error")
def test_an_estimator_fitted_on_an_array_gets_arrays():
    data = numbers()
    estimator = LinearRegression().fit(data.X.to_numpy(), data.y)
    model = wrap(estimator, name="m", features=["size", "count"])
    expected = estimator.predict(data.X.to_numpy()).tolist()
    assert model.predict(data.X[["count", "size"]]).tolist() == expected


def test_a_function_of_a_frame_is_a_model_and_cannot_change_the_rows():
    def careless(X):
        X["size"] = 3 * X["size"]
        return X["size"]

    model = wrap(careless, name="m", task="regression", features=["size"])
    X = table()
    before = X.copy()
    assert model.predict(X).tolist() == (3 * X["size"]).tolist()
    assert (model.estimator, model.library, dict(model.parameters)) == (None, "", {})
    pd.testing.assert_frame_equal(X, before)


def test_a_function_beside_an_estimator_is_asked_instead_of_it():
    data = binary_rows()
    X = data.X[["size"]]
    tree = DecisionTreeClassifier().fit(X, data.y.astype(int))
    model = wrap(tree, name="m", predict=lambda rows: np.full(len(rows), 0.25))
    assert set(model.predict(X)) == {0.25}
    assert (model.estimator, model.task) == (tree, "binary")


SIZE = {"features": ["size"]}
COUNTED = {"features": ["size", "count"]}


ON_THREE = LinearRegression().fit(np.eye(3), np.ones(3))
OF_TWO = LogisticRegression().fit(np.eye(2), ["a", "b"])
NO_CLASSES = SIZE | {"task": "regression", "classes": ["a", "b"]}
OF_THREE = COUNTED | {"classes": ["a", "b", "c"]}


@pytest.mark.parametrize(
    ("estimator", "options", "message"),
    [
        (abs, SIZE, "its task is not stated. Pass task as 'regression'"),
        (abs, {"task": "regression"}, "columns that model 'm' reads are not stated."),
        (abs, SIZE | {"task": "binary"}, "two classes for task 'binary'; 0 were given"),
        (abs, NO_CLASSES, "no classes for task 'regression'; 2 were given."),
        (list, NO_CLASSES, "a function of a frame; <class 'list'> was given."),
        (ON_THREE, COUNTED, "fitted on 3 columns, and 2 are named: 'size', 'count'."),
        (OF_TWO, OF_THREE, "the classes 'a', 'b', and the target has '0', '1', '2'"),
    ],
)
def test_what_cannot_be_wrapped_says_what_is_missing(estimator, options, message):
    kind, words = refused(wrap, estimator, name="m", **options)
    assert kind is ModelError
    assert message in words


def answering(answer, **facts):
    """Return a model whose function gives this answer for three rows."""
    options = {"task": "regression", "features": ["size"], **facts}
    model = wrap(lambda X: answer if len(X) == 3 else None, name="m", **options)
    return partial(model.predict, table(3))


TWO = {"task": "binary", "classes": ("no", "yes")}
THREE = {"task": "multiclass", "classes": ("a", "b", "c")}


@pytest.mark.parametrize(
    ("answer", "facts", "what", "returned"),
    [
        (np.ones((3, 2)), {}, "an array of shape (3,)", "(3, 2). Return one number"),
        (np.ones((3, 3)), TWO, "an array of shape (3,)", "(3, 3). Return the"),
        (np.ones((3, 2)), TWO, "two probabilities that sum to 1", "a row that sums to"),
        (np.ones((3, 2)), THREE, "an array of shape (3, 3)", "(3, 2)."),
        ([0.5, 1.5, 0.5], TWO, "probabilities", "1.5."),
        ([-0.5, 0.5, 0.5], TWO, "probabilities", "-0.5."),
        (list("abc"), {}, "numbers", "something else: could not convert string"),
    ],
)
def test_what_is_no_prediction_is_refused(answer, facts, what, returned):
    kind, words = refused(answering(answer, **facts))
    assert kind is ModelError
    start = f"Model 'm' must predict {what}; its function returned {returned}"
    assert words.startswith(start)


def test_predictions_that_are_not_finite_are_counted():
    with pytest.raises(ModelError, match="2 of the 3 that its function returned are"):
        answering([1.0, np.nan, np.inf])()


def test_a_probability_beyond_one_by_a_rounding_error_is_one_and_a_float64():
    answer = [1 + 1e-15, 0.0, 0.5]
    assert answering(answer, **TWO)().tolist() == answer
    assert answering(np.ones(3, dtype=np.float32))().dtype == np.float64


def test_a_fault_of_the_data_passes_through_a_function_that_asks_another_model():
    inner = fit(section(BOOSTING), rows())
    features = ["size", "grade", "count"]
    model = wrap(inner.predict, name="outer", task="regression", features=features)
    gaps = with_a_gap("size").X
    assert refused(model.predict, gaps) == refused(inner.predict, gaps)


def test_rows_that_lack_a_column_or_have_it_in_another_kind_are_refused():
    with pytest.raises(ModelError, match=r"reads 'size', which .* Did you mean 'sise'"):
        fit(section(), rows()).predict(table().rename(columns={"size": "sise"}))
    model = wrap(ON_THREE, name="m", features=["size", "grade", "count"])
    with pytest.raises(
        DataError, match=r"'grade' is a category, and .* an array of num"
    ):
        model.predict(table())
    with pytest.raises(
        DataError, match=r"neither numbers nor declared .* float: 'large'"
    ):
        fit(section(), numbers()).predict(table().assign(size="large"))


def test_the_frame_has_a_row_per_model_in_the_order_of_their_sections():
    forest = section(FOREST, name="forest", parameters={"n_estimators": 2})
    sections = [forest, section(name="a")]
    score = wrap(lambda X: X["size"] * 0, name="score", features=["size"], **TWO)
    frame = models_frame([*fit_models(sections, rows()), score]).set_index("model")
    columns = ["estimator", "positive_class", "classes", "n_train"]
    assert list(frame[columns].itertuples(name=None)) == [
        ("forest", "RandomForestRegressor", "", (), 90),
        ("a", "LinearRegression", "", (), 90),
        ("score", "", "yes", ("no", "yes"), 0),
    ]
    assert json.loads(frame.loc["forest", "parameters"])["n_estimators"] == 2


def test_parameters_that_json_does_not_know_are_shown_as_python_does():
    estimator = LinearRegression().fit(table()[["size"]], np.ones(90))
    estimator.set_params(n_jobs=float("nan"), copy_X=table)
    parameters = wrap(estimator, name="m").parameters
    assert (parameters["n_jobs"], parameters["copy_X"]) == ("nan", "<function table>")


@pytest.mark.parametrize("names", [["size"], ["size", "cuont"]])
def test_other_columns_than_an_estimator_was_fitted_on_are_refused(names):
    data = numbers()
    estimator = LinearRegression().fit(data.X, data.y)
    own = tuple(data.X)

    def told(names):
        return ", ".join(map(repr, names))

    with pytest.raises(ModelError) as refusal:
        wrap(estimator, name="m", features=names)
    assert str(refusal.value) == (
        f"Model 'm' was fitted on {told(own)}, and features is {told(names)}. "
        "Leave features out."
    )
    assert wrap(estimator, name="m", features=own[::-1]).features == own
