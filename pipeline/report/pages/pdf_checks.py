"""What a finished PDF holds, against the view it was printed from. Not: conformity.

A file cannot print what is found of it after it was written: the checks go into the
manifest. pdftotext reads the text and pikepdf the structure; a check whose reader is
missing is "not run". The structure checks are ours and no validation.
"""

import io
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from ..figures.typeface import escape_uncovered
from ..text.blocks import Name, Value, parts_of
from .view import ReportView

_NO_TAGS = "The renderer writes no tags."
_SECONDS = 60


class PdfCheck(NamedTuple):
    """One check of a PDF: what was looked at, how it came out, and why."""

    id: str
    result: Literal["pass", "fail", "not run"]
    why: str = ""


class _Element(NamedTuple):
    """One element of the tree of tags."""

    tag: str
    alt: str
    id: str
    headers: tuple[str, ...]


def checks_of(
    pdf: bytes, view: ReportView, *, fonts: tuple[str, ...] = ()
) -> tuple[PdfCheck, ...]:
    """Return how a PDF stands against the report it was printed from.

    Parameters
    ----------
    pdf : bytes
        The file, as `importance_audit.report.pages.pdf.to_pdf` returns it.
    view : ReportView
        What was printed.
    fonts : tuple of str
        Paths of the fonts that were added to the typeface.

    Returns
    -------
    tuple of PdfCheck
        "names" and "numbers" of the tables, found in the text; "figures" with
        alternative text, order of "headings", "headers" of cells that resolve,
        "bookmarks" on existing pages, "attachments" listed once, "claims" that the
        file makes of itself.
    """
    return (*_text_checks(pdf, view, fonts), *_structure_checks(pdf))


def _text_checks(
    pdf: bytes, view: ReportView, fonts: tuple[str, ...]
) -> Iterator[PdfCheck]:
    """Yield whether what the tables print can be read from the file."""
    program = shutil.which("pdftotext")
    if not program:
        yield from (
            PdfCheck(check, "not run", "pdftotext is not on PATH.")
            for check in ("names", "numbers")
        )
        return
    # -raw: other orders mix the lines of neighbouring cells
    run = subprocess.run(
        [program, "-raw", "-enc", "UTF-8", "-", "-"],
        input=pdf,
        capture_output=True,
        timeout=_SECONDS,
        check=False,
    )
    page_text = _without_spaces(run.stdout.decode(errors="replace"))
    tables = (*view.on_paper.tables, *view.appendix)
    for check, kind in (("names", Name), ("numbers", Value)):
        texts = {part.text for part in parts_of(tables, kind)}
        printed = {text: escape_uncovered(text, fonts) for text in sorted(texts)}
        missing = [
            text
            for text, as_is in printed.items()
            if _without_spaces(as_is) not in page_text
        ]
        yield _verdict(check, missing, "must be in the text of the PDF")


def _structure_checks(pdf: bytes) -> Iterator[PdfCheck]:
    """Yield what the tree of tags, the bookmarks and the attachments say."""
    try:
        import pikepdf
    except ImportError:
        why = "pikepdf is not installed."
        yield from (PdfCheck(check, "not run", why) for check in (*_TAGS, *_FILE))
        return
    with pikepdf.open(io.BytesIO(pdf)) as document:
        tree = document.Root.get("/StructTreeRoot", {}).get("/K")
        elements = tuple(_elements(tree, pikepdf))
        for check, problems in _TAGS.items():
            if elements:
                yield _verdict(check, problems(elements))
            else:
                yield PdfCheck(check, "not run", _NO_TAGS)
        for check, problems in _FILE.items():
            yield _verdict(check, problems(document))


def _elements(tree: Any, pikepdf: Any) -> Iterator[_Element]:
    """Yield every element of the tree of tags, in reading order."""
    waiting = [tree]
    while waiting:
        item = waiting.pop()
        if isinstance(item, pikepdf.Array):
            waiting.extend(reversed(list(item)))
        elif isinstance(item, pikepdf.Dictionary):
            if "/S" in item:
                attributes = item.get("/A", {})
                several = (
                    attributes
                    if isinstance(attributes, pikepdf.Array)
                    else [attributes]
                )
                heads = (name for one in several for name in one.get("/Headers", ()))
                yield _Element(
                    str(item.S),
                    str(item.get("/Alt", "")),
                    str(item.get("/ID", "")),
                    tuple(map(str, heads)),
                )
            waiting.append(item.get("/K"))


def _silent_figures(elements: tuple[_Element, ...]) -> list[str]:
    figures = [item for item in elements if item.tag == "/Figure"]
    return [
        f"figure {n} has no alternative text"
        for n, item in enumerate(figures, start=1)
        if not item.alt
    ]


def _skipped_headings(elements: tuple[_Element, ...]) -> list[str]:
    names = (re.fullmatch(r"/H([1-6])", item.tag) for item in elements)
    levels = [0, *(int(name[1]) for name in names if name)]
    return [
        f"a heading of level {level} follows one of level {before}"
        for before, level in pairwise(levels)
        if level > before + 1
    ]


def _dangling_headers(elements: tuple[_Element, ...]) -> list[str]:
    ids = {item.id for item in elements if item.tag == "/TH"}
    return [
        f"a cell names the header {header}"
        for item in elements
        for header in item.headers
        if header not in ids
    ]


def _lost_bookmarks(document: Any) -> list[str]:
    pages = {page.objgen for page in document.pages}
    with document.open_outline() as outline:
        waiting, problems = list(outline.root), []
        if not waiting:
            return ["the file has no bookmarks"]
        while waiting:
            item = waiting.pop()
            waiting.extend(item.children)
            if item.destination[0].objgen not in pages:
                problems.append(f"the bookmark {item.title!r} leads nowhere")
    return problems


def _loose_attachments(document: Any) -> list[str]:
    listed = Counter(str(spec.UF) for spec in document.Root.get("/AF", ()))
    return [
        f"{name} is listed {listed[name]} times"
        for name in sorted({*document.attachments, *listed})
        if name not in document.attachments or listed[name] != 1
    ]


def _false_claims(document: Any) -> list[str]:
    """Return what the file says of itself that no validator has said."""
    stream = document.Root.get("/Metadata")
    metadata = stream.read_bytes() if stream is not None else b""
    problems = []
    if b"pdfuaid" in metadata:
        problems.append("the file calls itself PDF/UA")
    is_tagged = bool(document.Root.get("/MarkInfo", {}).get("/Marked", False))
    if re.search(rb"pdfaid:conformance\W+A\b", metadata) and not is_tagged:
        problems.append("the file calls itself PDF/A of level A without tags")
    return problems


_TAGS: dict[str, Callable[[tuple[_Element, ...]], list[str]]] = {
    "figures": _silent_figures,
    "headings": _skipped_headings,
    "headers": _dangling_headers,
}
_FILE: dict[str, Callable[[Any], list[str]]] = {
    "bookmarks": _lost_bookmarks,
    "attachments": _loose_attachments,
    "claims": _false_claims,
}


def _verdict(check: str, problems: list[str], rule: str = "") -> PdfCheck:
    """Return what a check found, as one line."""
    if not problems:
        return PdfCheck(check, "pass")
    more = f" and {len(problems) - 3} more" if len(problems) > 3 else ""
    if rule:
        examples = ", ".join(repr(text) for text in problems[:3])
        return PdfCheck(check, "fail", f"{examples}{more} {rule}.")
    return PdfCheck(check, "fail", f"{', '.join(problems[:3])}{more}.")


def _without_spaces(text: str) -> str:
    return re.sub(r"\s", "", text)
