"""Contents of the files of a run folder: numbers, tables and log, as bytes by path.

Not: writing them (`folder`), their digests (`digests`), the report (`report`).
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

from ..records import as_csv, as_json
from ..records.frames import TABLES
from ..records.result import AuditResult
from .digests import LIST, list_of, sha256, write_list

Files: TypeAlias = Mapping[str, bytes | str]

LOG = "log.jsonl"
HEAD = "log-head.json"
"""Number and SHA-256 of the last line of the audit log before a run."""
RENDERER = "renderer.json"
"""Versions of the software that made the renderings."""
RENDERINGS = (
    *("report.html", "report.pdf", "tables.xlsx"),
    *("junit.xml", "summary.txt", "summary.md", "findings-to-answer.toml"),
)
WHOLE = ("result.json", "environment.json")
ALWAYS = ("audit.toml", "importances.csv", "findings.csv")
"""Attachments of every PDF besides the list, by name; `path_in_run` gives the paths."""
LARGEST_ATTACHMENTS = 20_000_000
"""Total size of attachments in bytes above which the PDF carries only `ALWAYS`."""


def data_files(result: AuditResult, extra_files: Files) -> dict[str, bytes]:
    """Return the data files of a run by path: all but renderings, logs and digests.

    Parameters
    ----------
    result : AuditResult
    extra_files : mapping of str to bytes or str
        Files that only the caller has, such as audit.toml. Renderings among them are
        left out.

    Returns
    -------
    dict
        result.json, the long tables, environment.json and `extra_files`.

    Raises
    ------
    ValueError
        If a path leads out of the folder, or is that of a file made here.
    """
    facts = {"versions": result.run.versions, "environment": result.run.environment}
    environment = {name: dict(value) for name, value in facts.items()}
    texts = {
        "result.json": as_json.dumps(result),
        **as_csv.tables(result),
        "environment.json": f"{_json(environment, indent=2)}\n",
    }
    files = {path: as_bytes(text) for path, text in texts.items()}
    for path in extra_files:
        inside = not PurePosixPath(path).is_absolute() and ".." not in Path(path).parts
        made_here = {*files, LOG, HEAD, LIST}
        if not inside or {path, path_in_run(path)} & made_here:
            raise ValueError(
                "The path of a file must lie in the run folder and not be that of a "
                f"file made here; {path!r} was given."
            )
    return files | {p: as_bytes(d) for p, d in extra_files.items() if is_data(p)}


def is_data(path: str) -> bool:
    """Return whether a PDF lists a file, which must exist before any rendering."""
    is_shown = path in RENDERINGS or path.startswith(("figures/", "models/"))
    return not is_shown and path not in (LOG, HEAD, RENDERER)


def log_file(
    result: AuditResult, more: Iterable[Mapping[str, Any]] = ()
) -> dict[str, bytes]:
    """Return log.jsonl by its path: the lines of the result, then those of `more`.

    It grows while the report is rendered. So its digest is in the SHA256SUMS of the
    run, and not in the one that the PDF carries.
    """
    lines = (*result.run.volatile.get("log", ()), *more)
    return {LOG: as_bytes("".join(f"{_json(dict(line))}\n" for line in lines))}


def attachments(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the attachments of the PDF of a run, by name; fewer if too large."""
    listed = attached_list({path: sha256(data) for path, data in files.items()})
    return {**_carried(files), LIST: listed}


def stored_attachments(folder: Path) -> dict[str, bytes]:
    """Return the attachments of the PDF of a stored run, from its folder.

    Raises
    ------
    DataError
        If the list of the run cannot be read.
    """
    paths = {path_in_run(name) for name in (*ALWAYS, *WHOLE)}
    here = (path for path in paths if (folder / path).is_file())
    files = {path: (folder / path).read_bytes() for path in here}
    return {**_carried(files), LIST: attached_list(list_of(folder))}


def attached_list(digests: Mapping[str, str]) -> bytes:
    """Return the SHA256SUMS that the PDF of a run carries, from that of the run.

    It lists the files that exist before the PDF is made.
    """
    return write_list({path: d for path, d in digests.items() if is_data(path)})


def _carried(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files that the PDF carries, by their names in the PDF."""
    paths = {name: path_in_run(name) for name in (*ALWAYS, *WHOLE)}
    carried = {name: files[path] for name, path in paths.items() if path in files}
    if sum(map(len, carried.values())) > LARGEST_ATTACHMENTS:
        return {name: data for name, data in carried.items() if name in ALWAYS}
    return carried


def path_in_run(name: str) -> str:
    """Return the path in a run of a file, given its name in a PDF.

    Examples
    --------
    >>> path_in_run("findings.csv")
    'tables/findings.csv'
    >>> path_in_run("result.json")
    'result.json'
    """
    return f"{TABLES}/{name}" if name.endswith(".csv") else name


def as_bytes(content: bytes | str) -> bytes:
    """Return text as UTF-8."""
    return as_json.utf8(content) if isinstance(content, str) else content


def _json(value: object, *, indent: int | None = None) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False)
