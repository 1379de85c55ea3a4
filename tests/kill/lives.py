"""What is killed: one command each, where it writes, and when that is done.

Every life is that of a command on an audit of one linear model without R, in a folder
of two such audits. What a command needs is made by `prepare`, in a process that is
left alone.
"""

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import click
from tests.cli.test_cli import configured, rows

from importance_audit.cli.main import main

AUDIT = "one"
SIGNED = ("--name", "N. N.", "--role", "reviewer", "--relation", "none")
SIGNED = (*SIGNED, "--meaning", "approval", "--statement", "Read and found sound.")


class Life(NamedTuple):
    """A command that is to be killed.

    Attributes
    ----------
    arguments : callable
        From the folder of audits to what the command line is given.
    written : callable
        What of a folder of audits is being written: paths with their time.
    n_done : callable
        How often the command has come to the point from which what it did stands.
    """

    arguments: Callable[[Path], list[str]]
    written: Callable[[Path], set[tuple[Path, int]]]
    n_done: Callable[[Path], int]


def runs(folder: Path) -> list[Path]:
    """Return the run folders of all audits, half-written ones left out."""
    return sorted(folder.glob("*/runs/[!.]*"))


def audits(folder: Path) -> Path:
    """Make a folder of audits; return it."""
    for name in (AUDIT, "two"):
        audit = folder / name
        audit.mkdir(parents=True)
        for seed, file in enumerate(("train.csv", "test.csv")):
            rows(seed=seed).to_csv(audit / file, index=False)
        configured(audit)
    return folder


def _paths_matching(*patterns: str) -> Callable[[Path], set[tuple[Path, int]]]:
    """Return what gives the paths that match, with the time of their last change."""

    def paths_in(folder: Path) -> set[tuple[Path, int]]:
        pairs = set()
        for path in (path for pattern in patterns for path in folder.glob(pattern)):
            with suppress(FileNotFoundError):
                pairs.add((path, path.stat().st_mtime_ns))
        return pairs

    return paths_in


def _lines(path: str, word: str = "") -> Callable[[Path], int]:
    """Return what counts the whole lines of files, or those with a word."""

    def lines(folder: Path) -> int:
        texts = (file.read_bytes() for file in folder.glob(path))
        whole_lines = (line for text in texts for line in text.split(b"\n")[:-1])
        return sum(word.encode() in line for line in whole_lines)

    return lines


def _page(folder: Path) -> int:
    """Return when the page was written, 0 if it is not there."""
    page = folder / AUDIT / "history.html"
    return page.stat().st_mtime_ns if page.exists() else 0


LIVES = {
    "run": Life(
        lambda folder: ["run", str(folder / AUDIT), "-q"],
        _paths_matching("*/runs/.*.part"),
        lambda folder: len(runs(folder)),
    ),
    "run --all": Life(
        lambda folder: ["run", "--all", str(folder), "-q"],
        _paths_matching("*/runs/.*.part"),
        lambda folder: len([*folder.glob("two/runs/[!.]*")]),  # it runs last
    ),
    "approve": Life(
        lambda folder: ["approve", str(runs(folder)[0]), *SIGNED, "-q"],
        _paths_matching("*/signoffs/.*.part"),
        _lines("*/audit-log.jsonl", '"kind":"signoff"'),
    ),
    "history": Life(
        lambda folder: ["history", str(folder / AUDIT), "--html"],
        _paths_matching(f"{AUDIT}/.*.part"),
        _page,
    ),
}


def ready() -> dict[str, Life]:
    """Return the lives of the commands that this version has."""
    commands = {name for name, command in main.commands.items() if _takes(command)}
    return {name: life for name, life in LIVES.items() if name.split()[0] in commands}


def _takes(command: click.Command) -> bool:
    """Return whether a command takes anything: one that does not is a stub."""
    return bool(command.params)


def copied(template: Path, target: Path) -> Path:
    """Return a fresh copy of a folder of audits."""
    shutil.rmtree(target, ignore_errors=True)
    return Path(shutil.copytree(template, target))
