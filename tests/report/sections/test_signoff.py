"""Section P: lines to sign on, or exactly what each record of a signature says."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from tests.report.made_variants import result_of, view_of
from tests.report.reading import column, section, table, words

from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import plain
from importance_audit.runs.signoff.record import MEANINGS, Signoff, detached_method

STATEMENTS = "tab-statements"
NOON = datetime(2026, 11, 21, 12, 0, 5, tzinfo=UTC)


def signed(digest, **changes):
    """Return a record of a signature under a content digest."""
    defaults = {
        "signoff_id": "s1",
        "run_id": "20261120T091204Z-7f3a91c2",
        "content_digest": digest,
        "manifest_sha256": "1" * 64,
        "printed_name": "A. Nowak",
        "role": "approver",
        "relation_to_developer": "none",
        "signed_at": NOON,
        "meaning": "approval",
        "statement": "Accepted.",
        "method": "typed at the terminal",
    }
    return Signoff(**{**defaults, **changes})


def test_an_unsigned_report_has_a_line_for_each_role():
    view = view_of("apartments")
    lines = table(view, "tab-signoff")
    assert column(lines, "Role") == ["Author", "Reviewer", "Model owner", "Approver"]
    assert sorted(column(lines, "Meaning")) == sorted(MEANINGS)
    for label in ("Printed name", "Date and time, UTC", "Signature"):
        assert column(lines, label) == [""] * 4
    covered = column(lines, "Digest covered, first digits")
    assert covered == [view.digest[:12]] * 4


def test_the_digest_that_a_signature_covers_is_printed_in_full(any_name):
    view = view_of(any_name)
    assert f"Content digest {view.digest}" in words(section(view, "P"))


def test_a_signed_report_prints_what_the_record_says_and_no_empty_line():
    digest = view_of("apartments").digest
    late = signed(digest, printed_name="B. Zając", signed_at=NOON + timedelta(1))
    view = build_view(result_of("apartments"), signoffs=(signed(digest), late))
    signatures = table(view, "tab-signatures")
    assert [plain(cell.parts) for cell in signatures.rows[0].cells] == [
        "A. Nowak",
        "approver",
        "2026-11-21 12:00:05 UTC",
        "approval",
        digest,
    ]
    assert column(signatures, "Printed name") == ["A. Nowak", "B. Zając"]
    assert "tab-signoff" not in view.composed.labels


def test_a_signed_report_prints_what_was_said_and_how_identity_was_established():
    digest = view_of("apartments").digest
    method = detached_method("a.sig", "5" * 64)
    late = signed(digest, statement="Accepted.", method=method)
    view = build_view(result_of("apartments"), signoffs=(signed(digest), late))
    rows = [[plain(c.parts) for c in r.cells] for r in table(view, STATEMENTS).rows]
    assert rows == [
        ["1", "A. Nowak", "none", "Accepted.", "typed at the terminal"],
        ["2", "A. Nowak", "none", "Accepted.", method],
    ]
    assert "listed here with its SHA-256 and has not been checked" in words(
        section(view, "P")
    )
    alone = build_view(result_of("apartments"), signoffs=(signed(digest),))
    assert "not been checked" not in words(section(alone, "P"))


def test_the_cover_says_how_often_the_report_was_signed():
    digest = view_of("apartments").digest
    twice = build_view(
        result_of("apartments"), signoffs=(signed(digest), signed(digest))
    )
    assert plain(twice.sentence).endswith("Version 2, signed (section Sign-off).")
    assert "2, signed (section Sign-off)" in words(section(twice, "A"))
    assert plain(view_of("apartments").sentence).endswith("Version 0, unsigned.")


def test_a_signature_under_another_digest_is_told():
    digest = view_of("apartments").digest
    both = (signed(digest), signed("f" * 64))
    part = section(build_view(result_of("apartments"), signoffs=both), "P")
    warning = "Not every signature covers this document"
    assert warning in words(part)
    own = section(build_view(result_of("apartments"), signoffs=both[:1]), "P")
    assert warning not in words(own)


def test_a_name_that_would_reorder_its_line_is_made_visible():
    record = signed("f" * 64, printed_name="A\u202eB")
    part = section(build_view(result_of("apartments"), signoffs=(record,)), "P")
    assert "A⟨U+202E⟩B" in words(part)


def test_the_report_never_speaks_of_an_electronic_signature():
    for view in (view_of("apartments"), build_view(result_of("wide"))):
        assert "electronic" not in words(section(view, "P")).lower()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"printed_name": " "}, "printed_name must not be empty."),
        (
            {"meaning": "agreed"},
            "meaning must be one of review, approval, responsibility, authorship; "
            "'agreed' was given.",
        ),
        (
            {"signed_at": datetime(2026, 11, 21)},
            "signed_at must be in UTC; 2026-11-21T00:00:00 was given.",
        ),
        (
            {"signed_at": NOON.astimezone(timezone(timedelta(hours=1)))},
            "signed_at must be in UTC; 2026-11-21T13:00:05+01:00 was given.",
        ),
        (
            {"content_digest": "F" * 64},
            f"content_digest must have 64 hex digits; {'F' * 64!r} was given.",
        ),
        (
            {"manifest_sha256": ""},
            "manifest_sha256 must have 64 hex digits; '' was given.",
        ),
    ],
)
def test_a_record_that_binds_nothing_is_refused(changes, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        replace(signed("a" * 64), **changes)
