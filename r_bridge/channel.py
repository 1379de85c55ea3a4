"""Messages and memory-mapped blocks, for both sides of the bridge.

A message is a tuple of plain types behind its length. Arrays never travel in it: the
sender copies them into its own block, a file that both sides map, and the message says
where each begins. A block is written again by the next message of the same side, so
that what `receive` returns is valid until the receiver answers.

A value travels as a record, a tuple of plain types which begins with a word, and as
arrays in R's coding of missing values. In a record arrays stand for their place in the
list of arrays, texts for (place, count) of UTF-8 bytes, separated by NUL, which R's
strings cannot hold. The words:

    ("null",)                                       NULL
    ("double", array), ("integer", array)           double, integer (int32)
    ("logical", array), ("integer64", array)        logical (int32), bits of integer64
    ("factor", codes, levels, is_ordered)           factor, ordered; codes from 1
    ("character", codes, distinct texts)            character
    ("Date", array), ("difftime", array, unit)      days; numbers of a unit
    ("POSIXct", array, zone)                        seconds since 1970 in UTC
    ("array", record, dim, dimnames)                matrix, column after column
    ("list", names or None, records)                list
    ("frame", names, records, n_rows, row names)    data.frame; row names or None
"""

import marshal
import mmap
import os
import shutil
import socket
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .errors import RBridgeError

Message: TypeAlias = tuple[Any, ...]
Record: TypeAlias = tuple[Any, ...]
Array: TypeAlias = npt.NDArray[Any]

NA_INTEGER = -(2**31)
NA_REAL_BITS = 0x7FF00000000007A2

_LENGTH = struct.Struct("!Q")
_ALIGNMENT = 64
_SMALLEST_BLOCK = 1 << 16


class Block:
    """A mapped file that one side writes, in the first folder with room for it.

    Parameters
    ----------
    folders : sequence of Path
        Where to place the file: shared memory first, then the disk.
    name : str
        What the file is called; a number is added each time the block grows.
    """

    def __init__(self, folders: Sequence[Path], name: str) -> None:
        self._folders = tuple(folders)
        self._name = name
        self._number = 0
        self.path = ""
        self.map: mmap.mmap | bytearray = bytearray()

    def reserve(self, n_bytes: int) -> None:
        """Make room for `n_bytes`; what the block held before is lost.

        Raises
        ------
        RBridgeError
            If no folder has room.
        """
        if n_bytes <= len(self.map):
            return
        size = max(n_bytes, _SMALLEST_BLOCK)
        self.discard()
        for folder in self._folders:
            if shutil.disk_usage(folder).free > 2 * size and self._create(folder, size):
                return
        places = " or ".join(str(folder.parent) for folder in self._folders)
        raise RBridgeError(
            f"{size / 1e6:.0f} MB of data for R do not fit into {places}. Free some "
            "space, or ask for less."
        )

    def discard(self) -> None:
        """Remove the file; who has it mapped keeps what it holds."""
        if self.path:
            Path(self.path).unlink(missing_ok=True)
        self.path, self.map = "", bytearray()

    def _create(self, folder: Path, size: int) -> bool:
        """Return whether a file of this size was made: all of it, not a sparse one."""
        path = folder / f"{self._name}-{self._number}"
        self._number += 1
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            # Writing to a hole of a full file system is SIGBUS, not an error.
            os.posix_fallocate(descriptor, 0, size)
            self.map = mmap.mmap(descriptor, size)
        except OSError:
            path.unlink()
            return False
        finally:
            os.close(descriptor)
        self.path = str(path)
        return True


class Channel:
    """One end of the line between the two processes.

    Parameters
    ----------
    line : socket
        A connected stream socket.
    block : Block
        Where the arrays of this side's messages go.
    """

    def __init__(self, line: socket.socket, block: Block) -> None:
        self._line = line
        self._block = block
        self._theirs: tuple[str, mmap.mmap | bytes] = ("", b"")
        self._unread = bytearray()

    def fileno(self) -> int:
        """Return the descriptor to poll; see `has_message` first."""
        return self._line.fileno()

    def has_message(self) -> bool:
        """Return whether a whole message was read already."""
        return len(self._unread) >= self._expected()

    def send(self, message: Message, arrays: Sequence[Array] = ()) -> None:
        """Send one message with its arrays, which are flattened in memory order."""
        layout = [(array.dtype.str, array.size) for array in arrays]
        self._block.reserve(_total(layout))
        for room, array in zip(_views(self._block.map, layout), arrays, strict=True):
            room[:] = array.ravel(order="K")
        body = marshal.dumps((message, self._block.path, layout))
        self._line.sendall(_LENGTH.pack(len(body)) + body)

    def fill(self) -> None:
        """Read once what the line holds.

        Raises
        ------
        EOFError
            If the other side closed the line.
        """
        try:
            chunk = self._line.recv(1 << 20)
        except ConnectionResetError:
            chunk = b""
        if not chunk:
            raise EOFError("The other side of the bridge closed the line.")
        self._unread += chunk

    def receive(self) -> tuple[Message, list[Array]]:
        """Wait for the next message; return it with read-only views of its arrays."""
        while not self.has_message():
            self.fill()
        end = self._expected()
        body = bytes(self._unread[_LENGTH.size : end])
        del self._unread[:end]
        message, path, layout = marshal.loads(body)
        if path and path != self._theirs[0]:
            with open(path, "rb") as file:
                block = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            self._theirs = (path, block)
        return message, _views(self._theirs[1], layout)

    def close(self) -> None:
        """Close the line and remove this side's block."""
        self._line.close()
        self._block.discard()

    def _expected(self) -> int:
        """Return how many bytes the message under way has, with its length."""
        if len(self._unread) < _LENGTH.size:
            return _LENGTH.size + 1
        return _LENGTH.size + _LENGTH.unpack_from(self._unread)[0]


def _views(block: Any, layout: list[tuple[str, int]]) -> list[Array]:
    """Return a view of each array of a message in a block."""
    views, offset = [], 0
    for dtype, size in layout:
        there = (
            np.frombuffer(block, dtype, size, offset) if size else np.empty(0, dtype)
        )
        views.append(there)
        offset += _room(dtype, size)
    return views


def _total(layout: list[tuple[str, int]]) -> int:
    """Return how many bytes the arrays of a message take in a block."""
    return sum(_room(dtype, size) for dtype, size in layout)


def _room(dtype: str, size: int) -> int:
    """Return how many bytes an array takes, up to where the next one begins."""
    return -(-size * np.dtype(dtype).itemsize // _ALIGNMENT) * _ALIGNMENT


def encode_texts(texts: Sequence[str]) -> Array:
    """Return texts as one array of bytes, separated by NUL."""
    return np.frombuffer("\0".join(texts).encode(), np.uint8)


def append_texts(texts: Sequence[str], arrays: list[Array]) -> tuple[int, int]:
    """Append texts as one array of bytes; return its place and their number."""
    arrays.append(encode_texts(texts))
    return len(arrays) - 1, len(texts)


def read_texts(texts: tuple[int, int], arrays: Sequence[Array]) -> list[str]:
    """Return what `append_texts` appended."""
    place, count = texts
    return arrays[place].tobytes().decode().split("\0") if count else []
