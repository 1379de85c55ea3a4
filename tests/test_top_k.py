"""Top-k error curves: who ranks, on which rows, and what a curve must look like."""

import numpy as np
import pandas as pd
import pytest

from pipeline.audit import audit
from pipeline.config import parse_config
from pipeline.data import dataset

MODEL = {"name": "linear", "estimator": "sklearn.linear_model.LinearRegression"}
NAMES = ("noise", "told", "other")


def rows(split, n=60, *, task="regression"):
    """Return rows of which the second column alone says anything of the target."""
    drawn = np.random.default_rng(len(split)).normal(size=(n, 3))
    X = pd.DataFrame(drawn, columns=NAMES)
    y = 5 * X["told"] if task == "regression" else (X["told"] > 0).astype(int)
    return dataset(X, y, name=split, task=task, split=split)


def curves(*entries, train=None, folds=4, k=8, task="regression", model=MODEL):
    asked = {"importance": list(entries), "models": [model], "top_k": {"k": k}}
    asked["top_k"]["folds"] = folds
    train = train or rows("train", task=task)
    return audit(train, rows("test", task=task), parse_config(asked))


def test_a_curve_is_flat_after_the_one_feature_that_tells():
    found = curves({"method": "permutation", "n_repeats": 2}).top_k
    assert set(found.loc[found["k"] == 1, "feature"]) == {"told"}
    assert found["value"].to_numpy() == pytest.approx(np.zeros(3 * 4), abs=1e-12)


def test_a_ranking_that_puts_noise_first_starts_higher():
    found = curves({"method": "spearman"}, {"method": "pca"}).top_k
    mean = found.groupby(["method", "k"])["value"].mean()
    assert mean["spearman", 1] == pytest.approx(0, abs=1e-12)
    assert mean["pca", 3] == pytest.approx(0, abs=1e-12)


def test_rankings_with_the_same_order_have_the_same_curve():
    tree = {"name": "tree", "estimator": "sklearn.ensemble.ExtraTreesRegressor"}
    tree["parameters"] = {"n_estimators": 3}  # no seed: only one fit can be equal
    found = curves({"method": "spearman"}, {"method": "lowess_r2"}, k=1, model=tree)
    first, second = (part for _, part in found.top_k.groupby("entry"))
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
    X = train.X.assign(other=train.X["other"] / 100)
    X.loc[7, "other"] = 1e6
    wild = dataset(X, train.y, name="train", task="regression", split="train")
    by_variance = {"method": "pca", "scaled": False}
    found = curves(by_variance, train=wild, folds=12, k=1).top_k
    assert (found["feature"] != "other").sum() == 1


def test_a_curve_ends_where_the_ranking_does():
    train = rows("train")
    flat = dataset(
        train.X.assign(other=1.0), train.y, name="t", task="regression", split="train"
    )
    found = curves({"method": "spearman"}, train=flat).top_k
    assert sorted(set(found["k"])) == [1, 2]


def test_classes_are_judged_by_the_loss_of_the_task_and_spread_over_the_folds():
    logistic = {"name": "l", "estimator": "sklearn.linear_model.LogisticRegression"}
    found = curves({"method": "pca"}, task="binary", model=logistic).top_k
    assert set(found["loss"]) == {"one_minus_auc"}
    assert found["value"].between(0, 1).all()


def test_nothing_is_fitted_unless_it_is_asked_for():
    assert curves({"method": "spearman"}, k=0).top_k.empty


def test_more_folds_than_rows_are_a_note():
    result = curves({"method": "spearman"}, folds=61)
    (note,) = (f for f in result.findings if "folds" in f.message)
    assert note.message == (
        "The folds of the top-k curves: The training rows must number 61 or more to be "
        "cut into folds, but there are 60."
    )
