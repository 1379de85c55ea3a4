"""What [limits] cuts is not asked, is stated, and leaves a whole run."""

import re
from contextlib import suppress
from time import sleep

import numpy as np
import pandas as pd
import pytest
from tests.auditing.test_stopping import page

from importance_audit.auditing.audit import audit, exit_code
from importance_audit.auditing.clock import Clock
from importance_audit.auditing.journal import Journal
from importance_audit.cli.shared import terminable
from importance_audit.config.load import parse_config
from importance_audit.data.datasets import dataset
from importance_audit.models.fit import wrap
from importance_audit.records import interrupt

X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
ROWS = dataset(X, X["a"] + X["b"], name="rows", task="regression")
ENTRIES = [
    {"method": "permutation", "n_repeats": 4},
    {"method": "permutation", "n_repeats": 6, "name": "long"},
    {"method": "partial_dependence", "n_grid": 5},
]


def counting(calls, stops_at=0):
    """Return a model that keeps on how many rows it was asked each time.

    At one of the calls it swallows a request to stop.
    """

    def predict(rows):
        calls.append(len(rows))
        if len(calls) == stops_at:
            with suppress(KeyboardInterrupt):
                interrupt.request_stop("")
        return rows["a"].to_numpy()

    return wrap(predict, name="m", task="regression", features=("a", "b"))


def audited(calls, entries=ENTRIES, stops_at=0, **limits):
    config = parse_config({"importance": entries, "limits": limits})
    return audit(None, ROWS, config, models=(counting(calls, stops_at),))


def messages_of(result, check):
    return [f.message for f in result.findings if f.check == check]


@pytest.fixture
def late_after(monkeypatch):
    """Make the time limit end after so many calls of predict."""

    def end_after(calls, n_calls):
        is_late = property(lambda self: bool(self.minutes) and len(calls) >= n_calls)
        monkeypatch.setattr(Clock, "is_late", is_late)

    return end_after


def test_once_time_is_over_no_model_is_asked_and_what_lacks_is_named(
    late_after, monkeypatch
):
    monkeypatch.setattr("time.monotonic", lambda: 0.0)
    whole, calls = [], []
    audited(whole, entries=ENTRIES[:1])
    n_first = len(whole)
    late_after(calls, n_first + 3)
    result = audited(calls, minutes=2)
    assert len(calls) == n_first + 3
    assert result.run.status == "complete"
    assert (result.verdict, exit_code(result)) == ("not established", 4)
    assert [(r.method, r.entry) for r in result.importances] == [("permutation", "")]
    (message,) = messages_of(result, "time_limit")
    assert message == (
        "The time limit of 2 minutes was reached before everything was measured. "
        "Cut short: permutation of features, m, long (permutation of features by "
        "Python: 2 repeats take less than 1 s; reading, fitting, what was asked before "
        "and the time kept for the report used the limit). Not begun: "
        "partial_dependence of features, m."
    )
    assert "Not begun: partial_dependence of features, m." in page(result)


def test_a_limit_that_is_not_met_changes_no_number():
    free, bound = audited([]), audited([], minutes=1000)
    assert len(free.importances) == len(ENTRIES)
    assert messages_of(bound, "time_limit") == messages_of(free, "time_limit") == []
    for one, other in zip(free.importances, bound.importances, strict=True):
        assert np.array_equal(one.raw, other.raw)


def test_a_step_that_goes_on_is_cut_and_those_that_conclude_are_taken(monkeypatch):
    monkeypatch.setattr("importance_audit.auditing.journal.GRACE_SECONDS", 0.05)
    clock = [0.0]  # which only the long step moves: a slow machine begins it as well
    monkeypatch.setattr("time.monotonic", lambda: clock[-1])
    done, journal = [], Journal(clock=Clock(0.02))

    def long():
        clock.append(60.0)
        sleep(60)

    steps = [
        ("long", long),
        ("more", lambda: done.append("more")),
        ("last", lambda: done.append("last")),
    ]
    with terminable():
        journal.follow(steps, n_closing=1)
    bound = journal.clock
    assert (done, bound.cut_short, bound.not_begun) == (["last"], ["long"], ["more"])


def test_max_rows_draws_rows_by_the_seed_and_says_so():
    calls = []
    result = audited(calls, max_rows=20)
    assert max(calls[-4:]) <= 20 * 5
    assert {r.n_samples for r in result.importances} == {20}
    assert messages_of(result, "max_rows") == [
        "20 of the 60 test rows were drawn and audited, because max_rows = 20."
    ]
    assert result.datasets["source"].tolist() == [
        "given in Python, 20 of 60 rows drawn"
    ]
    again = audited([], max_rows=20)
    assert np.array_equal(result.importances[0].raw, again.importances[0].raw)
    assert result.datasets["sha256"].tolist() != audited([]).datasets["sha256"].tolist()


def test_max_repeats_takes_the_place_of_more_and_says_so():
    result = audited([], max_repeats=4)
    repeats = [r.raw.shape[1] for r in result.importances if r.method == "permutation"]
    assert repeats == [4, 4]
    assert messages_of(result, "max_repeats") == [
        "max_repeats = 4 limits n_repeats: long 6."
    ]


def test_after_a_request_to_stop_that_a_model_swallowed_no_call_begins():
    calls = []
    result = audited(calls, stops_at=12)
    assert len(calls) == 12
    assert result.run.status == "interrupted"


class Slow:
    """A linear model each of whose predictions of all rows takes so many seconds."""

    def __init__(self, monkeypatch, seconds, n_features=12):
        self.now, self.begun = 0.0, []
        for name in ("monotonic", "perf_counter"):
            monkeypatch.setattr(f"time.{name}", lambda: self.now)
        names = [f"x{k}" for k in range(n_features)]
        slopes = np.r_[3.0, 2.5, 2.0, 1.5, 1.0, np.zeros(n_features - 5)]
        frame = pd.DataFrame(
            np.random.default_rng(3).normal(size=(400, n_features)), columns=names
        )
        noise = np.random.default_rng(4).normal(size=400)
        self.rows = dataset(
            frame, frame @ slopes + noise, name="rows", task="regression"
        )

        def predict(X):
            self.begun.append(self.now)
            self.now += seconds * len(X) / 400
            return X.to_numpy() @ slopes

        self.model = wrap(predict, name="m", task="regression", features=tuple(names))

    def audited(self, *entries, minutes):
        config = parse_config({"importance": [*entries]})
        return audit(None, self.rows, config, models=(self.model,), minutes=minutes)


PERMUTED = {"method": "permutation", "n_repeats": 40}
CURVES = {"method": "partial_dependence", "n_grid": 20}
PAIRS = {"method": "h_statistic", "of": "pairs", "n_rows": 40}


def test_permutation_has_its_share_of_the_time_and_the_rest_goes_on_to_the_end(
    monkeypatch,
):
    slow = Slow(monkeypatch, seconds=1.0)
    result = slow.audited(PERMUTED, CURVES, PAIRS, minutes=4)
    assert max(slow.begun) <= 240
    (permuted,) = result.importances
    assert 2 <= permuted.n_repeats < 40
    # At most a third of the time that is left, of which a repeat takes 13 seconds.
    assert permuted.n_repeats <= 240 / 3 / 12
    messages = messages_of(result, "time_limit")
    assert messages[1] == (
        "The time limit of 4 minutes was reached before everything was measured. Cut "
        "short: partial_dependence of features, m (partial dependence of features by "
        "Python). Not begun: h_statistic of pairs, m."
    )


def test_where_two_repeats_are_too_long_the_rows_are_named_that_would_fit(monkeypatch):
    slow = Slow(monkeypatch, seconds=4.0)
    result = slow.audited(PERMUTED, minutes=1.5)
    assert result.importances == ()
    (message,) = messages_of(result, "time_limit")
    found = re.search(
        r"2 repeats take about (\d+) s, and would fit with max_rows = (\d+)", message
    )
    seconds, n_rows = map(int, found.groups())
    assert 2 * 12 * 4 <= seconds <= 2 * 13 * 4 + 4
    assert 0 < n_rows < 400
    config = parse_config(
        {"importance": [PERMUTED], "limits": {"max_rows": n_rows, "minutes": 1.5}}
    )
    slow.now = 0.0
    (permuted,) = audit(None, slow.rows, config, models=(slow.model,)).importances
    assert permuted.n_repeats >= 2


@pytest.mark.usefixtures("without_r")
def test_an_engine_is_left_twice_the_time_that_we_take(monkeypatch):
    shares = []
    monkeypatch.setattr(
        "importance_audit.auditing.audit.answer_entry",
        lambda *given: shares.append(given[-1]),
    )
    asked = {**PERMUTED, "engines": ["DALEX"]}
    named = {**PERMUTED, "name": "again"}
    audited([], entries=[asked, CURVES, named], minutes=10)
    # 3 + 1 + 1 in all; then 1 + 1; then the last alone.
    assert shares == [1 / 5, 1 / 2, 1]


@pytest.mark.slow
def test_where_features_are_asked_one_by_one_no_rows_are_said_to_fit(late_after):
    calls = []
    audited(calls, entries=[{"method": "anova"}])
    n_checks = len(calls)
    late_after(calls, n_checks + 7)
    calls.clear()
    entry = {"method": "permutation", "n_repeats": 6, "engines": ["hstats"]}
    result = audited(calls, entries=[entry], minutes=2)
    (message,) = messages_of(result, "time_limit")
    assert "Cut short: permutation of features, m" in message
    assert "max_rows" not in message


def test_max_rows_keeps_the_share_of_each_class():
    y = np.array(["no", "yes", "no"] * 20)
    rows = dataset(X, y, name="rows", task="binary", classes=["no", "yes"])
    config = parse_config({"importance": ENTRIES[:1], "limits": {"max_rows": 30}})
    facts = {"classes": ["no", "yes"], "features": ("a", "b")}
    half = wrap(lambda X: np.full(len(X), 0.5), name="m", task="binary", **facts)
    result = audit(None, rows, config, models=(half,))
    target = result.quantiles.query("column == 'target' or role == 'target'")
    counts = dict(zip(target["level"], target["rows"], strict=True))
    assert (counts["no"], counts["yes"]) == (20, 10)


def test_the_repeats_under_a_limit_are_the_first_of_a_run_without_and_that_is_said(
    monkeypatch,
):
    slow = Slow(monkeypatch, seconds=1.0)
    result = slow.audited(PERMUTED, CURVES, minutes=4)
    limited = result.importances[0]
    whole = slow.audited(PERMUTED, minutes=None).importances[0]
    made = limited.n_repeats
    assert 0 < made < whole.n_repeats
    assert np.array_equal(limited.raw, whole.raw[:, :made])
    message = messages_of(result, "time_limit")[0]
    assert message == (
        f"Because of the time limit, permutation of features of model m was repeated "
        f"{made} times instead of 40."
    )
    assert message in page(result)
