"""Rankings with the target shuffled: what each question measures where nothing is.

Not: what a p-value is (`significance`).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from ...assess import significance
from ...config.load import AuditConfig
from ...methods.importance import METHODS
from ...records.errors import NotApplicable
from ...records.execution import each
from ...records.importance_record import Importance
from ...records.streams import seed_of, stream
from .. import measure
from . import Guard, Results, StepResult

OF_A_MODEL = (
    "they come from shuffled targets, and a model would have to be refitted to each "
    "of them"
)
NO_TEST = {
    "pca": "'pca' does not use the target, so shuffling it tests nothing",
    "mrmr": "'mrmr' assigns places, and some feature takes the first whatever the "
    "target is",
}
"""Why numbers of a method say nothing beside those of a shuffled target."""


def significance_of(
    guard: Guard,
    answers: Sequence[Importance],
    question: measure.Question,
    config: AuditConfig,
    *,
    first_record: int,
    report_progress: Callable[[str], None],
) -> Results[None]:
    """Yield the p-values of our answers to one question.

    The first of them is at `first_record` among all importances. Where the target
    cannot be shuffled, the reason is kept, and there are none.
    """
    ask = partial(
        shuffled,
        question,
        seed=answers[0].seed,
        shuffles=config.significance.shuffles,
        report_progress=report_progress,
    )
    section = question.section
    label = f"p-values of {section.method} of {section.of}"
    again, _ = guard(question.subject, label, ask)
    for k, answer in enumerate(answers if again else ()):
        p_values = significance.significance_rows(
            answer,
            [each[k] for each in again or ()],
            record=first_record + k,
            adjustment=config.significance.adjustment,
        )
        yield StepResult(rows={"significance": p_values})


def shuffled(
    question: measure.Question,
    *,
    seed: int,
    shuffles: int,
    report_progress: Callable[[str], None],
) -> tuple[tuple[Importance, ...], ...]:
    """Return what `measure.importances` says of the data with the target shuffled.

    The target alone moves: each row keeps its features and its weight. A shuffle has a
    stream of its own, so more of them change none. What is random in the method is
    drawn anew in each, and as often as for the true target, since a mean over fewer
    repeats would vary more.

    Parameters
    ----------
    question, seed
        As in `measure.importances`; the engine is ours.
    shuffles : int
    report_progress : callable
        ``report_progress(words)``, called for each shuffle before it is measured.

    Raises
    ------
    NotApplicable
        The method asks a fitted model, or shuffled targets would say nothing of it.
    """
    method = question.section.method
    reason = NO_TEST.get(method) or (METHODS[method].asks != "data" and OF_A_MODEL)
    if reason:
        raise NotApplicable(f"There are no p-values of {method!r}: {reason}.")
    each_shuffle = each(partial(_of_shuffle, question, seed), range(shuffles))
    answers = []
    for shuffle in range(shuffles):
        report_progress(f"shuffle {shuffle + 1} of {shuffles}")
        answers.append(next(each_shuffle))
    return tuple(answers)


def _of_shuffle(
    question: measure.Question, seed: int, shuffle: int
) -> tuple[Importance, ...]:
    """Return what `measure.importances` says of one shuffle."""
    rows = question.rows
    order = stream(seed, "shuffle", "", shuffle).permutation(rows.n_samples)
    part = replace(rows, y=rows.y[order], sha256="")
    own = seed_of(seed, "", "shuffle", str(shuffle))
    on_part = replace(question, rows=part)
    return measure.importances(on_part, seed=own, stream="numpy")
