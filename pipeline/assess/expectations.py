"""Comparison of the owner's expectations with the measured rankings.

Not: its sentences in the report.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt

from ..methods.importance import METHODS
from ..records.dataset_and_model import Floats
from ..records.errors import in_short, listed, quote
from ..records.finding import Finding, cause_of, places_apart
from ..records.importance_record import Importance
from ..records.losses import loss_label
from ..records.ranking import interval, null_value_of, places, primary
from ..records.value_rules import NAME, Range

FOUND, DEVIATES, UNKNOWN = VERDICTS = ("as expected", "not as expected", "not measured")
NO_ZERO = ("mrmr", "random_subspace")
"""Methods in which 0 is a rank or the average feature, not an irrelevant one."""
Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class ExpectedSection:
    """What the owner of a model expects of its rankings, stated before the run.

    Attributes
    ----------
    features : tuple of str
        The features, or groups, it is about.
    place : {"top", "zero"}
        "top": they take the first ranks, as many as are named, in any order; a feature
        tied with one beyond these ranks is not among them, as for claims of kind
        "leader".
        "zero": each is indistinguishable from an irrelevant feature, judged by its
        interval over other rows where there is one, else over the repeats, or by
        `resolution` of [checks] as a share of the largest importance; and shuffling
        it does not make the model better.
    reason : str
        Why it is expected, from domain knowledge.
    of : {"features", "groups"}
        Whether these are features or groups.
    model : str
        The model of these rankings; by default all models and the rankings of the data.
    """

    features: Annotated[tuple[str, ...], Range(least=1)]
    place: Literal["top", "zero"]
    reason: Annotated[str, NAME]
    of: Literal["features", "groups"] = "features"
    model: str = ""


def judge(
    expected: Sequence[ExpectedSection],
    importances: Sequence[Importance],
    *,
    resolution: float,
    row_intervals: Sequence[Row] = (),
) -> tuple[list[Row], list[Finding]]:
    """Return one row per expectation and ranking, and findings on the deviations.

    Parameters
    ----------
    expected : sequence of ExpectedSection
    importances : sequence of Importance
        All records of the audit; our primary record of each question is judged.
    resolution : float
        Distances from the null value up to this share of the largest count as zero.
    row_intervals : sequence of dict
        Rows of the frame of this name. An interval of a feature over other rows, if
        there is one, decides whether the feature is at zero or below it.

    Returns
    -------
    rows : list of dict
        Rows of the frame `expected`. ``first`` has the first features, as many as are
        expected there, and those tied with the last of them: then none of the tied ones
        is certainly on top. ``farthest`` is the expected feature that is farthest
        from its place, ``rank`` its rank and ``share`` its distance from zero, as a
        share of the largest one. A ranking that does not measure all expected features
        is left out; if its model has no other, its verdict is "not measured", and
        ``farthest`` is the first feature that it lacks.
    findings : list of Finding
        One per expectation and model that deviates: a warning if all rankings disagree
        with it, a note if some do, since methods answer different questions.
    """
    rows: list[Row] = []
    for number, section in enumerate(expected, start=1):
        about = [
            (index, record)
            for index, record in primary(importances).values()
            if section.of == record.of and section.model in ("", record.model)
        ]
        named = set(section.features)
        judged = {r.model for _, r in about if named.issubset(r.features)}
        for index, record in about:
            # An entry may measure some features only.
            if named.issubset(record.features) or record.model not in judged:
                place = {"expectation": number, "record": index}
                own = [row for row in row_intervals if row["record"] == index]
                rows.append(place | _row(section, record, resolution, own))
    return rows, list(_findings(expected, rows, importances, resolution))


def _row(
    section: ExpectedSection,
    record: Importance,
    resolution: float,
    row_intervals: Sequence[Row],
) -> Row:
    absent = [name for name in section.features if name not in record.features]
    at = [record.features.index(n) for n in section.features if n not in absent]
    rank, share = record.rank, shares(record)
    best, _ = places(record.mean, record.mean)  # among ties
    holds = in_place(section.place, len(at), record, resolution, row_intervals)
    distance = rank if section.place == "top" else share
    has_numbers = not absent and np.isfinite(distance[at]).all()
    has_numbers &= section.place == "top" or record.method not in NO_ZERO
    broken = [row for row in at if has_numbers and not holds[row]] or at
    if absent:
        farthest, rank_of, share_of = absent[0], np.nan, np.nan
    else:
        far = broken[int(np.argmax(distance[broken]))]
        farthest = record.features[far]
        rank_of, share_of = float(rank[far]), float(share[far])
    first = np.flatnonzero(best <= len(at))
    first = first[np.argsort(rank[first], kind="stable")]
    verdict = (FOUND if holds[at].all() else DEVIATES) if has_numbers else UNKNOWN
    return {
        "features": listed(section.features),
        "of": section.of,
        "place": section.place,
        "reason": section.reason,
        "model": record.model,
        "method": record.method,
        "loss": record.loss,
        "positive_class": record.positive_class,
        "first": listed(record.features[row] for row in first),
        "farthest": farthest,
        "rank": rank_of,
        "share": share_of,
        "verdict": verdict,
    }


def in_place(
    place: str,
    n: int,
    record: Importance,
    resolution: float,
    row_intervals: Sequence[Row],
) -> npt.NDArray[np.bool_]:
    """Return whether each feature is where it is expected, (n_features,).

    "top": among the first `n`, ties included. "zero": see `ExpectedSection`.
    """
    if place == "top":
        _, worst = places(record.mean, record.mean)
        return np.asarray(worst <= n)
    low, high = _bounds(record, row_intervals)
    inside = (low <= null_value_of(record)) & (null_value_of(record) <= high)
    is_zero = inside | (shares(record) <= resolution)
    return np.asarray(is_zero & ~below_nothing(record, row_intervals))


def below_nothing(
    record: Importance, row_intervals: Sequence[Row]
) -> npt.NDArray[np.bool_]:
    """Return whether the model is better with each feature shuffled, (n_features,).

    It is if the interval of the feature, over other rows where there is one, else over
    the repeats, is wholly below the null value. False for measures that do not shuffle,
    since their sign has another meaning.

    Parameters
    ----------
    record : Importance
    row_intervals : sequence of dict
        Its rows of the frame of this name.
    """
    if not shuffles(record) or record.form not in ("difference", "ratio"):
        return np.zeros(len(record.features), dtype=bool)
    drawn = np.array([bool(record.stream)] * len(record.mean))
    drawn |= np.isin(
        record.features, [r["feature"] for r in row_intervals if r["route"]]
    )
    # without draws or resampled rows the interval is only the mean
    return np.asarray(
        drawn & (_bounds(record, row_intervals)[1] < null_value_of(record))
    )


def shuffles(record: Importance) -> bool:
    """Return whether a measure is the change of a loss by shuffling."""
    return METHODS[record.method].asks == "predict" and bool(record.loss)


def _bounds(record: Importance, row_intervals: Sequence[Row]) -> tuple[Floats, Floats]:
    """Return the intervals over other rows where there are any, else over repeats."""
    low, high = (bound.copy() for bound in interval(record))
    for row in row_intervals:
        if row["route"]:
            at = record.features.index(row["feature"])
            low[at], high[at] = row["low"], row["high"]
    return low, high


def shares(record: Importance) -> Floats:
    """Return the distances from the null value, as shares of the largest."""
    distance = np.abs(record.mean - null_value_of(record))
    distances = distance[~np.isnan(distance)]
    largest = distances.max(initial=0.0)
    if np.isinf(largest):  # an infinite loss: shares are not defined
        return np.full(len(distance), np.nan)
    return np.asarray(distance / largest if largest else distance)


def _findings(
    expected: Sequence[ExpectedSection],
    rows: Sequence[Row],
    importances: Sequence[Importance],
    resolution: float,
) -> Iterator[Finding]:
    """Yield one finding per expectation and model with a ranking that disagrees."""
    for number, section in enumerate(expected, start=1):
        own = [row for row in rows if row["expectation"] == number]
        for model in dict.fromkeys(row["model"] for row in own):
            judged = [r for r in own if r["model"] == model and r["verdict"] != UNKNOWN]
            against = [row for row in judged if row["verdict"] == DEVIATES]
            if against:
                record = importances[against[0]["record"]]
                yield _finding(section, record, against, len(judged), resolution)


def _finding(
    section: ExpectedSection,
    record: Importance,
    against: Sequence[Row],
    n_judged: int,
    resolution: float,
) -> Finding:
    """Return the finding on the rows that disagree; the first is about `record`."""
    features, first, n = listed(section.features), against[0], len(section.features)
    if section.place == "top":
        ranks = "first rank" if n == 1 else f"first {n} ranks"
        where, expected = "on top", f"to take the {ranks}"
        observed = f"the {ranks} {'goes' if n == 1 else 'go'} to {first['first']}"
    else:
        where, expected = "at zero", "to have no importance"
        name, share = quote(first["farthest"]), first["share"]
        size = f"{share:.{places_apart(share, resolution)}%} of the largest importance"
        observed = f"{name} has {size}"
        if record.mean[record.features.index(first["farthest"])] < null_value_of(
            record
        ):
            by = f", by {size}" if share > resolution else ""
            observed = f"{name} lies below the value of no importance{by}"
            if shuffles(record):
                observed = f"shuffling {name} makes the model better{by}"
    every = len(against) == n_judged
    remedy = "Check which question each of these rankings answers."
    if every:
        remedy = (
            "Explain why this contradicts domain knowledge, or change model or data."
        )
    # At zero a share within the resolution fails only below it, as chance does.
    is_small = section.place == "zero"
    is_small &= all(row["share"] <= resolution for row in against)
    is_note = is_small or not every
    of_class = f"class {record.positive_class}" if record.positive_class else ""
    loss = loss_label(record.loss) if record.loss else ""
    ranked_by = (record.method.replace("_", " "), loss, of_class)
    by = in_short(", ".join(part for part in ranked_by if part))
    measure = f"{features} of {section.of} {where}, {section.model or 'every model'}"
    return Finding(
        check="unexpected",
        severity="info" if is_note else "warning",
        subject=record.model or "the data",
        message=(
            f"The owner expects {features} {expected} "
            f"({in_short(section.reason).strip(' .')}). Rankings that disagree: "
            f"{len(against)} of {n_judged}; by {by}, {observed}."
        ),
        remedy=remedy,
        evidence={
            "against": len(against),
            "rankings": n_judged,
            "expectation": first["expectation"],
            "within_resolution": is_small,
        },
        measure=measure,
        cause=cause_of("unexpected", measure),
    )
