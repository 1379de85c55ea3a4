"""What [limits] cuts is not asked, is stated, and leaves a whole run."""

from contextlib import suppress
from dataclasses import replace
from time import sleep
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from tests.auditing.test_stopping import page

from importance_audit.auditing import interrupt
from importance_audit.auditing.audit import audit
from importance_audit.auditing.cost import (
    Pace,
    calls_of,
    count_calls,
    count_fits,
    in_words,
)
from importance_audit.auditing.journal import REPORT_SECONDS, ROW_SECONDS, Journal
from importance_audit.auditing.measure import rows_for
from importance_audit.cli.shared import terminable
from importance_audit.config.load import parse_config
from importance_audit.data.datasets import dataset
from importance_audit.engines import EngineInfo
from importance_audit.models.fit import wrap

X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
ROWS = dataset(X, X["a"] + X["b"], name="rows", task="regression")
ENTRIES = [
    {"method": "permutation", "n_repeats": 4},
    {"method": "permutation", "n_repeats": 6, "name": "long"},
    {"method": "partial_dependence", "n_grid": 5},
]


def counting(calls):
    """Return a model that keeps on how many rows it was asked each time."""

    def predict(rows):
        calls.append(len(rows))
        return rows["a"].to_numpy()

    return wrap(predict, name="m", task="regression", features=("a", "b"))


def audited(calls, rows=ROWS, entries=ENTRIES, **limits):
    config = parse_config({"importance": entries, "limits": limits})
    return audit(None, rows, config, models=(counting(calls),))


def messages_of(result, check):
    return [f.message for f in result.findings if f.check == check]


@pytest.fixture
def late_after(monkeypatch):
    """Make the time limit end after so many calls of predict."""

    def end_after(calls, n_calls):
        is_late = property(lambda self: bool(self.minutes) and len(calls) >= n_calls)
        monkeypatch.setattr(Journal, "is_late", is_late)

    return end_after


def test_once_time_is_over_no_model_is_asked_and_what_lacks_is_named(late_after):
    whole, calls = [], []
    audited(whole, entries=ENTRIES[:1])
    n_first = len(whole)
    late_after(calls, n_first + 3)
    result = audited(calls, minutes=2)
    assert len(calls) == n_first + 3
    assert result.run.status == "complete"
    assert [(r.method, r.entry) for r in result.importances] == [("permutation", "")]
    (message,) = messages_of(result, "time_limit")
    assert message == (
        "The time limit of 2 minutes was reached before everything was measured. "
        "Cut short: permutation of features, m, long (permutation of features by "
        "python). Not begun: partial_dependence of features, m."
    )
    assert "Not begun: partial_dependence of features, m." in page(result)


def test_without_a_limit_nothing_is_late():
    calls = []
    assert messages_of(audited(calls), "time_limit") == []


def test_a_limit_that_is_not_met_changes_no_number():
    free, bound = audited([]), audited([], minutes=1000)
    assert len(free.importances) == len(ENTRIES)
    for one, other in zip(free.importances, bound.importances, strict=True):
        assert np.array_equal(one.raw, other.raw)


def test_the_report_has_its_share_of_the_limit(monkeypatch):
    monkeypatch.setattr("time.monotonic", lambda: 60.0)
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    monkeypatch.setattr("os.getloadavg", lambda: (0.1, 9.0, 9.0))
    bound = Journal(on_step=print, minutes=10, begun=0.0)
    assert (bound.seconds_of_run, bound.seconds_left) == (540, 540 - REPORT_SECONDS)
    bound.n_columns = 1000
    columns = REPORT_SECONDS + 1000 * ROW_SECONDS
    assert bound.seconds_left == pytest.approx(540 - columns)
    bound.importances += audited([]).importances * 20
    rankings = 3 * 20 * 2 * ROW_SECONDS
    assert bound.seconds_left == pytest.approx(540 - columns - rankings)
    for load, times in ((8.0, 2), (80.0, 3)):  # processes that wait for a processor
        monkeypatch.setattr("os.getloadavg", lambda load=load: (load, 0.0, 0.0))
        share = times * (columns + rankings)
        assert bound.seconds_left == pytest.approx(540 - share)
    bound.minutes = 0.2
    assert bound.seconds_left == pytest.approx(12 - 60 - 6)
    bound.minutes = None
    assert bound.seconds_left == np.inf


def test_a_step_that_goes_on_is_cut_and_those_that_conclude_are_taken(monkeypatch):
    monkeypatch.setattr("importance_audit.auditing.journal.GRACE_SECONDS", 0.05)
    clock = [0.0]  # which only the long step moves: a slow machine begins it as well
    monkeypatch.setattr("time.monotonic", lambda: clock[-1])
    done, bound = [], Journal(on_step=lambda *_: None, minutes=0.02)

    def long():
        clock.append(60.0)
        sleep(60)

    steps = [
        ("long", long),
        ("more", lambda: done.append("more")),
        ("last", lambda: done.append("last")),
    ]
    with terminable():
        bound.follow(steps, n_closing=1)
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


def test_max_rows_keeps_the_share_of_each_class():
    y = np.array(["no", "yes", "no"] * 20)
    rows = dataset(X, y, name="rows", task="binary", classes=["no", "yes"])
    config = parse_config({"importance": ENTRIES[:1], "limits": {"max_rows": 30}})
    shares = []

    def predict(frame):
        shares.append(len(frame))
        return np.full(len(frame), 0.5)

    model = wrap(
        predict, name="m", task="binary", classes=["no", "yes"], features=("a", "b")
    )
    result = audit(None, rows, config, models=(model,))
    target = result.quantiles.query("column == 'target' or role == 'target'")
    counts = dict(zip(target["level"], target["rows"], strict=True))
    assert (counts["no"], counts["yes"]) == (20, 10)


def test_max_repeats_takes_the_place_of_more_and_says_so():
    result = audited([], max_repeats=4)
    repeats = [r.raw.shape[1] for r in result.importances if r.method == "permutation"]
    assert repeats == [4, 4]
    assert messages_of(result, "max_repeats") == [
        "max_repeats = 4 limits n_repeats: long 6."
    ]


def test_after_a_request_to_stop_that_a_model_swallowed_no_call_begins():
    calls = []

    def predict(rows):
        calls.append(len(rows))
        if len(calls) == 12:
            with suppress(KeyboardInterrupt):
                interrupt.request_stop("")
        return rows["a"].to_numpy()

    model = wrap(predict, name="m", task="regression", features=("a", "b"))
    config = parse_config({"importance": ENTRIES})
    result = audit(None, ROWS, config, models=(model,))
    assert len(calls) == 12
    assert result.run.status == "interrupted"


class Counting(LinearRegression):
    """A model that keeps how often it was fitted, and on how many rows asked."""

    fits: ClassVar[list[int]] = []
    calls: ClassVar[list[int]] = []

    def fit(self, rows, y):
        self.fits.append(len(rows))
        return super().fit(rows, y)

    def predict(self, rows):
        self.calls.append(len(rows))
        return super().predict(rows)


def calls_and_fits(entry, **groups):
    """Return the calls on all rows and the fits of an audit with one entry."""
    section = {"name": "m", "estimator": "tests.auditing.test_limits.Counting"}
    given = {"models": [section], "groups": groups, "importance": [entry]}
    Counting.fits.clear()
    Counting.calls.clear()
    config = parse_config(given)
    rows = WIDE.with_groups(groups) if groups else WIDE
    result = audit(WIDE, rows, config)
    assert [f.message for f in result.findings if f.check == "method_failed"] == []
    return sum(Counting.calls) / WIDE.n_samples, len(Counting.fits), config


WIDE = dataset(
    pd.DataFrame(np.random.default_rng(1).normal(size=(40, 4)), columns=list("abcd")),
    np.random.default_rng(2).normal(size=40),
    name="rows",
    task="regression",
)
TWO = {"g": ["a", "b"]}
EXACT = (
    ({"method": "shapley", "n_repeats": 2, "n_permutations": 3}, {}),
    ({"method": "shapley", "n_repeats": 2, "n_rows": 10, "of": "groups"}, TWO),
    ({"method": "shapley", "algorithm": "exact", "n_background": 5}, {}),
    ({"method": "shapley", "algorithm": "exact", "n_repeats": 2}, {}),
    ({"method": "sage", "n_background": 5}, {}),
    ({"method": "sage", "background": "gaussian", "of": "groups"}, TWO),
    ({"method": "sage", "algorithm": "sampling", "n_repeats": 1, "n_rows": 9}, {}),
    ({"method": "h_statistic", "of": "pairs", "n_rows": 100}, {}),
    ({"method": "h_statistic", "of": "pairs", "n_rows": 20, "n_repeats": 3}, {}),
    ({"method": "vint", "of": "pairs", "n_grid": 4}, {}),
    ({"method": "drop_column", "n_repeats": 2}, {}),
    ({"method": "drop_column", "n_repeats": 3, "of": "groups"}, TWO),
    ({"method": "permute_refit", "n_repeats": 2}, {}),
    ({"method": "shapley_refit", "n_repeats": 1}, {}),
    ({"method": "shapley_refit", "n_repeats": 2, "of": "groups"}, TWO),
    ({"method": "random_subspace", "n_repeats": 20}, {}),
)


@pytest.mark.parametrize(("entry", "groups"), EXACT)
def test_the_calls_and_fits_that_are_counted_are_those_that_are_made(entry, groups):
    n_checks, one_fit, _ = calls_and_fits({"method": "anova"})
    made, n_fits, config = calls_and_fits(entry, **groups)
    (section,) = config.importance
    model = replace(counting([]), features=tuple(WIDE.features))
    rows = rows_for(section, WIDE, WIDE, groups=config.groups)
    assert count_fits(section, model, rows) == n_fits - one_fit
    counted = count_calls(section, model, rows)
    if counted is None:
        assert entry["method"] == "random_subspace"
    else:
        assert counted == pytest.approx(made - n_checks)


def test_fits_to_shuffled_targets_are_counted_before_they_are_made(monkeypatch):
    counted, add_fit = [], Pace.add_fit

    def add(pace, step, seconds):
        counted.append(pace.fits.get(step))
        add_fit(pace, step, seconds)

    monkeypatch.setattr(Pace, "add_fit", add)
    tree = {"name": "tree", "estimator": "sklearn.tree.DecisionTreeRegressor"}
    config = {"models": [tree], "importance": [{"method": "impurity"}]}
    config["significance"] = {"shuffles": 3, "tests": ["altmann"]}
    audit(ROWS, ROWS, parse_config(config))
    assert [n for n in counted if n is not None] == [3, 2, 1]


def test_fits_that_are_still_to_come_count_by_the_time_of_the_last():
    pace = Pace(n_rows=100, fits={"a": 30, "b": 5}, fit_seconds=2.0)
    assert pace.seconds_left() == 70
    assert pace.words().startswith(
        "about 0 predict calls on 100 rows and 35 fits, 70 s"
    )
    pace.add_fit("a", 3.0)
    pace.finish("b")
    assert pace.seconds_left() == 29 * 3


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_calls_that_are_counted_are_those_that_are_made(entry):
    calls = []
    (section,) = parse_config({"importance": [entry]}).importance
    none = parse_config({"importance": [{"method": "anova"}]})
    audit(None, ROWS, none, models=(counting(calls),))
    n_checks = sum(calls)
    calls.clear()
    audited(calls, entries=[entry])
    made = (sum(calls) - n_checks) / len(X)
    counted = count_calls(section, counting([]), ROWS)
    # One baseline serves all repeats, and the curves say what each mean is too.
    assert counted - section.options.get("n_repeats", 0) <= made <= counted + 1


def test_the_mean_over_all_permutations_asks_for_one_prediction():
    entry = {"method": "permutation", "draws": "exact"}
    (section,) = parse_config({"importance": [entry]}).importance
    assert count_calls(section, counting([]), ROWS) == 1


def test_what_is_left_follows_from_the_calls_planned_and_their_time():
    pace = Pace(n_rows=500, planned={"a": ("m", 1000.0), "b": ("m", 11000.0)})
    pace.add("m", "checks", 500, 0.2)
    assert pace.words().startswith("about 12 000 predict calls on 500 rows, 40 min on ")
    assert pace.words().endswith("; bound it with --minutes or [limits]")
    pace.finish("b")
    pace.add("m", "a", 500, 0.2)
    assert pace.seconds_left() == pytest.approx(999 * 0.2)
    assert pace.words_left() == "about 3 min left"
    pace.uncounted.append("shapley of features, m")
    assert pace.words_left() == "at least 3 min left"


def seconds_of_search(n=60, losses=("rmse",), available=True, **options):
    """Return how long xplainfi is expected to search the neighbours of `n` rows."""
    near = {"within": "neighbours", "convention": "xplainfi", "engines": ["xplainfi"]}
    entry = {"method": "permutation", **near, **options}
    (section,) = parse_config({"importance": [entry]}).importance
    rows = ROWS.part(ROWS.features, np.arange(n) % 60)
    engines = {n: EngineInfo(n, available, "", n, "") for n in ("xplainfi", "DALEX")}
    model = counting([]).with_losses(losses)
    rows = rows_for(section, None, rows, groups={})
    return calls_of(section, model, rows, engines).search


def test_the_neighbours_that_xplainfi_searches_cost_by_rows_and_losses_not_repeats():
    once = seconds_of_search()
    assert once == seconds_of_search(n_repeats=100) > 0
    assert seconds_of_search(losses=("rmse", "mae")) == 2 * once
    assert 30 < seconds_of_search(n=60_000) / seconds_of_search(n=6_000) < 100
    assert seconds_of_search(available=False) == 0
    for options in ({"convention": "standard"}, {"within": "gaussian"}):
        assert seconds_of_search(**options) == 0
    assert seconds_of_search(engines=["DALEX"]) == 0


def test_that_xplainfi_searches_for_long_is_said_before():
    pace = Pace(n_rows=500, planned={"a": ("m", 10.0)}, searches={"a": 80.0})
    pace.add("m", "checks", 500, 0.2)
    assert pace.seconds_of("a") == pytest.approx(82)
    assert ", 80 s of it for xplainfi's search of neighbours; bound" in pace.words()
    pace.finish("a")
    assert pace.words_left() == ""


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(40.2, "40 s"), (99, "99 s"), (240, "4 min"), (9000, "2.5 h")],
)
def test_a_time_has_the_unit_of_its_size(seconds, words):
    assert in_words(seconds) == words


def shares(seconds, *needs, uncounted=0):
    """Return the share of each step that needs so many seconds."""
    pace = Pace(fits={f"s{k}": need for k, need in enumerate(needs)}, fit_seconds=1.0)
    pace.uncounted += ["?"] * uncounted
    return [pace.share_of(step, seconds) for step in pace.fits]


def test_where_time_is_enough_each_step_gets_more_than_it_needs():
    assert shares(100, 10, 30) == [25, 75]


def test_where_it_is_short_none_gets_more_than_an_equal_part_of_what_is_free():
    assert shares(60, 100, 200, 300) == [20, 20, 20]
    assert min(shares(60, 10, 200, 300)[0], 10) == 10
    assert shares(60, 10, 200, 300)[1:] == [25, 25]


def test_what_cannot_be_counted_counts_as_one_that_is_short():
    assert shares(60, 100, 200, uncounted=1) == [20, 20]
    assert shares(60, 10, uncounted=1)[0] >= 10


class Slow:
    """A linear model each of whose predictions of all rows takes so many seconds."""

    def __init__(self, monkeypatch, seconds, n_features=12):
        self.now, self.n_calls = 0.0, 0.0
        for name in ("monotonic", "perf_counter"):
            monkeypatch.setattr(f"time.{name}", lambda: self.now)
        monkeypatch.setattr("os.getloadavg", lambda: (0.0, 0.0, 0.0))
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
            self.now += seconds * len(X) / 400
            self.n_calls += len(X) / 400
            return X.to_numpy() @ slopes

        self.model = wrap(predict, name="m", task="regression", features=tuple(names))

    def audited(self, *entries, minutes):
        config = parse_config({"importance": [*entries]})
        return audit(None, self.rows, config, models=(self.model,), minutes=minutes)


PERMUTED = {"method": "permutation", "n_repeats": 40}
CURVES = {"method": "partial_dependence", "n_grid": 20}
PAIRS = {"method": "h_statistic", "of": "pairs", "n_rows": 40}


def test_what_does_not_fit_is_reduced_and_the_limit_is_kept(monkeypatch):
    slow = Slow(monkeypatch, seconds=1.0)
    result = slow.audited(PERMUTED, CURVES, PAIRS, minutes=4)
    assert slow.now <= 240
    assert [r.method for r in result.importances] == [
        *("permutation", "partial_dependence", "h_statistic")
    ]
    permuted, curves, pairs = result.importances
    assert 2 <= permuted.n_repeats < 40
    assert curves.features == tuple(f"x{k}" for k in range(len(curves.features)))
    assert 2 <= len(curves.features) < 12
    assert 1 <= len(pairs.features) < 66
    assert "x0:x1" in pairs.features
    cuts = [f.subject for f in result.findings if f.check == "time_limit"]
    assert cuts == [
        "m, permutation of features",
        "m, partial_dependence of features",
        "m, h_statistic of pairs",
    ]


def test_the_repeats_under_a_limit_are_the_first_of_a_run_without(monkeypatch):
    slow = Slow(monkeypatch, seconds=1.0)
    limited = slow.audited(PERMUTED, CURVES, minutes=4).importances[0]
    whole = slow.audited(PERMUTED, minutes=None).importances[0]
    assert 0 < limited.n_repeats < whole.n_repeats
    assert np.array_equal(limited.raw, whole.raw[:, : limited.n_repeats])


def test_repeats_that_are_whole_when_time_ends_are_kept_and_counted(late_after):
    permuted_tables = []
    late_after(permuted_tables, 7)

    def predict(rows):
        if not rows.equals(X):
            permuted_tables.append(rows)
        return rows["a"].to_numpy()

    model = wrap(predict, name="m", task="regression", features=("a", "b"))
    config = parse_config({"importance": ENTRIES[:1], "limits": {"minutes": 2}})
    result = audit(None, ROWS, config, models=(model,))
    (permuted,) = result.importances
    assert permuted.n_repeats == 3
    message, *_ = messages_of(result, "time_limit")
    assert message.startswith(
        "Because of the time limit, permutation of features of model m was repeated 3 "
        "times instead of 4. An interval over 3 repeats is about "
    )


def test_where_two_repeats_are_too_long_each_draws_fewer_rows(monkeypatch):
    slow = Slow(monkeypatch, seconds=4.0)
    result = slow.audited(PERMUTED, minutes=1.5)
    (permuted,) = result.importances
    assert permuted.options["n_rows"] in (200, 100)
    first, *_ = messages_of(result, "time_limit")
    n_rows = permuted.options["n_rows"]
    assert first.startswith(
        "Because of the time limit, permutation of features of model m drew "
        f"{n_rows} of 400 rows in each repeat, since 2 repeats of all of them would "
        "have taken "
    )


def test_where_the_fewest_rows_are_too_long_the_leaders_of_another_model_are_asked(
    monkeypatch,
):
    slow = Slow(monkeypatch, seconds=40.0)
    names = slow.model.features
    quick = wrap(
        lambda X: X.to_numpy() @ np.arange(12.0)[::-1],
        name="quick",
        task="regression",
        features=names,
    )
    config = parse_config({"importance": [{"method": "permutation", "n_repeats": 4}]})
    result = audit(None, slow.rows, config, models=(quick, slow.model), minutes=6)
    assert slow.now <= 360
    every, few = result.importances
    assert (every.model, len(every.features)) == ("quick", 12)
    n = len(few.features)
    assert (few.model, few.options["n_rows"]) == ("m", 100)
    leaders = {names[at] for at in np.argsort(-every.mean)[:n]}
    assert few.features == tuple(name for name in names if name in leaders)
    assert 2 <= n < 12
    message = messages_of(result, "time_limit")[1]
    assert message.startswith(
        "Because of the time limit, permutation of features of model m was reduced to "
        f"{n} of 12 features, those that lead the permutation importance of model quick"
    )
    assert message.endswith("there was no time to rank all by this one.")
    assert message in page(result)


def test_what_a_limit_cut_and_what_it_costs_is_said(monkeypatch):
    slow = Slow(monkeypatch, seconds=1.0)
    result = slow.audited(PERMUTED, CURVES, minutes=2)
    permuted, message = result.importances[0], messages_of(result, "time_limit")[0]
    assert permuted.n_repeats == 4
    assert message == (
        "Because of the time limit, permutation of features of model m was repeated 4 "
        "times instead of 40. An interval over 4 repeats is about 5.0 times as wide as "
        "one over 40."
    )
    assert message in page(result)


def test_a_limit_that_all_measures_fit_into_cuts_nothing(monkeypatch):
    slow = Slow(monkeypatch, seconds=0.01)
    result = slow.audited(PERMUTED, CURVES, PAIRS, minutes=10)
    assert messages_of(result, "time_limit") == []
    assert [len(r.features) for r in result.importances] == [12, 12, 66]
    assert result.importances[0].n_repeats == 40


def test_pairs_are_counted_one_by_one_where_they_are_few_and_at_most_where_many():
    draws = np.random.default_rng(1)
    entry = {"method": "h_statistic", "of": "pairs", "n_rows": None}

    def counted(n_columns):
        X = pd.DataFrame(
            {f"x{k}": draws.integers(0, 3 + k % 40, 60) for k in range(n_columns)}
        )
        data = dataset(X, draws.normal(size=60), name="rows", task="regression")
        names = data.features
        model = wrap(lambda X: X["x0"], name="m", task="regression", features=names)
        (section,) = parse_config({"importance": [entry]}).importance
        rows = rows_for(section, None, data, groups={})
        sets = [(name,) for name in X] + list(rows.groups.values())
        true = sum(len(X[list(names)].drop_duplicates()) for names in sets)
        return count_calls(section, model, rows), true

    few, true = counted(12)
    assert few == true
    many, true = counted(70)  # 2 415 pairs
    assert true < many < 2415 * 60 + 70 * 60
