"""run --all: the audits of a folder."""

from collections.abc import Sequence
from pathlib import Path

from ..operate.batch import Batch, run_batch
from ..records.errors import printable as shown
from ..records.errors import several
from .shared import say

NO_VERDICT = {True: "not run", False: "no run"}
"""In place of a verdict: the audit was not started, or it left no run folder."""
MOST_WORDS = 200


def run_all(
    folder: Path,
    *,
    quiet: bool,
    options: Sequence[str] = (),
    newer_than: float | None = None,
    n_jobs: int = 1,
) -> int:
    """Run the audits in a folder and print their outcomes.

    If several run at a time, only their errors are printed, each below its line.

    Returns
    -------
    int
        The gravest of their exit codes, or 130 if the batch was stopped.
    """
    batch = run_batch(
        folder,
        options=(*options, *(["--quiet"] if quiet or n_jobs > 1 else [])),
        newer_than=newer_than,
        n_jobs=n_jobs,
        tell=lambda line: None if quiet else say(line, err=True),
        on_output=lambda output: say(
            output.decode(errors="replace"), err=True, nl=False
        ),
    )
    if batch.exit_code or not quiet:
        for line in table(batch):
            say(line, err=quiet)
    return batch.exit_code


def table(batch: Batch) -> list[str]:
    """Return the lines of a table with the outcome of each audit, and a total."""
    rows = [
        (
            shown(o.audit),
            "" if o.exit_code is None else str(o.exit_code),
            o.verdict or NO_VERDICT[o.exit_code is None],
            o.run_id,
        )
        for o in batch.outcomes
    ]
    rows = [("audit", "exit", "verdict", "run"), *rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    for n, outcome in reversed([*enumerate(batch.outcomes, 1)]):
        if outcome.message:
            line = shown(" ".join(outcome.message.split()))
            cut = f"{line[:MOST_WORDS]} …" if len(line) > MOST_WORDS else line
            lines.insert(n + 1, f"  {cut}")
    return [
        *lines,
        f"{several(len(batch.outcomes), 'audit')}, exit code {batch.exit_code}",
    ]
