"""XGBoost's trees: the predictions of the library to the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from importance_audit.methods.trees import pack, xgboost_trees
from importance_audit.methods.trees.packing import predict
from importance_audit.methods.trees.partial_dependence import reason_against

from .small_ensembles import around_thresholds, classes_of, same_bits, seeds
from .small_ensembles import drawn as drawn_rows

pytestmark = pytest.mark.needs_numba
xgboost = pytest.importorskip("xgboost")

TYPES = ["q", "q", "c", "c", "q"]
BY_CATEGORY = {
    "tree_method": "hist",
    "enable_categorical": True,
    "feature_types": TYPES,
}
SMALL = {"n_estimators": 6, "max_depth": 4, "n_jobs": 1}


def drawn(seed, n_missing=1):
    """Return rows of ties, codes and missing values, and a score about 0."""
    rows, score = drawn_rows(seed, n_missing, 150)
    return rows, 4 * np.log(score)


def with_strange_codes(rows):
    """Return rows of which some have codes that training did not meet."""
    rows = rows.copy()
    rows[:9, 2] = [-1, -0.5, 0.5, 69.9, 70, 1000, np.nan, 64, 63]
    rows[:5, 3] = [7, -3, 2.5, np.nan, 64]
    return rows


def assert_read(model, rows, expected):
    """Let trees give what the library does, in its precision."""
    ours = predict(pack(model), rows)
    expected = expected.reshape(len(ours), -1)
    assert ours.dtype == expected.dtype
    assert same_bits([ours], [expected])


@pytest.mark.slow
@settings(max_examples=20)
@given(
    seed=seeds,
    n_missing=st.sampled_from([0, 1, 5]),
    options=st.sampled_from([{}, BY_CATEGORY, BY_CATEGORY | {"max_cat_to_onehot": 99}]),
    base_score=st.sampled_from([0.5, 0.3]),
    n_classes=st.sampled_from([0, 2, 3, 9]),
    n_parallel=st.sampled_from([1, 3]),
)
def test_predictions_are_those_of_the_library(
    seed, n_missing, options, base_score, n_classes, n_parallel
):
    options = SMALL | options | {"base_score": base_score}
    options |= {"num_parallel_tree": n_parallel, "subsample": 0.7, "random_state": seed}
    rows, score = drawn(seed, n_missing)
    asked = np.vstack([drawn(seed + 1)[0], with_strange_codes(rows)])
    if n_classes:
        model = xgboost.XGBClassifier(**options).fit(rows, classes_of(score, n_classes))
        expected = model.predict_proba(asked)
    else:
        model = xgboost.XGBRegressor(**options).fit(rows, score)
        expected = model.predict(asked)
    assert_read(model, asked, expected)
    booster = model.get_booster()
    types = options.get("feature_types")
    matrix = xgboost.DMatrix(asked, feature_types=types, enable_categorical=True)
    ours = predict(pack(booster), asked)
    ours = ours[:, 1] if n_classes == 2 else ours.reshape(booster.predict(matrix).shape)
    assert same_bits([ours], [booster.predict(matrix)])


@pytest.mark.parametrize("objective", xgboost_trees.LINKS_OF_OBJECTIVES)
def test_each_objective_has_the_link_of_its_library(objective):
    rows, score = drawn(1)
    target = {
        "reg": np.exp(score / 9) / 9,
        "count": np.exp(score),
        "binary": score > 0,
        "multi": classes_of(score, 4),
    }[objective.partition(":")[0]]
    is_of_classes = objective.startswith("multi")
    kind = xgboost.XGBClassifier if is_of_classes else xgboost.XGBRegressor
    model = kind(objective=objective, **SMALL).fit(rows, target)
    expected = model.predict_proba(rows) if is_of_classes else model.predict(rows)
    assert_read(model, rows, expected)


@pytest.mark.parametrize("kind", ["XGBRFRegressor", "XGBRFClassifier"])
def test_random_forests_are_read(kind):
    rows, score = drawn(2)
    target = score if kind == "XGBRFRegressor" else classes_of(score, 3)
    model = getattr(xgboost, kind)(**SMALL).fit(rows, target)
    ask = model.predict if target is score else model.predict_proba
    assert_read(model, rows, ask(rows))


def test_rows_on_a_threshold_go_right():
    rows, score = drawn(5, 0)
    model = xgboost.XGBRegressor(tree_method="hist", **SMALL).fit(rows, score)
    # The thresholds of the packing are the largest numbers that go left.
    around = around_thresholds(pack(model), np.float32)
    assert_read(model, around, model.predict(around))
    left, on = np.split(around, 3)[::2]
    assert not np.array_equal(model.predict(left), model.predict(on))


def test_only_the_rounds_that_predict_uses_are_read():
    rows, score = drawn(3)
    options = {"n_estimators": 60, "num_parallel_tree": 2, "early_stopping_rounds": 1}
    model = xgboost.XGBRegressor(**options, n_jobs=1)
    model.fit(rows, score, eval_set=[(rows, score[::-1])], verbose=False)
    n_fitted = model.get_booster().num_boosted_rounds()
    assert model.best_iteration + 1 < n_fitted
    assert len(pack(model).roots) == 2 * (model.best_iteration + 1)
    assert_read(model, rows, model.predict(rows))
    booster = model.get_booster()
    assert len(pack(booster).roots) == 2 * n_fitted
    assert_read(booster, rows, booster.predict(xgboost.DMatrix(rows)))


OWN = {"objective": lambda y, p: (p - y, np.ones_like(y))}
UNKNOWN = "How its objective {!r} makes predictions is not known."


@pytest.mark.parametrize(
    ("kind", "options", "reason"),
    [
        (
            "Regressor",
            {"booster": "dart", "rate_drop": 0.4},
            "Its booster is dart, and only gbtree is read.",
        ),
        ("Regressor", {"missing": 0.0}, "It takes 0 for a missing value."),
        ("Regressor", OWN, "It was fitted with an objective of your own."),
        (
            "Regressor",
            {"objective": "rank:pairwise"},
            UNKNOWN.format("rank:pairwise"),
        ),
        (
            "Classifier",
            {"objective": "multi:softmax"},
            UNKNOWN.format("multi:softmax"),
        ),
    ],
)
def test_what_is_not_read_says_why(kind, options, reason):
    rows, score = drawn(1, 0)
    target = classes_of(score, 3) if kind == "Classifier" else score
    of = xgboost.XGBClassifier if kind == "Classifier" else xgboost.XGBRegressor
    assert pack(of(n_estimators=2, **options).fit(rows, target)) == reason


def test_a_format_that_is_not_known_leaves_predict_to_answer():
    rows, score = drawn(1)
    model = xgboost.XGBRegressor(**SMALL).fit(rows, score)
    model.get_booster().save_raw = lambda _: b'{"learner": {}}'
    assert pack(model) == "Its trees cannot be read: KeyError: 'gradient_booster'"


def test_trees_in_single_precision_have_no_exact_means():
    rows, score = drawn(1)
    model = xgboost.XGBRegressor(**SMALL).fit(rows, score)
    reason = "Its library adds leaves in single precision."
    assert reason_against(pack(model)) == reason
