"""Rankings with the target shuffled: what each question measures where nothing is.

Not: what a p-value is (`significance`).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from ...assess import significance
from ...config.load import AuditConfig, ImportanceSection
from ...engines import EngineInfo
from ...methods.importance import METHODS
from ...records.dataset_and_model import Dataset, FittedModel
from ...records.errors import NotApplicable
from ...records.importance_record import Importance
from ...records.streams import seed_of, stream
from .. import measure
from . import Guard, Results, StepResult

OF_A_MODEL = (
    "for what is measured of models it is not: each would have to be fitted again to "
    "every shuffled target"
)
NO_TEST = {
    "pca": "for 'pca' it is not: it does not look at the target",
    "mrmr": "for 'mrmr' it is not: it counts places, and one feature takes the first "
    "whatever the target is",
}
"""Why numbers of a method say nothing beside those of a shuffled target."""


def significance_of(
    guard: Guard,
    answers: Sequence[Importance],
    model: FittedModel | None,
    rows: Dataset,
    section: ImportanceSection,
    engine: EngineInfo,
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
        rows,
        section,
        engine,
        seed=answers[0].seed,
        shuffles=config.significance.shuffles,
        report_progress=report_progress,
    )
    question = f"p-values of {section.method} of {section.of}"
    again, _ = guard("the data" if model is None else model.name, question, ask)
    for k, answer in enumerate(answers if again else ()):
        p_values = significance.significance_rows(
            answer, [each[k] for each in again or ()], record=first_record + k
        )
        yield StepResult(rows={"significance": p_values})


def shuffled(
    rows: Dataset,
    section: ImportanceSection,
    engine: EngineInfo,
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
    rows, section, engine, seed
        As in `measure.importances`; the engine is ours.
    shuffles : int
    report_progress : callable
        ``report_progress(words)``, called for each shuffle before it is measured.

    Raises
    ------
    NotApplicable
        The method asks a fitted model, or shuffled targets would say nothing of it.
    """
    method = section.method
    reason = NO_TEST.get(method) or (METHODS[method].asks != "data" and OF_A_MODEL)
    if reason:
        raise NotApplicable(f"The target must be shuffled for p-values, but {reason}.")
    answers = []
    for shuffle in range(shuffles):
        report_progress(f"shuffle {shuffle + 1} of {shuffles}")
        order = stream(seed, "shuffle", "", shuffle).permutation(rows.n_samples)
        part = replace(rows, y=rows.y[order], sha256="")
        own = seed_of(seed, "", "shuffle", str(shuffle))
        answers.append(
            measure.importances(None, part, section, engine, seed=own, stream="numpy")
        )
    return tuple(answers)
