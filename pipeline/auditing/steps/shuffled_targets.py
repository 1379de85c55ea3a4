"""Rankings with the target shuffled: the null distribution of each importance.

Model-specific importances are measured on a model fitted to each shuffled target, if
requested. Not: the computation of p-values (`significance`).
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
from ..journal import Journal

ALTMANN = "altmann"
OF_A_MODEL = (
    "they come from shuffled targets, and a model would have to be refitted to each "
    "of them"
)
NO_TEST = {
    "pca": "'pca' does not use the target, so shuffling it tests nothing",
    "mrmr": "'mrmr' assigns places, and some feature takes the first whatever the "
    "target is",
}
"""Methods for which a comparison with shuffled targets is meaningless, with reasons."""


def add_significance(
    journal: Journal,
    answers: Sequence[tuple[int, Importance]],
    question: measure.Question,
    config: AuditConfig,
) -> None:
    """Add the p-values of our results for one question.

    Each result comes with its index among all importances. If the target cannot be
    shuffled, the reason is recorded instead.
    """
    section = question.section
    is_of_model = METHODS[section.method].asks == "estimator"
    refits = ALTMANN in config.significance.tests and is_of_model
    ask = partial(
        shuffled,
        question,
        seed=answers[0][1].seed,
        shuffles=config.significance.shuffles,
        report_progress=journal.log.report_progress,
        refits=refits,
    )
    label = f"p-values of {section.method} of {section.of}"
    again, _ = journal.guarded(question.subject, label, ask)
    for k, (record, answer) in enumerate(answers if again else ()):
        journal.rows["significance"] += significance.rows_of_test(
            answer,
            significance.shuffle_columns(answer, [each[k] for each in again or ()]),
            test=ALTMANN if refits else significance.BY_SHUFFLES,
            record=record,
            adjustment=config.significance.adjustment,
        )


def shuffled(
    question: measure.Question,
    *,
    seed: int,
    shuffles: int,
    report_progress: Callable[[str], None],
    refits: bool = False,
) -> tuple[tuple[Importance, ...], ...]:
    """Return the results of `measure.importances` with the target shuffled.

    Only the target is shuffled: each row keeps its features and its weight. Every
    shuffle has its own stream, so further shuffles do not change earlier ones. Random
    draws of the method are new in each, and as many as for the true target, since a
    mean over fewer repeats would vary more.

    Parameters
    ----------
    question, seed
        As in `measure.importances`; the engine is ours.
    shuffles : int
    report_progress : callable
        ``report_progress(words)``, called for each shuffle before it is measured.
    refits : bool, default False
        Whether the model is fitted again to each shuffled target, with its own
        parameters, including `random_state`. Its importances are then as random as the
        target [1]_.

    Raises
    ------
    NotApplicable
        The method uses a fitted model and nothing is refitted, the audit did not fit
        the model, or shuffled targets are meaningless for it.

    References
    ----------
    .. [1] Altmann, Tolosi, Sander and Lengauer (2010). Permutation importance: a
       corrected feature importance measure. Bioinformatics 26(10), 1340-1347.
       doi:10.1093/bioinformatics/btq134
    """
    method, model = question.section.method, question.model
    is_fixed = METHODS[method].asks != "data" and not refits
    reason = NO_TEST.get(method) or (is_fixed and OF_A_MODEL)
    if reason:
        raise NotApplicable(f"There are no p-values of {method!r}: {reason}.")
    if model is not None:
        question = replace(question, model=model.unfitted())
    each_shuffle = each(partial(_of_shuffle, question, seed), range(shuffles))
    answers = []
    for shuffle in range(shuffles):
        report_progress(f"shuffle {shuffle + 1} of {shuffles}")
        answers.append(next(each_shuffle))
    return tuple(answers)


def _of_shuffle(
    question: measure.Question, seed: int, shuffle: int
) -> tuple[Importance, ...]:
    """Return the results of `measure.importances` for one shuffle."""
    rows = question.rows
    order = stream(seed, "shuffle", "", shuffle).permutation(rows.n_samples)
    part = replace(rows, y=rows.y[order], sha256="")
    own = seed_of(seed, "", "shuffle", str(shuffle))
    model = question.model
    if model is not None:
        train = model.train and replace(model.train, y=part.y)
        model = replace(model, train=train).refit(model.features)
    on_part = replace(question, model=model, rows=part)
    return measure.importances(on_part, seed=own, stream="numpy")
