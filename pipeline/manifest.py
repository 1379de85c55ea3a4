"""manifest.json and evidence.json: every file of a run with its digest.

Not: which files those are (`bundle`), or writing them (`history`).
"""

import ctypes
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline import result_json
from pipeline.chain import MANIFEST
from pipeline.result import AuditResult
from pipeline.trail import anchors

if TYPE_CHECKING:
    from pipeline.report.pdf_checks import PdfCheck

EVIDENCE = "importance-audit-evidence/1"
SIGNOFF = "importance-audit-signoff/1"
MEDIA_TYPES = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".md": "text/markdown",
    ".pdf": "application/pdf",
    ".svg": "image/svg+xml",
    ".toml": "application/toml",
    ".txt": "text/plain",
    ".xml": "application/xml",
}
RENDERINGS = ("report.html", "report.pdf", "junit.xml", "summary.txt", "summary.md")
PACKAGES = ("weasyprint", "pydyf", "fonttools", "matplotlib", "jinja2")
LIBRARIES = {
    "pango": ("libpango-1.0.so.0", "libpango-1.0.dylib", "pango_version_string"),
    "harfbuzz": ("libharfbuzz.so.0", "libharfbuzz.dylib", "hb_version_string"),
}
"""What WeasyPrint draws with: its file on Linux and on macOS, and whom to ask."""


def is_rendering(path: str) -> bool:
    """Return whether a file only shows what others of the run hold."""
    return path in RENDERINGS or path.startswith(("figures/", "models/"))


def evidence(result: AuditResult, files: Mapping[str, bytes]) -> bytes:
    """Return evidence.json: the digest of every file that is no rendering.

    It says what the PDF that carries it was made from, so it can name neither the
    renderings nor itself.
    """
    kept = (
        path for path in files if not is_rendering(path) and path != "evidence.json"
    )
    return _json({"format": EVIDENCE, **_run(result), "files": _entries(files, kept)})


def manifest(
    result: AuditResult,
    files: Mapping[str, bytes],
    *,
    folder: Path,
    previous: Mapping[str, str] | None,
    exit_code: int,
    pdf_checks: "Sequence[PdfCheck]" = (),
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
    pdf_checks : sequence of PdfCheck
        What the checks of the finished PDF found.
    """
    facts = {
        "format": MANIFEST,
        **_run(result),
        "exit_code": exit_code,
        "verdict": result.verdict,
        "previous": previous,
        "files": _entries(files, files),
        "inputs": list(_inputs(result, folder)),
        "renderer": renderer(files, pdf_checks),
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
        `trail.anchors` of the audit before this sign-off.
    """
    facts = {
        "format": SIGNOFF,
        **_run(result),
        "signoff_id": signoff_id,
        "parent_sha256": parent_sha256,
        "files": _entries(files, files),
        "renderer": renderer(files),
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


def renderer(
    files: Mapping[str, bytes], pdf_checks: "Sequence[PdfCheck]" = ()
) -> dict[str, Any] | None:
    """Return what the renderings were made with, None if there are none.

    `pdf_mode` and `conformity` are empty without a PDF; `checks` are those made of it
    after it was written.
    """
    if "report.html" not in files:
        return None
    from pipeline.report.pdf import capability
    from pipeline.report.template_files import templates_sha256
    from pipeline.report.typeface import font_files

    has_pdf = "report.pdf" in files
    can = capability()
    fonts = sorted({Path(name) for name in font_files().values()})
    return {
        **{name: _version(name) for name in PACKAGES},
        **{name: _library_version(*where) for name, where in LIBRARIES.items()},
        "fonts": [{"name": f.name, "sha256": _sha256(f.read_bytes())} for f in fonts],
        "templates_sha256": templates_sha256(),
        "pdf_mode": can.mode if has_pdf else "",
        "conformity": list(can.statements) if has_pdf else [],
        "checks": [check._asdict() for check in pdf_checks],
    }


def _run(result: AuditResult) -> dict[str, str]:
    return {
        "audit": result.run.audit,
        "run_id": str(result.run.volatile["run_id"]),
        "content_digest": result_json.content_digest(result),
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
    known = dict(zip(frame.get("model", ()), frame.get("sha256", ()), strict=True))
    for entry in _config(result, "models"):
        for role in ("file", "r_script"):
            digest = known.get(entry["name"]) or entry.get("sha256")
            if entry.get(role) and digest:
                role_ = "model" if role == "file" else role
                yield _file(role_, entry[role], digest, folder)
    for entry in _config(result, "supplied"):
        yield _file("supplied", entry["file"], entry["sha256"], folder)


def _config(result: AuditResult, section: str) -> Any:
    return result.run.config.get(section, {})


def _file(role: str, name: str, digest: str, folder: Path) -> dict[str, Any]:
    """Return what is said of a file of the configuration; its size where it lies."""
    said: dict[str, Any] = {"role": role, "name": name}
    with suppress(OSError):
        said["bytes"] = (folder / name).stat().st_size
    return {**said, "sha256": digest}


def _version(package: str) -> str:
    """Return the version of a package, empty if there is none."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _library_version(linux: str, macos: str, function: str) -> str:
    """Return what a library says is its version, empty if it is not there."""
    for name in (linux, macos):
        with suppress(OSError, AttributeError):
            asked = getattr(ctypes.CDLL(name), function)
            asked.restype = ctypes.c_char_p
            return str(asked().decode())
    return ""


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _json(facts: Mapping[str, Any]) -> bytes:
    text = json.dumps(facts, indent=2, ensure_ascii=False)
    return result_json.utf8(f"{text}\n")
