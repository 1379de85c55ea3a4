"""What the examination says of a machine."""

import pytest

from pipeline import doctor
from r_bridge import host

WITHOUT_R = {"reason": "R must be on PATH, but it was not found. Install R."}


@pytest.mark.parametrize(
    ("found", "floor", "is_enough"),
    [
        ("1.24.2", "1.24", True),
        ("1.9", "1.24", False),
        ("3.0.1", "3.1.2", False),
        ("70.0", "57.2", True),
        ("2.0.0rc1", "1.24", True),
    ],
)
def test_versions_are_compared_as_numbers(monkeypatch, found, floor, is_enough):
    monkeypatch.setattr(doctor, "version", lambda _: found)
    monkeypatch.setitem(doctor.FLOORS, "numpy", floor)
    assert (doctor._package("numpy").verdict == "ok") == is_enough


def test_a_package_that_is_too_old_comes_with_its_remedy(monkeypatch):
    monkeypatch.setattr(doctor, "version", lambda _: "1.20")
    assert doctor._package("numpy") == doctor.Row(
        "numpy", "missing", "1.20, older than 1.24", "pip install 'numpy>=1.24'"
    )


def test_a_machine_without_r_lacks_nothing_that_audits_need(monkeypatch):
    monkeypatch.setattr(host, "installed", lambda: WITHOUT_R)
    (row,) = doctor._r()
    assert row.verdict == "optional"
    assert row.state == "R must be on PATH, but it was not found. Install R."
    assert row.remedy == "scripts/install sets R and rpy2 up."


def test_an_r_package_that_is_absent_is_named_with_the_command(monkeypatch):
    found = {"reason": "", "rpy2": {"rpy2": "3.5.9"}, "r_version": "4.2.2"}
    monkeypatch.setattr(host, "installed", lambda: {**found, "packages": {}})
    rows = {row.what: row for row in doctor._r()}
    assert rows["R package vip"].remedy == "importance-audit install-r"
    assert rows["R through rpy2"].state == "R 4.2.2, rpy2 3.5.9"
