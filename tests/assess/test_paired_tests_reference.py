"""The test tables of R's xplainfi and cpi, from the differences of their rows."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from tests.engines import test_xplainfi as recorded

from importance_audit.assess.paired_tests import (
    sign_flip_test,
    sign_test,
    t_test,
    wilcoxon_test,
)
from importance_audit.assess.significance import adjusted
from importance_audit.methods.importance.permutation import permutation
from importance_audit.records.r_rng import RStream

REFERENCE = Path(__file__).parents[1] / "reference" / "xplainfi.json"
XPLAINFI = json.loads(REFERENCE.read_text(encoding="utf8"))
CASES = {case["id"]: case for case in XPLAINFI["cases"]}
EXACT = {
    **{"t": t_test, "wilcoxon": wilcoxon_test, "binomial": sign_test},
    **{"wilcox": wilcoxon_test, "binom": sign_test},
}
SAMPLERS = ("gauss", "knn")
LEI = [(f"loco-lm-regr.{loss}", loss) for loss in ("mse", "mae")]
LEFT_OUT = {
    "cpi-pkg-kn-": "knockoffs are drawn, and what was drawn is not recorded",
    **{
        f"cpi-{sampler}-fisher-two.sided": "one-sided tests alone draw signs here"
        for sampler in SAMPLERS
    },
    "loco-lm-regr.rmse": "xplainfi has no row losses of RMSE, so the table is empty",
}


def is_compared(case):
    """Return whether a case is a table of tests that is held against ours."""
    is_test = re.fullmatch(
        "cpi-(gauss|knn)-(t|wilcoxon|binomial|fisher)-.*|cpi-pkg-.*|pfi-folds-inference",
        case,
    )
    return bool(is_test) and not case.startswith(tuple(LEFT_OUT))


def columns(block="num"):
    """Return the columns of a block as arrays."""
    return {k: np.array(v) for k, v in XPLAINFI["data"][block]["columns"].items()}


def differences_of(sampler):
    """Return the recorded differences of each feature."""
    recorded = CASES[f"cpi-{sampler}-t-greater"]["result"]["differences"]
    feature, d = np.array(recorded["feature"]), np.array(recorded["d"], dtype=float)
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


@pytest.mark.parametrize("alternative", ["greater", "two.sided"])
@pytest.mark.parametrize("name", ["t", "wilcoxon", "binomial"])
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_statistics_and_p_values_of_conditional_importance_are_xplainfis(
    sampler, name, alternative
):
    table = CASES[f"cpi-{sampler}-{name}-{alternative}"]["result"]["table"]
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


@pytest.mark.parametrize("name", ["t", "wilcoxon", "binomial"])
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_our_losses_of_rows_in_xplainfis_draws_have_its_statistics(sampler, name):
    case = CASES[f"cpi-{sampler}-base"]
    data = recorded.rows_of(case)
    answer = permutation(
        recorded.model_of(case),
        data,
        seed=case["seed"],
        stream="xplainfi",
        n_repeats=case["options"]["n_repeats"],
        keep=("paired_losses",),
        **recorded.within_of(case),
    )
    table = CASES[f"cpi-{sampler}-{name}-greater"]["result"]["table"]
    places = [list(data.groups).index(feature) for feature in table["feature"]]
    pairs = answer.paired_losses
    outcomes = [EXACT[name](pairs.differences("mse", place)) for place in places]
    assert [one.value for one in outcomes] == near(table["statistic"])
    assert [one.p_value for one in outcomes] == near(table["p.value"])


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_random_signs_in_rs_order_give_xplainfis_p_values(sampler):
    case = CASES[f"cpi-{sampler}-fisher-greater"]
    r, p, n_flips = RStream(case["seed"]), [], case["options"]["B"]
    for d in differences_of(sampler).values():
        flips = [2.0 * r.sample(2, len(d), replace=True) - 1 for _ in range(n_flips)]
        p.append(sign_flip_test(d, [np.array(flips)]).p_value)
    assert p == near(case["result"]["table"]["p.value"])


@pytest.mark.parametrize(
    "name",
    [
        c
        for c in CASES
        if c.startswith("cpi-pkg-") and not c.startswith(tuple(LEFT_OUT))
    ],
)
def test_tables_of_cpi_are_met(name):
    case = CASES[name]
    result, r = case["result"], RStream(case["seed"])
    differences, test = differences_of_cpi(case), case["options"]["test"]
    assert [d.mean() for d in differences.values()] == near(result["CPI"])
    if test == "fisher":
        n_flips, p = case["options"]["B"], []
        for d in differences.values():
            flips = [
                2.0 * r.sample(2, len(d), replace=True) - 1 for _ in range(n_flips)
            ]
            p.append(sign_flip_test(d, [np.array(flips)]).p_value)
        assert p == near(result["p.value"])
        return
    outcomes = [EXACT[test](d) for d in differences.values()]
    assert [one.value for one in outcomes] == near(result["statistic"])
    assert [one.p_value for one in outcomes] == near(result["p.value"])


@pytest.mark.parametrize("alternative", ["greater", "two.sided"])
@pytest.mark.parametrize("name", ["t", "wilcoxon", "binomial"])
@pytest.mark.parametrize(("case", "loss"), LEI)
def test_tables_of_leis_test_are_met(case, loss, name, alternative):
    table = CASES[case]["result"]["lei"][f"{name}/{alternative}"]
    test, differences = EXACT[name], differences_of_loco(CASES[case], loss)
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
def test_the_corrected_variance_over_refits_is_xplainfis(method, alternative):
    case = CASES["pfi-folds-inference"]
    result, sets = case["result"], case["options"]
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


@pytest.mark.parametrize(
    ("recorded", "name"),
    [("holm", "holm"), ("bonferroni", "bonferroni"), ("BH", "benjamini_hochberg")],
)
def test_adjusted_p_values_are_rs(recorded, name):
    table = CASES[f"cpi-gauss-t-{recorded}"]["result"]["table"]
    p = [two_sided(t_test, d) for d in differences_of("gauss").values()]
    assert adjusted(np.array(p), name).tolist() == near(table["p.value"])
    of_folds = CASES["pfi-folds-inference"]["result"]["inference"]
    p = np.array(of_folds["nadeau_bengio/two.sided"]["p.value"])
    truth = of_folds[f"nadeau_bengio/two.sided/{recorded}"]["p.value"]
    assert adjusted(p, name).tolist() == near(truth)


def test_every_recorded_table_is_compared_or_left_out_for_a_reason():
    compared = {
        f"cpi-{s}-{t}-{a}"
        for s in SAMPLERS
        for t in ("t", "wilcoxon", "binomial")
        for a in ("greater", "two.sided")
    }
    compared |= {f"cpi-{s}-fisher-greater" for s in SAMPLERS}
    compared |= {"pfi-folds-inference", *dict(LEI)}
    compared |= {f"cpi-gauss-t-{name}" for name in ("holm", "bonferroni", "BH")}
    compared |= {c for c in CASES if c.startswith("cpi-pkg-")}
    tables = {
        name
        for name, case in CASES.items()
        if {"table", "lei", "inference"} & set(case["result"]) or "cpi-pkg" in name
    }
    rest = {c for c in tables - compared if not c.startswith(tuple(LEFT_OUT))}
    assert rest == set()
