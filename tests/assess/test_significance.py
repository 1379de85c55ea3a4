"""p-values: their definition, their grid, and what they are of in an audit."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from tests.assess import measured
from tests.assess.measured import finding_of
from tests.methods.importance.toys import score_of

from importance_audit.assess.significance import adjusted, p_values
from importance_audit.auditing.audit import audit
from importance_audit.auditing.measure import Question, importances
from importance_audit.auditing.steps.shuffled_targets import shuffled
from importance_audit.config.load import parse_config
from importance_audit.data.datasets import dataset
from importance_audit.engines import describe_engine
from importance_audit.methods.importance.filters import anova, lowess_r2
from importance_audit.methods.importance.firm import firm_labels
from importance_audit.methods.importance.rank_correlation import spearman
from importance_audit.models.fit import wrap
from importance_audit.r_bridge import host
from importance_audit.records.frames import FRAMES
from importance_audit.records.streams import stream

IMPACT, IMPORTANCE = (
    {"method": f"stratified_{name}", "n_repeats": 1, "min_samples_leaf": 5}
    for name in ("impact", "importance")
)
SPEARMAN = {"method": "spearman"}


def rows(y=None, n=60):
    """Return rows of a strong, a weak and a constant feature."""
    X = pd.DataFrame(
        np.random.default_rng(1).normal(size=(n, 3)), columns=["strong", "weak", "flat"]
    ).assign(flat=1.0)
    target = 3 * X["strong"] if y is None else y
    return dataset(X, target, name="rows", task="regression")


def audited(*entries, data=None, shuffles=19, **config):
    config = {"significance": {"shuffles": shuffles}} | config
    data = data or rows()
    model = score_of(lambda X: X.iloc[:, 0].to_numpy(), data.features)
    return measured.audited(model, data, *entries, **config)


def test_what_measures_as_much_counts_and_the_true_target_is_one_of_them():
    null = np.array([[1.0, 5, 0], [2, 5, 0], [3, 5, 0]])
    assert p_values(np.array([2.0, 4, 1]), null).tolist() == [3 / 4, 1.0, 1 / 4]


def test_less_by_a_rounding_error_is_as_much_and_so_is_another_infinity():
    assert p_values(np.array([0.1 + 0.2]), np.array([[0.3]])).tolist() == [1.0]
    null = np.array([[np.inf], [np.inf], [1]])
    assert p_values(np.array([np.inf]), null).tolist() == [3 / 4]


@pytest.mark.parametrize("zero", [0.0, 1000.0, 1e6])
@pytest.mark.parametrize("method", [anova, firm_labels, lowess_r2, spearman])
def test_targets_alike_but_for_the_order_of_equal_rows_measure_as_much(method, zero):
    X = pd.DataFrame({"x": np.repeat([17.4, 17.1, 17.2, 17.7], 5)})
    X["g"] = pd.Categorical(X["x"].astype(str))
    y = np.random.default_rng(1).integers(0, 2, size=20).reshape(4, 5)
    order = np.random.default_rng(2).permuted
    magnitudes = []
    for target in (y, *(order(y, axis=1) for _ in range(40))):
        data = dataset(X, zero + target.ravel(), name="rows", task="regression")
        magnitudes.append(np.abs(method(None, data, seed=1)[0].ravel()))
    p = p_values(np.array(magnitudes[0]), np.array(magnitudes[1:]))
    assert set(p[~np.isnan(p)]) == {1.0}


def test_shuffles_without_a_number_are_left_out_and_too_many_leave_no_p_value():
    nan = np.nan
    null = np.array([[1.0, nan, nan], [nan, nan, 0], [9, nan, 0], [0, 1, 0]])
    p = p_values(np.array([2.0, 0, nan]), null)
    assert p == pytest.approx([2 / 4, nan, nan], nan_ok=True)


@pytest.mark.parametrize(
    ("name", "truth"),
    [
        # 3 * .01, 3 * .03 / 2 and .04, none above a later one
        ("benjamini_hochberg", [0.04, np.nan, 0.03, 0.04]),
        # 3 * .01, 2 * .03 and .04, none below an earlier one
        ("holm", [0.06, np.nan, 0.03, 0.06]),
        ("bonferroni", [0.09, np.nan, 0.03, 0.12]),
    ],
)
def test_adjusted_values_are_those_by_hand_over_what_is_known(name, truth):
    p = np.array([0.03, np.nan, 0.01, 0.04])
    assert adjusted(p, name) == pytest.approx(truth, nan_ok=True)
    assert np.isnan(adjusted(np.array([np.nan]), name)).all()
    assert max(adjusted(np.array([0.5, 0.9]), name)) <= 1


def test_the_adjustment_asked_for_is_that_of_shuffled_targets():
    config = {"shuffles": 99, "adjustment": "bonferroni"}
    significance = audited(SPEARMAN, significance=config).significance
    assert set(significance["adjustment"]) == {"bonferroni"}
    truth = np.minimum(2 * significance["p_value"], 1).to_numpy()
    assert significance["p_adjusted"].to_numpy() == pytest.approx(truth, nan_ok=True)


def test_nothing_is_shuffled_unless_it_is_asked_for():
    significance = audited(SPEARMAN, shuffles=0).significance
    assert significance.empty
    assert tuple(significance.columns) == FRAMES["significance"].columns


def test_a_strong_feature_has_the_least_p_value_and_a_constant_one_has_none():
    significance = audited(SPEARMAN, shuffles=99).significance.set_index("feature")
    assert significance.loc["strong", "p_value"] == 1 / 100
    assert significance.loc["strong", "p_adjusted"] == 2 / 100
    assert significance.loc["weak", "p_value"] > 0.05
    assert np.isnan(significance.loc["flat", "p_value"])
    assert significance["shuffles"].tolist() == [99, 99, 0]


def question_of(entry, data):
    """Return the rows, the section and the engine of one question."""
    section = parse_config({"importance": [entry]}).importance[0]
    return Question(None, data, section, describe_engine("python"))


def means_of_shuffles(question, shuffles=9, seed=1):
    """Return the importances under each shuffled target, a row of features each."""
    again = shuffled(question, seed=seed, shuffles=shuffles, report_progress=str)
    return np.array([one.mean for (one,) in again])


def assert_uniform(p, n_values, most):
    """Let chi-squared of p-values on so many values be below `most`."""
    counts = np.bincount(np.rint(n_values * np.array(p)).astype(int))
    expected = len(p) / n_values
    assert len(counts) == n_values + 1
    assert counts[0] == 0
    assert ((counts[1:] - expected) ** 2 / expected).sum() < most


def test_p_values_of_an_independent_target_are_uniform_on_their_grid():
    # 100 features, 9 shuffles: 10 on average at each of .1, .2, ..., 1; chi-squared
    # with 9 degrees of freedom is below 27.88 in 99.9 % of cases.
    numbers = np.random.default_rng(1).normal(size=(20, 101))
    X = pd.DataFrame(numbers[:, 1:]).rename(columns=str)
    data = dataset(X, numbers[:, 0], name="noise", task="regression")
    (record,) = importances(question_of(SPEARMAN, data), seed=1, stream="numpy")
    p = p_values(record.mean, means_of_shuffles(question_of(SPEARMAN, data)))
    assert_uniform(p, 10, 27.88)


def test_a_constant_target_measures_as_much_however_it_is_shuffled():
    # The tree has one leaf, and it has no slope.
    entry = IMPACT | {"min_slopes_per_x": 1}
    question = question_of(entry, rows(np.ones(60)))
    (record,) = importances(question, seed=1, stream="numpy")
    values = p_values(record.mean, means_of_shuffles(question))
    assert values.tolist() == pytest.approx([1, 1, np.nan], nan_ok=True)


def test_impact_and_importance_have_p_values_of_their_own():
    alone = [audited(one).significance["p_value"] for one in (IMPACT, IMPORTANCE)]
    both = audited(IMPACT, IMPORTANCE).significance
    assert both["method"].unique().tolist() == [IMPACT["method"], IMPORTANCE["method"]]
    assert both["record"].tolist() == [0, 0, 0, 1, 1, 1]
    pd.testing.assert_series_equal(both["p_value"], pd.concat(alone, ignore_index=True))
    assert not alone[0].equals(alone[1])


def test_rows_keep_their_weights_when_the_target_is_shuffled():
    # The rows that weigh something are alike in x: no target makes them differ.
    X = pd.DataFrame({"x": [0.0] * 20 + list(range(20))})
    y, weights = np.tile([0, 1], 20), np.repeat([1.0, 1e-15], 20)
    data = dataset(X, y, name="rows", task="binary", weights=weights)
    again = means_of_shuffles(question_of({"method": "auc"}, data))
    np.testing.assert_allclose(again, np.zeros((9, 1)), atol=1e-12)


def test_the_same_seed_gives_the_same_p_values_and_changes_no_importance():
    once, again = audited(IMPACT), audited(IMPACT)
    pd.testing.assert_frame_equal(once.significance, again.significance)
    plain = audited(IMPACT, shuffles=0).importances[0]
    assert once.importances[0].raw.tobytes() == plain.raw.tobytes()


def test_more_shuffles_change_none_and_another_seed_changes_all():
    question = question_of(SPEARMAN, rows())
    few, many = (means_of_shuffles(question, n)[:, 0].tolist() for n in (5, 9))
    other = means_of_shuffles(question, seed=2)[:, 0].tolist()
    assert few == many[:5]
    assert len({*many, *other}) == 18


@pytest.mark.parametrize(
    ("method", "reason"),
    [
        (
            "permutation",
            "they come from shuffled targets, and a model would have to be refitted "
            "to each of them.",
        ),
        ("pca", "'pca' does not use the target, so shuffling it tests nothing."),
        (
            "mrmr",
            "'mrmr' assigns places, and some feature takes the first whatever the "
            "target is.",
        ),
    ],
)
def test_a_method_without_p_values_says_why(method, reason):
    result = audited({"method": method})
    note = finding_of(result, "not_applicable")
    assert note.severity == "info"
    assert note.message == (
        f"P-values of {method} of features: There are no p-values of {method!r}: "
        f"{reason}"
    )
    assert result.significance.empty


# --- Altmann: models fitted to shuffled targets ---------------------------------------

FOREST = {
    "name": "forest",
    "estimator": "sklearn.ensemble.RandomForestRegressor",
    "parameters": {"n_estimators": 5, "max_depth": 3, "random_state": 1},
}
IMPURITY = {"method": "impurity"}
OF_R = Path(__file__).parents[1] / "engines" / "fit_in_r.R"


def refitted(*entries, models=(FOREST,), data=None, shuffles=19):
    """Return an audit whose models are fitted to shuffled targets."""
    significance = {"shuffles": shuffles, "tests": ["altmann"]}
    config = {"importance": [*entries], "significance": significance}
    config["models"] = [*models]
    data = data or rows()
    test = replace(data, split="test")
    return audit(replace(data, split="train"), test, parse_config(config))


def test_altmanns_p_values_count_the_models_of_shuffled_targets_that_say_as_much():
    result = refitted(IMPURITY)
    frame = result.significance.set_index("feature")
    assert set(frame["test"]) == {"altmann"}
    assert (frame["shuffles"] == 19).all()
    assert frame.loc["strong", "p_value"] == 1 / 20
    assert frame.loc["weak", "p_value"] > 0.05
    assert frame.loc["flat", "p_value"] == 1.0  # every forest gives it 0

    observed, null = result.importances[0].mean, []
    data = rows()
    for shuffle in range(19):
        order = stream(result.importances[0].seed, "shuffle", "", shuffle)
        y = data.y[order.permutation(60)]
        forest = RandomForestRegressor(**FOREST["parameters"]).fit(data.X, y)
        null.append(forest.feature_importances_)
    truth = p_values(observed, np.array(null))
    assert frame["p_value"].tolist() == truth.tolist()


def test_a_model_that_the_audit_did_not_fit_has_no_p_values_by_refits():
    fitted = RandomForestRegressor(n_estimators=3).fit(rows().X, rows().y)
    significance = {"shuffles": 9, "tests": ["altmann"]}
    model = wrap(fitted, name="given")
    result = measured.audited(model, rows(), IMPURITY, significance=significance)
    assert result.significance.empty
    assert finding_of(result, "not_applicable").message == (
        "P-values of impurity of features: Model 'given' cannot be fitted again, "
        "because the audit did not fit it. Pass the rows it was fitted on as train=(X, "
        "y)."
    )


def test_what_a_model_says_of_its_rows_is_said_of_the_shuffled_target_too():
    # Out of bag, trees are judged by the target they were fitted to.
    linear = {"name": "ols", "estimator": "sklearn.linear_model.LinearRegression"}
    entries = [{"method": "oob_permutation"}, {"method": "t_statistic"}]
    frame = refitted(*entries, models=(FOREST, linear)).significance
    strong = frame[frame["feature"] == "strong"]
    assert strong["method"].tolist() == ["oob_permutation", "t_statistic"]
    assert (strong["p_value"] == 1 / 20).all()


@pytest.mark.needs_r
def test_rangers_altmann_finds_the_same_feature_and_no_other():
    generator = np.random.default_rng(7)
    X = pd.DataFrame(generator.normal(size=(80, 4)), columns=list("abcd"))
    y = X["a"] + generator.normal(size=80)
    data = dataset(X, y, name="rows", task="regression")
    parameters = {"n_estimators": 50, "min_samples_split": 6, "random_state": 1}
    entry = {"method": "impurity", "normalised": False}
    forest = FOREST | {"parameters": parameters}
    frame = refitted(entry, models=(forest,), data=data, shuffles=39).significance

    code = (
        "{set.seed(1); d <- d; as.numeric(ranger::importance_pvalues("
        "ranger::ranger(y ~ ., d, importance = 'impurity', num.trees = 50, mtry = 4, "
        "min.node.size = 5, num.threads = 1), method = 'altmann', "
        "num.permutations = 39, formula = y ~ ., data = d)[, 'pvalue'])}"
    )
    with host.session(extra_r_files=[OF_R]) as r:
        ranger = r.call("number_of", {"d": X.assign(y=y), "code": code})
    for p in (frame["p_value"].to_numpy(), np.asarray(ranger)):
        assert p[0] == 1 / 40
        assert (p[1:] > 0.5).all()


def test_altmanns_p_values_of_an_independent_target_are_uniform_on_their_grid():
    # 60 features in 3 audits, 4 shuffles: 36 on average at each of .2, ..., 1;
    # chi-squared with 4 degrees of freedom is below 18.47 in 99.9 % of cases.
    p = []
    for seed in range(3):
        numbers = np.random.default_rng(seed).normal(size=(40, 61))
        X = pd.DataFrame(numbers[:, 1:]).rename(columns=str)
        data = dataset(X, numbers[:, 0], name="noise", task="regression")
        ols = {"name": "ridge", "estimator": "sklearn.linear_model.Ridge"}
        entry = {"method": "raw_weights"}
        frame = refitted(entry, models=(ols,), data=data, shuffles=4).significance
        p += frame["p_value"].tolist()
    assert len(p) == 180
    assert_uniform(p, 5, 18.47)
