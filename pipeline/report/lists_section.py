"""Section Q: the terms, the tables and figures, and the files that come with it."""

from pipeline.report.blocks import Section
from pipeline.report.facts import Facts
from pipeline.report.wording import say, word


def lists(facts: Facts) -> Section:
    """Return section Q."""
    del facts
    title, lede = word("sections.lists"), say("lists.none")
    return Section("Q", "lists", title, lede, {"blocks": ()})
