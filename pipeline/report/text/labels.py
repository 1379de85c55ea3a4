"""Display names (labels) of features, groups and models on pages and in summaries.

They are configured in `[labels]`. Table files, result.json and all paths into them have
the raw names, so that numbers can be looked up and joined.
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
    """Use these labels, by raw name, inside the block."""
    token = _LABELS.set(labels)
    try:
        yield
    finally:
        _LABELS.reset(token)


def label_of(name: str) -> str:
    """Return the label of a name, or the name if it has none."""
    return _LABELS.get().get(name, name)


def with_labels(text: str) -> str:
    """Return a stored sentence with labels in place of the raw names in quotes."""
    for name, label in _LABELS.get().items():
        text = text.replace(f"'{name}'", f"'{label}'")
    return text
