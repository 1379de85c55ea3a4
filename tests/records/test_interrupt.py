"""The request that a command stops arrives, whatever Python was doing when it came."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from tests.auditing.test_stopping import journal_of

from importance_audit.cli.shared import terminable
from importance_audit.records import interrupt
from importance_audit.records.errors import OutOfTime

ROOT = Path(__file__).parents[2]


def lose_request():
    """Request a stop where nobody acknowledges it, as in a finaliser."""
    with suppress(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)


def lost_in_a_fault():
    lose_request()
    raise ImportError("numpy.core.multiarray failed to import")


def lost_on_the_way():
    lose_request()
    time.sleep(30)


def fault_of_the_saving():
    try:
        signal.raise_signal(signal.SIGTERM)
    except KeyboardInterrupt:
        interrupt.acknowledge()
        raise OSError("No space left on device") from None


def test_a_request_that_was_lost_is_made_again(monkeypatch):
    monkeypatch.setattr(interrupt, "AGAIN_SECONDS", 0.05)
    with pytest.raises(KeyboardInterrupt, match=r"^SIGTERM$"), terminable():
        lost_on_the_way()


def test_a_request_that_was_acknowledged_is_not_made_again(monkeypatch):
    monkeypatch.setattr(interrupt, "AGAIN_SECONDS", 0.05)
    with terminable():
        lose_request()
        interrupt.acknowledge()
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGALRM)
        time.sleep(0.2)
        assert interrupt.pending() is None


def test_a_fault_that_a_library_makes_of_a_request_is_the_request():
    with pytest.raises(KeyboardInterrupt, match=r"^SIGTERM$"), terminable():
        lost_in_a_fault()
    with terminable():
        assert journal_of(lost_in_a_fault).status == "interrupted"


def test_after_a_request_that_was_acknowledged_a_fault_is_a_fault():
    with pytest.raises(OSError, match=r"^No space left"), terminable():
        fault_of_the_saving()


def test_a_request_that_meets_an_exec_of_text_ends_with_its_exit_code(tmp_path):
    (tmp_path / "asked.py").write_text(
        "from importance_audit.cli.shared import faults, terminable\n"
        "with faults(), terminable():\n"
        "    exec('raise KeyboardInterrupt')"
    )
    command = [sys.executable, "-m", "asked"]
    where = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)])}
    assert subprocess.run(command, env=where, check=False).returncode == 130


def test_what_is_under_way_when_time_is_over_is_interrupted_once():
    with terminable():
        with pytest.raises(OutOfTime), interrupt.overdue_after(0):
            time.sleep(30)
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
        assert interrupt.pending() is None


def test_a_request_to_stop_comes_before_the_end_of_time(monkeypatch):
    monkeypatch.setattr(interrupt, "AGAIN_SECONDS", 0.05)
    stops = pytest.raises(KeyboardInterrupt, match=r"^SIGTERM$")
    with stops, terminable(), interrupt.overdue_after(600):
        lost_on_the_way()


def test_where_no_command_hears_it_no_alarm_is_set():
    with interrupt.overdue_after(600):
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
