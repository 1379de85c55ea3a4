"""Findings on changes of the data since the approved baseline.

They are on columns and categories that are new or gone, and on distributions and shares
of missing cells whose change chance does not explain. They use the sketches that both
runs store (`quantiles`), not the rows. Not: the statistic (`data.shifts`).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from scipy.stats import hypergeom

from ...data import shifts as of_sketches
from ...data.quantiles import Sketch, sketches
from ...records.check_answers import Limit, row_of
from ...records.errors import listed, quote, several
from ...records.finding import Finding
from ...records.frames import FRAMES, Row
from ...records.result import AuditResult
from ...records.shift import LIMIT, MISS_RATE, Shift, Verdict
from ..signoff.closed_findings import OF_BASELINE
from ..summary import NO_BASELINE, Approved

AGAINST_BASELINE = (NO_BASELINE, *OF_BASELINE)
"""All checks that need the approved baseline."""
CHECKS = ("distribution_shift", "missing_share")
"""Those of them that have a row in the table of thresholds."""
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
    """Return a result with the checks and findings against the approved baseline.

    Parameters
    ----------
    result : AuditResult
    baseline : AuditResult or None
        The approved run; None if there is none or it is gone.
    approved : Approved or None
        The approval of that run.
    """
    if baseline is None:
        gone = () if approved is None else (baseline_missing(approved),)
        return result.with_findings(gone)
    rows = [*result.checks.to_dict("records"), *limit_rows(baseline, result)]
    with_checks = result.with_frames(checks=FRAMES["checks"].of(rows))
    return with_checks.with_findings(drift_findings(baseline, result))


def baseline_missing(approved: Approved) -> Finding:
    """Return the finding that the approved run no longer exists."""
    return _warning(
        check=NO_BASELINE,
        subject=approved.run_id,
        message=f"Run {approved.run_id}, approved by {approved.printed_name} at "
        f"{approved.signed_at}, no longer exists, so nothing was compared with "
        "it.",
        remedy="Put its folder back, or approve another run.",
    )


def drift_findings(baseline: AuditResult, result: AuditResult) -> tuple[Finding, ...]:
    """Return one finding for each change of columns, categories or distributions.

    Parameters
    ----------
    baseline, result : AuditResult
        The approved run, and the run that is compared with it.

    Returns
    -------
    tuple of Finding
        "column_added", "column_removed", "column_kind", "category_new",
        "category_gone", "distribution_shift", "missing_share". All are warnings, except
        for categories whose absence chance explains at the rate of `data.shifts`: these
        are notes. A new category is a warning however rare it is, because no approved
        run has it. Empty if one of the runs read no rows.
    """
    if baseline.datasets.empty or result.datasets.empty:
        return ()
    by_column = _by_column(shifts(baseline, result))
    return (
        *_columns(baseline, result),
        *_kinds(baseline, result),
        *category_findings(baseline, result),
        *(f for check in CHECKS for rows in by_column if (f := _moved(check, rows))),
    )


def shifts(baseline: AuditResult, result: AuditResult) -> tuple[Shift, ...]:
    """Return the shift in distribution of each column that both runs have.

    Parameters
    ----------
    baseline, result : AuditResult
        The approved run, and the run that is compared with it, whose configuration has
        the limit.

    Returns
    -------
    tuple of Shift
        In the order of `result`; empty if a run has no sketches.
    """
    pairs = _pairs(baseline, result)
    if not pairs:
        return ()
    limit = float(result.run.config["checks"]["shift"])
    return of_sketches.shifts(pairs, limit=limit)


def _pairs(
    baseline: AuditResult, result: AuditResult
) -> dict[tuple[str, str, str], tuple[Sketch, Sketch]]:
    """Return the sketches of columns in both runs, by split, role and name."""
    before, after = sketches(baseline.quantiles), sketches(result.quantiles)
    return {key: (before[key], new) for key, new in after.items() if key in before}


def limit_rows(baseline: AuditResult, result: AuditResult) -> list[Row]:
    """Return the rows of the table of thresholds, with the worst split of each column.

    If the index is above the limit and chance explains it, the limit in the row is that
    of chance. A column without missing cells in both runs has no row for them.
    """
    if result.quantiles.empty or baseline.datasets.empty:
        return []
    value = float(result.run.config["checks"]["shift"])
    limit = Limit(value, "default" if value == LIMIT else "[checks] shift")
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


class _Index(NamedTuple):
    """The index of one split, of the values or of the missing cells."""

    split: str
    psi: float
    noise: float
    verdict: Verdict


def _indices(check: str, rows: Iterable[Shift]) -> list[_Index]:
    """Return the index of each split, the worst first."""
    stem = "missing_" if check == "missing_share" else ""
    names = [f"{stem}{name}" for name in ("statistic", "noise", "verdict")]
    indices = [_Index(s.split, *(getattr(s, name) for name in names)) for s in rows]
    return sorted(indices, key=lambda index: (WORST.index(index.verdict), -index.psi))


def _row(check: str, rows: tuple[Shift, ...], limit: Limit) -> Row:
    worst = _indices(check, rows)[0]
    finding = _warning(check=check, subject=rows[0].column, message="")
    if worst.verdict == "not comparable":
        return row_of(finding, "not comparable", limit, "not run")
    by_chance = worst.verdict == "within chance" and worst.psi > float(limit.value)
    return row_of(
        finding,
        worst.psi,
        Limit(worst.noise, "chance") if by_chance else limit,
        "warn" if worst.verdict == "moved" else "pass",
    )


def _by_column(column_shifts: Iterable[Shift]) -> list[tuple[Shift, ...]]:
    """Return the shifts grouped by column, in their order."""
    by_column: dict[tuple[str, str], list[Shift]] = {}
    for shift in column_shifts:
        by_column.setdefault((shift.role, shift.column), []).append(shift)
    return [tuple(rows) for rows in by_column.values()]


def _columns(baseline: AuditResult, result: AuditResult) -> Iterator[Finding]:
    """Yield a finding for each column that only one of the runs has."""
    before, after = (
        dict.fromkeys(map(str, side.columns["feature"]), "feature")
        | {str(side.datasets["target"].iloc[0]): "target"}
        for side in (baseline, result)
    )
    for check, here, there, words, remedy in (
        (
            *("column_added", after, before),
            "is a {} of this run but not of the approved baseline",
            MEANT,
        ),
        (
            *("column_removed", before, after),
            "was a {} of the approved baseline but not of this run",
            "Check where the rows come from. If this is intended, approve a run "
            "without it.",
        ),
    ):
        for column, role in here.items():
            if there.get(column) != role:
                yield _warning(
                    check=check,
                    subject=column,
                    message=f"Column {quote(column)} {words.format(role)}.",
                    remedy=remedy,
                    measure=role,
                )


def _kinds(baseline: AuditResult, result: AuditResult) -> Iterator[Finding]:
    """Yield a finding for each column that is categorical in only one of the runs.

    The test rows have the kinds of the training rows. A column with only missing cells
    has no kind.
    """
    before, after = (
        {
            key[1:]: sketch.kind
            for key, sketch in sketches(side.quantiles).items()
            if sketch.kind != "missing"
        }
        for side in (baseline, result)
    )
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


def category_findings(baseline: AuditResult, result: AuditResult) -> Iterator[Finding]:
    """Yield a finding for each column with levels that only one of the runs has.

    A new level is a warning however rare it is, because no approved run has it. Levels
    that are gone are a note if chance explains the absence of each from m rows drawn
    without replacement from n + m, at the rate of `data.shifts` over all columns and
    levels.
    """
    pairs = _pairs(baseline, result)
    # The rows of each level, over the splits that both runs have.
    by_column: dict[tuple[str, str], tuple[Counter[str], Counter[str]]] = {}
    for (_, role, column), pair in pairs.items():
        if {side.kind for side in pair} == {"category"}:
            counts = by_column.setdefault((role, column), (Counter(), Counter()))
            for rows_of_levels, side in zip(counts, pair, strict=True):
                rows_of_levels.update(side.levels)
    for (role, column), (old, new) in by_column.items():
        if added := _alone(new, old):
            yield _warning(
                check="category_new",
                subject=column,
                message=f"Column {quote(column)} holds {_describe_levels(added)} that "
                "no row of the approved baseline has.",
                remedy="Check how the models handle them. If they are intended, "
                "approve a run that has them.",
                evidence=_evidence_of_levels(added),
                # The key of the finding depends on the levels.
                measure=f"{role}: {', '.join(sorted(added))}",
            )
        if gone := _alone(old, new):
            miss_rate = MISS_RATE / (len(pairs) * len(old))
            is_by_chance = _chance_of_none(old, new, max(gone.values())) > miss_rate
            yield Finding(
                check="category_gone",
                severity="info" if is_by_chance else "warning",
                subject=column,
                message=f"Column {quote(column)} has no row of "
                f"{_describe_levels(gone)} that the approved baseline has."
                f"{' This can be due to chance.' if is_by_chance else ''}",
                remedy="" if is_by_chance else COLLECTED,
                evidence=_evidence_of_levels(gone),
                measure=role,
            )


def _alone(side: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """Return the levels, with their rows, that only `side` has; most frequent first."""
    alone = {k: n for k, n in side.items() if n and not other.get(k)}
    return dict(sorted(alone.items(), key=lambda item: -item[1]))


def _chance_of_none(old: Mapping[str, int], new: Mapping[str, int], rows: int) -> float:
    """Return the probability that a level has no row in the new run.

    m of n + m rows are drawn without replacement; none of the `rows` of the level is
    drawn.
    """
    m = sum(new.values())
    return float(hypergeom.pmf(0, sum(old.values()) + m, rows, m))


def _describe_levels(levels: Mapping[str, int]) -> str:
    rows = sum(levels.values())
    return f"{several(len(levels), 'level')} ({listed(levels)}; {several(rows, 'row')})"


def _evidence_of_levels(levels: Mapping[str, int]) -> dict[str, float]:
    return {"levels": float(len(levels)), "rows": float(sum(levels.values()))}


def _moved(check: str, shifts_of_column: tuple[Shift, ...]) -> Finding | None:
    """Return the finding on a column whose values or missing cells moved in a split."""
    moves = [i for i in _indices(check, shifts_of_column) if i.verdict == "moved"]
    if not moves:
        return None
    first = shifts_of_column[0]
    what, remedy = "distribution from the approved baseline: ", f"{COLLECTED} {MEANT}"
    if check == "missing_share":
        by_split = {shift.split: shift for shift in shifts_of_column}
        shares = ", ".join(
            f"{100 * by_split[i.split].missing_new:.3g}% of the "
            f"{ROWS.get(i.split, 'rows')} "
            f"(was {100 * by_split[i.split].missing_old:.3g}%)"
            for i in moves
        )
        what = f"its share of missing cells from the approved baseline: {shares}; "
        remedy = COLLECTED
    indices = ", ".join(
        f"PSI {_with_enough_digits(i.psi, first.limit)} in the "
        f"{ROWS.get(i.split, 'rows')} (at most {i.noise:.2g} is due to chance or "
        "approximation)"
        for i in moves
    )
    return _warning(
        check=check,
        subject=first.column,
        message=f"{'Target' if first.role == 'target' else 'Column'} "
        f"{quote(first.column)} differs in {what}{indices}. The limit is "
        f"{first.limit:.3g}.",
        remedy=remedy,
        measure=first.role,
        evidence={f"psi_{i.split}": i.psi for i in moves}
        | {f"chance_{i.split}": i.noise for i in moves}
        | {"limit": first.limit},
    )


def _with_enough_digits(value: float, limit: float) -> str:
    """Return a number with as many digits as it takes to differ from the limit."""
    digits = (n for n in range(3, 17) if f"{value:.{n}g}" != f"{limit:.{n}g}")
    return f"{value:.{next(digits, 17)}g}"
