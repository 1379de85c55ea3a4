"""What predict may do, and what R then sees and Python raises."""

import sys

import numpy as np
import pandas as pd
import pytest
from tests.cases import for_each

from importance_audit.r_bridge import host
from importance_audit.r_bridge.errors import RBridgeError, RError

pytestmark = pytest.mark.needs_r

X = pd.DataFrame(
    {"x": [1.5, 2.5, 3.5], "n": [1, 2, 4], "g": pd.Categorical(["a", "b", "a"])}
)


class UnspeakableError(Exception):
    def __str__(self):
        raise RuntimeError("no words")


def ones(frame):
    return np.ones(len(frame))


def call_with_predict(r, predict, function="ask", **arguments):
    labels = arguments.pop("labels", ())
    return r.call(
        function, {"data": X} | arguments, predict=predict, schema_of=X, labels=labels
    )


def test_predict_sees_the_frame_and_r_its_answer(r):
    frames = []

    def predict(frame):
        frames.append(frame)
        return frame["x"] * frame["n"]

    assert call_with_predict(r, predict).tolist() == [1.5, 5.0, 14.0]
    pd.testing.assert_frame_equal(frames[0], X)


def test_classes_are_columns_with_their_names(r):
    answer = call_with_predict(
        r, lambda _: np.arange(6.0).reshape(3, 2), labels=("no", "fare (£)")
    )
    expected = pd.DataFrame(np.arange(6.0).reshape(3, 2), columns=["no", "fare (£)"])
    pd.testing.assert_frame_equal(answer, expected)


def test_what_a_package_passes_along_is_ignored(r):
    assert call_with_predict(r, ones, "ask_with_extras").tolist() == [[1.0, 1.0]] * 3


@for_each(
    [
        ValueError("£ ünïcode 🚢"),
        KeyError("nul \0 and lone \udcff"),
        UnspeakableError(),
        SystemExit(3),
        KeyboardInterrupt(),
        StopIteration(),
        EOFError(),
    ],
    lambda failure: type(failure).__name__,
)
def test_what_predict_raises_is_raised_once_whatever_r_made_of_it(failure, r):
    asked_for = []

    def predict(frame):
        asked_for.append(len(frame))
        raise failure

    before = r.restarts
    for function in ("ask", "ask_and_swallow"):
        with pytest.raises(type(failure)) as raised:
            call_with_predict(r, predict, function)
        assert raised.value is failure
        assert call_with_predict(r, ones).tolist() == [1.0, 1.0, 1.0]
    assert (asked_for, r.restarts) == ([3, 3], before)


def test_the_r_error_is_the_cause_unless_there_is_a_better_one(r):
    def predict(_):
        raise ValueError("plain")

    def predict_with_cause(_):
        raise ValueError("chained") from OSError("the disk")

    with pytest.raises(ValueError, match="plain") as raised:
        call_with_predict(r, predict)
    assert isinstance(raised.value.__cause__, RError)
    assert raised.value.__cause__.message == "ValueError: plain"
    with pytest.raises(ValueError, match="chained") as raised:
        call_with_predict(r, predict_with_cause)
    assert isinstance(raised.value.__cause__, OSError)


@for_each(
    [
        ("moved", "'g' is in another place"),
        ("level", "R sent the new level 'new'"),
        ("kind", "R sent a value of type character"),
        ("matrix", "R called predict with a value of class matrix"),
        ("doubles", r"predict must return shape \(3,\); shape \(2,\) was returned\."),
    ]
)
def test_a_frame_that_r_changed_and_no_prediction_are_refused_though_r_goes_on(case, r):
    change, words = case
    for function in ("ask_changed", "ask_changed_and_swallow"):
        with pytest.raises(RBridgeError, match=words) as refusal:
            call_with_predict(r, lambda _: np.ones(2), function, change=change)
        assert type(refusal.value) is RBridgeError


@for_each(["doubles", "text", "rows", "relevelled", "halves"])
def test_predict_sees_the_dtypes_of_the_original_and_fractions(change, r):
    frames = []
    call_with_predict(
        r,
        lambda frame: ones(frames.append(frame) or frame),
        "ask_changed",
        change=change,
    )
    expected = X.iloc[[1, 1, 0]].reset_index(drop=True) if change == "rows" else X
    expected = X.assign(n=X["n"] / 2) if change == "halves" else expected
    pd.testing.assert_frame_equal(frames[0], expected)


def test_a_model_that_writes_into_the_memory_of_numbers_spoils_no_later_frame(r):
    numbers = pd.DataFrame(np.arange(30_000.0).reshape(-1, 3), columns=list("abc"))
    sums = []

    def predict(frame):
        values = frame.to_numpy()
        sums.append(values.sum())
        values[:] = 0.0
        return ones(frame)

    asked_for = {"data": numbers, "times": 5}
    r.call("ask_often", asked_for, predict=predict, schema_of=numbers)
    assert sums == [numbers.to_numpy().sum()] * 5


def test_rows_types_and_levels_may_change_between_calls_of_predict(r):
    levels = pd.Categorical(["b", "a", "a"], categories=["b", "a"])
    others = [X.assign(n=[1.0, 2.0, 4.0]), X.assign(g=levels), X[:1], X[:0], X[:1]]
    sent = [frame for other in others for frame in (X, X, X, other, other)]
    frames = []
    r.call(
        "ask_each",
        {"frames": sent},
        predict=lambda frame: ones(frames.append(frame) or frame),
        schema_of=X,
    )
    for frame, original in zip(frames, sent, strict=True):
        levels = original["g"].cat.set_categories(["a", "b"])
        expected = original.assign(n=original["n"].astype("int64"), g=levels)
        pd.testing.assert_frame_equal(frame, expected)


def test_every_call_is_answered_by_the_rows_of_that_call(r):
    answers = iter(range(7))
    asked_often = call_with_predict(
        r, lambda frame: np.full(len(frame), next(answers)), "ask_often", times=7
    )
    assert asked_often.tolist() == [6.0, 6.0, 6.0]
    assert next(answers, None) is None


def test_thousands_of_calls_leave_none_where_it_was(r):
    small = X[["x"]]
    before = sys.getrefcount(None), r.restarts
    r.call(
        "ask_often",
        {"data": small, "times": 2_000},
        predict=ones,
        schema_of=small,
        seconds=300,
    )
    assert abs(sys.getrefcount(None) - before[0]) < 200
    assert r.restarts == before[1]


def test_the_garbage_collector_may_run_at_any_time(r):
    answer = call_with_predict(r, ones, "ask_under_gctorture", times=20)
    assert answer.tolist() == [1.0, 1.0, 1.0]


def test_predict_may_not_ask_r_itself(r):
    with pytest.raises(RBridgeError) as refusal:
        call_with_predict(r, lambda _: host.current().call("echo", {"x": 1}))
    assert str(refusal.value) == (
        "predict asked R, which waits for it. Let predict answer without R."
    )
    assert call_with_predict(r, ones).tolist() == [1.0, 1.0, 1.0]


def test_a_function_that_needs_predict_must_be_given_one(r):
    with pytest.raises(RError) as refusal:
        r.call("ask", {"data": X})
    assert refusal.value.message == 'argument "predict" is missing, with no default'
