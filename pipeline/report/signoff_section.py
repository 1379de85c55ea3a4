"""Section P: who signed this document, and which digest."""

from pipeline.report.blocks import Section
from pipeline.report.facts import Facts
from pipeline.report.wording import say, word


def signoff(facts: Facts) -> Section:
    """Return section P."""
    del facts
    title, lede = word("sections.signoff"), say("signoff.none")
    return Section("P", "signoff", title, lede, {"blocks": ()})
