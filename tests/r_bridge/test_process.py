"""The life of an R process: what it is started with, and what it leaves behind."""

import os
import select
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.cases import for_each

from importance_audit.r_bridge import process
from importance_audit.r_bridge.process import environment


def folders_of(pid):
    places = (Path("/dev/shm"), Path(tempfile.gettempdir()))
    return [
        path for place in places for path in place.glob(f"importance-audit-r-*-{pid}-*")
    ]


def has_gone(pidfd):
    return select.select([pidfd], [], [], 60)[0] == [pidfd]


@pytest.mark.needs_r
def test_r_and_what_it_wrote_go_when_its_parent_is_killed(python, fifo):
    started = python(
        f"""
r.call("echo", {{"x": list(range(100000))}})
print(r.pid, flush=True)
r.call("say_and", {{"fifo": {str(fifo)!r}, "what": "loop"}})
"""
    )
    pidfd = os.pidfd_open(int(started.stdout.readline()))
    assert fifo.read_text() == "here\n"
    assert len(folders_of(started.pid)) == 2
    started.kill()
    assert has_gone(pidfd)
    os.close(pidfd)
    assert folders_of(started.pid) == []


@pytest.mark.needs_r
def test_a_session_leaves_nothing_behind_and_what_r_started_goes_with_it(python):
    started = python(
        """
r.call("echo", {"x": list(range(100000))})
print(r.call("start_sleeper", {})[0], flush=True)
print(r.pid, flush=True)
input()
"""
    )
    pidfd = os.pidfd_open(int(started.stdout.readline()))
    pid = int(started.stdout.readline())
    assert started.communicate("\n", timeout=120) == ("", "")
    assert has_gone(pidfd)
    os.close(pidfd)
    assert not Path(f"/proc/{pid}").exists()
    assert folders_of(started.pid) == []


def test_folders_of_the_dead_are_swept_and_those_of_the_living_are_not(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    start = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    space = os.stat("/proc/self/ns/pid").st_ino
    swept = [f"{space}-{dead.pid}-1-a", f"{space}-{os.getpid()}-1-b"]
    others = [f"{space}-{os.getpid()}-{start}-c", f"1-{dead.pid}-1-d", "odd"]
    for name in swept + others:
        (tmp_path / f"importance-audit-r-{name}" / "inside").mkdir(parents=True)
    process.sweep()
    assert {p.name.removeprefix("importance-audit-r-") for p in tmp_path.iterdir()} == {
        *others
    }


def test_a_process_that_cannot_start_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "absent"))
    before = set(Path("/dev/shm").iterdir())
    with pytest.raises(FileNotFoundError, match="absent"):
        process.Process([], library=None)
    assert list(tmp_path.iterdir()) == []
    assert set(Path("/dev/shm").iterdir()) == before


def test_the_users_own_settings_decide_nothing_but_where_packages_are(
    monkeypatch, tmp_path
):
    monkeypatch.setenv("R_LIBS", "/a:/b")
    monkeypatch.setenv("PYTHONPATH", "here")
    variables = environment(library=tmp_path, home=tmp_path)
    assert (variables["R_PROFILE_USER"], variables["R_ENVIRON_USER"]) == ("", "")
    assert variables["R_LIBS"] == f"{tmp_path}:/a:/b"
    assert variables["PYTHONPATH"] == str(Path("here").absolute())
    assert "R_LIBS_USER" not in variables or variables["R_LIBS_USER"]


@pytest.mark.needs_r
def test_a_profile_a_saved_workspace_and_a_module_in_the_folder_are_not_read(
    python, tmp_path
):
    for name in ("profile.R", ".Rprofile"):
        (tmp_path / name).write_text('RNGkind("Wichmann-Hill"); print("loud")')
    for name in ("numpy.py", "json.py"):
        (tmp_path / name).write_text("raise SystemExit(9)")
    (tmp_path / ".RData").write_bytes(b"not a workspace")
    started = python(
        f"""
import os
os.chdir({str(tmp_path)!r})
r.call("echo", {{"x": 1}})
print(r.call("facts", {{}})[-1][0], host.installed()["rng_kind"][0])
""",
        R_PROFILE_USER=str(tmp_path / "profile.R"),
    )
    assert started.communicate(timeout=120) == (
        "Mersenne-Twister Mersenne-Twister\n",
        "",
    )


@pytest.mark.needs_r
@for_each(["C", "POSIX", "xx_XX.UTF-8"])
def test_the_locale_of_the_user_changes_nothing(locale, python):
    started = python(
        """
utf8, collation, zone, order, name, _ = r.call("facts", {})
print(utf8[0], collation[0], zone[0], *order, name[0].encode())
""",
        LC_ALL=locale,
    )
    output, _ = started.communicate(timeout=120)
    assert output == "True C UTC A B _ a b'\\xc3\\xa9'\n"
