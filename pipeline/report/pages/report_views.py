"""The pages of a report: one, or of many models an index and a page per model."""

from dataclasses import replace
from functools import partial

from ...records.as_json import content_digest
from ...records.result import AuditResult
from ...runs.run_context import NO_CONTEXT, RunContext
from ..sections.control import control
from ..sections.facts import NOTHING_ATTACHED, Attachments, facts_of
from ..sections.findings import findings
from ..sections.lists_section import lists
from ..sections.provenance import provenance
from ..sections.redo import redo
from ..sections.signoff_section import signoff
from .by_model import history_of_part, parts
from .index_page import between, file_of, overview
from .profiles import without_dead_links
from .view import ReportView, build_view, sections_of, view_of

MAIN = "report"
"""The page that people open first, without its ending."""


def report_views(
    result: AuditResult,
    *,
    attachments: Attachments = NOTHING_ATTACHED,
    profile: str = "",
    context: RunContext = NO_CONTEXT,
) -> dict[str, ReportView]:
    """Return each page of a report by its path in the run folder, without ending.

    Up to three models share "report". Of more it is an index that compares them and
    leads to a page of each, all under the digest of the one result.

    Parameters
    ----------
    result, attachments, profile
        As `view.build_view` takes them.
    context : RunContext
        What the report says besides the result.
    """
    by_model = parts(result)
    if not by_model:
        return {
            MAIN: build_view(
                result, attachments=attachments, profile=profile, **context._asdict()
            )
        }
    digest = content_digest(result)
    asked = partial(
        facts_of,
        digest=digest,
        attachments=attachments,
        **context._asdict(),
    )
    facts = asked(result)
    first = (
        control(facts),
        overview(facts, by_model),
        between(facts),
        findings(facts),
        provenance(facts),
        redo(facts),
        signoff(facts),
    )
    whole = (*first, lists(facts, first))
    main = view_of(facts, without_dead_links(whole, whole), profile=profile)
    views = {MAIN: main}
    for part in by_model:
        own = asked(part.result)
        own = replace(own, history=history_of_part(context.history, result, part.model))
        cards = {m: facts.cards[m] for m in own.cards}
        own = replace(own, cards=cards, is_part=True)
        views[file_of(part.model)] = view_of(
            own, sections_of(own), profile=profile, part=part
        )
    return views
