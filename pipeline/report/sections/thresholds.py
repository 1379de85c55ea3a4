"""Section J: every check, the limit that applied, and who set it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...records.finding import Finding
from ..text.blocks import Cell, Column, Row, Section, Sentence, Styled, Table, Value
from ..text.number_text import significant
from ..text.wording import (
    joined,
    look_up,
    say,
    say_count,
    short_name,
    show_hidden,
    word,
)
from .control import moment
from .facts import Facts, tallied
from .findings import link_to

DIGITS = 16
VERDICTS = ("fail", "error", "warn", "not run", "pass")
"""Worst first."""
TOGETHER = ("pass", "not run")
"""Verdicts of which all checks of one kind and limit stand in one row."""


def thresholds(facts: Facts) -> Section:
    """Return section J: what did not pass one by one, what passed in one row each."""
    title = word("sections.thresholds")
    frame = facts.result.checks
    if frame.empty:
        nothing = {"checks": ()}
        return Section("J", "thresholds", title, say("thresholds.none"), nothing)
    alike: dict[tuple[Any, ...], list[int]] = {}
    for place in _worst_first(facts):
        alike.setdefault(_kind(facts, place), []).append(place)
    table = _table(facts, list(alike.values()))
    if len(alike) < len(frame):
        full = _table(facts, [[place] for place in _worst_first(facts)])
        every = say("thresholds.every")
        full = replace(full, id="tab-checks-all", caption=every, notes=())
        table = replace(table, everything=full, is_appended=False)
    return Section("J", "thresholds", title, _lede(facts), {"checks": (table,)})


def _kind(facts: Facts, place: int) -> tuple[Any, ...]:
    """Return what the checks of one row have in common; what went wrong stands alone.

    So does what passed with a note: its number is that of one finding.
    """
    row = facts.result.checks.iloc[place]
    if row["verdict"] not in TOGETHER or _finding_of(facts, row):
        return (place,)
    return (row["check"], row["threshold"], row["set_by"], row["verdict"])


def _finding_of(facts: Facts, row: Any) -> Finding | None:
    """Return the finding that a check made, if it made one."""
    of_check = (f for f in facts.result.findings if f.check == row["check"])
    return next((f for f in of_check if f.subject == row["subject"]), None)


def _worst_first(facts: Facts) -> list[int]:
    verdicts = facts.result.checks["verdict"].tolist()
    return sorted(range(len(verdicts)), key=lambda i: VERDICTS.index(verdicts[i]))


def _lede(facts: Facts) -> Sentence:
    """Return how many checks passed, and how many did not."""
    verdicts = facts.result.checks["verdict"].tolist()
    lede = say(
        "thresholds.lede",
        passed=tallied("checks", verdicts.count("pass")),
        checks=say_count(tallied("checks", len(verdicts)), "check"),
    )
    bad = [
        (tallied("checks", verdicts.count(verdict)), " ", _word(verdict))
        for verdict in VERDICTS[:-1]
        if verdict in verdicts
    ]
    return (*lede, *say("thresholds.lede_bad", what=joined(bad))) if bad else lede


def _table(facts: Facts, rows: Sequence[Sequence[int]]) -> Table:
    return Table(
        id="tab-checks",
        caption=say("thresholds.caption"),
        columns=(
            Column(say("thresholds.check"), "header", 30),
            Column(say("thresholds.subject"), width=25),
            Column(say("thresholds.observed"), "number", 13),
            Column(say("thresholds.limit"), "number", 12),
            Column(say("thresholds.set_by"), width=12),
            Column(say("thresholds.verdict"), width=8),
        ),
        rows=tuple(_row(facts, places) for places in rows),
        notes=_who_and_when(facts),
        source="result.json",
        shape="wide",
    )


def _row(facts: Facts, places: Sequence[int]) -> Row:
    """Return one row for checks of one kind with one limit."""
    frame, first = facts.result.checks, places[0]
    row = frame.iloc[first]
    check, verdict = str(row["check"]), str(row["verdict"])
    subject: Sentence = (short_name(str(row["subject"])),)
    if len(places) > 1:
        subject = say("thresholds.answers", n=tallied("checks", len(places)))
    text: Sentence = (_word(verdict),)
    if finding := _finding_of(facts, row):
        text = (*text, ", ", link_to(finding, facts.result))
        if day := facts.result.accepted.get(finding.key):
            text = (*text, ", ", *say("thresholds.accepted", day=day))
    return Row(
        (
            Cell((look_up("checks").get(check, check.replace("_", " ")),)),
            Cell(subject),
            Cell(_observed(facts, places)),
            Cell(_measured(row["threshold"], f"checks[{first}].threshold")),
            Cell(_set_by(str(row["set_by"]))),
            Cell(text if verdict == "pass" else (Styled("strong", text),)),
        )
    )


def _set_by(text: str) -> Sentence:
    """Return who set a limit: nobody, the audit, or a key of the configuration."""
    if not text.startswith("["):
        return (look_up("thresholds.setters").get(text, show_hidden(text)),)
    return say("thresholds.configured", name=Styled("code", (show_hidden(text),)))


def _who_and_when(facts: Facts) -> tuple[Sentence, ...]:
    """Return what the words of the column "Set by" mean in this run."""
    run = facts.result.run
    version = run.versions.get("importance-audit", "")
    owner = facts.note("owner")
    digest = Styled("code", (run.config_sha256[:DIGITS],))
    return (
        say("thresholds.by_default", version=show_hidden(version)),
        say("thresholds.by_definition"),
        say(
            "thresholds.by_owner" if owner else "thresholds.by_nobody_named",
            owner=show_hidden(owner),
            date=moment(run.volatile["started"]),
            digest=digest,
        ),
    )


def _word(verdict: str) -> str:
    return str(look_up("check_words")[verdict])


def _observed(facts: Facts, places: Sequence[int]) -> Sentence:
    """Return what was seen: one answer, or the smallest and the largest of several."""
    values = facts.result.checks["observed"]
    distinct = {places[0]: values.iloc[places[0]]}
    if all(not isinstance(values.iloc[place], str) for place in places):
        ordered = sorted(places, key=lambda place: float(values.iloc[place]))
        distinct = {place: values.iloc[place] for place in (ordered[0], ordered[-1])}
    parts = dict.fromkeys(
        _measured(value, f"checks[{place}].observed")
        for place, value in distinct.items()
    )
    texts = {
        text[0].text if isinstance(text[0], Value) else text: text for text in parts
    }
    return joined(texts.values(), f" {word('words.to')} ")


def _measured(value: object, path: str) -> Sentence:
    """Return what a check saw, or its limit: a number or a text."""
    if isinstance(value, str):
        return (show_hidden(value) or "–",)
    number = float(value)  # type: ignore[arg-type]
    return (Value(path, number, significant(number)),)
