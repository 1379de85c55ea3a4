"""Categories that a column holds now and not in the approved baseline, or no more."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from ...data.quantiles import Sketch, sketches
from ...records.errors import listed, quote
from ...records.finding import Finding
from ...records.result import AuditResult
from ...records.shift import MISS_RATE


class _Levels(NamedTuple):
    """The rows of each level of one column, over the splits that both runs have."""

    old: Mapping[str, int]
    new: Mapping[str, int]


def category_findings(baseline: AuditResult, result: AuditResult) -> Iterator[Finding]:
    """Yield a finding for each column with levels that one of the runs alone has.

    A new level is a warning however rare it is, since no approved run has it. Levels
    that are gone are a note if chance explains the absence of each: in m of n + m rows
    drawn without replacement, with the rate of `data.shifts` over all columns and
    levels.
    """
    before, after = sketches(baseline.quantiles), sketches(result.quantiles)
    pairs = {key: (before[key], new) for key, new in after.items() if key in before}
    pairs_by_column: dict[tuple[str, str], list[tuple[Sketch, Sketch]]] = {}
    for (_, *key), pair in pairs.items():
        if {side.kind for side in pair} == {"category"}:
            pairs_by_column.setdefault((key[0], key[1]), []).append(pair)
    for (role, column), sides in pairs_by_column.items():
        levels = _Levels(*(_sum(side) for side in zip(*sides, strict=True)))
        if new := _alone(levels.new, levels.old):
            yield _new(column, role, new)
        if gone := _alone(levels.old, levels.new):
            miss_rate = MISS_RATE / (len(pairs) * len(levels.old))
            chance = _chance_of_none(levels, max(gone.values()))
            yield _gone(column, role, gone, is_by_chance=chance > miss_rate)


def _sum(side: Iterable[Sketch]) -> dict[str, int]:
    """Return the rows of each level in all the splits together."""
    rows_by_level: dict[str, int] = {}
    for sketch in side:
        for level, rows in sketch.levels.items():
            rows_by_level[level] = rows_by_level.get(level, 0) + rows
    return rows_by_level


def _alone(side: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """Return the levels of which this side alone has rows, the most first."""
    alone = {k: n for k, n in side.items() if n and not other.get(k)}
    return dict(sorted(alone.items(), key=lambda item: -item[1]))


def _chance_of_none(levels: _Levels, rows: int) -> float:
    """Return the chance that no row of a level falls into the new run.

    Of n + m rows, m drawn without replacement: how often none of `rows` is drawn.
    """
    n, m = sum(levels.old.values()), sum(levels.new.values())
    ways = gammaln([n + m - rows + 1, n - rows + 1, n + m + 1, n + 1])
    return float(np.exp(ways[0] - ways[1] - ways[2] + ways[3]))


def _new(column: str, role: str, levels: Mapping[str, int]) -> Finding:
    """Return the finding on new levels; others make another finding of it."""
    return Finding(
        check="category_new",
        severity="warning",
        subject=column,
        message=f"Column {quote(column)} holds {_describe_levels(levels)} that no row "
        "of the approved baseline has.",
        remedy="Check how the models handle them. If they are intended, approve a run "
        "that has them.",
        evidence=_evidence(levels),
        measure=f"{role}: {', '.join(sorted(levels))}",
    )


def _gone(
    column: str, role: str, levels: Mapping[str, int], *, is_by_chance: bool
) -> Finding:
    explained = " This can be due to chance." if is_by_chance else ""
    return Finding(
        check="category_gone",
        severity="info" if is_by_chance else "warning",
        subject=column,
        message=f"Column {quote(column)} has no row of {_describe_levels(levels)} that "
        f"the approved baseline has.{explained}",
        remedy="" if is_by_chance else "Check how these rows were collected.",
        evidence=_evidence(levels),
        measure=role,
    )


def _describe_levels(levels: Mapping[str, int]) -> str:
    rows = sum(levels.values())
    many = "level" if len(levels) == 1 else "levels"
    row_count = f"{rows} {'row' if rows == 1 else 'rows'}"
    return f"{len(levels)} {many} ({listed(levels)}; {row_count})"


def _evidence(levels: Mapping[str, int]) -> dict[str, float]:
    return {"levels": float(len(levels)), "rows": float(sum(levels.values()))}
