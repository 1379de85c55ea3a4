"""A small audit whose first run was signed twice, and a run after it."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.run_folders import below, page

from importance_audit.operate.save import save_run
from importance_audit.operate.sign import SignoffRequest, sign
from importance_audit.records.as_json import content_digest
from importance_audit.runs.folder import load_run

BUNDLE = Path(__file__).parent / "bundles" / "2.0" / "runs"
FIRST, SECOND = "20261120T084600Z-3f9a1c2b", "20261121T084600Z-3f9a1c2b"
REVIEW = SignoffRequest(
    name="A. Nowak",
    role="reviewer",
    relation="none",
    meaning="review",
    statement="Read.",
)
APPROVAL = REVIEW._replace(
    name="Zofia Zając", role="approver", meaning="approval", statement="Accepted."
)


def stored_result(name, status="complete", profile="executive", findings=()):
    """Return a result as a run wrote it; its short report takes little time."""
    (folder,) = BUNDLE.iterdir()
    result = load_run(folder)
    config = {**result.run.config}
    config["report"] = {**config["report"], "profile": profile}
    volatile = {**result.run.volatile, "run_id": name}
    run = replace(result.run, status=status, config=config, volatile=volatile)
    return replace(result, run=run).with_findings(findings)


def save(audit, name, **changes):
    """Save a run of an audit and return its folder."""
    result = stored_result(name, **changes)
    files = {"audit.toml": "seed = 1\n", "report.html": page(content_digest(result))}
    return save_run(result, audit, files, exit_code=0)


@cache
def signed_audit():
    """Return the files of the audit, by their paths below its folder."""
    with TemporaryDirectory() as place:
        audit = Path(place)
        run = save(audit, FIRST)
        sign(run, REVIEW)
        sign(run, APPROVAL)
        save(audit, SECOND)
        return {path: (audit / path).read_bytes() for path in below(audit)}


def write(audit, files=None):
    """Write the audit into a folder; return the folders of its runs."""
    for path, data in (files or signed_audit()).items():
        (audit / path).parent.mkdir(parents=True, exist_ok=True)
        (audit / path).write_bytes(data)
    return sorted((audit / "runs").iterdir())
