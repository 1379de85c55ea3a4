"""p-values of permutation and of refits, from the losses of single rows of an audit."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.known_answers import logistic_model

from importance_audit.assess.paired_tests import t_test
from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.methods.known_answers import (
    binary_data,
    linear_model,
    normal_data,
)
from importance_audit.records.as_json import dumps, loads

NOISE = np.random.default_rng(1).normal(size=100)
TRAIN = normal_data(2, 0, n_samples=100)
TRAIN = replace(TRAIN, y=TRAIN.y + NOISE, split="train")
TEST = normal_data(2, 0, n_samples=60, seed=2)
LINEAR = {"name": "linear", "estimator": "sklearn.linear_model.LinearRegression"}
SHUFFLED = {"method": "permutation", "n_repeats": 3, "losses": ["rmse", "mae"]}
DROPPED = {"method": "drop_column", "n_repeats": 1, "losses": ["mae"]}


def audited(*entries, tests=("cpi", "lei"), model=LINEAR, **significance):
    section = {"tests": [*tests], **significance}
    config = {"models": [model], "importance": [*entries], "significance": section}
    return audit(TRAIN, TEST, parse_config(config))


def of_model(model, data, entry=SHUFFLED):
    config = {"importance": [entry], "significance": {"tests": ["cpi"]}}
    return audit(None, data, parse_config(config), models=(model,))


def test_every_loss_has_the_usual_test_of_its_own_rows():
    """The interval is of the mean, and only where there is one."""
    result = audited(SHUFFLED, DROPPED)
    frame = result.significance
    assert frame["record"].tolist() == [0, 0, 1, 1, 2, 2]
    assert frame["test"].tolist() == ["cpi"] * 4 + ["lei"] * 2
    assert frame["statistic"].tolist() == ["t"] * 4 + ["wilcoxon"] * 2
    assert (frame["n"] == 60).all()
    assert (frame.loc[frame["feature"] == "x1", "p_value"] < 1e-6).all()
    assert (frame.loc[frame["feature"] == "x2", "p_value"] > 0.01).all()

    mae = frame[frame["record"] == 1]["estimate"].tolist()
    assert mae == pytest.approx(result.importances[1].mean.tolist(), rel=1e-9)
    of_means, of_medians = frame[:4], frame[4:]
    middle = (of_means["low"] + of_means["high"]) / 2
    assert middle.tolist() == pytest.approx(of_means["estimate"].tolist())
    assert of_medians["low"].isna().all()
    asked = audited(SHUFFLED, DROPPED, tests=["lei"]).significance
    assert set(asked["test"]) == {"lei"}
    assert audited(SHUFFLED, DROPPED, tests=()).significance.empty


def test_of_rmse_the_squared_errors_are_tested():
    frame = audited({**SHUFFLED, "losses": ["rmse"]}, tests=["cpi"]).significance
    mse = audited({**SHUFFLED, "losses": ["mse"]}, tests=["cpi"])
    columns = ["value", "p_value", "estimate"]
    pd.testing.assert_frame_equal(frame[columns], mse.significance[columns])
    assert frame["estimate"].tolist() == pytest.approx(mse.importances[0].mean.tolist())


@pytest.mark.parametrize("statistic", ["t", "wilcoxon", "sign", "fisher"])
def test_the_statistic_asked_for_is_that_of_every_test(statistic):
    frame = audited(SHUFFLED, DROPPED, statistic=statistic).significance
    assert set(frame["statistic"]) == {statistic}
    assert (frame.loc[frame["feature"] == "x1", "p_value"] < 0.001).all()


def test_random_signs_are_those_of_the_seed():
    asked = {"tests": ["cpi"], "statistic": "fisher"}
    once, again = (audited(SHUFFLED, **asked).significance for _ in range(2))
    pd.testing.assert_frame_equal(once, again)
    other = audited({**SHUFFLED, "seed": 5}, **asked).significance
    assert 1 / 2000 < once["p_value"][1] < 1
    assert once["p_value"][1] != other["p_value"][1]


def test_lei_estimates_the_median_of_absolute_errors_without_less_with():
    def errors(names):
        X = [np.column_stack([np.ones(d.n_samples), d.X[names]]) for d in (TRAIN, TEST)]
        b = np.linalg.lstsq(X[0], TRAIN.y, rcond=None)[0]
        return np.abs(TEST.y - X[1] @ b)

    frame = audited(DROPPED, tests=["lei"]).significance
    truth = [np.median(errors([n]) - errors(["x1", "x2"])) for n in ("x2", "x1")]
    assert frame["estimate"].tolist() == pytest.approx(truth, rel=1e-9, abs=1e-9)


def test_the_adjustment_asked_for_is_that_of_every_test():
    frame = audited(SHUFFLED, DROPPED, adjustment="bonferroni").significance
    assert set(frame["adjustment"]) == {"bonferroni"}
    truth = np.minimum(2 * frame["p_value"], 1)
    assert frame["p_adjusted"].tolist() == pytest.approx(truth.tolist())


def test_tests_and_shuffled_targets_stand_side_by_side():
    spearman = {"method": "spearman"}
    result = audited(SHUFFLED, spearman, tests=["cpi"], shuffles=9)
    frame = result.significance
    assert frame["test"].tolist() == ["cpi"] * 4 + ["shuffled_targets"] * 2
    assert frame["shuffles"].tolist() == [0] * 4 + [9] * 2
    assert frame["n"].tolist() == [60] * 4 + [9] * 2
    assert [f.message for f in result.findings if "P-values" in f.message] == []
    pd.testing.assert_frame_equal(loads(dumps(result)).significance, frame)


def test_an_area_under_a_curve_says_why_it_has_no_p_values():
    entry = {"method": "permutation", "losses": ["one_minus_auc", "brier"]}
    model = logistic_model(1, 0, losses=("one_minus_auc", "brier"))
    result = of_model(model, binary_data(), entry)
    assert set(result.significance["loss"]) == {"brier"}
    (note,) = (f for f in result.findings if f.message.startswith("P-values"))
    assert (note.check, note.severity) == ("not_applicable", "info")
    assert note.message == (
        "P-values of permutation of features: 'one_minus_auc' is no mean over rows, so "
        "there are no losses of single rows to test. Use another loss as well."
    )


@pytest.mark.needs_numba
def test_the_mean_over_all_permutations_says_why_it_has_no_p_values():
    tree = {"name": "tree", "estimator": "sklearn.tree.DecisionTreeRegressor"}
    entry = {"method": "permutation", "draws": "exact"}
    result = audited(entry, tests=["cpi"], model=tree)
    assert result.significance.empty
    (note,) = (f for f in result.findings if f.message.startswith("P-values"))
    assert note.message == (
        "P-values of permutation of features: The mean over all permutations has no "
        'losses of single rows to test. Set draws = "sampled".'
    )


def test_a_feature_that_the_model_does_not_read_has_p_value_1():
    frame = of_model(linear_model(2.0), TEST).significance
    unread = frame[frame["feature"] == "x2"]
    assert unread["p_value"].tolist() == [1.0, 1.0]
    assert unread["n"].tolist() == [60, 60]
    assert np.isfinite(frame["value"]).all()


# --- over refits ----------------------------------------------------------------------

REFITTED = {"method": "drop_column", "n_repeats": 12, "held_out": 0.2}


def test_refits_that_hold_rows_out_are_tested_by_the_corrected_variance():
    entry = {**REFITTED, "losses": ["mse", "mae"], "form": "ratio"}
    result = audited(entry, tests=["nadeau_bengio"])
    frame = result.significance
    assert frame["record"].tolist() == [0, 0, 1, 1]
    assert set(frame["test"]) == {"nadeau_bengio"}
    assert set(frame["statistic"]) == {"t"}
    assert (frame["n"] == 12).all()
    for place, record in enumerate(result.importances):
        assert (record.split, record.n_samples) == ("train", 100)
        d = record.raw - record.baseline
        truth = [t_test(row, overlap=20 / 80) for row in d]
        rows = frame[frame["record"] == place]
        for name in ("value", "p_value", "std_error", "low", "high"):
            values = [getattr(one, name) for one in truth]
            assert rows[name].tolist() == pytest.approx(values, rel=1e-12)
        assert rows["estimate"].tolist() == pytest.approx(d.mean(axis=1).tolist())


def test_rows_of_other_refits_are_not_tested_one_by_one():
    both = {**DROPPED, "name": "on test rows"}
    result = audited(REFITTED, both, tests=["lei", "nadeau_bengio"])
    tests = result.significance.groupby("record")["test"].first()
    assert tests.tolist() == ["nadeau_bengio", "lei"]
    assert len(result.importances) == 2


def test_an_area_under_a_curve_is_tested_over_refits():
    train, test = (
        replace(binary_data(seed=seed), split=split)
        for seed, split in ((1, "train"), (2, "test"))
    )
    logit = {"name": "m", "estimator": "sklearn.linear_model.LogisticRegression"}
    config = {"models": [logit], "importance": [REFITTED]}
    config["significance"] = {"tests": ["nadeau_bengio"]}
    frame = audit(train, test, parse_config(config)).significance
    assert set(frame["loss"]) == {"one_minus_auc"}
    assert frame["p_value"][0] < 0.001
