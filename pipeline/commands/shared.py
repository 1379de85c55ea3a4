"""What every command does alike: faults as one message, progress, writing a file."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGINT, SIGTERM
from typing import NoReturn, TypeAlias

import click

Tell: TypeAlias = Callable[[int, int, str], None]

REPORTS = ("report.html", "report.pdf")
FOLDER = click.Path(path_type=Path)
QUIET = click.option("--quiet", "-q", is_flag=True, help="Print nothing but faults.")


@contextmanager
def terminable() -> Iterator[None]:
    """Take SIGTERM, as schedulers send it, for Ctrl-C.

    Once, and not after Ctrl-C: the folder of an interrupted run is being saved then,
    and a batch passes on to its run what the terminal has sent to both.
    """
    taken: list[int] = []

    def interrupt(number: int, _: object) -> None:
        if number == SIGTERM and taken:
            return
        taken.append(number)
        by = () if number == SIGINT else (signal.Signals(number).name,)
        raise KeyboardInterrupt(*by)

    former = {number: signal.getsignal(number) for number in (SIGTERM, SIGINT)}
    if former[SIGINT] is signal.SIG_IGN:  # a job in the background, as the shell says
        del former[SIGINT]
    for number in former:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


@contextmanager
def progress(quiet: bool, *, plain: bool = False) -> Iterator[Tell | None]:
    """Show steps: a bar on a terminal, plain lines elsewhere, nothing if quiet."""
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
            f"[{done}/{total}] {label}", err=True
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
    except ImportError as error:
        needed = "The libraries of this command must load"
        stop(4, f"{needed}, but {error}. Run: importance-audit doctor")
    except KeyboardInterrupt:
        stop(130, "Interrupted.")


def stop(code: int, message: str) -> NoReturn:
    """Print `message` on standard error and leave with `code`."""
    click.echo(message, err=True)
    sys.exit(code)


def write(path: Path, content: bytes | str) -> None:
    """Write a file whole or not at all."""
    from pipeline.history import write_file

    write_file(path, content)
