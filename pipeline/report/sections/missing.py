"""Which rankings were asked for and are not there, of a run that is incomplete.

Not: why, which its findings say.
"""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from ...methods.importance import METHODS
from ...records.importance_record import Importance
from ..text.blocks import Sentence
from ..text.wording import (
    full_name,
    in_sentence,
    joined,
    look_up,
    say,
    say_count,
    series,
    show_hidden,
    word,
)
from .facts import Facts, config_of, tallied


class Missing(NamedTuple):
    """So many rankings that an entry lacks of a model, or of the data.

    The entry by its method, what it is of, and its name.
    """

    entry: tuple[str, str, str]
    model: str
    n: int


def missing(facts: Facts) -> Iterator[Missing]:
    """Yield what each entry lacks of each model that it asks."""
    found = Counter((entry_of(r.record), r.record.model) for r in facts.rankings)
    for entry in config_of(facts, "importance"):
        own = entry["method"], entry.get("of", "features"), entry.get("name", "")
        method, asked = METHODS[entry["method"]], entry.get("models") or facts.models
        models = [model for model in facts.models if model in asked]
        n = len(entry.get("losses") or ("",))
        if method.unit == "prediction" and facts.task == "multiclass" and models:
            n = len(facts.result.models["classes"].iloc[0])
        for model in [""] if method.asks == "data" else models:
            if found[own, model] < n:
                yield Missing(own, model, n - found[own, model])


def entry_of(record: Importance) -> tuple[str, str, str]:
    """Return the entry that a record answers, as `Missing` has it."""
    return record.method, record.of, record.entry


def count_missing(facts: Facts, key: str) -> Sentence:
    """Return how many of the rankings that were asked are "measured", or are not.

    As sentences have it: "missing", and "from" as many. Nothing if none is missing.
    """
    left, there = sum(one.n for one in missing(facts)), len(facts.rankings)
    if not left or (key == "from" and not there):
        return ()
    n = tallied("importances", left if key == "missing" else there)
    of = tallied("importances", left + there)
    return say(f"missing.{key}", n=n, of=say_count(of, "ranking"))


def name_missing(facts: Facts) -> Sentence:
    """Return which rankings are not there: measures, and the models of each."""
    by_measure: dict[str, list[str]] = {}
    for (method, of, name), model, _ in missing(facts):
        title = in_sentence(look_up(f"cards.{method}.title.{of}"))
        title += f", {show_hidden(name)}" if name else ""
        by_measure.setdefault(title, []).append(model)
    by_models: dict[tuple[str, ...], list[str]] = {}
    for title, own in by_measure.items():
        by_models.setdefault(tuple(own), []).append(title)
    texts = []
    for models, titles in by_models.items():
        whose = series(full_name(model or word("words.the_data")) for model in models)
        if len(models) == len(facts.models) > 1:
            whose = say("missing.all_models")
        texts.append(say("missing.of", measures=series(titles), models=whose))
    return joined(texts, "; ")
