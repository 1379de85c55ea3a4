"""Claims of a paper in an audit: what becomes of each."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import r2_score
from tests.auditing.test_audit import (
    PERMUTATION,
    audited,
    callable_model,
    linear,
    rows,
    rows_to_audit,
)
from tests.report.reading import column, table

from importance_audit.auditing.audit import audit, exit_code
from importance_audit.config.load import parse_config
from importance_audit.data.datasets import dataset
from importance_audit.models.fit import wrap
from importance_audit.records.errors import ConfigError
from importance_audit.report.pages.short_views import short_files
from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import plain

TOLD = {"text": "a leads", "source": "Doe (2001), Fig. 2", "method": "permutation"}
LEADS = {**TOLD, "kind": "leader", "features": ["a"]}
FAILS = {**LEADS, "text": "b leads", "features": ["b"], "paper": 0.5}


def claimed(*claims, models=(), **config):
    """Return an audit of y = 3 a - b in which claims are made."""
    return audited(*(models or (linear(),)), claims=list(claims), **config)


def row(result):
    return result.claims.iloc[0].to_dict()


IMPURITY = {**LEADS, "method": "impurity", "severity": "warning"}


@pytest.mark.parametrize(
    ("claim", "verdict", "found"),
    [
        (LEADS, "reproduced", None),
        (FAILS, "not reproduced", ("claim_not_reproduced", "info")),
        (
            {**FAILS, "severity": "failure"},
            "not reproduced",
            ("claim_not_reproduced", "failure"),
        ),
        ({**FAILS, "not_comparable": "it has other data"}, "not comparable", None),
        (IMPURITY, "not comparable", ("claim_unanswered", "warning")),
    ],
)
def test_a_claim_is_a_row_and_a_finding_of_its_weight_unless_it_holds(
    claim, verdict, found
):
    result = claimed(claim, entries=[PERMUTATION, {"method": "impurity"}])
    cells = row(result)
    assert (cells["claim"], cells["source"]) == (claim["text"], "Doe (2001), Fig. 2")
    assert cells["verdict"] == verdict
    unanswered = "'impurity' by python gave no number." if claim is IMPURITY else ""
    assert cells["reason"] == claim.get("not_comparable", unanswered)
    own = [f for f in result.findings if f.check.startswith("claim_")]
    assert [(f.check, f.severity) for f in own] == ([found] if found else [])
    assert exit_code(result) == int(bool(found) and found[1] == "failure")


@pytest.mark.parametrize("end", ["", "."])
def test_a_claim_that_fails_says_what_was_found_and_what_the_paper_has(end):
    result = claimed({**FAILS, "text": f"b leads{end}"})
    (note,) = (f for f in result.findings if f.check == "claim_not_reproduced")
    assert note.message == (
        "b leads (Doe (2001), Fig. 2). Found: rank of 'b' is 2; claimed: at most 1."
    )
    assert dict(note.evidence) == {"ours": 2.0, "paper": 0.5}
    assert (row(result)["paper"], row(result)["ours"]) == (0.5, 2.0)
    assert math.isnan(row(claimed(LEADS))["paper"])


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [("output", "u", "v"), ("loss", "mae", "mse")],
)
def test_one_sentence_of_a_paper_may_be_several_claims_with_a_finding_each(
    name, one, other
):
    result = claimed(*({**FAILS, name: value} for value in (one, other)))
    keys = {(f.check, f.key) for f in result.findings if f.check.startswith("claim_")}
    assert len(keys) == 2
    assert len({check for check, _ in keys}) == 1


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        (LEADS, "The claim names no model, and there are 'linear', 'second'."),
        (
            {"text": "t", "kind": "performance", "expected": 1, "tolerance": 1},
            "The claim must be about one model and loss; 2 were measured on the test "
            "rows.",
        ),
    ],
)
def test_a_claim_about_one_of_several_models_must_say_which(claim, reason):
    assert row(claimed(claim, models=(linear(), linear("second"))))["reason"] == reason


def test_a_loss_and_a_curve_can_be_claimed():
    curve = {**TOLD, "method": "partial_dependence", "kind": "line", "features": ["a"]}
    curve |= {"intercept": 0.0, "slope": 3.0, "tolerance": 0.2}
    loss = {"text": "rmse", "kind": "performance", "expected": 0.1, "tolerance": 0.02}
    entries = [PERMUTATION, {"method": "partial_dependence"}]
    result = claimed(curve, loss, LEADS, entries=entries)
    assert list(result.claims["verdict"]) == ["reproduced"] * 3
    assert list(result.claims["loss"])[1:] == ["rmse", "rmse"]  # which no claim names


FOREST = {"estimator": "sklearn.ensemble.RandomForestRegressor", "name": "forest"}
FOREST["parameters"] = {"n_estimators": 50, "oob_score": True, "random_state": 1}


def test_what_only_a_claim_asks_of_a_model_is_measured_for_it():
    of = {"text": "t", "expected": 0.5, "tolerance": 0.5, "loss": "mse"}
    claims = [
        {**of, "kind": "explained", "split": "out_of_bag"},
        {**of, "kind": "cross_validated", "folds": 3},
    ]
    train, test = (
        dataset(*rows(seed=n), name=name, split=name, task="regression")
        for n, name in enumerate(("train", "test"))
    )
    config = {"importance": [PERMUTATION], "models": [FOREST], "claims": claims}
    result = audit(train, test, parse_config(config))
    forest = RandomForestRegressor(**FOREST["parameters"]).fit(*rows())
    assert result.claims["ours"][0] == pytest.approx(forest.oob_score_, rel=1e-9)
    assert result.claims["asked"][1] == "mean loss in 3-fold cross-validation"
    assert set(result.performance["split"]) == {"train", "out_of_bag", "test"}


@pytest.mark.slow
def test_a_loss_that_no_claim_names_is_the_one_the_audit_judges_by():
    claim = {"text": "t", "expected": 0.5, "tolerance": 0.5, "kind": "explained"}
    train = dataset(*rows(), name="train", split="train", task="regression")
    test = dataset(*rows(seed=1), name="test", task="regression")

    def claim_row(losses, **keys):
        entry = {**PERMUTATION, "losses": losses}
        config = {"importance": [entry], "models": [FOREST]}
        config["claims"] = [claim | {"split": "out_of_bag"} | keys]
        return row(audit(train, test, parse_config(config)))

    assert claim_row(["mse"])["ours"] == claim_row(["mae"], loss="mse")["ours"]
    assert claim_row(["mse"])["loss"] == "mse"


def test_a_frequency_is_about_all_models():
    often = {**LEADS, "kind": "frequency", "within": 1, "expected": 1, "tolerance": 0}
    claim_row = row(claimed(often, models=(linear(), linear("second"))))
    assert (claim_row["ours"], claim_row["verdict"]) == (1.0, "reproduced")
    assert claim_row["asked"] == "share of 2 models with 'a' in the first 1"
    assert claim_row["model"] == ""


def test_a_pair_can_be_claimed_and_one_that_is_not_there_is_told():
    first = {**TOLD, "method": "vint", "of": "pairs", "kind": "leader"}
    pair_claims = [{**first, "features": [pair]} for pair in ("a:b", "b:a", "a:z")]
    changes = {"models": (callable_model(lambda X: (X["a"] * X["b"]).to_numpy()),)}
    claims = claimed(
        *pair_claims, entries=[{"method": "vint", "of": "pairs"}], **changes
    ).claims
    assert list(claims["verdict"]) == ["reproduced"] * 2 + ["not comparable"]
    assert claims["reason"][2].startswith("There is no 'a:z' among the pairs.")


RANKED = {"text": "t", "method": "permutation", "kind": "top_k", "k": 2}
RANKED |= {"judge": "second", "factor": 9.0}
PCA = {"method": "pca", "scaled": False}


def judged(claims, protocols):
    """Return an audit in which two unlike models judge two rankings."""
    models = [
        {"name": name, "estimator": f"sklearn.linear_model.{kind}"}
        for name, kind in (("first", "LinearRegression"), ("second", "LassoLars"))
    ]
    settings = {"models": models, "importance": [PERMUTATION, PCA], "claims": claims}
    settings["top_k"] = {"k": 2, "folds": 2, "protocols": protocols}
    train = dataset(*noisy(40), name="r", task="regression", split="train")
    test = dataset(*noisy(20), name="s", task="regression")
    return audit(train, test, parse_config(settings))


def test_a_curve_is_that_of_the_ranking_the_judge_and_the_protocol_named():
    protocols = ["folds", "holdout"]
    by_model, of_data = RANKED | {"model": "first"}, {**RANKED, "method": "pca"}
    claims = [by_model, *({**of_data, "protocol": p} for p in protocols)]
    result = judged(claims, protocols)
    frame = result.top_k[result.top_k["judge"] == "second"]
    loss = frame.groupby(["protocol", "method", "k"])["value"].mean()
    ratios = [loss[p, "pca", 1] / loss[p, "permutation", 1] for p in protocols]
    assert result.claims["ours"].tolist() == pytest.approx([1, *ratios])


def test_a_share_counts_the_splits_in_which_one_ranking_is_near_the_best():
    """Judged by its first feature alone: near is 1.5 times the better of the two."""
    claim = RANKED | {"method": "pca", "k": 1, "factor": 1.5, "protocol": "folds"}
    result = judged([claim | {"share": 0.5}], ["folds"])
    frame = result.top_k[(result.top_k["judge"] == "second") & (result.top_k["k"] == 1)]
    table = frame.pivot_table("value", "fold", "method", aggfunc="min")
    share = (table["pca"] <= 1.5 * table.min(axis=1)).mean()
    assert result.claims["ours"].tolist() == [share]


def noisy(n):
    """Return rows of y = 3 a + noise, in which b varies most."""
    numbers = np.random.default_rng(n).normal(size=(n, 3)) * [1, 9, 0.1]
    X = pd.DataFrame(numbers[:, :2], columns=["a", "b"])
    return X, 3 * X["a"] + numbers[:, 2]


def test_two_models_are_alike_by_the_method_that_is_named():
    """One reads a, the other b: they rank the two the other way round."""
    of_a, of_b = lambda X: X["a"], lambda X: -X["b"]
    fields = {"task": "regression", "features": ("a", "b")}
    first, second = wrap(of_a, name="a", **fields), wrap(of_b, name="b", **fields)
    claim = {"text": "t", "kind": "likeness", "bound": 0.9, "features": ["a", "b"]}
    alike = {**claim, "method": "permutation", "model": "a", "other": "b"}
    entry = {**PERMUTATION, "losses": ["rmse", "mae"]}
    alike |= {"loss": "mae"}
    claim_row = row(claimed(alike, models=(first, second), entries=[entry]))
    assert (claim_row["ours"], claim_row["verdict"]) == (-1, "not reproduced")


def test_curves_that_nobody_asked_for_have_no_number():
    result = claimed({**RANKED, "judge": "linear"})
    assert row(result)["reason"] == (
        "The claim must be about one ranking; [top_k] has 0 for 'linear' under 'folds'."
    )


def test_the_share_of_a_constant_s_loss_that_is_saved_is_r_squared():
    fields = {"text": "t", "kind": "explained", "loss": "mse"}
    claim = {**fields, "expected": 1, "tolerance": 1}
    entry = {**PERMUTATION, "losses": ["mse"]}
    claim_row = row(claimed(claim, entries=(entry,)))
    test, model = rows_to_audit(), linear()
    # Without training rows the constant is the mean of the test rows, as in R².
    assert claim_row["ours"] == pytest.approx(r2_score(test.y, model.predict(test.X)))


def test_a_feature_that_the_data_lack_is_refused():
    with pytest.raises(ConfigError) as refused:
        claimed({**LEADS, "features": ["a1"]})
    assert refused.value.problems == (
        "A feature of a claim must be one that the audit has; 'a1' is not. "
        "Did you mean 'a'?",
    )


def test_the_report_shows_claim_paper_and_ours_side_by_side():
    strange = {**FAILS, "text": "<b> & *b*", "not_comparable": "it has other data"}
    result = claimed(FAILS, strange)
    item = table(build_view(result), "tab-claims")
    assert plain(item.caption) == "What is claimed, and what this run finds."
    assert column(item, "Claim")[1] == "<b> & *b* (Doe (2001), Fig. 2)"
    assert column(item, "What is compared")[0] == "rank of b; permutation, RMSE"
    assert column(item, "Paper's number") == ["0.5", "0.5"]
    assert column(item, "Our number") == ["2", "2"]
    assert column(item, "Verdict") == [
        "not reproduced",
        "not comparable, because: it has other data",
    ]
    summary = short_files(result)["summary.txt"]
    assert "\nclaims: 1 not reproduced, 1 not comparable\n" in summary
    assert "claims" not in short_files(claimed())["summary.txt"]
    assert "tab-claims" not in [table.id for table in build_view(claimed()).tables]


TABLE = {
    "text": "Table 1",
    "kind": "printed",
    "method": "permutation",
    "numbers": {"a": 0.5, "b": 1.0},
    "decimals": 1,
}
TWICE = (
    {**PERMUTATION, "name": "first", "seed": 1},
    {**PERMUTATION, "name": "second", "seed": 2},
)


def test_each_number_of_a_printed_table_is_a_claim():
    claims = claimed(TABLE).claims
    cells = claims[["claim", "paper", "decimals", "verdict"]].to_numpy().tolist()
    assert cells == [
        ["Table 1: a", 0.5, 1.0, "not reproduced"],
        ["Table 1: b", 1.0, 1.0, "not reproduced"],
    ]


def test_a_claim_is_answered_by_the_entry_that_it_names():
    claims = [{**TABLE, "entry": name} for name in ("first", "second")]
    result = claimed(*claims, entries=TWICE)
    first, second = (record.mean[0] for record in result.importances)
    assert result.claims["ours"].tolist()[::2] == [first, second]


def test_a_claim_that_could_be_of_two_entries_is_not_answered():
    claim_row = row(claimed(TABLE, entries=TWICE))
    assert claim_row["verdict"] == "not comparable"
    assert claim_row["reason"] == (
        "'permutation' is measured with 2 sets of options, so the claim is "
        "ambiguous. Name the entry."
    )


@pytest.mark.parametrize(
    ("claim", "decimals", "text"),
    [
        ({"tolerance": 0.00005}, 4, "282.9519"),
        ({"tolerance": 0.05}, math.nan, "283"),
        ({"tolerance": 0.0}, math.nan, "283"),
        (TABLE | {"decimals": 4, "numbers": {"a": 282.9519}}, 4, "282.9519"),
    ],
)
def test_a_number_is_shown_as_far_as_the_claim_holds_it(claim, decimals, text):
    value = {**TOLD, "kind": "value", "features": ["a"], "expected": 282.9519}
    result = claimed(
        claim if "numbers" in claim else value | claim | {"paper": 282.9519}
    )
    assert row(result)["decimals"] == pytest.approx(decimals, nan_ok=True)
    assert column(table(build_view(result), "tab-claims"), "Paper's number") == [text]
