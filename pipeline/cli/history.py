"""history: the runs of an audit, or the newest of each of several."""

import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .shared import FOLDER, faults, print_json, say, stop

if TYPE_CHECKING:
    from ..runs.timeline import Row, Timeline

FORMAT = "importance-audit-runs/1"
LEADERS = 3
IN_PATH = Path("PATH/history.html")
"""The value of --html without a file: history.html in PATH."""


@click.command()
@click.argument("path", type=FOLDER, default=Path("reports"))
@click.option("--last", type=click.IntRange(min=0), default=20, metavar="N")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "--html",
    is_flag=False,
    flag_value=IN_PATH,
    type=FOLDER,
    help="Write an HTML page instead (default: history.html in PATH).",
)
def history(path: Path, last: int, as_json: bool, html: Path | None) -> None:
    """List the runs of one audit or of all below PATH.

    The list gives the time in UTC, verdict, changes since the previous run and leading
    features of each run, gaps in the chain of runs, and attempts that left no run. It
    shows the last N, or all if N is 0. PATH is reports by default.

    Exit codes: 0, or 2 if PATH or an audit below it cannot be read.
    """
    with faults():
        from ..records.errors import DataError, printable
        from ..runs.chain import refuse_run_folder
        from ..runs.summary import to_plain
        from ..runs.timeline import is_audit, timeline, timelines

        if html is not None and html != IN_PATH and html.is_dir():
            rule = f"--html must name a file; {str(html)!r} is a folder."
            stop(2, f"{rule} Put PATH before --html.")
        path = path.parent if path.is_file() else path
        refuse_run_folder(path)
        is_one = is_audit(path)
        if is_one:
            rows = (html is None and last) or None  # a page lists all runs
            audits: tuple[Timeline, ...] = (timeline(path, last=rows),)
        else:
            audits = timelines(path)
        if not audits:
            raise DataError(
                f"{str(path)!r} contains no audit: neither it nor a folder in it has "
                "an audit.toml or runs/."
            )
        if html is not None:
            from ..operate.history_pages import audit_page, index_page
            from ..runs.folder import write_file

            target = path / "history.html" if html == IN_PATH else html
            if is_one:
                write_file(target, audit_page(audits[0], path, target))
            else:
                write_file(target, index_page(audits, path, target))
            say(f"HTML  {target}")
    if html is None and as_json:
        print_json({"format": FORMAT, "audits": to_plain(audits)})
    elif html is None:
        lines = _one(audits[0]) if is_one else _several(audits)
        say("\n".join(map(printable, lines)))
    sys.exit(2 if any(audit.fault for audit in audits) else 0)


def _one(audit: "Timeline") -> Iterator[str]:
    """Yield the lines of one audit, the oldest row first."""
    from ..records.errors import several

    n_findings = several(audit.n_findings, "finding")
    findings = f"{n_findings}, notes not counted, in the last complete run"
    state = findings if audit.last_complete or not audit.n_runs else "none complete"
    yield f"{audit.audit}: {several(audit.n_runs, 'run')}, {state}"
    if audit.rows:
        yield f"{'time (UTC)':19}  {'exit':>4}  {'verdict':25}  {'digest':12}  run"
    for row in audit.rows:
        yield from _row(row)
    if audit.gaps:
        yield "gaps:"
    yield from (f"  {sentence}" for sentence in audit.gaps)


def _row(row: "Row") -> Iterator[str]:
    """Yield the lines of a run or attempt: outcome, changes and leading features."""
    code = "" if row.exit_code is None else str(row.exit_code)
    start = f"{_time(row.time):19}  {code:>4}  "
    if row.run is None:
        yield f"{start}{_note(row)}"
        return
    digest = row.run.content_digest[:12]
    yield f"{start}{row.run.verdict:25}  {digest:12}  {row.run.run_id}"
    for change in row.changes:
        yield f"{'':27}{change}"
    if row.run.leaders:
        first = [one.feature for one in row.run.leaders[:LEADERS] if one.rank > 0]
        yield f"{'':27}leads: {', '.join(first) or 'nobody'}"


def _note(row: "Row") -> str:
    """Return the text of a row without a run folder."""
    return f"no run: {row.note}" if row.is_attempt else row.note


def _several(audits: Sequence["Timeline"]) -> Iterator[str]:
    """Yield one line per audit with its last run, and a line for each later event."""
    from ..records.errors import printable

    names = [printable(audit.audit) for audit in audits]
    width = max(5, *map(len, names))
    head = f"{'last run (UTC)':19}  {'exit':>4}  {'verdict':25}"
    yield f"{'audit':{width}}  {head}  found  gaps"
    for audit, label in zip(audits, names, strict=True):
        name, run = f"{label:{width}}", audit.newest
        if run is None:
            yield f"{name}  {audit.fault or 'no run'}"
        else:
            facts = f"{_time(run.started):19}  {run.exit_code:>4}"
            n_findings = audit.n_findings if audit.last_complete else "–"
            counts = f"{n_findings:>5}  {len(audit.gaps):>4}"
            yield f"{name}  {facts}  {run.verdict:25}  {counts}"
        for row in audit.rows:
            if row.run is None:
                yield f"{'':{width}}  {_time(row.time):19}  {_note(row)}"


def _time(text: str) -> str:
    """Return an ISO time to the second in UTC; other text unchanged."""
    try:
        return f"{datetime.fromisoformat(text).astimezone(UTC):%Y-%m-%d %H:%M:%S}"
    except ValueError:
        return text
