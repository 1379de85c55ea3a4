"""Section O: evidence towards clauses, decided by what the report really shows."""

from dataclasses import replace

import pytest
from tests.cases import for_each
from tests.report.made_records import made_frame
from tests.report.made_variants import configured, result_of, view_of
from tests.report.reading import blocks, column, lede_of, section, table
from tests.report.sections.test_signoff import signed

from importance_audit.config.frameworks import load_frameworks
from importance_audit.report.pages.html import section_html
from importance_audit.report.pages.plain_text import to_text
from importance_audit.report.pages.view import build_view
from importance_audit.report.sections.frameworks import EVIDENCE
from importance_audit.report.text.blocks import plain
from importance_audit.report.text.wording import look_up

CLAUSES = [clause for one in load_frameworks().values() for clause in one.clauses]
RULE = (
    "This table says where to find evidence towards a clause. It is not a statement of "
    "conformity; only the institution and its supervisor can make one."
)
APRIL = "2026-04-16T08:00:00+00:00"
NBSP = "\u00a0"


def asking(*ids, name="apartments", started="", **changes):
    """Return a result whose configuration asks for frameworks."""
    result = replace(result_of(name), **changes)
    report = {**result.run.config["report"], "frameworks": ids}
    result = configured(result, report=report)
    volatile = {**result.run.volatile} | ({"started": started} if started else {})
    return replace(result, run=replace(result.run, volatile=volatile))


def evidence(view, clause):
    """Return the cell "Evidence in this report" of a clause."""
    item = table(view, f"tab-framework-{clause.split('/')[0]}")
    key = f"clause-{clause.replace('/', '-')}"
    row = next(row for row in item.rows if row.key == key)
    return plain(row.cells[2].parts).replace(NBSP, " ")


def status(view, name):
    caption = plain(table(view, f"tab-framework-{name}").caption)
    return caption.replace(NBSP, " ").split("Status on ")[1]


def test_without_a_framework_the_section_lists_those_on_offer():
    offered = ", ".join(load_frameworks())
    assert lede_of(view_of("apartments"), "O") == (
        f"No framework is configured for this run. Available: {offered}."
    )


def test_the_rule_stands_above_the_tables_of_all_that_are_asked_for():
    view = build_view(asking("sr-26-2", "nist"))
    assert lede_of(view, "O") == RULE
    ids = [block.id for block in blocks(view, "O")]
    assert ids == ["tab-framework-sr-26-2", "tab-framework-nist"]


@for_each(CLAUSES, lambda clause: clause.id)
def test_evidence_stands_in_the_sections_that_the_clause_names(clause):
    letters = {EVIDENCE[name][0] for name in clause.evidence}
    assert letters == set(clause.section)


def test_all_evidence_has_words_for_its_absence():
    assert set(look_up("frameworks.missing")) == set(EVIDENCE)


@pytest.mark.parametrize(
    ("clause", "changes", "text"),
    [
        (
            "sr-26-2/V-soundness",
            {"name": "one feature"},
            "partly, because no second implementation was compared; see section Method",
        ),
        (
            next(clause.id for clause in CLAUSES if clause.evidence == ("checks",)),
            {"checks": made_frame("checks")},
            "not shown, because no check was made",
        ),
        (
            "eu-ai-act/12",  # what no report can show
            {},
            "partly, because the report records the audit, not the operation of the "
            "system; see section Provenance",
        ),
    ],
)
def test_evidence_that_this_run_lacks_is_named_with_the_reason(clause, changes, text):
    view = build_view(asking(clause.split("/")[0], **changes))
    assert evidence(view, clause) == text


def test_only_a_signature_under_this_result_is_evidence_of_one():
    result = asking("21cfr11")
    unsigned = build_view(result)
    missing = "not shown, because the report shows no signature"
    assert evidence(unsigned, "21cfr11/11.50") == missing
    other = build_view(result, signoffs=(signed("f" * 64),))
    assert evidence(other, "21cfr11/11.50") == missing
    own = build_view(result, signoffs=(signed(unsigned.digest),))
    assert evidence(own, "21cfr11/11.50") == "shown in section Sign-off"


@pytest.mark.parametrize(
    ("name", "started", "text"),
    [
        ("sr-26-2", "", "20 November 2026: in force since 17 April 2026."),
        (
            "sr-11-7",
            "",
            "20 November 2026: superseded by sr-26-2 on 17 April 2026; shown because "
            "the configuration names it.",
        ),
        ("sr-11-7", APRIL, "16 April 2026: in force since 4 April 2011."),
        (
            "eu-ai-act",
            "",
            "20 November 2026: applies later (Annex III: 2 December 2027, "
            "Annex I: 2 August 2028).",
        ),
    ],
)
def test_the_status_is_that_of_the_day_of_the_run(name, started, text):
    view = build_view(asking(name, started=started))
    assert status(view, name) == text


REQUIREMENT = "Requirement, paraphrased"


def test_a_quotation_stands_below_our_words():
    view = build_view(asking("21cfr11"))
    (quoted, _) = column(table(view, "tab-framework-21cfr11"), REQUIREMENT)
    assert "“The date and time when the signature was executed”" in quoted


def test_a_framework_that_a_later_version_dropped_is_named():
    view = build_view(asking("gone-1-0"))
    assert "names the framework gone-1-0, which this version does not know" in (
        to_text(section_html(section(view, "O")))
    )


@pytest.mark.parametrize("name", ["one feature", "interrupted", "disagreeing"])
def test_every_framework_can_be_shown_of_every_result(name):
    view = build_view(asking(*load_frameworks(), name=name))
    ways = ("shown in ", "partly, because ", "not shown, because ")
    for framework in load_frameworks():
        item = table(view, f"tab-framework-{framework}")
        cells = column(item, "Evidence in this report")
        assert all(text.startswith(ways) for text in cells), framework
