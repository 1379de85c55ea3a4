"""Rankings on resampled rows: each question asked again, and how stable its answer is.

Not: what stability is (`stability`).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ...assess import stability
from ...config.load import AuditConfig
from ...methods.importance import METHODS
from ...records.errors import NotApplicable
from ...records.importance_record import Importance
from ...records.streams import seed_of, stream
from .. import measure
from . import Guard, Results, StepResult

FIXED = {
    "refit": "it fits models anew, and each resample would cost as many fits",
    "estimator": "it reads the fitted model, and no rows",
}
"""Why the rows of a method are not resampled, by what it asks."""
COPIES_COUNT = {"relieff": "a row that is drawn twice is its own nearest neighbour"}
"""Why rows drawn twice would mislead a method."""


def stability_of(
    guard: Guard,
    answers: Sequence[Importance],
    question: measure.Question,
    config: AuditConfig,
    *,
    first_record: int,
) -> Results[None]:
    """Yield how stable our answers to one question are.

    The first of them is at `first_record` among all importances. Where the rows cannot
    be resampled, the reason is kept, and what more repeats would settle is all there is
    to say.
    """
    ask = partial(
        resampled,
        question,
        seed=answers[0].seed,
        resamples=config.stability.resamples,
        n_repeats=config.stability.n_repeats,
    )
    section = question.section
    label = f"stability of {section.method} of {section.of}"
    again, _ = guard(question.subject, label, ask)
    for k, importance in enumerate(answers):
        on_resamples, record = [each[k] for each in again or ()], first_record + k
        of_record = {
            "stability": stability.stability_rows(
                importance, on_resamples, record=record, top_k=config.checks.top_k
            ),
            "resampled_ranks": stability.rank_rows(on_resamples, record=record),
        }
        yield StepResult(rows=of_record)


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
    section, rows = question.section, question.rows
    method = section.method
    reason = COPIES_COUNT.get(method) or FIXED.get(METHODS[method].asks)
    if reason:
        raise NotApplicable(
            f"The rows are not resampled for {method!r}, so nothing is said of where "
            f"its ranking could have stood: {reason}."
        )
    options = dict(section.options)
    if "n_repeats" in options:
        options["n_repeats"] = min(n_repeats, options["n_repeats"])
    fewer = replace(section, options=options)
    answers = []
    for resample in range(resamples):
        generator = stream(seed, "resample", "", resample)
        at = generator.integers(rows.n_samples, size=rows.n_samples)
        part = rows.part(rows.features, at).with_groups(rows.groups)
        own = seed_of(seed, "", "resample", str(resample))
        on_part = replace(question, rows=part, section=fewer)
        answers.append(measure.importances(on_part, seed=own, stream="numpy"))
    return tuple(answers)
