"""What the examination says of a machine."""

import os
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from importance_audit.operate import doctor
from importance_audit.r_bridge import host, trial
from importance_audit.records.errors import pip_install
from importance_audit.records.r_rng import RStream

ROOT = Path(__file__).parents[2]

WITHOUT_R = {"reason": "R must be on PATH; it was not found. Install R."}


@pytest.mark.parametrize(
    ("installed_version", "floor", "is_enough"),
    [
        ("1.24.2", "1.24", True),
        ("1.9", "1.24", False),
        ("3.0.1", "3.1.2", False),
        ("2.0.0rc1", "1.24", True),
    ],
)
def test_versions_are_compared_as_numbers(
    monkeypatch, installed_version, floor, is_enough
):
    monkeypatch.setattr(doctor, "version", lambda _: installed_version)
    row = doctor._package("numpy", floor)
    remedy = pip_install(f"numpy>={floor}")
    older = ("missing", f"{installed_version}, older than {floor}", remedy)
    assert row[1:] == (("ok", installed_version, "") if is_enough else older)


def absent(name):
    raise PackageNotFoundError(name)


@pytest.mark.parametrize("name", doctor.USES)
def test_a_package_that_audits_run_without_says_what_it_is_for(monkeypatch, name):
    floor, use = doctor.USES[name]
    monkeypatch.setattr(doctor, "version", absent)
    assert doctor._package(name, floor, use) == doctor.Row(
        *(name, "optional", f"not installed; it {use}"),
        pip_install(f"{name}>={floor}" if floor else name),
    )
    monkeypatch.setattr(doctor, "version", lambda _: "99.1")
    here = doctor.Row(name, "ok", f"99.1; it {use}")
    assert doctor._package(name, floor, use) == here


def test_every_requirement_is_looked_for_with_its_oldest_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = dict(item.split(">=") for item in project["dependencies"])
    assert needed.pop("rpy2")  # with R, in a row of its own
    assert {name.casefold(): floor for name, floor in needed.items()} == doctor.FLOORS
    floors = {name.casefold(): floor for name, (floor, _) in doctor.USES.items()}
    extra = dict(
        item.split(">=") for item in project["optional-dependencies"]["tables"]
    )
    assert extra.items() <= floors.items()


MINUTE = "about a minute"


@pytest.mark.needs_numba
@pytest.mark.parametrize(
    ("can_keep", "is_complete", "words"),
    [
        (True, True, "compiled; kept in "),
        (True, False, f"not all compiled yet: the first audit of trees waits {MINUTE}"),
        (False, False, f"not kept: every process compiles them again, for {MINUTE}"),
    ],
)
def test_loops_over_trees_are_compiled_or_not(
    monkeypatch, can_keep, is_complete, words
):
    monkeypatch.setattr(doctor.compiled, "can_keep", lambda: can_keep)
    monkeypatch.setattr(doctor.compiled, "is_complete", lambda: is_complete)
    (seen,) = doctor._loops()
    assert seen.state.startswith(words)
    assert (seen.verdict == "ok") == is_complete == (seen.remedy == "")


def test_without_numba_there_are_no_loops_and_no_trees(monkeypatch):
    monkeypatch.setattr(doctor.compiled, "available", lambda: False)
    assert doctor._loops() == doctor._trees() == ()


def test_whose_trees_are_not_read_is_said(monkeypatch):
    answers = {"A": "", "B": "It predicts several targets.", "C": ""}
    monkeypatch.setattr(doctor.compiled, "available", lambda: True)
    monkeypatch.setattr(doctor, "read_or_not", lambda: answers)
    assert doctor._trees() == (
        doctor.Row("Trees", "ok", "read: A, C"),
        doctor.Row(
            "Trees of B",
            "optional",
            "not read, so predict answers, slower: It predicts several targets.",
            "Audit as usual; a newer importance-audit may read them.",
        ),
    )


def test_a_machine_without_r_lacks_nothing_that_audits_need(monkeypatch):
    monkeypatch.setattr(host, "installed", lambda: WITHOUT_R)
    (row,) = doctor._r()
    assert row.verdict == "optional"
    assert row.state == "R must be on PATH; it was not found. Install R."
    assert row.remedy == "Run scripts/install to set up R and rpy2."


NOT_HERE = "not installed; engine {} cannot be asked without it"
INSTALL = "importance-audit install-r"
HERE = {"DALEX": "2.5.4", "hstats": "1.0", "iml": "9.0"}
FOUND = {
    "packages": HERE,
    "broken": {"pdp": "Error: a library is missing"},
}


@pytest.mark.parametrize(
    ("name", "state", "remedy"),
    [
        ("DALEX", "2.5.4", ""),
        ("iml", "9.0; newer than 0.11.4, the newest tested version", ""),
        (
            "hstats",
            "1.0, older than 1.2.2; engine hstats cannot be asked without it",
            f"{INSTALL} hstats",
        ),
        ("vip", NOT_HERE.format("vip"), INSTALL),
        ("ingredients", NOT_HERE.format("DALEX"), INSTALL),
        ("pdp", "does not load: Error: a library is missing", INSTALL),
    ],
)
def test_an_r_package_says_its_version_and_what_to_do(name, state, remedy):
    verdict = "optional" if remedy else "ok"
    expected = doctor.Row(f"R package {name}", verdict, state, remedy)
    assert doctor._r_package(name, FOUND) == expected


@pytest.mark.needs_dalex
def test_everything_makes_the_round_trip_and_what_r_draws_is_replayed():
    assert doctor._round_trip(True) == doctor.Row(
        "R round trip",
        "ok",
        "columns of every type and a callback came back; sample() and "
        "DALEX::model_parts replayed",
    )


@pytest.mark.needs_r
@pytest.mark.usefixtures("shared_r")
def test_other_draws_than_ours_and_what_r_cannot_be_told_are_no_r_to_ask(monkeypatch):
    other, unknown = RStream(1), trial.frame().assign(wave=[1j] * 5)
    with monkeypatch.context() as patch:
        patch.setattr(doctor, "RStream", lambda _: other)
        row = doctor._round_trip(False)
    assert (row.verdict, row.state) == ("missing", "R returned different draws")
    assert row.remedy == "Install R again, then rpy2: scripts/install."
    monkeypatch.setattr(trial, "frame", lambda: unknown)
    row = doctor._round_trip(False)
    assert row.verdict == "missing"
    assert "'wave'" in row.state


@pytest.mark.needs_r
def test_a_profile_that_prints_and_draws_otherwise_changes_nothing(tmp_path):
    profile = tmp_path / ".Rprofile"
    profile.write_text(
        "cat('hello'); RNGkind('Wichmann-Hill', 'Box-Muller', 'Rounding'); stop('no')"
    )
    code = (
        "from importance_audit.operate import doctor;"
        "print(doctor._round_trip(False).verdict)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"R_PROFILE_USER": str(profile), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (ran.stdout, ran.stderr) == ("ok\n", "")


def test_without_pandoc_there_are_no_word_files_and_audits_run(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert doctor._word() == doctor.Row(
        "Word report",
        "optional",
        "A Word file cannot be written without pandoc: [Errno 2] No such file or "
        "directory: 'pandoc'.",
        "Install it: apt-get install pandoc, or brew install pandoc.",
    )
    (tmp_path / "pandoc").write_text("#!/bin/sh\necho pandoc 3.1.11")
    (tmp_path / "pandoc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert doctor._word() == doctor.Row("Word report", "ok", "pandoc 3.1.11")
