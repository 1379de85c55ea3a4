"""The child process that makes the PDF: a job as JSON on stdin, the PDF on stdout.

It is started by `pdf.to_pdf`, and is the only code that imports WeasyPrint. If a page
cannot be printed completely, it exits with `REFUSED` and one sentence on stderr.
WeasyPrint 57.2 and 70 are tested; since arguments changed between them, signatures are
inspected.
"""

import base64
import gc
import inspect
import json
import logging
import resource
import sys
from collections.abc import Mapping
from datetime import datetime
from logging.handlers import BufferingHandler
from pathlib import Path
from typing import Any

REFUSED = 3
MODE = "pdf/a-3a"
MODE_SINCE = 70
_MEDIA_TYPES = {
    ".csv": "text/csv",
    ".json": "application/json",
    ".toml": "application/toml",
}
# In log messages of WeasyPrint about a style rule, a font or an image without effect.
_FAULTS = ("Ignored", "Invalid", "Failed to load", "cannot be loaded")


class PrintError(Exception):
    """A page cannot be printed; the message is one sentence."""


def main() -> int:
    """Print the job on stdin; return the exit code."""
    job = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_AS, (job["max_bytes"], job["max_bytes"]))
    # Garbage collection took a tenth of the time and freed nothing: the trees of the
    # page are in use until the process ends.
    gc.disable()
    try:
        pdf = printed(job)
    except PrintError as error:
        print(error, file=sys.stderr)
        return REFUSED
    sys.stdout.buffer.write(pdf)
    return 0


def printed(job: Mapping[str, Any]) -> bytes:
    """Return the PDF of a job, as `pdf.to_pdf` describes it.

    Raises
    ------
    PrintError
        If the page refers to external resources, if a style rule, a font or an image
        has no effect, or if an image has no alternative text.
    """
    import weasyprint
    from weasyprint.text.fonts import FontConfiguration

    log = BufferingHandler(sys.maxsize)
    log.setLevel(logging.WARNING)
    logger = logging.getLogger("weasyprint")
    logger.handlers[:] = [log]
    logger.propagate = False
    refused: list[str] = []
    sources = {
        "url_fetcher": _fetcher(job["fonts"], refused),
        "base_url": "about:blank",
    }
    fonts = FontConfiguration()
    style = weasyprint.CSS(string=job["css"], font_config=fonts, **sources)
    page = weasyprint.HTML(string=job["html"], **sources)
    silent = [image for image in page.etree_element.iter("img") if not image.get("alt")]
    if silent:
        raise PrintError(f"Images without an alternative text: {len(silent)}.")
    document = page.render(stylesheets=[style], font_config=fonts)
    document.metadata.created = document.metadata.modified = job["created"]
    created = datetime.fromisoformat(job["created"])
    is_old = "identifier" in inspect.signature(document.write_pdf).parameters
    options: dict[str, Any] = {
        "identifier" if is_old else "pdf_identifier": bytes.fromhex(job["identifier"])
    }
    if int(weasyprint.__version__.split(".")[0]) >= MODE_SINCE:
        options["pdf_variant"] = MODE
    pdf = document.write_pdf(
        finisher=lambda _, pdf: _describe_files(pdf, created),
        attachments=_attachments(job, created),
        **options,
    )
    if refused:
        raise PrintError(
            f"The page asks for what it does not hold: {_listed(refused)}."
        )
    messages = [" ".join(record.getMessage().split()) for record in log.buffer]
    faults = [text for text in messages if any(word in text for word in _FAULTS)]
    if faults:
        raise PrintError(
            f"WeasyPrint cannot apply the whole page. It says: {_listed(faults)}."
        )
    return bytes(pdf)


def _fetcher(fonts: Mapping[str, str], refused: list[str]) -> Any:
    """Return a fetcher of `data:` URLs and our fonts; adds others to `refused`."""
    import weasyprint
    from weasyprint import urls

    def check(url: str) -> None:
        if not url.startswith("data:"):
            refused.append(url)
            raise ValueError("only what the page carries in itself may be used")

    if not hasattr(urls, "URLFetcher"):  # before 68

        def fetch(url: str, *args: Any, **options: Any) -> Any:
            if url in fonts:
                return {"string": Path(fonts[url]).read_bytes()}
            check(url)
            return weasyprint.default_url_fetcher(url, *args, **options)

        return fetch

    class Fetcher(urls.URLFetcher):  # type: ignore[misc]
        def fetch(self, url: str, headers: Any = None) -> Any:
            if url in fonts:
                return urls.URLFetcherResponse(url, Path(fonts[url]).read_bytes())
            check(url)
            return super().fetch(url, headers)

    return Fetcher()


def _attachments(job: Mapping[str, Any], created: datetime) -> list[Any]:
    """Return the files to embed, dated by the run, not by the clock of the machine.

    They are sorted by name, as a PDF name tree must be. Each is first written to the
    working folder: WeasyPrint below 64 embeds it under the name of that file.
    """
    from weasyprint import Attachment

    parameters = inspect.signature(Attachment).parameters
    attachments = []
    for name, content in sorted(job["attachments"].items()):
        Path(name).write_bytes(base64.b64decode(content))
        options = {
            "created": created,
            "modified": created,
            "relationship": "Data",
            "name": name,
            "description": job["descriptions"].get(name, name),
        }
        usable = {key: value for key, value in options.items() if key in parameters}
        attachments.append(Attachment(filename=name, **usable))
    return attachments


def _describe_files(pdf: Any, created: datetime) -> None:
    """Add attributes of embedded files that some versions omit; list each file once."""
    import pydyf

    date = pydyf.String(created.strftime("D:%Y%m%d%H%M%SZ"))
    specs: list[Any] = [
        item
        for item in pdf.objects
        if isinstance(item, dict) and item.get("Type") == "/Filespec"
    ]
    for spec in specs:
        name = spec["UF"].string
        name = name.decode() if isinstance(name, bytes) else name
        spec["F"] = pydyf.String(name)
        spec["AFRelationship"] = "/Data"
        stream: Any = pdf.objects[int(spec["EF"]["F"].split()[0])]
        media = _MEDIA_TYPES.get(Path(name).suffix, "text/plain")
        stream.extra["Subtype"] = "/" + media.replace("/", "#2f")
        stream.extra["Params"]["CreationDate"] = date
        stream.extra["Params"]["ModDate"] = date
    if specs:
        pdf.catalog["AF"] = pydyf.Array(spec.reference for spec in specs)
        tree = pdf.objects[int(pdf.catalog["Names"]["EmbeddedFiles"].split()[0])]
        entries = [(spec["UF"], spec.reference) for spec in specs]
        tree["Names"] = pydyf.Array(part for entry in entries for part in entry)


def _listed(texts: list[str]) -> str:
    more = f" and {len(texts) - 3} more" if len(texts) > 3 else ""
    return ", ".join(repr(text[:200]) for text in texts[:3]) + more


if __name__ == "__main__":
    sys.exit(main())
