"""The kinds of claims in papers, each a function that tests a claim of its kind.

The signature of all is ``function(record, features, **options)``; they return an
`Answer`. The options of a kind are its keyword-only arguments; those without a default
are required. If there is no number to test, they raise `NotApplicable` with the reason
as a whole sentence. Not: the choice of the record, nor the verdict (`judge`).
"""

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any, Literal, NamedTuple

from . import curves, losses, printed, rankings
from .answer import Answer

Asks = Literal[
    "importance", "importances", "two", "effect", "performance", "folds", "top_k"
]
OF_LOSS = ("performance", "folds")  # records without a method
OF_IMPORTANCE = ("importance", "importances", "two")  # records of an entry


class Claim(NamedTuple):
    """A kind of claims.

    Attributes
    ----------
    asks : {"importance", "importances", "two", "effect", "performance", "folds", \
"top_k"}
        The record that tests it: one importance, those of all models of the method, two
        importances, a curve, the loss of a model, its cross-validated loss on training
        rows, or the losses of models that are fitted to the leading features.
    function : callable
    least, most : int
        Number of features that a claim of this kind names; `most` 0 is any number.
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
    return {p.name: p.default for p in parameters if p.kind is Parameter.KEYWORD_ONLY}
