"""A programme of its own process: followed to its end, or to the end of our patience.

What it says is read as it comes and the last of it kept, however much that is.
"""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

_LOOK_SECONDS = 0.2
_AT_ONCE = 1 << 16
"""Bytes to read at once: all that a pipe holds."""
MOST_KEPT = 4096
"""Bytes of what a programme said that are kept: the last ones."""


def run_command(audit: Path, options: Iterable[str]) -> list[str]:
    """The command ``run``; no module is taken from the folder it is begun in (-P)."""
    command = (sys.executable, "-P", "-m", "importance_audit", "run")
    return [*command, *options, "--", os.fspath(audit)]


@contextmanager
def stop_requests() -> Iterator[list[int]]:
    """Ctrl-C, SIGTERM and the end of the terminal as they come: requests to stop."""
    signals: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    former = {
        number: signal.signal(number, lambda number, _: signals.append(number))
        for number in numbers
        if signal.getsignal(number) is not signal.SIG_IGN  # nohup
    }
    try:
        yield signals
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def follow(
    child: "subprocess.Popen[bytes]",
    seconds: float,
    echo: Callable[[bytes], None],
    *,
    is_stopped: Callable[[], bool] = lambda: False,
    grace: float = 0.0,
) -> tuple[bytes, bool]:
    """The last of what a process says, and whether it came to its own end.

    One that takes too long is killed, and all that it started in its group.

    Parameters
    ----------
    child : Popen
        Begun with ``start_new_session`` and a pipe for what it says.
    seconds : float
        The time that it has.
    echo : callable
        Gets what it says, as it comes.
    is_stopped : callable, optional
        Whether it is to end before.
    grace : float, default 0
        The seconds between SIGTERM and the kill; 0 kills at once.
    """
    assert child.stdout is not None
    line, tail, is_open = child.stdout, b"", True
    end, is_asked = time.monotonic() + seconds, not grace
    while child.poll() is None:
        left = end - time.monotonic()
        if not is_asked and (left <= 0 or is_stopped()):
            child.terminate()  # once: a second one could interrupt the saving
            is_asked, left, end = True, grace, time.monotonic() + grace
        if left <= 0:
            break
        look = min(left, _LOOK_SECONDS)
        if is_open:
            output = _output_within(line, look)
            is_open = output != b""
            tail = _pass_on(tail, output or b"", echo)
        else:
            with suppress(subprocess.TimeoutExpired):
                child.wait(look)
    is_own = child.poll() is not None
    if not is_own:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    if is_open:  # what it said since we last listened
        tail = _pass_on(tail, _output_within(line, 0) or b"", echo)
    line.close()
    return tail, is_own


def _output_within(line: IO[bytes], seconds: float) -> bytes | None:
    """Return what is said within some seconds: b"" at the end, None if nothing is."""
    if not select.select([line], [], [], seconds)[0]:
        return None
    return os.read(line.fileno(), _AT_ONCE)


def _pass_on(tail: bytes, output: bytes, echo: Callable[[bytes], None]) -> bytes:
    """Pass on what was said; return the last of all so far."""
    if output:
        echo(output)
    return (tail + output)[-MOST_KEPT:]


def decode(output: bytes) -> str:
    """Return what a process said as text, half a character at its beginning too."""
    return output.decode("utf-8", "replace").strip()


def describe_exit(status: int) -> str:
    """Return how a process ended, in words."""
    if status >= 0:
        return f"exit code {status}"
    if -status not in {*signal.Signals}:  # most real-time signals have no name
        return f"signal {-status}"
    name = signal.Signals(-status).name
    return f"signal {name}" + (" (out of memory?)" if name == "SIGKILL" else "")
