"""Section I: what moved since the approved baseline."""

from pipeline.report.blocks import Section
from pipeline.report.facts import Facts
from pipeline.report.wording import say, word


def change(facts: Facts) -> Section:
    """Return section I."""
    del facts
    title, lede = word("sections.change"), say("change.none")
    return Section("I", "change", title, lede, {"blocks": ()})
