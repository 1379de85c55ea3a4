"""The test tables of R's xplainfi and cpi, from the differences of their rows."""

import re

import numpy as np
import pytest
from tests.engines import test_xplainfi
from tests.methods.recorded import Cases, recorded

from importance_audit.assess.paired_tests import (
    sign_flip_test,
    sign_test,
    t_test,
    wilcoxon_test,
)
from importance_audit.assess.significance import adjusted
from importance_audit.methods.importance.permutation import permutation
from importance_audit.records.r_rng import RStream

XPLAINFI = recorded("xplainfi")
EXACT = {
    **{"t": t_test, "wilcoxon": wilcoxon_test, "binomial": sign_test},
    **{"wilcox": wilcoxon_test, "binom": sign_test},
}
LEFT_OUT = {
    "cpi-pkg-kn-": "knockoffs are drawn, and what was drawn is not recorded",
    "cpi-(gauss|knn)-fisher-two.sided": "one-sided tests alone draw signs here",
    "loco-lm-regr.rmse": "xplainfi has no row losses of RMSE, so the table is empty",
}


def has_tests(case):
    """Return whether a case has a table of tests."""
    results = {"table", "lei", "inference"} & set(case["result"])
    return bool(results) or "cpi-pkg" in case["id"]


EVERY = {case["id"]: case for case in XPLAINFI["cases"]}
CASES = Cases(filter(has_tests, EVERY.values()), LEFT_OUT, match=re.match)
is_compared = CASES.compared.__contains__


def columns(block="num"):
    """Return the columns of a block as arrays."""
    return {k: np.array(v) for k, v in XPLAINFI["data"][block]["columns"].items()}


def differences_of(sampler):
    """Return the recorded differences of each feature."""
    rows = CASES[f"cpi-{sampler}-t-greater"]["result"]["differences"]
    feature, d = np.array(rows["feature"]), np.array(rows["d"], dtype=float)
    return {name: d[feature == name] for name in dict.fromkeys(feature.tolist())}


def differences_of_cpi(case):
    """Return the differences that cpi works out from given substitutes."""
    options, given = case["options"], columns()
    loss = {"regr.mse": np.square, "regr.mae": np.abs}[options["measure"]]
    names = sorted(set(given) - {"y"})
    sets = options["groups"] or {name: n + 1 for n, name in enumerate(names)}

    def losses(rows):
        return loss(given["y"] - eval(case["model"], {}, rows))

    differences = {}
    for name, places in sets.items():
        changed = [names[n - 1] for n in np.atleast_1d(places)]
        after = [
            losses({**given, **{c: np.array(x[c]) for c in changed}})
            for x in options["x_tilde"]
        ]
        if options["log"]:
            differences[name] = np.mean(np.log(after / losses(given)), axis=0)
        else:
            differences[name] = np.mean(after, axis=0) - losses(given)
    return differences


def differences_of_loco(case, loss):
    """Return the differences of least squares without each feature, on test rows."""
    given = columns()
    train, test = (np.array(case["options"][part]) - 1 for part in ("train", "test"))

    def losses(names):
        X = np.column_stack([np.ones(len(given["y"])), *(given[n] for n in names)])
        b = np.linalg.lstsq(X[train], given["y"][train], rcond=None)[0]
        error = given["y"][test] - X[test] @ b
        return error**2 if loss == "mse" else np.abs(error)

    names = sorted(set(given) - {"y"})
    return {
        name: losses([n for n in names if n != name]) - losses(names) for name in names
    }


def two_sided(test, differences):
    """Return R's two-sided p-value: twice the smaller of both sides, at most 1.

    Of signs, what is not above 0 is the other side.
    """
    other = np.where(differences > 0, -1, 1) if test is sign_test else -differences
    sides = test(differences).p_value, test(other).p_value
    return min(1.0, 2 * min(sides))


def p_value(test, differences, alternative):
    if alternative == "two.sided":
        return two_sided(test, differences)
    return test(differences).p_value


def near(values):
    return pytest.approx([float(v) for v in values], rel=1e-9, abs=1e-13)


def p_values_of_flips(case, differences):
    """Return the p-values of signs that are drawn in R's order."""
    r, p, n_flips = RStream(case["seed"]), [], case["options"]["B"]
    for d in differences.values():
        flips = [2.0 * r.sample(2, len(d), replace=True) - 1 for _ in range(n_flips)]
        p.append(sign_flip_test(d, [np.array(flips)]).p_value)
    return p


@CASES.of(r"cpi-\w+-(t|wilcoxon|binomial)-(greater|two\.sided)$")
def test_statistics_and_p_values_of_conditional_importance_are_xplainfis(case):
    _, sampler, name, alternative = case.split("-")
    table = CASES[case]["result"]["table"]
    test, differences = EXACT[name], differences_of(sampler)
    assert list(differences) == table["feature"]
    outcomes = [test(d) for d in differences.values()]
    assert [one.value for one in outcomes] == near(table["statistic"])
    p = [p_value(test, d, alternative) for d in differences.values()]
    assert p == near(table["p.value"])
    if name == "t":
        assert [one.std_error for one in outcomes] == near(table["se"])
    if (name, alternative) == ("t", "two.sided"):
        assert [one.low for one in outcomes] == near(table["conf_lower"])
        assert [one.high for one in outcomes] == near(table["conf_upper"])


@CASES.of(r"cpi-\w+-(t|wilcoxon|binomial)-greater$")
def test_our_losses_of_rows_in_xplainfis_draws_have_its_statistics(case):
    _, sampler, name, _ = case.split("-")
    drawn, table = EVERY[f"cpi-{sampler}-base"], CASES[case]["result"]["table"]
    data = test_xplainfi.rows_of(drawn)
    answer = permutation(
        test_xplainfi.model_of(drawn),
        data,
        seed=drawn["seed"],
        stream="xplainfi",
        n_repeats=drawn["options"]["n_repeats"],
        keep=("paired_losses",),
        **test_xplainfi.within_of(drawn),
    )
    places = [list(data.groups).index(feature) for feature in table["feature"]]
    pairs = answer.paired_losses
    outcomes = [EXACT[name](pairs.differences("mse", place)) for place in places]
    assert [one.value for one in outcomes] == near(table["statistic"])
    assert [one.p_value for one in outcomes] == near(table["p.value"])


@CASES.of(r"cpi-\w+-fisher-greater")
def test_random_signs_in_rs_order_give_xplainfis_p_values(case):
    sampler, result = case.split("-")[1], CASES[case]["result"]
    p = p_values_of_flips(CASES[case], differences_of(sampler))
    assert p == near(result["table"]["p.value"])


@CASES.of("cpi-pkg-(?!kn-)")
def test_tables_of_cpi_are_met(name):
    case, result = CASES[name], CASES[name]["result"]
    differences, test = differences_of_cpi(case), case["options"]["test"]
    assert [d.mean() for d in differences.values()] == near(result["CPI"])
    if test == "fisher":
        assert p_values_of_flips(case, differences) == near(result["p.value"])
        return
    outcomes = [EXACT[test](d) for d in differences.values()]
    assert [one.value for one in outcomes] == near(result["statistic"])
    assert [one.p_value for one in outcomes] == near(result["p.value"])


@pytest.mark.parametrize("alternative", ["greater", "two.sided"])
@pytest.mark.parametrize("name", ["t", "wilcoxon", "binomial"])
@CASES.of(r"loco-lm-regr\.(mse|mae)")
def test_tables_of_leis_test_are_met(case, name, alternative):
    table = CASES[case]["result"]["lei"][f"{name}/{alternative}"]
    test, loss = EXACT[name], case.split(".")[1]
    differences = differences_of_loco(CASES[case], loss)
    medians = [np.median(d) for d in differences.values()]
    assert medians == near(table["importance"])
    assert [test(d).value for d in differences.values()] == near(table["statistic"])
    p = [p_value(test, d, alternative) for d in differences.values()]
    assert p == near(table["p.value"])


def test_the_median_differences_of_absolute_errors_are_those_of_the_recorded_rows():
    case = CASES["loco-lm-regr.mae"]
    rows = case["result"]["obs_loss"]
    feature, d = np.array(rows["feature"]), np.array(rows["obs_importance"])
    for name, ours in differences_of_loco(case, "mae").items():
        assert ours == pytest.approx(d[feature == name], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("alternative", ["greater", "two.sided"])
@pytest.mark.parametrize("method", ["raw", "nadeau_bengio"])
@CASES.of("pfi-folds-inference")
def test_the_corrected_variance_over_refits_is_xplainfis(case, method, alternative):
    result, sets = CASES[case]["result"], CASES[case]["options"]
    share = len(sets["test_sets"][0]) / len(sets["train_sets"][0])
    overlap = {"raw": 0, "nadeau_bengio": share}[method]
    scores = {k: np.array(v) for k, v in result["scores"].items()}
    table = result["inference"][f"{method}/{alternative}"]

    def test(differences):
        return t_test(differences, overlap=overlap)

    for n, name in enumerate(table["feature"]):
        of_feature = scores["feature"] == name
        fold, value = scores["iter_rsmp"][of_feature], scores["importance"][of_feature]
        d = np.array([value[fold == k].mean() for k in np.unique(fold)])
        assert len(d) == len(sets["test_sets"])
        one = test(d)
        assert [one.std_error, one.value, p_value(test, d, alternative)] == near(
            [table[key][n] for key in ("se", "statistic", "p.value")]
        )
        if alternative == "two.sided":
            ends = [table[key][n] for key in ("conf_lower", "conf_upper")]
            assert [one.low, one.high] == near(ends)


@CASES.of("cpi-gauss-t-(holm|bonferroni|BH)")
def test_adjusted_p_values_are_rs(case):
    in_r = case.split("-")[-1]
    name = "benjamini_hochberg" if in_r == "BH" else in_r
    p = [two_sided(t_test, d) for d in differences_of("gauss").values()]
    truth = CASES[case]["result"]["table"]["p.value"]
    assert adjusted(np.array(p), name).tolist() == near(truth)
    of_folds = CASES["pfi-folds-inference"]["result"]["inference"]
    p = np.array(of_folds["nadeau_bengio/two.sided"]["p.value"])
    truth = of_folds[f"nadeau_bengio/two.sided/{in_r}"]["p.value"]
    assert adjusted(p, name).tolist() == near(truth)


def test_every_recorded_table_is_compared_or_left_out_for_a_reason():
    CASES.assert_accounted_for()
