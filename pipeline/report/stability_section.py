"""Section H: how firm the ranking is, beyond the draws of one run."""

from pipeline.report.blocks import Section
from pipeline.report.facts import Facts
from pipeline.report.wording import say, word


def stability(facts: Facts) -> Section:
    """Return section H."""
    del facts
    title, lede = word("sections.stability"), say("stability.none")
    return Section("H", "stability", title, lede, {"blocks": ()})
