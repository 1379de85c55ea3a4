"""Messages between the two processes, and the records in them.

A value is sent as a record: a tuple that begins with a word, with arrays in R's coding
of missing values. The words:

    ("null",)                                       NULL
    ("double", array), ("integer", array)           double, integer (int32)
    ("logical", array), ("integer64", array)        logical (int32), bits of integer64
    ("factor", codes, levels), ("ordered", ...)     factor, ordered; codes from 1
    ("character", codes, distinct texts)            character
    ("Date", array), ("difftime", array, [unit])    days; numbers of a unit
    ("POSIXct", array, [zone])                      seconds since 1970 in UTC
    ("array", record, dim, dimnames)                matrix, column after column
    ("list", names or None, records)                list
    ("frame", names, records, n_rows, row names)    data.frame; row names or None
"""

import errno
import itertools
import mmap
import os
import pickle
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeAlias

import numpy.typing as npt

from .errors import RBridgeError

Message: TypeAlias = tuple[Any, ...]
Record: TypeAlias = tuple[Any, ...]
Array: TypeAlias = npt.NDArray[Any]

NA_INTEGER = -(2**31)
NA_REAL_BITS = 0x7FF00000000007A2


class Line:
    """One end of the connection between the two processes, which take turns.

    Arrays are sent through files that both sides keep open, in memory-mapped buffers.

    Parameters
    ----------
    connection : Connection
    paths : sequence of Path
        The files of this end: one in shared memory, then one on disk for arrays that do
        not fit into the first.
    """

    def __init__(self, connection: Connection, paths: Sequence[Path]) -> None:
        self._connection = connection
        self._paths = paths
        self._received: tuple[str, mmap.mmap | bytes] = ("", b"")
        for path in paths:
            path.touch()

    def send(self, message: Message) -> None:
        """Send a message.

        Raises
        ------
        RBridgeError
            If its arrays fit into no file.
        """
        buffers: list[pickle.PickleBuffer] = []
        body = pickle.dumps(message, protocol=5, buffer_callback=buffers.append)
        arrays = [buffer.raw() for buffer in buffers]
        sizes = [array.nbytes for array in arrays]
        path = self._write(arrays, sum(sizes)) if any(sizes) else ""
        self._connection.send_bytes(pickle.dumps((body, path, sizes)))

    def _write(self, arrays: Sequence[memoryview], n_bytes: int) -> str:
        """Write arrays, aligned to 8 bytes, and return the path of the file."""
        for path in self._paths:
            try:
                with path.open("r+b") as file:
                    for array in arrays:
                        file.write(array)
                        file.write(bytes(-array.nbytes % 8))
            except OSError as error:
                if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                    raise
                if path.is_file():
                    os.truncate(path, 0)  # free the partly written space
            else:
                return str(path)
        places = " or ".join(str(path.parent.parent) for path in self._paths)
        raise RBridgeError(
            f"{n_bytes / 1e6:.0f} MB of data for R do not fit into {places}. Free some "
            "space, or ask for less."
        )

    def poll(self, seconds: float) -> bool:
        """Return whether a message arrived, or the other end closed, in time."""
        return self._connection.poll(seconds)

    def receive(self) -> Message:
        """Wait for the next message; its arrays are valid until the next `send`.

        Raises
        ------
        EOFError
            If the other end closed the connection.
        """
        body, path, sizes = pickle.loads(self._connection.recv_bytes())
        rooms = [size + -size % 8 for size in sizes]
        starts = list(itertools.accumulate(rooms, initial=0))
        if path and (path != self._received[0] or len(self._received[1]) < starts[-1]):
            with open(path, "rb") as file:
                room = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            self._received = (path, room)
        view = memoryview(self._received[1])
        places = zip(starts[:-1], sizes, strict=True)
        buffers = [view[start : start + size] for start, size in places]
        message: Message = pickle.loads(body, buffers=buffers)
        return message

    def close(self) -> None:
        """Close this end."""
        self._connection.close()
