"""Section J: the checks that did not pass, their limits, and the sources of these."""

from functools import partial
from typing import Any

from ..text.blocks import Section, Sentence, Styled, Value
from ..text.number_text import MISSING, significant
from ..text.wording import (
    joined,
    look_up,
    name_of_check,
    say,
    say_count,
    section_link,
    short_name,
    show_hidden,
    table_of,
)
from .control import moment
from .facts import Facts, section, tallied
from .findings import link_to

DIGITS = 16
VERDICTS = ("fail", "error", "warn", "note", "not run", "pass")
"""Verdicts, the worst first."""
SILENT = ("pass", "not run")
"""Verdicts without a finding."""
NOUNS = {"fail": "failure", "warn": "warning", "note": "info"}
"""Noun for a number of checks, by their verdict."""
FIRST = 5
"""Most rows on page two of the executive profile, each of two lines."""
WIDE = "check:header subject observed:number limit:number set_by verdict"
SHORT = "check:header subject verdict"
CALM = ("pass", "note")
"""Verdicts that need no action."""


def thresholds(facts: Facts) -> Section:
    """Return section J.

    Checks that passed or were not run are counted, and listed only in HTML.
    """
    verdicts = [*facts.result.checks["verdict"]]
    places = sorted(range(len(verdicts)), key=lambda i: VERDICTS.index(verdicts[i]))
    every = [_row(facts, place) for place in places]
    n_bad = sum(verdict not in SILENT for verdict in verdicts)
    bad = every[:n_bad]
    is_short = facts.profile == "executive"
    if is_short:
        shown, of_all, caption = (
            bad[:FIRST],
            say("profiles.every"),
            say("profiles.checks"),
        )
        if more := len(bad) - len(shown):
            caption += say("profiles.more_checks", n=str(more))
    else:
        shown, of_all = bad or every, say("thresholds.every")
        caption = say("thresholds.caption") if bad else of_all
    table = partial(
        table_of,
        heads="thresholds",
        columns=SHORT if is_short else WIDE,
        source="result.json",
        shape="tight" if is_short else "wide",
    )
    whole = table("checks-all", rows=every, caption=of_all)
    cut = table(
        "checks",
        rows=shown,
        caption=caption,
        notes=() if is_short else _notes(facts),
        everything=whole if len(shown) < len(every) else None,
        is_appended=False,
        is_single=not bad,
    )
    lede = say("thresholds.none")
    if every:
        lede = say(
            "thresholds.lede",
            passed=tallied("checks", verdicts.count("pass")),
            checks=say_count(tallied("checks", len(verdicts)), "check"),
        )
    others: list[Sentence] = []
    for verdict in VERDICTS[:-1]:
        n = tallied("checks", verdicts.count(verdict))
        if n.raw and verdict in NOUNS:
            others.append(say_count(n, NOUNS[verdict]))
        elif n.raw:
            others.append((n, " ", _word(verdict)))
    if others:
        lede += say("thresholds.lede_bad", what=joined(others))
    if every and not facts.came_to_end:
        lede += say("thresholds.ended", section=section_link("K"))
    return section("J", lede, {"blocks": (cut,) if shown else ()})


def _row(facts: Facts, place: int) -> dict[str, Any]:
    row = facts.result.checks.iloc[place]
    names = ("check", "subject", "set_by", "verdict")
    check, subject, set_by, verdict = (str(row[name]) for name in names)
    text: Sentence = (_word(verdict),)
    findings = () if verdict in SILENT else facts.result.findings
    own = (f for f in findings if (f.check, f.subject) == (check, subject))
    if finding := next(own, None):
        text = (*text, ", ", link_to(finding, facts))
        if day := facts.result.accepted.get(finding.key):
            text = (*text, ", ", *say("thresholds.accepted", day=day))
    # A limit was set by nobody, by the audit, or by a key of the configuration.
    setter = look_up("thresholds.setters").get(set_by, show_hidden(set_by))
    if set_by.startswith("["):
        key = Styled("code", (show_hidden(set_by),))
        setter = say("thresholds.configured", name=key)
    return {
        "check": name_of_check(check),
        "subject": short_name(subject),
        "observed": _measured(row["observed"], f"checks[{place}].observed"),
        "limit": _measured(row["threshold"], f"checks[{place}].threshold"),
        "set_by": setter,
        "verdict": text if verdict in CALM else Styled("strong", text),
    }


def _notes(facts: Facts) -> tuple[Sentence, ...]:
    """Return notes on the meaning of the column "Set by" in this run."""
    run, owner = facts.result.run, facts.note("owner")
    key = "by_owner" if owner else "by_nobody_named"
    if run.config.get("data", {}) is None:  # from Python or R, without a file
        key = "by_call"
    version = run.versions.get("importance-audit", "")
    digest = Styled("code", (run.config_sha256[:DIGITS],))
    return (
        say("thresholds.by_default", version=show_hidden(version)),
        say("thresholds.by_definition"),
        say(
            f"thresholds.{key}",
            owner=show_hidden(owner),
            date=moment(run.volatile["started"]),
            digest=digest,
        ),
    )


def _word(verdict: str) -> str:
    return str(look_up("check_words")[verdict])


def _measured(value: object, path: str) -> str | Value:
    """Return the observed value of a check, or its limit: a number or a text."""
    if isinstance(value, str):
        words = look_up("thresholds.observed_words")
        return str(words.get(value, show_hidden(value))) or MISSING
    number = float(value)  # type: ignore[arg-type]
    return Value(path, number, significant(number))
