"""What is wrong with a claim: between its keys, and with what it wants to know.

As in `config_checks`: a sentence per problem. Not: a key alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from ..assess.claims import CLAIMS, OF_IMPORTANCE, OF_LOSS
from ..methods.importance import METHODS, options_of
from ..records.dataset_and_model import Task
from ..records.errors import did_you_mean, listed
from ..records.losses import default_losses
from .cross_checks import Entry, Facts

Values = Mapping[str, Any]


def claim_problems(
    claims: Sequence[Entry], asked: Sequence[Entry], facts: Facts
) -> Iterator[str]:
    """Yield what is wrong between the keys of a claim, and with what it asks for."""
    entries = [entry.values for entry in asked if "method" in entry.values]
    for where, values, problems in claims:
        if problems or "kind" not in values:
            continue
        yield from (f"{where} {problem}" for problem in _model(values, facts))
        yield from (f"{where} {problem}" for problem in _features(values, facts))
        yield from (f"{where} {problem}" for problem in _method(values, entries, facts))
        yield from (f"{where} {problem}" for problem in _second(values, entries, facts))
        yield from (f"{where} {problem}" for problem in _table(values))


def _model(values: Values, facts: Facts) -> Iterator[str]:
    model, kind = values.get("model"), values["kind"]
    if model and CLAIMS[kind].asks == "importances":
        rule = f"model must be left out for kind {kind!r}, which is about all of them"
        yield f"{rule}, but {model!r} was given."
    if model and facts.models is not None and model not in facts.models:
        hint = did_you_mean(model, facts.models)
        rule = f"model must be one of {listed(facts.models)}"
        yield f"{rule}, but {model!r} was given.{hint}"


def _features(values: Values, facts: Facts) -> Iterator[str]:
    """Yield what is wrong with the features: how many, and whether they are groups."""
    names, kind = values.get("features", ()), values["kind"]
    least, most = CLAIMS[kind].least, CLAIMS[kind].most
    if not least <= len(names) <= (most or len(names)):
        some = f"{least}" if least == most else f"{least} or more"
        found = listed(names) if names else "none"
        yield f"features must name {some} for kind {kind!r}, but {found} was given."
    if values.get("of") == "groups" and facts.groups is not None:
        for name in (name for name in names if name not in facts.groups):
            hint = did_you_mean(name, facts.groups)
            yield f"features must be groups of [groups], but {name!r} is none.{hint}"


def _method(values: Values, entries: Sequence[Values], facts: Facts) -> Iterator[str]:
    """Yield what is wrong with the measure and what it is asked: the first of it."""
    kind, method = values["kind"], values.get("method")
    asks = CLAIMS[kind].asks
    if asks in OF_LOSS:
        if method:
            rule = f"method must be left out for kind {kind!r}"
            yield f"{rule}, but {method!r} was given."
            return
        yield from _ambiguous_loss(values, entries, facts)
        return
    if not method:
        yield f"method must be given for kind {kind!r}, but it is missing."
        return
    if asks == "importances" and METHODS[method].asks == "data":
        rule = f"method must ask models for kind {kind!r}"
        yield f"{rule}, but {method!r} asks the data."
        return
    if asks == "effect" and not METHODS[method].curve:
        yield f"method must have curves for kind {kind!r}, but {method!r} has none."
        return
    if asks == "effect" and "curve" in options_of(METHODS[method].function):
        rule = f"method must have one kind of curve for kind {kind!r}"
        yield f"{rule}, but those of {method!r} depend on its option curve."
        return
    of, name = values.get("of", "features"), values.get("entry", "")
    names = [entry["name"] for entry in entries if entry.get("name")]
    if name and name not in names:
        hint = did_you_mean(name, names)
        rule = "entry must be the name of an [[importance]] entry"
        yield f"{rule}, but {name!r} is none.{hint}"
        return
    same = [
        entry
        for entry in entries
        if entry["method"] == method
        and entry.get("of", "features") == of
        and name in ("", entry.get("name", ""))
    ]
    if not same:
        known = [entry["method"] for entry in entries]
        hint = did_you_mean(method, known) if method not in known else ""
        rule = "method must be asked under [[importance]]"
        yield f"{rule}, but {method!r} of {of} is not.{hint}"
        return
    problems = (*_asked(values, same), *_ambiguous(values, same, facts))
    yield from problems[:1]


def _asked(values: Values, same: Sequence[Values]) -> Iterator[str]:
    """Yield what no entry asks of those that ask the method: engine, model, loss."""
    method, model, loss = values["method"], values.get("model"), values.get("loss")
    engines = values["options"].get("engines") or (values.get("engine", "python"),)
    of_data = METHODS[method].asks == "data"
    no_loss = METHODS[method].unit != "loss"
    for engine in engines:
        if not any(engine in ("python", *entry.get("engines", ())) for entry in same):
            rule = f"engine must be asked {method!r} under [[importance]]"
            yield f"{rule}, but {engine!r} is not."
    if model and of_data:
        rule = f"model must be left out for method {method!r}, which asks the data"
        yield f"{rule}, but {model!r} was given."
    elif model and not any(_holds(entry, "models", model) for entry in same):
        rule = f"model must be asked {method!r} under [[importance]]"
        yield f"{rule}, but {model!r} is not."
    if loss and no_loss:
        rule = f"loss must be left out for method {method!r}, which measures no loss"
        yield f"{rule}, but {loss!r} was given."
    elif loss and not any(_holds(entry, "losses", loss) for entry in same):
        rule = f"loss must be one that {method!r} is asked under [[importance]]"
        yield f"{rule}, but {loss!r} is not."


def _ambiguous(values: Values, same: Sequence[Values], facts: Facts) -> Iterator[str]:
    """Yield which name must be given, because there is more than one."""
    method = values["method"]
    models = {
        name for entry in same for name in entry.get("models", facts.models or ())
    }
    needs = METHODS[method].asks != "data"
    needs = needs and CLAIMS[values["kind"]].asks != "importances"
    if needs and not values.get("model") and len(models) > 1:
        rule = f"model must be given where several are asked {method!r}"
        yield f"{rule}, but it is missing."
    losses = {name for entry in same for name in entry.get("losses", ())}
    if not values.get("loss") and len(losses) > 1:
        rule = f"loss must be given where {method!r} is asked several"
        yield f"{rule}, but it is missing."


def _ambiguous_loss(
    values: Values, entries: Sequence[Values], facts: Facts
) -> Iterator[str]:
    """Yield which name a claim about the loss of a model must give: the first of it."""
    model, kind = values.get("model"), values["kind"]
    known = facts.models or ()
    if not model and len(known) > 1:
        rule = f"model must be given for kind {kind!r} where there are several"
        yield f"{rule}, but it is missing."
        return
    names = {model} if model else set(known)
    usual = default_losses(cast(Task, facts.task)) if facts.task else ()
    losses = [
        loss
        for entry in entries
        if METHODS[entry["method"]].unit == "loss"
        and (not entry.get("models") or names & set(entry["models"]))
        for loss in entry.get("losses") or usual
    ]
    told = tuple(dict.fromkeys(losses))
    if not values.get("loss") and len(told) > 1:
        rule = f"loss must be given for kind {kind!r} where several are asked"
        yield f"{rule}, {listed(told)}, but it is missing."


def _second(values: Values, entries: Sequence[Values], facts: Facts) -> Iterator[str]:
    """Yield what is wrong with a second name: who judges, or who is compared with."""
    given = values["options"]
    for key in ("judge", "other"):
        name = given.get(key)
        if name and facts.models is not None and name not in facts.models:
            hint = did_you_mean(name, facts.models)
            rule = f"{key} must be one of {listed(facts.models)}"
            yield f"{rule}, but {name!r} was given.{hint}"
    other = given.get("other_method")
    if other and not any(entry["method"] == other for entry in entries):
        rule = "other_method must be asked under [[importance]]"
        yield f"{rule}, but {other!r} is not."
    if values["kind"] == "likeness" and not (given.get("other") or other):
        yield "other or other_method must be given for kind 'likeness', but is missing."


def _table(values: Values) -> Iterator[str]:
    """Yield what is wrong with the keys of a printed table, or with naming an entry."""
    kind, entry = values["kind"], values.get("entry", "")
    if entry and CLAIMS[kind].asks not in OF_IMPORTANCE:
        yield f"entry must be left out for kind {kind!r}, but {entry!r} was given."
    if kind != "printed":
        return
    if not values["options"].get("numbers", True):
        yield "numbers must hold one number or more for kind 'printed', but are empty."
    decimals = values["options"].get("decimals", 12)
    for name, number in values["options"].get("numbers", {}).items():
        if round(number, decimals) != number:
            rule = f"numbers must have at most the {decimals} decimals they are held to"
            yield f"{rule}, but that of {name!r} is {number!r}."
    if values.get("features"):
        rule = "features must be left out for kind 'printed', whose numbers name them"
        yield f"{rule}, but {listed(values['features'])} was given."
    for key in ("engine", "paper"):
        if key in values:
            rule = f"{key} must be left out for kind 'printed'"
            how = {"engine": "engines", "paper": "numbers"}[key]
            yield f"{rule}, but {values[key]!r} was given. Use {how}."


def _holds(entry: Values, key: str, name: str) -> bool:
    """Return whether a selection holds a name; an empty one is not known here."""
    return not entry.get(key) or name in entry[key]
