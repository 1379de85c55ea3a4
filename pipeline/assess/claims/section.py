"""The keys that all ``[[claims]]`` have, their rules and defaults.

As in `config.sections`. Not: the keys of one kind, the arguments of its function.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_type_hints

from ...engines import ENGINES
from ...methods.importance import METHODS
from ...records.finding import Severity
from ...records.losses import LOSSES
from ...records.value_rules import NAME, OneOf, Rule, rule_of
from . import CLAIMS, keys_of

CLAIM_KINDS = tuple(CLAIMS)


@dataclass(frozen=True, kw_only=True, eq=False)
class ClaimSection:
    """A claim of a paper, and the number that tests it.

    Attributes
    ----------
    text : str
        The claim of the paper, in words.
    kind : str
        The kind of claim: about a rank, an order, a value, ….
    source : str
        Author, year, figure or table.
    method : str
        The method that tests the claim, one of those under [[importance]]; left out if
        the claim is about the performance of a model.
    features : tuple of str
        The features, groups or pairs of the claim, in its order.
    of : {"features", "groups", "pairs"}
        Whether these are features, groups or pairs; a pair is named "a:b" or "b:a".
    entry : str
        The name of the entry of [[importance]]; may be left out if only one applies.
    model : str
        The model; may be left out if there is only one, if the method uses none, or if
        the kind is about all of them.
    loss : str
        The loss; may be left out if there is only one.
    engine : str
        The engine whose number is tested.
    output : str
        The class, for predictions of several classes.
    paper : float
        The number printed in the paper, if there is one.
    not_comparable : str
        The reason why the paper's number cannot be compared with ours; the claim is
        then only shown.
    severity : {"info", "warning", "failure"}
        The severity of the finding if the claim is not reproduced.
    options : mapping
        The options of the kind; in the file, keys of the entry.
    """

    text: Annotated[str, NAME]
    kind: Annotated[str, OneOf(CLAIM_KINDS)]
    source: str = ""
    method: Annotated[str, OneOf(tuple(METHODS), "method")] | None = None
    features: tuple[str, ...] = ()
    of: Literal["features", "groups", "pairs"] = "features"
    entry: str = ""
    model: str = ""
    loss: Annotated[str, OneOf(tuple(LOSSES), "loss")] | None = None
    engine: Annotated[str, OneOf(tuple(ENGINES), "engine")] = "python"
    output: str = ""
    paper: float | None = None
    not_comparable: str = ""
    severity: Severity = "info"
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


def claim_rules(kind: str) -> dict[str, Rule]:
    """Return the rules of the keys of one kind."""
    hints = get_type_hints(CLAIMS[kind].function, include_extras=True)
    return {name: rule_of(hints[name]) for name in keys_of(kind)}
