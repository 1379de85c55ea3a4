"""render: the report on a stored run, again."""

from functools import partial
from pathlib import Path

import click

from .shared import FOLDER, QUIET, REPORTS, faults, say, stop, write


@click.command()
@click.argument("folder", type=FOLDER)
@click.option(
    "--output", type=FOLDER, default=Path(), help="Where to write (default: here)."
)
@click.option(
    "--profile",
    type=click.Choice(("technical", "executive")),
    default=None,
    help="All sections, or one page and its control (default: as configured).",
)
@click.option("--baseline", type=FOLDER, help="A stored run to compare with.")
@QUIET
def render(
    folder: Path,
    output: Path,
    profile: str | None,
    baseline: Path | None,
    quiet: bool,
) -> None:
    """Render the stored run in FOLDER again, without R, model or data."""
    fault = ""
    with faults():
        from ..report.pages.html import page_files
        from ..report.pages.pdf import PdfError
        from ..runs.files import stored_attachments
        from ..runs.load import load_context, load_whole_run

        result = load_whole_run(folder)
        carried = stored_attachments(folder)
        make_files = partial(
            page_files,
            result,
            attachments=carried,
            profile=profile or "",
            context=load_context(folder, baseline),
        )
        try:
            files = make_files()
        except PdfError as error:
            fault = f"The PDF was not written beside the HTML: {error}"
            files = make_files(pdf=False)
        stem = f"{result.run.audit}-{result.run.volatile['run_id']}"
        report_names = [
            name for name in files if Path(name).suffix in (".html", ".pdf")
        ]
        for name in report_names:
            alone = len(report_names) <= len(REPORTS)
            path = output / (
                f"{stem}{Path(name).suffix}" if alone else f"{stem}/{name}"
            )
            write(path, files[name])
            if name in REPORTS and not quiet:
                say(path)
    if fault:
        stop(4, fault)
