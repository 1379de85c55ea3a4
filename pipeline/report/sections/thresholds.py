"""Section J: the checks that did not pass, their limits, and who set them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...assess.checks import CHECKS
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
VERDICTS = ("fail", "error", "warn", "note", "not run", "pass")
"""Worst first."""
SILENT = ("pass", "not run")
"""Verdicts of which no finding tells."""
OF_PAIRS = ("disagreement", "rank_shift")
OF_COLUMNS = ("distribution_shift", "missing_share")
"""Checks that are made when engines, or runs, are compared."""
NOUNS = {"fail": "failure", "warn": "warning", "note": "info"}
"""What checks with such verdicts are called where they are counted."""
CALM = ("pass", "note")
"""Verdicts that ask nothing of the reader."""


def thresholds(facts: Facts) -> Section:
    """Return section J: what passed is counted, and listed in the page alone."""
    title = word("sections.thresholds")
    frame = facts.result.checks
    if frame.empty:
        nothing = {"checks": ()}
        return Section("J", "thresholds", title, say("thresholds.none"), nothing)
    every = _worst_first(facts)
    full = _table(facts, [[place] for place in every])
    full = replace(full, caption=say("thresholds.every"))
    alike: dict[tuple[Any, ...], list[int]] = {}
    for place in every:
        if facts.result.check_verdicts[place] != "pass":
            alike.setdefault(_kind(facts, place), []).append(place)
    table = _table(facts, list(alike.values()))
    if not alike:
        table = replace(full, is_single=True)
    elif len(alike) < len(frame):
        full = replace(full, id="tab-checks-all", notes=())
        table = replace(table, everything=full, is_appended=False)
    return Section("J", "thresholds", title, _lede(facts), {"checks": (table,)})


def _kind(facts: Facts, place: int) -> tuple[Any, ...]:
    """Return what the checks of one row have in common; only unmade ones share one."""
    row, verdict = facts.result.checks.iloc[place], facts.result.check_verdicts[place]
    if verdict != "not run":
        return (place,)
    return tuple(row[["check", "threshold", "set_by", "observed"]])


def _finding_of(facts: Facts, place: int) -> Finding | None:
    """Return the finding that a check made; what passed or was not run made none."""
    row = facts.result.checks.iloc[place]
    if facts.result.check_verdicts[place] in SILENT:
        return None
    of_check = (f for f in facts.result.findings if f.check == row["check"])
    return next((f for f in of_check if f.subject == row["subject"]), None)


def _worst_first(facts: Facts) -> list[int]:
    verdicts = facts.result.check_verdicts
    return sorted(range(len(verdicts)), key=lambda i: VERDICTS.index(verdicts[i]))


def _lede(facts: Facts) -> Sentence:
    """Return how many checks passed, and how many did not."""
    verdicts = facts.result.check_verdicts
    lede = say(
        "thresholds.lede",
        passed=tallied("checks", verdicts.count("pass")),
        checks=say_count(tallied("checks", len(verdicts)), "check"),
    )
    bad = [
        _tally(verdict, tallied("checks", verdicts.count(verdict)))
        for verdict in VERDICTS[:-1]
        if verdict in verdicts
    ]
    return (*lede, *say("thresholds.lede_bad", what=joined(bad))) if bad else lede


def _tally(verdict: str, n: Value) -> Sentence:
    """Return how many checks had a verdict: "2 warnings", "15 not run"."""
    if noun := NOUNS.get(verdict):
        return say_count(n, noun)
    return (n, " ", _word(verdict))


def _table(facts: Facts, rows: Sequence[Sequence[int]]) -> Table:
    return Table(
        id="tab-checks",
        caption=say("thresholds.caption"),
        columns=(
            Column(say("thresholds.check"), "header", 33),
            Column(say("thresholds.subject"), width=18),
            Column(say("thresholds.observed"), "number", 16),
            Column(say("thresholds.limit"), "number", 11),
            Column(say("thresholds.set_by"), width=12),
            Column(say("thresholds.verdict"), width=10),
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
    check, verdict = str(row["check"]), facts.result.check_verdicts[first]
    subject: Sentence = (short_name(str(row["subject"])),)
    if len(places) > 1:
        subject = _several(check, len(places))
    text: Sentence = (_word(verdict),)
    if finding := _finding_of(facts, first):
        text = (*text, ", ", link_to(finding, facts.result))
        if day := facts.result.accepted.get(finding.key):
            text = (*text, ", ", *say("thresholds.accepted", day=day))
    return Row(
        (
            Cell((look_up("checks").get(check, check.replace("_", " ")),)),
            Cell(subject),
            Cell(_measured(row["observed"], f"checks[{first}].observed")),
            Cell(_measured(row["threshold"], f"checks[{first}].threshold")),
            Cell(_set_by(str(row["set_by"]))),
            Cell(text if verdict in CALM else (Styled("strong", text),)),
        )
    )


def _several(check: str, number: int) -> Sentence:
    """Return how many models, results, pairs or columns the checks of a row ask.

    Each engine that answers a question has a result; a ranking may have several.
    """
    n = tallied("checks", number)
    asks = CHECKS[check].asks if check in CHECKS else ""
    if check in OF_PAIRS:
        return say_count(n, "pair")
    if check in OF_COLUMNS:
        return say_count(n, "column")
    if asks in ("model", "predictions", "draws"):
        return say_count(n, "model")
    if asks in ("row_intervals", "ensemble", "leaves"):
        return say_count(n, "ranking")
    return say_count(n, "result")


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


def _measured(value: object, path: str) -> Sentence:
    """Return what a check saw, or its limit: a number or a text."""
    if isinstance(value, str):
        words = look_up("thresholds.observed_words")
        return (words.get(value, show_hidden(value)) or "–",)
    number = float(value)  # type: ignore[arg-type]
    return (Value(path, number, significant(number)),)
