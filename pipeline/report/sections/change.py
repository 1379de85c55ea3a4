"""Section I: what differs from the approved baseline, what that allows to conclude.

Then what moved, feature by feature, which checks came out otherwise, and last the
verdicts and leaders of the runs before, approved or not.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from ...data.shifts import MISS_RATE, Shift
from ...records.result import AuditResult
from ...runs.baseline.change import Change, VerdictChange
from ...runs.baseline.differences import AREAS, Difference
from ..text.blocks import Cell, Cells, Link, Row, Section, Sentence, Styled, Table
from ..text.number_text import percent, significant
from ..text.wording import (
    full_name,
    joined,
    look_up,
    say,
    say_count,
    series,
    short_name,
    show_hidden,
    table_of,
    word,
)
from .control import day_of
from .facts import Facts, facts_of, tallied
from .findings import title_of
from .history_figure import over_runs
from .movements import movements
from .verdicts import badge

DIGITS = 12
LONG = 60
NAMED = 5
"""Findings that a sentence names; the rest is counted."""
ROWS = 20
WORST = ("moved", "not comparable", "below the limit", "within chance")


def change(facts: Facts) -> Section:
    """Return section I: the four steps in their order, the why before the numbers."""
    is_named = facts.baseline is not None and not _is_approved(facts)
    title = word("sections.change_named" if is_named else "sections.change")
    runs = over_runs(facts)
    if facts.change is None or facts.baseline is None:
        return Section("I", "change", title, _nothing(facts), {"blocks": runs})
    blocks = (
        _verdicts(facts, facts.baseline),
        _against(facts),
        _differs(facts.change),
        *shifted(facts),
        conclusion(facts.change),
        *movements(facts, facts.change),
        *_checks(facts.change),
        *runs,
    )
    return Section("I", "change", title, lede(facts), {"blocks": blocks})


def _nothing(facts: Facts) -> Sentence:
    """Return why nothing is compared: there is no baseline, or its run is gone."""
    if approved := facts.history.baseline:
        return say("change.none_there", run=full_name(approved.run_id))
    if facts.history.runs and not facts.is_part:
        return say("change.none_but_runs", figure=Link("fig-history"))
    return say("change.none")


def section_of(result: AuditResult, baseline: AuditResult) -> Section:
    """Return section I alone."""
    return change(facts_of(result, "", baseline=baseline))  # its digest is not told


def lede(facts: Facts) -> Sentence:
    """Return in one sentence how many importances moved; a reason if none can say."""
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
            text += say("change.lede_also", n=tallied("change", n), what=_word(key))
    if not comparison.is_noise_only:
        text += say("change.lede_other", areas=_areas(comparison))
    return text


def _word(key: str) -> str:
    return str(look_up("change.words")[key])


OF_NO_ESTIMATE = frozenset({"seed", "environment", "limits"})
"""Areas whose differences leave what is estimated as it was."""


def conclusion(comparison: Change) -> Sentence:
    """Return what the differences allow to conclude from a movement."""
    if not comparison.differences:
        return say("change.conclude_same")
    if comparison.is_noise_only:
        return say("change.conclude_noise")
    return say("change.conclude_other", areas=_areas(comparison))


def _areas(comparison: Change) -> Sentence:
    """Return the areas that differ and change what is estimated."""
    areas = [area for area in AREAS if area in comparison.areas - OF_NO_ESTIMATE]
    return series(word(f"change.areas.{area}") for area in areas)


def _is_approved(facts: Facts) -> bool:
    """Return whether the baseline is the approved one, and none that was named."""
    approved = facts.history.baseline
    digest = facts.baseline_digest if facts.baseline else ""
    return approved is not None and approved.content_digest == digest


def _verdicts(facts: Facts, baseline: AuditResult) -> Sentence:
    """Return both verdicts, and which failures and warnings account for another."""
    now = facts.result
    key = "verdict_same" if now.verdict == baseline.verdict else "verdict"
    text = say(f"change.{key}", before=badge(baseline.verdict), now=badge(now.verdict))
    before, after = (
        {one.key: one for one in result.findings if one.severity != "info"}
        for result in (baseline, now)
    )
    lists = {
        "found": [after[k] for k in after if k not in before],
        "gone": [before[k] for k in before if k not in after],
        "accepted": [
            after[k] for k in after if k in now.accepted and k not in baseline.accepted
        ],
        "lapsed": [
            after[k] for k in after if k in baseline.accepted and k not in now.accepted
        ],
    }
    for name, findings in lists.items():
        titles = [title_of(one) for one in findings[:NAMED]]
        if len(findings) > NAMED:
            more = tallied("findings", len(findings) - NAMED)
            titles.append(say("words.more", n=more))
        text += say(f"change.{name}", titles=joined(titles, "; ")) if titles else ()
    return text


def _against(facts: Facts) -> Sentence:
    """Return which run the baseline is."""
    run = facts.baseline.run  # type: ignore[union-attr]
    return say(
        "change.against" if _is_approved(facts) else "change.against_named",
        run=full_name(str(run.volatile.get("run_id", ""))),
        day=day_of(str(run.volatile["started"])),
        digest=Styled("code", (facts.baseline_digest[:DIGITS],)),
    )


def _differs(comparison: Change) -> Table:
    """Return one row per difference, and one for each area without any."""
    rows: list[Cells] = []
    for area in AREAS:
        here = [one for one in comparison.differences if one.area == area]
        label = word(f"change.areas.{area}")
        if not here:
            same = (Cell((label,)), Cell(), Cell(say("change.same")), Cell())
            rows.append(Row(same))
        ranges = [one for one in here if one.kind == "range"]
        if len(ranges) > ROWS:  # other rows have other ends: the shifts tell what moved
            here = [one for one in here if one not in ranges]
            many = say("change.ranges", n=tallied("change", len(ranges)))
            cells = (Cell((label,)), Cell(many), Cell(), Cell(say("change.other")))
            rows.append(Row(cells))
        rows += [_difference(one, label) for one in here]
    return table_of(
        "differs",
        "change",
        "area:header what baseline this_run",
        rows,
        caption=say("change.differs"),
    )


def _difference(one: Difference, label: str) -> Cells:
    sides = (Cell((_side(text),)) for text in (one.old, one.new))
    return (label, short_name(one.what), *sides)


def _side(text: str) -> str:
    """Return what one side has: a digest by its first digits, nothing as a dash."""
    if len(text) == 64 and set(text) <= set("0123456789abcdef"):
        return f"{text[:DIGITS]} …"
    safe = show_hidden(text)
    return f"{safe[: LONG - 1]}…" if len(safe) > LONG else safe or "–"


def _checks(comparison: Change) -> tuple[Table | Sentence, ...]:
    """Return the checks with another verdict, or that there is none."""
    if not comparison.checks:
        return (say("change.checks_same"),)
    table = table_of(
        "verdict-changes",
        "thresholds",
        "check:header subject change.baseline change.this_run",
        [_check(one) for one in comparison.checks],
        caption=say("change.checks"),
    )
    return (table,)


def _check(one: VerdictChange) -> Cells:
    words = look_up("check_words")
    name = look_up("checks").get(one.check, one.check.replace("_", " "))
    sides = (words[text] if text else word("change.not_made") for text in one[2:])
    return (name, joined([short_name(one.subject)]), *sides)


def shifted(facts: Facts) -> tuple[Table | Sentence, ...]:
    """Return the columns that moved beyond chance, the worst first; others counted."""
    if not facts.shifts:
        quantiles = [
            s.quantiles for s in (facts.baseline, facts.result) if s is not None
        ]
        unknown = any(frame.empty for frame in quantiles)
        return (say(f"change.shifts_{'unknown' if unknown else 'apart'}"),)
    shifts = sorted(facts.shifts, key=_order)
    loud = [shift for shift in shifts if _worst(shift) != "within chance"]
    total = tallied("change", len(shifts))
    if not loud:
        return (say("change.shifts_none", n=total),)
    table = table_of(
        "shifts",
        "change",
        (
            "shift_column:header shift_rows psi:number "
            "chance:number missing_before:number missing_now:number "
            "shift_verdict"
        ),
        map(_row, loud[:ROWS]),
        caption=say("change.shifts", n=tallied("change", len(loud)), total=total),
        notes=(
            say(
                "change.shift_note",
                limit=significant(shifts[0].limit),
                miss=percent(MISS_RATE),
            ),
        ),
    )
    return (table if len(loud) <= ROWS else _cut(table, loud),)


def _cut(table: Table, loud: Sequence[Shift]) -> Table:
    """Return the table with all its rows behind it."""
    full = replace(table, id=f"{table.id}-all", rows=tuple(map(_row, loud)), notes=())
    full = replace(full, caption=say("ranking.whole", table=Link(table.id)))
    return replace(table, everything=full)


def _worst(shift: Shift) -> str:
    """Return the worse of the verdicts on values and on missing cells.

    Where no value is known in one run, the missing cells have told it.
    """
    return min(shift.verdict, shift.missing_verdict, key=WORST.index)


def _order(shift: Shift) -> tuple[int, float]:
    statistics = (shift.statistic, shift.missing_statistic)
    return WORST.index(_worst(shift)), -max(0.0, *(x for x in statistics if x == x))


def _row(shift: Shift) -> Cells:
    verdict = word(f"change.shift_words.{shift.verdict}")
    gaps = look_up("change.missing_words").get(shift.missing_verdict)
    verdict = f"{verdict}; {gaps}" if gaps else verdict
    numbers = (_number(shift.statistic), _number(shift.noise))
    shares = (_share(shift.missing_old), _share(shift.missing_new))
    return (
        _name(shift),
        word(f"change.shift_splits.{shift.split}"),
        *(*numbers, *shares),
        Styled("strong", (verdict,)) if _worst(shift) == "moved" else verdict,
    )


def _name(shift: Shift) -> Sentence:
    name: Sentence = (full_name(shift.column),)
    return (*name, *say("change.of_target")) if shift.role == "target" else name


def _number(value: float) -> str:
    return "–" if math.isnan(value) else significant(value)


def _share(value: float) -> str:
    return "–" if math.isnan(value) else percent(value)
