"""Joint importance of correlated features, measured without being requested.

It explains a ranking and is not one itself: engines do not recompute it, it has no
rank, and it does not remove a warning about a dependent leader. Not: finding the
correlated features (`assess.clusters`).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ...assess.clusters import Cluster
from ...assess.row_intervals import reason_against, row_intervals
from ...config.load import AuditConfig, ImportanceSection
from ...methods.importance.row_terms import RowTerms
from ...records.dataset_and_model import FittedModel, Floats
from ...records.frames import Row
from ...records.importance_record import Importance
from ...records.ranking import OURS, interval
from ...records.streams import seed_of
from .. import measure
from . import Run

PURPOSE = "joint importance"


def add_joint_importance(
    run: Run,
    entry: ImportanceSection,
    model: FittedModel,
    clusters: Sequence[Cluster],
    ranking: Importance,
) -> None:
    """Add the rows of `joint_importances` that explain one ranking.

    Parameters
    ----------
    run : Run
    entry : ImportanceSection
        A permutation of single features among all rows.
    model : FittedModel
    clusters : sequence of Cluster
        Those that are groups of the owner are skipped.
    ranking : Importance
        The first ranking of the entry: as many repeats and rows are drawn.
    """
    groups = {
        f"{PURPOSE} {cluster.number}": cluster.features
        for cluster in clusters
        if not cluster.group
    }
    if not groups:
        return
    options = {name: ranking.options[name] for name in entry.options}
    options["n_repeats"] = ranking.n_repeats
    section = replace(entry, of="groups", engines=(), options=options)
    rows = run.test.with_groups(groups)
    question = measure.Question(model, rows, section, run.engines[OURS])
    ask = partial(_measure, question, run.config)
    purpose = "the joint importance of correlated features"
    measured, _ = run.journal.guarded(model.name, purpose, ask)
    run.journal.rows["joint_importances"] += measured or ()


def _measure(question: measure.Question, config: AuditConfig) -> list[Row]:
    """Return the rows of the frame, one per cluster and loss."""
    assert question.model is not None
    name, entry = question.model.name, question.section.name
    seed = seed_of(config.seed, name, PURPOSE, entry)
    keep = ("row_terms",) if config.stability.row_resamples else ()
    answers, result = measure.answered(question, seed=seed, stream="numpy", keep=keep)
    return [
        {
            "cluster": int(group.removeprefix(PURPOSE)),
            "model": name,
            "loss": answer.loss,
            "form": answer.form,
            "unit": answer.unit,
            "n_repeats": answer.n_repeats,
            "mean": float(answer.mean[k]),
            **{key: float(values[k]) for key, values in ends.items()},
            "over": over,
        }
        for answer in answers
        for over, ends in [_interval_of(answer, result.row_terms, config)]
        for k, group in enumerate(answer.features)
    ]


def _interval_of(
    answer: Importance, terms: RowTerms | None, config: AuditConfig
) -> tuple[str, dict[str, Floats]]:
    """Return what the intervals cover, with error and bounds, as for a ranking."""
    names = ("std_error", "low", "high")
    if terms is not None and not reason_against(answer, terms):
        rows = row_intervals(
            answer,
            terms,
            record=0,
            resamples=config.stability.row_resamples,
            top_k=config.checks.top_k,
            seed=config.seed,
        )
        return "rows", {name: np.array([row[name] for row in rows]) for name in names}
    over = "repeats" if answer.stream and answer.n_repeats > 1 else ""
    numbers = (answer.std_error, *interval(answer))
    return over, dict(zip(names, numbers, strict=True))
