"""Display names of features, groups and models, for what a reader sees.

`[labels]` of the configuration gives them. Tables as files, result.json and every path
into them keep the raw names, so that numbers can be looked up and joined.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

_LABELS: ContextVar[Mapping[str, str]] = ContextVar(
    "_LABELS", default=MappingProxyType({})
)


@contextmanager
def labelled(labels: Mapping[str, str]) -> Iterator[None]:
    """Show names by their labels inside the block."""
    token = _LABELS.set(labels)
    try:
        yield
    finally:
        _LABELS.reset(token)


def label_of(name: str) -> str:
    """Return the label of a name, or the name if it has none."""
    return _LABELS.get().get(name, name)


def with_labels(text: str) -> str:
    """Return a stored sentence with labels for the raw names that it quotes."""
    for name, label in _LABELS.get().items():
        text = text.replace(f"'{name}'", f"'{label}'")
    return text
