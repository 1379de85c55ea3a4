"""Programmes of their own: followed to their end, whenever we come to look."""

import subprocess
import time

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


def soon():
    until = time.monotonic() + PATIENCE
    return lambda: until


class LooksLate(subprocess.Popen):
    """Is looked at only after it has spoken and ended, as on a busy machine."""

    def poll(self):
        if self.stdin and not self.stdin.closed:
            self.stdin.close()
            self.wait()
        return super().poll()


def test_what_a_process_says_just_before_its_end_is_heard():
    child = start_script("read line; echo the cause; exit 3", LooksLate)
    assert follow(child, soon(), lambda _: None) == (b"the cause\n", True)
    assert child.returncode == 3


def test_a_process_that_ended_in_time_did_so_however_late_that_is_seen():
    child = start_script("echo sent; exit 3")

    def over():
        child.wait()
        return time.monotonic() - 1

    assert follow(child, over, lambda _: None) == (b"sent\n", True)
    assert child.returncode == 3


def test_a_child_left_behind_that_never_stops_talking_is_not_waited_for():
    child, chunks = start_script("yes & exit 3"), []
    _, is_own = follow(child, soon(), chunks.append)
    assert (is_own, child.returncode) == (True, 3)
