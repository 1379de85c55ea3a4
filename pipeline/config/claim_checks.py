"""Checks of claims: the keys of a claim against each other and against other sections.

They are called like those of `cross_checks`.
"""

from collections.abc import Iterator
from itertools import islice
from typing import cast

from ..assess.claims import CLAIMS, OF_IMPORTANCE, OF_LOSS
from ..methods.importance import METHODS, options_of
from ..records.dataset_and_model import Task
from ..records.errors import did_you_mean, listed, quote, several
from ..records.losses import default_losses
from .cross_checks import Entry, Facts, Values, unknown_groups, unknown_names


def claim_problems(entry: Entry, facts: Facts) -> Iterator[str]:
    """Yield contradictions between a claim's keys, or with other sections."""
    values = entry.values
    if entry.problems or "kind" not in values:
        return
    kind, model, names = values["kind"], values.get("model"), values.get("features")
    asks, _function, least, most = CLAIMS[kind]
    if model and asks == "importances":
        why = "which is about all of them"
        yield f"model does not work with kind {kind!r}, {why}; leave it out."
    yield from unknown_names("model", model, facts.models)
    n = len(names or ())
    if not least <= n <= (most or n):
        count = f"{least}" if least == most else f"{least} or more"
        verb = "were" if n > 1 else "was"
        clause = f"{listed(names) if names else 'none'} {verb} given"
        yield f"features must name {count} for kind {kind!r}; {clause}."
    yield from unknown_groups(values, facts)
    yield from islice(_method_problems(values, facts), 1)
    options = values["options"]
    for key in ("judge", "other"):
        yield from unknown_names(key, options.get(key), facts.models)
    other = options.get("other_method")
    if other and not any(asked["method"] == other for asked in facts.asked):
        yield f"other_method: no [[importance]] asks {quote(other)}."
    if kind == "likeness" and not (options.get("other") or other):
        yield "other or other_method is missing; kind 'likeness' needs one."
    if values.get("entry") and asks not in OF_IMPORTANCE:
        yield f"entry does not work with kind {kind!r}; leave it out."
    if kind == "printed":
        yield from _table_problems(values)


def _method_problems(values: Values, facts: Facts) -> Iterator[str]:
    """Yield the problems of the keys that identify an importance.

    Only the first is valid: each check assumes that the ones before it have passed.
    """
    kind, method = values["kind"], values.get("method")
    model, loss, asks = values.get("model"), values.get("loss"), CLAIMS[kind].asks
    if asks in OF_LOSS:
        if method:
            yield f"method does not work with kind {kind!r}; leave it out."
        models = facts.models or ()
        if not model and len(models) > 1:
            why = f"because there are several models: {listed(models)}"
            yield f"model is missing; kind {kind!r} needs it, {why}."
        names = {model} if model else set(models)
        usual = default_losses(cast(Task, facts.task)) if facts.task else ()
        losses = dict.fromkeys(
            name
            for entry in facts.asked
            if METHODS[entry["method"]].unit == "loss"
            and (not entry.get("models") or names & set(entry["models"]))
            for name in entry.get("losses") or usual
        )
        if not loss and len(losses) > 1:
            why = f"because several are asked: {listed(losses)}"
            yield f"loss is missing; kind {kind!r} needs it, {why}."
        return
    if not method:
        yield f"method is missing; kind {kind!r} needs it."
        return
    row = METHODS[method]
    if asks == "importances" and row.asks == "data":
        yield f"method must ask models for kind {kind!r}; {method!r} asks the data."
    if asks == "effect" and not row.curve:
        yield f"method must have curves for kind {kind!r}; {method!r} has none."
    if asks == "effect" and "curve" in options_of(row.function):
        rule = f"method must have one kind of curve for kind {kind!r}"
        yield f"{rule}; those of {method!r} depend on its option curve."
    of, name = values.get("of", "features"), values.get("entry", "")
    named = [entry["name"] for entry in facts.asked if entry.get("name")]
    if name and name not in named:
        hint = did_you_mean(name, named)
        yield f"entry names {quote(name)}, which no [[importance]] is called.{hint}"
    no_entry = f"no [[importance]] asks {method!r}"
    same = [
        entry
        for entry in facts.asked
        if entry["method"] == method
        and entry.get("of", "features") == of
        and name in ("", entry.get("name", ""))
    ]
    if not same:
        methods = [entry["method"] for entry in facts.asked]
        hint = did_you_mean(method, methods) if method not in methods else ""
        yield f"{no_entry} of {of}.{hint}"
    for engine in values["options"].get("engines") or (values.get("engine", "python"),):
        if not any(engine in ("python", *entry.get("engines", ())) for entry in same):
            yield f"{no_entry} of engine {quote(engine)}."
    if model and row.asks == "data":
        yield f"model does not work with {method!r}, which asks the data; leave it out."
    elif model and not any(_holds(entry, "models", model) for entry in same):
        yield f"{no_entry} of model {quote(model)}."
    if loss and row.unit != "loss":
        why = "which measures no loss"
        yield f"loss does not work with {method!r}, {why}; leave it out."
    elif loss and not any(_holds(entry, "losses", loss) for entry in same):
        yield f"{no_entry} by loss {loss!r}."
    model_names = dict.fromkeys(
        name for entry in same for name in entry.get("models", facts.models or ())
    )
    needs_model = not model and row.asks != "data" and asks != "importances"
    if needs_model and len(model_names) > 1:
        yield f"model is missing; {method!r} is asked of {listed(model_names)}."
    losses = dict.fromkeys(name for entry in same for name in entry.get("losses", ()))
    if not loss and len(losses) > 1:
        yield f"loss is missing; {method!r} is asked by {listed(losses)}."


def _table_problems(values: Values) -> Iterator[str]:
    """Yield the problems of the keys of a printed table."""
    options = values["options"]
    if not options.get("numbers", True):
        yield "numbers must hold at least one number; it is empty."
    decimals = options.get("decimals", 12)
    for name, number in options.get("numbers", {}).items():
        if round(number, decimals) != number:
            rule = f"numbers must have at most {several(decimals, 'decimal')}"
            yield f"{rule}; that of {quote(name)} is {quote(number)}."
    instead = {"features": "numbers", "engine": "engines", "paper": "numbers"}
    for key, other in instead.items():
        if values.get(key) not in (None, ()):
            yield f"{key} does not work with kind 'printed'; use {other}."


def _holds(entry: Values, key: str, name: str) -> bool:
    """Return whether a selection may contain a name; an empty one is a default."""
    return not entry.get(key) or name in entry[key]
