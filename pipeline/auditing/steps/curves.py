"""The curves that importances are taken from, each kept once."""

from collections.abc import Callable, Sequence
from functools import partial
from inspect import signature
from typing import Any

from ...config.load import ImportanceSection
from ...methods.importance import METHODS
from ...methods.mean_predictions import mean_predictions, missing_predictions
from ...records.frames import Row
from ...records.importance_record import Effect
from .. import measure
from . import Guard, Results, StepResult


def curves_of(
    guard: Guard,
    question: measure.Question,
    label: str,
    *,
    seed: int,
    effects: Sequence[Effect],
    mean_rows: Sequence[Row],
    add_reason: Callable[[str, str, str], None],
) -> Results[tuple[tuple[Effect, ...], str]]:
    """Yield the new curves of one question; return all of them, or why there are none.

    `label` names the question in findings. A feature without a curve beside others
    that have one is not applicable. Two questions that draw the same curves keep them
    once.
    """
    model, name = question.model, question.subject
    ask = partial(measure.effects, question, seed=seed)
    answer, reason = guard(name, label, ask, question.engine.name)
    curves, refused = answer or ((), ())
    for words in refused:
        add_reason(words, label, name)
    before = {_identity(effect) for effect in effects}
    new = tuple(effect for effect in curves if _identity(effect) not in before)
    yield StepResult(effects=new, findings=measure.gaps(new))
    if model is not None and new:
        means = partial(mean_predictions, model, question.rows, new)
        rows_of_means, _ = guard(name, "the mean prediction", means)
        new_means = [row for row in rows_of_means or () if row not in mean_rows]
        yield StepResult(rows={"mean_predictions": new_means})
        points = partial(missing_predictions, model, question.rows, new)
        rows_of_points, _ = guard(name, "the predictions with missing cells", points)
        yield StepResult(rows={"missing_predictions": rows_of_points or ()})
    return curves, reason


def is_handed_curves(section: ImportanceSection) -> bool:
    """Return whether a method is given its curves, so that it needs some."""
    return "curves" in signature(METHODS[section.method].function).parameters


def _identity(effect: Effect) -> tuple[Any, ...]:
    """Return what makes two curves the same but for their seed."""
    estimand = sorted(effect.estimand.items())
    return effect.model, effect.engine, *((key, str(value)) for key, value in estimand)
