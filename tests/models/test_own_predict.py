"""Models of R that say themselves how they predict: explainers, scripts, frameworks."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.models.saved import trusted

from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.data.datasets import dataset
from importance_audit.models import r_models
from importance_audit.models.section import ModelSection
from importance_audit.r_bridge import host
from importance_audit.r_bridge.errors import RBridgeError
from importance_audit.records.as_json import content_digest
from importance_audit.records.errors import ModelError
from importance_audit.report.sections.facts import facts_of
from importance_audit.report.sections.provenance import scripts

pytestmark = pytest.mark.needs_r

R_FILE = Path(__file__).with_name("own_predict.R")
FEATURES = ["x", "n", "g"]
TASKS = {
    "regression": (
        "explainer explainer_own script caret workflow learner parsnip parsnip_xy "
        "kernlab"
    ).split(),
    "binary": "explainer_2 caret_2 caret_all_the_same learner_2 learner_2n".split(),
    "multiclass": "explainer_k workflow_k learner_k parsnip_k".split(),
}
TASK_OF = {name: task for task, names in TASKS.items() for name in names}
PACKAGES = {
    "explainer": "DALEX",
    "caret": "caret",
    "workflow": "workflows",
    "parsnip": "parsnip",
    "kernlab": "kernlab",
    "learner": "mlr3",
    "script": "base",
}
TARGETS = {"regression": "y", "binary": "z", "multiclass": "k"}
SCRIPT = "function(model, data) model$b * data$x"


@pytest.fixture(scope="module")
def r():
    with host.session(r_seconds=120, extra_r_files=[R_FILE]) as worker:
        yield worker


@pytest.fixture(scope="module")
def rows(r):
    """The training rows by task."""
    frame = r.call("own_data", {})
    return {
        task: dataset(
            frame[FEATURES],
            frame[target],
            task=task,
            name="rows",
            split="train",
            classes=None if task == "regression" else frame[target].cat.categories,
        )
        for task, target in TARGETS.items()
    }


@pytest.fixture
def loaded(r, rows, tmp_path):
    """Load a model that R fits and saves, its predict script beside it."""

    def load(name, script=None, task=None):
        package = PACKAGES[name.partition("_")[0]]
        if not r.call("is_there", {"package": package})[0]:
            pytest.skip(f"R package {package} is not installed")
        r.call("fit_own", {"folder": str(tmp_path), "which": name})
        if script is not None:
            (tmp_path / "predict.R").write_text(script)
        file = tmp_path / f"{name}.rds"
        predict = "" if script is None else "predict.R"
        section = ModelSection(**trusted(file), predict=predict)
        train = rows[task or TASK_OF.get(name, "regression")]
        return r_models.load(section, train, base=tmp_path)

    return load


@pytest.mark.parametrize("name", TASK_OF)
def test_predictions_are_those_of_its_own_package_to_the_bit(loaded, rows, name):
    model = loaded(name, SCRIPT if name == "script" else None)
    X = rows[TASK_OF[name]].X
    own = np.asarray(model.estimator.call("own_answer", {"data": X}))
    np.testing.assert_array_equal(model.predict(X), own)
    # mlr3 puts the columns of a task in an order of its own.
    in_order = sorted(FEATURES) if name.startswith("learner") else FEATURES
    assert model.features == tuple(in_order)
    # R's matrix products add one row in another order under some BLAS.
    np.testing.assert_allclose(model.predict(X.iloc[[3]]), own[[3]], rtol=1e-14)


def test_the_weights_of_an_explainer_are_not_used_as_in_dalex_and_that_is_said(
    r, loaded, rows, tmp_path, monkeypatch
):
    (note,) = loaded("explainer_weighted").notes
    assert (note.check, note.severity) == ("unused_weights", "warning")
    assert note.message == (
        "The explainer has weights, which this audit does not use: its rows count "
        "equally, as in DALEX's own importances and profiles."
    )
    measured = r.call("with_and_without_weights", {"folder": str(tmp_path)})
    np.testing.assert_array_equal(*measured)
    weights = np.arange(1.0, 1 + rows["regression"].n_samples)
    weighted = replace(rows["regression"], weights=weights)
    monkeypatch.setitem(rows, "regression", weighted)
    assert loaded("explainer_weighted").notes == ()


def test_a_warning_of_predict_is_found(loaded, rows):
    data = rows[TASK_OF["script"]]
    assert r_models.side_effects(loaded("script", SCRIPT), data) == []
    noise = "print('hello'); warning('far')"
    noisy = f"function(model, data) {{ {noise}; ({SCRIPT})(model, data) }}"
    (found,) = r_models.side_effects(loaded("script", noisy), data)
    assert (found.measure, found.severity) == ("warning", "warning")
    assert found.message.endswith(": far")


WIDE = ["x", "g", "is_high", "count", "size"]


def test_a_learner_of_mlr3_gets_columns_of_every_type(r, loaded, rows):
    frame = r.call("own_data", {})
    X, z = frame[WIDE], frame["z"]
    facts = {"task": "binary", "name": "wide", "classes": z.cat.categories}
    rows["wide"] = dataset(X, z, **facts)
    model = loaded("learner_wide", task="wide")
    own = np.asarray(model.estimator.call("own_answer", {"data": X}))
    np.testing.assert_array_equal(model.predict(rows["wide"].X), own)
    assert len(np.unique(own)) > 1


def test_a_learner_of_mlr3_judges_missing_values_itself(loaded, rows):
    model = loaded("learner")
    X = rows["regression"].X.copy()
    X.loc[[3, 40], "x"] = np.nan
    X.loc[5, "g"] = None
    own = np.asarray(model.estimator.call("own_answer", {"data": X}))
    np.testing.assert_array_equal(model.predict(X), own)


@pytest.mark.parametrize(
    ("name", "task", "reason"),
    [
        ("learner_classes", "multiclass", "its predict_type is 'response'. Set it to "),
        ("learner_new", "regression", "it is not trained"),
        ("learner_k", "regression", "predicts the classes 'v', 'u', 'w', and task"),
        ("learner", "binary", "predicts a number, and task 'binary' needs"),
        ("caret_without", "binary", "trained without probabilities of classes. Train "),
        ("explainer_lost", "regression", "object 'lost_slope' not found. If its"),
        ("script", "regression", 'that predicts for it: predict = "predict.R"'),
    ],
)
def test_a_model_that_cannot_be_audited_says_why(loaded, name, task, reason):
    with pytest.raises(ModelError, match=reason):
        loaded(name, task=task)


# A function that the bridge's R gets stuck or dies in, by what is said of the model.
STUCK = {
    "tools::pskill(Sys.getpid(), 9)": "R ended during the call of model 'm', with "
    "signal SIGKILL (out of memory?).",
    "Sys.sleep(60)": "R did not finish the call of model 'm' within 3 s. Allow more "
    "time, or give it less to do.",
    "(function() { g <- function() g(); g() })()": "Model 'm' cannot predict the rows; "
    "mine says: evaluation nested too deeply: infinite recursion",
    "numeric(1e13)": "Model 'm' cannot predict the rows; mine says: cannot allocate "
    "vector of size 74505.8 Gb",
}


@pytest.mark.parametrize("call", STUCK)
def test_what_r_gets_stuck_in_names_the_model_and_the_limit(loaded, rows, call, r):
    script = f"function(model, data) if (nrow(data) > 2) {call} else data$x"
    model = loaded("script", script)
    try:
        r.models._r_seconds = 3.0
        with pytest.raises((ModelError, RBridgeError)) as refusal:
            model.predict(rows["regression"].X)
    finally:
        r.models._r_seconds = 120.0
    assert str(refusal.value).startswith(STUCK[call])


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("1 +", "unexpected end of input"),
        ("42", "its last value is no function of a model and a data frame"),
        ("function(model) 1", "its last value is no function of a model and a data"),
        ("function(model, data) stop(1)", ""),  # which asks for no name of the session
    ],
)
def test_a_script_that_is_no_predict_function_is_refused(loaded, script, reason):
    with pytest.raises(ModelError) as refusal:
        loaded("script", script)
    assert reason in str(refusal.value)
    start = (
        "Model 'm': the script that predicts for R model 'script.rds' must end in a "
        "function of the model and a data frame. R says: "
    )
    assert str(refusal.value).startswith(start) == bool(reason)
    assert "session" not in str(refusal.value)


@pytest.mark.parametrize(
    ("answer", "task", "reason"),
    [
        ("rep(1, 500)", "regression", r"shape \(90,\); mine returned \(500,\)"),
        (
            "matrix(1 / 3, nrow(data), 3)",
            "multiclass",
            "columns of its predictions have no names",
        ),
    ],
)
def test_answers_without_a_row_or_a_name_for_each_are_refused(
    loaded, rows, answer, task, reason
):
    script = f"function(model, data) {answer}"
    with pytest.raises(ModelError, match=reason):
        loaded("script", script, task).predict(rows[task].X)


BY_TEXT = """function(model, data) {
  data$x + unname(model$of_town[data$town]) + model$of_g[data$g]
}"""


def with_towns(r, levels):
    frame = r.call("own_data", {})
    towns = np.where(frame["is_high"], "x", "y")
    g = frame["g"].cat.reorder_categories(levels)
    X = frame[["x", "n"]].assign(g=g, town=towns)
    return dataset(X, frame["y"], task="regression", name="rows")


def test_a_predict_function_gets_texts_as_in_the_session_that_saved_it(r, loaded, rows):
    rows["towns"] = data = with_towns(r, ["b", "a", "c"])
    model = loaded("script_with_session", BY_TEXT, "towns")
    town = np.where(data.X["town"] == "y", 1, 0)  # "y" is second in order
    expected = data.X["x"] + town + data.X["g"].cat.codes + 1
    np.testing.assert_allclose(model.predict(data.X), expected)
    r_models.refuse_other_predictions(model)
    assert model.notes == ()  # the levels are those of the session


def test_the_rows_of_a_session_are_predicted_as_the_audit_sends_them(r, loaded, rows):
    rows["towns"] = with_towns(r, ["a", "b", "c"])
    model = loaded("script_with_session", BY_TEXT, "towns")
    with pytest.raises(ModelError, match=r"otherwise .* by up to 1 for 90 rows"):
        r_models.refuse_other_predictions(model)


@pytest.mark.needs_dalex
def test_an_explainer_that_predicts_otherwise_than_it_did_is_refused(loaded, rows):
    moved = loaded("explainer_moved")
    with pytest.raises(ModelError, match="by up to 1e-06 for 90 rows"):
        r_models.refuse_other_predictions(moved)
    config = parse_config({"importance": [{"method": "permutation"}]})
    result = audit(rows["regression"], rows["regression"], config, models=[moved])
    assert result.run.status == "failed"
    assert not result.importances
    (failure,) = (f for f in result.findings if f.severity == "failure")
    assert failure.message.startswith(
        "The audit stopped in the step 'checks of m': Model 'm' predicts otherwise"
    )


@pytest.mark.needs_dalex
@pytest.mark.parametrize("name", ["explainer", "explainer_2", "explainer_k"])
def test_an_explainer_that_predicts_what_it_did_is_not_refused(loaded, name):
    model = loaded(name)
    facts = model.estimator.call("distance_to_session", {})
    assert (facts["distance"][0], facts["n_rows"][0]) == (0.0, 90)
    r_models.refuse_other_predictions(model)


@pytest.mark.needs_dalex
def test_an_explainer_may_be_silent_or_differ_as_its_own_answers_do(loaded):
    silent = loaded("explainer_silent")  # it holds no predictions to compare
    assert not silent.estimator.call("distance_to_session", {})
    r_models.refuse_other_predictions(silent)
    noisy = loaded("explainer_noisy")
    facts = noisy.estimator.call("distance_to_session", {})
    distance, noise = facts["distance"][0], facts["noise"][0]
    assert r_models.SAME_PREDICTIONS * facts["largest"][0] < distance < 2 * noise
    r_models.refuse_other_predictions(noisy)


def test_the_probability_of_the_second_class_is_enough(loaded, rows):
    model = loaded("script", "function(model, data) plogis(data$x)", "binary")
    X = rows["binary"].X
    np.testing.assert_allclose(model.predict(X), 1 / (1 + np.exp(-X["x"])))


def test_an_explainer_of_two_classes_gives_the_first_one_its_probability(loaded, rows):
    rows["turned"] = replace(rows["binary"], classes=rows["binary"].classes[::-1])
    yes, no = (loaded("explainer_f", task=task) for task in ("binary", "turned"))
    X = rows["binary"].X
    np.testing.assert_array_equal(no.predict(X), 1 - yes.predict(X))
    assert yes.predict(X)[rows["binary"].y == 1].mean() > 0.5


@pytest.mark.parametrize("names", ["v u w", "w v u"])
def test_classes_are_found_by_the_names_of_their_columns(loaded, rows, names):
    columns = ", ".join(
        {"u": "u = 0 * data$x + 0.2", "v": "v = 0.5", "w": "w = 0.3"}[name]
        for name in names.split()
    )
    model = loaded("script", f"function(model, data) cbind({columns})", "multiclass")
    answer = model.predict(rows["multiclass"].X.iloc[:1])
    assert rows["multiclass"].classes == ("v", "u", "w")
    np.testing.assert_array_equal(answer, [[0.5, 0.2, 0.3]])


def test_an_audit_shows_the_script_and_its_digest(rows, tmp_path):
    (tmp_path / "fit.R").write_text("structure(list(b = 2), class = 'mine')")
    (tmp_path / "predict.R").write_text(SCRIPT)
    models = [{"name": "m", "r_script": "fit.R", "predict": "predict.R"}]
    measure = {"method": "permutation", "n_repeats": 2}
    config = parse_config({"models": models, "importance": [measure]}, base=tmp_path)
    result = audit(rows["regression"], rows["regression"], config)
    assert [f.check for f in result.findings if f.severity == "failure"] == []
    fitted, predicted = scripts(facts_of(result, content_digest(result)))
    assert "that fitted" in str(fitted.caption)
    assert "that predicts for" in str(predicted.caption)
    (parameters,) = result.models["parameters"]
    assert json.loads(parameters)["predict"] == SCRIPT
