"""AuditResult ⇄ plain dicts ⇄ JSON text, without loss. Not: files.

Floats keep their shortest exact digits; NaN and the infinities are the texts "NaN",
"Infinity" and "-Infinity". Where any type is allowed (options, configuration, mixed
columns), a text equal to one of these is written ``{"text": "NaN"}``. If "text" is the
only key of a mapping, it is written ``"text*"``, so that no mapping is ambiguous.
``result.schema.json`` is the published schema; other versions of it are refused.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from .errors import DataError, listed, quote
from .finding import Finding
from .frames import FRAMES
from .importance_record import Effect, Importance
from .result import SCHEMA_VERSION, AuditResult, RunInfo
from .surface_record import Surface

COLUMN_TYPES = {"number": np.float64, "integer": np.int64, "boolean": np.bool_}

Plain: TypeAlias = dict[str, Any]
R = TypeVar("R", RunInfo, Importance, Effect, Surface, Finding)
RECORDS: dict[str, type[Any]] = {
    "importances": Importance,
    "effects": Effect,
    "surfaces": Surface,
    "findings": Finding,
}
"""The parts of a result other than frames, in the order of result.json."""

NOT_FINITE = ("NaN", "Infinity", "-Infinity")
ANYTHING = ("options", "evidence", "config", "versions", "environment", "volatile")
"""Fields that map names to values of any plain type."""
GRIDS = ("first_grid", "second_grid")
BANDS = ("band_low", "band_high")
ARRAYS = ("raw", "baseline", "y_permuted", "values", "grid", *BANDS, *GRIDS)
_DIGESTS: WeakKeyDictionary[AuditResult, str] = WeakKeyDictionary()
KINDS = {"f": "number", "i": "integer", "u": "integer", "b": "boolean"}


def to_dict(result: AuditResult) -> Plain:
    """Return a result as dicts, lists, texts and finite numbers."""
    document: Plain = {"schema_version": SCHEMA_VERSION}
    document["run"] = _plain_record(result.run)
    for name, frame in result.frames.items():
        document[name] = _plain_frame(frame)
    for name in RECORDS:
        document[name] = [_plain_record(record) for record in getattr(result, name)]
    return document


def from_dict(document: Mapping[str, Any], *, name: str = "result.json") -> AuditResult:
    """Return the result from the dicts of `to_dict`.

    Raises
    ------
    DataError
        If the document is not a result, or has another schema version.
    """
    version = document.get("schema_version")
    if not isinstance(version, str):
        raise DataError(
            f"{name} is not the result of an audit: it has no schema_version."
        )
    if version != SCHEMA_VERSION:
        raise DataError(
            f"{name} has schema version {quote(version)}; this version reads "
            f"{SCHEMA_VERSION}. Use the version of importance-audit that wrote it."
        )
    known = {"schema_version", "content_digest", "run", *FRAMES, *RECORDS}
    if unknown := document.keys() - known:
        raise DataError(
            f"{name} has {listed(sorted(unknown))}, which no result of "
            f"schema {SCHEMA_VERSION} has. Use the file as it was written."
        )
    try:
        parts: Plain = {"run": _record(RunInfo, document["run"])}
        parts |= {key: _frame(document[key]) for key in FRAMES}
        for key, kind in RECORDS.items():
            parts[key] = tuple(_record(kind, plain) for plain in document[key])
    except KeyError as error:
        raise DataError(
            f"{name} lacks {error}, which every result has. Use the file as it "
            "was written."
        ) from error
    except (TypeError, ValueError, AttributeError) as error:
        raise DataError(
            f"{name} cannot be read as the result of an audit: {error}."
        ) from error
    return AuditResult(**parts)


def dumps(result: AuditResult) -> str:
    """Return a result as JSON, one line per part, with its content digest."""
    document = to_dict(result)
    if result not in _DIGESTS:
        keep_digest(result, digest_of(document))
    document["content_digest"] = content_digest(result)
    parts = (f"{_json(key)}: {_json(value)}" for key, value in document.items())
    return "{\n" + ",\n".join(parts) + "\n}\n"


def loads(text: str, *, name: str = "result.json") -> AuditResult:
    """Return the result in a JSON text; `name` is its name in messages.

    Raises
    ------
    DataError
        If the text is not JSON, not a result, or has another schema version.
    """
    return from_dict(document_in(text, name=name), name=name)


def document_in(text: str, *, name: str = "result.json") -> Plain:
    """Return the object in a JSON text.

    Raises
    ------
    DataError
        If the text is not JSON, or not an object.
    """
    try:
        document = json.loads(text)
    except ValueError as error:
        raise DataError(f"{name} is not valid JSON: {error}.") from error
    if not isinstance(document, dict):
        raise DataError(f"{name} is not the result of an audit: it holds no object.")
    return document


def content_digest(result: AuditResult) -> str:
    """Return the SHA-256 of the content of a result, without its times and places.

    It is computed once for each result, since results are immutable.
    """
    if result not in _DIGESTS:
        keep_digest(result, digest_of(to_dict(result)))
    return _DIGESTS[result]


def keep_digest(result: AuditResult, digest: str) -> None:
    """Cache the content digest of a result, as given in its document."""
    _DIGESTS[result] = digest


def digest_of(document: Mapping[str, Any]) -> str:
    """Return the content digest of a result given as a dict, unknown fields included.

    This is the SHA-256 of its canonical JSON (UTF-8, keys sorted by code point, no
    space, shortest exact floats) without ``run.volatile`` and the digest itself.
    """
    run = {k: v for k, v in document["run"].items() if k != "volatile"}
    content = {k: v for k, v in document.items() if k != "content_digest"} | {
        "run": run
    }
    text = json.dumps(
        content,
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
    )
    return hashlib.sha256(utf8(text)).hexdigest()


def utf8(text: str) -> bytes:
    r"""Return a text as UTF-8; lone surrogates are escaped as in JSON: ``\udc80``.

    File names that are not valid UTF-8 reach Python with such surrogates.
    """
    return text.encode("utf-8", "backslashreplace")


def _json(value: Any) -> str:
    """Return a value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _plain_record(record: RunInfo | Importance | Effect | Surface | Finding) -> Plain:
    """Return a record as a dict, fields in their declared order."""
    plain = {}
    for item in fields(record):
        value = getattr(record, item.name)
        if isinstance(value, np.ndarray):
            is_float = value.dtype.kind == "f"
            value = _finite(value.tolist()) if is_float else value.tolist()
        elif item.name in ANYTHING:
            value = _plain(value)
        plain[item.name] = _lists(value)
    return plain


def _record(kind: type[R], plain: Mapping[str, Any]) -> R:
    """Return the record from a dict with exactly its fields."""
    names = [item.name for item in fields(kind)]
    if missing := set(names) - plain.keys():
        raise KeyError(f"{kind.__name__}.{min(missing)}")
    if unknown := plain.keys() - set(names):
        raise ValueError(f"{kind.__name__} has no field {listed(sorted(unknown))}")
    return kind(**{name: _field(name, plain) for name in names})


def _field(name: str, plain: Mapping[str, Any]) -> Any:
    """Return one field of a record from its form in `_plain_record`."""
    value = plain[name]
    if name == "raw":
        shape = len(plain["features"]), len(plain["baseline"])
        if len(value) != shape[0]:
            raise ValueError(f"raw has {len(value)} rows for {shape[0]} features")
        return np.array(value, dtype=np.float64).reshape(shape)
    kind = plain.get("kind") if name == "grid" else None
    if name in GRIDS:
        kind = plain["kinds"][GRIDS.index(name)]
    if kind == "category":
        return np.array(value, dtype=object)
    if name == "within":
        return np.array(value, dtype=np.bool_)
    if name in ARRAYS:
        return np.array(value, dtype=np.float64)
    return _restored(value) if name in ANYTHING else _tuples(value)


def _plain_frame(frame: pd.DataFrame) -> Plain:
    """Return a frame as its columns, each with its type, and the number of rows."""
    columns = []
    for name, column in frame.items():
        values = column.tolist()
        kind = KINDS.get(column.dtype.kind, "mixed")
        if kind == "mixed" and all(isinstance(value, str) for value in values):
            kind = "text"
        encode = {"number": _finite, "mixed": _plain}.get(kind)
        cells = encode(values) if encode else values
        columns.append({"name": name, "type": kind, "values": cells})
    return {"rows": len(frame), "columns": columns}


def _frame(plain: Mapping[str, Any]) -> pd.DataFrame:
    """Return the frame from a dict, columns with their stored types."""
    columns = {}
    for column in plain["columns"]:
        values, kind = column["values"], column["type"]
        if len(values) != plain["rows"]:
            raise ValueError(
                f"column {quote(column['name'])} is not {plain['rows']} rows long"
            )
        if kind == "mixed":
            values = list(_restored(values))
        if kind == "number":  # also converts the texts of NaN and the infinities; fast
            values = np.array(values, dtype=np.float64)
        dtype: Any = COLUMN_TYPES.get(kind, object)
        if kind == "text" and values:
            dtype = None  # pandas chooses its own text type
        columns[column["name"]] = pd.Series(values, dtype=dtype)
    return pd.DataFrame(columns)


def _finite(values: Any) -> Any:
    """Return nested lists of floats, NaN and the infinities as texts."""
    if isinstance(values, list):
        return [_finite(value) for value in values]
    if math.isfinite(values):
        return values
    return "NaN" if math.isnan(values) else f"{'-' if values < 0 else ''}Infinity"


def _lists(value: Any) -> Any:
    """Return nested tuples as lists."""
    return (
        [_lists(item) for item in value] if isinstance(value, list | tuple) else value
    )


def _tuples(value: Any) -> Any:
    """Return nested lists as tuples."""
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    """Return a value of any plain type in the form JSON can hold.

    Raises
    ------
    TypeError
        If it is not a text, number, boolean, None, or collection of these.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return {"text": value} if value in NOT_FINITE else value
    if isinstance(value, float):
        return _finite(value)
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, Mapping):
        names = list(value)
        for name in names:
            if not isinstance(name, str):
                raise TypeError(
                    f"The names in a result must be texts; {quote(name)} was given."
                )
        if _is_starred(names):
            names = [f"{names[0]}*"]
        return dict(zip(names, map(_plain, value.values()), strict=True))
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    raise TypeError(f"The values of a result must be plain; {quote(value)} was given.")


def _is_starred(names: list[str]) -> bool:
    """Return whether a mapping has one key, "text" with any number of stars."""
    return len(names) == 1 and names[0].rstrip("*") == "text"


def _restored(value: Any) -> Any:
    """Return the value from the form of `_plain`, sequences as tuples."""
    if isinstance(value, str):
        return float(value) if value in NOT_FINITE else value
    if isinstance(value, list):
        return tuple(_restored(item) for item in value)
    if isinstance(value, dict):
        if list(value) == ["text"] and value["text"] in NOT_FINITE:
            return value["text"]
        names = list(value)
        if _is_starred(names):
            names = [names[0].removesuffix("*")]
        return dict(zip(names, map(_restored, value.values()), strict=True))
    return value
