"""Section O: where evidence towards clauses is found."""

from pipeline.report.blocks import Section
from pipeline.report.facts import Facts
from pipeline.report.wording import say, word


def frameworks(facts: Facts) -> Section:
    """Return section O."""
    del facts
    title, lede = word("sections.frameworks"), say("frameworks.none")
    return Section("O", "frameworks", title, lede, {"blocks": ()})
