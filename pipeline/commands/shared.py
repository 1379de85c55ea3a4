"""What every command does alike: faults as one message, progress, writing a file."""

import ctypes
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from signal import SIGALRM, SIGINT, SIGTERM
from typing import NoReturn, TypeAlias

import click

from pipeline.wish import Wish, hear, utter_again

Tell: TypeAlias = Callable[[int, int, str], None]

REPORTS = ("report.html", "report.pdf")
FOLDER = click.Path(path_type=Path)
_PR_SET_PDEATHSIG = 1
QUIET = click.option("--quiet", "-q", is_flag=True, help="Print nothing but faults.")


@contextmanager
def terminable(within: tuple[float, float] | None = None) -> Iterator[None]:
    """Take SIGTERM, as schedulers send it, for Ctrl-C, and the end of its time too.

    Once, and not after Ctrl-C: the folder of an interrupted run is being saved then,
    and a batch passes on to its run what the terminal has sent to both. Again, though,
    if it was lost before anybody heard it: a person would, a scheduler does not.

    Parameters
    ----------
    within : (float, float), optional
        The seconds that are left, and the minutes there were for all tries.
    """
    seconds, minutes = within or (0.0, 0.0)
    taken: list[str] = []

    def interrupt(number: int, _: object) -> None:
        if number == SIGINT:
            taken.append("")
            raise KeyboardInterrupt
        if not taken:
            name = signal.Signals(number).name
            is_late = number == SIGALRM
            taken.append(f"its time limit of {minutes:g} minutes" if is_late else name)
            raise Wish(taken[0])
        if number == SIGALRM:
            utter_again(taken[0])

    numbers = (SIGTERM, SIGINT, SIGALRM)
    former = {number: signal.getsignal(number) for number in numbers}
    if former[SIGINT] is signal.SIG_IGN:  # a job in the background, as the shell says
        del former[SIGINT]
    for number in former:
        signal.signal(number, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        hear()
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in former.items():
            signal.signal(number, handler)


def die_with_parent() -> None:
    """Ask the system to kill this process with the one that began it (Linux)."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def now() -> str:
    """Return the time in UTC, as lines of a log begin."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@contextmanager
def progress(quiet: bool, *, plain: bool = False) -> Iterator[Tell | None]:
    """Show steps: a bar on a terminal, lines elsewhere, with times if `plain`."""
    if quiet:
        yield None
    elif sys.stderr.isatty() and not plain:
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("reading", total=None)
            yield lambda done, total, label: bar.update(
                task, completed=done, total=total, description=label
            )
    else:
        yield lambda done, total, label: click.echo(
            f"{f'{now()} ' * plain}[{done}/{total}] {label}", err=True
        )


@contextmanager
def faults() -> Iterator[None]:
    """Turn what a user can mend into one message and an exit code."""
    from pipeline.errors import AuditError, LockedError
    from r_bridge.errors import RBridgeError, RUnavailable

    try:
        yield
    except RUnavailable as error:
        stop(3, str(error))
    except LockedError as error:
        stop(5, str(error))
    except (AuditError, RBridgeError) as error:
        stop(2, str(error))
    except OSError as error:
        if error.filename is None:  # such as a reader of our output that went away
            raise
        name = str(error.filename)
        stop(2, f"{name!r} must be usable, but the system says: {error.strerror}.")
    except ImportError as error:
        needed = "The libraries of this command must load"
        stop(4, f"{needed}, but {error}. Run: importance-audit doctor")
    except KeyboardInterrupt as error:
        stop(130, f"Interrupted by {error}." if str(error) else "Interrupted.")


def stop(code: int, message: str) -> NoReturn:
    """Print `message` on standard error and leave with `code`."""
    click.echo(message, err=True)
    sys.exit(code)


def write(path: Path, content: bytes | str) -> None:
    """Write a file whole or not at all."""
    from pipeline.history import write_file

    write_file(path, content)
