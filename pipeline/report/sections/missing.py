"""The rankings that were configured and not measured, in an incomplete run.

Not: the reasons, which are in its findings.
"""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from ...methods.importance import METHODS
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
    """The number of rankings that an entry lacks for a model, or for the data.

    `entry` is its method, its `of` and its name; `model` is empty for the data.
    """

    entry: tuple[str, str, str]
    model: str
    n: int


def missing(facts: Facts) -> Iterator[Missing]:
    """Yield the missing rankings of each entry and model, if there are any."""
    records = (ranking.record for ranking in facts.rankings)
    found = Counter((r.method, r.of, r.entry, r.model) for r in records)
    for entry in config_of(facts, "importance"):
        own = entry["method"], entry.get("of", "features"), entry.get("name", "")
        method, asked = METHODS[entry["method"]], entry.get("models") or facts.models
        models = [model for model in facts.models if model in asked]
        n = len(entry.get("losses") or ("",))
        if method.unit == "prediction" and facts.task == "multiclass" and models:
            n = len(facts.result.models["classes"].iloc[0])
        for model in [""] if method.asks == "data" else models:
            if found[*own, model] < n:
                yield Missing(own, model, n - found[*own, model])


def count_missing(facts: Facts, key: str) -> Sentence:
    """Return the number of measured or missing rankings among all configured ones.

    `key` names the wording: "missing" counts the missing rankings, "measured" and
    "from" the measured ones. Empty if none is missing.
    """
    left, there = sum(one.n for one in missing(facts)), len(facts.rankings)
    if not left or (key == "from" and not there):
        return ()
    n = tallied("importances", left if key == "missing" else there)
    of = tallied("importances", left + there)
    return say(f"missing.{key}", n=n, of=say_count(of, "ranking"))


def name_missing(facts: Facts) -> Sentence:
    """Return the measures of the missing rankings, with the models of each."""
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
        of_models = series(
            full_name(model or word("words.the_data")) for model in models
        )
        if len(models) == len(facts.models) > 1:
            of_models = say("missing.all_models")
        texts.append(say("missing.of", measures=series(titles), models=of_models))
    return joined(texts, "; ")
