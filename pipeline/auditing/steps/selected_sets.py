"""Test error of selected sets: features kept by PERF, and as many by other rankings.

By Fokoué (2016), eq. 1.1, this is the mean test error over random splits. The features
are selected in each split, on the rows that do not evaluate them. Not: one set selected
on all rows, whose test error would be biased.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...methods.importance.random_subspace import PERF
from ...records.dataset_and_model import FittedModel
from ...records.errors import listed
from ...records.finding import Finding
from ...records.importance_record import Importance
from ...records.ranking import measure_of, primary, question_of
from . import Run
from .top_k import Ranking, losses_of, rankings_by_all
from .top_k_protocols import Protocol, in_splits

ALL = "all features"
NO_CHOICE = {
    **{"entry": -1, "method": ALL, "model": ""},
    **{"ranked_by": "", "positive_class": ""},
}
"""Fields of the frame for models that use all features."""


def add_selection(run: Run) -> None:
    """Add the test errors of the selected sets, and a finding about the cut-off at 0.

    The first ranking by PERF determines how many features all rankings keep, and the
    loss of their models.
    """
    journal = run.journal
    ask = partial(in_splits, run.train, run.config)
    splits, _ = journal.guarded("audit", "the splits of the selected sets", ask)
    if splits is None:
        return
    rankings = tuple(rankings_by_all(run, splits))
    perf = next((r for r in rankings if r.identity["method"] == PERF), None)
    if perf is None:
        return
    question = "the test error of the selected sets"
    for judge in run.models:
        ask_judge = partial(errors, judge, rankings, perf, splits)
        rows, _ = journal.guarded(judge.name, question, ask_judge)
        journal.rows["selection"] += rows or []
    journal.findings += note_on_sign(journal.importances, perf)


def above_zero(record: Importance) -> tuple[str, ...]:
    """Return the features that PERF keeps: those with a positive mean of `raw`.

    Features without a value are not kept.
    """
    perf = record.raw.mean(axis=1)
    return tuple(record.features[row] for row in np.flatnonzero(perf > 0))


def kept_sets(ranking: Ranking, perf: Ranking) -> tuple[frozenset[str], ...]:
    """Return the features a ranking keeps in each split: as many as PERF does.

    A ranking of fewer features keeps all of them.
    """
    selections = tuple(map(above_zero, perf.records))
    if ranking is perf:
        return tuple(map(frozenset, selections))
    pairs = zip(ranking.orders, selections, strict=True)
    return tuple(frozenset(order[: len(names)]) for order, names in pairs)


def errors(
    judge: FittedModel, rankings: Sequence[Ranking], perf: Ranking, splits: Protocol
) -> list[dict[str, Any]]:
    """Return the rows of the frame `selection` of one judging model.

    Parameters
    ----------
    judge : FittedModel
        Refitted on each set, in the order of the columns, so that equal sets give equal
        numbers.
    rankings : sequence of Ranking
    perf : Ranking
        The ranking among them that determines the number of kept features.
    splits : Protocol

    Returns
    -------
    list of dict
        All features first. The value of an empty set is NaN.

    Raises
    ------
    NotApplicable
        The model was not fitted by the audit.
    """
    loss = perf.identity["ranked_by"]
    (by_loss,) = judge.asked_for((loss,))
    every = (frozenset(judge.features),) * len(splits.rounds)
    choices = [
        (NO_CHOICE, every),
        *((r.identity, kept_sets(r, perf)) for r in rankings),
    ]
    sets_to_fit = dict.fromkeys(
        (number, selection)
        for _, sets in choices
        for number, selection in enumerate(sets)
        if selection
    )
    fits = dict(losses_of(by_loss, splits, [*sets_to_fit]))
    rows = []
    for facts, sets in choices:
        for number, selection in enumerate(sets):
            own = {
                "judge": judge.name,
                "loss": loss,
                "split": number + 1,
                "k": len(selection),
            }
            value = fits.get((number, selection), np.nan)
            rows.append({**facts, **own, "value": value})
    return rows


def note_on_sign(records: Sequence[Importance], perf: Ranking) -> Iterator[Finding]:
    """Yield the note about the features that the cut-off at 0 keeps."""
    record_of_perf = perf.records[0]
    question = question_of(record_of_perf), measure_of(record_of_perf)
    _, own = primary(records).get(question, (-1, None))
    if own is None:
        return
    selection = above_zero(own)
    yield Finding(
        check="selection_by_perf",
        severity="info",
        subject=own.model,
        message=(
            "The sign of PERF alone does not choose features: over all features and "
            "draws it sums to 0, so it keeps features that are better than average, "
            f"not those that matter. It keeps {listed(selection) or 'none'}."
        ),
        remedy=(
            "Compare the test error of the kept features with that of all features, "
            "or of more of them under [top_k]; use drop_column to see what one more "
            "feature adds."
        ),
        evidence={"kept": float(len(selection))},
    )
