"""Configured classifiers without probabilities, and objects with predict alone."""

import re
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC, LinearSVC
from tests.data.reading import configured
from tests.models.saved import saved

import importance_audit as ia
from importance_audit.auditing.audit import audit
from importance_audit.data.datasets import read_datasets
from importance_audit.models.own_code import modules_of

NOISE = np.random.default_rng(3).normal(size=(160, 4))
ROWS = pd.DataFrame(NOISE[:, :3], columns=["a", "b", "c"])
SUM = 2 * ROWS["a"] - ROWS["b"] + NOISE[:, 3]
TEXTS = pd.Series(np.where(SUM > 0.3, "yes", "no"))
TRAIN, TEST = slice(0, 80), slice(80, 160)
PERMUTED = {"method": "permutation", "n_repeats": 2}


def result_of(folder, model, y=TEXTS, task="binary", positive="yes", **entry):
    """Return the audit of one model that is fitted, or read from a file."""
    rows = ROWS.assign(y=y)
    texts = (rows[part].to_csv(index=False) for part in (TRAIN, TEST))
    if not isinstance(model, dict):
        model = saved(folder, model)
    keys = {"task": task, "models": [{"name": "m"} | model]}
    keys |= {"positive_class": positive} if y is TEXTS else {}
    config = configured(folder, *texts, importance=[PERMUTED | entry], **keys)
    return audit(*read_datasets(**config.data_arguments), config)


MACHINES = [SVC(), RidgeClassifier(), LinearSVC(random_state=1)]
# No configuration can name the estimators in it.
VOTES = VotingClassifier([("line", LogisticRegression()), ("b", SVC())])


@pytest.mark.parametrize("positive", ["yes", "no"])
@pytest.mark.parametrize(
    ("fresh", "door"),
    [*product(MACHINES, ["file", "estimator"]), (VOTES, "file")],
    ids=lambda part: part if isinstance(part, str) else type(part).__name__,
)
def test_a_configured_classifier_without_probabilities_is_measured_by_what_it_says(
    tmp_path, fresh, door, positive
):
    """Losses of classes by `predict`, of the order by `decision_function`."""
    fitted = fresh.fit(ROWS[TRAIN], TEXTS[TRAIN])
    model, kind = fitted, type(fresh)
    if door == "estimator":
        path = f"{kind.__module__.rpartition('._')[0]}.{kind.__name__}"
        seed = {"random_state": 1} if kind is LinearSVC else {}
        model = {"estimator": path, "parameters": seed}
    losses = ["one_minus_accuracy"]
    expected = [1 - fitted.score(ROWS[TEST], TEXTS[TEST])]
    assert expected[0] > 0
    if hasattr(fitted, "decision_function"):
        losses.append("one_minus_auc")
        score = fitted.decision_function(ROWS[TEST])
        expected.append(1 - roc_auc_score(TEXTS[TEST] == "yes", score))
    result = result_of(tmp_path, model, positive=positive, losses=losses)
    records = result.importances
    scales = {"one_minus_accuracy": "class", "one_minus_auc": "score"}
    assert [(r.loss, r.scale) for r in records] == [(k, scales[k]) for k in losses]
    assert [r.baseline[0] for r in records] == pytest.approx(expected, rel=1e-12)


def test_several_configured_classes_are_measured_by_predict(tmp_path):
    names = np.array(["z", "u", "v"])[np.digitize(SUM, [-1, 1])]
    model = RidgeClassifier().fit(ROWS[TRAIN], names[TRAIN])
    wrong = np.mean(model.predict(ROWS[TEST]) != names[TEST])
    for door in (model, {"estimator": "sklearn.linear_model.RidgeClassifier"}):
        (record,) = result_of(tmp_path, door, names, "multiclass").importances
        assert record.loss == "one_minus_accuracy"
        assert record.baseline[0] == pytest.approx(wrong)


@pytest.mark.parametrize("loss", ["one_minus_accuracy", "one_minus_auc"])
def test_a_refit_of_a_machine_is_judged_on_its_own_scale(tmp_path, loss):
    named = {"estimator": "sklearn.svm.SVC"}
    result = result_of(tmp_path, named, method="drop_column", losses=[loss])
    (record,) = result.importances

    def judge(columns):
        model = SVC().fit(ROWS[columns][TRAIN], TEXTS[TRAIN])
        rows = ROWS[columns][TEST]
        if loss == "one_minus_accuracy":
            return 1 - model.score(rows, TEXTS[TEST])
        score = model.decision_function(rows)
        return 1 - roc_auc_score(TEXTS[TEST] == "yes", score)

    expected = [judge(pair) - judge([*"abc"]) for pair in ([*"bc"], [*"ac"], [*"ab"])]
    np.testing.assert_allclose(record.mean, expected, atol=1e-12)


OBJECTS = """
import numpy as np
from sklearn.linear_model import LogisticRegression

def sigmoid(X):
    return 1 / (1 + np.exp(-np.asarray(X)[:, 0]))

class Fits:
    def fit(self, X, y):
        return self

class One(Fits):
    def predict(self, X):
        return sigmoid(X)

class Column(Fits):
    def predict(self, X):
        return sigmoid(X)[:, None]

class Two(Fits):
    def predict(self, X):
        return np.column_stack([1 - sigmoid(X), sigmoid(X)])

class Three(Fits):
    def predict(self, X):
        powers = np.exp(np.asarray(X))
        return powers / powers.sum(axis=1, keepdims=True)

class Contrary(LogisticRegression):
    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.2).astype(int)]

class Unnamed(Two):
    predict_proba = Two.predict
"""


@pytest.fixture
def own(tmp_path):
    """Return a function that makes a model of a class beside the audit."""
    (tmp_path / "predictors.py").write_text(OBJECTS)

    def model(kind, door):
        if door == "estimator":
            return {"estimator": f"predictors.{kind}"}
        with modules_of(tmp_path):
            made = getattr(__import__("predictors"), kind)()
            return made.fit(ROWS[TRAIN], TEXTS[TRAIN])

    return model


doors = pytest.mark.parametrize("door", ["file", "estimator"])


@doors
@pytest.mark.parametrize("kind", ["One", "Column", "Two"])
def test_a_configured_object_with_predict_alone_gives_probabilities(
    tmp_path, own, kind, door
):
    (record,) = result_of(tmp_path, own(kind, door), losses=["brier"]).importances
    share = 1 / (1 + np.exp(-ROWS["a"][TEST]))
    expected = np.mean((share - (TEXTS[TEST] == "yes")) ** 2)
    assert record.scale == "probability"
    assert record.baseline[0] == pytest.approx(expected, rel=1e-12)


@doors
def test_a_configured_object_gives_a_column_for_each_of_several_classes(
    tmp_path, own, door
):
    codes = np.digitize(SUM, [-1, 1])
    model = own("Three", door)
    asked = {"losses": ["log_loss_clipped"]}
    (record,) = result_of(tmp_path, model, codes, "multiclass", **asked).importances
    powers = np.exp(ROWS[TEST].to_numpy())
    shares = powers / powers.sum(axis=1, keepdims=True)
    expected = -np.log(shares[np.arange(80), codes[TEST]]).mean()
    assert record.baseline[0] == pytest.approx(expected, rel=1e-12)


@doors
def test_accuracy_of_a_configured_model_is_that_of_its_own_predict(tmp_path, own, door):
    result = result_of(tmp_path, own("Contrary", door), losses=["one_minus_accuracy"])
    line = LogisticRegression().fit(ROWS[TRAIN], TEXTS[TRAIN])
    named = np.where(line.predict_proba(ROWS[TEST])[:, 1] > 0.2, "yes", "no")
    wrong = np.mean(named != TEXTS[TEST])
    assert wrong != 1 - line.score(ROWS[TEST], TEXTS[TEST])
    (record,) = result.importances
    assert (record.scale, record.baseline[0]) == ("class", pytest.approx(wrong))


@doors
def test_probabilities_whose_columns_have_no_names_are_refused(tmp_path, own, door):
    model = own("Unnamed", door)
    with pytest.raises(ia.ModelError) as refusal:
        result_of(tmp_path, model)
    if door == "file":
        with pytest.raises(ia.ModelError, match=re.escape(str(refusal.value))):
            ia.audit({"m": own("Unnamed", door)}, ROWS, TEXTS)
    assert str(refusal.value) == (
        "Model 'm' does not say which column of its probabilities is which class: "
        "Unnamed has predict_proba and no classes_. Give it classes_, in the order of "
        "the columns."
    )


OTHERS = (
    " predicts the classes 'no!', 'yes!', and the target has 'no', 'yes'. Name the "
    "same classes in both."
)
NO_CLASSES = (
    " gives no classes for task 'binary': LinearRegression is no classifier. Name a "
    "classifier, or set task 'regression'."
)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SVC().fit(ROWS, TEXTS + "!"), OTHERS),
        (LinearRegression().fit(ROWS, SUM), NO_CLASSES),
        ({"estimator": "sklearn.linear_model.LinearRegression"}, NO_CLASSES),
    ],
)
def test_a_model_of_other_classes_or_of_none_is_refused(tmp_path, model, message):
    with pytest.raises(ia.ModelError) as refusal:
        result_of(tmp_path, model)
    assert str(refusal.value) == f"Model 'm'{message}"


def test_a_default_loss_that_needs_probabilities_is_replaced_with_a_note(tmp_path):
    result = result_of(tmp_path, VOTES.fit(ROWS[TRAIN], TEXTS[TRAIN]))
    (record,) = result.importances
    assert (record.loss, record.scale) == ("one_minus_accuracy", "class")
    (note,) = [f for f in result.findings if f.check == "no_probabilities"]
    assert note.message == (
        "The model gives no probabilities. It is measured by 'one_minus_accuracy' "
        "instead of 'one_minus_auc'."
    )
    machine = result_of(tmp_path, SVC().fit(ROWS[TRAIN], TEXTS[TRAIN]))
    assert "no_probabilities" not in {f.check for f in machine.findings}
