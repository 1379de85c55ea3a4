"""Findings on how rows moved since the approved baseline.

Columns that came or went, categories new or gone, distributions and missing cells that
chance does not explain. Not: the statistic (`column_shifts`).
"""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

from ...assess.checks.answers import Limit, Row, row_of
from ...data.quantiles import sketches
from ...data.shifts import Stability
from ...records.errors import quote
from ...records.finding import Finding
from ...records.frames import FRAMES
from ...records.result import AuditResult
from ...records.shift import LIMIT, Shift, Verdict
from ..signoff.closed_findings import OF_BASELINE
from ..summary import NO_BASELINE, Approved
from .category_drift import category_findings
from .column_shifts import shifts

AGAINST_BASELINE = (NO_BASELINE, *OF_BASELINE)
"""Every check of this room: none of them is of a run alone."""
ROWS = {"train": "training rows", "test": "test rows", "reference": "reference rows"}
COLLECTED = "Check how these rows were collected."
MEANT = "If the change is intended, approve a run that has it."
_warning = partial(Finding, severity="warning")
WORST: tuple[Verdict, ...] = (
    *("moved", "below the limit", "within chance", "not comparable"),
)


def with_drift(
    result: AuditResult, baseline: AuditResult | None, approved: Approved | None
) -> AuditResult:
    """Return a result with what it has to say against the approved baseline.

    Parameters
    ----------
    result : AuditResult
    baseline : AuditResult or None
        The approved run; None if there is none or it is gone.
    approved : Approved or None
        What made it one.
    """
    if baseline is None:
        gone = () if approved is None else (baseline_missing(approved),)
        return result.with_findings(gone)
    rows = [*result.checks.to_dict("records"), *limit_rows(baseline, result)]
    with_checks = result.with_frames(checks=FRAMES["checks"].of(rows))
    return with_checks.with_findings(drift_findings(baseline, result))


def baseline_missing(approved: Approved) -> Finding:
    """Return the finding that the approved run is not there to compare with."""
    return _warning(
        check=NO_BASELINE,
        subject=approved.run_id,
        message=f"Run {approved.run_id}, approved by {approved.printed_name} at "
        f"{approved.signed_at}, no longer exists, so nothing was compared with "
        "it.",
        remedy="Put its folder back, or approve another run.",
    )


def drift_findings(baseline: AuditResult, result: AuditResult) -> tuple[Finding, ...]:
    """Return one finding per column, category or distribution that is not as it was.

    Parameters
    ----------
    baseline, result : AuditResult
        The approved run, and the run held against it.

    Returns
    -------
    tuple of Finding
        "column_added", "column_removed", "column_kind", "category_new",
        "category_gone", "distribution_shift", "missing_share": warnings, but for
        categories whose absence chance explains at the rate of `column_shifts`, which
        are notes. A new category is a warning however rare it is: no approved run has
        it. None if one of the runs read no rows.
    """
    if baseline.datasets.empty or result.datasets.empty:
        return ()
    column_shifts = shifts(baseline, result)
    return (
        *_columns(baseline, result),
        *_kinds(baseline, result),
        *category_findings(baseline, result),
        *(f for rows in _by_column(column_shifts) if (f := _distribution(rows))),
        *(f for rows in _by_column(column_shifts) if (f := _missing(rows))),
    )


def limit_rows(baseline: AuditResult, result: AuditResult) -> list[Row]:
    """Return the rows of the table of thresholds: of each column its worst split.

    Where the index is above the limit and chance explains it, chance is the limit. A
    column without missing cells in both runs has no row for them.
    """
    if result.quantiles.empty or baseline.datasets.empty:
        return []
    limit = _limit(result)
    if baseline.quantiles.empty:
        finding = _warning(check="distribution_shift", subject="", message="")
        return [row_of(finding, "the baseline kept no distributions", limit, "not run")]
    by_column = _by_column(shifts(baseline, result))
    values = [_row("distribution_shift", rows, limit) for rows in by_column]
    gaps = [
        _row("missing_share", rows, limit)
        for rows in by_column
        if any(row.missing_old or row.missing_new for row in rows)
    ]
    return [*values, *gaps]


def _limit(result: AuditResult) -> Limit:
    limit = float(result.run.config["checks"]["shift"])
    is_default = limit == LIMIT
    return Limit(limit, "default" if is_default else "[checks] shift")


class _Judgement(NamedTuple):
    """One index of a split: of the values, or of the missing cells."""

    split: str
    stability: Stability
    verdict: Verdict


def _judge(check: str, rows: Iterable[Shift]) -> list[_Judgement]:
    """Return one index of each split, the worst first."""
    judgements = [
        _Judgement(s.split, Stability(s.statistic, s.noise), s.verdict)
        if check == "distribution_shift"
        else _Judgement(
            s.split,
            Stability(s.missing_statistic, s.missing_noise),
            s.missing_verdict,
        )
        for s in rows
    ]
    return sorted(judgements, key=lambda j: (WORST.index(j.verdict), -j.stability.psi))


def _row(check: str, rows: tuple[Shift, ...], limit: Limit) -> Row:
    worst = _judge(check, rows)[0]
    finding = _warning(check=check, subject=rows[0].column, message="")
    if worst.verdict == "not comparable":
        return row_of(finding, "not comparable", limit, "not run")
    index, noise = worst.stability
    by_chance = worst.verdict == "within chance" and index > float(limit.value)
    return row_of(
        finding,
        index,
        Limit(noise, "chance") if by_chance else limit,
        "warn" if worst.verdict == "moved" else "pass",
    )


def _by_column(column_shifts: Iterable[Shift]) -> list[tuple[Shift, ...]]:
    """Return the shifts of each column together, in their order."""
    by_column: dict[tuple[str, str], list[Shift]] = {}
    for shift in column_shifts:
        by_column.setdefault((shift.role, shift.column), []).append(shift)
    return [tuple(rows) for rows in by_column.values()]


def _columns(baseline: AuditResult, result: AuditResult) -> Iterator[Finding]:
    """Yield a finding for each column that one of the runs alone has."""
    before, after = _names(baseline), _names(result)
    for column, role in after.items():
        if before.get(column) != role:
            yield _warning(
                check="column_added",
                subject=column,
                message=f"Column {quote(column)} is a {role} of this run but not of "
                "the approved baseline.",
                remedy=MEANT,
                measure=role,
            )
    for column, role in before.items():
        if after.get(column) != role:
            yield _warning(
                check="column_removed",
                subject=column,
                message=f"Column {quote(column)} was a {role} of the approved baseline "
                "but not of this run.",
                remedy="Check where the rows come from. If this is intended, approve a "
                "run without it.",
                measure=role,
            )


def _names(result: AuditResult) -> dict[str, str]:
    """Return the role of each column."""
    names = dict.fromkeys(map(str, result.columns["feature"]), "feature")
    return {**names, str(result.datasets["target"].iloc[0]): "target"}


def _kinds(baseline: AuditResult, result: AuditResult) -> Iterator[Finding]:
    """Yield a finding for each column that holds levels in one run, not in the other.

    The test rows have the kinds of the training rows.
    """
    before, after = (_of_kind(side) for side in (baseline, result))
    for key, kind in after.items():
        if before.get(key, kind) != kind:
            yield _warning(
                check="column_kind",
                subject=key[1],
                message=f"Column {quote(key[1])} is a {kind} now and was a "
                f"{before[key]} in the approved baseline, so their distributions "
                "cannot be compared.",
                remedy="Declare its former type in the configuration, or approve a run "
                "that has the new one.",
                measure=key[0],
            )


def _of_kind(result: AuditResult) -> dict[tuple[str, str], str]:
    """Return the kind of each column of some known value, by role and name."""
    sketch_items = sketches(result.quantiles).items()
    return {key[1:]: one.kind for key, one in sketch_items if one.kind != "missing"}


def _distribution(rows: tuple[Shift, ...]) -> Finding | None:
    """Return the finding on the values of a column, if they moved in some split."""
    column, limit = rows[0].column, rows[0].limit
    moves = [j for j in _judge("distribution_shift", rows) if j.verdict == "moved"]
    if not moves:
        return None
    message = (
        f"{_column_text(rows[0])} differs in distribution from the approved "
        f"baseline: {_indices(moves, limit)}. The limit is {limit:.3g}."
    )
    return _warning(
        check="distribution_shift",
        subject=column,
        message=message,
        remedy=f"{COLLECTED} {MEANT}",
        measure=rows[0].role,
        evidence=_evidence(moves, limit),
    )


def _missing(rows: tuple[Shift, ...]) -> Finding | None:
    """Return the finding on the missing cells of a column, if their share moved."""
    column, limit = rows[0].column, rows[0].limit
    moves = [j for j in _judge("missing_share", rows) if j.verdict == "moved"]
    if not moves:
        return None
    by_split = {row.split: row for row in rows}
    shares = ", ".join(
        f"{_percent(by_split[j.split].missing_new)} of the {_rows(j.split)} (was "
        f"{_percent(by_split[j.split].missing_old)})"
        for j in moves
    )
    message = (
        f"{_column_text(rows[0])} differs in its share of missing cells from the "
        f"approved baseline: {shares}; {_indices(moves, limit)}. The limit is "
        f"{limit:.3g}."
    )
    return _warning(
        check="missing_share",
        subject=column,
        message=message,
        remedy=COLLECTED,
        measure=rows[0].role,
        evidence=_evidence(moves, limit),
    )


def _column_text(shift: Shift) -> str:
    return f"{'Target' if shift.role == 'target' else 'Column'} {quote(shift.column)}"


def _indices(moves: Iterable[_Judgement], limit: float) -> str:
    return ", ".join(
        f"PSI {_apart(j.stability.psi, limit)} in the {_rows(j.split)} (at most "
        f"{j.stability.noise:.2g} is due to chance or approximation)"
        for j in moves
    )


def _apart(value: float, limit: float) -> str:
    """Return a number in as many digits as show that it is not the limit."""
    digits = (n for n in range(3, 17) if f"{value:.{n}g}" != f"{limit:.{n}g}")
    return f"{value:.{next(digits, 17)}g}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"


def _rows(split: str) -> str:
    return ROWS.get(split, "rows")


def _evidence(moves: Iterable[_Judgement], limit: float) -> dict[str, float]:
    indices = {f"psi_{j.split}": j.stability.psi for j in moves}
    chance = {f"chance_{j.split}": j.stability.noise for j in moves}
    return {**indices, **chance, "limit": limit}
