"""The command that installs a package is of the Python that runs."""

import shlex
import subprocess
import sys
from importlib.util import find_spec

import pytest

from importance_audit.records import errors
from importance_audit.records.errors import pip_install


@pytest.mark.skipif(find_spec("pip") is None, reason="pip is not installed")
def test_the_command_installs_for_the_python_that_runs():
    command = [*shlex.split(pip_install("numpy>=1")), "--dry-run", "--no-index"]
    assert command[0] == sys.executable
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "already satisfied: numpy>=1" in done.stdout


def test_without_a_pip_of_its_own_another_python_has_one(monkeypatch):
    monkeypatch.setattr(errors, "find_spec", lambda _: None)
    monkeypatch.setattr("sys.executable", "/my tools/python")
    assert pip_install("pyarrow") == (
        "python3 -m pip --python '/my tools/python' install pyarrow"
    )
