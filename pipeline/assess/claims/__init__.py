"""What a paper can say of an importance, each kind as a check that numbers answer.

Every row of `CLAIMS` is called in one way, ``function(record, features, **options)``,
and returns what was asked, what the claim takes, our number, and whether it holds. A
kind's options are its keyword-only arguments; those without a default must be given.
`NotApplicable` says in a whole sentence why there is no number. Not: which record is
asked, nor what becomes of the answer (`judge`).
"""

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any, Literal, NamedTuple

from . import curves, losses, printed, rankings
from .answer import Answer

Asks = Literal[
    "importance", "importances", "two", "effect", "performance", "folds", "top_k"
]
OF_LOSS = ("performance", "folds")  # what they ask has no method
OF_IMPORTANCE = ("importance", "importances", "two")  # what they ask has an entry


class Claim(NamedTuple):
    """One row of the table of kinds.

    Attributes
    ----------
    asks : {"importance", "importances", "two", "effect", "performance", "folds", \
"top_k"}
        What answers: one importance, those of all models that are asked, two of them, a
        curve, the loss of a model, its loss in folds of the training rows, or the loss
        of models that are fitted to the first features.
    function : callable
    least, most : int
        How many features a claim of this kind names; `most` 0 is any number.
    """

    asks: Asks
    function: Callable[..., Answer]
    least: int = 1
    most: int = 0


CLAIMS: dict[str, Claim] = {
    "leader": Claim("importance", rankings.leader),
    "rank": Claim("importance", rankings.rank),
    "last": Claim("importance", rankings.last),
    "order": Claim("importance", rankings.order, least=2),
    "sign": Claim("importance", rankings.sign),
    "value": Claim("importance", rankings.value),
    "printed": Claim("importance", printed.printed, least=0),
    "ratio": Claim("importance", rankings.ratio, least=2, most=2),
    "share": Claim("importance", rankings.share),
    "frequency": Claim("importances", rankings.frequency),
    "likeness": Claim("two", rankings.likeness, least=0),
    "line": Claim("effect", curves.line, most=1),
    "performance": Claim("performance", losses.performance, least=0),
    "explained": Claim("performance", losses.explained, least=0),
    "cross_validated": Claim("folds", losses.cross_validated, least=0),
    "top_k": Claim("top_k", curves.top_k, least=0),
}


def keys_of(kind: str) -> dict[str, Any]:
    """Return the options of a kind and their defaults, `Parameter.empty` for none."""
    parameters = signature(CLAIMS[kind].function).parameters.values()
    own = (p for p in parameters if p.kind is Parameter.KEYWORD_ONLY)
    return {parameter.name: parameter.default for parameter in own}
