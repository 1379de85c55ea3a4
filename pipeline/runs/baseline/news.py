"""Changes since the run before, in sentences for notifications and the history.

Not: their meaning (the report), or sending them (`notify`).
"""

import math
from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np
from scipy import stats

from ...records.errors import listed, quote, several
from ...records.finding import Finding, gravest_by_key
from ...records.ranking import lead_of, question_in_words
from ...records.result import AuditResult
from ...records.template_folder import english
from ..signoff.answers import LEAST_DIGITS
from ..signoff.closed_findings import closed_since, is_open
from ..summary import RunHistory, summarise
from .change import compare_runs
from .differences import Difference, differences, replaced_models

FEWEST = 5
"""Minimum number of earlier runs on other rows for a prediction interval."""
MISS_RATE = 0.01
"""Rate at which a prediction interval misses the next run, over all features."""
MOST = 10
"""Maximum number of sentences of one kind; further ones are only counted."""
LONGEST = 60
"""Maximum number of characters of a value that differs."""
MISSING = "engine_missing"
CAUSES = {
    "found": "new {severity}",
    "graded": "now a {severity}",
    "gone": "gone",
    "accepted": "accepted",
    "lapsed": "no longer accepted",
    "counting": "counts now",
    "not_counting": "counts no longer",
}
"""Changes of a finding that can explain another verdict, in words."""


def news(
    before: AuditResult | None, now: AuditResult, history: RunHistory
) -> tuple[str, ...]:
    """Return the changes since the run before, one sentence each.

    Parameters
    ----------
    before : AuditResult or None
        The last complete run.
    now : AuditResult
    history : RunHistory
        The runs before `now`: the verdict of the last, complete or not, and all
        findings.

    Notes
    -----
    An incomplete run closes no finding and moves no feature. A run that could not make
    a finding (`closed_findings.closes`) does not close it, and a finding that it left
    open is not new later.

    On the same rows, a feature moved if it left the band of its shuffling noise. On
    other rows features move beyond that band, so the earlier runs on other rows are
    used: a feature moved if it is outside their prediction interval (Hahn & Meeker
    1991, Statistical Intervals, chapter 4), at 1 - 0.01 over all features together,
    assuming independent and nearly normal runs. At least five such runs are needed.
    """
    lines = list(_verdict(before, now, history))
    if before is None:
        severities = history.runs[-1].findings if history.runs else {}
        grave = (f for f in now.findings if f.severity == "failure")
        failed = (f for f in grave if severities.get(f.key) != "failure")
        why = (f"Failure, {_title(f)}: {f.message}" for f in failed)
        return (*lines, *_at_most(why))
    lines += _at_most(_opened(before, now, history))
    lines += _at_most(_expired(before, now))
    if now.run.status == "complete":
        columns = [list(map(str, one.columns["feature"])) for one in (before, now)]
        models = [list(map(str, one.models["model"])) for one in (before, now)]
        went = {*columns[0], *models[0]} - {*columns[1], *models[1]}
        lines += _at_most(
            f"No longer found: {one.severity}, {_named(one)}"
            + (", which no longer exists." if one.subject in went else ".")
            for one in closed_since(before, now)
        )
        lines += _came_and_went("columns", *columns)
        lines += _came_and_went("models", *models)
        if replaced := [one.what for one in replaced_models(before, now)]:
            lines.append(f"Model changed: {_first_five(replaced)}.")
        same_rows = before.run.data_sha256 == now.run.data_sha256
        moved = _left_band(before, now) if same_rows else _left_runs(now, history)
        lines += _at_most(moved)
    return tuple(lines)


def _verdict(
    before: AuditResult | None, now: AuditResult, history: RunHistory
) -> Iterator[str]:
    """Yield a sentence if the verdict differs from that of the last run."""
    last = (
        history.runs[-1].verdict if history.runs else before.verdict if before else ""
    )
    if not last:
        yield f"This is the first run: {now.verdict}."
    elif last != now.verdict:
        causes = []
        if history.runs and history.runs[-1].status != "complete":
            causes.append("the run before did not come to its end")
        if before and before.verdict != now.verdict:
            causes += causes_in_words(before, now)
        why = f": {'; '.join(_at_most(causes))}" if causes else ""
        yield f"The verdict is {now.verdict!r}, and was {last!r}{why}."


def verdict_causes(before: AuditResult, now: AuditResult) -> dict[str, list[Finding]]:
    """Return the findings that can explain another verdict, by their change.

    found: new; graded: another severity; gone: closed, or an engine is available again;
    accepted; lapsed: no longer accepted; counting: at or above `fail_on` only in this
    run; not_counting: only in the run before.
    """
    old, new = (gravest_by_key(one.findings) for one in (before, now))
    exceptions = {f.key for one in (before, now) for f in one.exceptions}
    causes: dict[str, list[Finding]] = {name: [] for name in CAUSES}
    for key in (key for key in new if key in exceptions):
        finding, was = new[key], old.get(key)
        if was is None:
            causes["found"].append(finding)
        elif was.severity != finding.severity:
            causes["graded"].append(finding)
        elif (key in now.accepted) != (key in before.accepted):
            causes["accepted" if key in now.accepted else "lapsed"].append(finding)
        elif now.is_against(finding) != before.is_against(was):
            name = "counting" if now.is_against(finding) else "not_counting"
            causes[name].append(finding)
    there_again = (f for f in old.values() if f.check == MISSING and f.key not in new)
    causes["gone"] = [*closed_since(before, now), *there_again]
    return causes


def causes_in_words(before: AuditResult, now: AuditResult) -> Iterator[str]:
    """Yield possible causes of another verdict, one phrase each.

    The findings come first, then other differences: limits, settings, data, models,
    code, environment, seed. For an incomplete run only the findings are given.
    """
    if now.run.status != "complete":
        yield "the run did not come to its end"
    for cause, findings in verdict_causes(before, now).items():
        for finding in findings:
            words = CAUSES[cause].format(severity=_grade(finding.severity))
            if cause == "accepted":
                words = f"{words} {now.acceptance(finding.key)}"
            yield f"{words}: {_named(finding)}"
    if now.run.status == "complete":
        yield from differences_in_words(before, now)


def differences_in_words(
    before: AuditResult, now: AuditResult, *, reported: Collection[Difference] = ()
) -> Iterator[str]:
    """Yield a phrase for each area with differences other than those in `reported`."""
    by_area: dict[str, list[Difference]] = {}
    for one in (one for one in differences(before, now) if one not in reported):
        by_area.setdefault(one.area, []).append(one)
    for area, rows in by_area.items():
        first, *more = rows
        old, new = (
            f"{side[:LONGEST]}…" if len(side) > LONGEST else side or "not set"
            for side in (first.old, first.new)
        )
        values = f"{first.what}: {old}, now {new}"
        rest = f"; {several(len(more), 'other difference')}" if more else ""
        is_digest = area in ("data", "model")
        yield f"{area} changed" + ("" if is_digest else f" ({values}{rest})")


def _opened(
    before: AuditResult, now: AuditResult, history: RunHistory
) -> Iterator[str]:
    """Yield sentences on findings that are new, or changed their severity."""
    left_open = (one for one in history.findings if is_open(one, history))
    severities: dict[str, str] = {one.key: one.severity for one in left_open}
    severities |= {k: f.severity for k, f in gravest_by_key(before.findings).items()}
    if now.run.status != "complete" and history.runs:  # interrupted again, same cause
        severities |= history.runs[-1].findings
    earlier = {finding.key for finding in history.findings}
    for key, finding in gravest_by_key(now.findings).items():
        was = severities.get(key, "info" if finding.severity == "info" else "")
        if not was:
            word = "Found again" if key in earlier else "New"
            what = f"{finding.severity}, {_title(finding)}"
            yield f"{word}: {what}: {finding.message}"
        elif was != finding.severity:
            grade = f"is now a {_grade(finding.severity)}; it was a {_grade(was)}"
            yield f"{_named(finding)} {grade}."


def _expired(before: AuditResult, now: AuditResult) -> Iterator[str]:
    """Yield sentences on findings that were accepted in the run before and are not."""
    expired = before.accepted.keys() - now.accepted.keys()
    for finding in now.findings:
        if finding.severity != "info" and finding.key in expired:
            was = f"it was accepted {before.acceptance(finding.key)}"
            what = f"{finding.severity}, {_named(finding)}"
            yield f"No longer accepted: {what}; {was}."


def _grade(severity: str) -> str:
    return "note" if severity == "info" else severity


def _title(finding: Finding) -> str:
    """Return the title of a finding in the report."""
    titles = english()["findings"]["title"]
    return str(titles.get(finding.check, finding.check.replace("_", " ")))


def _named(finding: Finding) -> str:
    """Return the title and subject of a finding, with its key."""
    key = finding.key[:LEAST_DIGITS]
    return f"{_title(finding)}, {finding.subject} (key {key})"


def _came_and_went(what: str, old: list[str], new: list[str]) -> Iterator[str]:
    """Yield a sentence on the names that only the new run has, or only the old one."""
    for word, names in (
        (f"New {what}", [name for name in new if name not in old]),
        (f"{what.capitalize()} that no longer exist", [n for n in old if n not in new]),
    ):
        if names:
            yield f"{word}: {listed(names)}."


def _left_runs(now: AuditResult, history: RunHistory) -> Iterator[str]:
    """Yield a sentence on features outside the prediction interval of earlier runs."""
    this = summarise(now)
    on_rows = {
        run.data_sha256: {leader.feature: leader.value for leader in run.leaders}
        for run in history.runs
        if run.status == "complete" and run.measure == this.measure
    }
    on_rows.pop(this.data_sha256, None)
    rows = []
    for leader in this.leaders:
        earlier_values = [
            values.get(leader.feature, math.nan) for values in on_rows.values()
        ]
        low, high = prediction_interval(earlier_values, MISS_RATE / len(this.leaders))
        if leader.value < low or leader.value > high:
            expected = f"expected {low:.4g} to {high:.4g}"
            rows.append(f"{quote(leader.feature)} is {leader.value:.4g}, {expected}")
    lead = lead_of(now.importances)
    if rows and lead is not None:
        yield (
            f"Outside the range of the last {len(on_rows)} runs on other rows, in "
            f"{question_in_words(lead)}: {_first_five(rows)}."
        )


def prediction_interval(values: Sequence[float], miss: float) -> tuple[float, float]:
    """Return the interval that the next value of a normal sample misses at this rate.

    It is mean ± t · s · sqrt(1 + 1/n), with t the 1 - miss/2 quantile of Student's t
    with n - 1 degrees of freedom. With fewer than five finite values it is infinite.
    """
    sample = np.array([value for value in values if math.isfinite(value)])
    if len(sample) < FEWEST:
        return -math.inf, math.inf
    reach = stats.t.ppf(1 - miss / 2, len(sample) - 1) * math.sqrt(1 + 1 / len(sample))
    half = float(reach * sample.std(ddof=1))
    return float(sample.mean()) - half, float(sample.mean()) + half


def _left_band(before: AuditResult, now: AuditResult) -> Iterator[str]:
    """Yield a sentence per question on features outside the band of shuffling noise."""
    checks = now.run.config.get("checks", {})
    for question in compare_runs(
        before, now, minimum=checks.get("minimum_change", 0.0)
    ).questions:
        rows = [
            f"{quote(row.feature)} from {row.old:.4g} to {row.new:.4g}"
            for row in question.features
            if row.outcome == "moved"
        ]
        if rows:
            record = now.importances[question.new]
            yield f"Moved in {question_in_words(record)}: {_first_five(rows)}."


def _first_five(sentences: list[str]) -> str:
    """Return the first five phrases, and the number of the others."""
    more = [f"{len(sentences) - 5} more"] if len(sentences) > 5 else []
    return "; ".join(sentences[:5] + more)


def _at_most(lines: Iterable[str]) -> list[str]:
    """Return the first `MOST` lines, and one with the number of the others."""
    all_lines = list(lines)
    more = len(all_lines) - MOST
    return [*all_lines[:MOST], f"... and {more} more."] if more > 0 else all_lines
