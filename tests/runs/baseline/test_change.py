"""What differs between two runs, and what moved: closed forms and plain cases."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from tests.report.made_records import made_importance, made_run
from tests.report.made_variants import RESULTS, plain_result, result_of

from importance_audit.runs.baseline.change import compare_runs
from importance_audit.runs.baseline.differences import Difference

NAMES = ("a", "b", "c")
NOTHING = "no evidence of change"


def run_of(means, *, draw=7, sd=1.0, names=NAMES, **changes):
    """Return a result with one ranking of these means over ten repeats."""
    record = made_importance(
        "forest", names, means, sd=sd, baseline=50.0, stream="numpy", draw=draw
    )
    return plain_result(names, importances=(record,), **changes)


OLD = run_of([30, 20, 10])


def words(old, new, **options):
    (question,) = compare_runs(old, new, **options).questions
    return {row.feature: row.outcome for row in question.features}


@pytest.mark.parametrize("name", RESULTS)
def test_a_run_held_against_itself_shows_no_change(name):
    change = compare_runs(result_of(name), result_of(name))
    assert (change.differences, change.checks, change.unmatched) == ((), (), ((), ()))
    rows = [row for question in change.questions for row in question.features]
    outcomes = {row.outcome for row in rows if not np.isnan(row.old)}
    assert outcomes <= {"no evidence of change"}


def test_the_band_is_welchs_interval_for_all_features_together():
    new = run_of([30, 20, 10], draw=8, sd=3.0)
    (question,) = compare_runs(OLD, new).questions
    one, other = OLD.importances[0].values[0], new.importances[0].values[0]
    parts = np.array([one.var(ddof=1), other.var(ddof=1)]) / 10
    degrees = parts.sum() ** 2 / (parts**2 / 9).sum()
    half = stats.t.ppf(1 - 0.01 / 2 / 3, degrees) * np.sqrt(parts.sum())
    assert question.features[0].band == pytest.approx(half, rel=1e-12)


def test_neighbours_that_swap_within_their_bands_changed_rank_by_noise():
    outcomes = words(run_of([30, 20.1, 20]), run_of([30, 20, 20.1], draw=8))
    assert outcomes["b"] == outcomes["c"] == "rank moved within noise"


def test_a_rank_that_others_moved_is_not_said_to_be_noise():
    (question,) = compare_runs(OLD, run_of([2, 20, 10], draw=8)).questions
    rows = {row.feature: row for row in question.features}
    ranks = {name: (row.rank_old, row.rank_new) for name, row in rows.items()}
    assert ranks == {"a": (1, 3), "b": (2, 1), "c": (3, 2)}
    outcomes = [rows[name].outcome for name in "abc"]
    assert outcomes == ["moved", NOTHING, NOTHING]


def test_a_single_draw_has_no_spread_that_could_tell_a_movement_from_noise():
    def once(means):
        result = run_of([3, 2, 1])
        raw = 50.0 + np.array(means)[:, np.newaxis]
        record = replace(result.importances[0], raw=raw, baseline=np.array([50.0]))
        return replace(result, importances=(record,))

    outcomes = words(once([30.0, 20.0, 10.0]), once([5.0, 40.0, 10.0]))
    assert outcomes["a"] == outcomes["b"] == "not comparable"
    assert outcomes["c"] == "no evidence of change"


def test_other_repeats_are_the_same_question_if_each_run_asks_it_once():
    def repeats(n):
        result = run_of([30, 20, 10], draw=n)
        (one,) = result.importances
        parts = {"raw": one.raw[:, :n], "baseline": one.baseline[:n]}
        record = replace(one, options={**one.options, "n_repeats": n}, **parts)
        return replace(result, importances=(record,))

    change = compare_runs(repeats(5), repeats(10))
    assert change.unmatched == ((), ())
    assert {row.outcome for row in change.questions[0].features} == {NOTHING}
    both = replace(
        repeats(5), importances=(*repeats(5).importances, *repeats(8).importances)
    )
    assert compare_runs(both, repeats(10)).unmatched == ((0, 1), (0,))
    assert compare_runs(both, repeats(8)).unmatched == ((0,), ())


def test_other_predictions_for_other_rows_are_no_other_model():
    old = replace(OLD, models=OLD.models.assign(predictions_sha256="c" * 64))
    assert compare_runs(OLD, old).areas == frozenset()  # cut short, it has no digest
    data, models = old.datasets.copy(), old.models.copy()
    data.loc[data["split"] == "test", "sha256"] = "f" * 64
    models["predictions_sha256"] = "e" * 64
    new = replace(old, datasets=data, models=models)
    assert compare_runs(old, new).areas == {"data"}
    assert compare_runs(old, replace(new, datasets=old.datasets)).areas == {"model"}
    data.loc[data["split"] == "train", "sha256"] = "d" * 64
    assert compare_runs(old, new).areas == {"data", "model"}


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ({}, {"seed": 43}, Difference("seed", "seed", "42", "43")),
        (
            {"checks": {}},
            {"checks": {"dependence": 0.99}},
            Difference("limits", "checks.dependence", "", "0.99"),
        ),
        (
            {"limits": {"minutes": None}},  # not set: an empty side
            {"limits": {"minutes": 5.0}},
            Difference("configuration", "limits.minutes", "", "5.0"),
        ),
        (
            {"groups": {}},  # which says nothing
            {"groups": {"g": ["a", "b"]}},
            Difference("configuration", "groups.g", "", "a, b"),
        ),
        (
            {"importance": [{"engines": []}]},
            {"importance": [{"engines": ["vip"]}]},
            Difference("configuration", "importance[1].engines", "none", "vip"),
        ),
        ({}, {"report": {"owner": "another"}, "execution": {"n_jobs": 4}}, None),
    ],
)
def test_settings_that_differ_are_listed_but_no_texts_of_the_report_and_no_workers(
    before, now, expected
):
    """Seed and limits explain no movement."""
    old, new = (
        replace(OLD, run=made_run(OLD.run.audit, config={**OLD.run.config, **more}))
        for more in (before, now)
    )
    change = compare_runs(old, new)
    assert change.differences == ((expected,) if expected else ())
    assert change.is_noise_only == (not change.areas & {"configuration"})


def test_a_movement_that_is_too_small_to_count_is_said_to_be_so():
    new = run_of([30, 26, 10], draw=8)
    assert words(OLD, new) == {"a": NOTHING, "b": "moved", "c": NOTHING}
    assert words(OLD, new, minimum=0.21)["b"] == "below the minimum"
    assert words(OLD, new, minimum=0.19)["b"] == "moved"


@pytest.mark.parametrize(
    ("changes", "outcomes"),
    [
        ({"n_samples": 10_000}, {}),  # other data, and no other definition
        (
            {"columns": (("a", "x"), ("b",), ("c",))},
            {"a": "not comparable"},  # a group of other columns is another group
        ),
        (
            {"features": ("a", "b", "d"), "columns": (("a",), ("b",), ("d",))},
            {"c": "gone", "d": "new"},
        ),
    ],
)
def test_a_feature_is_compared_with_that_of_its_name_and_columns(changes, outcomes):
    new = replace(OLD, importances=(replace(OLD.importances[0], **changes),))
    assert words(OLD, new) == {**dict.fromkeys("abc", NOTHING), **outcomes}


def test_without_draws_any_difference_beyond_rounding_is_a_movement():
    def fixed(means):
        raw = {"raw": np.array(means)[:, np.newaxis], "baseline": np.zeros(1)}
        result = run_of([3, 2, 1])
        record = replace(result.importances[0], stream="", form="raw", **raw)
        return replace(result, importances=(record,))

    outcomes = words(fixed([3.0, 2.0, 1.0]), fixed([3.0, 2.0 + 1e-12, 1.0 + 1e-6]))
    assert outcomes["b"] == "no evidence of change"
    assert outcomes["c"] == "moved"


def test_another_definition_is_not_compared_and_its_fields_are_named():
    other = replace(OLD.importances[0], split="train", scale="probability")
    (question,) = compare_runs(OLD, replace(OLD, importances=(other,))).questions
    assert question.why_not == "scale, split"
    assert {row.outcome for row in question.features} == {"not comparable"}


def test_a_question_of_one_run_only_is_told_by_its_record():
    other = replace(OLD.importances[0], options={"n_rows": 5})
    change = compare_runs(OLD, replace(OLD, importances=(other,)))
    assert change.unmatched == ((0,), (0,))
    assert change.questions == ()


@pytest.mark.parametrize(
    ("frame", "column", "value", "area", "what"),
    [
        ("datasets", "rows", 11, "data", "train rows"),
        ("datasets", "sha256", "f" * 64, "data", "train digest"),
        ("models", "parameters", "{}", "model", "forest, parameters"),
        ("columns", "kind", "category", "data", "column a, kind"),
    ],
)
def test_other_rows_or_models_are_more_than_noise(frame, column, value, area, what):
    table = getattr(OLD, frame).copy()
    table[column] = table[column].astype(object)
    table.loc[0, column] = value
    change = compare_runs(OLD, replace(OLD, **{frame: table}))
    assert [(one.area, one.what) for one in change.differences] == [(area, what)]
    assert change.differences[0].new == str(value)
    assert not change.is_noise_only


def test_checks_are_told_where_their_verdict_is_another_one():
    old = result_of("apartments")
    checks = old.checks.copy()
    checks.loc[0, "verdict"] = "fail"
    new = replace(old, checks=checks.drop(index=1).reset_index(drop=True))
    assert [one[2:] for one in compare_runs(old, new).checks] == [
        ("pass", "fail"),
        ("pass", ""),
    ]
