"""The key of a finding: one thing found has one key, and two things never share it."""

from dataclasses import replace

import numpy as np
import pytest
from tests.assess.measured import checked_importance
from tests.engines.agreement.test_agreement import curve
from tests.report.made_records import made_importance, made_pair

from importance_audit.assess.claims.judge import Measured
from importance_audit.assess.claims.judge import judge as judge_claims
from importance_audit.assess.claims.section import ClaimSection
from importance_audit.assess.expectations import ExpectedSection, judge
from importance_audit.assess.loss_sensitivity import compare_losses
from importance_audit.auditing.journal import Journal
from importance_audit.auditing.measure import gaps
from importance_audit.auditing.stopping import stop_of
from importance_audit.engines import agreement
from importance_audit.methods.known_answers import normal_data
from importance_audit.r_bridge.errors import RDied

ROWS = normal_data(2, 1)
WITHIN = {"n_repeats": 10, "n_rows": None, "within": "trees"}


def keys(findings):
    return {finding.key for finding in findings}


def ranking(*means, names=("x1", "x2"), **changes):
    """Return a ranking by the draws of numpy."""
    fields = {"loss": "rmse", "stream": "numpy", "sd": 0.1, **changes}
    entry_fields = {
        key: fields.pop(key) for key in ("entry", "options") if key in fields
    }
    return replace(made_importance("forest", names, means, **fields), **entry_fields)


@pytest.mark.parametrize("other", [{"entry": "second"}, {"options": WITHIN}])
def test_two_entries_of_one_method_have_findings_of_their_own(other):
    records = ranking(-3, -2), ranking(-3, -2, **other)
    findings = [f for r in records for _, f in checked_importance(r, ROWS, 1.0) if f]
    assert {f.check for f in findings} == {"event_level"}
    assert len(keys(findings)) == 2


def test_more_repeats_of_one_question_do_not_make_another_finding():
    records = ranking(-3, -2), ranking(-3, -2, options={"n_repeats": 99})
    few = replace(records[0], options={"n_repeats": 10})
    findings = [
        f for r in (few, records[1]) for _, f in checked_importance(r, ROWS, 1.0) if f
    ]
    assert len(keys(findings)) == 1


def test_pairs_of_two_entries_of_one_method_have_findings_of_their_own():
    rows = [
        made_pair("svm", "disagrees", n_outside=1, cause="data", options=options)
        | {"supplied_by": ("", "")}
        for options in ("n_repeats = 10, within = 'none'", "within = 'trees'")
    ]
    more = {**rows[0], "options": "n_repeats = 40, within = 'none'"}
    assert len(keys(agreement.findings_of(rows))) == 2
    assert len(keys(agreement.findings_of([rows[0], more]))) == 1


def test_leaders_that_the_loss_decides_in_two_entries_are_two_findings():
    def under(entry):
        losses = ranking(9, 1, entry=entry), ranking(1, 9, loss="mae", entry=entry)
        return compare_losses(losses, top_k=1)[1]

    assert len(keys([*under(""), *under("second")])) == 2


def test_an_expectation_of_all_models_is_not_that_of_one():
    expectation = {"features": ("x2",), "place": "top", "reason": "known"}
    sections = (
        ExpectedSection(**expectation),
        ExpectedSection(**expectation, model="forest"),
    )
    _, findings = judge(sections, [ranking(9, 1)], resolution=0.1)
    assert len(keys(findings)) == 2


def test_each_death_of_r_and_each_step_that_fails_is_a_finding_of_its_own():
    journal = Journal()

    def dying():
        raise RDied("out of memory")

    for question in ("permutation of features by vip", "impurity of features by vip"):
        journal.guarded("forest", question, dying)
    deaths = [f for f in journal.findings if f.check == "r_restarted"]
    stops = [stop_of(ValueError("no"), step)[1] for step in ("one", "another")]
    assert len(keys(deaths)) == len(keys(stops)) == 2


def test_levels_that_two_kinds_of_curves_lack_are_two_findings():
    values, grid = [1.0, np.nan], np.array(["a", "b"])
    fields = {"kind": "category", "grid": grid}
    curves = [curve(values, method=m, **fields) for m in ("partial_dependence", "ale")]
    assert len(keys(f for one in curves for f in gaps((one,)))) == 2


def test_claims_of_one_text_about_other_features_are_two_findings():
    claim = {"text": "leads", "kind": "leader", "method": "permutation"}
    claims = [ClaimSection(**claim, features=(name,)) for name in ("x1", "x2")]
    nothing = Measured([], [], [], [], [], seed=1)
    assert len(keys(judge_claims(claims, nothing)[1])) == 2
