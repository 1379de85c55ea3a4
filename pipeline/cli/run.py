"""run: an audit from its file to its folder."""

import sys
import traceback
from pathlib import Path

import click

from .shared import FOLDER, QUIET, REPORTS, die_with, faults, now, progress, terminable

BATCH = Path("reports")


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
@click.option("--within", type=(float, float, int), hidden=True)
def run(
    audit: Path | None,
    all_: bool,
    fresh: bool,
    quiet: bool,
    unattended: bool,
    keep: int | None,
    within: tuple[float, float, int] | None,
) -> None:
    """Run the audit in folder (or file) AUDIT and write its report.

    With --all, AUDIT is a folder of audits, by default reports. They are run by name,
    whatever becomes of the others; the exit code is the gravest of theirs: 130, 4, 3,
    2, 1, 5, 0. A batch that was cut short within the last 24 h is taken up.
    """
    if keep is not None and not unattended:
        raise click.UsageError("--keep goes with --unattended only.")
    if all_:
        options = ["--unattended"] if unattended else []
        options += [] if keep is None else ["--keep", str(keep)]
        with faults(), terminable():
            from .run_all import run_all

            folder, arguments = audit or BATCH, tuple(options)
            sys.exit(run_all(folder, options=arguments, fresh=fresh, quiet=quiet))
    if audit is None:
        raise click.UsageError("Missing argument 'AUDIT', or --all.")
    if unattended:
        sys.exit(_run_unattended(audit, quiet, keep))
    limit = within[:2] if within else None
    if within:
        die_with(within[2])
    try:
        with faults(), terminable(limit):
            code = _run_attended(audit, quiet, is_supervised=bool(within))
    except Exception:
        if not within:
            raise
        traceback.print_exc()
        code = 4
    sys.exit(code)


def _run_attended(audit: Path, quiet: bool, *, is_supervised: bool) -> int:
    """Run an audit in this process; return its exit code."""
    from ..operate.run import run_audit
    from ..records.errors import printable

    with progress(quiet, plain=is_supervised) as on_step:
        outcome = run_audit(audit, on_step=on_step, unattended=is_supervised)
    if outcome.code or not quiet:
        summary = (outcome.folder / "summary.txt").read_text(encoding="utf-8")
        click.echo(summary, err=quiet)
        for name in outcome.files:
            if name in REPORTS:
                click.echo(f"{name[7:].upper():5} {outcome.folder / name}", err=quiet)
    for fault in outcome.faults:
        click.echo(printable(fault, keep="\n"), err=True)
    return outcome.code


def _run_unattended(audit: Path, quiet: bool, keep: int | None) -> int:
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
        ended = run_unattended(audit, say=say, keep=keep, quiet=quiet)
        if ended.code or not quiet:
            where = f", run {ended.run_id}" if ended.run_id else ", no run"
            say(f"Ended with exit code {ended.code}{where}.")
    return ended.code
