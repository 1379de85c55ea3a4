"""Trees that answer for predict: the same importances, to the last bit."""

import re
from dataclasses import replace
from functools import wraps
from threading import Barrier, get_ident
from types import MethodType

import pandas as pd
import pytest
from tests.assess.measured import audited, finding_of
from tests.cases import for_each
from tests.methods.importance.toys import score_of
from tests.methods.trees.small_ensembles import model_of, same_bits
from tests.methods.trees.small_ensembles import rows_of as rows_of_columns

from importance_audit.methods.importance import permuted_predictions
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.known_answers import normal_data
from importance_audit.methods.trees import compiled, routes
from importance_audit.methods.trees import replay as replay_module
from importance_audit.methods.trees.fitted import Trees, not_of_trees
from importance_audit.models.fit import wrap
from importance_audit.records.as_json import content_digest
from importance_audit.records.errors import OutOfTime
from importance_audit.records.execution import workers

FOREST = "RandomForest"


def rows_of(task):
    """Return rows of numbers and one category, asked alone and with another column."""
    data = rows_of_columns(task)
    return data.with_groups(data.groups | {"both": ("x2", "level")})


@pytest.mark.needs_numba
@for_each(
    [
        {"stream": "DALEX"},
        {"stream": "DALEX", "n_rows": 40},
        {"stream": "hstats"},
        {"stream": "vip-0.4", "n_rows": 80},
        {"stream": "vip-0.5"},
        {"n_rows": 30},
        {"perturbation": "resample"},
        {"within": "leaves", "min_samples_leaf": 5},
    ]
)
def test_trees_answer_for_predict_whatever_is_drawn(options, assert_as_by_predict):
    data = rows_of("regression")
    assert_as_by_predict(model_of(FOREST, data), data, **options)


@pytest.mark.needs_numba
def test_trees_answer_where_the_positive_class_is_the_first(assert_as_by_predict):
    data = rows_of("binary")
    numbers = data.X.drop(columns="level")
    data = replace(data, X=numbers, groups={name: (name,) for name in numbers})
    forest = model_of(FOREST, data).estimator
    model = wrap(forest, name="m", classes=["1", "0"], features=list(numbers))
    assert_as_by_predict(model, data)


@pytest.mark.needs_numba
def test_a_run_that_is_to_stop_stops_between_batches(monkeypatch, calls):
    data = rows_of("regression")
    model = model_of(FOREST, data)
    monkeypatch.setattr(permuted_predictions, "HELD_BYTES", 16 * 90 * 4)
    n_left = iter(range(4))

    def watch(X):
        if next(n_left, None) is None:
            raise TimeoutError
        return model.predict(X)

    watch.__wrapped__ = model.predict
    with pytest.raises(TimeoutError):
        permutation(replace(model, predict=watch), data, seed=1, n_repeats=9)
    assert len(calls) == 1


@pytest.mark.needs_numba
@pytest.mark.usefixtures("trees_answer")
def test_slow_draws_are_answered_before_a_time_limit_ends(monkeypatch):
    data = rows_of("regression")
    model = model_of(FOREST, data)
    asked = {"seed": 1, "stream": "DALEX"}
    whole = permutation(model, data, n_repeats=200, **asked)
    monkeypatch.setattr(permuted_predictions, "HELD_SECONDS", 0)
    n_left = iter(range(5))

    def watch(X):
        if next(n_left, None) is None:
            raise OutOfTime("the time limit was reached.")
        return model.predict(X)

    watch.__wrapped__ = model.predict
    kept = permutation(replace(model, predict=watch), data, n_repeats=200, **asked)
    n_repeats = len(kept.baseline)
    assert 2 <= n_repeats < 200
    assert same_bits([kept.raw], [whole.raw[:, :n_repeats]])


@pytest.mark.needs_numba
@pytest.mark.parametrize("most_compared", [1, 2, 50])
def test_trees_may_be_compared_on_some_rows(
    monkeypatch, calls, assert_as_by_predict, most_compared
):
    monkeypatch.setattr(permuted_predictions, "MOST_COMPARED", most_compared)
    data = rows_of("regression")
    before = data.X.copy()
    assert_as_by_predict(model_of(FOREST, data), data)
    assert len(calls[0][-1]) == most_compared
    pd.testing.assert_frame_equal(data.X, before)


@pytest.mark.needs_numba
@pytest.mark.parametrize(("error", "n_calls"), [(1e-15, 1), (1e-9, 7)])
def test_threads_that_add_trees_in_any_order(monkeypatch, calls, error, n_calls):
    data, ask = rows_of("regression"), permuted_predictions.predict_some
    model = model_of(FOREST, data)
    alone = permutation(model, data, seed=1, n_repeats=1)
    calls.clear()
    model.estimator.set_params(n_jobs=2)
    model = replace(model)

    def in_another_order(*arguments):
        return ask(*arguments) + error

    monkeypatch.setattr(permuted_predictions, "predict_some", in_another_order)
    ours = permutation(model, data, seed=1, n_repeats=1)
    assert len(calls) == n_calls
    if n_calls == 1:
        assert same_bits([ours.raw], [alone.raw])


@pytest.mark.needs_numba
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_as_many_threads_run_as_the_audit_has_workers(monkeypatch, calls, n_jobs):
    data = normal_data(2, 1, n_samples=3000)
    model = model_of("GradientBoosting", data)
    alone = permutation(model, data, seed=1, n_repeats=2)
    at_work, threads, walk = Barrier(n_jobs), {get_ident()}, replay_module.add_leaves

    def together(*part):
        if get_ident() not in threads:
            threads.add(get_ident())
            at_work.wait(60)  # which fails unless so many wait at the same time
        return walk(*part)

    calls.clear()
    monkeypatch.setattr(replay_module, "add_leaves", together)
    with workers(n_jobs):
        ours = permutation(model, data, seed=1, n_repeats=2)
    assert len(calls) == 1
    assert len(threads) == (1 if n_jobs == 1 else 1 + n_jobs)
    assert same_bits(ours, alone)


@pytest.mark.needs_numba
@pytest.mark.usefixtures("calls")
def test_an_audit_reports_trees_that_differ_and_no_number_changes(monkeypatch):
    data = rows_of("regression")
    model, replay = model_of(FOREST, data), Trees.replay
    whole = audited(model, data)
    monkeypatch.setattr(
        Trees, "replay", lambda *a, **b: (each + 1e-9 for each in replay(*a, **b))
    )
    faulty = audited(model, data)
    assert "trees_differ" not in {finding.check for finding in whole.findings}
    finding = finding_of(faulty, "trees_differ")
    assert (finding.severity, finding.subject) == ("warning", "m")
    assert finding.message == (
        "The trees read from model 'm' give other predictions than its predict, which "
        "was asked instead. No number is affected; the run took longer."
    )
    assert (whole.importances[0].raw == faulty.importances[0].raw).all()


def routes_of(monkeypatch, worth=0, **entry):
    """Return how an audit says that a forest and a function gave predictions."""
    monkeypatch.setattr(routes, "WORTH", worth)
    data = rows_of("regression")
    data = data.with_groups({name: (name,) for name in data.X})
    model = model_of(FOREST, data, encoder="ordinal")
    own = score_of(lambda X: X["x1"].to_numpy(), ["x1"], "own")
    result = audited((model, own), data, {"method": "permutation", **entry}, seed=5)
    rows = result.run.volatile["answered_by"]
    assert {(row["method"], row["of"]) for row in rows} == {("permutation", "features")}
    return {row["model"]: (row["basis"], row["reason"]) for row in rows}, result


UNREAD = "unread", "There is more to its predictions than one estimator."


@pytest.mark.needs_numba
def test_an_audit_says_whether_trees_or_predict_answered(monkeypatch):
    routes, by_trees = routes_of(monkeypatch)
    assert routes == {"m": ("identical", ""), "own": UNREAD}
    routes, by_predict_ = routes_of(monkeypatch, worth=10**9)
    assert routes == {"m": ("few", ""), "own": UNREAD}
    assert content_digest(by_trees) == content_digest(by_predict_)
    monkeypatch.setattr(compiled, "available", lambda: False)
    routes, without = routes_of(monkeypatch)
    assert routes == {"m": ("no_numba", ""), "own": UNREAD}
    assert content_digest(by_trees) == content_digest(without)


@pytest.mark.needs_numba
def test_an_audit_of_exact_means_says_that_trees_answered(monkeypatch):
    assert routes_of(monkeypatch, draws="exact")[0] == {"m": ("losses", "")}


@pytest.mark.slow
@pytest.mark.needs_numba
def test_trees_with_too_many_nodes_for_a_word_are_left_to_predict(monkeypatch):
    by_trees = routes_of(monkeypatch)[1]
    monkeypatch.setattr(replay_module, "MOST_BITS", 10)
    routes, by_predict_ = routes_of(monkeypatch)
    basis, reason = routes["m"]
    assert basis == "unread"
    assert re.search(r"A node of its trees takes \d\d bits, and 10 can", reason)
    assert content_digest(by_trees) == content_digest(by_predict_)


@pytest.mark.needs_numba
@pytest.mark.usefixtures("calls")
def test_an_audit_that_has_to_compile_loops_says_so(monkeypatch):
    data, replay, steps = rows_of("regression"), Trees.replay, []
    monkeypatch.setattr(compiled, "describe", lambda: "compiling loops")

    def compiling(*arguments, **options):
        while compiled._reports:  # here, unless the cache is cold
            compiled._reports.pop()(compiled.describe())
        return replay(*arguments, **options)

    monkeypatch.setattr(Trees, "replay", compiling)
    noted = {"on_step": lambda *step: steps.append(step[-1])}
    result = audited(model_of(FOREST, data), data, **noted)
    assert steps.count("permutation of features, m: compiling loops") == 1
    log = result.run.volatile["log"]
    assert [line["message"] for line in log].count("compiling loops") == 1


@pytest.mark.parametrize("kind", ["trees", "function"])
def test_each_permutation_is_a_call_of_its_own(kind):
    data, n_rows = rows_of("regression"), []
    model = model_of(FOREST, data)
    if kind == "function":  # which depends on the rows it is asked about
        model = replace(model, predict=lambda X: 1.0 * (X["x1"] > X["x1"].mean()))
    ask = model.predict

    @wraps(ask)
    def predict(X):
        n_rows.append(len(X))
        return ask(X)

    permutation(replace(model, predict=predict), data, seed=1, n_repeats=2)
    assert n_rows == [90] * 13


def test_an_estimator_given_another_predict_is_left_to_it():
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    data = normal_data(2, 1)
    forest = RandomForestRegressor(3).fit(data.X, data.y)
    classifier = RandomForestClassifier(3).fit(data.X, data.y > 0)
    function = wrap(forest, name="m", predict=lambda X: 2 * forest.predict(X))
    labels = wrap(classifier, name="m", predict=classifier.predict)
    assert not_of_trees(function)
    assert not_of_trees(labels)
    assert not not_of_trees(wrap(forest, name="m"))
    assert not not_of_trees(wrap(classifier, name="m"))
    for estimator, name in ((forest, "predict"), (classifier, "predict_proba")):
        method = getattr(estimator, name)

        def squared(_self, X, method=method):
            return method(X) ** 2

        vars(estimator)[name] = MethodType(squared, estimator)
        assert not_of_trees(wrap(estimator, name="m"))
