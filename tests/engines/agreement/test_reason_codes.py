"""Claims about reasons: which are seen in two records, and what they permit."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from tests.engines.agreement.sides import (
    LIMITS,
    LOSSES,
    importance,
    noisy_losses,
    outcome,
    peer_importance,
    row_of,
)

from importance_audit.engines.agreement import compare, findings_of
from importance_audit.engines.agreement import reasons as reason_codes


def touch(effect, name="X"):
    return SimpleNamespace(id=name, text=f"{name} is so.", effect=effect)


def test_a_median_is_taken_anew_as_a_mean_where_the_repeats_are_known():
    finished = peer_importance(LOSSES - 10, baseline=0.0, aggregator="median")
    assert outcome(importance(), finished) == (
        "equivalent",
        "REAGGREGATED: repeats computed as mean are aggregated as median",
    )
    lone = peer_importance([[2.5], [0.1]], baseline=0.0, aggregator="median")
    verdict, reasons = outcome(importance(), lone)
    assert (verdict, "AGGREGATOR: repeats are" in reasons) == ("comparable", True)


@pytest.mark.parametrize(
    ("stream", "code"),
    [("iml", "PERM_SCHEME (equal in law)"), ("scikit-learn", "SHARED_SHUFFLE")],
)
def test_what_a_stream_shuffles_is_equivalent_at_best(stream, code):
    ours, other = noisy_losses([5, 3, 0], 0.05), noisy_losses([5, 3, 0], 0.05, seed=1)
    verdict, reasons = outcome(importance(ours), peer_importance(other, stream=stream))
    assert (verdict, f"; {code}: " in reasons) == ("equivalent", True)


def of_groups(options=None, raw=LOSSES):
    """Return two importances of groups, in one stream: ours, and xplainfi's."""
    columns, options = (("x1", "x3"), ("x2",)), options or {"n_rows": None}
    fields = {"of": "groups", "columns": columns, "options": options}
    fields |= {"stream": "xplainfi"}
    return importance(**fields), peer_importance(raw, **fields, engine="xplainfi")


def test_groups_whose_columns_move_one_by_one_are_comparable_and_no_more():
    ours, theirs = of_groups(raw=LOSSES + 9)
    row, _ = compare(ours, theirs, **LIMITS)
    assert (row["verdict"], row["cause"]) == ("comparable", "")
    assert row["reasons"] == (
        "GROUP_SEMANTICS (apart): the columns of a group are permuted together and "
        "each by itself"
    )
    supplied = {"engine": "xplainfi 1.2.0 (supplied)", "supplied_by": "xplainfi"}
    assert "GROUP_SEMANTICS (apart)" in outcome(ours, replace(theirs, **supplied))[1]


def test_what_xplainfi_draws_together_or_of_one_column_is_replayed():
    for within in ("gaussian", "neighbours"):
        assert outcome(*of_groups({"within": within})) == ("replayed", "")
    for of in ("features", "groups"):
        fields = {"of": of, "stream": "xplainfi"}
        theirs = peer_importance(**fields, engine="xplainfi")
        assert outcome(importance(**fields), theirs) == ("replayed", "")


def test_a_group_is_its_columns_in_any_order():
    ours, theirs = of_groups({"within": "gaussian"})
    turned = replace(theirs, columns=(("x3", "x1"), ("x2",)))
    assert outcome(ours, turned) == ("replayed", "")
    smaller = replace(theirs, columns=(("x1",), ("x2",)))
    reasons = "GROUP_SEMANTICS: the columns differ in 'x1'"
    assert outcome(ours, smaller) == ("comparable", reasons)


@pytest.mark.parametrize("code", ["TIE_MERGE", "TEXT_ROUNDING", "PRED_RNG"])
def test_what_no_stream_of_ours_repeats_is_held_to_the_band(code):
    ours, other = noisy_losses([5, 3, 0], 0.05), noisy_losses([5, 3, 0], 0.05, seed=1)
    sides = importance(ours), peer_importance(other)
    assert row_of(*sides)["verdict"] == "disagrees"
    verdict, reasons = outcome(*sides, touches=(touch(code),))
    assert (verdict, f"{code}: " in reasons) == ("equivalent", True)


def test_a_version_not_tried_is_the_cause_unless_a_fault_is_known():
    newer, fault = touch("NEWER_VERSION", "vip 0.9"), touch("", "VIP-X")
    row, rows = compare(
        importance(), peer_importance(LOSSES + 1), **LIMITS, touches=(newer,)
    )
    assert {(r["cause"], r["evidence"]) for r in rows} == {("newer version", "vip 0.9")}
    (finding,) = findings_of([row])
    assert finding.severity == "failure"
    assert finding.remedy == (
        "Use a tested version, or check the new one against the definition first."
    )
    row = row_of(importance(), peer_importance(LOSSES + 1), touches=(newer, fault))
    assert row["cause"] == "known defect"


def test_the_codes_of_a_text_are_those_that_were_written_whatever_it_says():
    why = [
        reason_codes.count_outside(1, 2, "data"),
        ("UPSTREAM_DEFECT", "one thing; LOSS of another: REPEATS (wide): no"),
        ("REPEATS (wide)", "the band is too wide: 1, with a largest mean of 2"),
    ]
    written = reason_codes.text(why)
    assert reason_codes.why_of(written) == why
    assert reason_codes.codes_of(written) == ("UPSTREAM_DEFECT", "REPEATS (wide)")
    assert reason_codes.codes_of("vip has no groups; see REPEATS (wide): none") == ()
    assert reason_codes.why_of("") == []
