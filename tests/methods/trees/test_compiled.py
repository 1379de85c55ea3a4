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


def run(program=PROGRAM, **variables):
    """Return what a new process prints, and its complaints."""
    kept = {k: v for k, v in os.environ.items() if k != compiled.SETTING}
    command = [sys.executable, "-W", "ignore", "-c", program]
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


OF_ANOTHER_VERSION = "import numba; numba.__version__ = '0.1'\n" + PROGRAM


@pytest.mark.needs_numba
def test_what_another_processor_or_numba_compiled_is_compiled_again(tmp_path):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    of_another_processor = run(**cache, NUMBA_CPU_NAME="generic")
    for (says, *answers), complaints in (
        of_another_processor,
        run(OF_ANOTHER_VERSION, **cache),
        run(**cache),
    ):
        assert says.startswith("says: compiling loops over trees once")
        assert answers == ["[0, 1, 2] 1", "True"]
        assert complaints == []
    folders = {path.parent for path in tmp_path.rglob("*.nbi")}
    assert folders
    assert all("compiled-" in str(folder) for folder in folders)  # by the sources


NO_ROOM = "import resource as r; r.setrlimit(r.RLIMIT_FSIZE, (9, 9))\n" + PROGRAM


@pytest.mark.needs_numba
@pytest.mark.parametrize(
    ("program", "folder", "reason"),
    [
        (PROGRAM, "file/cache", "[Errno 20] Not a directory: '"),
        (NO_ROOM, "cache", "[Errno 27] File too large"),
    ],
    ids=["no folder", "no room"],
)
def test_a_cache_that_cannot_be_written_is_said_once(tmp_path, program, folder, reason):
    (tmp_path / "file").write_text("")
    (says, *answers), complaints = run(program, NUMBA_CACHE_DIR=str(tmp_path / folder))
    assert says.endswith("about a minute; they cannot be kept")
    assert answers == ["[0, 1, 2] 1", "True"]
    (complaint,) = complaints
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


AUDIT_WITHOUT_NUMBA = """
import sys
sys.modules["numba"] = None
from tests.methods.trees.small_ensembles import model_of, rows_of
from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.methods.trees import routes
routes.WORTH = 0
data = rows_of()
config = parse_config({"importance": [{"method": "permutation"}], "seed": 5})
result = audit(None, data, config, models=(model_of("RandomForest", data),))
print([row["basis"] for row in result.run.volatile["answered_by"]])
print([finding.check for finding in result.findings if finding.severity != "info"])
"""


def test_without_numba_an_audit_runs_by_predict_and_says_so_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # what lies beside an audit counts as its code
    root = str(Path(__file__).parents[3])
    said, complaints = run(AUDIT_WITHOUT_NUMBA, PYTHONPATH=root)
    assert said == ["['no_numba']", "[]"]
    assert complaints == []
