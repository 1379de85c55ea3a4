"""Comparison of two runs of an audit: differences of their inputs, and moved features.

The older run is the approved baseline. The differences come first, because a movement
can only be interpreted with them. Not: the choice of the baseline, or the report.
"""

from collections.abc import Container, Iterator, Mapping
from itertools import starmap
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from ...engines.agreement import numbers
from ...engines.agreement.sides import side_by_side
from ...records.importance_record import Importance
from ...records.ranking import (
    Measure,
    Question,
    interval,
    null_value_of,
    places,
    primary,
)
from ...records.result import AuditResult
from .differences import Difference, differences
from .drift import CHECKS as AGAINST_BASELINE

Outcome = Literal[
    "moved",
    "below the minimum",
    "rank moved within noise",
    "no evidence of change",
    "new",
    "gone",
    "not comparable",
]


class FeatureChange(NamedTuple):
    """One feature in both runs.

    `band` is the half-width that shuffling alone explains, NaN if unknown. `places_old`
    and `places_new` are the best and worst place that the intervals allow. A rank moved
    within noise if these ranges of both runs overlap.
    """

    feature: str
    old: float
    new: float
    band: float
    rank_old: float
    rank_new: float
    places_old: tuple[float, float]
    places_new: tuple[float, float]
    outcome: Outcome

    @property
    def difference(self) -> float:
        """Difference of the estimates, in the unit of the measure."""
        return self.new - self.old


class QuestionChange(NamedTuple):
    """One question to one model in both runs, with the positions of its two records.

    `why_not` lists the fields in which the estimands differ; if there are any, every
    feature is "not comparable".
    """

    old: int
    new: int
    why_not: str
    features: tuple[FeatureChange, ...]


class VerdictChange(NamedTuple):
    """A check whose verdict changed; "" for a run that did not make it."""

    check: str
    subject: str
    old: str
    new: str


class Change(NamedTuple):
    """The differences between two runs, and the movements of features.

    `unmatched` has the positions of the records whose question is in one run only:
    those of the old run, then those of the new.
    """

    differences: tuple[Difference, ...]
    questions: tuple[QuestionChange, ...]
    unmatched: tuple[tuple[int, ...], tuple[int, ...]]
    checks: tuple[VerdictChange, ...]

    @property
    def areas(self) -> frozenset[str]:
        """The areas with a difference."""
        return frozenset(difference.area for difference in self.differences)

    @property
    def is_noise_only(self) -> bool:
        """Whether only draws can explain a movement: rows and models are the same."""
        return not self.areas & {"configuration", "data", "model", "code"}

    def count(self, outcome: Outcome) -> int:
        """Return the number of features with an outcome, over all questions."""
        return sum(
            row.outcome == outcome
            for question in self.questions
            for row in question.features
        )


def compare_runs(old: AuditResult, new: AuditResult, *, minimum: float = 0.0) -> Change:
    """Return the differences between two runs of an audit, and the moved features.

    A feature *moved* if its difference is outside the band: the half-width of Welch's
    interval over the repeats of both runs, at 1 - 0.01 over all features together
    (Bonferroni), or rounding if nothing is drawn. The band does not include the effect
    of other rows or another fit.

    Parameters
    ----------
    old, new : AuditResult
        The approved baseline, and the run that is compared with it.
    minimum : float, default 0
        The least difference that counts, as a share of the largest importance in
        `old`, measured from the null value.

    Returns
    -------
    Change
        Questions in the order of `new`; features by their rank in `new`, then those
        that are gone.
    """
    before, after = primary(old.importances), primary(new.importances)
    pairs = _pairs(before, after)
    questions = tuple(
        _question_change(old, new, before[pairs[key]][0], after[key][0], minimum)
        for key in after
        if key in pairs
    )
    return Change(
        differences=tuple(differences(old, new)),
        questions=questions,
        unmatched=(_alone(before, {*pairs.values()}), _alone(after, pairs)),
        checks=tuple(_checks(old, new)),
    )


_Key: TypeAlias = tuple[Question, Measure]


def _pairs(before: Mapping[_Key, Any], after: Mapping[_Key, Any]) -> dict[_Key, _Key]:
    """Return the key in the old run of each question of the new run.

    The number of repeats may differ, unless a run has several questions that differ
    only in it.
    """
    pairs = {key: key for key in after if key in before}

    def without_repeats(key: _Key) -> _Key:
        question, (method, of, form, options) = key
        kept_options = tuple(one for one in options if one[0] != "n_repeats")
        return question, (method, of, form, kept_options)

    rest = [[key for key in keys if key not in pairs] for keys in (before, after)]
    for key in rest[1]:
        same = [
            [one for one in keys if without_repeats(one) == without_repeats(key)]
            for keys in rest
        ]
        if [len(keys) for keys in same] == [1, 1]:
            pairs[key] = same[0][0]
    return pairs


def _alone(
    records_by_key: Mapping[Any, Any], elsewhere: Container[Any]
) -> tuple[int, ...]:
    return tuple(
        place for key, (place, _) in records_by_key.items() if key not in elsewhere
    )


def _question_change(
    old: AuditResult, new: AuditResult, i: int, j: int, minimum: float
) -> QuestionChange:
    before, after = old.importances[i], new.importances[j]
    common = [name for name in after.features if name in before.features]
    one, other = (
        side.rows([side.features.index(name) for name in common])
        for side in (after, before)
    )
    left, right, _ = side_by_side(one, other)
    why_not = _cards_differ(before, after)
    positions = dict(zip(left.features, range(len(left.features)), strict=True))
    with np.errstate(invalid="ignore"):  # the spread of infinite losses is NaN
        gaps = numbers.mean_gaps(left, right) if positions and not why_not else None
    means = before.mean[np.isfinite(before.mean)]
    least = minimum * float(np.abs(means - null_value_of(before)).max(initial=0.0))
    sides = _by_feature(before), _by_feature(after)

    def judge(name: str) -> tuple[float, Outcome]:
        if name not in sides[0] or name not in sides[1]:
            return np.nan, "new" if name in sides[1] else "gone"
        a, b = sides[0][name], sides[1][name]
        if gaps is None or name not in positions or a.columns != b.columns:
            return np.nan, "not comparable"
        at = positions[name]
        band = float(gaps.band[at])
        if not gaps.inside[at]:
            gap = abs(float(gaps.difference[at]))
            return band, "moved" if gap >= least else "below the minimum"
        if np.isnan(band) and not gaps.same[at]:  # a single draw has no spread
            return band, "not comparable"
        # If the ranges of places are disjoint, another feature moved past this one.
        overlap = a.places[0] <= b.places[1] and b.places[0] <= a.places[1]
        is_noise = overlap and a.rank != b.rank
        return band, "rank moved within noise" if is_noise else "no evidence of change"

    names = sorted(
        sides[1], key=lambda name: (np.isnan(sides[1][name].rank), sides[1][name].rank)
    )
    rows = []
    for name in (*names, *(name for name in sides[0] if name not in sides[1])):
        a, b = (side.get(name, NOWHERE) for side in sides)
        band, outcome = judge(name)
        ranks = (a.rank, b.rank, a.places, b.places)
        rows.append(FeatureChange(name, a.mean, b.mean, band, *ranks, outcome))
    return QuestionChange(old=i, new=j, why_not=why_not, features=tuple(rows))


class _Feature(NamedTuple):
    """One feature of a record: estimate, rank, best and worst place, and columns."""

    mean: float
    rank: float
    places: tuple[float, float]
    columns: frozenset[str] = frozenset()


NOWHERE = _Feature(np.nan, np.nan, (np.nan, np.nan))


def _by_feature(record: Importance) -> dict[str, _Feature]:
    first, last = (ends.tolist() for ends in places(*interval(record)))
    ends = zip(first, last, strict=True)
    columns = [frozenset(names) for names in record.columns]
    facts = zip(record.mean.tolist(), record.rank.tolist(), ends, columns, strict=True)
    return dict(zip(record.features, starmap(_Feature, facts), strict=True))


def _cards_differ(old: Importance, new: Importance) -> str:
    """Return the fields in which the estimands differ, except the number of rows.

    Measure and question are equal; another number of rows is a difference of the data.
    """
    before, after = old.estimand, new.estimand
    names = dict.fromkeys((*before, *after))
    fields = (
        name
        for name in names
        if name != "n_samples" and before.get(name) != after.get(name)
    )
    units = () if old.unit == new.unit else ("unit",)
    return ", ".join((*fields, *units))


def _checks(old: AuditResult, new: AuditResult) -> Iterator[VerdictChange]:
    """Yield the checks whose verdict changed, in the order of the new run.

    Checks that compare a run with its baseline are left out: the baselines of the two
    runs differ.
    """
    before, after = _verdicts(old), _verdicts(new)
    for key in dict.fromkeys((*after, *before)):
        one, other = before.get(key, ""), after.get(key, "")
        if one != other:
            yield VerdictChange(*key[:2], one, other)


def _verdicts(result: AuditResult) -> dict[tuple[str, str, int], str]:
    """Return verdicts by check, subject, and position among those with equal both."""
    checks = result.checks[~result.checks["check"].isin(AGAINST_BASELINE)]
    places = checks.groupby(["check", "subject"]).cumcount()
    names = ("check", "subject", "verdict")
    check, subject, verdict = (checks[name].map(str) for name in names)
    keys = zip(check, subject, places, strict=True)
    return dict(zip(keys, verdict, strict=True))
