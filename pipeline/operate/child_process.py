"""Child processes: waiting for their end or a time limit, and reading their output.

All output is read as it arrives; only the last part is kept.
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
"""Bytes to read at once: the capacity of a pipe."""
MOST_KEPT = 4096
"""Number of last bytes of the output that are kept."""


def run_command(audit: Path, options: Iterable[str]) -> list[str]:
    """The command ``run``; -P prevents imports from the working folder."""
    command = (sys.executable, "-P", "-m", "importance_audit", "run")
    return [*command, *options, "--", os.fspath(audit)]


@contextmanager
def stop_requests() -> Iterator[list[int]]:
    """Collect the signals that request a stop: Ctrl-C, SIGTERM and SIGHUP."""
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
    """The last output of a process, and whether it ended by itself.

    A process that takes too long is killed, with all processes in its group.

    Parameters
    ----------
    child : Popen
        Started with ``start_new_session`` and a pipe for its output.
    seconds : float
        The time limit.
    echo : callable
        Called with the output as it arrives.
    is_stopped : callable, optional
        Whether the process must end before the time limit.
    grace : float, default 0
        The seconds between SIGTERM and SIGKILL; 0 kills at once.
    """
    assert child.stdout is not None
    line, tail, is_open = child.stdout, b"", True
    end, is_asked = time.monotonic() + seconds, not grace
    while child.poll() is None:
        left = end - time.monotonic()
        if not is_asked and (left <= 0 or is_stopped()):
            child.terminate()  # once: a second one could interrupt saving
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
    if is_open:  # output since the last reading
        tail = _pass_on(tail, _output_within(line, 0) or b"", echo)
    line.close()
    return tail, is_own


def _output_within(line: IO[bytes], seconds: float) -> bytes | None:
    """Return output that arrives in time: b"" at its end, None if nothing arrives."""
    if not select.select([line], [], [], seconds)[0]:
        return None
    return os.read(line.fileno(), _AT_ONCE)


def _pass_on(tail: bytes, output: bytes, echo: Callable[[bytes], None]) -> bytes:
    """Call `echo` with new output; return the last part of all output so far."""
    if output:
        echo(output)
    return (tail + output)[-MOST_KEPT:]


def decode(output: bytes) -> str:
    """Return output as text; incomplete characters are replaced."""
    return output.decode("utf-8", "replace").strip()


def describe_exit(status: int) -> str:
    """Return the exit code or signal of an ended process, in words."""
    if status >= 0:
        return f"exit code {status}"
    if -status not in {*signal.Signals}:  # most real-time signals have no name
        return f"signal {-status}"
    name = signal.Signals(-status).name
    return f"signal {name}" + (" (out of memory?)" if name == "SIGKILL" else "")
