"""Frames made of what changed are those made of all columns, whatever R and predict do.

R_BRIDGE_CHECK_CACHE=1, which the suite sets, compares each of them with all columns.
"""

import numpy as np
import pandas as pd
import pytest

from importance_audit.r_bridge import host
from importance_audit.r_bridge.errors import RBridgeError
from importance_audit.r_bridge.schema import check_same

MIXED = {
    "x": [1.5, np.nan, -0.0, np.inf],
    "n": [1, 2, 3, 4],
    "g": pd.Categorical(["b", None, "a", "b"], categories=["z", "b", "a"]),
    "if": pd.array([True, None, False, True], dtype="boolean"),
    "t": ["£", None, "", "b"],
    "day": pd.to_datetime(["1969-12-31", None, "2020-02-29", "2020-03-01"]),
}
FRAMES = {
    "numbers": pd.DataFrame(np.arange(12.0).reshape(4, 3), columns=list("abc")),
    "plain": pd.DataFrame({name: MIXED[name] for name in ("x", "n", "g")}),
    "mixed": pd.DataFrame(MIXED),
    "many numbers": pd.DataFrame(
        np.arange(1_050_000.0).reshape(-1, 3), columns=list("abc")
    ),
}


@pytest.fixture(params=FRAMES)
def frame(request):
    return FRAMES[request.param].copy()


def ones(frame):
    return np.ones(len(frame))


def frames_predicted(r, frame, function, *, only_changes=True, **arguments):
    """Return copies of the frames that predict was asked about."""
    frames = []

    def predict(X):
        frames.append(X.copy(deep=True))
        return np.ones(len(X))

    r.call(
        function,
        {"data": frame, **arguments},
        predict=predict,
        schema_of=frame,
        only_changes=only_changes,
    )
    return frames


def assert_same(frames, expected):
    assert len(frames) == len(expected) > 0
    for one, other in zip(frames, expected, strict=True):
        check_same(one, other)
        pd.testing.assert_frame_equal(one, other)


@pytest.mark.needs_r
@pytest.mark.parametrize("checked", ["0", "1"])
def test_shuffled_frames_are_the_same_with_and_without(r, frame, checked, monkeypatch):
    monkeypatch.setenv("R_BRIDGE_CHECK_CACHE", checked)
    changes, whole = (
        frames_predicted(r, frame, "ask_shuffled", seed=1, only_changes=only)
        for only in (True, False)
    )
    assert_same(changes, whole)
    assert not changes[0].equals(frame)


@pytest.mark.needs_r
@pytest.mark.parametrize("name", ["x", "n", "g", "t", "day"])
def test_what_r_sets_in_the_frame_it_handed_over_is_seen(r, name):
    frame = FRAMES["mixed"]
    expected = []
    for row in range(len(frame)):
        column = frame[name].copy()
        column[: row + 1] = column[0]
        expected.append(frame.assign(**{name: column}))
    assert_same(frames_predicted(r, frame, "ask_set", name=name), expected)


@pytest.mark.needs_r
@pytest.mark.parametrize("checked", ["0", "1"])
def test_rows_types_and_levels_may_change_where_columns_stay(r, checked, monkeypatch):
    monkeypatch.setenv("R_BRIDGE_CHECK_CACHE", checked)
    X = FRAMES["plain"]
    levels = X["g"].cat.set_categories(["b", "a", "z"])
    others = [X.assign(n=[1.5, 2, 3, 4]), X.assign(g=levels), X[:2], X[:0], X[1:2]]
    sent = [frame for other in others for frame in (X, X, X, other, other)]
    frames_by_way = {True: [], False: []}
    for only in frames_by_way:
        r.call(
            "ask_each",
            {"frames": sent},
            predict=lambda frame, frames=frames_by_way[only]: ones(
                frames.append(frame) or frame
            ),
            schema_of=X,
            only_changes=only,
        )
    assert_same(frames_by_way[True], frames_by_way[False])


@pytest.mark.needs_r
@pytest.mark.parametrize("checked", ["0", "1"])
def test_a_model_that_writes_into_its_frame_spoils_no_later_one(
    r, frame, checked, monkeypatch
):
    monkeypatch.setenv("R_BRIDGE_CHECK_CACHE", checked)
    columns, first = [], frame.columns[0]

    def predict(X):
        columns.append(X[first].copy(deep=True))
        X.iloc[:, 0] = 7.0
        X.loc[:, first] = X[first] + 1
        return np.ones(len(X))

    asked_for = {"data": frame, "times": 5}
    r.call("ask_often", asked_for, predict=predict, schema_of=frame, only_changes=True)
    for column in columns:
        pd.testing.assert_series_equal(column, frame[first])


@pytest.mark.needs_r
def test_a_model_that_writes_into_the_memory_of_numbers_spoils_no_later_one(r):
    frame, sums = FRAMES["many numbers"], []

    def predict(X):
        values = X.to_numpy()
        sums.append(values.sum())
        if values.flags.writeable:
            values[:] = 0.0
        return np.ones(len(X))

    asked_for = {"data": frame, "times": 5}
    r.call("ask_often", asked_for, predict=predict, schema_of=frame, only_changes=True)
    assert sums == [frame.to_numpy().sum()] * 5


@pytest.mark.needs_r
def test_a_frame_that_predict_keeps_stays_as_it_was(r, frame):
    frames = []

    def predict(X):
        frames.append(X)
        return np.ones(len(X))

    arguments = {"data": frame, "seed": 1}
    r.call(
        "ask_shuffled", arguments, predict=predict, schema_of=frame, only_changes=True
    )
    assert_same(
        frames, frames_predicted(r, frame, "ask_shuffled", seed=1, only_changes=False)
    )


@pytest.mark.needs_r
def test_a_column_at_the_address_of_one_that_r_let_go_is_another(r):
    numbers, schema_of = [], pd.DataFrame({"a": [1.0]})
    r.call(
        "ask_fresh",
        {"n": 1000, "times": 20},
        predict=lambda X: ones(numbers.append(X["a"].iloc[0]) or X),
        schema_of=schema_of,
        only_changes=True,
    )
    assert numbers == list(range(1, 21))


@pytest.mark.needs_r
def test_a_column_that_is_gone_is_named_after_complete_frames_too(r):
    with pytest.raises(RBridgeError, match=r"^R changed the 3 .*: 'g' is missing\.$"):
        frames_predicted(r, FRAMES["plain"], "ask_with_fewer")


@pytest.mark.needs_r
def test_after_a_refused_frame_the_next_call_begins_anew(r):
    frame = FRAMES["plain"]
    with pytest.raises(RBridgeError, match="'g' is in another place"):
        frames_predicted(r, frame, "ask_changed", change="moved")
    assert_same(frames_predicted(r, frame, "ask_often", times=3), [frame] * 3)


@pytest.mark.needs_r
def test_the_check_finds_what_was_written_behind_rs_back(r, monkeypatch):
    if "data.table" not in r.call("namespaces", {"names": ["data.table"]}):
        pytest.skip("data.table, which writes into columns in place, is not installed")
    frame = FRAMES["numbers"]
    monkeypatch.setenv("R_BRIDGE_CHECK_CACHE", "1")
    with pytest.raises(RBridgeError) as error:
        frames_predicted(r, frame, "ask_written_behind_r")
    assert str(error.value) == (
        "R wrote into column 'a', which it had handed over. Ask without only_changes."
    )
    monkeypatch.setenv("R_BRIDGE_CHECK_CACHE", "0")
    first, second = frames_predicted(r, frame, "ask_written_behind_r")
    assert second["a"][0] == first["a"][0] == 0.0  # why it is only for some callers
    _, all_of_it = frames_predicted(
        r, frame, "ask_written_behind_r", only_changes=False
    )
    assert all_of_it["a"][0] == 7.0


@pytest.mark.parametrize(
    ("one", "other"),
    [([0.0], [-0.0]), ([1.0], [2.0]), (["a"], ["b"]), ([1], [1.0]), ([None], ["a"])],
)
def test_frames_that_differ_in_a_bit_are_not_the_same(one, other):
    frames = pd.DataFrame({"a": [1], "b": one}), pd.DataFrame({"a": [1], "b": other})
    check_same(frames[0], frames[0].copy())
    with pytest.raises(RBridgeError, match=r"^R wrote into column 'b', which it had"):
        check_same(*frames)


def test_a_missing_number_has_no_sign():
    missing = pd.DataFrame({"a": [np.nan, -0.0]})
    check_same(missing, pd.DataFrame({"a": [-np.nan, -0.0]}))


@pytest.mark.needs_dalex
def test_dalex_measures_the_same_with_and_without(r):
    frame = FRAMES["plain"].assign(x=[1.5, 3.0, -0.5, 0.25])
    arguments = {
        "data": frame,
        "y": np.arange(4.0),
        "loss": "rmse",
        "seed": 1,
        "n_repeats": 4,
        "groups": {"x": ["x"], "both": ["n", "g"]},
    }

    def predict(X):
        return X["x"] * X["n"] + (X["g"] == "a")

    changes, whole = (
        r.call(
            "dalex_parts",
            arguments,
            predict=predict,
            schema_of=frame,
            only_changes=only,
        )
        for only in (True, False)
    )
    np.testing.assert_array_equal(changes["loss"], whole["loss"])
    assert host.current() is r
