"""Standard output and standard error that nobody reads, or that have no room.

Neither is a verdict on an audit: who closes a pipe has read enough, and the command
ends as it would have ended; a full disk is one sentence, and exit code 2.
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
"""The exit code where a stream took not all that was printed."""


class _Outlet(io.FileIO):
    """A stream of the system that is written to for as long as it can be.

    Attributes
    ----------
    fault : OSError or None
        Why it took no more, but for a reader that went away, or a terminal that was
        closed.
    """

    fault: OSError | None = None

    def __init__(self, number: int) -> None:
        super().__init__(number, "wb", closefd=False)
        self._was_terminal = self.isatty()

    def write(self, data: Any) -> int:
        """Write bytes, or let them go; return how many are done with."""
        try:
            return super().write(data)
        except BlockingIOError:
            raise
        except OSError as error:
            if not (self._was_terminal or isinstance(error, BrokenPipeError)):
                self.fault = error
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self.fileno())  # as Python would try again when it ends
            os.close(null)
            return len(data)


def _open_closed() -> None:
    """Open /dev/null in place of standard streams that the caller closed.

    Files that are opened later would be given their numbers, and be written to by
    whatever prints.
    """
    for number, (name, mode) in enumerate(
        (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))
    ):
        try:
            os.fstat(number)
            # Python has none where it began without; an import took the number since.
            is_closed = getattr(sys, f"__{name}__") is None
        except OSError:
            is_closed = True
        if is_closed:
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, number)  # which children inherit
            if null > number:
                os.close(null)
            os.set_inheritable(number, True)
            stream = os.fdopen(number, mode, encoding="utf-8", closefd=False)
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)


@contextmanager
def outlets() -> Iterator[None]:
    """Print through streams that raise nothing; say at the end what was not written.

    Streams that were put in place of the system's, as in tests, are left as they are.
    Letters that a terminal lacks are printed as escapes.

    Raises
    ------
    SystemExit
        With code 2 if a stream had no room.
    """
    _open_closed()
    former = {name: getattr(sys, name) for name in STREAMS}
    opened: dict[str, tuple[_Outlet, io.TextIOWrapper]] = {}
    for name, stream in former.items():
        if not isinstance(stream, io.TextIOWrapper):
            continue
        stream.reconfigure(errors="backslashreplace")
        if stream is not getattr(sys, f"__{name}__"):  # whatever its fileno() says
            continue
        outlet = _Outlet(stream.fileno())
        lines = name == "stderr" or stream.line_buffering
        text = io.TextIOWrapper(
            io.BufferedWriter(outlet),
            encoding=stream.encoding,
            errors="backslashreplace",
            line_buffering=lines,
        )
        stream.flush()
        opened[name] = outlet, text
        setattr(sys, name, text)
    try:
        yield
    finally:
        faults = {}
        for name, (outlet, text) in opened.items():
            text.flush()
            if outlet.fault is not None:
                faults[name] = outlet.fault
        for name, fault in faults.items():
            click.echo(
                f"{STREAMS[name]} cannot be written: {fault.strerror}.", err=True
            )
        for name, (_, text) in opened.items():
            text.flush()
            setattr(sys, name, former[name])
            text.close()  # not the stream of the system
        if faults:
            sys.exit(UNWRITTEN)
