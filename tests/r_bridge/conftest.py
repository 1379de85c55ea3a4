"""One R with the functions of functions.R for the tests of a module."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from importance_audit.r_bridge import host

FUNCTIONS = Path(__file__).with_name("functions.R")
ROOT = Path(__file__).parents[2]


def obey_ctrl_c():
    """Let a child hear Ctrl-C, even where the suite runs in a deaf background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture(scope="module")
def r():
    """The worker of a session that also knows functions.R."""
    with host.session(r_seconds=30, extra_r_files=[FUNCTIONS]) as worker:
        yield worker


@pytest.fixture
def python():
    """Start Python programmes that open a session with functions.R as `r`."""
    started = []

    def start(code, **environment):
        head = (
            "from importance_audit.r_bridge import host\n"
            f"with host.session(extra_r_files=[{str(FUNCTIONS)!r}]) as r:\n"
        )
        body = "".join(f"    {line}\n" for line in code.strip().splitlines())
        process = subprocess.Popen(
            [sys.executable, "-c", head + body],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
            preexec_fn=obey_ctrl_c,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def fifo(tmp_path):
    """A pipe by which R says that it has come somewhere."""
    path = tmp_path / "fifo"
    os.mkfifo(path)
    return path
