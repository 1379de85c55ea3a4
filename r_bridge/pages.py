"""Numbers that we write and predict may write too, without a copy of them all.

To copy 40 MB for each call of predict takes longer than all else in it. The operating
system can do better: it shows the same pages twice and copies one only when somebody
writes into it.
"""

import mmap
import os
import weakref
from typing import Any

import numpy as np

from .channel import Array

# Below this a copy is cheaper than a second view.
_SMALLEST_MAPPED = 1 << 23


class Pages:
    """Rows of float64, changed from call to call and shown after each change.

    Parameters
    ----------
    shape : tuple of int
        Number of rows, and how long each is.
    """

    def __init__(self, shape: tuple[int, int]) -> None:
        self._shape = shape
        self._size = 8 * shape[0] * shape[1]
        self._file = -1
        self._shown: list[weakref.ref[Any]] = []
        self._rows = self._new()

    def rows(self) -> Array:
        """Return the rows to write into.

        Who still holds what was shown would see the change: the rows move away from
        there, and from then on copies are shown, because it may happen every time.
        """
        if any(view() is not None for view in self._shown):
            self._rows = self._rows.copy()
            self._file = -1
        self._shown = []
        return self._rows

    def show(self) -> Array:
        """Return an array of the rows as they are, which nobody else writes into."""
        if self._file < 0:
            return self._rows.copy()
        try:
            view = mmap.mmap(self._file, self._size, access=mmap.ACCESS_COPY)
        except OSError:
            return self._rows.copy()
        self._shown.append(weakref.ref(view))
        return np.frombuffer(view).reshape(self._shape)

    def _new(self) -> Array:
        """Return rows in memory that can be shown twice, if there is such memory."""
        if self._size >= _SMALLEST_MAPPED and hasattr(os, "memfd_create"):
            try:
                return self._mapped()
            except OSError:
                pass  # none left, or too many open files: copies will do
        return np.empty(self._shape)

    def _mapped(self) -> Array:
        file = os.memfd_create("importance-audit-rows")
        weakref.finalize(self, os.close, file)
        os.posix_fallocate(file, 0, self._size)
        rows = np.frombuffer(mmap.mmap(file, self._size)).reshape(self._shape)
        self._file = file
        return rows
