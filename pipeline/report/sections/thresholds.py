"""Section J: the checks that did not pass, their limits, and who set them."""

from collections.abc import Sequence
from typing import Any

from ...assess.checks import CHECKS
from ...records.finding import Finding
from ..text.blocks import Section, Sentence, Styled, Table, Value
from ..text.number_text import significant
from ..text.wording import (
    joined,
    look_up,
    say,
    say_count,
    short_name,
    show_hidden,
    table_of,
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
FIRST = 5
"""Rows for which page two of the executive profile has room, each of two lines."""
WIDE = "check:header subject observed:number limit:number set_by verdict"
SHORT = "check:header subject verdict"
CALM = ("pass", "note")
"""Verdicts that ask nothing of the reader."""


def thresholds(facts: Facts) -> Section:
    """Return section J: what passed is counted, and listed in the page alone."""
    title, verdicts = word("sections.thresholds"), facts.result.check_verdicts
    places = sorted(range(len(verdicts)), key=lambda i: VERDICTS.index(verdicts[i]))
    groups: dict[tuple[Any, ...], list[int]] = {}
    for place in places:
        # Checks that could not be made for one reason share a row.
        kind = ["check", "threshold", "set_by", "observed"]
        same = tuple(facts.result.checks[kind].iloc[place])
        key = same if verdicts[place] == "not run" else (place,)
        groups.setdefault(key, []).append(place)
    every = [_row(facts, [place]) for place in places]
    bad = [_row(facts, g) for g in groups.values() if verdicts[g[0]] != "pass"]
    is_short = facts.profile == "executive"
    columns = SHORT if is_short else WIDE
    of: dict[str, Any] = {"source": "result.json", "shape": "wide"}
    notes = _who_and_when(facts)
    shown, caption = bad, say("thresholds.caption")
    if is_short:
        of["shape"], notes, shown = "tight", (), bad[:FIRST]
        caption = say("profiles.checks")
        if more := len(bad) - len(shown):
            caption += say("profiles.more_checks", n=str(more))
    blocks: tuple[Table, ...] = ()
    if bad:
        title_of_all = say(f"{'profiles' if is_short else 'thresholds'}.every")
        whole = table_of(
            "checks-all", "thresholds", columns, every, caption=title_of_all, **of
        )
        of["everything"] = whole if len(shown) < len(every) else None
        of |= {"caption": caption, "notes": notes, "is_appended": False}
        blocks = (table_of("checks", "thresholds", columns, shown, **of),)
    elif every and not is_short:
        of |= {"caption": say("thresholds.every"), "notes": notes, "is_single": True}
        blocks = (table_of("checks", "thresholds", columns, every, **of),)
    lede = _lede(facts) if every else say("thresholds.none")
    return Section("J", "thresholds", title, lede, {"blocks": blocks})


def _finding_of(facts: Facts, place: int) -> Finding | None:
    """Return the finding that a check made; what passed or was not run made none."""
    row = facts.result.checks.iloc[place]
    if facts.result.check_verdicts[place] in SILENT:
        return None
    of_check = (f for f in facts.result.findings if f.check == row["check"])
    return next((f for f in of_check if f.subject == row["subject"]), None)


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


def _row(facts: Facts, places: Sequence[int]) -> dict[str, Any]:
    """Return one row for checks of one kind with one limit."""
    first = places[0]
    row, verdict = facts.result.checks.iloc[first], facts.result.check_verdicts[first]
    check, subject = str(row["check"]), short_name(str(row["subject"]))
    text: Sentence = (_word(verdict),)
    if finding := _finding_of(facts, first):
        text = (*text, ", ", link_to(finding, facts.result))
        if day := facts.result.accepted.get(finding.key):
            text = (*text, ", ", *say("thresholds.accepted", day=day))
    return {
        "check": look_up("checks").get(check, check.replace("_", " ")),
        "subject": _several(check, len(places)) if len(places) > 1 else subject,
        "observed": _measured(row["observed"], f"checks[{first}].observed"),
        "limit": _measured(row["threshold"], f"checks[{first}].threshold"),
        "set_by": _set_by(str(row["set_by"])),
        "verdict": text if verdict in CALM else Styled("strong", text),
    }


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
