"""The page of one sign-off: signer, signed run, and the line of the audit log."""

from collections.abc import Mapping
from typing import Any

from ...records.result import AuditResult
from ...runs.signoff.approvals import page_text
from ..sections.control import hash_text, moment
from ..sections.signoff import signed_tables
from ..sections.verdicts import badge
from ..text.blocks import Section, Styled, plain
from ..text.wording import display_name, say, word
from .html import to_html
from .view import ReportView


def signoff_html(result: AuditResult, facts: Mapping[str, Any]) -> str:
    """Return the page of a sign-off.

    Parameters
    ----------
    result : AuditResult
        The signed result.
    facts : mapping
        The line of the audit log, without what is known only once its page is made.
    """
    audit, run = display_name(result.run.audit), display_name(facts["run"])
    title = say("signoff.page_title", audit=audit, run=run)
    digest = facts["content_digest"]
    covered = say("signoff.digest", digest=hash_text(digest))
    line = (say("signoff.line"), (Styled("code", (page_text(facts),)),))
    tables = signed_tables((facts,), digest)
    view = ReportView(
        document=plain(title),
        created=facts["time"],
        title=title,
        subtitle=say("signoff.page_subtitle", moment=moment(facts["time"])),
        page_title=plain(title),
        verdict=badge(result.verdict),
        sentence=say("signoff.signed"),
        sections=(
            Section(
                "1",
                "signoff",
                word("signoff.page_section"),
                (),
                {"blocks": (covered, *tables, *line)},
            ),
        ),
        digest=digest,
    )
    return to_html(view)
