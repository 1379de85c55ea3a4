"""Test error of selected sets: who keeps what, on which rows, and what is said."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from importance_audit.auditing.audit import audit
from importance_audit.auditing.steps.top_k_protocols import in_splits
from importance_audit.config.load import parse_config
from importance_audit.data.datasets import dataset
from importance_audit.records.errors import ConfigError

NAMES = ("noise", "signal", "other")
PERF = {"method": "random_subspace", "losses": ["mse"], "n_repeats": 18}
TWIN = {**PERF, "method": "random_subspace_permutation"}
PCA = {"method": "pca", "scaled": False}
LEAST_SQUARES = "sklearn.linear_model.LinearRegression"
MODEL = {"name": "linear", "estimator": LEAST_SQUARES}


def rows(slopes=(0, 5, 0), n=40, *, error=0.0, spread=(1, 1, 1)):
    """Return rows of a target that is linear in three columns of these spreads."""
    draws = np.random.default_rng(1).normal(size=(n, 4))
    X = pd.DataFrame(draws[:, :3] * spread, columns=NAMES)
    y = X.to_numpy() @ np.array(slopes, dtype=float) + error * draws[:, 3]
    return dataset(X, y, name="d", task="regression", split="train")


def audit_selection(*entries, train=None, splits=2, model=MODEL, **options):
    """Return the audit of some rankings, PERF first."""
    train = rows() if train is None else train
    config = {"importance": [PERF, *entries], "models": [model]}
    config["selection"] = {"splits": splits, "fraction": 0.25, **options}
    return audit(train, train, parse_config(config))


def by_method(result):
    return dict(iter(result.selection.groupby("method", sort=False)))


def split_up(train, **options):
    """Return the splits of some rows."""
    selection = {"splits": 4, "fraction": 0.25, **options}
    config = parse_config({"importance": [PERF], "selection": selection})
    return in_splits(train, config).rounds


def test_all_features_are_judged_as_a_fit_by_hand_is():
    train = rows(error=1.0)
    sets = by_method(audit_selection(train=train))["all features"]
    kept_rows, out_rows = split_up(train)[0]
    design = np.column_stack([np.ones(40), train.X])
    slopes, *_ = np.linalg.lstsq(design[kept_rows], train.y[kept_rows], rcond=None)
    by_hand = np.mean((train.y[out_rows] - design[out_rows] @ slopes) ** 2)
    assert sets["value"].iloc[0] == pytest.approx(by_hand, rel=1e-9)
    assert (set(sets["k"]), set(sets["loss"])) == ({3}, {"mse"})


def test_a_split_holds_out_its_share_of_the_rows_and_of_each_class():
    X, y = pd.DataFrame({"x": np.arange(40.0)}), np.repeat([0, 1], [30, 10])
    train = dataset(X, y, name="d", task="binary", split="train")
    sides = split_up(train, fraction=0.2)
    for kept, out in sides:
        assert sorted([*kept, *out]) == list(range(40))
        assert (len(out), y[out].sum()) == (8, 2)
    assert len({tuple(out) for _, out in sides}) == 4


def test_where_no_perf_is_above_zero_nothing_is_kept_and_nothing_judged():
    half = {"name": "half", "estimator": "sklearn.dummy.DummyRegressor"}
    half["parameters"] = {"strategy": "constant", "constant": 0.5}
    # Every error is a half, so all sets of features are exactly as good.
    coin = replace(rows(), y=np.arange(40) % 2.0)
    sets = by_method(audit_selection(PCA, train=coin, model=half))
    for name in ("random_subspace", "pca"):
        assert (set(sets[name]["k"]), sets[name]["value"].isna().all()) == ({0}, True)
    assert (sets["all features"]["value"] > 0).all()


def test_a_signal_weaker_than_the_average_is_left_out():
    """PERF_j is (p - d) / (p - 1) (b_j^2 - mean of b^2): b = 1 is below the mean."""
    result = audit_selection(PCA, train=rows((1, 5, 0), 100, spread=(2, 1, 1)))
    (finding,) = (f for f in result.findings if f.check == "selection_by_perf")
    assert finding.message == (
        "The sign of PERF alone does not choose features: over all features and "
        "draws it sums to 0, so it keeps features that are better than average, not "
        "those that matter. It keeps 'signal'."
    )


def test_without_a_row_to_hold_out_there_is_a_note():
    result = audit_selection(fraction=0.01)
    assert result.selection.empty
    (note,) = (f for f in result.findings if "splits" in f.message)
    assert note.message == (
        "The splits of the selected sets: The training rows must leave one or more on "
        "each side of a split; of 40 0 would be held out."
    )


@pytest.mark.parametrize("entry", [PCA, {**PERF, "of": "groups"}])
def test_a_selection_that_nobody_makes_is_refused(entry):
    config = {"importance": [entry], "groups": {"g": ["signal"]}}
    with pytest.raises(ConfigError) as refusal:
        parse_config({**config, "selection": {"splits": 50}})
    assert refusal.value.problems == (
        "[selection] splits works only with an [[importance]] of method "
        "'random_subspace' of features, whose PERF keeps the features. Add one, or "
        "leave [selection] out.",
    )


@pytest.mark.slow
def test_every_other_ranking_keeps_as_many_as_perf():
    """Rank by variance: noise, wide as it is, is kept instead and foretells nothing."""
    result = audit_selection(TWIN, PCA, train=rows(spread=(9, 1, 1)))
    sets = by_method(result)
    assert {tuple(sets[name]["k"]) for name in list(sets)[1:]} == {(1, 1)}
    twin, wide = (sets[m]["value"] for m in ("random_subspace_permutation", "pca"))
    assert twin.max() < 1e-12 < 1 < wide.min()
    agreeing = audit_selection(TWIN)
    perf = by_method(agreeing)["random_subspace"]
    assert perf["k"].tolist() == [1, 1]
    assert perf["value"].to_numpy() == pytest.approx(np.zeros(2), abs=1e-12)
