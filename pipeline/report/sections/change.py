"""Section I: the differences from the approved baseline, and conclusions from them.

Then the changes of each feature, the checks with another verdict, and the verdicts and
leaders of earlier runs, approved or not.
"""

from collections.abc import Set
from typing import Any

from ...records.as_json import content_digest
from ...records.result import AuditResult
from ...records.shift import MISS_RATE, Shift
from ...runs.baseline.change import Change
from ...runs.baseline.differences import AREAS
from ...runs.baseline.news import verdict_causes
from ..text.blocks import Section, Sentence, Styled, Table
from ..text.number_text import percent, significant
from ..text.own_words import own_words
from ..text.wording import (
    full_name,
    joined,
    look_up,
    name_of_check,
    say,
    say_count,
    series,
    short_name,
    show_hidden,
    table_of,
    word,
)
from .control import day_of
from .facts import KEY_DIGITS, Facts, facts_of, first_few, section, tallied
from .findings import title_of
from .history_figure import over_runs
from .movements import movements
from .ranking_tables import cut_to
from .verdicts import badge

DIGITS = 12
LONG = 60
NAMED = 5
"""Number of findings that a sentence names; the others are counted."""
ROWS = 20
OF_NO_ESTIMATE = frozenset({"seed", "environment", "limits"})
"""Areas whose differences do not change what is estimated."""
WORST = ("moved", "not comparable", "below the limit", "within chance")


def change(facts: Facts) -> Section:
    """Return section I, the reasons before the numbers."""
    comparison, baseline, approved = (
        facts.change,
        facts.baseline,
        facts.history.baseline,
    )
    runs = over_runs(facts)
    if comparison is None or baseline is None:
        if approved:  # its run was removed
            text = say("change.none_there", run=full_name(approved.run_id))
        else:
            text = say("change.none")
        return section("I", text, {"blocks": runs})
    digest = content_digest(baseline)
    named = "" if approved and approved.content_digest == digest else "_named"
    volatile = baseline.run.volatile
    against = say(
        f"change.against{named}",
        run=full_name(str(volatile.get("run_id", ""))),
        day=day_of(str(volatile["started"])),
        digest=Styled("code", (digest[:DIGITS],)),
    )
    blocks = (
        _verdicts(facts.result, baseline, comparison),
        against,
        _differs(comparison),
        _shifts(facts, baseline),
        *movements(facts, comparison),
        _checks(comparison),
        *runs,
    )
    title = word(f"sections.change{named}")
    return Section("I", "change", title, lede(facts), {"blocks": blocks})


def section_of(result: AuditResult, baseline: AuditResult) -> Section:
    """Return section I alone, in the language and words of the newer run."""
    with own_words(result):
        # The section does not show the digest of the result.
        return change(facts_of(result, "", baseline=baseline))


def lede(facts: Facts) -> Sentence:
    """Return the number of importances that moved, or why nothing was compared."""
    comparison = facts.change
    if comparison is None:
        return say("executive.no_baseline")
    judged = sum(len(question.features) for question in comparison.questions)
    if not judged:
        return say("change.nothing_in_common")
    noise = comparison.count("rank moved within noise")
    text = say(
        "change.lede",
        moved=tallied("change", comparison.count("moved")),
        all=say_count(tallied("change", judged), "importance"),
        noise=say_count(tallied("change", noise), "rank_change"),
    )
    for key in ("new", "gone", "not comparable", "below the minimum"):
        if n := comparison.count(key):  # type: ignore[arg-type]
            what = word(f"change.words.{key}")
            text += say("change.lede_also", n=tallied("change", n), what=what)
    if not comparison.is_noise_only:
        areas = _areas(comparison.areas - OF_NO_ESTIMATE)
        text += say("change.lede_other", areas=areas)
    return text


def _areas(names: Set[str]) -> Sentence:
    """Return the names of areas in words, in the order of `AREAS`."""
    return series(word(f"change.areas.{area}") for area in AREAS if area in names)


def _verdicts(now: AuditResult, baseline: AuditResult, comparison: Change) -> Sentence:
    """Return both verdicts, and the causes of a change: findings, then settings."""
    is_same = now.verdict == baseline.verdict
    key = "verdict_same" if is_same else "verdict"
    text = say(f"change.{key}", before=badge(baseline.verdict), now=badge(now.verdict))
    for name, findings in verdict_causes(baseline, now).items():
        every = [
            say(
                "change.finding",
                title=title_of([finding]),
                digits=Styled("code", (finding.key[:KEY_DIGITS],)),
            )
            for finding in findings
        ]
        if name == "accepted":
            terms = (show_hidden(now.acceptance(f.key)) for f in findings)
            every = [
                (*title, f", {until}")
                for title, until in zip(every, terms, strict=True)
            ]
        if titles := first_few(every, NAMED, "findings"):
            text += say(f"change.{name}", titles=joined(titles, "; "))
    if not is_same and comparison.areas:
        text += say("change.differs_too", areas=_areas(comparison.areas))
    return text


def _differs(comparison: Change) -> Table:
    """Return a table with one row per difference, and one for each area without any."""
    rows: list[tuple[Any, ...]] = []
    for area in AREAS:
        here = [one for one in comparison.differences if one.area == area]
        label = word(f"change.areas.{area}")
        if not here:
            rows.append((label, "", say("change.same"), ""))
        ranges = [one for one in here if one.kind == "range"]
        if len(ranges) > ROWS:  # the shifts show what moved
            here = [one for one in here if one not in ranges]
            many = say("change.ranges", n=tallied("change", len(ranges)))
            rows.append((label, many, "", say("change.other")))
        rows += [
            (label, short_name(one.what), _side(one.old), _side(one.new))
            for one in here
        ]
    return table_of(
        "differs",
        "change",
        "area:header what baseline this_run",
        rows,
        caption=say("change.differs"),
    )


def _side(text: str) -> str:
    """Return the text of one side: a digest abbreviated, an empty text as a dash."""
    if len(text) == 64 and set(text) <= set("0123456789abcdef"):
        return f"{text[:DIGITS]} …"
    safe = show_hidden(text)
    return f"{safe[: LONG - 1]}…" if len(safe) > LONG else safe or "–"


def _checks(comparison: Change) -> Table | Sentence:
    """Return the table of checks with another verdict, or a sentence if none has."""
    if not comparison.checks:
        return say("change.checks_same")
    words = look_up("check_words")
    rows = []
    for one in comparison.checks:
        verdicts = (
            words[text] if text else word("change.not_made")
            for text in (one.old, one.new)
        )
        subject = short_name(one.subject)
        rows.append((name_of_check(one.check), subject, *verdicts))
    return table_of(
        "verdict-changes",
        "thresholds",
        "check:header subject change.baseline change.this_run",
        rows,
        caption=say("change.checks"),
    )


def _shifts(facts: Facts, baseline: AuditResult) -> Table | Sentence:
    """Return the table of columns shifted beyond chance, the worst first."""
    if not facts.shifts:
        unknown = baseline.quantiles.empty or facts.result.quantiles.empty
        return say(f"change.shifts_{'unknown' if unknown else 'apart'}")
    total = tallied("change", len(facts.shifts))
    loud = [shift for shift in facts.shifts if _worst(shift) != "within chance"]
    if not loud:
        return say("change.shifts_none", n=total)
    rows: list[tuple[Any, ...]] = []
    for shift in sorted(loud, key=_order):
        of_target = say("change.of_target") if shift.role == "target" else ()
        verdict = word(f"change.shift_words.{shift.verdict}")
        gaps = look_up("change.missing_words").get(shift.missing_verdict)
        verdict = f"{verdict}; {gaps}" if gaps else verdict
        rows.append(
            (
                (full_name(shift.column), *of_target),
                word(f"change.shift_splits.{shift.split}"),
                significant(shift.statistic),
                significant(shift.noise),
                percent(shift.missing_old),
                percent(shift.missing_new),
                Styled("strong", (verdict,)) if _worst(shift) == "moved" else verdict,
            )
        )
    note = say(
        "change.shift_note",
        limit=significant(facts.shifts[0].limit),
        miss=percent(MISS_RATE),
    )
    table = table_of(
        "shifts",
        "change",
        "shift_column:header shift_rows psi:number chance:number "
        "missing_before:number missing_now:number shift_verdict",
        rows,
        caption=say("change.shifts", n=tallied("change", len(loud)), total=total),
        notes=(note,),
    )
    return cut_to(table, table.rows[:ROWS])


def _worst(shift: Shift) -> str:
    """Return the worse of the verdicts on values and on missing cells.

    If a run has no values of a column, the verdict on missing cells shows that.
    """
    return min(shift.verdict, shift.missing_verdict, key=WORST.index)


def _order(shift: Shift) -> tuple[int, float]:
    statistics = (shift.statistic, shift.missing_statistic)
    return WORST.index(_worst(shift)), -max(0.0, *(x for x in statistics if x == x))
