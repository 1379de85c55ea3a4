"""R objects to records, in the worker: one R vector, one record of a column.

Factors and times are told from numbers by their attributes alone, and what is not data
is refused by name. The arrays are R's own memory: `Channel.send` copies them.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from rpy2 import rinterface
from rpy2.rinterface_lib.openrlib import ffi, rlib

from .channel import NA_INTEGER, Array, Record, append_texts, encode_texts
from .errors import RBridgeError, quote

_WORDS = (
    (rinterface.FloatSexpVector, "double"),
    (rinterface.BoolSexpVector, "logical"),
    (rinterface.IntSexpVector, "integer"),
)
_ATOMIC = (rinterface.StrSexpVector, *(kind for kind, _ in _WORDS))
_MEMORY: dict[str, tuple[Any, Any]] = {
    "double": (rlib.REAL, np.dtype(np.float64)),
    "logical": (rlib.LOGICAL, np.dtype(np.int32)),
    "integer": (rlib.INTEGER, np.dtype(np.int32)),
}


class Column(NamedTuple):
    """What can be known of a column without its values.

    Attributes
    ----------
    name : str
    plain : str
        The word of `channel` for its type; empty if it does not hold numbers.
    attributes : tuple
        A word of `channel` and its details, or () for a vector without any.
    """

    name: str
    plain: str
    attributes: tuple[Any, ...]


def read(value: Any, arrays: list[Array], *, subject: str) -> Record:
    """Return the record of an R value and append its arrays.

    Raises
    ------
    RBridgeError
        If the value, or anything inside it, is not data: a function, an environment,
        a formula, a pointer, an S4 object.
    """
    if value is rinterface.NULL:
        return ("null",)
    if isinstance(value, rinterface.ListSexpVector):
        classes = list(value.rclass)
        if "data.frame" in classes:
            return _read_table(value, arrays, subject)
        if "POSIXlt" in classes:
            raise _refusal(subject, "POSIXlt")
        return _read_list(value, arrays, subject)
    if not isinstance(value, _ATOMIC):
        raise _refusal(subject, value.rclass[0])
    vector = _read_vector(value, _attributes(value), arrays, subject)
    dim = _slot(value, "dim")
    if dim is None:
        return vector
    dimnames = _slot(value, "dimnames")
    names = [read_names(of) for of in dimnames or [None] * len(dim)]
    return ("array", vector, list(dim), names)


def read_frame(
    frame: Any, columns: Sequence[Column], arrays: list[Array], *, subject: str
) -> Record:
    """Return the record of a data.frame without row names.

    `columns` is what `describe_columns` says about this frame, or about another one
    with the same names, types and attributes: to ask takes longer than to copy.
    """
    pointer = ffi.cast("SEXP", frame.rid)
    records: list[Record] = []
    for n, (name, plain, attributes) in enumerate(columns):
        if plain:
            # A proxy of every column would take longer than all the rest of a call.
            arrays.append(_memory(rlib.VECTOR_ELT(pointer, n), plain))
            records.append(_record(plain, attributes, arrays))
        else:
            inside = f"{subject}, column {quote(name)}"
            records.append(_read_vector(frame[n], attributes, arrays, inside))
    n_rows = len(frame[0]) if columns else len(frame.do_slot("row.names"))
    return ("frame", [column.name for column in columns], records, n_rows, None)


def _memory(vector: Any, plain: str) -> Array:
    """Return R's own memory of a vector of numbers."""
    size = rlib.Rf_xlength(vector)
    pointer_to, dtype = _MEMORY[plain]
    if not size:
        return np.empty(0, dtype)
    memory: Any = ffi.buffer(pointer_to(vector), size * dtype.itemsize)
    return np.frombuffer(memory, dtype)


def describe_columns(frame: Any, *, subject: str) -> tuple[Column, ...]:
    """Return name and attributes of each column of a data.frame."""
    columns = []
    for name, vector in zip(read_names(frame.names) or (), frame, strict=True):
        if _slot(vector, "dim") is not None:
            raise _refusal(f"{subject}, column {quote(name)}", "matrix")
        columns.append(Column(name, _plain(vector), _attributes(vector)))
    return tuple(columns)


def read_names(names: Any) -> list[str] | None:
    """Return R's names as text, or None if there are none."""
    is_text = isinstance(names, rinterface.StrSexpVector)
    return [str(name) for name in names] if is_text else None


def _read_table(frame: Any, arrays: list[Array], subject: str) -> Record:
    """Return the record of a data.frame with its row names, if they are text."""
    columns = describe_columns(frame, subject=subject)
    record = read_frame(frame, columns, arrays, subject=subject)
    return (*record[:-1], read_names(frame.do_slot("row.names")))


def _read_list(value: Any, arrays: list[Array], subject: str) -> Record:
    names = read_names(value.names)
    if names and len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise RBridgeError(f"{subject} has more than one element named {quote(twice)}.")
    records = []
    for n, element in enumerate(value):
        label = repr(names[n]) if names and names[n] else str(n + 1)
        inside = f"{subject}, element {label}"
        records.append(read(element, arrays, subject=inside))
    return ("list", names, records)


def _attributes(vector: Any) -> tuple[Any, ...]:
    """Return what the attributes make of a vector: word and details, () if nothing."""
    classes = _slot(vector, "class") or ()
    if "factor" in classes:
        levels = list(_slot(vector, "levels") or ())
        return ("factor", encode_texts(levels), len(levels), "ordered" in classes)
    if "POSIXct" in classes:
        zone = _slot(vector, "tzone")
        return ("POSIXct", zone[0] if zone else "")
    if "difftime" in classes:
        return ("difftime", vector.do_slot("units")[0])
    return next(((word,) for word in ("Date", "integer64") if word in classes), ())


def _read_vector(
    vector: Any, attributes: tuple[Any, ...], arrays: list[Array], subject: str
) -> Record:
    """Return the record of an atomic vector."""
    if isinstance(vector, rinterface.StrSexpVector):
        return _read_character(vector, arrays, subject)
    plain = _plain(vector)
    if not plain:
        raise _refusal(subject, vector.rclass[0])
    arrays.append(np.asarray(vector))
    return _record(plain, attributes, arrays)


def _plain(vector: Any) -> str:
    """Return the word for the type of a vector of numbers, or none."""
    return next((word for kind, word in _WORDS if isinstance(vector, kind)), "")


def _record(plain: str, attributes: tuple[Any, ...], arrays: list[Array]) -> Record:
    """Return the record of a vector of numbers, the last of the arrays."""
    place = len(arrays) - 1
    if not attributes:
        return (plain, place)
    word, *details = attributes
    if word == "factor":
        levels, count, is_ordered = details
        arrays.append(levels)
        return (word, place, (place + 1, count), is_ordered)
    return (word, place, *details)


def _read_character(vector: Any, arrays: list[Array], subject: str) -> Record:
    """Return the record of a character vector: its distinct texts and their codes."""
    base = rinterface.baseenv
    distinct = base["unique"](vector)
    if not all(base["validEnc"](distinct)):
        raise RBridgeError(f"{subject} holds bytes of R that are no valid text.")
    codes = np.array(base["match"](vector, distinct))
    texts = list(base["enc2utf8"](distinct))
    for n, text in enumerate(texts):
        if text is rinterface.NA_Character:
            texts[n] = ""
            codes[codes == n + 1] = NA_INTEGER
    arrays.append(codes)
    return ("character", len(arrays) - 1, append_texts(texts, arrays))


def _slot(value: Any, name: str) -> Any:
    """Return an attribute of an R object, or None."""
    try:
        return value.do_slot(name)
    except LookupError:
        return None


def _refusal(subject: str, finding: str) -> RBridgeError:
    return RBridgeError(f"{subject} is no data: R returned a value of class {finding}.")
