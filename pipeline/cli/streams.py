"""Standard output and standard error that are closed, or cannot be written.

A closed pipe or terminal does not change the exit code of a command. If a stream cannot
be written for another reason, such as a full disk, that is one message and exit code 2.
"""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

STREAMS = {"stdout": "Standard output", "stderr": "Standard error"}
UNWRITTEN = 2
"""The exit code if a stream could not be written completely."""


class _SafeStream(io.FileIO):
    """A standard stream that discards its output after an error instead of raising it.

    Attributes
    ----------
    fault : OSError or None
        The error of writing, unless a reader or a terminal was closed.
    """

    fault: OSError | None = None

    def __init__(self, number: int) -> None:
        super().__init__(number, "wb", closefd=False)
        self._was_terminal = self.isatty()

    def write(self, data: Any) -> int:
        """Write bytes, or discard them; return how many."""
        try:
            return super().write(data)
        except BlockingIOError:
            raise
        except OSError as error:
            if not (self._was_terminal or isinstance(error, BrokenPipeError)):
                self.fault = error
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self.fileno())  # else Python writes to it again at its exit
            os.close(null)
            return len(data)


def _open_closed() -> None:
    """Open /dev/null in place of standard streams that were closed at the start.

    Otherwise files that are opened later would get their descriptors, and printed text
    would be written into them.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, f"__{name}__") is not None:
            continue
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, number)  # even if an import has reused the number
        if null > number:
            os.close(null)
        os.set_inheritable(number, True)  # for child processes
        mode = "r" if name == "stdin" else "w"
        stream = os.fdopen(number, mode, encoding="utf-8", closefd=False)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


@contextmanager
def outlets() -> Iterator[None]:
    """Replace the standard streams by ones that raise nothing; report errors at last.

    Streams that already replace those of the system, as in tests, are not replaced.
    Characters that the encoding lacks are printed as escapes.

    Raises
    ------
    SystemExit
        With code 2 if a stream could not be written.
    """
    _open_closed()
    opened: dict[str, tuple[_SafeStream, io.TextIOWrapper, io.TextIOWrapper]] = {}
    for name in STREAMS:
        former = getattr(sys, name)
        if former is not getattr(sys, f"__{name}__"):
            continue
        former.flush()
        safe = _SafeStream(former.fileno())
        text = io.TextIOWrapper(
            io.BufferedWriter(safe),
            encoding=former.encoding,
            errors="backslashreplace",
            line_buffering=name == "stderr" or former.line_buffering,
        )
        opened[name] = safe, text, former
        setattr(sys, name, text)
    try:
        yield
    finally:
        for _, text, _ in opened.values():
            text.flush()
        faults = {name: safe.fault for name, (safe, *_) in opened.items() if safe.fault}
        for name, fault in faults.items():
            click.echo(
                f"{STREAMS[name]} cannot be written: {fault.strerror}.", err=True
            )
        for name, (_, text, former) in opened.items():
            setattr(sys, name, former)
            text.close()  # not the stream of the system
        if faults:
            sys.exit(UNWRITTEN)
