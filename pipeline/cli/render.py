"""render: the report on a stored run, again."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from .shared import FOLDER, QUIET, faults, say, stop

PAGES = ("html", "pdf")
DRAWN = {"svg", "png"}
"""The figures that lie beside an HTML page."""


@click.command()
@click.argument("folder", type=FOLDER)
@click.option(
    "--output", type=FOLDER, default=Path(), help="Where to write (default: here)."
)
@click.option(
    "--profile",
    type=click.Choice(("technical", "executive")),
    default=None,
    help="All sections, or page one with document control (default: as configured).",
)
@click.option("--baseline", type=FOLDER, help="A stored run to compare with.")
@click.option(
    "--as",
    "formats",
    type=click.Choice(("html", "pdf", "docx")),
    multiple=True,
    help="Format to write; may be repeated (default: html and pdf). A Word file is a "
    "working copy.",
)
@click.option(
    "--reference",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A Word file that gives --as docx its styles (default: as configured).",
)
@QUIET
def render(
    folder: Path,
    output: Path,
    profile: str | None,
    baseline: Path | None,
    formats: tuple[str, ...],
    reference: Path | None,
    quiet: bool,
) -> None:
    """Write the report of the stored run in FOLDER again.

    R, models and data are not needed.
    """
    formats = formats or PAGES
    if reference and "docx" not in formats:
        raise click.UsageError("--reference requires --as docx.")
    fault = ""
    with faults():
        from ..report.pages.by_model import parts
        from ..report.pages.docx import docx_files
        from ..report.pages.html import FIGURES, page_files
        from ..report.pages.pdf import PdfError
        from ..runs.files import stored_attachments
        from ..runs.folder import write_file
        from ..runs.load import load_context, load_whole_run

        result = load_whole_run(folder)
        stem = f"{result.run.audit}-{result.run.volatile['run_id']}"
        alone = not parts(result)
        carried = stored_attachments(folder)
        about: dict[str, Any] = {
            "profile": profile or "",
            "context": load_context(folder, baseline),
        }
        files: dict[str, bytes | str] = {}
        if "docx" in formats:  # first: it may lack its library, and takes less time
            files |= docx_files(
                result,
                reference=reference,
                document=carried.get("result.json", b""),
                **about,
            )
        if {*PAGES} & {*formats}:
            figures = f"{stem}/{FIGURES}" if alone else FIGURES
            make_pages = partial(
                page_files, result, figures=figures, attachments=carried, **about
            )
            try:
                files |= make_pages(pdf="pdf" in formats)
            except PdfError as error:
                fault = f"The PDF was not written beside the HTML: {error}"
                files |= make_pages(pdf=False)
        wanted = {*formats, "html"} if fault else {*formats}
        firsts = {f"report.{ending}" for ending in wanted}
        endings = wanted | (DRAWN if "html" in wanted else set())
        for name in (name for name in files if Path(name).suffix[1:] in endings):
            path = output / (name if alone else f"{stem}/{name}")
            if alone and name in firsts:
                path = output / f"{stem}{Path(name).suffix}"
            write_file(path, files[name])
            if name in firsts and not quiet:
                say(path)
    if fault:
        stop(4, fault)
