"""The curves that importances are taken from, each kept once."""

from functools import partial
from inspect import signature
from typing import Any

from ...config.load import ImportanceSection
from ...engines import EngineInfo
from ...methods.importance import METHODS
from ...methods.mean_predictions import mean_predictions
from ...records.dataset_and_model import Dataset, FittedModel
from ...records.importance_record import Effect
from .. import measure
from ..journal import Journal


def keep_effects(
    journal: Journal,
    model: FittedModel | None,
    rows: Dataset,
    section: ImportanceSection,
    engine: EngineInfo,
    question: str,
    *,
    seed: int,
) -> tuple[tuple[Effect, ...], str]:
    """Keep the curves of one question, or why there are none, and return them.

    A feature without a curve beside others that have one is not applicable. Two
    questions that draw the same curves keep them once.
    """
    name = "the data" if model is None else model.name
    asked = partial(measure.effects, model, rows, section, engine, seed=seed)
    answer, reason = journal.guarded(name, question, asked, engine.name)
    curves, refused = answer or ((), ())
    for words in refused:
        journal.keep_reason(words, question, name)
    known = {_identity(effect) for effect in journal.effects}
    new = tuple(effect for effect in curves if _identity(effect) not in known)
    journal.effects.extend(new)
    journal.findings.extend(measure.gaps(new))
    if model is not None and new:
        means = partial(mean_predictions, model, rows, new)
        found, _ = journal.guarded(name, "the mean prediction", means)
        known_means = journal.rows["mean_predictions"]
        known_means += [row for row in found or () if row not in known_means]
    return curves, reason


def is_handed_curves(section: ImportanceSection) -> bool:
    """Return whether a method is given its curves, so that it needs some."""
    return "curves" in signature(METHODS[section.method].function).parameters


def _identity(effect: Effect) -> tuple[Any, ...]:
    """Return what makes two curves the same but for their seed."""
    told = sorted(effect.estimand.items())
    return effect.model, effect.engine, *((key, str(value)) for key, value in told)
