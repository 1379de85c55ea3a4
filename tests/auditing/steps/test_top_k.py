"""Top-k error curves: who ranks, on which rows, and what a curve must look like."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from importance_audit.auditing.audit import audit
from importance_audit.auditing.steps.top_k_protocols import in_held_out_splits
from importance_audit.config.load import parse_config
from importance_audit.data.datasets import dataset
from importance_audit.data.derived_columns import DerivedSection, with_derived

MODEL = {"name": "linear", "estimator": "sklearn.linear_model.LinearRegression"}
LOGISTIC = {"name": "l", "estimator": "sklearn.linear_model.LogisticRegression"}
NAMES = ("noise", "signal", "other")


def rows(split, n=60, *, task="regression"):
    """Return rows of which the second column alone says anything of the target."""
    draws = np.random.default_rng(len(split)).normal(size=(n, 3))
    X = pd.DataFrame(draws, columns=NAMES)
    y = 5 * X["signal"] if task == "regression" else (X["signal"] > 0).astype(int)
    return dataset(X, y, name=split, task=task, split=split)


def curves(
    *entries, train=None, test=None, k=8, task="regression", model=MODEL, **options
):
    top_k = {"k": k, "folds": 4, **options}
    config = {"importance": list(entries), "models": [model], "top_k": top_k}
    train, test = train or rows("train", task=task), test or rows("test", task=task)
    return audit(train, test, parse_config(config))


def with_columns(part, **columns):
    """Return the same rows with other columns, or another y."""
    y, X = columns.pop("y", part.y), part.X.assign(**columns)
    return dataset(X, y, name="d", task="regression", split=part.split)


def test_a_curve_is_flat_after_the_one_feature_that_tells():
    asked = {"method": "permutation", "n_repeats": 2}, {"method": "pca"}
    flat, other = (
        curves(*asked).top_k.query(f"method == {m!r}") for m in ("permutation", "pca")
    )
    assert set(flat.loc[flat["k"] == 1, "feature"]) == {"signal"}
    assert flat["value"].to_numpy() == pytest.approx(np.zeros(3 * 4), abs=1e-12)
    mean = other.groupby("k")["value"].mean()
    assert mean[1] > 0.8 * rows("train").y.std()  # noise alone tells nothing
    assert mean[3] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"folds": 61},
            "The folds of the top-k curves: There are 60 training rows, too few to be "
            "cut into 61 folds.",
        ),
        (
            {"test": rows("train"), "protocols": ["holdout"]},
            "The holdout of the top-k curves: The training rows are also the test "
            "rows, so the rankings would be judged on the rows they come from.",
        ),
    ],
)
def test_rows_that_cannot_judge_are_a_note(options, message):
    result = curves({"method": "spearman"}, **options)
    assert result.top_k.empty
    (note,) = (f for f in result.findings if "top-k" in f.message)
    assert note.message == message


def test_a_curve_ends_where_the_ranking_does_and_classes_have_their_loss():
    flat = with_columns(rows("train"), other=1.0)
    top_k = curves({"method": "spearman"}, train=flat).top_k
    assert sorted(set(top_k["k"])) == [1, 2]
    top_k = curves({"method": "pca"}, task="binary", model=LOGISTIC).top_k
    assert set(top_k["loss"]) == {"one_minus_auc"}
    assert top_k["value"].between(0, 1).all()


def test_rankings_with_the_same_order_have_the_same_curve():
    tree = {"name": "tree", "estimator": "sklearn.ensemble.ExtraTreesRegressor"}
    tree["parameters"] = {"n_estimators": 3}  # no seed: only one fit can be equal
    result = curves({"method": "spearman"}, {"method": "lowess_r2"}, k=1, model=tree)
    first, second = (part for _, part in result.top_k.groupby("entry"))
    assert first["feature"].tolist() == second["feature"].tolist()
    assert first["value"].tolist() == second["value"].tolist()


def test_the_folds_do_not_depend_on_who_ranks():
    one = curves({"method": "permutation", "n_repeats": 2}, {"method": "pca"}).top_k
    all_in = one[one["k"] == 3].pivot(index="fold", columns="method", values="value")
    alone = curves({"method": "pca"}).top_k
    values = alone.loc[alone["k"] == 3, "value"].tolist()
    assert all_in["pca"].tolist() == all_in["permutation"].tolist() == values


def test_the_rows_left_out_do_not_rank():
    """Rank by variance; a wild row puts its column first, but where it is left out."""
    train = rows("train", 12)
    wild = with_columns(train, other=np.where(np.arange(12) == 7, 1e6, 0.0))
    by_variance = {"method": "pca", "scaled": False}
    top_k = curves(by_variance, train=wild, folds=12, k=1).top_k
    assert (top_k["feature"] != "other").sum() == 1


def test_nothing_is_fitted_unless_it_is_asked_for():
    assert curves({"method": "spearman"}, k=0).top_k.empty


def test_a_class_of_one_row_is_a_note_and_fails_no_audit():
    y = (np.arange(60) == 7).astype(int)
    train = dataset(rows("t").X, y, name="t", task="binary", split="train")
    entry = {"method": "permutation", "n_repeats": 1}
    result = curves(entry, train=train, task="binary", model=LOGISTIC)
    assert "method_failed" not in {finding.check for finding in result.findings}
    (note,) = (f for f in result.findings if "folds" in f.message)
    assert re.fullmatch(
        r"The folds of the top-k curves: Class '1' has a single training row, "
        r"in fold [1-4]: models fitted to the other folds would "
        r"not see the class\. Add rows of the class, or leave it out\.",
        note.message,
    )


HOLDOUT = {"protocols": ["holdout"]}


def test_held_out_rows_judge_once():
    test = rows("test")
    further = with_columns(test, y=test.y + 7)
    top_k = curves({"method": "spearman"}, test=further, **HOLDOUT).top_k
    assert top_k["value"].to_numpy() == pytest.approx(7)
    assert (set(top_k["fold"]), set(top_k["protocol"])) == ({1}, {"holdout"})


def test_a_model_is_asked_for_its_ranking_on_the_rows_that_judge_it():
    """y = 5 signal + other: signal leads, but where it is constant."""
    train, test = (
        with_columns(part, y=part.y + part.X["other"])
        for part in (rows("train"), rows("test"))
    )
    flat = with_columns(test, signal=1.0)
    entry = {"method": "permutation", "n_repeats": 1}
    both = ["folds", "holdout"]
    top_k = curves(entry, train=train, test=flat, k=1, protocols=both).top_k
    first = top_k.groupby("protocol")["feature"].unique()
    assert first["folds"].tolist() == ["signal"]
    assert first["holdout"].tolist() == ["other"]


@pytest.mark.parametrize(("all_rows", "first"), [([], "noise"), (["pca"], "other")])
def test_who_is_named_ranks_by_all_rows(all_rows, first):
    by_variance = {"method": "pca", "scaled": False}
    train = with_columns(rows("train"), noise=np.linspace(-50, 50, 60))
    wild = with_columns(rows("test"), other=np.linspace(-1e6, 1e6, 60))
    asked = {"k": 1, "all_rows": all_rows, **HOLDOUT}
    top_k = curves(by_variance, train=train, test=wild, **asked).top_k
    assert top_k["feature"].tolist() == [first]


def test_a_model_that_is_named_is_fitted_to_all_rows():
    """Each half of the rows tells of one column; the larger slope is in the second."""
    train, test = rows("train"), rows("test")
    train = with_columns(train, y=train.X["noise"], other=0.0)
    test = with_columns(test, y=100 * test.X["other"], noise=0.0, signal=0.0)
    entry = {"method": "shapley", "algorithm": "linear"}
    asked = {"k": 1, "all_rows": ["linear"], **HOLDOUT}
    top_k = curves(entry, train=train, test=test, **asked).top_k
    assert top_k["feature"].tolist() == ["other"]


def test_each_split_draws_its_test_rows_anew_from_all_rows():
    config = parse_config({"importance": [{"method": "pca"}], "top_k": {"splits": 3}})
    train, test = rows("train", 60), rows("test", 20)
    protocol = in_held_out_splits(train, test, config)
    assert len({tuple(part.out) for part in protocol.rounds}) == 3
    for part in protocol.rounds:
        assert len(part.out) == 20
        assert sorted([*part.kept, *part.out]) == list(range(80))
        assert 0 < (part.out >= 60).sum() < 20


def test_a_model_is_asked_on_the_rows_that_judge_it_in_each_split():
    config = parse_config({"importance": [{"method": "pca"}]})
    protocol = in_held_out_splits(rows("train"), rows("test"), config)
    assert len(protocol.rounds) == 50
    part = protocol.rounds[7]
    assert protocol.seen("permutation", "linear", part) == (part.kept, part.out)
    assert protocol.seen("spearman", "", part) == (part.kept, part.kept)


def test_columns_that_no_model_is_given_change_no_ranking_and_are_judged_by_none():
    """A derived column is not held equal; no judge is given it, or one held out."""
    step = DerivedSection(name="step", expression="2 * signal")
    parts = (rows(split, 200) for split in ("train", "test"))
    plain = tuple(with_columns(part, **part.X.round()) for part in parts)
    derived = tuple(with_derived(part, (step,)) for part in plain)
    asked = {"method": "stratified_impact", "n_repeats": 2}, {"method": "relieff"}
    expected, top_k = (
        curves(*asked, train=train, test=test).top_k for train, test in (plain, derived)
    )
    assert set(expected["entry"]) == {0, 1}
    pd.testing.assert_frame_equal(top_k, expected)

    train, test = (replace(part, unread={"signal": ()}) for part in plain)
    top_k = curves({"method": "spearman"}, train=train, test=test).top_k
    assert set(top_k["feature"]) == {"noise", "other"}
