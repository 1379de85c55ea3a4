"""Claims about the records: frozen, and every view follows from what was measured."""

from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pandas as pd
import pytest
from tests.known_answers import logistic_model
from tests.report.made_records import made_effect, made_importance, made_run

from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.records.finding import Finding
from importance_audit.records.result import AuditResult

RAW = np.array([[3.0, 6.0], [2.0, 2.0], [1.0, 5.0]])
BASELINE = np.array([1.0, 3.0])


def importance(**changes):
    options = {"n_repeats": 2, "n_rows": None}
    record = made_importance("forest", "abc", np.zeros(3), options=options, repeats=2)
    usual = {"stream": "numpy", "raw": RAW, "baseline": BASELINE}
    return replace(record, **(usual | changes))


def effect(**changes):
    usual = {"options": {"grid": "even"}, "grid": np.arange(2.0), "values": np.ones(2)}
    return replace(made_effect("forest", "a"), **(usual | changes))


def result(verdicts=(), findings=(), *, fail_on="failure", **run):
    """Return a result: pairs of these verdicts, findings of (check, severity)."""
    pairs = pd.DataFrame({"engine_a": "python", "verdict": list(verdicts)})
    records = tuple(
        Finding(check=check, severity=severity, subject="s", message="m")
        for check, severity in findings
    )
    info = replace(made_run(), config={"fail_on": fail_on}, **run)
    return AuditResult(run=info, findings=records, agreement=pairs)


@pytest.mark.parametrize("record", [importance(), effect(), normal_data(2, 1)])
def test_a_record_cannot_be_changed(record):
    name = fields(record)[0].name
    with pytest.raises(FrozenInstanceError):
        setattr(record, name, "other")


def test_what_a_record_holds_are_read_only_copies():
    raw, options, features = RAW.copy(), {"n_rows": None}, ["a", "b", "c"]
    record = importance(raw=raw, options=options, features=features)
    raw[0, 0], options["n_rows"], features[0] = 99.0, 5, "z"
    assert record.raw[0, 0] == 3.0
    assert dict(record.options) == {"n_rows": None}
    assert record.features == ("a", "b", "c")
    with pytest.raises(ValueError, match="read-only"):
        record.raw[0, 0] = 99.0
    with pytest.raises(TypeError):
        record.options["n_rows"] = 5


@pytest.mark.parametrize(
    ("form", "aggregator", "values"),
    [
        ("difference", "mean", [[2, 3], [1, -1], [0, 2]]),
        ("ratio", "mean", [[3, 2], [2, 2 / 3], [1, 5 / 3]]),
        ("ratio", "pooled", [[1.5, 3], [1, 1], [0.5, 2.5]]),
        ("raw", "mean", [[3, 6], [2, 2], [1, 5]]),
    ],
)
def test_the_form_says_how_values_follow_from_what_was_measured(
    form, aggregator, values
):
    record = importance(form=form, aggregator=aggregator)
    assert record.values == pytest.approx(np.array(values))
    assert record.mean == pytest.approx(np.mean(values, axis=1))


@pytest.mark.parametrize("form", ["raw", "difference", "ratio"])
def test_forms_rank_alike_over_a_constant_baseline_above_zero(form):
    record = importance(form=form, baseline=np.full(2, 0.5))
    assert record.rank.tolist() == [1, 3, 2]  # means of 4.5, 2 and 3


@pytest.mark.filterwarnings("error")
def test_an_infinite_loss_above_an_infinite_baseline_is_no_number():
    record = importance(raw=np.full((3, 2), np.inf), baseline=np.full(2, np.inf))
    assert np.isnan(record.mean).all()
    signed = importance(form="absolute", raw=-RAW, baseline=np.zeros(2))
    assert signed.values == pytest.approx(RAW)  # shown by their size


def test_the_median_of_an_even_number_of_repeats_is_half_way():
    record = of_form_raw([[1.0, 2.0, 4.0, 9.0]], aggregator="median")
    assert record.mean.tolist() == [3.0]


def test_the_spread_has_one_degree_of_freedom_less_than_repeats():
    record = importance()
    spread = [np.sqrt(0.5), np.sqrt(2), np.sqrt(2)]
    assert record.std == pytest.approx(spread)
    assert record.std_error == pytest.approx(np.array(spread) / np.sqrt(2))


def test_one_draw_has_no_spread_and_where_nothing_is_drawn_nothing_varies():
    drawn = importance(raw=RAW[:, :1], baseline=BASELINE[:1])
    assert np.isnan(drawn.std).all()
    exact = replace(drawn, stream="")
    assert exact.std.tolist() == exact.std_error.tolist() == [0.0, 0.0, 0.0]


def of_form_raw(raw, **changes):
    """Return a record of a row per feature, as it was measured."""
    names = tuple("abcde"[: len(raw)])
    facts = {"features": names, "columns": tuple((name,) for name in names)}
    facts |= {"raw": np.array(raw), "baseline": np.zeros(len(raw[0])), "form": "raw"}
    return importance(**facts | changes)


def test_ranks_start_at_the_largest_mean_and_average_ties():
    record = of_form_raw([[2.0], [5.0], [2.0], [np.nan], [-1.0]])
    assert record.rank == pytest.approx([2.5, 1.0, 2.5, np.nan, 4.0], nan_ok=True)


DEFINING = [
    {"method": "drop_column"},
    {"of": "groups"},
    {"form": "raw"},
    {"loss": "mae"},
    {"scale": "link"},
    {"positive_class": "yes"},
    {"split": "train"},
    {"n_samples": 11},
    {"options": {"n_rows": 5}},
]


def test_what_defines_a_quantity_is_in_its_estimand():
    for one in DEFINING:
        assert importance(**one).estimand != importance().estimand


SAME = [
    {"model": "other"},
    {"engine": "vip"},
    {"seed": 2},
    {"stream": "DALEX"},
    {"options": {"n_repeats": 9, "n_rows": None}},
    {"raw": RAW + 1},
    {"aggregator": "pooled"},
]


def test_who_measured_how_often_defines_no_quantity():
    for one in SAME:
        assert importance(**one).estimand == importance().estimand
    ratio = importance(form="ratio")  # which its aggregator defines
    assert replace(ratio, aggregator="pooled").estimand != ratio.estimand


def test_the_feature_and_the_options_define_a_curve():
    others = [{"feature": "b"}, {"options": {"grid": "quantile"}}, {"scale": "link"}]
    assert all(effect(**other).estimand != effect().estimand for other in others)
    assert effect(grid=np.array([0.0, 2.0])).estimand == effect().estimand


def test_a_model_says_one_number_or_one_per_class():
    binary = logistic_model(1.0)
    assert linear_model(1.0).outputs == ("",)
    assert binary.outputs == ("yes",)
    assert replace(binary, task="multiclass").outputs == ("no", "yes")


def test_rows_are_weighted_if_any_weighs_more_than_another():
    data = normal_data(2, 1)
    assert not data.is_weighted
    assert not replace(data, weights=np.full(200, 3.0)).is_weighted
    assert replace(data, weights=np.arange(200.0)).is_weighted


def test_rows_asked_in_groups_are_the_same_rows():
    data = normal_data(2, 1)
    both = data.with_groups({"both": ("x1", "x2")})
    assert (dict(both.groups), both.features) == ({"both": ("x1", "x2")}, ("x1", "x2"))
    assert dict(data.groups) == {"x1": ("x1",), "x2": ("x2",)}


REPLAYED = {"verdicts": ["replayed"]}
FAILURES = [("method_failed", "failure"), ("a", "failure")]
EXCEPTIONS = "confirmed with exceptions"


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ({"verdicts": ["replayed", "comparable"]}, "confirmed"),
        ({"verdicts": ["equivalent", "not compared"]}, "confirmed"),
        (REPLAYED | {"findings": [("a", "info")]}, "confirmed"),
        ({}, "not cross-checked"),
        ({"verdicts": ["comparable"]}, "not cross-checked"),
        ({"verdicts": ["replayed", "disagrees"]}, EXCEPTIONS),
        (REPLAYED | {"findings": [("engine_missing", "info")]}, EXCEPTIONS),
        (REPLAYED | {"findings": [("a", "warning")]}, EXCEPTIONS),
        ({"findings": FAILURES}, "not established"),
    ],
)
def test_the_verdict_follows_from_pairs_and_findings(parts, verdict):
    assert result(**parts).verdict == verdict


WORSE = [
    ({"findings": [("a", "failure")]}, "not confirmed"),
    ({"findings": [("a", "warning")], "fail_on": "warning"}, "not confirmed"),
    ({"findings": [("method_failed", "failure")]}, "not established"),
    ({"status": "interrupted"}, "not established"),
    ({"findings": [("disagreement", "failure")]}, "not confirmed"),
]


@pytest.mark.parametrize(("parts", "verdict"), WORSE)
@pytest.mark.parametrize("pairs", [[], ["replayed"], ["replayed", "disagrees"]])
def test_an_engine_that_is_missing_hides_no_worse_news(parts, verdict, pairs):
    missing = [("engine_missing", "info")]
    for findings in (missing + parts.get("findings", []), parts.get("findings", [])):
        all_parts = {**parts, "verdicts": pairs, "findings": findings}
        assert result(**all_parts).verdict == verdict


@pytest.mark.parametrize(
    ("subject", "verdict"),
    [("audit", "not established"), ("m, permutation of features", EXCEPTIONS)],
)
def test_a_time_limit_that_left_a_question_open_confirms_nothing_but_fewer_repeats_do(
    subject, verdict
):
    cut = Finding(check="time_limit", severity="warning", subject=subject, message="m")
    assert result(**REPLAYED).with_findings((cut,)).verdict == verdict


def test_two_engines_of_others_confirm_nothing_of_ours():
    pairs = pd.DataFrame({"engine_a": ["DALEX"], "verdict": ["equivalent"]})
    only_theirs = replace(result(), agreement=pairs)
    assert only_theirs.verdict == "not cross-checked"


def test_more_findings_change_nothing_else():
    before = result(["replayed"], [("a", "info")])
    finding = Finding(check="b", severity="failure", subject="s", message="m")
    after = before.with_findings((finding,))
    assert [one.check for one in before.findings] == ["a"]
    assert after.findings == (*before.findings, finding)
    assert after.agreement is before.agreement


def test_the_error_of_a_pooled_ratio_knows_that_its_terms_share_rows():
    # raw is a fixed multiple of the baseline of its repeat: the ratio never varies.
    baseline = np.array([1.0, 2.0, 4.0])
    pooled = {"form": "ratio", "aggregator": "pooled", "baseline": baseline}
    shared = of_form_raw(np.outer([1.5, 3.0], baseline), **pooled)
    np.testing.assert_allclose(shared.mean, [1.5, 3.0])
    np.testing.assert_allclose(shared.std, [0.0, 0.0], atol=1e-15)


def test_a_record_says_how_many_rows_are_behind_each_number():
    for options, n_drawn in (({}, 40), ({"n_rows": None}, 40), ({"n_rows": 7}, 7)):
        record = importance(options=options, n_samples=40)
        assert (record.n_samples, record.n_drawn) == (40, n_drawn)


def test_the_first_repeats_and_some_rows_of_a_record_are_its_numbers():
    raw, baseline = np.arange(6.0).reshape(2, 3), np.array([1.0, 3.0, 2.0])
    record = of_form_raw(raw, baseline=baseline)
    first = record.first(2)
    assert (first.raw.tolist(), first.baseline.tolist()) == ([[0, 1], [3, 4]], [1, 3])
    other = record.rows([1])
    assert (other.features, other.mean.tolist()) == (("b",), [record.mean[1]])
    assert record.rows([]).features == ()
