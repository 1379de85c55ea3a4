"""Rankings on resampled rows: from what each row adds, or each question asked again.

Not: what stability is (`stability`), nor what an interval is (`row_intervals`).
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
"""Why the rows of a method are not resampled, by what it asks."""
COPIES_COUNT = "a row that is drawn twice is its own nearest neighbour"
"""Why rows drawn twice would mislead a method that looks for neighbours."""


def add_row_intervals(
    journal: Journal,
    answers: Sequence[tuple[int, Importance]],
    terms: RowTerms,
    config: AuditConfig,
) -> None:
    """Add the intervals over other rows of our answers to one question.

    Each answer comes with its place among all importances. Where there are none the
    reason is kept.
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
        journal.add_checks(checks.of_row_intervals(importance, rows or ()))


def add_stability(
    journal: Journal,
    answers: Sequence[tuple[int, Importance]],
    question: measure.Question,
    config: AuditConfig,
) -> None:
    """Add how stable our answers to one question are.

    Each answer comes with its place among all importances. Where the rows cannot be
    resampled, the reason is kept, and what more repeats would settle is all there is to
    say.
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
    """Return what `measure.importances` says of bootstrap resamples of the rows.

    The model stays as it is. A resample has as many rows, drawn with replacement,
    each with its target and weight. Its number names its streams, so more resamples
    change none; what is random in the method is drawn anew in each.

    Parameters
    ----------
    question, seed
        As in `measure.importances`; the engine is ours.
    resamples : int
    n_repeats : int
        Repeats in each of them, at most those of `section`.

    Raises
    ------
    NotApplicable
        Resampled rows would say nothing of this method, or something wrong.
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
    """Return what `measure.importances` says of one resample."""
    rows = question.rows
    generator = stream(seed, "resample", "", resample)
    at = generator.integers(rows.n_samples, size=rows.n_samples)
    part = rows.part(rows.features, at).with_groups(rows.groups)
    own = seed_of(seed, "", "resample", str(resample))
    on_part = replace(question, rows=part)
    return measure.importances(on_part, seed=own, stream="numpy")
