"""Claims about commands that are killed, or run out of disk, at any moment.

The samples here are small; ``python -m tests.kill.steps`` takes every step.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TABLE = Path("/dev/shm") if Path("/dev/shm").is_dir() else None
UNSHARE = ("unshare", "-rm", "sh", "-c", "mount -t tmpfs none /mnt")


def looked_at(*arguments, under=(), tmpdir=None):
    """Run a module of this folder; return what it printed if it ended with 0."""
    where = {"TMPDIR": str(tmpdir)} if tmpdir else {}
    command = [*under, sys.executable, "-m", f"tests.kill.{arguments[0]}"]
    answer = subprocess.run(
        [*command, *arguments[1:]],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", **where},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout


def test_a_run_killed_between_two_changes_of_its_folder_leaves_a_whole_one_or_none():
    output = looked_at("steps", "--every", "25", "--only", "run", tmpdir=TABLE)
    assert ", 0 faults" in output


def can_mount():
    if shutil.which("unshare") is None:
        return False
    return subprocess.run(UNSHARE, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not can_mount(), reason="needs the right to mount a small disk")
def test_a_full_disk_is_said_and_leaves_everything_as_it_was():
    output = looked_at(
        "full_disk", "0", "96", "--only", "run", under=("unshare", "-rm")
    )
    assert "run ended with [2, 2] at 0, 96 KB free" in output
