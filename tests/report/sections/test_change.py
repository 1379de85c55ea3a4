"""Section I: the why before the numbers, and one sentence that sums it up."""

import re
from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from tests.report.made_results import found
from tests.report.made_variants import configured, plain_result, result_of
from tests.report.reading import lede_of, section

from importance_audit.records.as_json import content_digest
from importance_audit.report.pages.html import section_html, to_html
from importance_audit.report.pages.plain_text import to_text
from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import Table, plain
from importance_audit.runs.signoff.answers import Accepted, Answer, with_answers
from importance_audit.runs.summary import NO_HISTORY, Approved


def section_i(result, baseline):
    return section(build_view(result, baseline=baseline), "I")


def shifted(result, feature=0, by=100.0, seed=43):
    """Return a result whose lead ranking has one feature higher by `by`."""
    record = result.importances[0]
    raw = np.array(record.raw)
    raw[feature] += by
    importances = (replace(record, raw=raw), *result.importances[1:])
    return configured(replace(result, importances=importances), seed=seed)


def blocks_of(result, baseline, kind):
    blocks = section_i(result, baseline).parts["blocks"]
    return [block for block in blocks if isinstance(block, kind)]


def test_the_lede_and_the_executive_page_count_what_moved():
    old = result_of("apartments")
    view = build_view(shifted(old), baseline=old)
    total = sum(len(r.features) for r in old.importances if r.engine == "python")
    lede = lede_of(view, "I")
    assert lede.startswith(
        f"Over all measures, 1 of {total} importances moved since the baseline"
    )
    assert plain(section(view, "B").parts["change"]) == lede


def test_the_section_begins_with_both_verdicts_and_what_accounts_for_them():
    one, other = (found("weak_model", name) for name in ("forest", "svm"))
    exception = Accepted(date(2026, 12, 31), "why", "what stands in", "A. Nowak")
    accepting = Answer(one.key[:12], exception=exception)
    plain_one = plain_result(("a", "b"), findings=(one,))

    def first(now, before):
        return plain(section_i(now, before).parts["blocks"][0])

    was = "The verdict is Calculation not cross-checked, as before."
    assert first(plain_one, plain_one) == was
    both = replace(plain_one, findings=(one, other))
    title = "Not clearly better than a constant"
    of_forest, of_svm = (
        f"{title} ({f.subject}), key {f.key[:12]}" for f in (one, other)
    )
    assert first(both, plain_one) == f"{was} New: {of_svm}."
    assert first(plain_one, both) == f"{was} No longer found: {of_svm}."
    accepted = with_answers(plain_one, [accepting])
    assert accepted.accepted
    until = "until 2026-12-31 by A. Nowak"
    since = f"{was} Accepted since: {of_forest}, {until}."
    assert first(accepted, plain_one) == since
    assert first(plain_one, accepted) == f"{was} No longer accepted: {of_forest}."
    halted = replace(plain_one, run=replace(plain_one.run, status="interrupted"))
    assert "No longer found" not in first(halted, both)  # it did not look
    right, wrong = result_of("apartments"), result_of("disagreeing")
    assert first(wrong, right).startswith(
        "The verdict was Calculation confirmed, with exceptions and is Calculation "
        "not confirmed. New: "
    )
    strict = configured(plain_one, fail_on="warning")
    assert f"Counting now: {of_forest}." in first(strict, plain_one)
    assert f"No longer counting: {of_forest}." in first(plain_one, strict)
    missing = replace(one, check="engine_missing", severity="info", subject="vip")
    without = replace(plain_one, findings=(one, missing))
    title = f"R package not available (vip), key {missing.key[:12]}"
    assert first(without, plain_one) == f"{was} New: {title}."
    assert first(plain_one, without) == f"{was} No longer found: {title}."


def test_only_the_baseline_that_was_approved_is_called_so():
    old = result_of("apartments")
    digest = content_digest(old)
    approved = Approved("r", digest, "0" * 64, "A. Miller", "2026-01-01")
    unsigned, signed = (
        section(build_view(shifted(old), baseline=old, history=history), "I")
        for history in (NO_HISTORY, NO_HISTORY._replace(baseline=approved))
    )
    assert unsigned.title == "Change since the baseline"
    assert signed.title == "Change since the approved baseline"
    baseline = plain(unsigned.parts["blocks"][1])
    assert baseline.startswith("The baseline of this comparison")
    assert plain(signed.parts["blocks"][1]).startswith("The approved baseline is ")


def test_a_movement_is_shown_with_both_numbers_and_its_band():
    old = result_of("apartments")
    table = blocks_of(shifted(old), old, Table)[1]
    record = old.importances[0]
    row = next(r for r in table.rows if plain(r.cells[0].parts) == record.features[0])
    before, now = (float(cell.exact) for cell in row.cells[1:3])
    assert now - before == pytest.approx(100.0)
    assert before == record.mean[0]
    assert plain(row.cells[-1].parts) == "moved"


def test_each_table_of_movements_counts_its_own_and_the_lede_counts_them_all():
    old = result_of("apartments")
    new = shifted(old)
    place, other = next(
        (place, record)
        for place, record in enumerate(old.importances)
        if record.method == "partial_dependence"
    )
    importances = [*new.importances]
    importances[place] = replace(other, raw=np.array(other.raw) + 100.0)
    new = replace(new, importances=tuple(importances))
    counts = [
        re.search(r"; (\d+) of (\d+) importances moved since the baseline$", caption)
        for table in blocks_of(new, old, Table)
        if "movement-" in table.id and (caption := plain(table.caption))
    ]
    assert [int(count[1]) for count in counts] == [1, 0, 0, 5]
    total = sum(int(count[2]) for count in counts)
    lede = lede_of(build_view(new, baseline=old), "I")
    assert lede.startswith(f"Over all measures, 6 of {total} importances moved since ")


def test_the_largest_movement_comes_first_though_its_feature_leads_no_more():
    names = [f"f{n:02}" for n in range(30)]
    old = plain_result(names)
    (record,) = old.importances
    raw = np.array(record.raw)
    raw[0] = raw[26]  # the leader falls to place 27
    new = replace(old, importances=(replace(record, raw=raw),))
    table = next(t for t in blocks_of(new, old, Table) if "movement" in t.id)
    features = [plain(row.cells[0].parts) for row in table.rows]
    assert features[0] == "f00"
    assert len(features) == 21
    assert plain(table.rows[0].cells[5].parts) == "1"


def test_other_rows_make_a_movement_inseparable_from_them():
    old = result_of("apartments")
    data = old.datasets.copy()
    data.loc[0, "sha256"] = "0" * 64
    lede = plain(section_i(replace(shifted(old), datasets=data), old).lede)
    assert lede.endswith("These differ too, so a movement can be due to them: data.")


def test_what_left_its_band_is_named_however_little_it_counts():
    old, new = result_of("apartments"), shifted(result_of("apartments"))
    new = configured(new, checks={"minimum_change": 10.0})
    assert "moved, below the minimum" in to_text(section_html(section_i(new, old)))


def test_a_band_where_nothing_is_drawn_is_not_said_to_be_of_repeats():
    old = result_of("apartments")
    fixed = tuple(r for r in old.importances if r.method == "impurity")
    (table,) = blocks_of(*[replace(old, importances=fixed)] * 2, Table)[1:]
    assert "Nothing is drawn at random here" in plain(table.notes[0])


@pytest.mark.parametrize("name", ["disagreeing", "interrupted", "hostile"])
def test_every_result_can_be_held_against_itself_and_another(name):
    for baseline in (result_of(name), result_of("apartments")):
        view = build_view(result_of(name), baseline=baseline)
        assert '<section id="sec-i"' in to_html(view)
