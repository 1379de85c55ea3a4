"""The whole page as data: from an AuditResult to a ReportView. Not: HTML, files.

Sorting, rounding, selection and wording happen here and in `sections`; the templates
only arrange the results.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from ...records.as_json import content_digest
from ...records.result import AuditResult
from ..sections.agreement import agreement
from ..sections.cards import method
from ..sections.change import change
from ..sections.control import control, document_id, subtitle, title
from ..sections.data_card import data_card
from ..sections.executive import executive
from ..sections.facts import PROFILES, Facts, config_of, facts_of
from ..sections.findings import findings
from ..sections.frameworks import frameworks
from ..sections.glossary import glossary
from ..sections.limits import limits
from ..sections.own import own_sections
from ..sections.provenance import provenance
from ..sections.redo import redo
from ..sections.results import results
from ..sections.scope import scope
from ..sections.signoff import signoff
from ..sections.stability import stability
from ..sections.thresholds import thresholds
from ..sections.verdicts import badge
from ..text.blocks import Badge, Figure, Section, Sentence, Table, plain
from ..text.own_words import language_of, own_words
from ..text.wording import (
    LANGUAGE,
    catalogue,
    display_name,
    joined,
    say,
    show_hidden,
    word,
)
from .by_model import ModelPart
from .compose import Composed, compose

SECTIONS = (
    executive,
    control,
    scope,
    data_card,
    method,
    results,
    agreement,
    stability,
    change,
    thresholds,
    findings,
    limits,
    provenance,
    redo,
    frameworks,
    signoff,
)
"""All sections but those of the user and the glossary; page one comes first."""
IMAGES = ("image/png", "image/jpeg", "image/svg+xml")
NO_VERDICT = Badge("", "", "")
FEW = 4
"""Most sections of a report without table of contents: the executive profile's."""


@dataclass(frozen=True)
class ReportView:
    """All data of a rendered page.

    Attributes
    ----------
    sections : tuple of Section
    document : str
        The id of the document: audit and run.
    created : str
        Time at which the run started, as an ISO text.
    title, subtitle : Sentence
        Title of the report, and the line below.
    page_title : str
        The title of the browser window.
    verdict : Badge
    sentence : Sentence
        The verdict in one sentence, on a page that is no report; reports have it in
        their first section.
    digest : str
        The content digest, 64 hex digits; empty for a page that is no report on a
        result, such as a history or an index of audits.
    language : str
    part : ModelPart, optional
        On the page of one of many models, the part of the result about it.
    marking : str
        Issuing organisation and classification of the report, for the top of each page.
    logo, logo_alt : str
        An image as a data URI, empty if none, and its alternative text.
    accent : str
        A colour to replace the default accent, such as "#0b4f79", or empty.
    words : mapping
        The catalogue in use when the view was built.
    """

    sections: tuple[Section, ...]
    document: str = ""
    created: str = ""
    title: Sentence = ()
    subtitle: Sentence = ()
    page_title: str = ""
    verdict: Badge = NO_VERDICT
    sentence: Sentence = ()
    digest: str = ""
    language: str = LANGUAGE
    part: ModelPart | None = None
    marking: str = ""
    logo: str = ""
    logo_alt: str = ""
    accent: str = ""
    words: Mapping[str, Any] = field(
        default_factory=catalogue, repr=False, compare=False
    )

    @property
    def kicker(self) -> str:
        """Line above the title."""
        return " · ".join(filter(None, (word("title.kicker"), self.marking)))

    def path(self, path: str) -> str:
        """Return the path in the stored result of a value of this page."""
        return self.part.path(path) if self.part else path

    @property
    def short_digest(self) -> str:
        """First digits of the content digest, for the footer of a page."""
        return self.digest[:12]

    @property
    def is_short(self) -> bool:
        """Whether it has so few sections that print has no table of contents."""
        return len(self.sections) <= FEW

    @cached_property
    def composed(self) -> Composed:
        """Sections as HTML for a screen."""
        return compose(self.sections, path=self.path, is_short=self.is_short)

    @property
    def tables(self) -> tuple[Table, ...]:
        """All tables in the order of their numbers, as `Composed.tables`."""
        return self.composed.tables

    @property
    def figures(self) -> tuple[Figure, ...]:
        """All figures in the order of the page."""
        return self.composed.figures


def build_view(result: AuditResult, **about: Any) -> ReportView:
    """Return the report on a result as one page, ready to be rendered.

    Parameters
    ----------
    result : AuditResult
        Complete, or that of an interrupted run.
    about
        Facts that are not in the result: arguments of `facts_of`.

    Returns
    -------
    ReportView
        The same for the same arguments, on any machine and at any time.
    """
    facts = facts_of(result, content_digest(result), **about)
    with own_words(result):
        return view_of(facts, sections_of(facts))


def view_of(
    facts: Facts,
    sections: tuple[Section, ...],
    *,
    part: ModelPart | None = None,
) -> ReportView:
    """Return the view of those sections that the profile shows."""
    result = facts.result
    letters = PROFILES.get(facts.profile)
    started = datetime.fromisoformat(str(result.run.volatile["started"]))
    organisation = show_hidden(facts.note("organisation"))
    markings = (organisation, show_hidden(facts.note("classification")))
    models = plain(joined(display_name(model) for model in facts.models[:3]))
    names = filter(None, (models or show_hidden(result.run.audit), facts.run_id))
    # Logo and accent come from a stored configuration and must be validated.
    file = config_of(facts, "files").get(facts.note("logo"), {})
    kind, image = (str(file.get(key, "")) for key in ("media_type", "base64"))
    accent = facts.note("accent")
    return ReportView(
        document=document_id(facts),
        created=f"{started:%Y-%m-%dT%H:%M:%SZ}",
        title=title(facts),
        subtitle=subtitle(facts),
        page_title=f"{word('title.kicker')}: {', '.join(names)}",
        verdict=badge(result.verdict),
        sections=tuple(s for s in sections if not letters or s.letter in letters),
        digest=facts.digest,
        language=language_of(result),
        part=part,
        marking=" · ".join(filter(None, markings)),
        logo=f"data:{kind};base64,{image}" if kind in IMAGES and image else "",
        logo_alt=plain(say("title.logo_of", name=organisation))
        if organisation
        else word("title.logo"),
        accent=accent if re.fullmatch(r"#[0-9a-fA-F]{6}", accent) else "",
    )


def sections_of(facts: Facts) -> tuple[Section, ...]:
    """Return all sections in the order of the page."""
    sections: tuple[Section, ...] = ()
    for section in SECTIONS:
        sections += (section(facts),)
        sections += own_sections(facts) if section is limits else ()
    return (*sections, glossary(facts))
