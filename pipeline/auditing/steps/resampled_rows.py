"""Rankings on resampled rows: by the terms of each row, or by measuring again.

Not: the definition of stability (`stability`) or of intervals (`row_intervals`).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ...assess import checks, stability
from ...assess.row_intervals import row_intervals
from ...config.load import AuditConfig
from ...methods.importance import METHODS
from ...methods.importance.row_terms import RowTerms
from ...records.errors import NotApplicable
from ...records.execution import each
from ...records.importance_record import Importance
from ...records.streams import seed_of, stream
from .. import measure
from ..journal import Journal

FIXED = {
    "refit": "it refits models, and each resample would need as many fits",
    "estimator": "it reads the fitted model and uses no rows",
}
"""Why the rows of a method are not resampled, by its `asks`."""
COPIES_COUNT = "a row that is drawn twice is its own nearest neighbour"
"""Why duplicate rows would mislead a method that uses nearest neighbours."""


def add_row_intervals(
    journal: Journal,
    answers: Sequence[tuple[int, Importance]],
    terms: RowTerms,
    config: AuditConfig,
) -> None:
    """Add the intervals over the sampling of rows for our results.

    Each result comes with its index among all importances. If there are none, the
    reason is recorded.
    """
    for record, importance in answers:
        ask = partial(
            row_intervals,
            importance,
            terms,
            record=record,
            resamples=config.stability.row_resamples,
            top_k=config.checks.top_k,
            seed=config.seed,
        )
        label = f"intervals over other rows of {importance.method} of {importance.of}"
        rows, _ = journal.guarded(importance.model, label, ask)
        journal.rows["row_intervals"] += rows or ()
        subject = checks.importances.question(importance)
        journal.check("row_intervals", subject, importance=importance, rows=rows or ())


def add_stability(
    journal: Journal,
    answers: Sequence[tuple[int, Importance]],
    question: measure.Question,
    config: AuditConfig,
) -> None:
    """Add the stability of our results for one question.

    Each result comes with its index among all importances. If the rows cannot be
    resampled, the reason is recorded, and only the number of repeats to settle is
    added.
    """
    ask = partial(
        resampled,
        question,
        seed=answers[0][1].seed,
        resamples=config.stability.resamples,
        n_repeats=config.stability.n_repeats,
    )
    section = question.section
    label = f"stability of {section.method} of {section.of}"
    again, _ = journal.guarded(question.subject, label, ask)
    for k, (record, importance) in enumerate(answers):
        on_resamples = [each[k] for each in again or ()]
        journal.rows["stability"] += stability.stability_rows(
            importance, on_resamples, record=record, top_k=config.checks.top_k
        )
        ranks = stability.rank_rows(on_resamples, record=record)
        journal.rows["resampled_ranks"] += ranks


def resampled(
    question: measure.Question, *, seed: int, resamples: int, n_repeats: int
) -> tuple[tuple[Importance, ...], ...]:
    """Return the results of `measure.importances` on bootstrap resamples of the rows.

    The model is not refitted. A resample has as many rows, drawn with replacement, each
    with its target and weight. Streams depend on the number of the resample, so further
    resamples do not change earlier ones; random draws of the method are new in each.

    Parameters
    ----------
    question, seed
        As in `measure.importances`; the engine is ours.
    resamples : int
    n_repeats : int
        Repeats in each resample, at most those of `section`.

    Raises
    ------
    NotApplicable
        Resampled rows are uninformative or misleading for this method.
    """
    section = question.section
    method = section.method
    reason = FIXED.get(METHODS[method].asks)
    if method == "relieff" or section.options.get("within") == "neighbours":
        reason = COPIES_COUNT
    if reason:
        raise NotApplicable(
            f"The rows are not resampled for {method!r}, so the stability of its "
            f"ranking is not estimated: {reason}."
        )
    options = dict(section.options)
    if "n_repeats" in options:
        options["n_repeats"] = min(n_repeats, options["n_repeats"])
    fewer = replace(section, options=options)
    on_resample = partial(_on_resample, replace(question, section=fewer), seed)
    return tuple(each(on_resample, range(resamples)))


def _on_resample(
    question: measure.Question, seed: int, resample: int
) -> tuple[Importance, ...]:
    """Return the results of `measure.importances` on one resample."""
    rows = question.rows
    generator = stream(seed, "resample", "", resample)
    at = generator.integers(rows.n_samples, size=rows.n_samples)
    part = rows.part(rows.features, at).with_groups(rows.groups)
    own = seed_of(seed, "", "resample", str(resample))
    on_part = replace(question, rows=part)
    return measure.importances(on_part, seed=own, stream="numpy")
