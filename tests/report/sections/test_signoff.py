"""Section P: lines to sign on, or exactly what each record of a signature says."""

from datetime import UTC, datetime, timedelta

from tests.report.made_variants import result_of, view_of
from tests.report.reading import cells_of, column, said_in, section, table

from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import plain

STATEMENTS = "tab-statements"
NOON = datetime(2026, 11, 21, 12, 0, 5, tzinfo=UTC)


def signed(digest, **changes):
    """Return a record of a signature under a content digest."""
    who = {"name": "A. Nowak", "role": "approver", "relation": "none"}
    what = {"meaning": "approval", "statement": "Accepted.", "signer": ""}
    run = {"run": "20261120T091204Z-7f3a91c2", "content_digest": digest}
    run |= {"n": 4, "time": NOON.isoformat(), "method": "typed at the terminal"}
    return {**run, **who, **what, **changes}


def view_with(*signoffs):
    return build_view(result_of("apartments"), signoffs=signoffs)


def version_in(view):
    """Return what page one says of the version of the document."""
    return plain(section(view, "B").parts["about"])


def test_a_signed_report_prints_what_each_record_says_and_no_empty_line():
    digest = view_of("apartments").digest
    changes = {"n": 9, "name": "B. Zając", "signer": "zajac@example.org"}
    late = signed(digest, time=(NOON + timedelta(1)).isoformat(), **changes)
    view = view_with(signed(digest), late)
    signatures = table(view, "tab-signatures")
    noon = "2026-11-21 12:00:05 UTC"
    first = cells_of(signatures.rows[0])
    assert first == ["A. Nowak", "approver", noon, "approval", digest]
    assert column(signatures, "Printed name") == ["A. Nowak", "B. Zając"]
    assert "tab-signoff" not in view.composed.labels
    said = ["none", "Accepted.", "typed at the terminal"]
    rows = [cells_of(r) for r in table(view, STATEMENTS).rows]
    assert rows == [
        ["4", "A. Nowak", *said, "–"],
        ["9", "B. Zając", *said, "zajac@example.org"],
    ]
    assert "has not checked the signature" in said_in(view, "P")
    assert "not checked" not in said_in(view_with(signed(digest)), "P")


def test_the_cover_says_how_often_the_report_was_signed():
    digest = view_of("apartments").digest
    twice = view_with(signed(digest), signed(digest))
    assert "Version 2, signed (section Sign-off)." in version_in(twice)
    assert "2, signed (section Sign-off)" in said_in(twice, "A")
    assert " Unsigned." in version_in(view_of("apartments"))


def test_who_signed_a_run_without_its_log_is_not_known():
    view = build_view(result_of("apartments"), signoffs=None)
    version = "not known (section Sign-off)"
    assert f"Version {version}." in version_in(view)
    assert version in said_in(view, "A")
    assert said_in(view, "P").startswith("It is not known whether this run was signed")
    assert "unsigned" not in f"{version_in(view)} {said_in(view, 'A')}"


def test_a_signature_under_another_digest_is_told():
    digest = view_of("apartments").digest
    warning = "Not every signature covers this document"
    both = view_with(signed(digest), signed("f" * 64))
    assert warning in said_in(both, "P")
    assert warning not in said_in(view_with(signed(digest)), "P")
