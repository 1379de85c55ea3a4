"""The part of section D that people write: why a feature is there, what they expect."""

from collections.abc import Mapping

from ..text.blocks import Cell, Column, Link, Row, Sentence, Table
from ..text.wording import counted, ended, joined, named, say, shortened
from .facts import Facts, config_of, tallied

UNEXPLAINED = 5
"""How many features without a rationale are named; the others are counted."""


def told_by_people(facts: Facts) -> tuple[Table | Sentence, ...]:
    """Return what the configuration says of features, and where it was held to it."""
    given, expected = _rationale(facts), _expected(facts)
    if not isinstance(given, Table):
        return ((*given, " ", *expected),)
    return (given, expected)


def _rationale(facts: Facts) -> Table | Sentence:
    """Return the rationale of each feature that has one, in the order of the audit."""
    given: Mapping[str, str] = config_of(facts, "report").get("rationale", {})
    names = [str(name) for name in facts.result.columns["feature"]]
    if not any(name in given for name in names):
        return say("rationale.none")
    rows = tuple(
        Row((Cell((named(name),)), Cell((ended(given[name]),))))
        for name in names
        if name in given
    )
    return Table(
        id="tab-rationale",
        caption=say("rationale.caption"),
        columns=(
            Column(say("data.feature"), "header", 26),
            Column(say("rationale.text"), width=74),
        ),
        rows=rows,
        notes=_without([name for name in names if name not in given]),
        shape="tight",
    )


def _without(names: list[str]) -> tuple[Sentence, ...]:
    """Return the features nobody gave a rationale for, the first few by name."""
    if not names:
        return ()
    told: list[Sentence] = [(shortened(name, 30),) for name in names[:UNEXPLAINED]]
    if len(names) > UNEXPLAINED:
        more = tallied("columns", len(names) - UNEXPLAINED)
        told.append(say("words.more", n=more))
    number = counted(tallied("columns", len(names)), "feature")
    return (say("rationale.missing", n=number, names=joined(told)),)


def _expected(facts: Facts) -> Sentence:
    """Return where what the owner expected stands beside what was found."""
    if facts.result.expected.empty:
        return say("rationale.nothing_expected")
    return say("rationale.expected", table=Link("tab-expected"))
