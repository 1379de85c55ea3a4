"""run: an audit from its file to its folder."""

import sys
import traceback
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


@click.command()
@click.argument("audit", type=FOLDER, required=False)
@click.option("--all", "all_", is_flag=True, help="Run every audit in folder AUDIT.")
@click.option("--fresh", is_flag=True, help="With --all: take up no cut-short batch.")
@QUIET
@click.option(
    "--unattended",
    is_flag=True,
    help="For a schedule: plain lines with times, tried again if R fails, ended after "
    "its time, and the commands of [schedule] told.",
)
@click.option(
    "--keep",
    type=click.IntRange(min=0),
    help="Unsigned runs to keep, with --unattended; 0 keeps all.",
)
@click.option(
    "--minutes",
    type=click.FloatRange(min=0, min_open=True),
    help="End each audit after so long, its tries and its report included: what was "
    "not measured is named. In the place of [limits] minutes.",
)
@click.option("--no-pdf", is_flag=True, help="Write the report as HTML only.")
@JSON
@click.option("--watched-by", type=int, hidden=True)
def run(
    audit: Path | None,
    all_: bool,
    fresh: bool,
    quiet: bool,
    unattended: bool,
    keep: int | None,
    minutes: float | None,
    no_pdf: bool,
    as_json: bool,
    watched_by: int | None,
) -> None:
    """Run the audit in folder (or file) AUDIT and write its report.

    With --all, AUDIT is a folder of audits, by default reports. They are run by name,
    whatever becomes of the others; the exit code is the gravest of theirs: 130, 4, 3,
    2, 1, 5, 0. A batch that was cut short within the last 24 h is taken up.
    """
    if keep is not None and not unattended:
        raise click.UsageError("--keep goes with --unattended only.")
    if as_json and (all_ or unattended):
        raise click.UsageError("--json goes with one attended run only.")
    passed_on = ["--no-pdf"] * no_pdf
    if all_:
        options = [*passed_on, *["--unattended"] * unattended]
        options += ["--minutes", repr(minutes)] if minutes else []
        options += [] if keep is None else ["--keep", str(keep)]
        with faults(), terminable():
            from .run_all import run_all

            folder, arguments = audit or BATCH, tuple(options)
            sys.exit(run_all(folder, options=arguments, fresh=fresh, quiet=quiet))
    if audit is None:
        raise click.UsageError("Missing argument 'AUDIT', or --all.")
    if unattended:
        sys.exit(_run_unattended(audit, quiet, keep, minutes, tuple(passed_on)))
    if watched_by:
        die_with(watched_by)
    try:
        with faults(), terminable():
            code = _run_attended(
                audit,
                quiet,
                is_supervised=bool(watched_by),
                minutes=minutes,
                pdf=not no_pdf,
                as_json=as_json,
            )
    except Exception:
        if not watched_by:
            raise
        traceback.print_exc()
        code = 4
    sys.exit(code)


def _run_attended(
    audit: Path,
    quiet: bool,
    *,
    is_supervised: bool,
    minutes: float | None,
    pdf: bool,
    as_json: bool,
) -> int:
    """Run an audit in this process; return its exit code."""
    from ..records.errors import printable

    if not quiet:  # the libraries below take a second to load
        begin = f"{now()} " * is_supervised
        say(f"{begin}audit {printable(str(audit))}", err=True)
    from ..operate.run import run_audit

    with progress(quiet, plain=is_supervised) as on_step:
        outcome = run_audit(
            audit, on_step=on_step, unattended=is_supervised, minutes=minutes, pdf=pdf
        )
    if as_json:
        print_json(_facts(outcome))
    elif outcome.code or not quiet:
        summary = (outcome.folder / "summary.txt").read_text(encoding="utf-8")
        say(summary, err=quiet)
        for name in outcome.files:
            if name in REPORTS:
                say(f"{name[7:].upper():5} {outcome.folder / name}", err=quiet)
    for fault in outcome.faults:
        click.echo(printable(fault, keep="\n"), err=True)
    return outcome.code


def _facts(outcome: "RunOutcome") -> dict[str, object]:
    """Return how a run went, as --json prints it."""
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
    options: tuple[str, ...],
) -> int:
    """Run an audit that nobody watches; return its exit code."""
    with faults():
        from ..operate.unattended import run_unattended
        from ..records.errors import printable
        from ..runs.chain import refuse_run_folder

        def say(text: str) -> None:
            for n, line in enumerate(text.split("\n")):
                start = f"{now()} "  # only of what we say: a line below is indented
                begin = " " * len(start) if n else start
                click.echo(f"{begin}{printable(line)}", err=True)

        refuse_run_folder(audit if audit.is_dir() else audit.parent)
        ended = run_unattended(
            audit, say=say, keep=keep, minutes=minutes, quiet=quiet, options=options
        )
        if ended.code or not quiet:
            where = f", run {ended.run_id}" if ended.run_id else ", no run"
            say(f"Ended with exit code {ended.code}{where}.")
    return ended.code
