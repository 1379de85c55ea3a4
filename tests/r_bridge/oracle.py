"""A second way into R that shares nothing with the bridge; see oracle.R.

Element by element, by the words of the bridge's table of types, so that both can be
held against each other.
"""

import os
import secrets
import socket
import struct
import subprocess
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd

NA_DOUBLE = struct.pack("<Q", 0x7FF00000000007A2)
NA_INTEGER = -(2**31)
MICROSECOND = 1e6


class Oracle:
    """R at the other end of a socket."""

    def __init__(self, line):
        self._line = line.makefile("rwb")

    def greeting(self):
        """Return the text that R says first."""
        return self._get_text()

    def end(self):
        """Let R end."""
        self._put_text("end")

    def save_and_read(self, frame, path):
        """Let R save a frame as an .rds file, and return what R reads from it."""
        self._put_text("keep")
        self._put_frame(frame)
        self._put_text(str(path))
        return self.read_frame(path)

    def read_frame(self, path):
        """Return the frame of an .rds file."""
        self._put_text("give")
        self._put_text(str(path))
        return self._get_frame()

    def parts(self, frame, y, predict, *, seed, n_repeats):
        """Return the rows of DALEX::model_parts, without their means."""
        self._put_text("parts")
        self._put_frame(frame)
        self._put_frame(pd.DataFrame({"y": y}))
        self._put_int(seed, n_repeats)
        while self._get_text() == "predict":
            answer = predict(self._get_frame())
            self._put_int(len(answer))
            self._line.write(np.asarray(answer, "<f8").tobytes())
        scores = self._get_frame()
        return scores[scores["permutation"] > 0]

    def _put_int(self, *numbers):
        self._line.write(struct.pack(f"<{len(numbers)}i", *numbers))
        self._line.flush()

    def _put_text(self, text):
        if text is None or text is pd.NA:
            self._put_int(-1)
            return
        self._put_int(len(text.encode()))
        self._line.write(text.encode())
        self._line.flush()

    def _put_frame(self, frame):
        self._put_int(*frame.shape)
        for name in frame:
            column = frame[name]
            kind, detail = kind_of(column)
            for text in (name, kind, detail):
                self._put_text(text)
            if kind in {"factor", "ordered"}:
                levels = [str(level) for level in column.cat.categories]
                self._put_int(len(levels))
                for level in levels:
                    self._put_text(level)
            for value in numbers_of(column, kind):
                if kind == "character":
                    self._put_text(value)
                elif kind in {"factor", "ordered", "integer", "logical"}:
                    self._put_int(NA_INTEGER if value is None else value)
                else:
                    bits = NA_DOUBLE if value is None else struct.pack("<d", value)
                    self._line.write(bits)
        self._line.flush()

    def _get_int(self):
        self._line.flush()
        return struct.unpack("<i", self._line.read(4))[0]

    def _get_text(self):
        size = self._get_int()
        return None if size < 0 else self._line.read(size).decode()

    def _get_frame(self):
        n_rows, n_columns = self._get_int(), self._get_int()
        columns = {}
        for _ in range(n_columns):
            name, kind, detail = (self._get_text() for _ in range(3))
            levels = None
            if kind in {"factor", "ordered"}:
                levels = [self._get_text() for _ in range(self._get_int())]
            columns[name] = self._get_column(kind, detail, levels, n_rows)
        return pd.DataFrame(columns, index=pd.RangeIndex(n_rows))

    def _get_column(self, kind, detail, levels, n_rows):
        if kind == "character":
            texts = [self._get_text() for _ in range(n_rows)]
            return pd.Series(texts, dtype=object)
        if kind in {"integer", "logical", "factor", "ordered"}:
            numbers = [self._get_int() for _ in range(n_rows)]
        else:
            numbers = [self._get_double() for _ in range(n_rows)]
        return column_of(numbers, kind, detail, levels)

    def _get_double(self):
        value = struct.unpack("<d", self._line.read(8))[0]
        return np.nan if np.isnan(value) else value


def kind_of(column):
    """Return the word for a column and what has to be known beside it."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return ("ordered" if dtype.ordered else "factor"), ""
    if pd.api.types.is_bool_dtype(dtype):
        return "logical", ""
    if pd.api.types.is_integer_dtype(dtype):
        large = any(abs(int(value)) >= 2**31 for value in column.dropna())
        return ("double" if large else "integer"), ""
    if pd.api.types.is_float_dtype(dtype):
        return "double", ""
    if pd.api.types.is_timedelta64_dtype(dtype):
        return "difftime", "secs"
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return "POSIXct", str(getattr(dtype, "tz", None) or "")
    kinds = {type(value).__name__ for value in column.dropna()}
    return ("Date" if kinds == {"date"} else "character"), ""


def numbers_of(column, kind):
    """Return the values as R counts them, one by one, None where one is missing."""
    epoch = pd.Timestamp(0, tz=getattr(column.dtype, "tz", None))
    count = {
        "factor": lambda level: list(column.cat.categories).index(level) + 1,
        "logical": int,
        "integer": int,
        "character": str,
        "double": float,
        "Date": lambda day: float((day - epoch.date()).days),
        "POSIXct": lambda at: (at - epoch) // pd.Timedelta("1us") / MICROSECOND,
        "difftime": lambda time: time // pd.Timedelta("1us") / MICROSECOND,
    }
    count["ordered"] = count["factor"]
    return [None if pd.isna(value) else count[kind](value) for value in column]


def column_of(numbers, kind, detail, levels):
    """Return the column that the bridge's table promises for these numbers of R."""
    is_na = [n == NA_INTEGER or n != n for n in numbers]
    if kind == "double":
        return pd.Series(numbers, dtype="float64")
    if kind in {"factor", "ordered"}:
        names = [
            None if na else levels[n - 1] for n, na in zip(numbers, is_na, strict=True)
        ]
        return pd.Categorical(names, levels, ordered=kind == "ordered")
    if kind in {"integer", "logical"}:
        whole, nullable = {
            "integer": ("int64", "Int64"),
            "logical": ("bool", "boolean"),
        }[kind]
        values = [None if na else n for n, na in zip(numbers, is_na, strict=True)]
        if any(is_na):
            flags = [None if v is None else bool(v) for v in values]
            return pd.array(flags if kind == "logical" else values, dtype=nullable)
        return pd.Series(values, dtype=whole)
    unit = "D" if kind == "Date" else "us"
    scale = 1 if kind == "Date" else MICROSECOND
    type_of = np.timedelta64 if kind == "difftime" else np.datetime64
    times = [
        type_of("NaT", unit) if na else type_of(round(n * scale), unit)
        for n, na in zip(numbers, is_na, strict=True)
    ]
    letter = "m" if kind == "difftime" else "M"
    values = np.array(times, dtype=f"{letter}8[{unit}]")
    if kind == "POSIXct" and detail:
        return pd.DatetimeIndex(values).tz_localize("UTC").tz_convert(detail)
    return pd.Series(values)


@contextmanager
def oracle(library):
    """Start R and yield the Oracle, once it has said the token of this start."""
    token = secrets.token_hex(16)
    environment = os.environ | {
        "ORACLE_TOKEN": token,
        "R_LIBS": str(library or ""),
        "LC_COLLATE": "C",
        "LC_CTYPE": "C.UTF-8",
        "TZ": "UTC",
    }
    environment.pop("LC_ALL", None)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(120)
        script = Path(__file__).with_suffix(".R")
        port = str(server.getsockname()[1])
        command = ["Rscript", "--vanilla", str(script), port]
        with subprocess.Popen(command, env=environment) as process:
            try:
                line, _ = server.accept()
                with line:
                    line.settimeout(120)
                    connection = Oracle(line)
                    if connection.greeting() != token:
                        raise ConnectionRefusedError("a stranger asked")
                    yield connection
                    connection.end()
                process.wait(120)
            finally:
                process.kill()
