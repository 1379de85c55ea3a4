"""What a run folder holds: numbers, tables, log and short views, as bytes by path.

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
"""Number and SHA-256 of the line of the audit log that a run follows."""
RENDERER = "renderer.json"
"""What the renderings were made with."""
RENDERINGS = (
    *("report.html", "report.pdf", "tables.xlsx"),
    *("junit.xml", "summary.txt", "summary.md", "findings-to-answer.toml"),
)
WHOLE = ("result.json", "environment.json")
ALWAYS = ("audit.toml", "importances.csv", "findings.csv")
"""What every PDF carries besides its list, by its name there; `path_in_run` says where
it lies."""
LARGEST_ATTACHMENTS = 20_000_000
"""Bytes of all attachments together, above which the PDF carries `ALWAYS` alone."""


def data_files(result: AuditResult, extra_files: Files) -> dict[str, bytes]:
    """Return every file of a run that is no rendering and known before it is written.

    Parameters
    ----------
    result : AuditResult
    extra_files : mapping of str to bytes or str
        What only the caller has: audit.toml. Renderings among them are left out.

    Returns
    -------
    dict
        result.json, the long tables, environment.json and what was given.

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
    """Return whether a PDF lists a file: one that is there before any rendering."""
    is_shown = path in RENDERINGS or path.startswith(("figures/", "models/"))
    return not is_shown and path not in (LOG, HEAD, RENDERER)


def log_file(
    result: AuditResult, more: Iterable[Mapping[str, Any]] = ()
) -> dict[str, bytes]:
    """Return log.jsonl by its path: what the result says, and `more` since then.

    It grows while the report is made, which carries the digests of all other files: so
    the SHA256SUMS of the run has that of the log, and the one in the PDF has not.
    """
    lines = (*result.run.volatile.get("log", ()), *more)
    return {LOG: as_bytes("".join(f"{_json(dict(line))}\n" for line in lines))}


def attachments(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return what the PDF carries of a run, by name; less if all is too large."""
    listed = attached_list({path: sha256(data) for path, data in files.items()})
    return {**_carried(files), LIST: listed}


def stored_attachments(folder: Path) -> dict[str, bytes]:
    """Return what the PDF of a stored run carries, as the folder holds it.

    Raises
    ------
    DataError
        If its list cannot be read.
    """
    paths = {path_in_run(name) for name in (*ALWAYS, *WHOLE)}
    here = (path for path in paths if (folder / path).is_file())
    files = {path: (folder / path).read_bytes() for path in here}
    return {**_carried(files), LIST: attached_list(list_of(folder))}


def attached_list(digests: Mapping[str, str]) -> bytes:
    """Return the SHA256SUMS that the PDF of a run carries, from that of the run.

    The PDF is made after these files and before its own digest is known.
    """
    return write_list({path: d for path, d in digests.items() if is_data(path)})


def _carried(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files that the PDF carries, by their names there."""
    paths = {name: path_in_run(name) for name in (*ALWAYS, *WHOLE)}
    carried = {name: files[path] for name, path in paths.items() if path in files}
    if sum(map(len, carried.values())) > LARGEST_ATTACHMENTS:
        return {name: data for name, data in carried.items() if name in ALWAYS}
    return carried


def path_in_run(name: str) -> str:
    """Return where a run has a file, by the name under which a PDF carries it.

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
