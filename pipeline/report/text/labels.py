"""Display names of features, groups and models, for what a reader sees.

`[labels]` of the configuration gives them. Tables as files, result.json and every path
into them keep the raw names, so that numbers can be looked up and joined.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the process that prints knows words and no tables
    from ...records.result import AuditResult

_LABELS: ContextVar[Mapping[str, str]] = ContextVar(
    "_LABELS", default=MappingProxyType({})
)


@contextmanager
def labelled(result: "AuditResult") -> Iterator[None]:
    """Show names of a result by their labels, while its pages are put into words."""
    token = _LABELS.set(labels_of(result))
    try:
        yield
    finally:
        _LABELS.reset(token)


def labels_of(result: "AuditResult") -> dict[str, str]:
    """Return label by raw name, also of what is named by a labelled name.

    These are pairs of features, "a:b", and subjects of findings and checks that begin
    with a model, "forest, rmse".
    """
    given: Mapping[str, str] = result.run.config.get("labels") or {}
    labels = dict(given)
    subjects = {finding.subject for finding in result.findings}
    subjects |= {*map(str, result.checks.get("subject", ()))}
    for subject in subjects:
        for name in given:
            if subject.startswith(f"{name}, "):
                labels[subject] = given[name] + subject.removeprefix(name)
    pairs = {
        name: columns
        for record in result.importances
        if labels and record.of == "pairs"
        for name, columns in zip(record.features, record.columns, strict=True)
    }
    for name, columns in pairs.items():
        if name not in labels and any(column in labels for column in columns):
            labels[name] = ":".join(labels.get(column, column) for column in columns)
    return labels


def label_of(name: str) -> str:
    """Return the label of a name, or the name if it has none."""
    return _LABELS.get().get(name, name)


def with_labels(text: str) -> str:
    """Return a stored sentence with labels for the raw names that it quotes."""
    for name, label in _LABELS.get().items():
        text = text.replace(f"'{name}'", f"'{label}'")
    return text
