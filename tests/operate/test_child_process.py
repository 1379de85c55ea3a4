"""Programmes of their own: followed to their end, whenever we come to look."""

import subprocess

from importance_audit.operate.child_process import follow

PATIENCE = 60.0


def start_script(script, kind=subprocess.Popen):
    """Begin a shell script as those are begun that are followed."""
    return kind(
        ["/bin/sh", "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


class LooksLate(subprocess.Popen):
    """Is looked at only after it has spoken and ended, as on a busy machine."""

    def poll(self):
        if self.stdin and not self.stdin.closed:
            self.stdin.close()
            self.wait()
        return super().poll()


def test_what_a_process_says_just_before_its_end_is_heard():
    child = start_script("read line; echo the cause; exit 3", LooksLate)
    assert follow(child, PATIENCE, lambda _: None) == (b"the cause\n", True)
    assert child.returncode == 3


def test_a_process_that_ended_in_time_did_so_however_late_that_is_seen():
    child = start_script("echo sent; exit 3")
    child.wait()
    assert follow(child, -1, lambda _: None) == (b"sent\n", True)
    assert child.returncode == 3


def test_a_process_that_is_to_stop_may_save_and_then_is_killed():
    saves = "trap 'echo saved; exit 3' TERM; echo ready; while :; do sleep 0.1; done"
    child, said = start_script(saves), []
    after = follow(
        child, PATIENCE, said.append, is_stopped=lambda: bool(said), grace=PATIENCE
    )
    assert after == (b"ready\nsaved\n", True)
    deaf, said = start_script("trap '' TERM; echo ready; exec sleep 600"), []
    after = follow(
        deaf, PATIENCE, said.append, is_stopped=lambda: bool(said), grace=0.2
    )
    assert after == (b"ready\n", False)
