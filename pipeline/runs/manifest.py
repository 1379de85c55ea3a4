"""manifest.json and evidence.json: every file of a run with its digest.

Not: which files those are (`files`), or writing them (`folder`).
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..records import as_json
from ..records.result import AuditResult
from .chain import MANIFEST
from .signoff.signoff_trail import anchors

EVIDENCE = "importance-audit-evidence/1"
SIGNOFF = "importance-audit-signoff/1"
MEDIA_TYPES = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".md": "text/markdown",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".toml": "application/toml",
    ".txt": "text/plain",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".xml": "application/xml",
}
RENDERINGS = (
    *("report.html", "report.pdf", "tables.xlsx"),
    *("junit.xml", "summary.txt", "summary.md", "findings-to-answer.toml"),
)


def is_rendering(path: str) -> bool:
    """Return whether a file only shows what others of the run hold."""
    return path in RENDERINGS or path.startswith(("figures/", "models/"))


def evidence(result: AuditResult, files: Mapping[str, bytes]) -> bytes:
    """Return evidence.json: the digest of every file that is no rendering.

    It says what the PDF that carries it was made from, so it can name neither the
    renderings nor itself. "pdf_seal" says that this PDF has a seal (`pdf_seal`): one
    without was written again by another program.
    """
    paths = (
        path for path in files if not is_rendering(path) and path != "evidence.json"
    )
    facts = {"format": EVIDENCE, **_run(result), "pdf_seal": "sha256"}
    return _json({**facts, "files": _entries(files, paths)})


def manifest(
    result: AuditResult,
    files: Mapping[str, bytes],
    *,
    folder: Path,
    previous: Mapping[str, str] | None,
    exit_code: int,
    renderer: Mapping[str, Any] | None,
) -> bytes:
    """Return manifest.json: what the run says in short, and the digest of every file.

    Parameters
    ----------
    result : AuditResult
    files : mapping of str to bytes
        Every other file of the run, by its path.
    folder : Path
        That of the audit, where files of the configuration and its trail are.
    previous : mapping of str to str, or None
        Name and manifest digest of the run before.
    exit_code : int
        What the command line returns.
    renderer : mapping, or None
        What the renderings were made with; None without any.
    """
    facts = {
        "format": MANIFEST,
        **_run(result),
        "exit_code": exit_code,
        "verdict": result.verdict,
        "previous": previous,
        "files": _entries(files, files),
        "inputs": list(_inputs(result, folder)),
        "renderer": renderer,
        "trail": anchors(folder),
    }
    return sealed(facts)


def signed_manifest(
    result: AuditResult,
    files: Mapping[str, bytes],
    *,
    signoff_id: str,
    parent_sha256: str,
    trail: Mapping[str, Any],
    renderer: Mapping[str, Any] | None,
) -> bytes:
    """Return the manifest.json of a sign-off, which lies in the folder of a run.

    Parameters
    ----------
    result : AuditResult
        What is signed.
    files : mapping of str to bytes
        Every other file of the sign-off, by its path.
    signoff_id : str
    parent_sha256 : str
        The SHA-256 of the manifest of the run.
    trail : mapping
        `signoff_trail.anchors` of the audit before this sign-off.
    renderer : mapping, or None
        What its pages were made with.
    """
    facts = {
        "format": SIGNOFF,
        **_run(result),
        "signoff_id": signoff_id,
        "parent_sha256": parent_sha256,
        "files": _entries(files, files),
        "renderer": renderer,
        "trail": trail,
    }
    return sealed(facts)


def sealed(facts: Mapping[str, Any]) -> bytes:
    """Return a manifest as text, with the SHA-256 of all its lines but the last two.

    ``head -n -2 manifest.json | sha256sum`` prints what "seal" must be.

    Examples
    --------
    >>> print(sealed({"format": "x"}).decode())
    {
      "format": "x",
      "seal": "e9fefdaf604cf8385a8cdc7a94a44988734ba2ea14074e219fa92444794058d5"
    }
    <BLANKLINE>
    """
    body = _json(facts).removesuffix(b"\n}\n") + b",\n"
    return body + _seal(body)


def is_sealed(data: bytes) -> bool:
    """Return whether the seal of a manifest is that of its other lines."""
    lines = data.splitlines(keepends=True)
    body = b"".join(lines[:-2])
    return data == body + _seal(body)


def _seal(body: bytes) -> bytes:
    return f'  "seal": "{_sha256(body)}"\n}}\n'.encode()


def _run(result: AuditResult) -> dict[str, str]:
    return {
        "audit": result.run.audit,
        "run_id": str(result.run.volatile["run_id"]),
        "content_digest": as_json.content_digest(result),
    }


def _entries(files: Mapping[str, bytes], paths: Any) -> list[dict[str, Any]]:
    """Return what is said of each file, in the order of their paths."""
    return [
        {
            "path": path,
            "bytes": len(files[path]),
            "sha256": _sha256(files[path]),
            "media_type": MEDIA_TYPES.get(
                Path(path).suffix, "application/octet-stream"
            ),
        }
        for path in sorted(paths)
    ]


def _inputs(result: AuditResult, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield what the run was made from: rows by their digest, files with their size.

    The digest of rows is that of what was audited, not of the file they came in.
    """
    for row in result.datasets.to_dict("records"):
        yield {"role": row["split"], "name": row["name"], "sha256": row["sha256"]}
        if row.get("script_sha256"):
            script = _config(result, "data").get(row["split"], {}).get("r_script", "")
            yield _file("r_script", script, row["script_sha256"], folder)
    frame = result.models
    digests = dict(zip(frame.get("model", ()), frame.get("sha256", ()), strict=True))
    parameters = dict(
        zip(frame.get("model", ()), frame.get("parameters", ()), strict=True)
    )
    for entry in _config(result, "models"):
        if entry.get("predict") and parameters.get(entry["name"]):
            text = json.loads(parameters[entry["name"]])["predict"]
            yield _file("predict", entry["predict"], _sha256(text.encode()), folder)
        for role in ("file", "r_script"):
            digest = digests.get(entry["name"]) or entry.get("sha256")
            if entry.get(role) and digest:
                role_ = "model" if role == "file" else role
                yield _file(role_, entry[role], digest, folder)
    for entry in _config(result, "extensions"):
        if entry["file"]:
            yield _file(entry["kind"], entry["file"], entry["sha256"], folder)
        for name, digest in entry.get("imports", {}).items():
            yield _file("import", name, digest, folder)
    for name, file in dict(_config(result, "files")).items():
        yield _file("report", name, file["sha256"], folder)
    for entry in _config(result, "supplied"):
        yield _file("supplied", entry["file"], entry["sha256"], folder)


def _config(result: AuditResult, section: str) -> Any:
    return result.run.config.get(section, {})


def _file(role: str, name: str, digest: str, folder: Path) -> dict[str, Any]:
    """Return what is said of a file of the configuration; its size where it lies."""
    entry: dict[str, Any] = {"role": role, "name": name}
    with suppress(OSError):
        entry["bytes"] = (folder / name).stat().st_size
    return {**entry, "sha256": digest}


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _json(facts: Mapping[str, Any]) -> bytes:
    text = json.dumps(facts, indent=2, ensure_ascii=False)
    return as_json.utf8(f"{text}\n")
