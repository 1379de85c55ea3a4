"""Run the apartments again as the example report, and take the picture for the README.

.venv/bin/python scripts/example.py

The example is a whole run folder, so `importance-audit verify` checks it like any
other. Needs R with DALEX, and pdftoppm for the picture.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

AUDIT = Path(__file__).parents[1] / "reports" / "apartments"
FIRST_PAGE = "2"  # behind the cover


def main() -> int:
    """Replace the example and its picture; leave both as they are if the run fails."""
    with TemporaryDirectory() as folder:
        copy = Path(folder) / AUDIT.name
        shutil.copytree(AUDIT, copy, ignore=shutil.ignore_patterns("runs", "example"))
        done = subprocess.run([sys.executable, "-m", "pipeline", "run", copy])
        runs = sorted(copy.glob("runs/[!.]*"))
        if done.returncode or not runs:
            return done.returncode or 1
        shutil.rmtree(AUDIT / "example", ignore_errors=True)
        shutil.copytree(runs[-1], AUDIT / "example")
    page = ["-r", "100", "-png", "-singlefile", "-f", FIRST_PAGE]
    report, picture = AUDIT / "example" / "report.pdf", AUDIT / "report"
    return subprocess.run(["pdftoppm", *page, report, picture]).returncode


if __name__ == "__main__":
    sys.exit(main())
