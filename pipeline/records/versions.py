"""Results of other schema versions: what they lack, and what they hold more.

A reader takes any minor of its major. What it does not know it keeps, and what was
lacking it leaves out again, so that a result is written back as it was read and its
content digest stays what it was. Not: types of values (`as_json`).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .errors import DataError, quote
from .finding import Finding
from .frames import FRAMES
from .importance_record import Effect, Importance
from .result import SCHEMA_VERSION, RunInfo
from .surface_record import Surface

Plain: TypeAlias = dict[str, Any]
Path: TypeAlias = tuple[str | int, ...]


class Records(NamedTuple):
    """A tuple of records of a result, and the minor version that brought it."""

    kind: type[Any]
    since: int = 0


RECORDS = {
    "importances": Records(Importance),
    "effects": Records(Effect),
    "surfaces": Records(Surface),
    "findings": Records(Finding),
}
"""The parts of a result that are no frames, in the order of result.json."""
ADDED_FIELDS: dict[int, Mapping[str, tuple[str, ...]]] = {
    2: {
        "importances": ("supplied_by",),
        "effects": ("supplied_by",),
        "findings": ("cause", "engines"),
    },
    4: {"effects": ("band_low", "band_high")},
    5: {"importances": ("repeat_counts",)},
}
"""By minor version, the fields of records it brought."""
MIGRATIONS: dict[int, Callable[[Plain], Plain]] = {}
"""By major version, what makes a document of the next one from it."""


class AsRead(NamedTuple):
    """How a document differs in form from what this version writes.

    Attributes
    ----------
    version : str
        Its schema version.
    unknown : mapping of path to mapping
        What stands there that this version does not know.
    absent : mapping of path to tuple of str
        What this version knows and does not stand there.
    """

    version: str
    unknown: Mapping[Path, Plain]
    absent: Mapping[Path, tuple[str, ...]]


def current(document: Mapping[str, Any], name: str) -> Plain:
    """Return a document of this major version, migrated if it is an older one.

    Raises
    ------
    DataError
        If it has no version, or one that nothing leads from to this one.
    """
    version = document.get("schema_version")
    if not isinstance(version, str):
        raise DataError(
            f"{name} is not the result of an audit: it has no schema_version."
        )
    major = SCHEMA_VERSION.split(".")[0]
    new_document = dict(document)
    while (old := new_document["schema_version"].split(".")[0]) != major:
        if not old.isdigit() or int(old) not in MIGRATIONS:
            raise DataError(
                f"{name} has schema version {quote(version)}; this version reads "
                f"{major}.x. Use the version of importance-audit that wrote it."
            )
        new_document = MIGRATIONS[int(old)](new_document)
    return new_document


def completed(document: Mapping[str, Any]) -> Plain:
    """Return a document with what later minor versions brought.

    Parts are empty; fields of records are read from what stood for them before.
    """
    minor = document["schema_version"].partition(".")[2]
    if not minor.isdigit():
        return dict(document)
    whole = {name: _empty(name) for name, since in brought() if int(minor) < since}
    whole |= document
    for later, names in ADDED_FIELDS.items():
        for part in names if int(minor) < later else ():
            whole[part] = [_derived(part, record) | record for record in whole[part]]
    return whole


def brought() -> Iterator[tuple[str, int]]:
    """Yield every part of a result, and the minor version that brought it."""
    yield from ((name, frame.since) for name, frame in FRAMES.items())
    yield from ((name, records.since) for name, records in RECORDS.items())


def as_read(document: Mapping[str, Any]) -> AsRead:
    """Return how a document differs in form from what this version writes."""
    unknown: dict[Path, Plain] = {}
    absent: dict[Path, tuple[str, ...]] = {}
    for path, node, names in _nodes(document):
        own = (*names, "content_digest") if not path else names
        if more := {name: node[name] for name in node if name not in own}:
            unknown[path] = more
        if less := tuple(name for name in names if name not in node):
            absent[path] = less
    return AsRead(document["schema_version"], unknown, absent)


def as_it_was(document: Plain, form: AsRead) -> Plain:
    """Return a document in the form it was read in; values stay what they are now.

    What was lacking is left out while it is empty, the default of its record, or what
    a reader made of the rest of the record.
    """
    document["schema_version"] = form.version
    nodes = {path: node for path, node, _ in _nodes(document)}
    for path, names in form.absent.items():
        node = nodes.get(path, {})
        for name in names:
            if name in node and _is_implied(path, name, node):
                del node[name]
    for path, more in form.unknown.items():
        nodes.get(path, {}).update(more)
    return document


def engines_in(check: str, subject: str) -> tuple[str, ...]:
    """Return the engines of a finding that was stored before it had the field.

    Up to schema 1.1 only its subject named them: "forest, permutation: python and vip"
    of a pair, the engine itself where its version was not tried. Nothing else may read
    a subject.
    """
    if check == "engine_untested":
        return (subject,)
    if check not in ("disagreement", "rank_shift"):
        return ()
    sides = subject.rpartition(": ")[2].split(" and ")
    return tuple(_supplier(side) or side for side in sides if side != "python")


def _derived(part: str, record: Mapping[str, Any]) -> Plain:
    """Return the later fields of an older record that its own fields tell."""
    if part in ("importances", "effects"):
        return {"supplied_by": _supplier(record.get("engine", ""))}
    if part == "findings":
        check, subject = record.get("check", ""), record.get("subject", "")
        return {"engines": list(engines_in(check, subject))}
    return {}


def _is_implied(path: Path, name: str, node: Plain) -> bool:
    """Return whether what a document lacked says no more than the document did."""
    implied = _nothing(path, name)
    if path:
        implied.append(_derived(str(path[0]), node).get(name))
    return node[name] in implied


def _supplier(engine: str) -> str:
    """Return the package of supplied numbers, which up to 1.1 only a name told."""
    return engine.partition(" ")[0] if engine.endswith(" (supplied)") else ""


def _nodes(document: Mapping[str, Any]) -> Iterator[tuple[Path, Plain, list[str]]]:
    """Yield every place of a document that has fixed names: path, content, names."""
    parts = ["run", *FRAMES, *RECORDS]
    yield (), document, ["schema_version", *parts]  # type: ignore[misc]
    for name in parts:
        part = document.get(name, {})
        if name in RECORDS:
            names = [item.name for item in fields(RECORDS[name].kind)]
            yield from (((name, i), item, names) for i, item in enumerate(part))
        elif name == "run":
            yield (name,), part, [item.name for item in fields(RunInfo)]
        elif part:
            yield (name,), part, ["rows", "columns"]
            for i, column in enumerate(part["columns"]):
                yield (name, "columns", i), column, ["name", "type", "values"]


def _empty(part: str) -> Any:
    """Return a frame of no rows as a document has it, or no records."""
    if part not in FRAMES:
        return []
    columns = FRAMES[part].columns
    plain = [{"name": name, "type": "text", "values": []} for name in columns]
    return {"rows": 0, "columns": plain}


def _nothing(path: Path, name: str) -> list[Any]:
    """Return what stands where there was nothing: empty parts, or the default."""
    if not path:
        return [_empty(name)]
    part = RECORDS.get(str(path[0]))
    defaults = [item for item in fields(part.kind) if item.name == name] if part else []
    values = []
    for item in defaults:
        if item.default is not MISSING:
            values.append(item.default)
        elif item.default_factory is not MISSING:
            values.append(item.default_factory())
    are_lists = (tuple, np.ndarray)
    return [list(value) if isinstance(value, are_lists) else value for value in values]
