"""Exact losses: the mean over all pairs of rows, as the library's predict gives it."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeRegressor

from importance_audit.methods.trees import exact, pack, steps
from importance_audit.methods.trees.ensemble import Tree, packed
from importance_audit.methods.trees.lattice import lattice_for
from importance_audit.methods.trees.packing import predict
from importance_audit.records.errors import NotApplicable
from importance_audit.records.losses import BINARY, LOSSES, OF_ROWS, evaluate

from .small_ensembles import classes_of, over_all_pairs
from .small_ensembles import drawn as drawn_rows

pytestmark = pytest.mark.needs_numba

N_ROWS = 60
OF_NUMBERS = ("mse", "rmse", "mae", "one_minus_r2", "mape", "sum_of_squares")
OF_COUNTS = (*OF_NUMBERS, "poisson_deviance", "gamma_deviance")
CALL = steps.Walker.call
OF_CLASSES = ("log_loss", "log_loss_clipped", "brier", "negative_log_likelihood")
SMALL = {"max_iter": 5, "min_samples_leaf": 3}
BY_CODES = SMALL | {"categorical_features": [2, 3]}


@pytest.fixture(autouse=True, scope="module")
def _every_call_has_the_types_of_the_first():
    """Compiled loops do not look at the types of what the later blocks give them."""
    from numba import typeof

    def checked(self, loop, *arguments):
        known = vars(self).setdefault("known", {})
        types = tuple(map(typeof, arguments))
        assert known.setdefault(loop, types) == types
        return CALL(self, loop, *arguments)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(steps.Walker, "call", checked)
        yield


def exact_losses(packing, rows, *asked, **options):
    """Return the exact losses of rows as the ensemble reads them."""
    return exact.exact_losses(packing, packing.bins(rows), *asked, **options)


def drawn(seed, n_missing=0, n_rows=4 * N_ROWS):
    """Return rows with ties, two columns of codes and a constant one, and a score."""
    return drawn_rows(seed, n_missing, n_rows, scaled=False)


def forest(seed, **options):
    """Return a forest, read, and the rows and target that it was fitted to."""
    rows, y = drawn(seed, **options)
    return pack(RandomForestRegressor(9, random_state=1).fit(rows, y)), rows, y


def weights_for(seed, n_rows=N_ROWS):
    """Return weights, some of them 0."""
    rng = np.random.default_rng(seed)
    return rng.exponential(size=n_rows) * (rng.random(n_rows) > 0.2)


def assert_close(ours, theirs):
    # A tree that meets every target leaves the squares of its roundings: 1e-35 or so.
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-30)


@settings(max_examples=5)
@given(seed=st.integers(0, 10**6), n_classes=st.sampled_from([2, 3]))
@pytest.mark.parametrize(
    ("model", "losses"),
    [
        (DecisionTreeRegressor(random_state=1), OF_NUMBERS),
        (RandomForestRegressor(7, min_samples_leaf=3, random_state=1), OF_COUNTS),
        (GradientBoostingRegressor(n_estimators=9, random_state=1), OF_NUMBERS),
        (HistGradientBoostingRegressor(**SMALL), OF_NUMBERS),
        (HistGradientBoostingRegressor(loss="poisson", **BY_CODES), OF_COUNTS),
        (RandomForestClassifier(7, random_state=1), OF_CLASSES),
        (ExtraTreesClassifier(7, min_samples_leaf=5, random_state=1), OF_CLASSES),
        (GradientBoostingClassifier(n_estimators=9, random_state=1), OF_CLASSES),
        (HistGradientBoostingClassifier(**BY_CODES), OF_CLASSES),
    ],
    ids=str,
)
def test_losses_are_those_over_all_pairs_of_rows(model, losses, seed, n_classes):
    is_histogram = type(model).__name__.startswith("Hist")
    rows, y = drawn(seed, n_missing=is_histogram)
    ask, columns = model.predict, 0
    if losses == OF_CLASSES:
        y, columns = classes_of(y, n_classes), [*range(n_classes)]
        columns = 1 if n_classes == 2 else columns
        ask = lambda rows: model.predict_proba(rows)[:, columns]  # noqa: E731
    model.fit(rows, y)
    asked = rows[:N_ROWS], y[:N_ROWS], weights_for(seed)
    ours = exact_losses(pack(model), *asked, losses, columns=columns)
    raw, baseline = over_all_pairs(ask, *asked, losses)
    assert_close(ours.raw, raw)
    assert_close(ours.baseline, baseline)


def test_classes_that_are_missed_are_those_of_whole_votes():
    rows, score = drawn(12)
    model = RandomForestClassifier(6, random_state=1).fit(rows, score > 1)
    asked = rows[:N_ROWS], (score[:N_ROWS] > 1).astype(int), weights_for(6)
    votes = model.predict_proba(rows)[:, 1] * 6
    assert (votes == votes.round()).all()
    assert (votes == 3).any()
    ours = exact_losses(pack(model), *asked, ["one_minus_accuracy"], columns=1)
    raw, _ = over_all_pairs(
        lambda rows: model.predict_proba(rows)[:, 1], *asked, ("one_minus_accuracy",)
    )
    assert_close(ours.raw, raw)


def random_tree(rng, *, width, target, levels):
    """Return a tree of any shape that splits four numbers and two sets of codes."""
    features, thresholds, left, right, members = [], [], [], [], {}

    def grow(level):
        node = len(features)
        is_leaf = level == 0 or rng.random() < 0.2
        features.append(-1 if is_leaf else int(rng.integers(0, 6)))
        thresholds.append(float(rng.integers(-3, 4)))
        left.append(-1), right.append(-1)
        if features[node] >= 4:
            members[node] = np.flatnonzero(rng.random(70) < 0.5).astype(float)
        if not is_leaf:
            left[node], right[node] = grow(level - 1), grow(level - 1)
        return node

    grow(levels)
    return Tree(
        feature=np.array(features),
        threshold=np.array(thresholds),
        left=np.array(left),
        right=np.array(right),
        values=rng.normal(size=(len(features), width)),
        missing_left=rng.random(len(features)) < 0.5,
        categories_left=members,
        target=target,
    )


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    n_missing=st.sampled_from([0, 1, 5]),
    n_classes=st.sampled_from([1, 3]),
    n_rows=st.sampled_from([1, 7, 40, 130]),
    room=st.sampled_from([1, 2**12]),
)
def test_any_ensemble_is_answered_as_over_all_pairs(
    seed, n_missing, n_classes, n_rows, room
):
    rng = np.random.default_rng(seed)
    trees = [
        random_tree(rng, width=1, target=k % n_classes, levels=int(rng.integers(0, 7)))
        for k in range(6)
    ]
    packing = packed(
        trees,
        n_features=7,
        start=rng.normal(size=n_classes),
        link="identity" if n_classes == 1 else "softmax",
        categories={4: np.arange(70.0), 5: np.arange(70.0)},
    )
    rows = rng.integers(-3, 5, size=(n_rows, 7)).astype(float)
    rows[:, 4:6] = rng.integers(-1, 71, size=(n_rows, 2))
    rows[rng.random(rows.shape) < n_missing / 10] = np.nan
    columns, losses = (0, ("mse",)) if n_classes == 1 else (range(3), ("log_loss",))
    y = rng.normal(size=n_rows) if n_classes == 1 else rng.integers(0, 3, n_rows)
    asked = rows, y, rng.exponential(size=n_rows)
    with pytest.MonkeyPatch.context() as patched:
        for name in ("FIRST_SPANS", "FIRST_MOVERS", "MOST_STEPS"):
            patched.setattr(steps, name, room)
        ours = exact_losses(packing, *asked, losses, columns=columns)
    raw, baseline = over_all_pairs(
        lambda rows: predict(packing, rows)[:, columns], *asked, losses
    )
    assert_close(ours.raw, raw)
    assert_close(ours.baseline, baseline)


def of_categories(*members):
    """Return 1, less 1 with codes of the first tree, more 1 with those of others."""
    trees = [
        Tree(
            feature=np.array([0, -1, -1]),
            threshold=np.zeros(3),
            left=np.array([1, -1, -1]),
            right=np.array([2, -1, -1]),
            values=np.array([[0.0], [-1.0 if k == 0 else 1.0], [0.0]]),
            categories_left={0: np.array(codes, dtype=float)},
        )
        for k, codes in enumerate(members)
    ]
    codes = {0: np.arange(3.0)}
    return packed(trees, n_features=1, start=[1.0], categories=codes)


def test_a_category_that_no_row_has_measures_the_baseline_to_the_last_bit():
    rows, y = np.tile([[0.0], [2.0]], (50, 1)), drawn(1)[1][:100]
    ours = exact_losses(of_categories([1]), rows, y, np.ones(100), ["mse", "mae"])
    assert (ours.raw == ours.baseline).all()
    assert (ours.own == ours.own_baseline[:, np.newaxis]).all()


def test_an_infinite_loss_with_a_category_that_no_row_has_counts_for_none():
    packing = of_categories([1, 2], [2])
    rows, y = np.array([[0.0], [1.0], [2.0]]), np.ones(3)
    assert predict(packing, rows).ravel().tolist() == [1, 0, 1]
    ours = exact_losses(packing, rows[::2], y[::2], y[::2], ["poisson_deviance"])
    for each in ours:
        assert (each == 0).all()


def test_the_mean_over_all_permutations_is_that_over_all_pairs():
    rows, y = drawn(3)
    model = RandomForestRegressor(5, random_state=1).fit(rows, y)
    rows, y, weights = rows[:5], y[:5], np.array([1.0, 2, 0.5, 1, 3])
    losses = []
    for order in permutations(range(5)):
        permuted = rows.copy()
        permuted[:, 0] = rows[list(order), 0]
        losses.append(evaluate(("mae",), y, model.predict(permuted), weights))
    ours = exact_losses(pack(model), rows, y, weights, ["mae"])
    assert_close(ours.raw[0], np.mean(losses, axis=0))


def test_a_feature_that_is_unused_or_never_varies_measures_the_baseline_to_the_bit():
    packing, rows, y = forest(5, n_rows=700)
    assert not (packing.feature == 4).any()
    rows[:, 0] = rows[7, 0]
    ours = exact_losses(packing, rows, y, weights_for(1, 700), OF_NUMBERS)
    assert (ours.raw[[0, 4]] == ours.baseline).all()
    assert (ours.raw[1] != ours.baseline).all()


def test_no_number_depends_on_the_number_of_threads_or_the_rows_of_a_block(
    monkeypatch,
):
    packing, rows, y = forest(6, n_rows=1100)
    for losses in (("mae", "rmse"), ("mae", "mape")):
        asked = packing, rows, y, weights_for(2, 1100), losses
        one = exact_losses(*asked)
        for n_threads in (2, 3, 7):
            for ours, same in zip(
                exact_losses(*asked, n_threads=n_threads), one, strict=True
            ):
                assert ours.tobytes() == same.tobytes()
        with monkeypatch.context() as patched:
            patched.setattr(steps, "BLOCK", 37)
            blocks = exact_losses(*asked)
        assert blocks.raw.tobytes() == one.raw.tobytes()
        assert blocks.own.tobytes() == one.own.tobytes()


def test_errors_are_the_same_row_by_row_and_as_arrays_of_all_steps(monkeypatch):
    rows, y = drawn(6, n_missing=1, n_rows=150)
    model = HistGradientBoostingRegressor(**BY_CODES)
    asked = pack(model.fit(rows, y)), rows, y, weights_for(2, 150), ("mse", "mae")
    in_loops = exact_losses(*asked)
    monkeypatch.setattr(exact, "OF_ERRORS", {})
    for ours, same in zip(in_loops, exact_losses(*asked), strict=True):
        assert ours.tobytes() == same.tobytes()


def test_rows_in_one_block_are_answered_in_any_order(monkeypatch):
    packing, rows, y = forest(6, n_rows=150)
    asked = packing, rows, y, weights_for(2, 150), ("mse",)
    nearby = exact_losses(*asked)
    monkeypatch.setattr(exact, "nearby", lambda *_: np.arange(150))
    as_they_are = exact_losses(*asked)
    assert nearby.own.tobytes() == as_they_are.own.tobytes()
    assert_close(nearby.lent, as_they_are.lent)


@pytest.mark.parametrize(("first", "most"), [(1, 1), (1000, 2000), (10**5, 2000)])
def test_a_block_that_needs_more_room_than_there_may_be_is_halved(
    monkeypatch, first, most
):
    packing, rows, y = forest(6, n_rows=300)
    asked = packing, rows, y, weights_for(2, 300), ("mse", "mae")
    at_once, (lattice, _) = (
        exact_losses(*asked),
        lattice_for(packing, packing.bins(rows)),
    )
    monkeypatch.setattr(exact, "LEAST_ROWS", 40)
    for name in ("SPANS", "MOVERS"):
        monkeypatch.setattr(steps, f"FIRST_{name}", first)
        monkeypatch.setattr(steps, f"MOST_{name}", most)
    walker = steps.Walker(packing, lattice)
    blocks = [(m.n_rows, m.n_spans) for m in walker.moves(range(300))]
    assert sum(n_rows for n_rows, _ in blocks) == 300
    assert all(n_rows == 1 or n_spans <= most for n_rows, n_spans in blocks)
    halved = exact_losses(*asked)
    assert halved.own.tobytes() == at_once.own.tobytes()
    assert_close(halved.lent, at_once.lent)
    in_threads = exact_losses(*asked, n_threads=3)
    assert in_threads.lent.tobytes() == halved.lent.tobytes()


def test_what_rows_measure_and_what_they_lend_have_the_same_mean():
    rows, y = drawn(7, n_rows=300)
    packing = pack(GradientBoostingRegressor(random_state=1).fit(rows, y))
    weights = weights_for(3, 300)
    ours = exact_losses(packing, rows, y, weights, ["mae", "mse"])
    assert_close(ours.own @ weights / weights.sum(), ours.raw.T)
    assert_close(ours.lent.mean(axis=2), ours.raw.T)
    assert_close(ours.own_baseline @ weights / weights.sum(), ours.baseline)


def test_what_a_row_lends_is_the_loss_with_its_value_in_every_row():
    rows, y = drawn(8, n_missing=1, n_rows=90)
    model = HistGradientBoostingRegressor(**SMALL).fit(rows, y)
    weights = weights_for(4, 90)
    ours = exact_losses(pack(model), rows, y, weights, ["mae"])
    for j in range(3):
        for row in (0, 17, 80):
            same = rows.copy()
            same[:, j] = rows[row, j]
            expected = evaluate(("mae",), y, model.predict(same), weights)
            assert_close(ours.lent[0, j, row], expected[0])


def test_an_infinite_loss_of_a_row_that_weighs_nothing_is_not_lent():
    packing, rows, y = forest(9)
    y[0], weights = 0, np.ones(len(y))
    weights[0] = 0
    ours = exact_losses(packing, rows, y, weights, ["mape"])
    assert np.isinf(ours.own[0, 0, 0])
    assert np.isfinite(ours.lent).all()
    assert np.isfinite(ours.raw).all()


def test_leaves_of_any_size_are_added_exactly():
    rows, y = drawn(11)
    packing = pack(GradientBoostingRegressor(random_state=1).fit(rows, y))
    ones = np.ones(len(y))
    plain = exact_losses(packing, rows, y, ones, ["mae"]).raw
    for power in (-900, 900):
        scaled = replace(
            packing,
            values=np.ldexp(packing.values, power),
            start=np.ldexp(packing.start, power),
        )
        ours = exact_losses(scaled, rows, np.ldexp(y, power), ones, ["mae"]).raw
        assert (np.ldexp(ours, -power) == plain).all()


@pytest.mark.parametrize(
    "name",
    [n for n in LOSSES if n not in OF_ROWS and BINARY in LOSSES[n].tasks],
)
def test_a_loss_that_is_no_mean_over_rows_is_refused(name):
    rows, score = drawn(1)
    model = GradientBoostingClassifier(n_estimators=2).fit(rows, score > 1)
    asked = rows, (score > 1).astype(int), np.ones(len(score))
    with pytest.raises(NotApplicable) as refusal:
        exact_losses(pack(model), *asked, [name], columns=1)
    assert str(refusal.value) == (
        f"{LOSSES[name].label} is no mean over rows, so pairs of rows do not tell its "
        'mean over all permutations. Choose another loss, or draws = "sampled".'
    )


@pytest.mark.parametrize("size", [1.0, 1e15])
def test_scores_that_diverge_are_refused(size):
    rows, y = drawn(1)
    y = y > np.median(y)
    model = GradientBoostingClassifier(n_estimators=5, random_state=1)
    packing = pack(model.fit(np.nan_to_num(rows), y))
    values = packing.values.copy()
    values[-1] *= size
    packing = replace(packing, values=values)
    asked = packing, rows, y, np.ones(len(y)), ["brier"]
    if size == 1.0:
        assert np.isfinite(exact_losses(*asked).raw).all()
    else:
        with pytest.raises(NotApplicable, match="the others lose digits"):
            exact_losses(*asked)
