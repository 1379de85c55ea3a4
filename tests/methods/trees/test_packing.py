"""Packings: the predictions of the library to the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    AdaBoostRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

from importance_audit.methods.trees import READERS, pack
from importance_audit.methods.trees.packing import predict

pytestmark = pytest.mark.needs_numba

MODELS = (
    DecisionTreeRegressor(random_state=1),
    DecisionTreeRegressor(max_leaf_nodes=7),  # its nodes are in another order
    ExtraTreeRegressor(random_state=1),
    RandomForestRegressor(11, random_state=1),
    ExtraTreesRegressor(11, random_state=1),
    GradientBoostingRegressor(n_estimators=15, random_state=1),
    GradientBoostingRegressor(n_estimators=5, loss="huber", init="zero"),
    GradientBoostingRegressor(n_estimators=1, init=DummyRegressor(strategy="median")),
    DecisionTreeClassifier(random_state=1),
    ExtraTreeClassifier(random_state=1),
    RandomForestClassifier(11, class_weight="balanced", random_state=1),
    ExtraTreesClassifier(11, random_state=1),
    GradientBoostingClassifier(n_estimators=5, random_state=1),
    HistGradientBoostingRegressor(max_iter=15),
    HistGradientBoostingClassifier(max_iter=5),
)


def drawn(seed, n_rows=120):
    """Return rows with ties, whole numbers and a constant column, and a score."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_rows, 5)) * 10.0 ** rng.integers(-3, 4)
    rows[:, 1] = rows[:, 1].round(1)
    rows[:, 2] = rng.integers(0, 4, n_rows)
    rows[:, 3] = 1 / 3
    return rows, rows[:, 0] * rows[:, 2] + rng.normal(size=n_rows)


def target_for(model, score, n_classes):
    """Return the score, or classes made of it."""
    if not type(model).__name__.endswith("Classifier"):
        return score
    return np.searchsorted(
        np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]), score
    )


def answer(model, rows):
    """Return what the library predicts, one column for each class or one number."""
    if hasattr(model, "classes_"):
        return model.predict_proba(rows)
    return model.predict(rows)[:, np.newaxis]


def same_bits(ours, theirs):
    return ours.shape == theirs.shape and ours.tobytes() == theirs.tobytes()


@pytest.mark.slow
@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), n_classes=st.sampled_from([2, 3, 9]))
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_predictions_are_those_of_the_library(model, seed, n_classes):
    rows, score = drawn(seed)
    model.fit(rows, target_for(model, score, n_classes))
    others = np.vstack([drawn(seed + 1)[0], rows, rows[::-1] * [1, -1, 1, 0, 2]])
    packing = pack(model)
    assert same_bits(predict(packing, others), answer(model, others))


@pytest.mark.parametrize("loss", ["log_loss", "exponential"])
def test_each_loss_of_two_classes_has_its_link(loss):
    rows, score = drawn(3)
    model = GradientBoostingClassifier(n_estimators=20, loss=loss).fit(rows, score > 0)
    assert same_bits(predict(pack(model), rows), model.predict_proba(rows))


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_rows_on_a_threshold_go_left(model):
    rows, score = drawn(5)
    model.fit(rows, target_for(model, score, 2))
    packing = pack(model)
    cuts = [np.unique(own)[:40] for own in packing.thresholds]
    on = np.zeros((40, 5))
    for j, own in enumerate(cuts):
        on[: len(own), j] = own
    around = np.vstack([on, np.nextafter(on, -np.inf), np.nextafter(on, np.inf)])
    assert same_bits(predict(packing, around), answer(model, around))


def test_a_bin_counts_the_thresholds_below_a_value():
    rows, score = drawn(4)
    packing = pack(RandomForestRegressor(3, random_state=1).fit(rows, score))
    bins = packing.bins(rows)
    for j, own in enumerate(packing.thresholds):
        below = rows[:, j].astype(np.float32)[:, np.newaxis] <= own
        assert (below == (bins[j][:, np.newaxis] <= np.arange(len(own)))).all()


@pytest.mark.parametrize("kind", [DecisionTreeRegressor, GradientBoostingRegressor])
def test_one_leaf_is_an_ensemble(kind):
    rows = np.zeros((4, 3))
    model = kind().fit(rows, np.ones(4))
    packing = pack(model)
    assert packing.depth == 0
    assert same_bits(predict(packing, rows), answer(model, rows))


def test_nodes_come_in_preorder():
    rows, score = drawn(2)
    model = DecisionTreeRegressor(max_leaf_nodes=20, random_state=1).fit(rows, score)
    packing = pack(model)
    inner = np.flatnonzero(packing.feature >= 0)
    assert (packing.left[inner] == inner + 1).all()
    assert (packing.right[inner] > packing.left[inner]).all()
    assert (packing.feature[packing.feature < 0] == -1).all()
    assert packing.depth == model.get_depth()


def test_a_feature_that_no_node_uses_has_no_threshold():
    rows, score = drawn(2)
    packing = pack(RandomForestRegressor(3, random_state=1).fit(rows, score))
    assert len(packing.thresholds[3]) == 0
    assert (packing.bins(rows)[3] == 0).all()


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (
            LinearRegression(),
            "LinearRegression is no ensemble of trees that can be read.",
        ),
        (
            AdaBoostRegressor(n_estimators=2),
            "AdaBoostRegressor is no ensemble of trees that can be read.",
        ),
        (
            GradientBoostingRegressor(n_estimators=2, init=LinearRegression()),
            "It starts from the predictions of a LinearRegression.",
        ),
    ],
    ids=str,
)
def test_what_is_not_read_says_why(model, reason):
    assert pack(model.fit(*drawn(1))) == reason


def test_several_targets_are_not_read():
    rows, score = drawn(1)
    model = RandomForestRegressor(2).fit(rows, np.column_stack([score, score]))
    assert pack(model) == "It predicts several targets."


def test_every_reader_is_held_against_its_library():
    held = {f"sklearn.{type(model).__name__}" for model in MODELS}
    assert {name for name in READERS if name.startswith("sklearn.")} == held
