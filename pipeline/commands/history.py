"""history: the runs of an audit, or the newest of each of several."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.commands.shared import FOLDER, faults, stop, write

if TYPE_CHECKING:
    from pipeline.timeline import Row, Timeline

FORMAT = "importance-audit-runs/1"
LEADERS = 3
BESIDE = Path()


@click.command()
@click.argument("path", type=FOLDER, default=Path("reports"))
@click.option("--last", type=click.IntRange(min=0), default=20, metavar="N")
@click.option("--rebuild", is_flag=True, help="Read every run anew.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "--html",
    is_flag=False,
    flag_value=BESIDE,
    type=FOLDER,
    help="Write a page instead (default: history.html in PATH).",
)
def history(
    path: Path, last: int, rebuild: bool, as_json: bool, html: Path | None
) -> None:
    """List the runs of the audit in folder PATH, or of every audit below it.

    Each run with its time in UTC, its verdict, what is not as in the run before, and
    its leading features; gaps in the chain of runs; attempts that left no run. The
    last N are shown, all if N is 0. Without PATH: reports.
    """
    with faults():
        from pipeline.errors import DataError
        from pipeline.timeline import audits_below, is_audit, timeline

        if html is not None and html != BESIDE and html.is_dir():
            rule = f"--html must name a file, but {str(html)!r} is a folder."
            stop(2, f"{rule} Put PATH before --html.")
        path = path.parent if path.is_file() else path
        is_one = is_audit(path)
        folders = (path,) if is_one else audits_below(path)
        if not folders:
            raise DataError(
                f"{str(path)!r} must be the folder of an audit, or of several, but "
                "neither it nor a folder in it has an audit.toml or runs/."
            )
        rows = (last or None if html is None else None) if is_one else 1
        told = [
            timeline(folder, last=rows, rebuild=rebuild and folder == folders[0])
            for folder in folders
        ]
        if html is not None:
            click.echo(_page(html, path, told, is_one=is_one))
            for note in dict.fromkeys(note for audit in told for note in audit.notes):
                click.echo(note, err=True)
            return
    if as_json:
        click.echo(_json(told))
    else:
        shown = _one(told[0]) if is_one else _several(told, datetime.now(UTC))
        click.echo("\n".join(map(_line, shown)))


def _one(told: "Timeline") -> Iterator[str]:
    """Yield the lines on one audit, the oldest row first."""
    from pipeline.errors import several

    found = f"{several(told.n_found, 'finding')} in the last complete one"
    yield f"{told.audit}: {several(told.n_runs, 'run')}, {found}"
    if told.rows:
        yield f"{'time (UTC)':19}  {'exit':>4}  {'verdict':25}  {'digest':12}  run"
    for row in told.rows:
        yield from _row(row)
    for title, sentences in (("gaps", told.gaps), ("notes", told.notes)):
        if sentences:
            yield f"{title}:"
        yield from (f"  {sentence}" for sentence in sentences)


def _row(row: "Row") -> Iterator[str]:
    """Yield the line of a run or of an attempt, what changed, and who leads."""
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
        first = (leader for leader in row.run.leaders[:LEADERS] if leader.rank > 0)
        yield f"{'':27}leads: {', '.join(leader.feature for leader in first)}"


def _note(row: "Row") -> str:
    """Return what is said of a row that has no run folder."""
    return f"no run: {row.note}" if row.is_attempt else row.note


def _several(told: list["Timeline"], now: datetime) -> Iterator[str]:
    """Yield one line per audit: its last run, and what came after it."""
    width = max(5, *(len(_line(audit.audit)) for audit in told))
    head = f"{'last run (UTC)':19}  {'age':>5}  {'exit':>4}  {'verdict':25}"
    yield f"{'audit':{width}}  {head}  found  gaps"
    for audit in told:
        name, run = f"{_line(audit.audit):{width}}", audit.newest
        if run is None:
            yield f"{name}  no run"
        else:
            code = run.exit_code if run.exit_code >= 0 else ""
            facts = f"{_time(run.started):19}  {_age(run.started, now):>5}  {code:>4}"
            counts = f"{audit.n_found:>5}  {len(audit.gaps):>4}"
            yield f"{name}  {facts}  {run.verdict:25}  {counts}"
        for row in audit.rows:
            if row.run is None:
                yield f"{'':{width}}  {_time(row.time):19}  {_note(row)}"
    for note in dict.fromkeys(note for audit in told for note in audit.notes):
        yield f"note: {note}"


def _time(text: str) -> str:
    """Return an instant to the second, as it is if nobody can read it."""
    try:
        return f"{datetime.fromisoformat(text).astimezone(UTC):%Y-%m-%d %H:%M:%S}"
    except ValueError:
        return text


def _age(text: str, now: datetime) -> str:
    """Return how long ago an instant was, in its largest unit."""
    try:
        seconds = (now - datetime.fromisoformat(text)).total_seconds()
    except (ValueError, TypeError):
        return ""
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if abs(seconds) >= size:
            return f"{int(seconds / size)} {unit}"
    return f"{int(seconds)} s"


def _line(text: str) -> str:
    """Return a text on one line, what a terminal would act upon as an escape."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in text
    )


def _json(told: list["Timeline"]) -> str:
    from pipeline.past import plain_of

    document = {"format": FORMAT, "audits": plain_of(tuple(told))}
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def _page(html: Path, path: Path, told: list["Timeline"], *, is_one: bool) -> str:
    """Write the page of one audit, or of several, and return where."""
    from pipeline.history_pages import page_of, page_of_all

    target = path / "history.html" if html == BESIDE else html
    one = partial(page_of, told[0]) if is_one else partial(page_of_all, told)
    write(target, one(path, target))
    return f"HTML  {target}"
