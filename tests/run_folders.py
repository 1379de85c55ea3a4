"""Small run folders to verify, with a PDF that carries what it is made of."""

from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from tests.runs.test_folder import importance, result

from importance_audit.operate.save import save_run
from importance_audit.records.as_json import content_digest
from importance_audit.report.pages.pdf import to_pdf
from importance_audit.runs.audit_log import LOG, parse, to_line
from importance_audit.runs.digests import LIST, read_list, sha256, write_list
from importance_audit.runs.files import attachments, data_files


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


def below(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path.relative_to(folder).as_posix() for path in files)


def relist(run):
    """Write the list of a run anew over what lies in it; return the SHA-256 of that."""
    paths = [path for path in below(run) if path != LIST]
    data = write_list({path: sha256((run / path).read_bytes()) for path in paths})
    (run / LIST).write_bytes(data)
    return sha256(data)


def rewrite_log(audit, change, start=1):
    """Write the lines of a log anew, tied to each other from line `start` on.

    `change` gets each entry as a dict and returns it, or another, or None for no line.
    """
    entries = parse((audit / LOG).read_bytes()).entries
    lines = []
    for entry in entries:
        changed = change(dict(entry))
        if changed is None:
            continue
        if entry["n"] >= start:
            changed["n"] = len(lines) + 1
            changed["previous"] = sha256(lines[-1]) if lines else ""
        lines.append(to_line(changed))
    (audit / LOG).write_bytes(b"".join(lines))


def make_agree(run):
    """Write the list of a run anew, and its line with all that follow."""
    digest, audit = relist(run), run.parents[1]
    listed = read_list((run / LIST).read_bytes())
    size = sum((run / path).stat().st_size for path in listed)

    def change(entry):
        if entry.get("run") == run.name:
            entry["list"] = digest
            entry |= {"bytes": size} if entry["kind"] == "run" else {}
        return entry

    rewrite_log(audit, change)
    return run


def run_folder(audit, written):
    """Return a whole folder of a run below the folder of its audit."""
    digest = content_digest(written)
    files = {"audit.toml": "seed = 1\n", "report.html": page(digest)}
    data = data_files(written, files)
    files["report.pdf"] = printed(digest, attachments(data))
    audit.mkdir(parents=True, exist_ok=True)
    return save_run(written, audit, files, exit_code=0, data=data)


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
