"""Models of R: read, asked as R's own users ask them, or refused by name."""

import contextlib
import dataclasses
import gzip
import os
import signal
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.models.saved import trusted

from importance_audit.data.datasets import dataset
from importance_audit.engines.known_defects import version_numbers
from importance_audit.models import r_models
from importance_audit.models.section import ModelSection
from importance_audit.r_bridge import host
from importance_audit.r_bridge.errors import RDied, RUnavailable
from importance_audit.records.asker import asked_by
from importance_audit.records.errors import AuditError, DataError, ModelError

pytestmark = pytest.mark.needs_r

R_FILE = Path(__file__).with_name("r_models.R")
REGRESSIONS = (
    "lm aov rlm negbin poisson forest ranger ranger_order gbm rpart nnet svm svm_poly "
    "svm_x earth earth_x loess nls nnet_x gam bam glmnet glmnet_poisson cv_glmnet "
    "cv_relaxed ksvm ksvm_x"
).split()
BINARY = (
    "glm glm01 forest2 gbm01 nnet2 multinom2 svm2 earth2 qda bayes2 gam2 glmnet2 "
    "glmnet_glm ksvm2"
).split()
MULTICLASS = (
    "forest_x ranger_k gbm_k rpart_k nnet_k multinom svm_k polr lda lda_x bayes "
    "nnet_xk gam_codes glmnet_k cv_glmnet_k ksvm_k"
).split()
EVERY = [*REGRESSIONS, *BINARY, *MULTICLASS]
TAKES_MISSING = ("gbm gbm01 gbm_k rpart rpart_k bayes bayes2").split()
BY_PLACE = ("nnet_x", "nnet_xk")
NUMBERS_ONLY = (
    "svm_x loess nls nnet_x glmnet glmnet_poisson cv_glmnet cv_relaxed ksvm_x "
    "qda glmnet2 glmnet_glm lda_x nnet_xk gam_codes glmnet_k cv_glmnet_k "
    "ksvm_k"
).split()
FEATURES = ["x", "n", "g", "o"]


@pytest.fixture(scope="module")
def r():
    with host.session(r_seconds=60, extra_r_files=[R_FILE]) as worker:
        yield worker


@pytest.fixture(scope="module")
def folder(r, tmp_path_factory):
    path = tmp_path_factory.mktemp("models")
    r.call("fit_every_class", {"folder": str(path)})
    r.call("save_what_is_no_model", {"folder": str(path)})
    return path


@pytest.fixture(scope="module")
def rows(r):
    """The training rows by task."""
    frame = r.call("model_data", {})
    tasks = {"regression": "y", "binary": "z", "multiclass": "k"}
    return {
        task: dataset(
            frame[FEATURES],
            frame[target],
            task=task,
            name="rows",
            split="train",
            classes=None if task == "regression" else frame[target].cat.categories,
        )
        for task, target in tasks.items()
    }


def task_of(name):
    tasks = {"binary": BINARY, "multiclass": MULTICLASS}
    return next((task for task, names in tasks.items() if name in names), "regression")


def section(folder, file, **more):
    return ModelSection(**trusted(folder / file) | more)


@pytest.fixture(scope="module")
def models(folder, rows):
    """Every model by its name; those of a package that is not here are left out."""

    def load(name):
        train = rows[task_of(name)]
        if name in BY_PLACE:
            train = train.part(["x", "n"])
        return r_models.load(section(folder, f"{name}.rds"), train, base=folder)

    return {name: load(name) for name in EVERY if (folder / f"{name}.rds").exists()}


@pytest.fixture
def fitted_model(request, models, rows):
    """The model that a test asks, with its name and the rows it was fitted on."""
    name = request.param
    if name not in models:
        pytest.skip(f"the R package that fits {name} is not installed")
    return name, models[name], rows[task_of(name)]


def of_classes(names):
    return pytest.mark.parametrize("fitted_model", names, indirect=True)


@of_classes(EVERY)
def test_predictions_are_those_of_its_own_package_to_the_bit_and_draw_nothing(
    fitted_model,
):
    _, model, train = fitted_model
    together = model.predict(train.X)
    own = np.asarray(model.estimator.call("own_prediction", {"data": train.X}))
    np.testing.assert_array_equal(together, own)
    for row in (0, 7):
        alone = model.predict(train.X.iloc[[row]])
        # R's matrix products add one row in another order under some BLAS
        np.testing.assert_allclose(alone, together[[row]], rtol=1e-14)
    rows = {"data": train.X[list(model.features)]}
    next_draw = model.estimator.call("draw_after_prediction", rows)
    assert next_draw == pytest.approx(0.2655087, abs=5e-8)  # set.seed(1); runif(1)


def reversed_levels(X):
    return {c: X[c].cat.reorder_categories(X[c].cat.categories[::-1]) for c in "go"}


SAME_ROWS = {
    "columns in another order": lambda X: X[FEATURES[::-1]],
    "levels in another order": lambda X: X.assign(**reversed_levels(X)),
    "levels without those that no row has": lambda X: X[X["g"] == "c"].assign(
        g=lambda part: part["g"].cat.remove_unused_categories()
    ),
    "texts for levels": lambda X: X.astype({"g": object, "o": object}),
    "doubles for integers": lambda X: X.astype({"n": float}),
    "one more column": lambda X: X.assign(extra="text"),
}


@of_classes(EVERY)
def test_the_same_rows_in_another_shape_are_predicted_alike(fitted_model):
    _, model, train = fitted_model
    expected = model.predict(train.X)
    for words, change in SAME_ROWS.items():
        rows = change(train.X)
        predictions = model.predict(rows)
        np.testing.assert_array_equal(predictions, expected[rows.index], err_msg=words)


@of_classes([name for name in EVERY if name not in NUMBERS_ONLY])
def test_a_level_that_training_did_not_meet_is_refused(fitted_model):
    _, model, train = fitted_model
    new = train.X.assign(g=train.X["g"].cat.rename_categories({"a": "z"}))
    with pytest.raises(DataError) as refusal:
        model.predict(new)
    assert str(refusal.value) == (
        "Column 'g' holds 'z', which model 'm' did not see in training; it knows "
        "'b', 'a', 'c'. Train on rows that have it, or leave it out of the column's "
        "levels."
    )


@of_classes(EVERY)
def test_a_missing_value_is_answered_or_refused_as_its_package_does(fitted_model):
    name, model, train = fitted_model
    kind = model.estimator.kind
    gap = train.X.assign(x=train.X["x"].where(train.X["n"] > 1))
    if name in TAKES_MISSING:
        own = np.asarray(model.estimator.call("own_prediction", {"data": gap}))
        np.testing.assert_array_equal(model.predict(gap), own)
        return
    if kind == "ranger" and version_numbers(model.estimator.package_version) >= (0, 16):
        pytest.skip("ranger answers missing values from 0.16 on")
    with pytest.raises(AuditError) as refusal:
        model.predict(gap)
    by_r = (
        "Model 'm' cannot predict the rows; ranger says: Missing data in columns: x. "
        "Missing in these rows: 1 cell of 'x'."
    )
    assert str(refusal.value) == (
        by_r
        if kind == "ranger"
        else f"Column 'x' has 1 missing value, and model 'm' ({kind}) does not accept "
        "them. Leave those rows or the column out, or choose an estimator that "
        "takes missing values."
    )


def test_a_missing_value_is_refused_in_r_with_what_to_do_there(models, rows):
    gap = rows["regression"].X.assign(x=np.nan)
    with asked_by("r"), pytest.raises(DataError) as refusal:
        models["lm"].predict(gap)
    assert str(refusal.value).endswith(
        " Leave those rows or the column out; or, if its formula has a place for them, "
        "as addNA() makes one, give predict_function = function(model, data) "
        "predict(model, data)."
    )


@of_classes(["lm", "gbm", "forest", "rpart", "ranger"])
def test_a_column_of_another_type_than_the_model_knows_is_refused(fitted_model):
    _, model, train = fitted_model
    number, levels = train.X["x"], train.X["g"]
    for column, cells, words in (
        ("x", levels, "a category, and model 'm' was trained on a number"),
        ("g", number, "a number, and model 'm' was trained on one of 'b', 'a', 'c'"),
    ):
        if (model.estimator.kind, column) in (("ranger", "x"), ("rpart", "g")):
            continue  # nothing is promised of these two
        with pytest.raises(DataError) as refusal:
            model.predict(train.X.assign(**{column: cells}))
        assert str(refusal.value) == (
            f"Column {column!r} is {words}. Declare its type under [data] categories."
        )


@of_classes(["loess"])
def test_rows_outside_the_range_of_loess_are_refused_with_the_way(fitted_model):
    _, model, train = fitted_model
    with pytest.raises(ModelError) as refusal:
        model.predict(train.X.assign(n=train.X["n"] * 2))
    said = str(refusal.value)
    assert "predict.loess has no answer for 40 rows outside the range" in said
    assert 'control = loess.control(surface = "direct")' in said


OPEN = {
    "glmnet": "the smallest of its ",
    "cv_glmnet": 'It predicts with s = "lambda.1se" (',
    "nnet_x": "It names no columns, and reads those of the data by their place.",
}


@of_classes(OPEN)
def test_a_card_says_what_a_model_leaves_open(fitted_model):
    name, model, _ = fitted_model
    assert OPEN[name] in model.parameters["note"]


@of_classes("lm glm glm01 gam polr forest loess lda ksvm".split())
def test_rows_that_a_model_keeps_are_counted(fitted_model):
    name, model, train = fitted_model
    keeps_none = name in ("forest", "loess", "lda", "ksvm")
    assert model.count_fitted(train) == (None if keeps_none else (80, 0))
    moved = dataclasses.replace(train, X=train.X.assign(x=train.X["x"] + 1))
    assert model.count_fitted(moved) == (None if keeps_none else (0, 0))


@of_classes(["gbm01", "glm01"])
def test_no_rows_have_no_predictions_and_ask_nobody(fitted_model):
    _, model, train = fitted_model
    assert model.predict(train.X.iloc[:0]).shape == (0,)


def test_a_model_says_what_it_is(models):
    forest = models["forest2"]
    assert forest.estimator.r_class == ("randomForest.formula", "randomForest")
    assert forest.features == ("x", "n", "g")
    assert forest.library.startswith("randomForest ")
    call = "randomForest(formula = z ~ x + n + g, data = d, ntree = 9)"
    assert forest.parameters == {"call": call}
    calls = [model.parameters.get("call", "") for model in models.values()]
    assert max(map(len, calls)) > 60  # R writes these in several lines
    assert not any("\n" in call for call in calls)


@pytest.mark.parametrize(
    ("name", "target", "task"),
    [("rpart_flags", "y", "regression"), ("bayes_flags", "z", "binary")],
)
def test_a_logical_column_with_missing_cells_is_logical_in_r(
    r, tmp_path, name, target, task
):
    r.call("fit_to_flags", {"folder": str(tmp_path)})
    frame = r.call("with_flags", {})
    y, own = frame[target], frame[["x", "flag"]]
    classes = None if task == "regression" else y.cat.categories
    rows = dataset(own, y, task=task, name="rows", classes=classes)
    model = r_models.load(section(tmp_path, f"{name}.rds"), rows, base=tmp_path)
    answer = model.estimator.call("own_prediction", {"data": own})
    np.testing.assert_array_equal(model.predict(rows.X), answer)


def test_a_model_that_kept_no_levels_says_whose_are_taken(models):
    key = "levels_of_the_training_rows"
    assert models["svm"].parameters[key]
    assert not any(key in models[name].parameters for name in ("ranger_order", "lm"))
    assert models["ranger"].notes == ()


def test_levels_that_are_assumed_without_training_rows_are_a_finding(folder, rows):
    test = dataclasses.replace(rows["regression"], split="test")
    load = partial(r_models.load, train=test, base=folder)
    ranger, svm = (load(section(folder, f"{name}.rds")) for name in ("ranger", "svm"))
    key = "levels_of_the_evaluation_rows"
    message = (
        "The model ({}) keeps no levels of its factors, so those of the rows were "
        "assumed: {}of 'o' 'lo', 'mid', 'hi'. If training had others, or another "
        "order, its predictions here are wrong."
    )
    assert not any("levels_of_the_training_rows" in m.parameters for m in (ranger, svm))
    assert svm.parameters[key] == ["g", "o"]
    (note,) = svm.notes  # it refuses other levels, but for those of ordered factors
    assert (note.check, note.severity) == ("assumed_levels", "warning")
    assert note.message == message.format("svm", "")
    # Newer versions of ranger keep the levels.
    assert ranger.parameters.get(key, []) == (["g", "o"] if ranger.notes else [])
    for note in ranger.notes:
        assert note.message == message.format("ranger", "of 'g' 'b', 'a', 'c'; ")
    assert load(section(folder, "ranger_order.rds")).notes == ()
    assert load(section(folder, "ksvm_x.rds")).notes == ()
    declared = dataclasses.replace(test, declared=frozenset({"g", "o"}))
    for name in ("ranger", "svm"):
        known = load(section(folder, f"{name}.rds"), train=declared)
        assert known.notes == ()
        assert key not in known.parameters


SURVIVAL = (
    " cannot be audited. R says: it is a model of survival, and an audit needs one "
    "number or class for each row and a target that is not censored. Say by a predict "
    "function what it shall predict, such as the probability of an event before a "
    "stated time, and give as target whether that event had happened by then, of rows "
    "that were followed so long."
)
SCRIPT = ' Name an R script that predicts for it: predict = "predict.R".'
AGAIN = "Save it again, with this R or an older one."
RESPONSES = " cannot be audited. R says: it has several responses."
NO_MODELS = {
    "list.rds": f"it is of class 'list'.{SCRIPT}",
    "closure.rds": f"it is of class 'function'.{SCRIPT}",
    "environment.rds": f"it is of class 'environment'.{SCRIPT}",
    "promise.rds": f"it is of class 'environment'.{SCRIPT}",
    "pointer.rds": f"it is of class 'externalptr'.{SCRIPT}",
    "no_names.rds": "(nnet) cannot be audited. R says: it names no columns and reads 1 "
    "by their place, and the models are given 4: x, n, g, o.",
    "coxph.rds": f"(coxph){SURVIVAL}",
    "survreg.rds": f"(survreg){SURVIVAL}",
    "fake.rds": "(lm) cannot be audited. R says: no terms component nor attribute.",
    "no_levels.rds": "it was fitted to a factor with model = FALSE, which drops its "
    "levels.",
    "offset.rds": "predict.rpart leaves its offset out.",
    "offset_k.rds": "predict.multinom leaves its offset out.",
    "responses.rds": f"(nnet){RESPONSES}",
    "responses_of_earth.rds": f"(earth){RESPONSES}",
    "votes.rds": "it is a forest for Classification: grow it with probability = TRUE.",
    "survival.rds": f"(ranger){SURVIVAL}",
    "survival_tree.rds": f"(rpart){SURVIVAL}",
    "corrupt.rds": f"unknown input format. {AGAIN}",
    "truncated.rds": f"error reading from connection. {AGAIN}",
    "newer.rds": "cannot read workspace version 9 written by R 9.0.0; need R 9.0.0 or "
    f"newer. {AGAIN}",
}


@pytest.fixture(scope="module")
def broken(folder):
    """Files that R cannot read, beside those that hold no model."""
    sound = gzip.decompress((folder / "lm.rds").read_bytes())
    (folder / "corrupt.rds").write_bytes(b"no model at all" * 9)
    (folder / "truncated.rds").write_bytes(sound[: len(sound) // 2])
    version = bytes([0, 0, 0, 9, 0, 9, 0, 0, 0, 9, 0, 0])
    (folder / "newer.rds").write_bytes(sound[:2] + version + sound[14:])
    return folder


@pytest.mark.parametrize("file", NO_MODELS)
def test_a_file_that_holds_no_model_is_refused_by_name(broken, rows, file):
    if "earth" in file and not (broken / file).exists():
        pytest.skip("R package earth is not installed")
    with pytest.raises(ModelError) as refusal:
        r_models.load(section(broken, file), rows["multiclass"], base=broken)
    assert str(refusal.value).endswith(NO_MODELS[file])
    assert "'m'" in str(refusal.value)


def test_a_model_saved_by_another_r_is_a_finding(folder, rows, tmp_path):
    sound = gzip.decompress((folder / "lm.rds").read_bytes())
    (tmp_path / "m.rds").write_bytes(sound[:6] + bytes([0, 3, 1, 2]) + sound[10:])
    train = rows["regression"]
    own = r_models.load(section(folder, "lm.rds"), train, base=folder)
    model = r_models.load(section(tmp_path, "m.rds"), train, base=tmp_path)
    assert own.notes == ()
    (note,) = model.notes
    assert (note.check, note.severity) == ("loaded_otherwise", "warning")
    assert note.message == (
        "The model may not be the one that was saved in 'm.rds': R 3.1.2 saved it, and "
        f"R {own.estimator.r_version} reads it."
    )


def test_reading_leaves_no_file_behind(broken, rows, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for file in ("lm.rds", "corrupt.rds"):
        with contextlib.suppress(ModelError):
            r_models.load(section(broken, file), rows["regression"], base=broken)
    assert list(tmp_path.iterdir()) == []


def test_bytes_that_are_not_those_of_the_digest_are_never_read(folder, rows):
    forged = section(folder, "lm.rds", sha256="0" * 64)
    with pytest.raises(
        ModelError,
        match=r"^Model 'm': the sha256 of 'lm.rds' is '\w{64}', and .* gives '0{64}'\.",
    ):
        r_models.load(forged, rows["regression"], base=folder)


def test_a_package_that_is_missing_is_named_with_its_remedy(folder, rows):
    with pytest.raises(RUnavailable) as refusal:
        r_models.load(section(folder, "absent.rds"), rows["regression"], base=folder)
    assert str(refusal.value) == (
        "R package 'no.such.package' of model 'absent.rds' is not installed. Run in R: "
        "install.packages('no.such.package')"
    )


A_NUMBER = "(lm) predicts a number, and task 'binary' needs probabilities."
OTHERS = "predicts the classes 'no', 'yes', and the target has 'v', 'u', 'w'."
CLASSES = (
    "(glm) predicts the classes 'no', 'yes', and task 'regression' needs a number."
)
OTHERS = "predicts the classes 'no', 'yes', and the target has 'v', 'u', 'w'."


@pytest.mark.parametrize(
    ("asker", "name", "task", "words"),
    [
        ("python", "glm", "regression", f"{CLASSES} Set another task."),
        (
            "r",
            "glm",
            "regression",
            f"{CLASSES} Give y as a factor of these classes, or as 0 and 1.",
        ),
        ("r", "lm", "binary", f"{A_NUMBER} Fit it to a factor, or give y as numbers."),
        ("python", "glm", "multiclass", f"{OTHERS} Name the same classes in both."),
    ],
)
def test_a_model_of_another_task_is_refused_with_what_to_do_where_it_was_asked(
    folder, rows, asker, name, task, words
):
    with asked_by(asker), pytest.raises(ModelError) as refusal:
        r_models.load(section(folder, f"{name}.rds"), rows[task], base=folder)
    assert str(refusal.value) == f"Model 'm' {words}"


def test_values_of_r_in_a_formula_are_no_columns(r, tmp_path, rows):
    r.call("fit_to_values", {"folder": str(tmp_path)})
    for name in ("lm_values", "glm_values", "rpart_values"):
        train = rows["binary" if name == "glm_values" else "regression"]
        model = r_models.load(section(tmp_path, f"{name}.rds"), train, base=tmp_path)
        assert set(model.features) == {"x", "n"}
        own = model.estimator.call("own_prediction", {"data": train.X})
        np.testing.assert_allclose(model.predict(train.X), own, rtol=1e-12)
        assert "no column of the data, as a value of R." in model.parameters["note"]
        part = train.part(["x"])
        with pytest.raises(ModelError, match="reads 'n', which is not in the data"):
            r_models.load(section(tmp_path, f"{name}.rds"), part, base=tmp_path)


def test_a_column_that_the_data_lack_is_named(folder, rows):
    train = rows["regression"].part(["x", "n"])
    with pytest.raises(ModelError) as refusal:
        r_models.load(section(folder, "rlm.rds"), train, base=folder)
    assert str(refusal.value) == "Model 'm' reads 'g', which is not in the data."


def test_the_positive_class_may_be_the_models_first(models, folder, rows):
    yes_no = dataclasses.replace(rows["binary"], classes=("yes", "no"))
    first = r_models.load(section(folder, "glm.rds"), yes_no, base=folder)
    p = models["glm"].predict(yes_no.X)
    np.testing.assert_array_equal(first.predict(yes_no.X), 1 - p)


def test_a_model_is_there_again_after_its_r_was_killed(models, rows):
    X = rows["regression"].X
    before = models["forest"].predict(X)
    os.kill(host.current_models().pid, signal.SIGKILL)
    with pytest.raises(RDied):
        models["forest"].predict(X)
    np.testing.assert_array_equal(models["forest"].predict(X), before)
