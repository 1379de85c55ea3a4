"""What ``[[claims]]`` holds: the keys every claim has, their rules and defaults.

As in `config.sections`. Not: the keys of a kind, which are those of its function.
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
    """What a paper says, and which of our numbers answers to it.

    Attributes
    ----------
    text : str
        What the paper says, in words.
    kind : str
        What is looked at: a rank, an order, a value, ….
    source : str
        Where it stands: author, year, figure or table.
    method : str
        The measure that answers, one of those under [[importance]]; left out if the
        kind asks for the quality of a model.
    features : tuple of str
        The features, or groups, it is about, first to last.
    of : {"features", "groups", "pairs"}
        What these are; a pair is named "a:b".
    entry : str
        The name of the entry of [[importance]] that is meant; may be left out if one
        asks it.
    model : str
        Which model is meant; may be left out if there is one, none is asked, or the
        kind is about all of them.
    loss : str
        Which loss is meant; may be left out if there is one.
    engine : str
        Whose number is meant.
    output : str
        Of a prediction of several classes, which one is meant.
    paper : float
        The number the paper prints, if it prints one.
    not_comparable : str
        Why the paper's number cannot be compared with ours; then it is only shown.
    severity : {"info", "warning", "failure"}
        What it means for the audit if the claim does not reproduce.
    options : mapping
        What the kind compares with; in the file, keys of the entry.
    """

    text: Annotated[str, NAME]
    kind: Annotated[str, OneOf(CLAIM_KINDS)]
    source: str = ""
    method: Annotated[str, OneOf(tuple(METHODS))] | None = None
    features: tuple[str, ...] = ()
    of: Literal["features", "groups", "pairs"] = "features"
    entry: str = ""
    model: str = ""
    loss: Annotated[str, OneOf(tuple(LOSSES))] | None = None
    engine: Annotated[str, OneOf(tuple(ENGINES))] = "python"
    output: str = ""
    paper: float | None = None
    not_comparable: str = ""
    severity: Severity = "info"
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


def claim_rules(kind: str) -> dict[str, Rule]:
    """Return the rule of each key that claims of a kind have of their own."""
    hints = get_type_hints(CLAIMS[kind].function, include_extras=True)
    return {name: rule_of(hints[name]) for name in keys_of(kind)}
