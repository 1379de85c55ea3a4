"""The pages of a report: one, or an index and one per model if there are many."""

from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any

from ...records.as_json import content_digest, dumps, utf8
from ...records.result import AuditResult
from ...runs.run_context import NO_CONTEXT, RunContext
from ..sections.control import control
from ..sections.executive import executive
from ..sections.facts import facts_of
from ..sections.findings import findings
from ..sections.glossary import glossary
from ..sections.provenance import provenance
from ..sections.redo import redo
from ..sections.signoff import signoff
from ..text.own_words import own_words
from .by_model import history_of_part, parts
from .index_page import between, file_of, overview
from .view import ReportView, build_view, sections_of, view_of

MAIN = "report"
"""Name of the first page of a report, without ending."""


def report_views(
    result: AuditResult,
    *,
    profile: str = "",
    context: RunContext = NO_CONTEXT,
    document: bytes = b"",
) -> dict[str, ReportView]:
    """Return each page of a report by its path in the run folder, without ending.

    Up to three models share the page "report". With more models, "report" has page one
    and an index that compares the models, and each model has a page. All pages have the
    digest of the whole result.

    Parameters
    ----------
    result : AuditResult
    profile : {"", "technical", "executive"}
        Selection of sections, by default that of ``[report] profile``.
    context : RunContext
        Facts about the run that are not in the result, such as earlier runs.
    document : bytes
        The run's result.json, whose digest the pages print; made if it is not given.
    """
    by_model = parts(result)
    document = document or utf8(dumps(result))
    about: dict[str, Any] = {
        # Of the whole result, also on the page of one model.
        "file_digest": sha256(document).hexdigest(),
        "profile": profile,
        **context._asdict(),
    }
    if not by_model:
        return {MAIN: build_view(result, **about)}
    gather = partial(facts_of, digest=content_digest(result), **about)
    with own_words(result):
        facts = gather(result)
        first = (
            executive(facts),
            overview(facts, by_model),
            control(facts),
            between(facts),
            findings(facts),
            provenance(facts),
            redo(facts),
            signoff(facts),
            glossary(facts),
        )
        views = {MAIN: view_of(facts, first)}
        for part in by_model:
            own = gather(part.result)
            own = replace(
                own,
                history=history_of_part(context.history, result, part.model),
                cards={measure: facts.cards[measure] for measure in own.cards},
                is_part=True,
            )
            views[file_of(part.model)] = view_of(own, sections_of(own), part=part)
        return views
