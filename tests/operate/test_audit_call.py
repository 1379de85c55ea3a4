"""Claims about the call from Python: what it asks is what a configuration asks."""

import pickle
import re
import subprocess
from operator import itemgetter

import joblib
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    RidgeClassifier,
)
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    cohen_kappa_score,
    f1_score,
    get_scorer,
    log_loss,
    make_scorer,
    mean_pinball_loss,
    roc_auc_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from tests.cases import for_each
from tests.cli.test_cli import sound, written
from tests.report.page_reader import parse_page

import importance_audit as ia
from importance_audit.auditing.audit import audit as run_audit
from importance_audit.cli.main import main
from importance_audit.methods.importance import METHODS, options_of
from importance_audit.operate.audit import COLUMNS, LINES, Audit
from importance_audit.operate.recomputation import rows_again
from importance_audit.records import execution
from importance_audit.records.as_json import content_digest
from importance_audit.records.losses import LOSSES, SCORERS
from importance_audit.records.ranking import interval

pytestmark = pytest.mark.usefixtures("shared_r")
RANDOM = np.random.default_rng(5)
X = pd.DataFrame(RANDOM.normal(size=(60, 3)), columns=["a", "b", "c"])
Y = pd.Series(2.0 * X["a"] - X["b"], name="y")
LABELS = pd.Series(np.where(Y > 0, "yes", "no"), name="answer")
CODES = (LABELS == "yes").astype(int)
LINEAR = LinearRegression().fit(X, Y)
PIPELINE = make_pipeline(StandardScaler(), LinearRegression()).fit(X, Y)
LOGISTIC = LogisticRegression().fit(X, LABELS)
IRIS = load_iris(return_X_y=True, as_frame=True)


def double(rows):
    return 2 * rows["a"]


def share(rows):
    return 1 / (1 + np.exp(-rows["a"].to_numpy()))


def halves(rows):
    return np.stack([1 - share(rows), share(rows)], axis=1)


def three(rows):
    return np.full((len(rows), 3), 1 / 3)


@pytest.fixture(scope="module")
def result():
    """Return the answer to the plainest call."""
    return ia.audit(LINEAR, X, Y, n_repeats=2)


def the_note(result, check):
    """Return the only finding of a check."""
    (note,) = [f for f in result.findings if f.check == check]
    return note


def test_a_call_measures_what_the_same_configuration_measures():
    called = ia.audit(LINEAR, X, Y, n_repeats=3, seed=4, losses="mae")
    entry = {"method": "permutation", "n_repeats": 3, "losses": ["mae"]}
    config = ia.parse_config({"seed": 4, "importance": [entry]})
    model = ia.wrap(LINEAR, name="LinearRegression")
    rows = ia.dataset(X, Y, task="regression", name="rows")
    (record,) = run_audit(None, rows, config, models=(model,)).importances
    assert called.importances[0].raw.tolist() == record.raw.tolist()


def test_unset_repeats_are_those_of_each_method():
    """SAGE draws 100 orders, not 10, and its standard errors are those of 100."""
    methods = ["sage", "shapley", "pd_importance", "permutation"]
    entries = [*methods[1:], {"method": "sage", "algorithm": "sampling"}]
    unset = ia.audit(LINEAR, X, Y, methods=entries)
    own = {
        method: options_of(METHODS[method].function)["n_repeats"] for method in methods
    }
    assert {r.method: r.options["n_repeats"] for r in unset.importances} == own
    assert {r.method: r.n_repeats for r in unset.importances}["sage"] == 100
    assert own == {"sage": 100, "shapley": 3, "pd_importance": 1, "permutation": 10}


@pytest.mark.needs_hstats
def test_methods_that_hstats_asks_once_are_compared_with_it_by_default():
    methods = ["pd_importance", "h_statistic"]
    result = ia.audit(LINEAR, X, Y, methods=methods, engines=["hstats"])
    assert result.agreement["verdict"].tolist() == ["replayed"] * 2


@pytest.mark.needs_hstats
def test_a_loss_that_hstats_refuses_withholds_no_other():
    losses = ["mse", "one_minus_r2", "rmse"]
    result = ia.audit(LINEAR, X, Y, losses=losses, engines=["hstats"])
    rows = result.agreement.set_index("loss").loc[losses]
    assert rows["verdict"].tolist() == ["replayed", "not compared", "replayed"]
    assert rows.loc["one_minus_r2", "reasons"] == (
        "hstats needs losses that are means over the rows; '1 − R²' is not such a loss."
    )


FLAG = Y > 0
FLAGS = {
    "bool": FLAG,
    "boolean": FLAG.astype("boolean"),
    "int": FLAG.astype(int),
    "Int64": FLAG.astype("Int64"),
    "float": FLAG.astype(float),
    "text": FLAG.map({True: "true", False: "false"}),
}


@pytest.mark.parametrize(
    ("fitted", "target"),
    [
        *(("bool", "int"), ("bool", "float"), ("int", "text")),
        *(("int", "boolean"), ("text", "bool"), ("text", "Int64")),
    ],
)
def test_0_and_1_are_the_classes_false_and_true(fitted, target):
    noisy = X + np.random.default_rng(1).normal(size=X.shape)
    model = LogisticRegression().fit(noisy, FLAGS[fitted])
    result = ia.audit(model, X, FLAGS[target], losses="brier", n_repeats=2)
    probability = model.predict_proba(X)[:, 1]
    truth = np.mean((probability - FLAG) ** 2)
    assert result.importances[0].baseline == pytest.approx([truth] * 2, rel=1e-12)


def test_the_other_flag_may_be_the_positive_class():
    model = LogisticRegression().fit(X, FLAGS["int"])
    wrapped = ia.wrap(model, name="m", classes=["true", "false"])
    assert wrapped.predict(X) == pytest.approx(model.predict_proba(X)[:, 0], rel=1e-12)


@pytest.mark.parametrize("y", [Y.to_numpy()[:, np.newaxis], Y.to_frame()])
def test_a_target_of_one_column_is_taken(y):
    plain = ia.audit(LINEAR, X, Y, train=(X, Y))
    column = ia.audit(LINEAR, X, y, train=(X, y))
    assert column.to_frame().equals(plain.to_frame())


def sum_of_known(rows):
    return 2 * rows["a"].astype(float) + rows["c"].notna()


@pytest.mark.parametrize("empty", [np.nan, None, pd.NA])
def test_a_column_without_a_value_is_measured_with_a_note(empty):
    rows = X.assign(c=pd.Series([empty] * len(X), dtype=object))
    methods = ["permutation", "partial_dependence"]
    result = ia.audit(sum_of_known, rows, Y, methods=methods)
    by_loss, by_curve = result.importances
    assert by_loss.mean[0] > 1
    assert by_loss.mean[1:].tolist() == [0, 0]
    assert by_curve.mean[1] == 0
    assert np.isnan(by_curve.mean[2])
    note = the_note(result, "empty_column")
    assert (note.severity, note.message) == (
        "info",
        "These columns have no value in any evaluation row, so what a model reads of "
        "them is that they are missing: 'c'.",
    )


@pytest.mark.needs_iml
def test_iml_needs_a_value_in_each_column():
    result = ia.audit(sum_of_known, X.assign(c=np.nan), Y, engines=["iml"])
    assert result.agreement["reasons"].tolist() == [
        "iml needs a value in some row of each column; 'c' has none."
    ]


def test_a_class_without_evaluation_rows_is_named():
    features, target = IRIS
    model = LogisticRegression(max_iter=500).fit(features, target)
    keep = target != 1
    losses = ["one_minus_auc_ovo", "one_minus_balanced_accuracy", "log_loss"]
    result = ia.audit(model, features[keep], target[keep], losses=losses, n_repeats=2)
    is_known = [bool(np.isfinite(r.mean).all()) for r in result.importances]
    assert is_known == [False, False, True]
    finding = the_note(result, "absent_class")
    assert (finding.severity, finding.message) == (
        "warning",
        "No evaluation row has the class '1', so losses that take each class by "
        "itself, such as 1 - AUC and 1 - balanced accuracy, are not defined.",
    )
    with pytest.raises(ia.AuditError, match="Nothing could be measured") as refusal:
        ia.audit(model, features[keep], target[keep], losses="one_minus_auc_ovr")
    assert "No evaluation row has the class '1'" in str(refusal.value)


def test_the_interval_is_that_over_other_rows_where_there_is_one():
    """A ranking of which one feature has none shows that over the repeats alone."""
    result = ia.audit(LINEAR, X, Y, methods=["permutation", "shapley"])
    by_method = result.to_frame().set_index("method")
    by_rows, by_repeats = by_method.loc["permutation"], by_method.loc["shapley"]
    assert set(by_rows["interval"]) == {"rows"}
    for name in ("std_error", "low", "high"):
        np.testing.assert_array_equal(by_rows[name], result.row_intervals[name])
    low, high = interval(result.importances[0])
    np.testing.assert_array_equal(by_rows["repeats_low"], low)
    np.testing.assert_array_equal(by_rows["repeats_high"], high)

    axes = result.plot().axes[0]
    (bars,) = axes.containers
    ends = np.array([path.vertices[:, 0] for path in bars[2][0].get_paths()])
    order = np.argsort(by_rows["mean"].to_numpy())
    np.testing.assert_allclose(ends[:, 0], by_rows["low"].iloc[order], rtol=1e-12)
    np.testing.assert_allclose(ends[:, 1], by_rows["high"].iloc[order], rtol=1e-12)
    (legend,) = axes.get_legend().get_texts()
    assert legend.get_text().endswith("interval over resampled rows")

    assert set(by_repeats["interval"]) == {"repeats"}
    of_draws = result.importances[1].std_error
    np.testing.assert_array_equal(by_repeats["std_error"], of_draws)
    np.testing.assert_array_equal(by_repeats["low"], by_repeats["repeats_low"])

    partly = result.row_intervals.copy()
    partly.loc[0, ["std_error", "low", "high"]] = np.nan
    audit = Audit(result.result.with_frames(row_intervals=partly))
    frame = audit.to_frame()
    assert set(frame["interval"]) == {"repeats"}
    np.testing.assert_array_equal(frame["low"], frame["repeats_low"])
    (legend,) = audit.plot().axes[0].get_legend().get_texts()
    assert legend.get_text().endswith("interval of the mean over the repeats")


@pytest.mark.parametrize(
    ("models", "names", "expected"),
    [
        (LINEAR, None, ["LinearRegression"]),
        ([LINEAR, LINEAR], None, ["LinearRegression", "LinearRegression 2"]),
        ([LINEAR, double], ["ours", "theirs"], ["ours", "theirs"]),
        ({"ours": LINEAR, "theirs": double}, None, ["ours", "theirs"]),
        (double, None, ["double"]),
        (lambda rows: rows["a"], None, ["function"]),
        (PIPELINE, None, ["LinearRegression"]),
    ],
)
def test_models_are_named_by_their_class_unless_somebody_says(models, names, expected):
    result = ia.audit(models, X, Y, names=names, n_repeats=2)
    assert result.models["model"].tolist() == expected


@pytest.mark.parametrize(
    ("model", "y", "expected"),
    [
        (LINEAR, Y, "regression, because LinearRegression was fitted for it"),
        (LOGISTIC, LABELS, "binary, because LogisticRegression was fitted for it"),
        (double, Y, "regression, because the target has numbers"),
        (halves, LABELS, "binary, because 'halves' predicts 2 columns"),
        (share, LABELS == "yes", "binary, because the target has 2 classes"),
        (share, CODES, "binary, because the target is 0 and 1 alone"),
        (three, pd.Series([0, 1, 2] * 20), "multiclass, because 'three' predicts 3"),
    ],
)
def test_the_task_follows_from_model_or_target_and_a_note_says_which(
    model, y, expected
):
    result = ia.audit(model, X, y, n_repeats=2)
    note = the_note(result, "task_inferred")
    assert note.message.startswith(f"The task is {expected}")
    assert expected.startswith(result.datasets["task"].iloc[0])


@pytest.mark.parametrize(
    ("word", "y", "task"),
    [
        ("classification", LABELS, "binary"),
        ("classification", pd.Series([0, 1, 2] * 20), "multiclass"),
    ],
)
def test_the_words_of_scikit_learn_for_a_task_are_understood(word, y, task):
    model = LogisticRegression().fit(X, y)
    result = ia.audit(model, X, y, task=word, n_repeats=2)
    assert result.datasets["task"].tolist() == [task]
    assert "task_inferred" not in {f.check for f in result.findings}


@pytest.mark.parametrize("shown", [[0, 1], [1, 2]])
def test_classification_has_the_classes_of_the_model_where_rows_lack_one(shown):
    y = pd.Series([0, 1, 2] * 20)
    model, kept = LogisticRegression().fit(X, y), y.isin(shown)
    result = ia.audit(model, X[kept], y[kept], task="classification", n_repeats=2)
    expected = -np.log(model.predict_proba(X[kept])[np.arange(kept.sum()), y[kept]])
    assert result.importances[0].baseline.mean() == pytest.approx(expected.mean())


@pytest.mark.parametrize("other", [2, "maybe"])
def test_rows_of_weight_zero_say_nothing_of_the_task_and_the_classes(other):
    y, weights = (X["a"] > 0).astype(int), np.arange(60) % 4
    y = y if other == 2 else y.map({0: "no", 1: "yes"})
    counts = weights > 0

    def share(rows):
        assert np.isfinite(rows["a"]).all()
        return 1 / (1 + np.exp(-rows["a"]))

    y, rows = y.where(counts, other), X.assign(a=X["a"].where(counts))
    given, alone = (
        ia.audit(share, rows[which], y[which], sample_weight=weights[which])
        for which in (slice(None), counts)
    )
    assert given.datasets["task"].tolist() == ["binary"]
    assert given.importances[0].raw.tolist() == alone.importances[0].raw.tolist()
    again = rows_again(given.result, rows, y, weights)
    assert again.classes == (("0", "1") if other == 2 else ("no", "yes"))


def test_weights_are_named_as_the_call_names_them():
    words = r"sample_weight must not be negative; 1 of 60 weights is\."
    with pytest.raises(ia.DataError, match=words):
        ia.audit(LINEAR, X, Y, sample_weight=np.arange(60) - 1.0)


class Predicting:
    """A model with predict alone, as those of Keras have it."""

    def __init__(self, predict):
        self.predict = predict


@pytest.mark.parametrize(
    ("predict", "y", "expected"),
    [
        (
            lambda rows: halves(rows)[:, [1]],
            CODES,
            "binary, because the target is 0 and 1 alone; it is a guess, since "
            "Predicting does not say its task. The positive class is '1'.",
        ),
        (
            halves,
            LABELS,
            "binary, because 'm' predicts 2 columns. The positive class is 'yes'.",
        ),
        (
            lambda rows: rows[["a"]].to_numpy(),
            Y,
            "regression, because the target has numbers; it is a guess, since "
            "Predicting does not say its task.",
        ),
    ],
    ids=["column", "two columns", "numbers"],
)
def test_an_object_with_predict_alone_is_asked_as_a_function_is(predict, y, expected):
    """It says no task, so none "was fitted for it"; shapes (n, 1) and (n, k) count."""
    usual = {"n_repeats": 2, "names": ["m"]}
    result = ia.audit(Predicting(predict), X, y, **usual)
    note = the_note(result, "task_inferred")
    assert note.message == f"The task is {expected}"
    assert note.remedy.startswith("Pass task= to set another one.")
    of_function = ia.audit(predict, X, y, task=result.datasets["task"][0], **usual)
    ours, theirs = (r.importances[0].raw for r in (result, of_function))
    np.testing.assert_array_equal(ours, theirs)


def test_a_loss_of_a_call_or_an_entry_may_have_the_name_of_a_scorer():
    entry = {"method": "permutation", "losses": ["neg_brier_score"]}
    by_entry, by_scorer, by_loss = (
        ia.audit(LOGISTIC, X, LABELS, n_repeats=2, **asked)
        for asked in (
            {"methods": [entry]},
            {"losses": "neg_brier_score"},
            {"losses": "brier"},
        )
    )
    assert by_scorer.importances[0].loss == "brier"
    for named in (by_entry, by_scorer):
        assert named.to_frame().equals(by_loss.to_frame())


VOTES = [("tree", DecisionTreeClassifier(max_depth=2)), ("line", LogisticRegression())]
NOISE = pd.Series(np.random.default_rng(6).normal(size=60))
NOISY = pd.Series(np.where(X["a"] + 2 * NOISE > 0, "yes", "no"))


@pytest.mark.parametrize("positive", ["yes", "no"])
@pytest.mark.parametrize(
    "model",
    [SVC(), RidgeClassifier(), VotingClassifier(VOTES)],
    ids=["SVC", "RidgeClassifier", "hard voting"],
)
def test_a_classifier_without_probabilities_is_measured_by_what_it_says(
    model, positive
):
    """Losses of classes by `predict`, and of the order by `decision_function`."""
    model = clone(model).fit(X, NOISY)
    asked = {"n_repeats": 2, "positive_class": positive}
    result = ia.audit(model, X, NOISY, losses=["accuracy"], **asked)
    (record,) = result.importances
    assert (record.scale, record.loss) == ("class", "one_minus_accuracy")
    wrong = 1 - model.score(X, NOISY)
    assert record.baseline[0] == pytest.approx(wrong, rel=1e-12)
    assert wrong > 0
    if not hasattr(model, "decision_function"):
        (usual,) = ia.audit(model, X, NOISY, **asked).importances
        assert usual.loss == "one_minus_accuracy"
        return
    area = 1 - roc_auc_score(NOISY == "yes", model.decision_function(X))
    (usual,) = ia.audit(model, X, NOISY, **asked).importances
    assert (usual.scale, usual.loss) == ("score", "one_minus_auc")
    assert usual.baseline[0] == pytest.approx(area, rel=1e-12)
    both = ia.audit(model, X, NOISY, losses=["roc_auc", "accuracy"], **asked)
    assert [r.baseline[0] for r in both.importances] == pytest.approx([area, wrong])
    readings = both.readings.set_index("reading")["value"]
    assert readings["auc"] == pytest.approx(1 - area, rel=1e-12)
    assert len(both.calibration) == 0


class Contrary(LogisticRegression):
    """A classifier whose predict is not of its probabilities, as an SVC's is not."""

    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.3).astype(int)]


def test_accuracy_is_that_of_predict_where_it_names_other_classes():
    model = Contrary().fit(X, NOISY)
    right, by_share = model.score(X, NOISY), LogisticRegression().fit(X, NOISY)
    assert right != by_share.score(X, NOISY)
    losses = ["accuracy", "neg_log_loss", "balanced_accuracy"]
    result = ia.audit(model, X, NOISY, losses=losses, n_repeats=2)
    by_loss = {record.loss: record for record in result.importances}
    accuracy, surprise = by_loss["one_minus_accuracy"], by_loss["log_loss_clipped"]
    assert (accuracy.scale, surprise.scale) == ("class", "probability")
    assert accuracy.baseline[0] == pytest.approx(1 - right, rel=1e-12)
    expected = log_loss(NOISY, model.predict_proba(X))
    assert surprise.baseline[0] == pytest.approx(expected, rel=1e-12)
    recall = balanced_accuracy_score(NOISY, model.predict(X))
    measured = by_loss["one_minus_mean_recall"].baseline[0]
    assert measured == pytest.approx(1 - recall, rel=1e-12)
    assert sorted(result.performance["loss"]) == sorted(by_loss)


@pytest.mark.needs_dalex
def test_no_engine_is_asked_for_the_accuracy_of_predict():
    model = Contrary().fit(X, NOISY)
    asked = {"losses": ["accuracy", "brier"], "engines": ["DALEX"], "n_repeats": 2}
    result = ia.audit(model, X, NOISY, **asked)
    rows = result.agreement.set_index("loss").loc[["one_minus_accuracy", "brier"]]
    assert rows["verdict"].tolist() == ["not compared", "replayed"]
    assert rows["reasons"]["one_minus_accuracy"] == (
        "DALEX is given probabilities, and this loss is measured by the class that "
        "predict names."
    )


@pytest.mark.parametrize("positive", ["yes", "no"])
def test_the_positive_class_of_a_text_target_is_said_and_can_be_chosen(positive):
    asked = {"n_repeats": 2, "losses": "average_precision"}
    asked |= {"positive_class": "no"} if positive == "no" else {}
    result = ia.audit(LOGISTIC, X, LABELS, **asked)
    note = the_note(result, "task_inferred")
    assert note.message == (
        "The task is binary, because LogisticRegression was fitted for it. The "
        f"positive class is {positive!r}."
    )
    assert note.remedy == (
        "Pass task= to set another one. Pass positive_class= to ask for the other "
        "class."
    )
    (record,) = result.importances
    assert record.positive_class == positive
    p = LOGISTIC.predict_proba(X)[:, ["no", "yes"].index(positive)]
    expected = 1 - average_precision_score(positive == LABELS, p)
    assert record.baseline[0] == pytest.approx(expected, rel=1e-12)


CODED = LogisticRegression().fit(X, LABELS == "yes")
FLOWERS = LogisticRegression(max_iter=1000).fit(*IRIS)
WHOLE = Y.round().astype(int)  # numbers, whatever their dtype
GRADES = pd.Series(np.digitize(Y, [-1, 1]) + 1).replace({3: 10})  # 1, 2 and 10
GRADED = LogisticRegression(C=0.01).fit(X, GRADES)


@pytest.mark.parametrize(
    ("scorer", "model", "rows", "y"),
    [
        (make_scorer(f1_score), CODED, X, LABELS == "yes"),
        (get_scorer("roc_auc"), CODED, X, LABELS == "yes"),
        (make_scorer(f1_score, average="macro"), FLOWERS, *IRIS),
        (get_scorer("neg_median_absolute_error"), LINEAR, X, Y),
        (make_scorer(mean_pinball_loss, greater_is_better=False), LINEAR, X, WHOLE),
        (make_scorer(f1_score, pos_label="no"), LOGISTIC, X, LABELS),
        (make_scorer(f1_score, average="micro", labels=[1, 10]), GRADED, X, GRADES),
        (make_scorer(cohen_kappa_score, weights="quadratic"), GRADED, X, GRADES),
    ],
    ids="f1 roc_auc f1_macro median pinball f1_of_no f1_of_two kappa".split(),
)
def test_what_make_scorer_returns_is_measured_as_minus_its_score(
    scorer, model, rows, y
):
    result = ia.audit(model, rows, y, losses=[scorer], n_repeats=2)
    (record,) = result.importances
    assert record.baseline == pytest.approx([-scorer(model, rows, y)] * 2, rel=1e-12)


def test_methods_of_one_column_are_not_asked_of_groups():
    methods = ["permutation", "partial_dependence", "spearman", "stratified_impact"]
    result = ia.audit(LINEAR, X, Y, groups={"both": list(X)}, methods=methods)
    asked = [(record.method, record.of) for record in result.importances]
    assert set(asked) == {(each, "features") for each in methods} | {
        ("permutation", "groups")
    }
    assert not [f.message for f in result.findings if "'both'" in f.message]


def test_a_scorer_has_its_own_positive_class():
    scorer = make_scorer(f1_score)  # of class 1
    model = LogisticRegression().fit(X, CODES)
    for positive in (0, 1):
        asked = {"losses": [scorer], "n_repeats": 2, "positive_class": positive}
        (record,) = ia.audit(model, X, CODES, **asked).importances
        expected = [-scorer(model, X, CODES)] * 2
        assert record.baseline == pytest.approx(expected, rel=1e-12)


PERMUTATION, OF_GROUPS = {"method": "permutation"}, {"of": "groups"}


@pytest.mark.parametrize(
    ("methods", "of_groups"),
    [
        ([PERMUTATION], ""),
        ([PERMUTATION, PERMUTATION | OF_GROUPS], ""),  # not twice
        ([PERMUTATION | {"name": "mine"}], "mine of groups"),
    ],
)
def test_groups_are_asked_once_in_an_entry_of_their_own(methods, of_groups):
    result = ia.audit(LINEAR, X, Y, methods=methods, groups={"both": ["a", "b"]})
    features, groups = result.importances
    assert (features.of, features.entry) == ("features", methods[0].get("name", ""))
    assert (groups.of, groups.features) == ("groups", ("both",))
    assert groups.entry == of_groups


CLASSIFIER = LogisticRegression().fit(X, Y > 0)
ASKED = ia.parse_config({"importance": [{"method": "permutation"}]})
RIDGE = {"models": RidgeClassifier().fit(X, LABELS), "y": LABELS}
TEXTS = {"models": LOGISTIC, "y": LABELS}
REFUSED = [
    ({"groups": {"g": "ab"}}, "groups must be a dict of lists of columns, such as "),
    ({"methods": []}, "methods must name at least one method."),
    ({"methods": ["permutaton"]}, "[importance] method must be one of "),
    ({"engines": "dalex"}, "[importance] engines must be a list of names among "),
    ({"losses": ["rmsle"]}, "losses must be among those of task 'regression': 'rm"),
    ({"n_repeats": 0}, "[importance] n_repeats must be at least 1; 0 was given."),
    (
        {"config": ASKED, "n_jobs": 0},
        "n_jobs must be a whole number from 1; 0 was given.",
    ),
    ({"config": ASKED, "minutes": 0}, "minutes must be above 0; 0 was given."),
    (
        {"config": "audit.toml", "n_repeats": 3},
        "'n_repeats' and config are both given, and config is a file, which says what "
        "is asked. Say it there, or leave config out.",
    ),
    ({"config": 5}, "config must be a path, a mapping or what parse_config returns; "),
    ({"config": {"limits": 5}, "minutes": 1}, "[limits] must be a table; 5 was"),
    ({"names": ["one", "two"]}, "names must have one name for each of 1 model; "),
    ({"models": {"m": LINEAR}, "names": ["m"]}, "The keys of models are their names; "),
    ({"models": [LINEAR] * 2, "names": ["m"] * 2}, "The names of the models must be t"),
    *(
        (asked, "The names of the models must be texts that differ and are not ")
        for asked in ({"models": {1: LINEAR}}, {"names": [3]}, {"names": [" "]})
    ),
    ({"models": LinearRegression}, "Model 'LinearRegression'"),
    (
        {"models": LogisticRegression(), "y": np.where(Y > 0, "yes", "no")},
        "Model 'LogisticRegression' is a classifier without classes_, so it is not "
        "fitted. Call its fit first, or pass classes=[…].",
    ),
    ({"X": LINEAR}, "X must be rows to measure on; LinearRegression was given. Give "),
    (
        {"X": "rows.csv"},
        "X must be rows to measure on; 'rows.csv' was given. Read the file first, for "
        "instance with pandas.read_csv.",
    ),
    (
        {"y": "a"},
        "y must be the target of the rows, not the name of a column; 'a' was given. ",
    ),
    (
        {"X": csr_array(X)},
        "X: X must have rows and columns; it is a csr_array. Pass X.",
    ),
    ({"y": None}, f"y must have one value for each of the {len(X)} rows of X; its "),
    (
        {"y": [1, "a"] * 30},
        "rows given in Python: y holds mixed-integer values (dtype object), which are "
        "not numbers, text or booleans. Convert it to numbers, or to texts (pandas' "
        "category).",
    ),
    ({"y": Y * np.nan}, "rows given in Python: target 'y' has no value in any row. "),
    (
        {"models": CLASSIFIER, "y": np.where(Y > 0, "yes", "no")},
        "rows given in Python: target 'y' holds 'no', 'yes', which are not among "
        "the classes 'false', 'true'. Write its values as these classes are written.",
    ),
    (
        {"models": LOGISTIC, "y": np.where(Y > 0, 1, 0)},
        "rows given in Python: target 'y' holds 0, 1, which are not among the classes "
        "'no', 'yes'. Write its values as these classes are written.",
    ),
    ({"X": X[:0], "y": Y[:0]}, "X has no rows, and at least two are needed. Give "),
    (
        {"models": lambda rows: rows["no_such"], "names": ["own"]},
        "Model 'own' cannot predict the rows; its function says: KeyError: 'no_such'",
    ),
    ({"models": ia.r_model("none.rds")}, "Model 'none': 'none.rds' cannot be read: "),
    ({"task": "ranking"}, "task must be one of 'binary', 'classification', "),
    ({"train": X}, "train must be (X, y) or (X, y, sample_weight)."),
    (
        {"train": (X.rename(columns={"a": "q"}), Y)},
        "train must have the columns of X; it lacks 'a' and has 'q' besides.",
    ),
    (
        {"train": (X.astype({"a": str}), Y)},
        "Column 'a' has text in train and numbers in X. Give it one type.",
    ),
    (
        {"X": X.to_numpy()},
        "Model 'LinearRegression' was fitted on the columns 'a', 'b', 'c', and X is an "
        "array, whose columns have no names. Pass a data frame.",
    ),
    (
        {"y": Y[:-1]},
        f"y must have one value for each of the {len(X)} rows of X; its shape is "
        f"({len(X) - 1},).",
    ),
    (
        {"y": Y.iloc[::-1]},
        "The index of y has the same labels in another order than that of X. Pass "
        "y.loc[X.index].",
    ),
    (
        {"sample_weight": Y.set_axis(Y.index + 7)},
        "The index of sample_weight has other labels than that",
    ),
    ({"y": np.stack([Y, Y], axis=1)}, "y must be one column; it has 2. Give one of "),
    (
        {"y": pd.DataFrame({"u": Y, "v": Y})},
        "y must be one column; it has 2 ('u', 'v'). Give one of them, and the models ",
    ),
    (
        {"y": np.eye(3)[[0, 1, 2] * 20]},
        "y must be one column; it has 3. If each is a class, give "
        "numpy.asarray(y).argmax(axis=1).",
    ),
    (
        {"models": three, "y": [0, 1, 2] * 20, "losses": "neg_brier_score"},
        "Scorer 'neg_brier_score' measures no model of task 'multiclass'. Those of "
        "that task are 'roc_auc_ovo', 'roc_auc_ovr', 'average_precision', 'accuracy', ",
    ),
    (
        RIDGE | {"losses": "neg_log_loss"},
        "Model 'RidgeClassifier' gives no probabilities, and loss 'log_loss_clipped' "
        "needs them. Its losses are 'one_minus_accuracy', 'one_minus_mean_recall', ",
    ),
    (
        TEXTS | {"positive_class": "maybe"},
        "positive_class must be one of two classes; 'maybe' was given, and they are "
        "'no', 'yes'.",
    ),
    (
        {"positive_class": "maybe"},
        "positive_class must be one of two classes; 'maybe' was given, and the task "
        "has no classes.",
    ),
    (
        {"models": ia.wrap(LOGISTIC, name="m"), "y": LABELS, "positive_class": "no"},
        "Model 'm' predicts the probability of 'yes', and the positive class is 'no'. "
        "Wrap it with classes=[…], the positive one last.",
    ),
]


@for_each(REFUSED, itemgetter(1))
def test_a_call_that_cannot_be_asked_says_why_once(case):
    changes, sentence = case
    with pytest.raises(ia.AuditError) as refusal:
        ia.audit(**{"models": LINEAR, "X": X, "y": Y, **changes})
    (said,) = str(refusal.value).splitlines()
    assert said.startswith(sentence)


def test_columns_named_as_the_classes_are_found_by_their_names():
    rows, y = IRIS
    known = FLOWERS.predict_proba(rows)

    def shuffled(part):
        table = pd.DataFrame(FLOWERS.predict_proba(part), columns=[0, 1, 2])
        return table[[2, 0, 1]]

    (record,) = ia.audit(shuffled, rows, y, losses="log_loss", n_repeats=2).importances
    assert record.baseline[0] == pytest.approx(log_loss(y, known), rel=1e-9)
    numbered = ia.wrap(
        lambda part: pd.DataFrame(FLOWERS.predict_proba(part)[:, ::-1]),
        name="numbered",
        task="multiclass",
        features=list(rows),
        classes=[2, 1, 0],
    )
    assert numbered.predict(rows) == pytest.approx(known[:, ::-1])


def test_rows_predicted_in_another_order_are_refused():
    with pytest.raises(ia.AuditError, match="must predict rows in their order"):
        ia.audit(lambda rows: rows["a"].sort_values(), X, Y)
    numbered = X.set_axis(range(7, 7 + len(X)))
    of_rows = (lambda rows: rows["a"], lambda rows: pd.Series(rows["a"].to_numpy()))
    for predict in of_rows:
        assert ia.audit(predict, numbered, Y.to_numpy()).importances


@pytest.mark.parametrize("of", ["X", "y"])
def test_masked_cells_are_missing(of):
    cells = np.ma.masked_array(X, mask=np.arange(X.size).reshape(X.shape) % 7 == 0)
    seen = []

    def predict(rows):
        seen.append(int(rows.isna().sum().sum()))
        return rows["x1"].fillna(0)

    if of == "X":
        result = ia.audit(predict, cells, Y)
        assert result.datasets["missing_cells"].tolist() == [cells.mask.sum()]
        assert max(seen) == cells.mask.sum()
    else:
        with pytest.raises(ia.DataError, match="target 'y' is missing in"):
            ia.audit(LINEAR, X, cells[:, :1])


def test_two_entries_of_a_method_are_told_apart_in_the_frame():
    ratio = {"method": "permutation", "name": "as a ratio", "form": "ratio"}
    frame = ia.audit(LINEAR, X, Y, methods=["permutation", ratio]).to_frame()
    told = frame[["entry", "form"]].drop_duplicates()
    assert told.to_numpy().tolist() == [["", "difference"], ["as a ratio", "ratio"]]


def test_a_model_that_is_to_be_fitted_again_is_given_with_its_training_rows():
    asked = {"methods": ["t_statistic", "permutation"]}
    note = the_note(ia.audit(LINEAR, X, Y, **asked), "not_applicable").message
    assert "[[" not in note
    made = {"name": "ols", "estimator": "sklearn.linear_model.LinearRegression"}
    again = {"train": (X, Y + X["c"] ** 2), "config": {"models": [made]}}
    records = ia.audit(LINEAR, X, Y, **asked, **again).importances
    assert [(r.model, r.method) for r in records if r.method == "t_statistic"] == [
        ("ols", "t_statistic")
    ]


def test_a_configuration_that_has_rows_is_refused(tmp_path):
    written(tmp_path)
    with pytest.raises(ia.ConfigError) as refusal:
        ia.audit(LINEAR, X, Y, config=tmp_path)
    assert str(refusal.value) == (
        "[data] says where rows are, and X and y are rows. Leave [data] out."
    )


def test_a_column_that_the_configuration_derives_is_measured_and_not_given():
    """FIRM of a 0/1 column: the difference of two means times its spread."""
    derived = {"name": "high", "expression": "a > 0.3"}
    firm = {"method": "firm", "estimator": "binary"}
    for train in (None, (X, Y)):
        asked = {"derived": [derived], "importance": [firm]}
        (record,) = ia.audit(LINEAR, X, Y, train=train, config=asked).importances
        assert record.features == ("a", "b", "c", "high")
        is_high = X["a"] > 0.3
        means = [LINEAR.predict(X[rows]).mean() for rows in (is_high, ~is_high)]
        expected = (means[0] - means[1]) * is_high.std(ddof=0)
        assert record.mean[3] == pytest.approx(expected)
    month = {"name": "month", "of": ["a"], "part": "month"}
    with pytest.raises(ia.ConfigError, match="'month': models are given parts"):
        ia.audit(LINEAR, X, Y, config={"derived": [month]})


def test_an_unknown_loss_is_told_all_that_the_task_has():
    """Wherever it is named."""
    known = {name for name, loss in LOSSES.items() if "regression" in loss.tasks}
    known |= {name for name, by_task in SCORERS.items() if "regression" in by_task}
    for name in ("f1", "r2_score"):
        refusals = []
        for asked in (
            {"methods": [{"method": "permutation", "losses": [name]}]},
            {"losses": name},
        ):
            with pytest.raises(ia.ConfigError) as refusal:
                ia.audit(LINEAR, X, Y, **asked)
            refusals.append(str(refusal.value))
        listed, _, given = refusals[0].partition("; ")
        assert refusals[0] == refusals[1]
        assert listed.startswith("losses must be among those of task 'regression': ")
        assert set(re.findall(r"'(\w+)'", listed)) == {"regression", *known}
        assert given == f"{name!r} was given."


def test_an_audit_that_measured_nothing_raises_with_its_reasons():
    """Those of every severity: why a method does not apply is a note; each once."""

    def broken(rows):
        raise ValueError(f"no such column among {len(rows.columns)}")

    for model, methods, words in (
        (broken, ["permutation", "shapley"], "no such column among 3"),
        (LINEAR, ["impurity"], "for method 'impurity'"),
    ):
        task = None if model is LINEAR else "regression"
        with pytest.raises(ia.AuditError) as refusal:
            ia.audit(model, X, Y, task=task, methods=methods)
        first, *others = str(refusal.value).splitlines()
        assert first == "Nothing could be measured."
        (reason,) = others
        assert words in reason


def test_of_an_audit_that_measured_nothing_a_weak_model_is_no_reason():
    weak = DummyRegressor().fit(X, Y)
    with pytest.raises(ia.AuditError) as refusal:
        ia.audit(weak, X, Y, methods=["drop_column"])
    assert type(refusal.value) is ia.AuditError
    assert str(refusal.value) == (
        "Nothing could be measured.\nDrop column of features by Python: Model "
        "'DummyRegressor' must be fitted by the audit for method 'drop_column', which "
        "fits it again; it came as it is. Pass the rows it was fitted on as "
        "train=(X, y)."
    )


def test_a_model_of_an_array_that_is_given_a_frame_is_said_to_read_it_by_place():
    model = LinearRegression().fit(X.to_numpy(), Y)
    result = ia.audit(model, X[["b", "a", "c"]], Y, names=["m"])
    assert the_note(result, "read_by_place").message == (
        "Model 'm' was fitted on an array, which names no columns, so it reads those "
        "of X by place: 'b', 'a', 'c'."
    )
    wrapped = ia.wrap(model, name="m", features=["a", "b", "c"])
    for one, rows in ((LINEAR, X), (wrapped, X), (model, X.to_numpy())):
        found = ia.audit(one, rows, Y).findings
        assert "read_by_place" not in {finding.check for finding in found}


def test_jobs_of_the_call_are_those_of_its_work():
    threads, open_jobs = [], []

    def counting(rows):
        threads.append(execution.n_threads())
        open_jobs.append(joblib.effective_n_jobs(None))
        return rows["a"]

    usual = {"task": "regression", "n_repeats": 2, "n_jobs": 3}
    ia.audit(counting, X, Y, **usual)
    assert set(open_jobs) == {3}
    threads.clear()
    config = {"execution": {"backend": "threads", "n_jobs": 2}}
    ia.audit(counting, X, Y, config=config, **usual)
    assert 3 in set(threads) <= {1, 3}


REFIT = {"methods": ["drop_column"], "n_repeats": 1}


def dropped(result):
    """Return the losses of the refits without each feature, and with all."""
    (record,) = result.importances
    losses = dict(zip(record.features, record.raw[:, 0], strict=True))
    return losses | {"": record.baseline[0]}


@pytest.mark.parametrize("given", [LINEAR, ia.wrap(LINEAR, name="linear")])
def test_a_fitted_estimator_is_fitted_again_on_the_training_rows(given):
    train, test = slice(0, 40), slice(40, 60)
    weights = np.linspace(1, 3, 40)
    rows = X[train], Y[train], weights
    called = ia.audit(given, X[test], Y[test], train=rows, losses="mse", **REFIT)

    def loss(columns):
        again = LinearRegression().fit(X.loc[:39, columns], Y[train], weights)
        return np.mean((Y[test] - again.predict(X.loc[40:, columns])) ** 2)

    expected = {name: loss([c for c in X if c != name]) for name in ("", *X)}
    assert dropped(called) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("fitted_on", ["frame", "array"])
@pytest.mark.parametrize(
    "labels", [("no", "yes"), ("yes", "no"), (False, True), (3, 1)]
)
def test_a_clone_gets_texts_and_classes_as_the_estimator_did(labels, fitted_on):
    rows = pd.DataFrame({"town": list("abcd") * 20, "kind": list("xxxyy") * 16})
    y = np.where((rows["town"] == "a") ^ (rows["kind"] == "y"), *labels)
    y[::7] = y[0]
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    if fitted_on == "array":
        rows = rows.to_numpy()
    model.fit(rows[:50], y[:50])
    called = ia.audit(
        model, rows[50:], y[50:], train=(rows[:50], y[:50]), losses="log_loss", **REFIT
    )

    def loss(columns):
        some = pd.DataFrame(rows).iloc[:, columns]
        again = clone(model).fit(some[:50], y[:50])
        p = again.predict_proba(some[50:])
        return log_loss(y[50:], p, labels=again.classes_)

    expected = [loss(columns) for columns in ([1], [0], [0, 1])]
    assert [*dropped(called).values()] == pytest.approx(expected, rel=1e-9)


def test_the_seed_of_each_repeat_reaches_a_step_of_a_pipeline():
    model = make_pipeline(StandardScaler(), RandomForestRegressor(3, random_state=1))
    model.fit(X, Y)
    asked = {"methods": ["drop_column"], "train": (X, Y), "n_repeats": 3}
    (one,), (two,) = (
        ia.audit(model, X, Y, seed=seed, **asked).importances for seed in (1, 1)
    )
    assert len(set(one.baseline)) == 3
    assert one.raw.tolist() == two.raw.tolist()
    assert model.get_params()["randomforestregressor__random_state"] == 1


class Uncloned:
    """An estimator without parameters."""

    def fit(self, *_):
        return self

    def predict(self, rows):
        return rows.to_numpy()[:, 0]


@pytest.mark.parametrize(
    ("model", "asked", "reason"),
    [
        (
            Uncloned(),
            {"train": (X, Y)},
            "Model 'Uncloned' cannot be fitted again, because scikit-learn cannot "
            "clone it. It says: Cannot clone object ",
        ),
        (double, {"train": (X, Y)}, "Model 'double' must be fitted by the audit for "),
        (LINEAR, {}, "Pass the rows it was fitted on as train=(X, y)."),
    ],
)
def test_what_cannot_be_fitted_again_says_so(model, asked, reason):
    methods = ["permutation", "drop_column"]
    result = ia.audit(model, X, Y, task="regression", methods=methods, **asked)
    assert [record.method for record in result.importances] == ["permutation"]
    assert any(reason in finding.message for finding in result.findings)


def test_a_result_is_pickled_whole(result):
    again = pickle.loads(pickle.dumps(result))
    assert content_digest(again.result) == content_digest(result.result)
    assert again.to_frame().equals(result.to_frame())


def test_dir_names_what_is_asked_most_and_every_name_is_there(result):
    assert {"verdict", "agreement", "to_frame", "plot", "save_html"} <= set(dir(result))
    assert len(dir(result)) <= 17
    assert all(hasattr(result, name) for name in dir(result))
    assert set(result.frames) > {"checks", "stability"}
    assert "pass" in set(result.checks["verdict"])
    with pytest.raises(AttributeError, match="Audit has no attribute 'rankings'"):
        _ = result.rankings


@pytest.mark.pages
def test_a_report_names_the_commands_that_work_and_none_without_a_run_folder(
    result, tmp_path, monkeypatch
):
    def page(path):
        tree = parse_page(path.read_text(encoding="utf-8"))
        texts = (code.text.replace("\u200b", "") for code in tree.all("code"))
        return tree.text, [t.split()[1:] for t in texts if "importance-audit " in t]

    alone, none = page(result.save_html(tmp_path / "one.html"))
    assert none == []
    assert "How to have the numbers again" in alone
    assert "SHA256SUMS" not in alone
    run = result.save(tmp_path)
    monkeypatch.chdir(tmp_path)
    _, commands = page(run / "report.html")
    assert [command[0] for command in commands] == ["verify", "verify", "render"]
    for command in commands:
        assert CliRunner().invoke(main, command).exit_code == 0, command


def test_the_report_is_one_file(result, tmp_path):
    path = result.save_html(tmp_path / "one.html")
    assert path.read_text(encoding="utf-8") == result.report().html
    assert [*tmp_path.iterdir()] == [path]
    with pytest.raises(ia.AuditError) as error:
        result.save_html(tmp_path / "reports" / "one.html")
    folder = str(tmp_path / "reports")
    assert str(error.value) == (
        f"There is no folder {folder!r} to save 'one.html' in. Make it, or name "
        "another."
    )


class OfArrays:
    """A network that takes arrays alone, and answers one column of float32."""

    def predict(self, rows):
        if getattr(rows, "dtype", None) != np.float32:
            raise TypeError("no array")
        return rows @ np.array([[2], [1], [0]], dtype=np.float32)


def test_an_object_gets_an_array_if_the_rows_are_one():
    rows = RANDOM.normal(size=(60, 3)).astype(np.float32)
    y = rows @ [2, 1, 0]
    result = ia.audit(OfArrays(), rows, y[:, None], n_repeats=2)
    leaders = result.to_frame().sort_values("rank")["feature"].tolist()
    assert leaders == ["x1", "x2", "x3"]
    frame = pd.DataFrame(rows, columns=list("abc"))
    how = "task=…, features=[…], as_array=True)"
    for model, name, says, first in (
        (OfArrays(), "OfArrays", "OfArrays", "Give X as one, or wrap"),
        (OfArrays().predict, "predict", "its function", "Wrap"),
    ):
        with pytest.raises(ia.ModelError) as error:
            ia.audit(model, frame, y)
        assert str(error.value) == (
            f"Model '{name}' cannot predict the rows; {says} says: TypeError: no array"
            f". It takes arrays. {first} the model: ia.wrap(model, name='{name}', "
            f"{how}"
        )
        wrapped = ia.wrap(
            model, name="net", task="regression", features=list("abc"), as_array=True
        )
        again = ia.audit(wrapped, frame, y, n_repeats=2).to_frame()
        assert again.sort_values("rank")["feature"].tolist() == list("abc")


def test_the_text_of_a_result_is_short_and_has_the_leaders():
    wide = pd.DataFrame(RANDOM.normal(size=(50, 40)))
    wide.columns = [f"column {n} {'x' * 60}" for n in wide]
    result = ia.audit(lambda rows: rows.iloc[:, 7], wide, wide.iloc[:, 7], n_repeats=2)
    lines = repr(result).splitlines()
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= 100
    assert lines[0] == f"Audit: {result.verdict}"
    assert lines[1] == "permutation of features of function (RMSE):"
    assert lines[2].startswith("  column 7 ")


def test_a_notebook_shows_verdict_figure_and_findings_and_no_markup_of_names():
    result = ia.audit({"<b>bold</b>": LINEAR}, X, Y, n_repeats=2)
    html = result._repr_html_()
    assert f"Audit: {result.verdict}" in html
    assert "<svg" in html
    assert "<b>" not in html
    assert "<script" not in html
    assert result.findings[0].message.split("'")[0] in html


def test_a_name_with_dollars_is_shown_as_it_is():
    name = r"$\frac$"  # a formula that raises when it is drawn
    renamed = X.rename(columns={"a": name})
    model = {f"model {name}": lambda rows: rows[name]}
    result = ia.audit(model, renamed, Y, methods=["partial_dependence"], n_repeats=2)
    ranking, effects = result.plot(), result.plot("effects")
    for figure in (ranking, effects):
        figure.draw_without_rendering()
    ticks = ranking.axes[0].get_yticklabels()
    assert {tick.get_text() for tick in ticks} == set(renamed)
    assert effects.axes[0].get_xlabel() == name


def test_levels_are_drawn_in_their_order():
    rows = X.assign(level=pd.Categorical(["low", "high"] * 30, ["low", "high"]))

    def step(rows):
        return np.where(rows["level"] == "high", 3.0, 1.0)

    result = ia.audit(step, rows, Y, task="regression", methods=["partial_dependence"])
    axes = result.plot("effects").axes[0]
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels == ["low", "high"]
    assert axes.lines[0].get_ydata().tolist() == [1.0, 3.0]


def test_every_ranking_and_every_curve_can_be_drawn():
    methods = ["permutation", "partial_dependence"]
    methods += [{"method": "curve_impact", "curve": "ale"}]
    result = ia.audit({"one": LINEAR, "two": double}, X, Y, methods=methods)
    for method in ("permutation", "partial_dependence", "curve_impact"):
        axes = result.plot(method=method, model="two").axes[0]
        record = next(
            r for r in result.importances if (r.model, r.method) == ("two", method)
        )
        (dots,) = [line for line in axes.lines if line.get_marker() == "o"]
        order = np.argsort(record.mean, kind="stable")
        np.testing.assert_array_equal(dots.get_xdata(), record.mean[order])
        best_on_top = [label.get_text() for label in axes.get_yticklabels()]
        assert best_on_top[-1] == record.features[order[-1]]
        assert axes.get_title(loc="left").startswith("two: ")
    for method in ("partial_dependence", "ale"):
        (line,) = result.plot("effects", method=method, feature="b").axes[0].lines
        (effect,) = [
            e
            for e in result.effects
            if (e.model, e.method, e.feature) == ("one", method, "b")
        ]
        np.testing.assert_array_equal(line.get_xdata(), effect.grid)
        np.testing.assert_array_equal(line.get_ydata(), effect.values)
    by_name = result.plot(method="ale")  # that alone says that it is a curve
    assert by_name.axes[0].get_title(loc="left") == "one: ale of a"
    assert result.plot(feature="b").axes[0].get_xlabel() == "b"
    known = "there is 'permutation', 'partial_dependence', 'curve_impact'."
    curves = "no 'shapley' curve for 'a'; there is 'partial_dependence', 'ale'."
    for wrong, words in (
        ({"method": "permutaton"}, f"There is no ranking by 'permutaton'; {known}"),
        ({"method": ["x"]}, f"There is no ranking by ['x']; {known}"),
        ({"kind": "effects", "method": "shapley", "feature": "a"}, curves),
        ({"kind": "effects", "feature": "zz"}, "There is no feature 'zz'"),
        ({"feature": ["x1"]}, "There is no feature ['x1']"),
        ({"kind": "ranking", "feature": "a"}, "draws all features"),
        ({"kind": "rankings"}, "kind must be "),
        ({"kind": "agreement"}, "No other engine returned a result. Request one with "),
        ({"model": "tow"}, "There is no model 'tow'; there is 'one', 'two'."),
    ):
        with pytest.raises(ia.DataError, match=re.escape(words)):
            result.plot(**wrong)


def test_without_a_curve_none_is_drawn(result):
    words = "There is no curve for 'a'. Use a method that is computed from "
    with pytest.raises(ia.DataError, match=words):
        result.plot("effects")


def test_the_mean_at_a_missing_value_is_drawn_beside_the_curve():
    rows = X.assign(a=X["a"].where(np.arange(len(X)) % 3 > 0))

    def model(rows):
        return rows["a"].fillna(7.0)

    result = ia.audit(model, rows, Y, methods=["partial_dependence"])
    curve, missing = result.plot(feature="a").axes[0].lines
    np.testing.assert_allclose(curve.get_ydata(), curve.get_xdata())
    assert missing.get_ydata() == [7.0, 7.0]
    assert missing.get_label() == " if missing"


class Converts:
    """A table or a column of another library, which converts itself."""

    def __init__(self, values):
        self.values = values

    def to_pandas(self):
        return self.values


class Interchanges:
    """A table that pandas reads by the interchange protocol."""

    def __init__(self, frame):
        self.__dataframe__ = frame.__dataframe__


@pytest.mark.parametrize("table", [Converts, Interchanges])
def test_tables_of_other_libraries_are_read_with_the_names_of_their_columns(table):
    rows, weights = X.reset_index(drop=True), np.linspace(1, 2, len(X))
    y, half = (pd.Series(v) for v in (np.asarray(Y), np.arange(len(X)) % 2))
    usual = ia.audit(
        LINEAR, rows, y, train=(rows, y), sample_weight=weights, segments={"h": half}
    )
    foreign = ia.audit(
        LINEAR,
        table(rows),
        Converts(y),
        train=(table(rows), Converts(y)),
        sample_weight=Converts(pd.Series(weights)),
        segments={"h": Converts(half)},
    )
    pd.testing.assert_frame_equal(foreign.to_frame(), usual.to_frame())
    assert foreign.run.data_sha256 == usual.run.data_sha256
    pd.testing.assert_frame_equal(
        foreign.segment_performance, usual.segment_performance
    )


def test_a_column_of_another_library_keeps_the_index_that_it_has():
    y = pd.Series(np.asarray(Y), index=X.index)
    half = pd.Series(np.arange(len(X)) % 2, index=X.index)

    class Broken:
        def to_pandas(self):
            raise ValueError("no memory")

    in_another = "the same labels in another order"
    for given, words in (
        ({"y": Converts(y[::-1])}, in_another),
        ({"sample_weight": Converts(y[::-1] * 0 + 1)}, in_another),
        ({"segments": {"half": half[::-1]}}, in_another),
        ({"X": Converts(None)}, "to_pandas of a Converts gave a NoneType"),
        ({"y": Broken()}, r"A Broken .* to_pandas: ValueError: no mem"),
    ):
        with pytest.raises(ia.DataError, match=words):
            ia.audit(LINEAR, **{"X": X, "y": y, **given}, n_repeats=2)


@pytest.mark.pages
def test_a_saved_audit_is_a_run_that_verifies(result, tmp_path):
    folder = tmp_path / "audit"
    runs = [result.save(folder, pdf=pdf) for pdf in (False, True)]
    assert len(set(runs)) == 2
    with pytest.raises(ia.AuditError, match="cannot be made: File exists"):
        result.save(runs[0] / "result.json")
    for run in runs:
        assert (run / "report.html").is_file()
        assert content_digest(ia.load(run).result) == content_digest(result.result)
    assert [(run / "report.pdf").is_file() for run in runs] == [False, True]
    assert sound("verify", folder)


@pytest.mark.needs_dalex
def test_another_engine_is_asked_and_drawn():
    result = ia.audit(LINEAR, X, Y, engines=["DALEX"])
    assert result.agreement["verdict"].tolist() == ["replayed"]
    axes = result.plot("agreement").axes[0]
    (dots,) = [line for line in axes.lines if line.get_marker() == "o"]
    np.testing.assert_allclose(
        dots.get_xdata(), dots.get_ydata(), rtol=1e-9, atol=1e-12
    )


@pytest.mark.needs_r
def test_a_model_of_r_is_audited(tmp_path):
    rows = X.assign(y=Y + RANDOM.normal(size=len(X)))
    rows.to_csv(tmp_path / "rows.csv")
    fit = 'saveRDS(lm(y ~ a + b + c, read.csv("rows.csv")), "m.rds")'
    subprocess.run(["Rscript", "--vanilla", "-e", fit], cwd=tmp_path, check=True)
    ours = LinearRegression().fit(X, rows["y"])
    of_r = ia.audit(ia.r_model(tmp_path / "m.rds"), X, rows["y"], task="regression")
    of_python = ia.audit(ours, X, rows["y"], names=["m"])
    np.testing.assert_allclose(
        of_r.to_frame()["mean"], of_python.to_frame()["mean"], rtol=1e-8
    )


@pytest.mark.parametrize(
    ("rows", "n_fitted", "n_known"),
    [
        (slice(None), 60, 60),
        (slice(None, None, -1), 60, 60),  # in another order
        (slice(None, 40), 60, 40),  # a part of them
        (slice(38, None), 40, 2),  # hardly any
        (slice(40, None), 40, 0),
    ],
)
def test_rows_that_a_model_was_fitted_on_are_named_as_such(rows, n_fitted, n_known):
    """Neither overfitting nor calibration can be read from them, unless few are."""
    is_other = n_fitted == 40
    train = X[:n_fitted], Y[:n_fitted]
    forest = RandomForestRegressor(5, random_state=1).fit(*train)
    found = ia.audit(forest, X[rows], Y[rows], train=train, n_repeats=2)
    checks = {f.check: f for f in found.findings}
    assert ("scored_on_training_rows" in checks) == (n_known > 0)
    asked = set(found.result.checks["check"])
    assert {"train_test_gap", "bias", "weak_model"} & asked == (
        {"train_test_gap", "bias", "weak_model"} if is_other else set()
    )
    if n_known and rows != slice(None):
        finding = checks["scored_on_training_rows"]
        assert finding.severity == ("info" if is_other else "warning")
        assert finding.message.startswith(
            f"{n_known} of the {len(X[rows])} evaluation rows are equal to rows"
        )
        told = "was evaluated on the rows of its fit"
        assert (told in found.report().html) == (not is_other)


def test_the_frame_has_the_numbers_of_each_record_and_no_interval_of_no_draws():
    methods = ["permutation", "partial_dependence"]
    result = ia.audit([LINEAR, double], X, Y, methods=methods)
    frame = result.to_frame()
    assert list(frame) == list(COLUMNS)
    for name in ("mean", "rank"):
        values = [getattr(record, name) for record in result.importances]
        np.testing.assert_array_equal(frame[name], np.concatenate(values))
    assert set(frame["engine"]) == {"python"}
    by_curve = frame[frame["method"] == "partial_dependence"]
    bounds = ["std_error", "low", "high", "repeats_low", "repeats_high"]
    assert by_curve[bounds].isna().all(axis=None)
    assert set(by_curve["interval"]) == {""}
    axes = result.plot(method="partial_dependence").axes[0]
    assert not axes.containers
    assert axes.get_legend() is None
    assert "nan" not in repr(result)


def test_a_call_says_what_its_configuration_leaves_open_and_nothing_twice():
    document = {"importance": [{"method": "permutation", "n_repeats": 2}]}
    result = ia.audit(LINEAR, X, Y, config=document)
    assert result.importances[0].n_repeats == 2
    limit = {"checks": {"dependence": 0.9}}
    result = ia.audit(LINEAR, X, Y, config=limit, n_repeats=3, methods=["permutation"])
    (record,) = result.importances
    assert (record.method, record.n_repeats) == ("permutation", 3)
    assert result.result.run.config["checks"]["dependence"] == 0.9
    with pytest.raises(ia.ConfigError) as refusal:
        ia.audit(LINEAR, X, Y, config=document, n_repeats=3, methods=["firm"], seed=2)
    assert str(refusal.value) == (
        "'methods', 'n_repeats' and config are both given, and config has "
        "'importance'. Say them there, or leave config out."
    )


FOREST = RandomForestRegressor(5, random_state=1).fit(X, Y)


@for_each(METHODS)
def test_each_method_is_asked_by_its_name_alone_and_makes_a_report(method):
    """What a forest of a number cannot answer is a reason, never an exception."""
    wanted = {"permutation", method}
    train = X[:40], Y[:40]
    result = ia.audit(FOREST, X, Y, methods=wanted, n_repeats=2, train=train)
    measured = {record.method for record in result.importances}
    reasons = [f for f in result.findings if f.check == "not_applicable"]
    assert wanted <= measured or reasons
    page = result.report().html
    contents = page[page.index("<nav") : page.index("</nav>")]
    assert contents.count("<li") == 17
