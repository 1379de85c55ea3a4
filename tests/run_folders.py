"""Small run folders to verify: whole ones, with evidence and a PDF that carries it."""

import hashlib
import json
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from tests.runs.test_folder import importance, result

from importance_audit.operate.save import save_run
from importance_audit.records.as_json import content_digest
from importance_audit.report.pages.pdf import to_pdf
from importance_audit.runs.manifest import sealed

EMBEDDED = ("result.json", "environment.json", "evidence.json")
EMBEDDED_TABLES = ("importances.csv", "findings.csv")
RENDERINGS = (
    *("report.html", "report.pdf", "tables.xlsx"),
    *("summary.txt", "summary.md", "junit.xml"),
)


def small_result(name="20251120T084600Z-3f9a1c2b"):
    sets = pd.DataFrame({"split": ["test"], "name": ["a.csv"], "sha256": ["c" * 64]})
    return result(name, importances=(importance(),), datasets=sets)


def page(digest):
    """Return a page that prints a digest over two lines, as narrow columns do."""
    return (
        f'<!doctype html><html lang="en"><head><title>Report</title>'
        f'<meta name="content-digest" content="{digest}"></head>'
        f"<body><p>Content digest {digest[:30]}<br>{digest[30:]}</p></body></html>"
    )


def printed(digest, files):
    return to_pdf(
        page(digest),
        print_css="",
        created=datetime(2025, 11, 20, tzinfo=UTC),
        identifier=digest[:32].encode(),
        attachments=files,
    )


def entry(folder, path):
    data = (folder / path).read_bytes()
    sha256 = hashlib.sha256(data).hexdigest()
    return {"path": path, "bytes": len(data), "sha256": sha256, "media_type": "x/y"}


def below(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path.relative_to(folder).as_posix() for path in files)


def seal(folder):
    """Write the manifest of a folder anew over what lies in it."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_bytes())
    listed = [name for name in below(folder) if name != "manifest.json"]
    manifest["files"] = [entry(folder, name) for name in listed]
    return stated(folder, **manifest)


def stated(folder, **facts):
    """Write the manifest of a folder anew with other facts, under a whole seal."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_bytes())
    manifest.pop("seal", None)
    facts.pop("seal", None)
    path.write_bytes(sealed(manifest | facts))
    return folder


def write_evidence(folder):
    manifest = json.loads((folder / "manifest.json").read_bytes())
    identity = {key: manifest[key] for key in ("audit", "run_id", "content_digest")}
    hidden = {*RENDERINGS, "manifest.json", "evidence.json"}
    files = [entry(folder, path) for path in below(folder) if path not in hidden]
    facts = {"format": "importance-audit-evidence/1", "pdf_seal": "sha256"}
    evidence = {**facts, **identity, "files": files}
    (folder / "evidence.json").write_text(json.dumps(evidence), encoding="utf8")


def run_folder(audit, written):
    """Return a whole folder of a run below the folder of its audit."""
    digest = content_digest(written)
    files = {"audit.toml": "seed = 1\n", "report.html": page(digest)}
    folder = save_run(written, audit, files, exit_code=0)
    write_evidence(folder)
    tables = folder / "tables"
    carried = {name: (folder / name).read_bytes() for name in EMBEDDED}
    carried |= {name: (tables / name).read_bytes() for name in EMBEDDED_TABLES}
    (folder / "report.pdf").write_bytes(printed(digest, carried))
    return seal(folder)


@cache
def two_runs():
    """Return the files of an audit with two runs, by their paths below its folder."""
    with TemporaryDirectory() as place:
        for name in ("20251120T084600Z-3f9a1c2b", "20251121T084600Z-3f9a1c2b"):
            run_folder(Path(place), small_result(name))
        return {path: (Path(place) / path).read_bytes() for path in below(Path(place))}


def write_two_runs(audit):
    """Write an audit with two runs; return the folders of both."""
    for path, data in two_runs().items():
        (audit / path).parent.mkdir(parents=True, exist_ok=True)
        (audit / path).write_bytes(data)
    return sorted((audit / "runs").iterdir())
