"""What the keys of [[supplied]] must be beside each other and the questions asked."""

from collections.abc import Iterator

from ..methods.importance import METHODS
from ..records.errors import did_you_mean, listed
from ..records.losses import default_losses
from .cross_checks import Entry, Facts

QUESTION = ("model", "method", "of", "loss", "positive_class")


def supplied_problems(
    entries: tuple[Entry, ...], importance: tuple[Entry, ...], facts: Facts
) -> Iterator[str]:
    """Yield a sentence for each entry that answers nothing asked, or answers twice."""
    known: set[tuple[str, ...]] = set()
    for entry in entries:
        if entry.problems:
            continue
        values = entry.values
        where, model, method = entry.where, values["model"], values["method"]
        if facts.models is not None and model not in facts.models:
            hint = did_you_mean(model, facts.models)
            yield f"{where} model must name a model, but {model!r} is none.{hint}"
        loss = values.get("loss", "")
        measures_loss = METHODS[method].unit == "loss"
        if measures_loss and not loss:
            yield f"{where} loss must be given for {method!r}, but it is missing."
        elif loss and not measures_loss:
            rule = f"must be left out for {method!r}, which measures none"
            yield f"{where} loss {rule}, but {loss!r} was given."
        elif not any(_asks(asked, entry, facts) for asked in importance):
            told = listed([method, values.get("of", "features")])
            yield (
                f"{where} must answer what [[importance]] asks of {model!r}, but "
                f"nothing there asks {told}"
                + (f" by {loss!r}" if loss else "")
                + ". Add it, or leave the numbers out."
            )
        names = ("package", "version", *QUESTION)
        key = tuple(str(values.get(name, "")) for name in names)
        if key in known:
            yield (
                f"{where} must differ from the entries before it in model, question, "
                "package or version, but one of them is about the same."
            )
        known.add(key)


def _asks(asked: Entry, entry: Entry, facts: Facts) -> bool:
    """Return whether an entry of [[importance]] asks what another answers."""
    values, given = asked.values, entry.values
    models = values.get("models", ())
    losses = values.get("losses") or (default_losses(facts.task) if facts.task else ())
    return (
        values.get("method") == given["method"]
        and values.get("of", "features") == given.get("of", "features")
        and (not models or given["model"] in models)
        and (not given.get("loss") or not losses or given["loss"] in losses)
    )
