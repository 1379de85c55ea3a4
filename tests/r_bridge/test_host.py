"""The session: one R for all that happens inside, and none outside."""

import os
import signal
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.cases import for_each
from tests.r_bridge.conftest import FUNCTIONS

from importance_audit.r_bridge import host
from importance_audit.r_bridge.errors import RBridgeError, RDied, RUnavailable


def test_a_predict_needs_to_know_its_frame():
    with host.session() as worker, pytest.raises(ValueError, match="must be given"):
        worker.call("ask", {}, predict=len)


def test_r_is_asked_inside_a_session_only_however_it_ends():
    with host.session() as outer:
        with host.session() as inner:
            assert inner is outer
        assert host.current() is outer
        assert outer.pid is None  # nothing starts until it is asked
    with pytest.raises(ZeroDivisionError), host.session():
        1 / 0  # noqa: B018
    with pytest.raises(RBridgeError) as refusal:
        host.current()
    assert str(refusal.value) == (
        "No session of R is open. Ask inside r_bridge.host.session()."
    )
    with pytest.raises(RBridgeError, match=r"^The session of R has ended\."):
        outer.call("read_data_set", {"package": "datasets", "name": "cars"})
    assert outer.pid is None


@pytest.mark.needs_r
def test_a_file_that_is_no_r_makes_r_unavailable(tmp_path):
    broken = tmp_path / "broken.R"
    broken.write_text("f <- function( {")
    with (
        host.session(extra_r_files=[broken]) as worker,
        pytest.raises(RUnavailable, match=r"unexpected '\{'"),
    ):
        worker.call("read_data_set", {})


@pytest.mark.needs_r
def test_a_worker_that_is_closed_while_r_is_busy_ends_r():
    busy, ended = threading.Event(), []
    frame = pd.DataFrame({"x": [1.0]})

    def predict(X):
        busy.set()
        return X["x"].to_numpy()

    def ask():
        arguments = {"data": frame, "times": 10**9}
        with pytest.raises(RDied) as death:
            worker.call("ask_often", arguments, predict=predict, schema_of=frame)
        ended.append(str(death.value))

    worker = host.Worker(r_seconds=30, files=[FUNCTIONS])
    asking = threading.Thread(target=ask)
    asking.start()
    assert busy.wait(120)
    pid = worker.pid
    worker.close()
    asking.join(60)
    assert len(ended) == 1
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.needs_r
@for_each([False, True])
def test_a_death_that_no_call_saw_is_counted(of_models):
    with host.session() as worker:
        asked = worker.models if of_models else worker
        cars = {"package": "datasets", "name": "cars"}
        asked.call("read_data_set", cars)
        os.kill(asked.pid, signal.SIGKILL)
        os.waitid(os.P_PID, asked.pid, os.WEXITED | os.WNOWAIT)
        assert len(asked.call("read_data_set", cars)["table"]) == 50
        assert (asked.restarts, worker.unseen_deaths) == (1, 1)


LACKS = {
    "[Errno 24]": """
import os, resource
n = len(os.listdir("/proc/self/fd"))
resource.setrlimit(resource.RLIMIT_NOFILE, (n, n))
""",
    "[Errno 2]": """
import tempfile
tempfile.tempdir = "/proc/self"
""",
}


ASK = """
try:
    r.call("echo", {"x": 1.0})
except Exception as error:
    print(type(error).__name__, error)
print(host.installed()["reason"])
"""


@pytest.mark.needs_r
@for_each(LACKS)
def test_without_descriptors_or_a_folder_there_is_no_r_and_a_reason(number, python):
    output, _ = python(LACKS[number].strip() + ASK).communicate(timeout=120)
    call_line, probed = output.splitlines()
    words = f"R did not start: {number}"
    assert call_line.startswith(f"RUnavailable {words}")
    assert probed.startswith(words)


@pytest.mark.needs_r
def test_threads_wait_for_each_other(r):
    echoes = {}

    def ask(n):
        for _ in range(20):
            echoes.setdefault(n, []).append(r.call("echo", {"x": n})[0])

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert echoes == {n: [n] * 20 for n in range(4)}


@pytest.mark.needs_r
def test_r_outlives_the_thread_that_started_it_and_rpy2_stays_outside(python):
    process = python(
        """
import sys, threading
thread = threading.Thread(target=r.call, args=("echo", {"x": 1}))
thread.start()
thread.join()
print(r.call("echo", {"x": 2}), r.restarts, 'rpy2' in sys.modules)
"""
    )
    assert process.communicate(timeout=120) == ("[2] 0 False\n", "")


@pytest.mark.needs_r
def test_a_fork_may_open_a_session_of_its_own_but_not_use_that_of_its_parent(python):
    process = python(
        """
import os
r.call("echo", {"x": 1})
child = os.fork()
if child == 0:
    try:
        r.call("echo", {"x": 2})
    except Exception as error:
        print(error, flush=True)
    with host.session() as own:
        frame = own.call("read_data_set", {"package": "datasets", "name": "cars"})
        print(frame["table"].shape, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(r.call("echo", {"x": 3}), r.restarts)
"""
    )
    output, errors = process.communicate(timeout=120)
    assert errors == ""
    assert output.splitlines() == [
        "A fork of the process that opened the session asked R. Open a session there.",
        "(50, 2)",
        "[3] 0",
    ]


def test_the_projects_library_is_the_one_that_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("IMPORTANCE_AUDIT_R_LIBRARY", str(tmp_path))
    assert host.library_folder() == tmp_path
    monkeypatch.chdir(tmp_path.parent)  # R is started elsewhere
    monkeypatch.setenv("IMPORTANCE_AUDIT_R_LIBRARY", tmp_path.name)
    assert host.library_folder() == tmp_path
    monkeypatch.setenv("IMPORTANCE_AUDIT_R_LIBRARY", str(tmp_path / "absent"))
    assert host.library_folder() is None


@pytest.mark.needs_r
def test_large_frames_cross_whole(r):
    numbers = np.arange(5_000_000.0).reshape(-1, 2)  # columns that R allocates
    frame = pd.DataFrame(numbers, columns=["a", "b"])
    answer = r.call(
        "ask", {"data": frame}, predict=lambda X: X["b"] - X["a"], schema_of=frame
    )
    assert (answer == 1).all()
    assert len(answer) == 2_500_000
