"""Records to R objects, in the worker: one record of a column, one R vector.

`pack` made the records and refused what R cannot hold; here nothing is decided, only
copied into R's memory and given its attributes.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from rpy2 import rinterface
from rpy2.rinterface import StrSexpVector

from .channel import Array, Record, read_texts

# Above this R allocates: running out of memory is then an R error, not an abort.
_LET_R_ALLOCATE = 1 << 24


def build(record: Record, arrays: Sequence[Array]) -> Any:
    """Return the R object of a record; the arrays are copied into R's memory."""
    word = record[0]
    if word == "null":
        return rinterface.NULL
    if word == "list":
        items = rinterface.ListSexpVector([build(item, arrays) for item in record[2]])
        return items if record[1] is None else _with_slots(items, names=record[1])
    if word == "frame":
        return _build_frame(record, arrays)
    if word == "array":
        return _build_array(record, arrays)
    if word == "character":
        return _build_character(record, arrays)
    vector = _build_numbers(arrays[record[1]], is_logical=word == "logical")
    return _with_class(vector, record, arrays)


def _build_numbers(values: Array, *, is_logical: bool = False) -> Any:
    """Return a double, integer or logical vector, by the array's dtype."""
    if values.dtype == np.float64:
        kind = rinterface.FloatSexpVector
    else:
        kind = rinterface.BoolSexpVector if is_logical else rinterface.IntSexpVector
    if not values.size:
        return kind([])
    if values.nbytes < _LET_R_ALLOCATE:
        return kind.from_memoryview(memoryview(values.data))
    mode = "numeric" if values.dtype == np.float64 else "integer"
    vector = rinterface.baseenv["logical" if is_logical else mode](values.size)
    np.asarray(vector)[:] = values
    return vector


def _with_class(vector: Any, record: Record, arrays: Sequence[Array]) -> Any:
    """Give a vector of numbers the attributes that make it a factor or a time."""
    word = record[0]
    if word == "factor":
        vector.do_slot_assign("levels", StrSexpVector(read_texts(record[2], arrays)))
        vector.rclass = StrSexpVector(
            ["ordered", "factor"] if record[3] else ["factor"]
        )
    elif word == "POSIXct":
        vector.do_slot_assign("tzone", StrSexpVector([record[2]]))
        vector.rclass = StrSexpVector(["POSIXct", "POSIXt"])
    elif word == "difftime":
        vector.do_slot_assign("units", StrSexpVector([record[2]]))
        vector.rclass = StrSexpVector(["difftime"])
    elif word == "Date":
        vector.rclass = StrSexpVector(["Date"])
    return vector


def _build_character(record: Record, arrays: Sequence[Array]) -> Any:
    distinct = StrSexpVector(read_texts(record[2], arrays))
    return rinterface.baseenv["["](distinct, _build_numbers(arrays[record[1]]))


def _build_array(record: Record, arrays: Sequence[Array]) -> Any:
    """Return a matrix; the dimnames are a tuple of texts or None per dimension."""
    vector = build(record[1], arrays)
    vector.do_slot_assign("dim", rinterface.IntSexpVector(list(record[2])))
    if any(names is not None for names in record[3]):
        dimnames = [
            rinterface.NULL if names is None else StrSexpVector(names)
            for names in record[3]
        ]
        vector.do_slot_assign("dimnames", rinterface.ListSexpVector(dimnames))
    return vector


def _build_frame(record: Record, arrays: Sequence[Array]) -> Any:
    _, names, records, n_rows, _ = record
    frame = rinterface.ListSexpVector([build(item, arrays) for item in records])
    compact = [rinterface.NA_Integer, -n_rows] if n_rows else []
    rows = rinterface.IntSexpVector(compact)
    frame = _with_slots(frame, names=names)
    frame.do_slot_assign("row.names", rows)
    # Only this sets R's object bit; the slot "class" would leave a plain list.
    frame.rclass = StrSexpVector(["data.frame"])
    return frame


def _with_slots(vector: Any, *, names: Sequence[str]) -> Any:
    vector.do_slot_assign("names", StrSexpVector(list(names)))
    return vector
