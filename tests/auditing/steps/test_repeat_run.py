"""Claims about second runs: noise is told from a cause, and the first numbers stay."""

from dataclasses import replace

import numpy as np
import pytest

from importance_audit.auditing.journal import Journal
from importance_audit.auditing.measure import Question, importances
from importance_audit.auditing.steps import Run
from importance_audit.auditing.steps.repeat_run import SecondRun, settle
from importance_audit.config.load import parse_config
from importance_audit.engines import ENGINES, EngineInfo
from importance_audit.engines.agreement import compare, findings_of
from importance_audit.methods.importance import METHODS
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.known_answers import linear_model, normal_data

LIMITS = {"resolution": 0.5, "max_rank_shift": 2, "top_k": 3}
ENTRY = {"method": "permutation", "n_repeats": 8, "losses": ["mse"]}
US = EngineInfo("python", True, "1", "numpy", "")
OTHER = EngineInfo("other", True, "1", "vip-0.5", "")


def honest(model, data, *, seed, n_repeats=10, n_rows=None):
    """Return what another engine measures."""
    options = {"stream": "vip-0.5", "n_repeats": n_repeats, "n_rows": n_rows}
    return permutation(model, data, seed=seed, **options)


def biased(model, data, *, seed, n_repeats=10, n_rows=None):
    """Return what an engine measures that adds five to each loss of x1."""
    raw, baseline = honest(model, data, seed=seed, n_repeats=n_repeats, n_rows=n_rows)
    return raw + np.array([5.0, 0.0])[:, None, None], baseline


def second_run(monkeypatch, function=honest, journal=None, **checks):
    """Return who asks again where another engine measures by `function`."""
    method = METHODS["permutation"]._replace(function=function)
    table = {"importance": {"permutation": method}, "effects": {}}
    monkeypatch.setitem(ENGINES, "other", table)
    journal = journal or Journal()
    run = Run(
        journal=journal,
        config=parse_config({"importance": [ENTRY], "seed": 5, "checks": checks}),
        train=None,
        test=normal_data(2, 1),
        models=(linear_model(2, 1),),
        engines={"python": US, "other": OTHER},
    )
    return SecondRun(run=run)


def first_run(second, *, off=0.0):
    """Return both first answers; that of the other lies `off` higher for x1."""
    run = second.run
    (entry,) = run.config.importance
    question = Question(run.models[0], run.test, entry, US)
    (ours,) = importances(question, seed=1, stream="numpy")
    reference_question = replace(question, engine=OTHER)
    (reference,) = importances(reference_question, seed=2, stream="vip-0.5")
    return ours, replace(reference, raw=reference.raw + np.array([[off], [0.0]]))


def settle_first_run(second, *, off):
    pair = first_run(second, off=off)
    row, rows = compare(*pair, **LIMITS)
    return (row, rows), settle(second, pair, row, rows)


def test_a_difference_that_a_second_run_does_not_show_is_noise(monkeypatch):
    (row, rows), (new_row, new_rows) = settle_first_run(
        second_run(monkeypatch), off=5.0
    )
    assert (row["verdict"], row["cause"]) == ("disagrees", "not explained")
    assert (new_row["verdict"], new_row["cause"]) == ("equivalent", "")
    assert new_row["reasons"].startswith(
        "REPEAT_RUN: outside the band at first, all inside it in a run with 32 and 32 "
        "repeats; STREAM: "
    )
    assert [r["cause"] for r in new_rows] == ["noise"]
    assert findings_of([new_row]) == ()
    first = ("value_a", "value_b", "difference", "band", "inside")
    assert [new_rows[0][k] for k in first] == [rows[0][k] for k in first]


def test_a_difference_that_a_second_run_shows_again_is_no_noise(monkeypatch):
    second = second_run(monkeypatch, biased)
    _, (new_row, new_rows) = settle_first_run(second, off=0.0)
    assert (new_row["verdict"], new_row["cause"]) == ("disagrees", "implementation")
    assert "1 of 2 outside, cause: implementation; STREAM" in new_row["reasons"]
    assert "REPEAT_RUN: 1 of 2 outside in a run with 32 and 32" in new_row["reasons"]
    ((feature, cause, evidence),) = [
        (r["feature"], r["cause"], r["evidence"]) for r in new_rows
    ]
    assert (feature, cause) == ("x1", "implementation")
    assert evidence.startswith("difference -")
    assert evidence.endswith(" in a run with 32 repeats")


def test_who_is_not_there_any_more_leaves_the_pair_unexplained(monkeypatch):
    second = second_run(monkeypatch)
    second.run.engines.pop("other")
    first, after = settle_first_run(second, off=5.0)
    assert after == first


def test_an_engine_that_fails_the_second_time_is_a_finding(monkeypatch):
    journal = Journal()
    asked = []

    def tires(*data, n_repeats=10, n_rows=None, **options):
        asked.append(n_repeats)
        if len(asked) > 1:
            raise RuntimeError("no more")
        return honest(*data, n_repeats=n_repeats, n_rows=n_rows, **options)

    second = second_run(monkeypatch, tires, journal=journal)
    first, after = settle_first_run(second, off=5.0)
    assert after == first
    (finding,) = journal.findings
    assert finding.message == ("The repeat run of permutation by other failed: no more")


@pytest.mark.parametrize(
    ("repeat_run", "cause", "reasons", "expected"),
    [
        ("disagreement", "not explained", "", True),
        ("disagreement", "implementation", "", False),
        ("disagreement", "", "REPEATS (wide): the band", False),
        ("unresolved", "", "REPEATS (wide): the band", True),
        ("unresolved", "not explained", "", True),
        ("never", "not explained", "", False),
    ],
)
def test_the_configuration_says_which_pairs_are_asked_again(
    monkeypatch, repeat_run, cause, reasons, expected
):
    second = second_run(monkeypatch, repeat_run=repeat_run)
    row = {"kind": "importance", "cause": cause, "reasons": reasons}
    assert second.wants(row) is expected
    assert not second.wants(row | {"kind": "effect"})


@pytest.mark.parametrize(
    ("resolution", "other", "verdict", "said"),
    [
        (0.01, "", "equivalent", "REPEAT_RUN: too wide a band at first, all inside"),
        (1e-6, "", "comparable", "32 and 32 repeats; REPEATS (wide): the band is"),
        # It lifts no other reason.
        (0.01, "; NA_DROPPED: one side did not measure 'x3'", "comparable", ""),
    ],
)
def test_a_band_that_a_second_run_narrows_makes_a_pair_equivalent(
    monkeypatch, resolution, other, verdict, said
):
    limits = {**LIMITS, "resolution": resolution}
    # The second run is judged by the usual resolution, or by one that nothing meets.
    checks = {"resolution": resolution} if resolution == 1e-6 else {}
    second = second_run(monkeypatch, repeat_run="unresolved", **checks)
    pair = first_run(second)
    row, rows = compare(*pair, **limits)
    assert (row["verdict"], second.wants(row)) == ("comparable", True)
    row["reasons"] += other
    new_row, _ = settle(second, pair, row, rows)
    assert (new_row["verdict"], new_row["cause"]) == (verdict, "")
    assert said in new_row["reasons"]
    is_wide = "REPEATS (wide)" in new_row["reasons"]
    assert is_wide == (resolution == 1e-6)


def test_beside_a_feature_with_a_cause_another_may_still_be_noise(monkeypatch):
    second = second_run(monkeypatch, biased)
    ours, reference = first_run(second)
    pair = ours, replace(reference, raw=reference.raw + np.array([[0.0], [5.0]]))
    _, new_rows = settle(second, pair, *compare(*pair, **LIMITS))
    assert {r["feature"]: r["cause"] for r in new_rows} == {
        "x1": "implementation",
        "x2": "noise",
    }


def test_a_second_run_has_four_times_the_repeats_of_a_seed_of_its_own_once(monkeypatch):
    second = second_run(monkeypatch)
    ours, reference = first_run(second)
    again = second.ask(ours), second.ask(reference)
    assert [a.n_repeats for a in again] == [32, 32]
    assert len({a.seed for a in (ours, reference, *again)}) == 4
    assert [a.stream for a in again] == ["numpy", "vip-0.5"]
    assert second.ask(ours) is again[0]
