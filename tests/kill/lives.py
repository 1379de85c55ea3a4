"""What is killed: one command each.

Every life is that of a command on an audit of one linear model without R, in a folder
of two such audits.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

from tests.cli.test_cli import configured, rows

Life = Callable[[Path], list[str]]
AUDIT = "one"
SIGNED = ("--name", "N. N.", "--role", "reviewer", "--relation", "none")
SIGNED = (*SIGNED, "--meaning", "approval", "--statement", "Read and found sound.")


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


LIVES: dict[str, Life] = {
    "run": lambda folder: ["run", str(folder / AUDIT), "-q"],
    "run --all": lambda folder: ["run", "--all", str(folder), "-q"],
    "approve": lambda folder: ["approve", str(runs(folder)[0]), *SIGNED, "-q"],
    "history": lambda folder: ["history", str(folder / AUDIT), "--html"],
}
"""What each command is given, from the folder of audits."""


def copied(template: Path, target: Path) -> Path:
    """Return a fresh copy of a folder of audits."""
    shutil.rmtree(target, ignore_errors=True)
    return Path(shutil.copytree(template, target))
