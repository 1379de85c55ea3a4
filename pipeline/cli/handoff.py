"""handoff: export of a stored run as R objects."""

from pathlib import Path

import click

from .shared import FOLDER, QUIET, faults, say


@click.command()
@click.argument("folder", type=FOLDER)
@click.option(
    "--to", type=FOLDER, help="Folder to create (default: named after the run, here)."
)
@click.option(
    "--rows",
    is_flag=True,
    help="Hand over the evaluation rows themselves; they may be personal data.",
)
@QUIET
def handoff(folder: Path, to: Path | None, rows: bool, quiet: bool) -> None:
    """Export the stored run in FOLDER for R.

    The new folder has tables, objects of vip and DALEX, and recompute.R, which computes
    importances with DALEX and vip in R alone. It also has the row numbers of the
    evaluation rows, if these can be read again.
    """
    from importance_audit.r_bridge import host
    from importance_audit.r_bridge.errors import RBridgeError
    from importance_audit.r_bridge.handoff import parquet_writer

    from ..operate.handoff import handoff as files_of
    from ..operate.recomputation import read_evaluation_rows
    from ..records.errors import AuditError
    from ..runs.folder import write_folder
    from ..runs.load import load_whole_run

    with faults():
        result = load_whole_run(folder)
        name = f"{result.run.audit}-{result.run.volatile['run_id']}-handoff"
        target = to or Path(name)
        data, notes = None, []
        with host.session():
            try:
                data = read_evaluation_rows(folder, result)
            except (AuditError, RBridgeError) as error:
                if rows:
                    raise
                notes.append(f"The evaluation rows are not numbered: {error}")
            files = files_of(result, data, with_rows=rows)
            writer = parquet_writer()
        write_folder(target, files)
        if not writer:
            notes.append(
                "No Parquet files: neither nanoparquet (R) nor pyarrow is installed. "
                "Run: importance-audit install-r nanoparquet"
            )
    if not quiet:
        for note in notes:
            say(note)
        if rows:
            say("rows.rds holds the evaluation rows, which may be personal data.")
        say(f"{target} was written. Read its README.md, or: Rscript {target}/read.R")
