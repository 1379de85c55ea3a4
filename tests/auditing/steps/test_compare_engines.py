"""What the table of thresholds says of pairs: one row per check, with its limit."""

import pytest
from tests.report.made_records import made_pair

from importance_audit.auditing.steps.compare_engines import pair_rows
from importance_audit.config.settings import ChecksSection


def pair(verdict, **fields):
    """Return a row of the agreement as the audit keeps it."""
    own = {"supplied_by": ("", ""), "options": ""}
    return made_pair("forest", verdict, **own, **fields)


def verdicts_by_check(row, limits=None):
    """Return by check what was observed, the limit, who set it, and the verdict."""
    names = ("observed", "threshold", "set_by", "verdict")
    rows = pair_rows([row], limits or ChecksSection())
    return {r["check"]: tuple(r[name] for name in names) for r in rows}


def test_a_pair_inside_its_band_passes_by_definition():
    rows = verdicts_by_check(pair("replayed"))
    assert rows["disagreement"] == (0.0, 0.0, "definition", "pass")
    assert rows["rank_shift"] == (0.0, 2.0, "default", "pass")


@pytest.mark.parametrize(
    ("cause", "verdict"), [("not explained", "fail"), ("data", "warn")]
)
def test_a_pair_outside_its_band_fails_unless_its_cause_is_known(cause, verdict):
    row = pair("disagrees", n_outside=3, cause=cause)
    assert verdicts_by_check(row)["disagreement"] == (3.0, 0.0, "definition", verdict)


def test_a_pair_that_nobody_compared_was_not_run_and_has_no_shift():
    rows = verdicts_by_check(pair("not compared"))
    assert rows == {"disagreement": ("not compared", 0.0, "definition", "not run")}


def test_a_comparable_pair_is_judged_by_its_ranks_alone():
    rows = verdicts_by_check(pair("comparable", max_rank_shift=3.0))
    assert rows["disagreement"][-1] == "not run"
    assert rows["rank_shift"] == (3.0, 2.0, "default", "warn")


def test_a_limit_of_the_configuration_names_its_key():
    rows = verdicts_by_check(pair("replayed"), ChecksSection(max_rank_shift=4))
    assert rows["rank_shift"][2] == "[checks] max_rank_shift"


def test_a_check_of_a_pair_is_about_what_its_finding_is_about():
    (row, _) = pair_rows([pair("replayed")], ChecksSection())
    assert row["subject"] == "forest, permutation, features, rmse: python and DALEX"
    curve = {"method": "partial_dependence", "of": "", "loss": "", "feature": "age"}
    (row, _) = pair_rows([pair("replayed") | curve], ChecksSection())
    assert row["subject"] == "forest, partial_dependence, age: python and DALEX"
