"""Association between features: closed forms, chance, links, and what is kept."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.report.made_records import made_importance

from importance_audit.assess.associations import association_rows
from importance_audit.assess.dependence import associations, clusters
from importance_audit.methods.known_answers import normal_data
from importance_audit.records.frames import FRAMES


def levels(codes):
    """Return a category of these codes."""
    return pd.Categorical([f"level {code}" for code in codes])


def test_numbers_that_rise_or_fall_together_are_fully_associated():
    x = np.arange(20.0)
    X = pd.DataFrame({"x": x, "falls": -np.exp(x), "hill": (x - 9.5) ** 2})
    truth = [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    assert associations(X) == pytest.approx(np.array(truth), abs=1e-12)


def test_a_pair_is_judged_on_the_rows_that_have_both():
    x = np.arange(10.0)
    other = np.where(x < 3, np.nan, -x)
    X = pd.DataFrame({"x": np.where(x == 9, np.nan, x), "other": other})
    assert associations(X)[0, 1] == pytest.approx(1, rel=1e-12)


def test_categories_that_name_the_same_are_fully_associated():
    codes = np.arange(30) % 3
    X = pd.DataFrame({"a": levels(codes), "b": levels((codes + 1) % 3)})
    assert associations(X)[0, 1] == pytest.approx(1, rel=1e-12)


def test_two_by_two_levels_have_the_phi_coefficient_less_what_chance_gives():
    # Counts 40, 10, 10, 40: phi = 0.6; Bergsma: (phi**2 - 1/99) / (1 - 1/99).
    a, b = (
        np.repeat([0, 0, 1, 1], [40, 10, 10, 40]),
        np.repeat([0, 1] * 2, [40, 10, 10, 40]),
    )
    X = pd.DataFrame({"a": levels(a), "b": levels(b)})
    truth = np.sqrt((0.36 - 1 / 99) / (1 - 1 / 99))
    assert associations(X)[0, 1] == pytest.approx(truth, rel=1e-12)


def test_a_number_that_follows_the_level_has_the_root_of_its_share_of_variance():
    # Levels at 0 and 10 with deviations of 1 or -1: within 20/18, total 520/19.
    x = np.repeat([0.0, 10.0], 10) + np.tile([1.0, -1.0], 10)
    X = pd.DataFrame({"kind": levels(np.repeat([0, 1], 10)), "x": x})
    truth = np.sqrt(1 - (20 / 18) / (520 / 19))
    assert associations(X) == pytest.approx(np.array([[1, truth], [truth, 1]]))


def test_many_levels_are_not_associated_by_chance():
    draws = np.random.default_rng(1)
    columns = {name: levels(draws.integers(0, 60, size=200)) for name in "ab"}
    X = pd.DataFrame({**columns, "x": draws.normal(size=200)})
    off = associations(X) - np.eye(3)
    assert off.max() < 0.35  # uncorrected they are 0.45 to 0.54


def test_what_never_varies_is_associated_with_nothing():
    X = pd.DataFrame({"x": np.arange(9.0), "flat": 1.0, "kind": levels([0] * 9)})
    X["gaps"] = np.nan
    X["key"] = levels(range(9))  # as many levels as rows: nothing is left to judge by
    assert associations(X).tolist() == np.eye(5).tolist()


def test_order_and_names_of_levels_do_not_matter():
    draws = np.random.default_rng(1)
    codes = draws.integers(0, 4, size=100)
    x = codes % 2 + draws.normal(size=100)
    one, two = (
        associations(pd.DataFrame({"x": x, "kind": levels(c)}))
        for c in (codes, np.array([2, 0, 3, 1])[codes])
    )
    assert one == pytest.approx(two, rel=1e-12)


def test_columns_are_linked_through_others():
    strength = np.eye(5)
    for a, b in ((0, 3), (3, 4), (1, 2)):
        strength[a, b] = strength[b, a] = 0.8
    assert list(clusters(strength, 0.8)) == [[0, 3, 4], [1, 2]]
    assert list(clusters(strength, 0.81)) == []


@pytest.mark.parametrize("seed", range(12))
def test_a_table_says_of_each_pair_what_its_rows_alone_say(seed):
    draws = np.random.default_rng(seed)
    n = int(draws.integers(8, 60))
    gap = draws.random((3, n)) < 0.3
    X = pd.DataFrame({"x": draws.normal(size=n), "few": draws.integers(0, 3, n) * 1.0})
    X["gaps"] = np.where(gap[0], np.nan, X["x"] + draws.normal(size=n))
    X["more gaps"] = np.where(gap[1], np.nan, draws.integers(0, 4, n))
    X["kind"] = levels(draws.integers(0, 4, n))
    X["kind with gaps"] = levels(draws.integers(0, 3, n)).set_categories(
        ["level 0", "level 1", "level 9"]
    )
    together = associations(X)
    for i, j in zip(*np.triu_indices(X.shape[1], 1), strict=True):
        alone = associations(X.iloc[:, [i, j]].dropna())[0, 1]
        assert together[i, j] == pytest.approx(alone, abs=1e-12), (i, j)


# --- which pairs a result keeps -------------------------------------------------------


def associations_between(columns, importances=(), threshold=0.8, **fields):
    """Return the frame of associations between some columns."""
    X = pd.DataFrame(columns)
    test = replace(normal_data(1, 0), X=X, y=np.zeros(len(X)), weights=np.ones(len(X)))
    test = replace(test, **fields)
    rows = association_rows(test, importances, threshold=threshold)
    return FRAMES["associations"].of(rows)


def test_every_pair_of_few_features_is_kept_with_its_statistic():
    x = np.arange(20.0)
    kind = pd.Categorical(np.where(x < 10, "low", "high"))
    kept = associations_between({"x": x, "same": x, "kind": kind, "again": kind})
    statistics = {(r.feature_a, r.feature_b): r.statistic for r in kept.itertuples()}
    assert statistics == {
        **{("x", "same"): "spearman", ("kind", "again"): "cramers_v"},
        **{
            (x, k): "correlation_ratio"
            for x in ("x", "same")
            for k in ("kind", "again")
        },
    }
    of = kept.set_index(["feature_a", "feature_b"])["value"]
    assert of["x", "same"] == of["kind", "again"] == pytest.approx(1, rel=1e-12)


def test_a_derived_column_is_in_no_pair():
    x = np.arange(5.0)
    kept = associations_between(
        {"x": x, "y": x[::-1], "sum": x}, unread={"sum": ("x", "y")}
    )
    assert kept[["feature_a", "feature_b"]].to_numpy().tolist() == [["x", "y"]]


def test_of_many_features_the_strong_pairs_and_those_of_the_leaders_are_kept():
    names = [f"x{n:02}" for n in range(61)]
    draws = np.random.default_rng(1).normal(size=(200, 61))
    draws[:, 60] = draws[:, 59]  # both last: they lead nothing
    record = made_importance("m", names, -np.arange(61.0), stream="", repeats=1)
    kept = associations_between(dict(zip(names, draws.T, strict=True)), [record])
    pairs = set(zip(kept["feature_a"], kept["feature_b"], strict=True))
    leaders = {name for pair in pairs - {("x59", "x60")} for name in pair}
    assert (len(pairs), leaders) == (40 * 39 // 2 + 1, set(names[:40]))
