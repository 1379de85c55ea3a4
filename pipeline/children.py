"""A programme of its own process: followed to its end, or to the end of our patience.

What it says is read as it comes and the last of it kept, however much that is.
"""

import os
import select
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress

_LOOK_SECONDS = 0.2
_AT_ONCE = 1 << 16
MOST_KEPT = 4096
"""Bytes of what a programme said that are kept: the last ones."""


def followed(
    child: "subprocess.Popen[bytes]",
    deadline: Callable[[], float],
    echo: Callable[[bytes], None],
) -> tuple[bytes, bool]:
    """Return the last of what a process says, and whether it came to its own end.

    One that takes too long is killed, and all that it started in its group.

    Parameters
    ----------
    child : Popen
        Begun with ``start_new_session`` and a pipe for what it says.
    deadline : callable
        By `time.monotonic`; asked again and again, for it may draw nearer.
    echo : callable
        Gets what it says, as it comes.
    """
    assert child.stdout is not None
    line, kept, is_open = child.stdout, b"", True
    while (left := deadline() - time.monotonic()) > 0:
        look = min(left, _LOOK_SECONDS)
        if is_open and select.select([line], [], [], look)[0]:
            said = os.read(line.fileno(), _AT_ONCE)
            is_open = bool(said)
            kept = (kept + said)[-MOST_KEPT:]
            echo(said)
        elif child.poll() is not None:
            line.close()
            return kept, True
        elif not is_open:
            with suppress(subprocess.TimeoutExpired):
                child.wait(look)
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    line.close()
    return kept, False


def words(said: bytes) -> str:
    """Return what a process said as text, half a character at its beginning too."""
    return said.decode("utf-8", "replace").strip()


def ending(status: int) -> str:
    """Return how a process ended, in words."""
    if status >= 0:
        return f"exit code {status}"
    if -status not in {*signal.Signals}:  # most real-time signals have no name
        return f"signal {-status}"
    name = signal.Signals(-status).name
    return f"signal {name}" + (" (out of memory?)" if name == "SIGKILL" else "")
