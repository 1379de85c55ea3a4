"""Child processes: until their end or a time limit, with their output as it arrives."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import IO, Any, NamedTuple

_LOOK_SECONDS = 0.2
_LAST_SECONDS = 1.0
"""Time to read the last output of a process that has ended."""
_AT_ONCE = 1 << 16
"""Bytes to read at once: the capacity of a pipe."""
MOST_KEPT = 4096
"""Number of last bytes of the output that are kept."""


def run_command(audit: Path, options: Iterable[str]) -> list[str]:
    """The command ``run`` of a child, which the system kills if this process dies.

    -P prevents imports from the working folder.
    """
    command = (sys.executable, "-P", "-m", "importance_audit", "run")
    return [*command, "--parent", str(os.getpid()), *options, "--", os.fspath(audit)]


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


class Ended(NamedTuple):
    """The end of a child process.

    Attributes
    ----------
    pid : int
    code : int
        Its exit code, or minus the number of the signal that ended it.
    output : bytes
        The last part of its output.
    is_own : bool
        Whether it ended by itself; it was killed if not.
    """

    pid: int
    code: int
    output: bytes
    is_own: bool


def run_child(
    command: Sequence[str],
    seconds: float,
    echo: Callable[[bytes], object] | None,
    *,
    signals: Sequence[int] = (),
    grace: float = 0.0,
    **options: Any,
) -> Ended:
    """Run a command in a new session until it ends.

    If it takes too long, or is to stop, it gets SIGTERM; after the grace it is killed,
    with all processes in its group. A Ctrl-C after the first signal kills it at once.

    Parameters
    ----------
    command : sequence of str
    seconds : float
        The time limit.
    echo : callable, optional
        Called with the output as it arrives, in another thread. Without it the process
        writes to the output of this one.
    signals : sequence of int
        It must end once this has a signal, which `stop_requests` adds.
    grace : float, default 0
        The seconds between SIGTERM and SIGKILL; 0 kills at once.
    **options
        Passed to Popen: cwd, env.

    Raises
    ------
    OSError, ValueError
        If it cannot be started.
    """
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if echo else None,
        stderr=subprocess.STDOUT if echo else None,
        start_new_session=True,
        **options,
    )
    tail = b""

    def listen(echo: Callable[[bytes], object], pipe: IO[bytes]) -> None:
        nonlocal tail
        with pipe:
            while output := os.read(pipe.fileno(), _AT_ONCE):
                tail = (tail + output)[-MOST_KEPT:]
                echo(output)

    # A daemon: a process that the child leaves behind may keep the pipe open.
    listener = Thread(target=listen, args=(echo, child.stdout), daemon=True)
    if echo:
        listener.start()
    end, is_asked = time.monotonic() + seconds, not grace
    while child.poll() is None:
        left = end - time.monotonic()
        if not is_asked and (left <= 0 or signals):
            child.terminate()  # once: a second one could interrupt saving
            is_asked, left, end = True, grace, time.monotonic() + grace
        if left <= 0 or signal.SIGINT in signals[1:]:
            break
        with suppress(subprocess.TimeoutExpired):
            child.wait(min(left, _LOOK_SECONDS))
    is_own = child.poll() is not None
    if not is_own:
        os.killpg(child.pid, signal.SIGKILL)
    code = child.wait()
    if echo:
        listener.join(_LAST_SECONDS)
    return Ended(child.pid, code, tail, is_own)


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
