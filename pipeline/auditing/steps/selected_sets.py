"""Test error of selected sets: of what PERF keeps, and of as many by other rankings.

Fokoué (2016), eq. 1.1: the mean test error over random splits. The features are chosen
anew in each split, by the rows that do not judge. Not: one set of all rows, whose test
error would be of rows that chose it.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...config.load import AuditConfig
from ...engines import EngineInfo
from ...methods.importance.random_subspace import PERF
from ...records.dataset_and_model import Dataset, FittedModel
from ...records.errors import listed
from ...records.finding import Finding
from ...records.importance_record import Importance
from ...records.ranking import measure_of, primary, question_of
from . import Guard, Results, StepResult
from .top_k import Ranking, answered, loss_of, ordered
from .top_k_protocols import Protocol, in_splits

ALL = "all features"
NO_CHOICE = {
    **{"entry": -1, "method": ALL, "model": ""},
    **{"ranked_by": "", "positive_class": ""},
}
"""What the frame says of the models that are given every feature."""


def selection_of(
    guard: Guard,
    models: Sequence[FittedModel],
    train: Dataset | None,
    engine: EngineInfo,
    config: AuditConfig,
    *,
    importances: Sequence[Importance],
) -> Results[None]:
    """Yield the test errors of the selected sets, and what the cut-off at 0 leaves out.

    The first ranking by PERF says how many features all rankings keep, and by which
    loss their models are judged.
    """
    asked = partial(in_splits, train, config)
    told = "the splits of the selected sets"
    splits, _ = guard("audit", told, asked)
    if splits is None:
        return
    rankings = tuple(answered(guard, models, splits, engine, config))
    perf = next((r for r in rankings if r.told["method"] == PERF), None)
    if perf is None:
        return
    for judge in models:
        judged = partial(errors, judge, rankings, perf, splits)
        told = "the test error of the selected sets"
        rows, _ = guard(judge.name, told, judged)
        yield StepResult(rows={"selection": rows or []})
    yield StepResult(findings=tuple(left_out(importances, perf)))


def above_zero(record: Importance) -> tuple[str, ...]:
    """Return the features that PERF keeps: above 0 by its sign, however it is shown.

    What has no number is not kept.
    """
    perf = record.raw.mean(axis=1)
    return tuple(record.features[row] for row in np.flatnonzero(perf > 0))


def kept_sets(ranking: Ranking, perf: Ranking) -> tuple[frozenset[str], ...]:
    """Return what a ranking keeps in each split: as many features as PERF does.

    A ranking of fewer features keeps all of them.
    """
    kept = tuple(map(above_zero, perf.records))
    if ranking is perf:
        return tuple(map(frozenset, kept))
    pairs = zip(ranking.orders, kept, strict=True)
    return tuple(frozenset(order[: len(names)]) for order, names in pairs)


def errors(
    judge: FittedModel, rankings: Sequence[Ranking], perf: Ranking, splits: Protocol
) -> list[dict[str, Any]]:
    """Return the rows of the frame `selection` of one judging model.

    Parameters
    ----------
    judge : FittedModel
        Fitted anew to each set, in the order of the columns, so that equal sets give
        equal numbers.
    rankings : sequence of Ranking
    perf : Ranking
        The one of them that says how many features are kept.
    splits : Protocol

    Returns
    -------
    list of dict
        First those of all features. The value of an empty set is NaN.

    Raises
    ------
    NotApplicable
        The model was not fitted by the audit.
    """
    loss = perf.told["ranked_by"]
    by_loss = judge.judged_by((loss,))
    every = (frozenset(judge.features),) * len(splits.rounds)
    asked = [(NO_CHOICE, every), *((r.told, kept_sets(r, perf)) for r in rankings)]
    fits: dict[tuple[int, frozenset[str]], float] = {}
    rows = []
    for told, sets in asked:
        for number, kept in enumerate(sets, start=1):
            key = (number, kept)
            if key not in fits:
                part = splits.rounds[number - 1]
                fits[key] = (
                    loss_of(by_loss, splits.rows, kept, part) if kept else np.nan
                )
            own = {"judge": judge.name, "loss": loss, "split": number, "k": len(kept)}
            rows.append({**told, **own, "value": fits[key]})
    return rows


def left_out(records: Sequence[Importance], perf: Ranking) -> Iterator[Finding]:
    """Yield what the cut-off at 0 leaves out of the audit's own rankings, in a note.

    Named are the features that any other of our rankings puts among its first *k*, *k*
    being how many PERF keeps.
    """
    ours, asked = primary(records), perf.records[0]
    _, own = ours.get((question_of(asked), measure_of(asked)), (-1, None))
    if own is None:
        return
    kept = above_zero(own)
    who: dict[str, list[str]] = {}
    for _, record in ours.values():
        if record.of == "features" and record is not own:
            for name in ordered(record)[: len(kept)]:
                if name not in kept:
                    who.setdefault(name, []).append(_called(record))
    yield Finding(
        check="selection_by_perf",
        severity="info",
        subject=own.model,
        message=(
            "PERF must not choose features by its sign alone: over all features and "
            "draws it sums to 0, so it keeps what is better than the average feature, "
            f"not what matters. {_told(kept, who)}"
        ),
        remedy=(
            "Hold the test error of what is kept against that of all features, and of "
            "more of them under [top_k]; ask drop_column what one more is worth."
        ),
        evidence={"kept": float(len(kept)), "left_out": float(len(who))},
    )


def _told(kept: tuple[str, ...], who: dict[str, list[str]]) -> str:
    """Return what is kept, and what is not though others would."""
    n = len(kept)
    first = f"It keeps {listed(kept)}." if n else "It keeps none."
    if not who:
        return f"{first} No other ranking has another feature among its first {n}."
    names = listed(f"{name} (by {', '.join(by)})" for name, by in who.items())
    return f"{first} Among the first {n} of other rankings, and left out: {names}."


def _called(record: Importance) -> str:
    """Return how a sentence calls a ranking."""
    named = record.method.replace("_", " ")
    told = (part for part in (record.model, record.loss, record.positive_class) if part)
    return " ".join((named, *(f"of {part}" for part in told)))
