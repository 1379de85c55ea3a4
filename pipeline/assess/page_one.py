"""The points of a result that need a decision, and the differences between models.

Page one of the report shows them. Not: words, pages.
"""

from collections.abc import Container
from itertools import chain, combinations
from typing import NamedTuple

import pandas as pd

from ..records.finding import Finding
from ..records.result import AuditResult

NOTES = (
    *("leak_sign", "train_test_gap", "calibration", "bias"),
    *("split_shift", "unseen_levels"),
)
"""Checks with notes that need a decision, as the warnings of every check do."""
ORDER = (
    *("incomplete", "failure", "unexpected", "rows_unknown", "scored_on_training_rows"),
    *("target_copy", "leak_sign", "one_feature", "dependent_leader"),
    *("train_test_gap", "calibration", "bias", "split_shift"),
    *("unseen_levels", "unexpected_in_part", "other"),
)
"""Kinds of points, in the order in which they must be decided."""
UNDERMINING = ORDER[: ORDER.index("train_test_gap")]
"""Kinds that contradict the owner's expectations, or make other results doubtful."""
TIMES = 3
"""Ratio of the importances in two models above which their difference is named: the
report says "under a third"."""
LEAST = 0.001
"""Share of the largest importance of a model below which no feature is named, even if
its interval excludes zero: a feature that is hardly used may have hardly any noise."""


class Point(NamedTuple):
    """A point that needs a decision.

    Attributes
    ----------
    kind : str
        One of `ORDER`.
    findings : tuple of Finding
        Findings that raise it, the gravest first. Empty for "rows_unknown", and for
        "one_feature", a feature with nearly all importance, which the report detects.
    """

    kind: str
    findings: tuple[Finding, ...]


class Difference(NamedTuple):
    """A feature that two models rely on unequally: model `more` above model `less`."""

    feature: str
    more: str
    less: str


def points(result: AuditResult) -> list[Point]:
    """Return the points that need a decision, in the order of `ORDER`.

    Failures, warnings and the notes of `NOTES` have one point per group of findings.
    But all findings that make a run incomplete are one point, and those of kind "other"
    are one per check, accepted ones separately. A missing engine is no point, since the
    report lists it among what was not tested.
    """
    found: dict[str, list[tuple[Finding, ...]]] = {kind: [] for kind in ORDER}
    for group in result.grouped_findings:
        kind = _kind_of(group[0])
        found.get(kind, []).append(group)
    if found["incomplete"]:
        found["incomplete"] = [tuple(chain(*found["incomplete"]))]
    found["other"] = _by_check(found["other"], result.accepted)
    if is_of_unknown_rows(result):
        found["rows_unknown"] = [()]
    return [Point(kind, group) for kind in ORDER for group in found[kind]]


def _by_check(
    groups: list[tuple[Finding, ...]], accepted: Container[str]
) -> list[tuple[Finding, ...]]:
    """Return the groups merged by check and acceptance of their first finding."""
    together: dict[tuple[str, bool], list[tuple[Finding, ...]]] = {}
    for group in groups:
        key = group[0].check, group[0].key in accepted
        together.setdefault(key, []).append(group)
    return [tuple(chain(*same)) for same in together.values()]


def _kind_of(finding: Finding) -> str:
    """Return the kind of the point that a finding raises, empty if it raises none."""
    check, severity = finding.check, finding.severity
    if finding.ends_run or check == "nothing_measured":
        return "incomplete"
    if severity == "failure":
        return "failure"
    if check == "engine_missing":
        return ""
    if severity == "info" and check not in NOTES:
        is_small = finding.evidence.get("within_resolution")
        return "unexpected_in_part" if check == "unexpected" and not is_small else ""
    return check if check in ORDER else "other"


def is_of_unknown_rows(result: AuditResult) -> bool:
    """Return whether models may have been fitted to the rows of a result.

    That is unknown if it has rows, but none of training.
    """
    splits = set(result.datasets["split"])
    return bool(len(result.models)) and bool(splits) and "train" not in splits


def differences(values: pd.DataFrame) -> list[Difference]:
    """Return the features that two models rely on unequally, the largest first.

    Their intervals do not overlap, and one of the two importances is indistinguishable
    from zero or less than a third of the other, which is at least `LEAST` of the
    largest of its model.

    Parameters
    ----------
    values : DataFrame
        One row per model and feature: model, feature, and mean, low, high as distances
        from the null value.
    """
    found: dict[str, tuple[float, Difference]] = {}
    largest = values.groupby("model")["mean"].max()
    for feature, rows in values.groupby("feature", sort=False):
        for one, other in combinations(rows.to_dict("records"), 2):
            more, less = sorted((one, other), key=lambda row: -row["mean"])
            is_disjoint = more["low"] > max(less["high"], 0)
            is_small = less["low"] <= 0 or more["mean"] > TIMES * less["mean"]
            is_small &= more["mean"] >= LEAST * largest[more["model"]]
            size = more["mean"] - less["mean"]
            if is_disjoint and is_small and size > found.get(feature, (0.0,))[0]:
                pair = Difference(str(feature), more["model"], less["model"])
                found[feature] = (size, pair)
    ordered = sorted(found.values(), key=lambda item: -item[0])
    return [difference for _, difference in ordered]
