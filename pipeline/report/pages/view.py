"""The whole page as data: an AuditResult in, a ReportView out. Not: HTML, files.

Sorting, rounding, selection and wording happen here and in the modules of this
package that hold one section each; the templates only place what they find.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from ...records.as_json import content_digest
from ...records.result import AuditResult
from ..sections.agreement import agreement
from ..sections.cards import method
from ..sections.change import change
from ..sections.control import control, document_id, subtitle, title, version_line
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
from ..sections.verdicts import alone, badge, sentence
from ..text.blocks import Badge, Figure, Link, Section, Sentence, Table, plain
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
from .compose import Composed, at_most, compose

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
"""All sections but the owner's and the glossary; page one comes first."""
APPENDIX_ROWS = 1000
IMAGES = ("image/png", "image/jpeg", "image/svg+xml")
NO_VERDICT = Badge("", "", "")
FEW = 4
"""Sections that are found without contents: those of the executive profile."""


@dataclass(frozen=True)
class ReportView:
    """Everything a rendering shows, ready to be placed.

    Attributes
    ----------
    sections : tuple of Section
    document : str
        The id of the document: audit and run.
    created : str
        The instant the run started, as an ISO text.
    title, subtitle : Sentence
        Title of the report, and the line below.
    page_title : str
        The text of the window.
    verdict : Badge
    sentence : Sentence
        The verdict in one sentence.
    digest : str
        The content digest, 64 hex digits; empty for what is no report on one result: a
        history, an index of audits.
    language : str
    part : ModelPart, optional
        The part of a result of many models that the view is about.
    marking : str
        Who issues the report and its classification, at the top of every page.
    logo, logo_alt : str
        An image as an address that holds it, empty if none, and what it shows.
    accent : str
        A colour in the place of ours, such as "#0b4f79", or empty.
    words : mapping
        The catalogue that it was built with.
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
        """The line above the title."""
        return " · ".join(filter(None, (word("title.kicker"), self.marking)))

    def path(self, path: str) -> str:
        """Return where a number of this page stands in the stored result."""
        return self.part.path(path) if self.part else path

    @property
    def short_digest(self) -> str:
        """The first digits of the content digest, for the foot of a page."""
        return self.digest[:12]

    @property
    def is_short(self) -> bool:
        """Whether it has so few sections that paper lists none of them."""
        return len(self.sections) <= FEW

    @cached_property
    def composed(self) -> Composed:
        """The sections as a screen shows them."""
        return compose(self.sections, path=self.path, is_short=self.is_short)

    @property
    def tables(self) -> tuple[Table, ...]:
        """Every table in the order of its number: of the page, single ones last."""
        return self.composed.tables

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Every figure, in the order of the page."""
        return self.composed.figures

    @property
    def appendix(self) -> tuple[Table, ...]:
        """What every cut table leaves out, for paper: its first 1000 rows."""
        cut = (
            table
            for table in self.tables
            if table.everything and table.is_appended and not table.is_single
        )
        return tuple(at_most(_left_out(table), APPENDIX_ROWS) for table in cut)


def build_view(result: AuditResult, **about: Any) -> ReportView:
    """Return the report on a result as one page, ready to be rendered.

    Parameters
    ----------
    result : AuditResult
        Complete, or what there was when it was interrupted.
    about
        What the report says besides the result, as `facts_of` takes it.

    Returns
    -------
    ReportView
        The same for the same arguments, whatever the machine or the time.
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
    """Return the view that these sections make, as far as the profile shows them."""
    result = facts.result
    letters = PROFILES.get(facts.profile)
    sentences = filter(None, (sentence(facts), alone(facts), version_line(facts)))
    started = datetime.fromisoformat(str(result.run.volatile["started"]))
    organisation = show_hidden(facts.note("organisation"))
    markings = (organisation, show_hidden(facts.note("classification")))
    models = plain(joined(display_name(model) for model in facts.models[:3]))
    names = filter(None, (models or show_hidden(result.run.audit), facts.run_id))
    # A stored configuration may say anything of the logo and the accent.
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
        sentence=joined(sentences, " "),
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
    """Return all sections."""
    sections: tuple[Section, ...] = ()
    for section in SECTIONS:
        sections += (section(facts),)
        sections += own_sections(facts) if section is limits else ()
    return (*sections, glossary(facts))


def _left_out(table: Table) -> Table:
    """Return the rows of the whole table that the cut one does not show."""
    whole = table.everything or table
    # Without bars; the name of a row may stand in others too.
    shown = {row.cells for row in table.without_bars.rows}
    rows = zip(whole.rows, whole.without_bars.rows, strict=True)
    rest = tuple(row for row, bare in rows if bare.cells not in shown)
    caption = say("words.other_rows", table=Link(table.id))
    return replace(whole, caption=caption, rows=rest)
