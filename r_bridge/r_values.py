"""Conversion of R objects to records and back, in R's process.

Factors and times differ from numbers only by their attributes; anything but data is
refused by name. The arrays of a record are views of R's memory until it is sent; arrays
that arrive are copied into R's memory.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from rpy2 import rinterface
from rpy2.rinterface import StrSexpVector

from .errors import RBridgeError, quote
from .wire import NA_INTEGER, Array, Record

FACTORS = {"ordered": ("ordered", "factor"), "factor": ("factor",)}
DETAILS = {
    **dict.fromkeys(FACTORS, "levels"),
    "POSIXct": "tzone",
    "difftime": "units",
    "Date": "",
    "integer64": "",
}
"""By class of R, the attribute that completes its numbers, empty for none."""
# Larger vectors are allocated by R: lack of memory is then an R error, not an abort.
_LET_R_ALLOCATE = 1 << 24
_NUMBERS = (
    ("double", rinterface.FloatSexpVector),
    ("logical", rinterface.BoolSexpVector),
    ("integer", rinterface.IntSexpVector),
)


def build(record: Record) -> Any:
    """Return the R object of a record; `python_values` has validated it."""
    word = record[0]
    if word == "null":
        return rinterface.NULL
    if word == "list":
        items = rinterface.ListSexpVector([build(item) for item in record[2]])
        return items if record[1] is None else _with_names(items, record[1])
    if word == "frame":
        return _build_frame(record)
    if word == "array":
        return _build_array(record)
    if word == "character":
        distinct = StrSexpVector(record[2])
        return rinterface.baseenv["["](distinct, _build_numbers(record[1]))
    vector = _build_numbers(record[1], is_logical=word == "logical")
    if word in FACTORS:
        vector.do_slot_assign("levels", StrSexpVector(record[2]))
        vector.rclass = StrSexpVector(FACTORS[word])
    return vector


def _build_numbers(values: Array, *, is_logical: bool = False) -> Any:
    """Return a double, integer or logical vector, by the array's dtype."""
    word = "double" if values.dtype == np.float64 else "integer"
    word = "logical" if is_logical else word
    kind = dict(_NUMBERS)[word]
    if not values.size:
        return kind([])
    if values.nbytes < _LET_R_ALLOCATE:
        return kind.from_memoryview(memoryview(values.data))
    vector = rinterface.baseenv[word](values.size)
    np.asarray(vector)[:] = values
    return vector


def _build_array(record: Record) -> Any:
    """Return a matrix; dimnames are a list of texts or None per dimension."""
    vector = build(record[1])
    vector.do_slot_assign("dim", rinterface.IntSexpVector(list(record[2])))
    if any(names is not None for names in record[3]):
        dimnames = [
            rinterface.NULL if names is None else StrSexpVector(names)
            for names in record[3]
        ]
        vector.do_slot_assign("dimnames", rinterface.ListSexpVector(dimnames))
    return vector


def _build_frame(record: Record) -> Any:
    _, names, records, n_rows, _ = record
    frame = rinterface.ListSexpVector([build(item) for item in records])
    frame = _with_names(frame, names)
    compact = [rinterface.NA_Integer, -n_rows] if n_rows else []
    frame.do_slot_assign("row.names", rinterface.IntSexpVector(compact))
    # Only this sets R's object bit; setting the attribute "class" leaves a plain list.
    frame.rclass = StrSexpVector(["data.frame"])
    return frame


def _with_names(vector: Any, names: Sequence[str]) -> Any:
    vector.do_slot_assign("names", StrSexpVector(names))
    return vector


def read(value: Any, *, subject: str) -> Record:
    """Return the record of an R value.

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
            record = read_frame(value, subject=subject)
            return (*record[:-1], _texts(value.do_slot("row.names")))
        if "POSIXlt" in classes:
            raise _refusal(subject, "POSIXlt")
        return _read_list(value, subject)
    vector = _read_vector(value, subject)
    dim = _slot(value, "dim")
    if dim is None:
        return vector
    dimnames = _slot(value, "dimnames")
    names = [_texts(of) for of in dimnames or [None] * len(dim)]
    return ("array", vector, list(dim), names)


def read_frame(frame: Any, *, subject: str) -> Record:
    """Return the record of a data.frame without row names."""
    names = _texts(frame.names) or []
    records = []
    for name, column in zip(names, frame, strict=True):
        inside = f"{subject}, column {quote(name)}"
        if _slot(column, "dim") is not None:
            raise _refusal(inside, "matrix")
        records.append(_read_vector(column, inside))
    n_rows = len(frame[0]) if names else len(frame.do_slot("row.names"))
    return ("frame", names, records, n_rows, None)


def _read_list(value: Any, subject: str) -> Record:
    names = _texts(value.names)
    if names and len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise RBridgeError(f"{subject} has more than one element named {quote(twice)}.")
    records = []
    for n, element in enumerate(value):
        label = repr(names[n]) if names and names[n] else str(n + 1)
        records.append(read(element, subject=f"{subject}, element {label}"))
    return ("list", names, records)


def _read_vector(vector: Any, subject: str) -> Record:
    """Return the record of an atomic vector."""
    if isinstance(vector, rinterface.StrSexpVector):
        return _read_character(vector, subject)
    plain = next((word for word, kind in _NUMBERS if isinstance(vector, kind)), "")
    if not plain:
        raise _refusal(subject, vector.rclass[0])
    numbers = np.asarray(vector)
    classes = _slot(vector, "class") or ()
    word = next((word for word in DETAILS if word in classes), plain)
    slot = DETAILS.get(word)
    if not slot:
        return (word, numbers)
    details = list(_slot(vector, slot) or ())
    if any(text is rinterface.NA_Character for text in details):
        raise RBridgeError(
            f"{subject} has a missing value (NA) among its levels, as addNA() makes "
            "one. Name that level."
        )
    return (word, numbers, details)


def _read_character(vector: Any, subject: str) -> Record:
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
    return ("character", codes, texts)


def _texts(texts: Any) -> list[str] | None:
    """Return R's texts as a list, None for any other object."""
    is_text = isinstance(texts, rinterface.StrSexpVector)
    return [str(text) for text in texts] if is_text else None


def _slot(value: Any, name: str) -> Any:
    """Return an attribute of an R object, None if it is missing."""
    try:
        return value.do_slot(name)
    except LookupError:
        return None


def _refusal(subject: str, finding: str) -> RBridgeError:
    return RBridgeError(f"{subject} is no data: R returned a value of class {finding}.")
