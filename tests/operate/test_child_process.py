"""Programmes of their own: followed to their end, whenever we come to look."""

import subprocess
import time

from importance_audit.operate.child_process import run_child

PATIENCE = 60.0


def run_script(script, seconds=PATIENCE, echo=lambda _: None, **options):
    """Return the code of a shell script, its output, and whether it ended by itself."""
    return run_child(["/bin/sh", "-c", script], seconds, echo, **options)[1:]


class SeenLate(subprocess.Popen):
    """Is looked at only after it has spoken and ended, as on a busy machine."""

    def poll(self):
        self.wait()
        return super().poll()


def test_a_process_that_ended_in_time_did_so_however_late_that_is_seen(monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", SeenLate)
    assert run_script("echo the cause; exit 3", -1) == (3, b"the cause\n", True)


def test_what_a_process_leaves_behind_does_not_keep_its_end_from_being_seen():
    start = time.monotonic()
    assert run_script("sleep 60 & echo sent; exit 3") == (3, b"sent\n", True)
    assert time.monotonic() - start < PATIENCE / 2


def test_a_process_that_is_to_stop_may_save_and_then_is_killed():
    saves, said = "trap 'echo saved; exit 3' TERM; echo ready; while :; do :; done", []
    asked = {"echo": said.append, "signals": said}
    assert run_script(saves, grace=PATIENCE, **asked) == (3, b"ready\nsaved\n", True)
    said.clear()
    deaf = "trap '' TERM; echo ready; exec sleep 600"
    assert run_script(deaf, grace=0.2, **asked) == (-9, b"ready\n", False)
