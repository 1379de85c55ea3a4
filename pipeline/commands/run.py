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


@click.command()
@click.argument("audit", type=FOLDER)
@QUIET
def run(audit: Path, quiet: bool) -> None:
    """Run the audit in folder (or file) AUDIT and write its report."""
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
