"""run: running an audit and printing its outcome."""

import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .shared import (
    FOLDER,
    JSON,
    QUIET,
    REPORTS,
    die_with,
    faults,
    now,
    print_json,
    progress,
    say,
    terminable,
)

if TYPE_CHECKING:
    from ..operate.run import RunOutcome

BATCH = Path("reports")
FORMAT = "importance-audit-run/1"
UNCHECKED = (
    "not checked: how the pages of the report look, whether the numbers come out again "
    "(importance-audit verify --replay), and who signs (approve records names and "
    "authenticates nobody)"
)


@click.command()
@click.argument("audit", type=FOLDER, required=False)
@click.option("--all", "all_", is_flag=True, help="Run every audit in folder AUDIT.")
@click.option(
    "--newer-than",
    type=click.FloatRange(min=0, min_open=True),
    metavar="HOURS",
    help="With --all: skip audits with a finished run (exit code 0, 1 or 4) that began "
    "within so many hours.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="With --all: number of audits that run at a time (default: 1).",
)
@QUIET
@click.option(
    "--unattended",
    is_flag=True,
    help="For schedules: print plain lines with times, retry if R fails, stop at the "
    "time limit, and run the commands of [schedule].",
)
@click.option(
    "--keep",
    type=click.IntRange(min=0),
    help="Number of unsigned runs to keep, with --unattended; 0 keeps all.",
)
@click.option(
    "--minutes",
    type=click.FloatRange(min=0, min_open=True),
    help="Time limit for each audit, including retries and the report; the report "
    "names what was not measured. Overrides [limits] minutes.",
)
@click.option("--no-pdf", is_flag=True, help="Write the report as HTML only.")
@JSON
@click.option("--parent", type=int, hidden=True)
@click.option("--watched", is_flag=True, hidden=True)
@click.option("--asked-by", default="file", hidden=True)
def run(
    audit: Path | None,
    all_: bool,
    newer_than: float | None,
    jobs: int | None,
    quiet: bool,
    unattended: bool,
    keep: int | None,
    minutes: float | None,
    no_pdf: bool,
    as_json: bool,
    parent: int | None,
    watched: bool,
    asked_by: str,
) -> None:
    """Run the audit in AUDIT and write its report.

    AUDIT is a folder with an audit.toml, or the file.

    With --all, AUDIT is a folder of audits, by default reports. They run in order of
    name, --jobs at a time, even if others fail; the exit code is the most serious of
    theirs, in the order 130, 4, 3, 2, 1, 5, 0. --newer-than continues an interrupted
    batch.
    """
    if keep is not None and not unattended:
        raise click.UsageError("--keep requires --unattended.")
    if jobs and not all_:
        raise click.UsageError("--jobs requires --all.")
    if newer_than and not all_:
        raise click.UsageError("--newer-than requires --all.")
    if as_json and (all_ or unattended):
        raise click.UsageError("--json works with a single attended run only.")
    # Options for the processes that this command starts.
    passed_on = ["--no-pdf"] * no_pdf
    if all_:
        passed_on += ["--unattended"] * unattended
        passed_on += ["--minutes", repr(minutes)] if minutes else []
        passed_on += ["--keep", str(keep)] if keep is not None else []
        with faults(), terminable():
            from .run_all import run_all

            code = run_all(
                audit or BATCH,
                options=passed_on,
                newer_than=newer_than,
                quiet=quiet,
                n_jobs=jobs or 1,
            )
        sys.exit(code)
    if audit is None:
        raise click.UsageError("Missing argument 'AUDIT', or --all.")
    if parent:
        die_with(parent)
    if unattended:
        sys.exit(_run_unattended(audit, quiet, keep, minutes, passed_on))
    try:
        with faults(), terminable():
            is_there = audit.is_file() or (audit / "audit.toml").is_file()
            if is_there and not quiet:  # the imports below take a second
                begin = f"{now()} " * watched
                say(f"{begin}audit {audit}", err=True)
            from ..operate.run import run_audit
            from ..records import asker

            with asker.asked_by(asked_by):
                outcome = run_audit(
                    audit,
                    on_step=progress(quiet, plain=watched),
                    unattended=watched,
                    minutes=minutes,
                    pdf=not no_pdf,
                )
            _print(outcome, quiet=quiet, as_json=as_json)
            code = outcome.code
    except Exception:
        if not watched:
            raise
        traceback.print_exc()
        code = 4
    sys.exit(code)


def _print(outcome: "RunOutcome", *, quiet: bool, as_json: bool) -> None:
    """Print the outcome of a run."""
    from ..records.errors import printable

    if as_json:
        print_json(_facts(outcome))
    elif outcome.code or not quiet:
        summary = (outcome.folder / "summary.txt").read_text(encoding="utf-8")
        say(summary, err=quiet)
        for name in outcome.files:
            if name in REPORTS:
                say(f"{name[7:].upper():5} {outcome.folder / name}", err=quiet)
        say(UNCHECKED, err=quiet)
    for fault in outcome.faults:
        click.echo(printable(fault, keep="\n"), err=True)


def _facts(outcome: "RunOutcome") -> dict[str, object]:
    """Return the outcome of a run as --json prints it."""
    from ..report.pages.short_views import reason

    result = outcome.result
    keys = ("check", "severity", "subject", "message", "remedy")
    return {
        "format": FORMAT,
        "audit": result.run.audit,
        "run_id": outcome.folder.name,
        "folder": str(outcome.folder),
        "status": result.run.status,
        "verdict": result.verdict,
        "reason": reason(result),
        "exit_code": outcome.code,
        "reports": [str(outcome.folder / n) for n in outcome.files if n in REPORTS],
        "findings": [{key: getattr(f, key) for key in keys} for f in result.findings],
        "faults": list(filter(None, (outcome.no_report, *outcome.faults))),
    }


def _run_unattended(
    audit: Path,
    quiet: bool,
    keep: int | None,
    minutes: float | None,
    options: Sequence[str],
) -> int:
    """Run an unattended audit; return its exit code."""
    with faults():
        from ..operate.unattended import run_unattended
        from ..records.errors import printable
        from ..runs.chain import refuse_run_folder

        def say(text: str) -> None:
            for n, line in enumerate(text.split("\n")):
                start = f"{now()} "  # further lines of a message are indented
                begin = " " * len(start) if n else start
                click.echo(f"{begin}{printable(line)}", err=True)

        refuse_run_folder(audit if audit.is_dir() else audit.parent)
        ended = run_unattended(
            audit,
            say=say,
            keep=keep,
            minutes=minutes,
            quiet=quiet,
            options=options,
        )
        if ended.code or not quiet:
            where = f", run {ended.run_id}" if ended.run_id else ", no run"
            say(f"Ended with exit code {ended.code}{where}.")
    return ended.code
