"""run --all: the audits of a folder."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..operate.batch import Batch, Outcome, run_batch
from ..operate.exit_codes import gravest
from ..records.errors import AuditError, several
from ..records.errors import printable as shown
from ..runs.chain import started_at
from .shared import now, say

if TYPE_CHECKING:
    from ..report.pages.history_page import AuditRow

PAGE = "batch.html"
NO_VERDICT = {True: "not run", False: "no run"}
"""In place of a verdict: the audit was not started, or it left no run folder."""
WAITING = "It has not been run yet."
FORMER = "The report is from an earlier run."
MOST_WORDS = 200


def run_all(
    folder: Path,
    *,
    quiet: bool,
    options: Sequence[str] = (),
    newer_than: float | None = None,
    n_jobs: int = 1,
) -> int:
    """Run the audits in a folder, print their outcomes and write the index page.

    If several run at a time, only their errors are printed, each below its line.

    Returns
    -------
    int
        The gravest of their exit codes, or 130 if the batch was stopped.
    """
    faults: list[str] = []
    batch = run_batch(
        folder,
        options=(*options, *(["--quiet"] if quiet or n_jobs > 1 else [])),
        newer_than=newer_than,
        n_jobs=n_jobs,
        tell=lambda line: None if quiet else say(line, err=True),
        after_each=lambda so_far: faults.append(_write_page(so_far)),
        on_output=lambda output: say(
            output.decode(errors="replace"), err=True, nl=False
        ),
    )
    code = gravest([batch.exit_code, 4 if faults[-1] else 0])
    if code or not quiet:
        lines = table(batch._replace(exit_code=code))
        for line in (*lines, faults[-1] or f"HTML  {folder / PAGE}"):
            say(line, err=quiet)
    return code


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


def _write_page(batch: Batch) -> str:
    """Write the index page under the lock; return why it failed, "" if it did not.

    A failure does not stop the batch.
    """
    try:
        from ..report.pages.history_page import index_html
        from ..runs.folder import remove_parts, write_file

        page = index_html(
            tuple(_row(batch.folder, outcome) for outcome in batch.outcomes),
            folder=shown(batch.folder.resolve().name),
            date=now(),
            exit_code=batch.exit_code,
        )
        remove_parts(batch.folder, PAGE)
        write_file(batch.folder / PAGE, page)
    except AuditError as error:
        return str(error)
    except Exception as error:
        reason = f"{type(error).__name__} says: {error}."
        return f"{batch.folder / PAGE} cannot be written: {reason}"
    return ""


def _row(folder: Path, outcome: Outcome) -> "AuditRow":
    """Return the row of an audit in the index page, with its newest report."""
    from ..operate.history_pages import report_address
    from ..report.pages.history_page import AuditRow

    audit = folder / outcome.audit
    former = (path.name for path in (audit / "runs").glob("[!.]*"))
    run = outcome.run_id or max(former, default="")
    started = started_at(run)
    notes = [" ".join(shown(line) for line in outcome.message.splitlines())]
    if outcome.exit_code is None:
        notes = [WAITING]
    if run and not outcome.run_id:
        notes.append(FORMER)
    return AuditRow(
        shown(outcome.audit),
        outcome.exit_code,
        outcome.verdict,
        started=started.isoformat() if started else "",
        run_id=run,
        report=report_address(audit, run, folder / PAGE),
        note=" ".join(filter(None, notes)),
    )
