"""Compiled loops: kept where that is possible, and not there without numba."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from importance_audit.methods.trees import compiled

PROGRAM = """
import logging
logging.basicConfig(format="%(message)s")
from importance_audit.methods.trees import compiled
reporting = compiled.reporting_compilation(lambda words: print("says:", words))
reporting.__enter__()
from importance_audit.methods.trees.ensemble import _preorder
import numpy as np
left, right = np.array([[1, -1, -1], [2, -1, -1]], np.int32)
order, _, depth = _preorder(left, right)
print(order.tolist(), depth)
from importance_audit.methods.trees.packing import goes_left
print(goes_left(np.array([[0, 3, 1, 2]], np.int32), None, 0, 3))
"""


def run(**variables):
    """Return what a new process prints that compiles two loops, and its complaints."""
    kept = {k: v for k, v in os.environ.items() if k != compiled.SETTING}
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=kept | variables
    )
    return done.stdout.splitlines(), done.stderr.splitlines()


@pytest.mark.needs_numba
def test_what_was_compiled_is_kept_in_the_cache_of_the_user(tmp_path):
    (says, *answers), complaints = run(XDG_CACHE_HOME=str(tmp_path))
    assert answers == ["[0, 1, 2] 1", "True"]
    assert complaints == []
    (folder,) = (tmp_path / "importance-audit").iterdir()
    assert {path.suffix for path in folder.rglob("*.nb?")} == {".nbi", ".nbc"}
    words = "compiling loops over trees once, about a minute"
    assert says == f"says: {words}; kept in {folder}"
    assert run(XDG_CACHE_HOME=str(tmp_path)) == (answers, [])


@pytest.mark.needs_numba
def test_a_folder_of_ones_own_is_used(tmp_path):
    run(NUMBA_CACHE_DIR=str(tmp_path / "mine"))
    (folder,) = (tmp_path / "mine").iterdir()  # by the sources: numba looks at few
    assert folder.name.startswith("compiled-")
    assert list(folder.rglob("*.nbi"))


@pytest.mark.needs_numba
def test_a_cache_that_cannot_be_written_is_said_once(tmp_path):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    (says, *answers), complaints = run(NUMBA_CACHE_DIR=str(in_the_way / "cache"))
    assert says.endswith("about a minute; they cannot be kept")
    assert answers == ["[0, 1, 2] 1", "True"]
    (complaint,) = complaints
    reason = f"[Errno 20] Not a directory: '{in_the_way / 'cache'}"
    assert complaint.startswith(
        "What numba compiles cannot be kept, so every process compiles it again: "
        f"{reason}"
    )
    assert complaint.endswith(
        ". Set NUMBA_CACHE_DIR to a folder that can be written to."
    )


def test_other_sources_have_another_cache(monkeypatch, tmp_path):
    monkeypatch.delenv(compiled.SETTING, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    source = tmp_path / "compiled.py"
    source.write_text("1")
    own = compiled.cache_folder()
    monkeypatch.setattr(compiled, "__file__", str(source))
    first = compiled.cache_folder()
    source.write_text("2")
    assert len({own, first, compiled.cache_folder()}) == 3
    assert own.parent == Path(tmp_path, "importance-audit")


def test_without_numba_nothing_is_available(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    compiled.available.cache_clear()
    assert not compiled.available()
    compiled.available.cache_clear()
