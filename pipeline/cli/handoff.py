"""handoff: a stored run as objects that R opens."""

from pathlib import Path

import click

from .shared import FOLDER, QUIET, faults, say


@click.command()
@click.argument("folder", type=FOLDER)
@click.option(
    "--to", type=FOLDER, help="Folder to create (default: named after the run, here)."
)
@QUIET
def handoff(folder: Path, to: Path | None, quiet: bool) -> None:
    """Export the stored run in FOLDER for R: tables, and objects of vip and DALEX."""
    from importance_audit.r_bridge import host

    from ..operate.handoff import handoff as files_of
    from ..runs.folder import write_folder
    from ..runs.load import load_whole_run

    with faults():
        result = load_whole_run(folder)
        name = f"{result.run.audit}-{result.run.volatile['run_id']}-handoff"
        target = to or Path(name)
        with host.session():
            files = files_of(result)
        write_folder(target, files)
    if not quiet:
        say(f"{target} was written. Read its README.md, or: Rscript read.R")
