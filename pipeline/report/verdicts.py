"""The verdict on the audit, and the words of the ladder, as sentences and shapes."""

from pipeline.finding import Finding
from pipeline.report.blocks import Badge, Sentence
from pipeline.report.facts import Facts, tallied
from pipeline.report.findings import gravest, link_to, title_of
from pipeline.report.rankings import OURS
from pipeline.report.wording import (
    counted,
    look_up,
    say,
    section_link,
    series,
    shown,
    word,
)

SHAPES = {
    "replayed": "●",
    "equivalent": "◆",
    "comparable": "▲",
    "disagrees": "■",
    "not compared": "○",
    "confirmed": "●",
    "confirmed with exceptions": "◆",
    "not confirmed": "■",
    "not established": "○",
}
LADDER = ("disagrees", "not compared", "comparable", "equivalent", "replayed")
"""The words for one pair, worst first."""


def badge(verdict: str) -> Badge:
    """Return a verdict with its shape; the label of the overall one is a title."""
    labels = look_up("verdicts")
    return Badge(
        word=verdict.replace(" ", "-"),
        label=labels.get(verdict.replace(" ", "_"), verdict),
        shape=SHAPES[verdict],
    )


def sentence(facts: Facts) -> Sentence:
    """Return the overall verdict in one sentence, as its word allows."""
    verdict = facts.result.verdict
    return {
        "confirmed": _confirmed,
        "confirmed with exceptions": _with_exceptions,
        "not confirmed": _not_confirmed,
        "not established": _not_established,
    }[verdict](facts)


def exceptions(facts: Facts) -> list[Finding | Sentence]:
    """Return what keeps the audit from being confirmed without exception."""
    found = facts.result.findings
    listed: list[Finding | Sentence] = [f for f in found if f.severity == "warning"]
    missing = [f for f in found if f.check == "engine_missing"]
    listed += missing
    if not missing and not _confirming(facts):
        key = "verdict.python_alone"
        if facts.answered:
            key = "verdict.only_comparable"
        listed.append(say(key))
    return listed


def reason(facts: Facts) -> Sentence:
    """Return what weighs most for the verdict, empty if nothing speaks against."""
    verdict = facts.result.verdict
    if verdict == "not confirmed":
        return _gravest(facts, gravest(facts.result)[0])
    if verdict != "confirmed with exceptions" or not exceptions(facts):
        return ()
    first = exceptions(facts)[0]
    if isinstance(first, Finding):
        return _gravest(facts, first)
    return say("verdict.exception", what=first)


def _gravest(facts: Facts, finding: Finding) -> Sentence:
    number = link_to(finding, facts.result)
    return say("verdict.gravest", number=number, what=title_of(finding))


def _confirming(facts: Facts) -> list[str]:
    """Return the engines that replayed, or came out equivalent to, ours."""
    frame = facts.result.agreement
    good = frame["verdict"].isin(["replayed", "equivalent"])
    ours = frame["engine_a"] == OURS
    return list(dict.fromkeys(frame.loc[good & ours, "engine_b"]))


def _confirmed(facts: Facts) -> Sentence:
    return say("verdict.confirmed", engines=series(_confirming(facts)))


def _with_exceptions(facts: Facts) -> Sentence:
    number = len(exceptions(facts))
    return say(
        "verdict.with_exceptions",
        exceptions=counted(tallied("findings", number), "exception"),
        section=section_link("K" if facts.result.findings else "C"),
    )


def _not_confirmed(facts: Facts) -> Sentence:
    limit = str(facts.result.run.config.get("fail_on", "failure"))
    at_limit = {"failure"} if limit == "failure" else {"failure", "warning"}
    number = sum(f.severity in at_limit for f in facts.result.findings)
    return say(
        "verdict.not_confirmed",
        findings=counted(tallied("findings", number), "finding"),
        limit=word(f"severity.{limit}").lower(),
    )


def _not_established(facts: Facts) -> Sentence:
    stopped = [
        finding
        for finding in facts.result.findings
        if finding.check in ("interrupted", "method_failed")
    ]
    why: Sentence = (shown(stopped[0].message).rstrip("."),) if stopped else ()
    return say("verdict.not_established", why=why or say("verdict.no_reason"))
