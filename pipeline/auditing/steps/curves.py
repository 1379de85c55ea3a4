"""The curves behind importances, each stored once."""

from functools import partial
from inspect import signature
from typing import Any

from ...config.load import ImportanceSection
from ...methods.importance import METHODS
from ...methods.mean_predictions import mean_predictions, missing_predictions
from ...records.importance_record import Effect
from .. import measure
from ..journal import Journal


def curves_of(
    journal: Journal, question: measure.Question, label: str, *, seed: int
) -> tuple[tuple[Effect, ...], str]:
    """Add the new curves of one question; return all of them, or the reason for none.

    `label` is the name of the question in findings. A feature without a curve, while
    others have one, is recorded as not applicable. Curves that two questions share are
    stored once.
    """
    model, rows, name = question.model, question.rows, question.subject
    ask = partial(measure.effects, question, seed=seed)
    answer, reason = journal.guarded(name, label, ask, question.engine.name)
    curves, refused = answer or ((), ())
    for words in refused:
        journal.add_reason(words, label, name)
    before = {_identity(effect) for effect in journal.effects}
    new = tuple(effect for effect in curves if _identity(effect) not in before)
    journal.effects += new
    journal.findings += measure.gaps(new)
    if model is not None and new:
        ask_means = partial(mean_predictions, model, rows, new)
        means, _ = journal.guarded(name, "the mean prediction", ask_means)
        known = journal.rows["mean_predictions"]
        known += [row for row in means or () if row not in known]
        ask_points = partial(missing_predictions, model, rows, new)
        purpose = "the predictions with missing cells"
        points, _ = journal.guarded(name, purpose, ask_points)
        journal.rows["missing_predictions"] += points or ()
    return curves, reason


def is_handed_curves(section: ImportanceSection) -> bool:
    """Return whether a method takes its curves as an argument."""
    return "curves" in signature(METHODS[section.method].function).parameters


def _identity(effect: Effect) -> tuple[Any, ...]:
    """Return the identity of a curve, without its seed."""
    estimand = sorted(effect.estimand.items())
    return effect.model, effect.engine, *((key, str(value)) for key, value in estimand)
