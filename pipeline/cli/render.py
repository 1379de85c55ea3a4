"""render: writing the report of a stored run again."""

from pathlib import Path

import click

from .shared import FOLDER, QUIET, faults, say, stop

PAGES = ("html", "pdf")


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
        from ..report.pages.docx import docx_files
        from ..report.pages.html import FIGURES, figure_files, html_files, pdf_files
        from ..report.pages.pdf import PdfError
        from ..report.pages.report_views import report_views
        from ..runs.files import stored_attachments
        from ..runs.folder import write_file
        from ..runs.load import load_context, load_whole_run

        result = load_whole_run(folder)
        stem = f"{result.run.audit}-{result.run.volatile['run_id']}"
        stem += f"-{profile}" if profile else ""  # no profile overwrites another
        carried = stored_attachments(folder)
        context = load_context(folder, baseline)
        if "pdf" in formats:
            context = context._replace(has_pdf=True)
        views = report_views(
            result,
            profile=profile or "",
            context=context,
            document=carried.get("result.json", b""),
        )
        is_single = len(views) == 1
        files: dict[str, bytes | str] = {}
        if "docx" in formats:  # first: it is fast, and its library may be missing
            files |= docx_files(views, result, reference=reference)
        pdfs: dict[str, bytes] = {}
        if "pdf" in formats:
            try:
                pdfs = pdf_files(views, result, carried)
            except PdfError as error:
                fault = f"The PDF was not written beside the HTML: {error}"
        wanted = {*formats, "html"} if fault else {*formats}
        if "html" in wanted:
            figures = f"{stem}/{FIGURES}" if is_single else FIGURES
            files |= html_files(views, figures)
            files |= figure_files(views, figures)
        files |= pdfs
        firsts = {f"report.{ending}" for ending in wanted}
        for name in files:
            path = output / (name if is_single else f"{stem}/{name}")
            if is_single and name in firsts:
                path = output / f"{stem}{Path(name).suffix}"
            write_file(path, files[name])
            if name in firsts and not quiet:
                say(path)
        if any(name.startswith(f"{stem}/") for name in files) and not quiet:
            say(output / stem)  # the figures of a single page
    if fault:
        stop(4, fault)
