"""Exact permutation: what many permutations come to, and when it is refused."""

from dataclasses import replace
from threading import Barrier

import numpy as np
import pytest
from tests.cases import for_each
from tests.known_answers import level_data
from tests.methods.importance import toys
from tests.methods.importance.toys import of_three_classes, of_two_classes, refused

from importance_audit.methods.importance import permutation_exact
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.methods.trees import exact as trees_exact
from importance_audit.methods.trees import pack
from importance_audit.methods.trees.fitted import trees_of
from importance_audit.records.execution import workers

pytestmark = pytest.mark.needs_numba

DATA = normal_data(3, -1, 0, n_samples=150)
# Codes that spell the other class: an order of classes by their names would be wrong.
CLASSES = replace(of_two_classes(DATA), classes=("1", "0"))
THREE = of_three_classes(DATA)
LEVELS = level_data()


def fitted(kind, train=DATA, losses=("rmse",)):
    """Return an ensemble fitted by the audit."""
    return toys.fitted(f"ensemble.{kind}", train, losses, random_state=1)


def exact(model, data=DATA, **options):
    return permutation(model, data, seed=1, draws="exact", **options)


def test_features_are_answered_in_the_order_that_is_asked_and_the_unread_by_zero():
    more = DATA.X.assign(extra=np.arange(150.0))
    names = ["extra", *reversed(DATA.groups)]
    data = replace(DATA, X=more, groups={n: (n,) for n in names}, unread={"extra": ()})
    model = fitted("RandomForestRegressor")
    raw, baseline = exact(model, data)
    assert (raw[0] == baseline).all()
    assert (raw[1:] == exact(model).raw[::-1]).all()
    assert (raw[1:] != baseline).all()


@pytest.mark.parametrize(
    ("kind", "data", "losses"),
    [
        ("RandomForestRegressor", DATA, ("mse", "mae")),
        ("GradientBoostingRegressor", DATA, ("mse", "one_minus_r2")),
        ("RandomForestClassifier", CLASSES, ("brier", "log_loss_clipped")),
        ("GradientBoostingClassifier", THREE, ("log_loss", "brier")),
    ],
)
def test_repeats_scatter_about_the_exact_mean(kind, data, losses):
    model = fitted(kind, data, losses)
    raw, baseline = exact(model, data)
    sampled, baselines = permutation(model, data, seed=1, n_repeats=40)
    assert raw.shape == (3, 1, 2)
    np.testing.assert_allclose(baseline, baselines[:1], rtol=1e-12)
    error = sampled.std(axis=1, ddof=1) / np.sqrt(40)
    assert (np.abs(sampled.mean(axis=1) - raw[:, 0]) < 4 * error).all()


@pytest.mark.parametrize(
    ("kind", "data", "losses"),
    [
        (
            "RandomForestRegressor",
            DATA,
            ("rmse", "mae", "one_minus_r2", "sum_of_squares"),
        ),
        ("RandomForestClassifier", CLASSES, ("brier",)),
    ],
)
def test_what_a_row_adds_is_the_change_when_it_weighs_and_lends_more(
    kind, data, losses
):
    # Doubling a row moves rise and loss by its term over n, to first order. The limit
    # is checked on the row repeated once among 150: second order is about 1/150.
    model = fitted(kind, data, losses)
    terms = exact(model, data, keep=("row_terms",)).row_terms
    for name in losses:
        values = terms.terms[name]
        assert np.abs(values.mean(axis=1)).max() < 1e-9 * np.abs(values).max()

    def rises_and_losses(rows):
        raw, baseline = exact(model, data.part(data.features, rows))
        return np.vstack([raw[:, 0] - baseline, baseline])

    everything = np.arange(150)
    at = rises_and_losses(everything)
    for row in (3, 77):
        for k, name in enumerate(losses):
            if name == "sum_of_squares":
                continue  # one more row is a longer sum
            moved = 150 * (rises_and_losses(np.append(everything, row)) - at)[:, k]
            of_rows = np.vstack([terms.terms[name], terms.of_baseline(name)])
            scale = np.abs(of_rows).max()
            assert np.abs(moved - of_rows[:, row]).max() < 0.05 * scale


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_as_many_threads_run_as_the_audit_has_workers(monkeypatch, n_jobs):
    model = fitted("GradientBoostingRegressor")
    data = normal_data(2, 1, 0, n_samples=1100)
    alone = permutation(model, data, seed=1, draws="exact")
    at_work, answer = Barrier(n_jobs), trees_exact._losses_of_ranges

    def together(*asked):
        at_work.wait(60)  # which fails unless so many wait at the same time
        return answer(*asked)

    monkeypatch.setattr(trees_exact, "_losses_of_ranges", together)
    with workers(n_jobs):
        ours = permutation(model, data, seed=1, draws="exact")
    for each, same in zip(ours, alone, strict=True):
        assert each.tobytes() == same.tobytes()


ALL_PERMUTATIONS = "The mean over all permutations of model 'm' is not known"
SAMPLED = ' Set draws = "sampled".'
REFUSED = [
    (lambda: replace(linear_model(2, 0, 0), name="m"), DATA, {}, ". There is more to"),
    (
        lambda: fitted("RandomForestRegressor"),
        DATA.with_groups({"both": ("x1", "x2")}),
        {},
        " where columns are permuted together.",
    ),
    (
        lambda: toys.fitted("tree.DecisionTreeClassifier", LEVELS, encoder="one_hot"),
        *(LEVELS, {}),
        ": its estimator does not read one column for each feature.",
    ),
]


@for_each(REFUSED)
def test_what_the_trees_do_not_know_is_refused(case):
    model, data, options, words = case
    sentence = refused(permutation, model(), data, draws="exact", **options)
    assert sentence.startswith(f"{ALL_PERMUTATIONS}{words}")
    assert sentence.endswith(SAMPLED)


@for_each([{"n_rows": 20}, {"within": "leaves"}])
def test_options_that_ask_for_other_draws_are_refused(options):
    (name,) = options
    sentence = refused(
        permutation, fitted("RandomForestRegressor"), DATA, draws="exact", **options
    )
    assert sentence == (
        f'draws = "exact" is of all rows, exchanged freely, but {name} was set. '
        f'Leave {name} out, or set draws = "sampled".'
    )


def test_trees_that_do_not_add_up_and_a_missing_numba_are_named(monkeypatch):
    model = fitted("RandomForestRegressor")
    packing = pack(model.estimator)
    other = trees_of(model, DATA.X)._replace(
        packing=replace(packing, start=packing.start + 9)
    )
    monkeypatch.setattr(permutation_exact, "trees_of", lambda *_: other)
    assert refused(permutation, model, DATA, draws="exact") == (
        "The trees of model 'm' do not add up to what it predicts, so they cannot "
        f"stand for it.{SAMPLED}"
    )
    monkeypatch.setattr(permutation_exact.compiled, "available", lambda: False)
    assert refused(permutation, model, DATA, draws="exact") == (
        f"{ALL_PERMUTATIONS} without numba. Install it (importance-audit doctor prints "
        'the command), or set draws = "sampled".'
    )
