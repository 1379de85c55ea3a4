"""What every command does alike: how it is stopped, and what it prints of a fault."""

import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios

import pytest
from tests.cli.test_cli import configured, invoke

from importance_audit.cli import shared

STOPPED = """
import os, signal, sys, time
from importance_audit.cli.shared import faults, terminable
from importance_audit.cli.streams import outlets
with outlets(), faults(), terminable():
    {do}
    time.sleep(0.2)
print("went on")
"""
HANG_UP = "os.kill(os.getpid(), signal.SIGHUP)"


def ended(do, **facts):
    """Return exit code and words of a command that does something to itself."""
    words = [sys.executable, "-c", STOPPED.format(do=do)]
    answer = subprocess.run(words, capture_output=True, text=True, **facts)
    return answer.returncode, answer.stdout + answer.stderr


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_scheduler_and_a_closed_terminal_interrupt_a_command(name):
    def hear():  # a suite that was begun with nohup passes on that it ignores one
        signal.signal(getattr(signal, name), signal.SIG_DFL)

    do = f"os.kill(os.getpid(), signal.{name})"
    assert ended(do, preexec_fn=hear) == (130, f"Interrupted by {name}.\n")


def test_a_command_begun_with_nohup_outlives_its_terminal():
    def deaf():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    assert ended(HANG_UP, preexec_fn=deaf) == (0, "went on\n")


@pytest.mark.skipif(sys.platform != "linux", reason="what a closed terminal does")
def test_a_command_whose_terminal_was_closed_ends_as_one_that_was_stopped():
    def owned():
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    terminal, end = pty.openpty()
    do = "print('ready', flush=True); time.sleep(20)"
    command = subprocess.Popen(
        [sys.executable, "-c", STOPPED.format(do=do)],
        **dict.fromkeys(("stdin", "stdout", "stderr"), end),
        start_new_session=True,
        preexec_fn=owned,
    )
    os.close(end)
    while b"ready" not in os.read(terminal, 100):
        pass
    os.close(terminal)
    assert command.wait() == 130


def test_a_fault_that_quotes_what_others_wrote_moves_nothing_on_the_terminal(tmp_path):
    answer = invoke("render", tmp_path / "x\x1b[2J")
    assert answer.exit_code == 2
    assert rf"{tmp_path}/x\x1b[2J/result.json cannot be read: " in answer.stderr


def test_of_a_log_only_what_begins_a_line_has_a_time(tmp_path):
    configured(tmp_path, more="[x]\n[y]\n")
    answer = invoke("run", tmp_path, "--unattended", "-q")
    *_, first, second, last = answer.stderr.splitlines()
    time = len("2026-11-22T08:00:00+00:00 ")
    assert first[time:].endswith("has no key 'x'.")
    assert second[:time] == " " * time
    assert second[time:].endswith("has no key 'y'.")
    assert last[time:] == "Ended with exit code 2, no run."


def test_a_second_ctrl_c_ends_at_once_whatever_is_saved():
    do = (
        "from importance_audit.records.interrupt import acknowledge\n"
        "    try: os.kill(os.getpid(), signal.SIGINT)\n"
        "    except KeyboardInterrupt: acknowledge()\n"
        "    try: os.kill(os.getpid(), signal.SIGINT)\n"
        "    finally: print('saved after all', flush=True)"
    )

    def hear():
        signal.signal(signal.SIGINT, signal.default_int_handler)

    words = "Interrupted again: ended at once, what was unsaved is lost.\n"
    assert ended(do, preexec_fn=hear) == (130, words)


def test_no_line_of_progress_grows_with_a_name(capsys):
    tell = shared.progress(quiet=False)
    tell(1, 6, "permutation of features, " + "x" * 100_000)
    line = capsys.readouterr().err
    assert line.startswith("[1/6] permutation of features, xxx")
    assert len(line) < 2100


def test_a_step_of_a_second_or_longer_is_followed_by_how_long_it_took(
    capsys, monkeypatch
):
    clock = iter([0.0, *(t for at in (1, 2.5, 2.6, 9.6) for t in (at, at))])
    monkeypatch.setattr(shared.time, "monotonic", lambda: next(clock))
    tell = shared.progress(quiet=False)
    tell(0, 0, "fitting forest")
    tell(0, 2, "permutation")
    tell(1, 2, "agreement")
    tell(1, 2, "agreement: pair 7")
    tell(2, 2, "done")
    assert capsys.readouterr().err.splitlines() == [
        "fitting forest",
        "fitting forest: 1.5 s",
        "[0/2] permutation",
        "[1/2] agreement",
        "[1/2] agreement: pair 7",
        "agreement: 7.0 s",
        "[2/2] done",
    ]
