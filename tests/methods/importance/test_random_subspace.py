"""Random subspace importance: the paper's closed form, identities."""

from dataclasses import replace

import numpy as np
import pytest
from tests.cases import for_each
from tests.known_answers import level_data
from tests.methods.importance.toys import fitted, of_line, refused

from importance_audit.methods.importance import subspaces
from importance_audit.methods.importance.random_subspace import (
    perf_from,
    random_subspace,
    random_subspace_permutation,
)
from importance_audit.methods.importance.refits import units_of
from importance_audit.methods.importance.subspaces import members_of
from importance_audit.methods.known_answers import binary_data, normal_data

TREE = "tree.DecisionTreeClassifier"
BOTH = (random_subspace, random_subspace_permutation)


def measured(method, data, seed=1, **options):
    """Return mean and standard error over the members, under least squares."""
    raw, _ = method(of_line(data), data, seed=seed, **options)
    spread = raw.std(axis=1, ddof=1) / np.sqrt(raw.shape[1])
    return raw.mean(axis=1)[:, 0], spread[:, 0]


def cost(d, n):
    """Return the loss of least squares of d slopes on a bootstrap sample, relative.

    A row is drawn w times, E w² = 2, so that slopes and mean have twice the variance
    that they have on the n rows.
    """
    return 1 + 2 * (d + 1) / n


def scored(n_members=40, n_features=5, d=2, seed=1):
    """Return masks of `d` features each, and scores."""
    generator = np.random.default_rng(seed)
    ranks = generator.random((n_members, n_features)).argsort(axis=1)
    return ranks < d, generator.normal(size=n_members)


# --- the definition -------------------------------------------------------------------


def test_perf_of_four_models_by_hand():
    members = [((1, 1, 0), 1.0), ((1, 0, 1), 3.0), ((0, 1, 1), 7.0), ((0, 1, 1), 9.0)]
    perf = perf_from(members)
    assert perf.values == pytest.approx([5 - 2, 5 - 17 / 3, 5 - 19 / 3], rel=1e-12)
    assert perf.n_members.tolist() == [2, 3, 3]


def test_perf_is_a_contrast_of_members_without_and_with_the_feature():
    masks, scores = scored()
    share = masks.mean(axis=0)
    gaps = [scores[~mask].mean() - scores[mask].mean() for mask in masks.T]
    perf = perf_from(zip(masks, scores, strict=True))
    assert perf.values == pytest.approx((1 - share) * gaps, rel=1e-12)


def test_the_error_is_that_of_both_means_and_of_how_many_draw_the_feature():
    masks, s = scored()
    n, truth = len(s), []
    for mask in masks.T:
        q, gap = mask.mean(), s[~mask].mean() - s[mask].mean()
        means = s[mask].var(ddof=1) / mask.sum() + s[~mask].var(ddof=1) / (~mask).sum()
        truth.append(np.sqrt((1 - q) ** 2 * means + q * (1 - q) * gap**2 / (n - 1)))
    perf = perf_from(zip(masks, s, strict=True))
    assert perf.std_error == pytest.approx(truth, rel=1e-12)


def test_the_error_is_the_spread_of_perf_over_ensembles_drawn_anew():
    signal = np.array([3.0, 1.0, 0.0, 0.0, 0.0])
    ensembles = []
    for seed in range(400):
        masks, noise = scored(60, seed=seed)
        ensembles.append(perf_from(zip(masks, noise - masks @ signal, strict=True)))
    spread = np.std([each.values for each in ensembles], axis=0, ddof=1)
    claimed = np.sqrt(np.mean([each.std_error**2 for each in ensembles], axis=0))
    # The standard deviation of 400 draws has a standard error of 1 / sqrt(800).
    assert claimed == pytest.approx(spread, rel=4 / np.sqrt(800))


def test_a_feature_no_member_has_has_no_perf_and_one_member_no_error():
    members = [((1, 1, 0, 1), 2.0), ((1, 0, 0, 1), 4.0), ((0, 1, 0, 1), 9.0)]
    members.append(((1, 1, 0, 0), 5.0))
    perf = perf_from([*members, ((0, 1, 0, 0), 5.0)])
    assert np.isnan(perf.values).tolist() == [False, False, True, False]
    # x2: only one member lacks it.
    assert np.isnan(perf.std_error).tolist() == [False, True, True, False]


def test_an_infinite_score_leaves_no_answer_and_no_warning():
    masks, scores = scored()
    scores[0] = np.inf
    perf = perf_from(zip(masks, scores, strict=True))
    assert not np.isfinite(perf.values).any()


# --- the ensemble ---------------------------------------------------------------------


def ensemble(model, n_repeats=30, n_drawn=2):
    """Return the members that a method draws."""
    units, _ = units_of(model, model.train, "random_subspace")
    asked = units, "random_subspace", 1, n_repeats, n_drawn
    return list(members_of(model, *asked, lambda member: member))


def test_the_mean_over_the_members_is_perf_and_their_error_its_error():
    data = normal_data(3, 1, 0, 0)
    members = ensemble(of_line(data), n_drawn=2)
    perf = perf_from((member.mask, member.score[0]) for member in members)
    mean, std_error = measured(random_subspace, data, n_repeats=30, n_drawn=2)
    assert mean == pytest.approx(perf.values, rel=1e-12)
    assert std_error == pytest.approx(perf.std_error, rel=1e-12)


def test_a_member_is_fitted_on_its_sample_and_judged_on_all_other_rows():
    data = replace(normal_data(3, 1, 0, 0), y=np.arange(200.0))
    samples, model = [], of_line(data)
    spying = replace(model, fit_on=lambda *a: samples.append(a[0]) or model.fit_on(*a))
    units, _ = units_of(model, data, "")
    (member, *_) = members_of(spying, units, "", 1, 2, 2, lambda m: m)
    inside, outside = set(samples[0].y), set(member.out.y)
    assert len(samples[0].y) == 200
    assert inside | outside == set(data.y)
    assert not inside & outside
    error = member.out.y - member.model.predict(member.out.X)
    assert member.score == pytest.approx([np.mean(error**2)], rel=1e-12)


def test_every_member_draws_as_many_features_and_each_feature_as_often():
    masks = np.array([m.mask for m in ensemble(of_line(normal_data(*[1] * 6)), 150)])
    assert set(masks.sum(axis=1)) == {2}
    spread = np.sqrt(150 * 1 / 3 * 2 / 3)
    assert (abs(masks.sum(axis=0) - 50) < 4 * spread).all()


def test_more_members_keep_the_first_ones():
    few, many = (ensemble(of_line(normal_data(2, 1, 0)), n, 1) for n in (3, 6))
    for first, again in zip(few, many, strict=False):
        assert first.mask.tolist() == again.mask.tolist()
        assert first.score.tolist() == again.score.tolist()


@for_each([(0, 7, 3), (0, 2, 1), (2, 9, 3), (2, 10, 4), (2, 2, 1)])
def test_a_third_of_the_features_is_drawn_and_the_root_for_classes(case):
    n_classes, p, d = case
    model = of_line(normal_data(*[1] * p))
    if n_classes:
        model = fitted(TREE, binary_data(n_features=p), ("brier",))
    (member, *_) = ensemble(model, 2, None)
    assert (len(member.mask), member.mask.sum()) == (p, d)


def test_a_group_is_drawn_as_one():
    data = normal_data(3, 1, 0, 0).with_groups({"pair": ("x4", "x1")})
    members = ensemble(of_line(data), 40, 1)
    feature_sets = {member.model.features for member in members}
    assert feature_sets == {("x1", "x4"), ("x2",), ("x3",)}
    mean, _ = measured(random_subspace, data, n_repeats=40, n_drawn=1)
    masks = [("x1" in member.model.features,) for member in members]
    truth = perf_from(zip(masks, [m.score[0] for m in members], strict=True))
    assert mean == pytest.approx(truth.values, rel=1e-12)


@pytest.mark.parametrize("method", BOTH)
def test_what_the_model_does_not_read_is_not_drawn(method):
    data = normal_data(3, 1, 0)
    model = of_line(data.part(["x1", "x3"]))
    raw, baseline = method(model, data, seed=1, n_repeats=20)
    assert np.isnan(raw).all(axis=(1, 2)).tolist() == [False, True, False]
    assert baseline.tolist() == [[0.0]] * 20


@pytest.mark.parametrize("method", BOTH)
def test_a_feature_drawn_once_has_no_answer(method):
    data = normal_data(3, 1, 0, 0)
    masks = np.array([member.mask for member in ensemble(of_line(data), 4, 1)])
    raw, _ = method(of_line(data), data, seed=1, n_repeats=4, n_drawn=1)
    missing = np.isnan(raw[:, :, 0]).all(axis=1)
    assert missing.tolist() == (masks.sum(axis=0) < 2).tolist()
    assert 0 < missing.sum() < 4


def test_weights_reach_the_fits_and_the_losses():
    data = normal_data(3, 1, 0, noise=0.0)
    weights = np.where(np.arange(200) < 100, 1.0, 0.0)
    spoilt = np.where(weights > 0, data.y, 1e6)
    members = (
        ensemble(of_line(replace(data, y=y, weights=weights)), 5, 2)
        for y in (data.y, spoilt)
    )
    for honest, other in zip(*members, strict=True):
        assert honest.score == pytest.approx(other.score, rel=1e-9)


# --- closed forms ---------------------------------------------------------------------


@pytest.mark.slow
def test_independent_features_and_least_squares_have_perf_of_the_closed_form():
    b, d = np.array([3.0, 2.0, 1.0, 0.0, 0.0, 0.0]), 2
    data = normal_data(*b, n_samples=2000)
    mean, std_error = measured(random_subspace, data, n_repeats=200, n_drawn=d)
    truth = (6 - d) / (6 - 1) * (b**2 - (b**2).sum() / 6)
    assert (abs(mean - cost(d, 2000) * truth) < 4 * std_error).all()
    assert (4 * std_error < 2).all()
    assert truth[2] < 0


def test_the_twin_of_independent_features_rises_by_twice_b_squared():
    b = np.array([3.0, 2.0, 1.0, 0.0])
    mean, std_error = measured(
        random_subspace_permutation, normal_data(*b, n_samples=2000), n_repeats=100
    )
    # Slopes fitted without the other signals are off by sqrt(S / n) at most.
    off = np.sqrt(15 / 2000)
    assert (abs(mean - 2 * b**2) < 4 * (std_error + b * off + off**2)).all()
    assert mean[:3].tolist() == sorted(mean[:3], reverse=True)


def test_the_twin_is_the_mean_rise_over_the_members_that_draw_the_feature():
    data = normal_data(3, 1, 0, 0)
    members = ensemble(of_line(data), 30, 2)
    units = [(name,) for name in data.features]
    rises = np.array([subspaces.rises_of(m, units, 1)[:, 0] for m in members])
    n = (~np.isnan(rises)).sum(axis=0)
    mean, std_error = measured(random_subspace_permutation, data, n_repeats=30)
    assert mean == pytest.approx(np.nanmean(rises, axis=0), rel=1e-12)
    truth = np.nanstd(rises, axis=0, ddof=1) / np.sqrt(n)
    assert std_error == pytest.approx(truth, rel=1e-12)


def test_the_columns_of_a_group_are_permuted_together_and_no_other_moves():
    data = level_data()
    data = replace(data, X=data.X.assign(row=np.arange(150)))
    units = [("kind", "row"), ("noise",)]
    table = subspaces._shuffled(data.X, units, 1, 0)
    permuted, still = table[:150], table[150:].reset_index(drop=True)
    original = data.X.iloc[permuted["row"]].reset_index(drop=True)
    assert permuted["kind"].equals(original["kind"])
    assert permuted[["count", "noise"]].equals(data.X[["count", "noise"]])
    assert still[["count", "kind", "row"]].equals(data.X[["count", "kind", "row"]])
    assert sorted(still["noise"]) == sorted(data.X["noise"])
    assert (permuted["row"] != data.X["row"]).any()
    assert table.dtypes.equals(data.X.dtypes)


# --- what has no answer ---------------------------------------------------------------


def few_of_a_class(n):
    """Return binary rows of which `n` are of the second class."""
    data = binary_data()
    return replace(data, y=(np.arange(200) < n).astype(np.int64))


@pytest.mark.parametrize("n_rare", [2, 5])
def test_a_sample_that_lacks_a_class_is_drawn_again(n_rare):
    members = ensemble(fitted(TREE, few_of_a_class(n_rare), ("one_minus_auc",)), 30, 1)
    assert all(set(member.out.y) == {0, 1} for member in members)
    assert all(np.isfinite(member.score).all() for member in members)


@pytest.mark.parametrize("method", BOTH)
def test_a_model_without_an_ensemble_says_why(method):
    one, few = normal_data(1.0), few_of_a_class(1)
    assert refused(method, of_line(one), one) == (
        "Model 'm' must read at least two features or groups for method "
        f"{method.__name__!r}, which compares models of some of them; it reads 1. Use "
        "drop_column."
    )
    assert refused(method, fitted(TREE, few, ("brier",)), few) == (
        f"The training rows must be enough for method {method.__name__!r} to find "
        "some, of every class, both in and out of a bootstrap sample; 100 samples in a "
        "row lacked some. Leave out classes of very few rows."
    )
