"""The lock of an audit: one process at a time, free as soon as that has ended."""

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress

import pytest

from importance_audit.records.errors import AuditError, LockedError
from importance_audit.runs.locks import locked

HOLD = """
import os, subprocess, sys, time
from pathlib import Path
if sys.argv[2] == "late fork":
    os.register_at_fork(after_in_child=lambda: time.sleep(1.0))
from importance_audit.runs.locks import locked
with locked(Path(sys.argv[1])):
    if sys.argv[2] == "program":
        subprocess.Popen(["sleep", "30"], stdin=subprocess.DEVNULL)
    if sys.argv[2].endswith("fork") and not os.fork():
        sys.stdin.read()
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def holder(folder, child=""):
    """Hold the lock of `folder` in another process, which may have a child."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder), child],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        assert process.stdout.readline() == b"held\n"
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def test_a_lock_held_elsewhere_is_refused_with_process_host_and_time(tmp_path):
    with (
        holder(tmp_path) as process,
        pytest.raises(LockedError) as refused,
        locked(tmp_path),
    ):
        pass
    assert re.fullmatch(
        rf"Audit '{re.escape(str(tmp_path))}' is in use: process {process.pid} on '"
        rf"{re.escape(os.uname().nodename)}' has been using it since \d{{"
        r"4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00\. Wait until it has ended, or stop it\.",
        str(refused.value),
    )


@pytest.mark.parametrize("child", ["", "program", "fork", "late fork"])
def test_a_killed_process_frees_its_lock_though_its_child_lives(tmp_path, child):
    with holder(tmp_path, child) as process:
        process.kill()
        process.wait()
        with locked(tmp_path):
            lock = json.loads((tmp_path / ".lock").read_bytes())
    assert lock["pid"] == os.getpid()


def test_the_same_process_does_not_take_a_lock_twice(tmp_path):
    with locked(tmp_path), pytest.raises(LockedError), locked(tmp_path):
        pass
    with locked(tmp_path):
        pass


def test_a_holder_that_said_nothing_is_another_process(tmp_path):
    with holder(tmp_path):
        (tmp_path / ".lock").write_text("")
        words = "is in use: another process is using it"
        with pytest.raises(LockedError, match=words), locked(tmp_path):
            pass


def test_a_folder_that_takes_no_file_is_named(tmp_path):
    (tmp_path / ".lock").mkdir()
    with pytest.raises(AuditError) as refused, locked(tmp_path):
        pass
    assert str(refused.value) == (
        f"Folder {str(tmp_path)!r} cannot take '.lock', which prevents concurrent "
        "runs: Is a directory. Nothing was written."
    )
