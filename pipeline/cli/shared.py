"""Shared parts of the commands: errors as one message, progress, signals, printing."""

import ctypes
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from signal import SIGALRM, SIGHUP, SIGINT, SIGTERM
from typing import NoReturn, TypeAlias

import click

from ..records.interrupt import acknowledge, pending, request_stop, require_time

Tell: TypeAlias = Callable[[int, int, str], None]

REPORTS = ("report.html", "report.pdf")
FOLDER = click.Path(path_type=Path)
KEPT = "\n\t\u00a0"
"""Control and space characters of our texts: line feed, tab, no-break space."""
AT_ONCE = b"Interrupted again: ended at once, what was unsaved is lost.\n"
_PR_SET_PDEATHSIG = 1
QUIET = click.option("--quiet", "-q", is_flag=True, help="Print errors only.")
JSON = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object, and nothing else."
)


@contextmanager
def terminable() -> Iterator[None]:
    """Handle SIGTERM and SIGHUP like Ctrl-C, and SIGALRM as the end of the time limit.

    Schedulers send SIGTERM; a closed terminal sends SIGHUP, which is left alone if it
    is ignored (nohup). Both count only as the first signal: later the interrupted run
    is being saved, and a batch forwards to its run what a terminal has sent to both.
    SIGALRM also repeats a request that was not acknowledged. A second Ctrl-C ends the
    process at once.
    """
    signals: list[int] = []

    def interrupt(number: int, _: object) -> None:
        if number == SIGALRM:
            require_time()
            if (lost := pending()) is not None:
                request_stop(str(lost))
            return
        if number != SIGINT and signals:
            return
        if SIGINT in signals:  # even while a run is being saved
            with suppress(OSError):
                os.write(2, AT_ONCE)
            os._exit(130)
        signals.append(number)
        request_stop("" if number == SIGINT else signal.Signals(number).name)

    former = {n: signal.getsignal(n) for n in (SIGTERM, SIGINT, SIGHUP, SIGALRM)}
    for number in (SIGINT, SIGHUP):  # ignored by a background job of a shell, or nohup
        if former[number] is signal.SIG_IGN:
            del former[number]
    for number in former:
        signal.signal(number, interrupt)
    try:
        yield
    except Exception as error:
        if (lost := pending()) is None:
            raise
        raise lost from error
    finally:
        acknowledge()
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in former.items():
            signal.signal(number, handler)
        # If the interruption came during exec of a string, as in the creation of a
        # named tuple, Python would exit by SIGINT instead of with the exit code. The
        # next exec of a string resets that.
        exec("")


def die_with(parent: int) -> None:
    """Make the system kill this process when its parent ends (Linux)."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before the call above
        os.kill(os.getpid(), signal.SIGKILL)


def now() -> str:
    """Return the present time in UTC, for the start of a line in a log."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def say(text: object, *, err: bool = False, nl: bool = True) -> None:
    """Print a text with control characters escaped, which names of files can have."""
    from ..records.errors import printable

    click.echo(printable(str(text), keep=KEPT), err=err, nl=nl)


def progress(quiet: bool, *, plain: bool = False) -> Tell | None:
    """Return a function that prints the steps of a run; None if `quiet`.

    Lines begin with the time if `plain`. The duration of a step that took a second or
    longer is printed after it.
    """
    if quiet:
        return None
    from ..records.errors import in_short

    began, step, words = time.monotonic(), (0, ""), ""

    def write(line: str) -> None:
        say(f"{now()} " * plain + line, err=True)

    def tell(done: int, total: int, label: str) -> None:
        nonlocal began, step, words
        this = (done, "") if total else (0, label)
        if this != step:  # else another message on the same step
            seconds = time.monotonic() - began
            if words and seconds >= 1:
                write(f"{words}: {seconds:.1f} s")
            began, step, words = time.monotonic(), this, in_short(label)
        write(f"[{done}/{total}] " * bool(total) + in_short(label))

    return tell


@contextmanager
def faults() -> Iterator[None]:
    """Turn errors that a user can correct into one message and an exit code."""
    from importance_audit.r_bridge.errors import RBridgeError, RUnavailable

    from ..records.errors import AuditError, LockedError

    try:
        yield
    except RUnavailable as error:
        stop(3, str(error))
    except LockedError as error:
        stop(5, str(error))
    except (AuditError, RBridgeError) as error:
        stop(2, str(error))
    except OSError as error:
        if error.filename is None:  # a write fails without the name of its file
            stop(2, f"The system reports: {error.strerror or error}.")
        name = str(error.filename)
        stop(2, f"{name!r} cannot be used: {error.strerror}.")
    except ImportError as error:
        what = f"A library of this command cannot be loaded: {error}."
        stop(4, f"{what} Run: importance-audit doctor")
    except KeyboardInterrupt as error:
        stop(130, f"Interrupted by {error}." if str(error) else "Interrupted.")


def print_json(facts: Mapping[str, object]) -> None:
    """Print one JSON object in ASCII as all of standard output."""
    text = json.dumps(facts, allow_nan=False)
    click.echo(text.replace("\x7f", "\\u007f"))  # the one control character it keeps


def stop(code: int, message: str) -> NoReturn:
    """Print `message` on standard error and exit with `code`."""
    say(message, err=True)
    sys.exit(code)
