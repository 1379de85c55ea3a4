"""Whatever is asked of trees, they give what predict gives, or predict is asked."""

from dataclasses import replace
from functools import partial
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
import pytest

from importance_audit.methods.effects import partial_dependence as effects
from importance_audit.methods.effects import predictions_at
from importance_audit.methods.effects.ale import ale
from importance_audit.methods.effects.local_profiles import accumulated_profile
from importance_audit.methods.effects.partial_dependence import (
    partial_dependence,
    single_curves,
)
from importance_audit.methods.effects.surface import surface
from importance_audit.methods.importance.h_statistic import h_statistic
from importance_audit.methods.importance.partial_dependence import (
    partial_dependence as pd_importance,
)
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.importance.vint import vint
from importance_audit.methods.trees import mean_predictions, routes
from importance_audit.methods.trees.fitted import Trees
from importance_audit.methods.trees.routes import is_worth_reading, reporting_routes
from importance_audit.records.errors import ModelError
from importance_audit.records.execution import workers

from .small_ensembles import (
    KINDS,
    LABELS,
    N_ROWS,
    by_predict,
    fit_again,
    model_of,
    rows_of,
    same_bits,
)

pytestmark = [pytest.mark.needs_numba, pytest.mark.usefixtures("trees_answer")]


class Question(NamedTuple):
    """What is asked of a model and rows, and who answers.

    Of "means" trees add leaves in another order than predict: numbers are equal up to
    1e-12 of the largest and `rtol`. Others are "identical".
    """

    ask: object
    basis: str = "identical"
    rtol: float = 0.0


def curves(model, data, **options):
    return [partial_dependence(model, data, n, seed=1, **options)[1] for n in data.X]


def bands(model, data, **options):
    ends = []
    options["on_band"] = lambda *both: ends.extend(both)
    return [*curves(model, data, **options), *ends]


def local_effects(model, data, **options):
    return [ale(model, data, name, seed=1, **options)[1] for name in data.X]


def h_of(*groups, **options):
    def ask(model, data):
        own = groups or [*combinations(data.X, 2)]
        data = data.with_groups({" ".join(names): names for names in own})
        return h_statistic(model, data, seed=1, **options)

    return ask


PAIR, THREE = ("x1", "level"), ("x1", "level", "whole")
QUESTIONS = {
    "permutation": Question(partial(permutation, seed=1, n_repeats=2)),
    "curves": Question(curves, "means"),
    "curves at values": Question(partial(curves, grid="unique"), "means"),
    "curves as importance": Question(lambda *a: pd_importance(*a, seed=1)[:1], "means"),
    "H of pairs": Question(h_of(n_rows=60), "means", 1e-9),
    "H, standardised": Question(h_of(n_rows=60, standardised=True), "means", 1e-9),
    "H of one and three": Question(h_of(("x1",), ("level",), THREE), "means", 1e-9),
    "bands": Question(bands),
    "bands of logits": Question(partial(bands, scale="centred_logit")),
    "surface": Question(lambda *a: surface(*a, PAIR, seed=1)[2:]),
    "profile": Question(lambda *a: accumulated_profile(*a, "x1", seed=1)[1:]),
    "single curves": Question(lambda *a: [c for _, c in single_curves(*a, "x2")]),
    "vint": Question(lambda m, d: vint(m, d.with_groups({"pair": PAIR}), seed=1)),
    "H of logits": Question(h_of(("x1",), PAIR, scale="centred_logit")),
    "local effects": Question(local_effects),
    "local effects of logits": Question(partial(local_effects, scale="centred_logit")),
    "local effects at values": Question(partial(local_effects, grid="unique")),
    "local effects, 4 points": Question(partial(local_effects, n_grid=4)),
}
EVERY = pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)


def weighted(data):
    return replace(data, weights=np.arange(data.n_samples) + 1.0)


def answered(question, model, data):
    """Return what a model answers, and who is reported to have answered."""
    given = []
    with reporting_routes(given.append):
        answers = list(question.ask(model, data))
    return answers, {route.basis for route in given}


def assert_same(question, ours, theirs, *, to_the_bit=True):
    if to_the_bit:
        assert same_bits(ours, theirs)
    else:
        for one, other in zip(ours, theirs, strict=True):
            atol = 1e-12 * (1 if question.rtol else np.abs(other).max())
            np.testing.assert_allclose(one, other, rtol=question.rtol, atol=atol)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "task", "changed"),
    [
        *product(KINDS, LABELS, [""]),
        ("RandomForest", "multiclass", "weights"),
        *product(["GradientBoosting"], ["multiclass"], ["one_hot", "one_hot_full"]),
    ],
)
def test_trees_answer_as_predict_does(kind, task, changed):
    data = rows_of(task, missing=kind == "HistGradientBoosting")
    encoder = changed if changed.startswith("one_hot") else "auto"
    model = model_of(kind, data, encoder=encoder)
    data = weighted(data) if changed == "weights" else data
    is_sum = task == "regression" or kind == "RandomForest"
    for name, question in QUESTIONS.items():
        if "logits" in name and task == "regression":
            continue
        fresh = replace(model)
        ours, bases = answered(question, fresh, data)
        theirs = question.ask(by_predict(model), data)
        are_means = question.basis == "means" and is_sum and changed != "weights"
        assert ("means" if are_means else "identical") in bases, (name, bases)
        assert_same(question, ours, theirs, to_the_bit=not are_means)


@EVERY
def test_an_estimator_that_was_fitted_again_is_read_again(question):
    data = rows_of("multiclass")
    model = model_of("RandomForest", data)
    question.ask(model, data)
    fit_again(model, data)
    ours, bases = answered(question, model, data)
    assert question.basis in bases
    theirs = question.ask(by_predict(model), data)
    assert_same(question, ours, theirs, to_the_bit=question.basis == "identical")
    assert "differ" not in bases


FAULTS = {
    "replay": (Trees, lambda all_: (np.nextafter(each, np.inf) for each in all_)),
    "curves_at_bins": (mean_predictions, lambda all_: [each + 1 for each in all_]),
    "dependences": (mean_predictions, lambda both: (both[0] + 1, both[1])),
}
OF_OTHERS = {"dependences": (mean_predictions, lambda both: (both[0], both[1] + 1))}


def changed(ask, change):
    return lambda *arguments, **options: change(ask(*arguments, **options))


@EVERY
@pytest.mark.parametrize("faults", [FAULTS, FAULTS | OF_OTHERS], ids=["", "others"])
def test_trees_that_differ_from_predict_are_not_asked_again(
    question, faults, monkeypatch
):
    data = rows_of("multiclass")
    model = model_of("RandomForest", data)
    theirs = list(question.ask(by_predict(model), data))
    for name, (where, change) in faults.items():
        wrong = changed(getattr(where, name), change)
        monkeypatch.setattr(where, name, wrong)
    for _ in range(2):
        ours, bases = answered(question, model, data)
        assert same_bits(ours, theirs)
        assert "differ" in bases
        assert "identical" not in bases


@EVERY
def test_threads_change_no_bit(question):
    data = rows_of("multiclass")
    model = model_of("RandomForest", data)
    alone = list(question.ask(model, data))
    with workers(3, "threads"):
        assert same_bits(question.ask(replace(model), data), alone)


@pytest.mark.parametrize(
    ("n_calls", "n_rows", "is_worth"),
    [
        (200, 1, True),
        (119, 1, False),
        (24, 1000, True),
        (23, 1000, False),
        (1, 29_750, True),
        (1, 29_749, False),
    ],
)
def test_trees_answer_from_thirty_thousand_rows_on_and_250_for_each_call(
    monkeypatch, n_calls, n_rows, is_worth
):
    monkeypatch.undo()
    assert is_worth_reading(n_calls, n_rows) == is_worth


@pytest.mark.parametrize(
    ("ask", "n_calls"),
    [
        (lambda m, d: partial_dependence(m, d, "x1", seed=1), 51),
        (lambda m, d: partial_dependence(m, d, "x1", seed=1, on_band=print), 51),
        (lambda m, d: ale(m, d, "x1", seed=1), 2 * 5),
        (lambda m, d: permutation(m, d, seed=1, n_repeats=3), 3 * 5),
    ],
    ids=["curve", "band", "local effect", "permutation"],
)
def test_little_is_asked_of_predict_however_often(monkeypatch, ask, n_calls):
    data = rows_of()
    model, question = model_of("RandomForest", data), Question(ask)
    worth = n_calls * (N_ROWS + routes.ROWS_OF_CALL)
    monkeypatch.setattr(routes, "WORTH", worth + 1)
    for _ in range(2):
        assert answered(question, model, data)[1] == {"few"}
    monkeypatch.setattr(routes, "WORTH", worth)
    assert "few" not in answered(question, model, data)[1]


def test_how_many_points_are_taken_at_once_changes_no_bit(monkeypatch):
    data = rows_of("multiclass")
    model = model_of("RandomForest", data)
    at_once = bands(model, data)
    monkeypatch.setattr(predictions_at, "MAX_BYTES", 20_000)
    assert same_bits(bands(replace(model), data), at_once)


@pytest.mark.parametrize("kind", KINDS)
def test_the_mean_beside_a_band_of_some_rows_is_of_all(kind, monkeypatch):
    data = rows_of(missing=kind == "HistGradientBoosting")
    model = model_of(kind, data)
    question = Question(partial(bands, grid=tuple(np.linspace(-1, 1, 5))), "means")
    monkeypatch.setattr(effects, "MAX_BAND_BYTES", 8 * 5 * 30)
    ours, bases = answered(question, model, data)
    assert "means" in bases
    assert_same(question, ours, question.ask(by_predict(model), data), to_the_bit=False)


def test_a_feature_that_is_not_compared_is_exactly_flat_and_interacts_with_none():
    data = rows_of()
    data = replace(data, X=data.X.assign(x3=1.0))
    model = model_of("RandomForest", data)
    _, curve = partial_dependence(model, data, "x3", seed=1, grid=(-1, 0, 5))
    assert np.ptp(curve) == 0
    raw, baseline = h_of(("x1", "x3"))(model, data)
    assert not raw.any()
    assert not baseline.any()


def test_rows_that_predict_refuses_are_refused():
    data = rows_of()
    model = model_of("GradientBoosting", data)  # a forest may take them
    bands(model, data)
    X = data.X.copy()
    X.iloc[-1, list(X).index("x2")] = np.nan
    with pytest.raises(ModelError, match="NaN"):
        bands(model, replace(data, X=X))


def test_missing_values_that_a_forest_takes_go_where_it_sends_them():
    data = rows_of()
    model = model_of("RandomForest", data)
    rows = replace(data, X=data.X.assign(x2=data.X["x2"].where(data.X["x2"] < 0)))
    try:
        theirs = bands(by_predict(model), rows)
    except ModelError as error:
        pytest.skip(str(error))
    ours, bases = answered(Question(bands), model, rows)
    assert "identical" in bases
    assert same_bits(ours, theirs)
