"""Run the apartments again as the example report, and take the picture for the README.

.venv/bin/python scripts/example.py

The example is a whole run folder that `importance-audit verify` checks like any other;
it names no machine. Needs R with DALEX, and pdftoppm for the picture.
"""

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from importance_audit.auditing.audit import audit, exit_code
from importance_audit.config.load import load_config
from importance_audit.data.datasets import read_datasets
from importance_audit.operate.render import render_result
from importance_audit.operate.save import save_run
from importance_audit.r_bridge import host
from importance_audit.runs.summary import NO_HISTORY, history_json

AUDIT = Path(__file__).parents[1] / "reports" / "apartments"
NOWHERE = {"host": "", "pid": 0, "folder": ""}
FIRST_PAGE = "1"


def run(folder: Path) -> Path:
    """Return the run folder that a copy of the audit in `folder` made."""
    copy = folder / AUDIT.name
    shutil.copytree(AUDIT, copy, ignore=shutil.ignore_patterns("runs", "example"))
    config = load_config(copy)
    with host.session(r_seconds=config.r.seconds):
        result = audit(*read_datasets(**config.data_arguments), config)
    info = replace(result.run, volatile={**result.run.volatile, **NOWHERE})
    files = {
        "audit.toml": config.text,
        "history.json": history_json(NO_HISTORY, replace(result, run=info)),
    }
    rendering = render_result(replace(result, run=info), files)
    if rendering.pdf_fault:
        raise SystemExit(rendering.pdf_fault)
    return save_run(
        rendering.result,
        copy,
        {**files, **rendering.pages},
        exit_code=exit_code(rendering.result),
        data=rendering.data,
    )


def main() -> int:
    """Replace the example and its picture; leave both as they are if the run fails."""
    with TemporaryDirectory() as folder:
        run_folder = run(Path(folder))
        shutil.rmtree(AUDIT / "example", ignore_errors=True)
        shutil.copytree(run_folder, AUDIT / "example")
    page = ["-r", "100", "-png", "-singlefile", "-f", FIRST_PAGE]
    report, picture = AUDIT / "example" / "report.pdf", AUDIT / "report"
    return subprocess.run(["pdftoppm", *page, report, picture]).returncode


if __name__ == "__main__":
    sys.exit(main())
