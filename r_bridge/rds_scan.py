"""What an .rds file is made of, told from its bytes before R unpacks any of it.

R may run what a file holds merely by reading it (before 4.4.0, CVE-2024-27322). A
table of numbers needs vectors, lists, names and attributes; whatever else stands in
the file is refused by its name, and R never sees it. Not: the values.
"""

import bz2
import gzip
import lzma
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

LARGEST = 64 << 20
"""Bytes of a file, and of what it unpacks to: a table of importances has thousands."""
_DEEPEST = 100
_HAS_ATTRIBUTES, _HAS_TAG = 0x200, 0x400
_SYMBOL, _PAIRLIST, _CHARACTERS, _TEXTS, _LIST = 1, 2, 9, 16, 19
_ALTERNATIVE, _NOTHING, _KNOWN = 238, 254, 255
_BYTES_PER_VALUE = {10: 4, 13: 4, 14: 8, 15: 16, 24: 1}
_REFUSED = {
    **{3: "a function", 4: "an environment", 5: "a promise", 6: "a call"},
    **{7: "a function", 8: "a function", 20: "an expression", 21: "byte code"},
    **{22: "an external pointer", 23: "a weak reference", 25: "an S4 object"},
    **{239: "a call", 240: "a call", 241: "an environment", 242: "an environment"},
    **{247: "a class of functions", 249: "a namespace", 250: "an environment"},
    **{252: "an environment", 253: "an environment"},
}
_PLAIN_ALTERNATIVES = {
    *("compact_intseq", "compact_realseq", "deferred_string"),
    *("wrap_integer", "wrap_real", "wrap_logical", "wrap_string", "wrap_list"),
}
_OPENERS: tuple[tuple[bytes, Callable[..., object]], ...] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ", lzma.open),
)


class NotPlainError(Exception):
    """What a file is instead of plain data, as a clause: "it holds a promise"."""


def check(path: Path) -> None:
    """Refuse a file that is not an .rds of plain data.

    Raises
    ------
    NotPlainError
        With what was found.
    OSError
        If the file cannot be read.
    """
    scan = _Scan(_unpacked(path))
    try:
        scan.head()
        scan.item()
    except (struct.error, IndexError) as error:
        raise NotPlainError("it ends before its data do") from error
    if scan.at != len(scan.data):
        raise NotPlainError("it goes on after its data")


def _unpacked(path: Path) -> bytes:
    """Return the bytes behind the compression."""
    if path.stat().st_size > LARGEST:
        raise NotPlainError(f"it is larger than {LARGEST >> 20} MB")
    data = path.read_bytes()
    for magic, opener in _OPENERS:
        if data.startswith(magic):
            try:
                with opener(path) as file:  # type: ignore[attr-defined]
                    data = file.read(LARGEST + 1)
            except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
                raise NotPlainError(f"it is corrupt: {error}") from error
    if len(data) > LARGEST:
        raise NotPlainError(f"it unpacks to more than {LARGEST >> 20} MB")
    return data


class _Scan:
    """A place in the bytes, moved past one item after another."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self._symbols: list[str] = []
        self._depth = 0

    def head(self) -> None:
        """Move past the format and the versions."""
        if self.data[:2] != b"X\n":
            raise NotPlainError("it is no binary .rds file")
        self.at = 2
        version, _, _ = self._int(), self._int(), self._int()
        if version not in (2, 3):
            raise NotPlainError(f"its format has version {version}, and 2 or 3 is read")
        if version == 3:
            self._skip(self._int())

    def item(self) -> str:
        """Move past one object; return its text if it is a symbol or characters."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise NotPlainError(f"its lists are more than {_DEEPEST} deep")
        text = self._object(self._int())
        self._depth -= 1
        return text

    def _object(self, flags: int) -> str:
        """Move past what comes after the flags of an object."""
        kind = flags & 0xFF
        if kind in _REFUSED:
            raise NotPlainError(f"it holds {_REFUSED[kind]}")
        if kind == _NOTHING:
            return ""
        if kind == _KNOWN:
            return self._symbols[(flags >> 8 or self._int()) - 1]
        if kind == _SYMBOL:
            self._symbols.append(self.item())
            return self._symbols[-1]
        if kind == _CHARACTERS:
            return self._characters()
        if kind == _PAIRLIST:
            return self._pairlist(flags)
        if kind == _ALTERNATIVE:
            return self._alternative()
        n = self._length()
        if kind in (_TEXTS, _LIST):
            for _ in range(n):
                self.item()
        elif kind in _BYTES_PER_VALUE:
            self._skip(_BYTES_PER_VALUE[kind] * n)
        else:
            raise NotPlainError(f"it holds an object of unknown type {kind}")
        if flags & _HAS_ATTRIBUTES:
            self.item()
        return ""

    def _characters(self) -> str:
        length = self._int()
        if length == -1:
            return ""
        start = self.at
        self._skip(length)
        return self.data[start : self.at].decode("utf-8", "replace")

    def _pairlist(self, flags: int) -> str:
        """Move past a list of tagged values; return the text of the first."""
        first: str | None = None
        while True:
            if flags & _HAS_ATTRIBUTES:
                self.item()
            if flags & _HAS_TAG:
                self.item()
            text = self.item()
            first = text if first is None else first
            flags = self._int()
            if flags & 0xFF != _PAIRLIST:
                self._object(flags)  # nothing, or the second half of a pair
                return first

    def _alternative(self) -> str:
        """Move past a vector in a form of its own, such as 1:n."""
        name = self.item()
        if name not in _PLAIN_ALTERNATIVES:
            raise NotPlainError(f"it holds a vector of the form {name!r}")
        self.item()
        self.item()
        return ""

    def _int(self) -> int:
        (value,) = struct.unpack_from(">i", self.data, self.at)
        self.at += 4
        return int(value)

    def _length(self) -> int:
        n = self._int()
        return n if n != -1 else (self._int() << 32) + self._int()

    def _skip(self, n: int) -> None:
        if n < 0 or self.at + n > len(self.data):
            raise IndexError(n)
        self.at += n
