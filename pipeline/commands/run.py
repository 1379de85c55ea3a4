"""run: an audit from its file to its folder."""

import sys
from pathlib import Path

import click

from pipeline.commands.shared import (
    FOLDER,
    QUIET,
    REPORTS,
    faults,
    progress,
    terminable,
)

BATCH = Path("reports")


@click.command()
@click.argument("audit", type=FOLDER, required=False)
@click.option("--all", "all_", is_flag=True, help="Run every audit in folder AUDIT.")
@click.option("--fresh", is_flag=True, help="With --all: take up no cut-short batch.")
@QUIET
def run(audit: Path | None, all_: bool, fresh: bool, quiet: bool) -> None:
    """Run the audit in folder (or file) AUDIT and write its report.

    With --all, AUDIT is a folder of audits, by default reports. They are run by name,
    whatever becomes of the others; the exit code is the gravest of theirs: 130, 4, 3,
    2, 1, 5, 0. A batch that was cut short within the last 24 h is taken up.
    """
    if all_:
        with faults(), terminable():
            from pipeline.commands.run_all import run_all

            sys.exit(run_all(audit or BATCH, fresh=fresh, quiet=quiet))
    if audit is None:
        raise click.UsageError("Missing argument 'AUDIT', or --all.")
    with faults(), terminable():
        from pipeline.bundle import short_views
        from pipeline.running import run_audit

        with progress(quiet) as on_step:
            ran = run_audit(audit, on_step=on_step)
        if ran.code or not quiet:
            click.echo(short_views(ran.result)["summary.txt"].decode(), err=quiet)
            for name in ran.files:
                if name in REPORTS:
                    click.echo(f"{name[7:].upper():5} {ran.folder / name}", err=quiet)
        for fault in ran.faults:
            click.echo(fault, err=True)
    sys.exit(ran.code)
