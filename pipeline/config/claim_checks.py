"""What is wrong with a claim: between its keys, and with what it asks for.

As in `cross_checks`: a sentence per problem. Not: a key alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from ..assess.claims import CLAIMS, OF_IMPORTANCE, OF_LOSS
from ..methods.importance import METHODS, options_of
from ..records.dataset_and_model import Task
from ..records.errors import did_you_mean, listed, quote, several
from ..records.losses import default_losses
from .cross_checks import Entry, Facts, unknown_groups, unknown_names

Values = Mapping[str, Any]


def claim_problems(
    claims: Sequence[Entry], importance: Sequence[Entry], facts: Facts
) -> Iterator[str]:
    """Yield what is wrong between the keys of a claim, and with what it asks for."""
    entries = [entry.values for entry in importance if "method" in entry.values]
    for where, values, problems, _ in claims:
        if problems or "kind" not in values:
            continue
        yield from _model_problems(where, values, facts)
        yield from _feature_problems(where, values, facts)
        yield from _method_problems(where, values, entries, facts)
        yield from _second_problems(where, values, entries, facts)
        yield from _table_problems(where, values)


def _model_problems(where: str, values: Values, facts: Facts) -> Iterator[str]:
    model, kind = values.get("model"), values["kind"]
    if model and CLAIMS[kind].asks == "importances":
        why = "which is about all of them"
        yield f"{where} model does not work with kind {kind!r}, {why}; leave it out."
    yield from unknown_names(where, "model", model, facts.models)


def _feature_problems(where: str, values: Values, facts: Facts) -> Iterator[str]:
    """Yield what is wrong with the features: how many, and whether they are groups."""
    names, kind = values.get("features", ()), values["kind"]
    least, most = CLAIMS[kind].least, CLAIMS[kind].most
    if not least <= len(names) <= (most or len(names)):
        count = f"{least}" if least == most else f"{least} or more"
        verb = "were" if len(names) > 1 else "was"
        clause = f"{listed(names) if names else 'none'} {verb} given"
        yield f"{where} features must name {count} for kind {kind!r}; {clause}."
    yield from unknown_groups(where, values, facts)


def _method_problems(
    where: str, values: Values, entries: Sequence[Values], facts: Facts
) -> Iterator[str]:
    """Yield what is wrong with the measure and what it is asked: the first of it."""
    kind, method = values["kind"], values.get("method")
    asks = CLAIMS[kind].asks
    if asks in OF_LOSS:
        if method:
            yield f"{where} method does not work with kind {kind!r}; leave it out."
            return
        yield from _ambiguous_loss(where, values, entries, facts)
        return
    if not method:
        yield f"{where} method is missing; kind {kind!r} needs it."
        return
    if asks == "importances" and METHODS[method].asks == "data":
        rule = f"method must ask models for kind {kind!r}"
        yield f"{where} {rule}; {method!r} asks the data."
        return
    if asks == "effect" and not METHODS[method].curve:
        rule = f"method must have curves for kind {kind!r}"
        yield f"{where} {rule}; {method!r} has none."
        return
    if asks == "effect" and "curve" in options_of(METHODS[method].function):
        rule = f"method must have one kind of curve for kind {kind!r}"
        yield f"{where} {rule}; those of {method!r} depend on its option curve."
        return
    of, name = values.get("of", "features"), values.get("entry", "")
    names = [entry["name"] for entry in entries if entry.get("name")]
    if name and name not in names:
        hint = did_you_mean(name, names)
        what = "which no [[importance]] is called"
        yield f"{where} entry names {quote(name)}, {what}.{hint}"
        return
    same = [
        entry
        for entry in entries
        if entry["method"] == method
        and entry.get("of", "features") == of
        and name in ("", entry.get("name", ""))
    ]
    if not same:
        methods = [entry["method"] for entry in entries]
        hint = did_you_mean(method, methods) if method not in methods else ""
        yield f"{where} no [[importance]] asks {method!r} of {of}.{hint}"
        return
    problems = (
        *_not_measured(where, values, same),
        *_ambiguous(where, values, same, facts),
    )
    yield from problems[:1]


def _not_measured(where: str, values: Values, same: Sequence[Values]) -> Iterator[str]:
    """Yield what no entry asks of those that ask the method: engine, model, loss."""
    method, model, loss = values["method"], values.get("model"), values.get("loss")
    engines = values["options"].get("engines") or (values.get("engine", "python"),)
    nobody = f"no [[importance]] asks {method!r}"
    for engine in engines:
        if not any(engine in ("python", *entry.get("engines", ())) for entry in same):
            yield f"{where} {nobody} of engine {quote(engine)}."
    if model and METHODS[method].asks == "data":
        why = "which asks the data"
        yield f"{where} model does not work with {method!r}, {why}; leave it out."
    elif model and not any(_holds(entry, "models", model) for entry in same):
        yield f"{where} {nobody} of model {quote(model)}."
    if loss and METHODS[method].unit != "loss":
        why = "which measures no loss"
        yield f"{where} loss does not work with {method!r}, {why}; leave it out."
    elif loss and not any(_holds(entry, "losses", loss) for entry in same):
        yield f"{where} {nobody} by loss {loss!r}."


def _ambiguous(
    where: str, values: Values, same: Sequence[Values], facts: Facts
) -> Iterator[str]:
    """Yield which name is needed, because there is more than one."""
    method = values["method"]
    models = dict.fromkeys(
        name for entry in same for name in entry.get("models", facts.models or ())
    )
    needs = METHODS[method].asks != "data"
    needs = needs and CLAIMS[values["kind"]].asks != "importances"
    if needs and not values.get("model") and len(models) > 1:
        yield f"{where} model is missing; {method!r} is asked of {listed(models)}."
    losses = dict.fromkeys(name for entry in same for name in entry.get("losses", ()))
    if not values.get("loss") and len(losses) > 1:
        yield f"{where} loss is missing; {method!r} is asked by {listed(losses)}."


def _ambiguous_loss(
    where: str, values: Values, entries: Sequence[Values], facts: Facts
) -> Iterator[str]:
    """Yield which name a claim about the loss of a model needs: the first of it."""
    model, kind = values.get("model"), values["kind"]
    models = facts.models or ()
    if not model and len(models) > 1:
        why = f"because there are several models: {listed(models)}"
        yield f"{where} model is missing; kind {kind!r} needs it, {why}."
        return
    names = {model} if model else set(models)
    usual = default_losses(cast(Task, facts.task)) if facts.task else ()
    losses = dict.fromkeys(
        loss
        for entry in entries
        if METHODS[entry["method"]].unit == "loss"
        and (not entry.get("models") or names & set(entry["models"]))
        for loss in entry.get("losses") or usual
    )
    if not values.get("loss") and len(losses) > 1:
        why = f"because several are asked: {listed(losses)}"
        yield f"{where} loss is missing; kind {kind!r} needs it, {why}."


def _second_problems(
    where: str, values: Values, entries: Sequence[Values], facts: Facts
) -> Iterator[str]:
    """Yield what is wrong with a second name: who judges, or who is compared with."""
    options = values["options"]
    for key in ("judge", "other"):
        yield from unknown_names(where, key, options.get(key), facts.models)
    other = options.get("other_method")
    if other and not any(entry["method"] == other for entry in entries):
        yield f"{where} other_method: no [[importance]] asks {quote(other)}."
    if values["kind"] == "likeness" and not (options.get("other") or other):
        yield f"{where} other or other_method is missing; kind 'likeness' needs one."


def _table_problems(where: str, values: Values) -> Iterator[str]:
    """Yield what is wrong with the keys of a printed table, or with naming an entry."""
    kind, options = values["kind"], values["options"]
    if values.get("entry") and CLAIMS[kind].asks not in OF_IMPORTANCE:
        yield f"{where} entry does not work with kind {kind!r}; leave it out."
    if kind != "printed":
        return
    if not options.get("numbers", True):
        yield f"{where} numbers must hold at least one number; it is empty."
    decimals = options.get("decimals", 12)
    for name, number in options.get("numbers", {}).items():
        if round(number, decimals) != number:
            rule = f"numbers must have at most {several(decimals, 'decimal')}"
            yield f"{where} {rule}; that of {quote(name)} is {quote(number)}."
    instead = {"features": "numbers", "engine": "engines", "paper": "numbers"}
    for key, other in instead.items():
        if values.get(key) not in (None, ()):
            yield f"{where} {key} does not work with kind 'printed'; use {other}."


def _holds(entry: Values, key: str, name: str) -> bool:
    """Return whether a selection holds a name; an empty one is not known here."""
    return not entry.get(key) or name in entry[key]
