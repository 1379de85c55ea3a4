"""Two runs of one audit held against each other: what differs, what moved.

The older is the approved baseline. What differs decides what a movement may mean, so
it comes first. Not: which run is the baseline, or how a report says it.
"""

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from ...engines.agreement import numbers
from ...engines.agreement.sides import side_by_side
from ...records.importance_record import Importance
from ...records.ranking import Measure, Question, interval, nothing_of, places, primary
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

    `band` is the half-width that shuffling alone explains, NaN where nobody knows it;
    `places_old` and `places_new` are the best and worst place the intervals allow. A
    rank moved within noise if both runs allow a place in common.
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
        """How far the estimate went, in the unit of the measure."""
        return self.new - self.old


class QuestionChange(NamedTuple):
    """One question to one model in both runs, with the places of its two records.

    `why_not` names the fields in which the estimand cards differ, if they do; every
    feature is then "not comparable".
    """

    old: int
    new: int
    why_not: str
    features: tuple[FeatureChange, ...]


class VerdictChange(NamedTuple):
    """A check whose verdict is another one; "" where a run did not make it."""

    check: str
    subject: str
    old: str
    new: str


class Change(NamedTuple):
    """What differs between two runs, and what moved.

    `unmatched` holds the places of the records whose question one run alone asked:
    of the old, then of the new.
    """

    differences: tuple[Difference, ...]
    questions: tuple[QuestionChange, ...]
    unmatched: tuple[tuple[int, ...], tuple[int, ...]]
    checks: tuple[VerdictChange, ...]

    @property
    def areas(self) -> frozenset[str]:
        """The areas in which anything differs."""
        return frozenset(difference.area for difference in self.differences)

    @property
    def is_noise_only(self) -> bool:
        """Whether a movement can only come from the draws: rows and models are same."""
        return not self.areas & {"configuration", "data", "model", "code"}

    def count(self, outcome: Outcome) -> int:
        """Return how many features of all questions have this word."""
        return sum(
            row.outcome == outcome
            for question in self.questions
            for row in question.features
        )


def compare_runs(old: AuditResult, new: AuditResult, *, minimum: float = 0.0) -> Change:
    """Return what differs between two runs of an audit and what moved.

    A feature *moved* if its difference is outside the band: the half-width of Welch's
    interval over the repeats of both runs, at 1 - 0.01 over all features together
    (Bonferroni), or rounding where nothing is drawn. The band knows nothing of other
    rows or another fit.

    Parameters
    ----------
    old, new : AuditResult
        The approved baseline, and the run held against it.
    minimum : float, default 0
        The least difference that counts, as a share of the largest importance in
        `old` (of its distance from a feature that does not matter).

    Returns
    -------
    Change
        Questions in the order of `new`, features by their rank in it, gone ones last.
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
    """Return what each question of the new run is called in the old one.

    How often is drawn is no part of a question, unless one run asks it several times.
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
    with np.errstate(invalid="ignore"):  # infinite losses have no spread
        gaps = numbers.mean_gaps(left, right) if positions and not why_not else None
    means = before.mean[np.isfinite(before.mean)]
    least = minimum * float(np.abs(means - nothing_of(before)).max(initial=0.0))
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
        # Where the places have none in common, another feature moved past this one.
        meet = a.places[0] <= b.places[1] and b.places[0] <= a.places[1]
        is_noise = meet and a.rank != b.rank
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
    numbers_of = zip(record.mean.tolist(), record.rank.tolist(), strict=True)
    ends = zip(first, last, strict=True)
    columns = [frozenset(names) for names in record.columns]
    parts = zip(record.features, numbers_of, ends, columns, strict=True)
    return {name: _Feature(*pair, where, which) for name, pair, where, which in parts}


def _cards_differ(old: Importance, new: Importance) -> str:
    """Return the fields of the estimand that differ, but for how many rows there are.

    Measure and question are the same already; another number of rows is other data.
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
    """Yield the checks whose verdict is another one, in the order of the new run.

    Not those of a run against its own baseline: the baseline had another, or none.
    """
    before, after = _verdicts(old), _verdicts(new)
    for key in dict.fromkeys((*after, *before)):
        one, other = before.get(key, ""), after.get(key, "")
        if one != other:
            yield VerdictChange(*key[:2], one, other)


def _verdicts(result: AuditResult) -> dict[tuple[str, str, int], str]:
    """Return verdicts by check, subject, and which of several with both."""
    verdicts: dict[tuple[str, str, int], str] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for row in result.checks.to_dict("records"):
        if row["check"] in AGAINST_BASELINE:
            continue
        key = str(row["check"]), str(row["subject"])
        verdicts[*key, counts[key]] = str(row["verdict"])
        counts[key] += 1
    return verdicts
