"""Section Q: the terms that the report uses, and the files with its numbers."""

import re
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from ..text.blocks import KeyValues, Section
from ..text.wording import look_up, say
from .facts import Facts, section

_NOT_OURS = re.compile(r"<bdi[ >].*?</bdi>|<[^>]*>", re.S)
"""HTML that is not text of ours: names given by users, and tags."""


def glossary(facts: Facts) -> Section:
    """Return section Q."""
    where = say("glossary_section.numbers") if facts.has_folder else ()
    return section("Q", say("glossary_section.lede") + where, terms_in)


def terms_in(bodies: Mapping[str, str]) -> dict[str, Any]:
    """Return the terms that occur in the HTML of the other sections."""
    text = Markup(_NOT_OURS.sub(" ", "\n".join(bodies.values()))).unescape()
    terms = tuple(
        ((term["term"],), (term["means"],))
        for term in look_up("glossary").values()
        if any(re.search(rf"\b{find}", text, re.I) for find in term["found"])
    )
    table = KeyValues("kv-terms", say("glossary_section.terms"), terms)
    return {"blocks": (table,) if terms else ()}
