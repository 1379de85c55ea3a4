"""What the probe says where R is not as it should be; each is made so in a child."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cases import for_each

from importance_audit.r_bridge import host, probe

ROOT = Path(__file__).parents[2]


def output_of(code, **environment):
    """Return what a Python programme prints, R's own words on stderr aside."""
    inherited = {k: v for k, v in os.environ.items() if k != "R_HOME"}
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=inherited | {"PYTHONPATH": str(ROOT)} | environment,
        timeout=120,
        check=False,
    )
    return ran.stdout.strip()


REASON = "from importance_audit.r_bridge import host; print(host.installed()['reason'])"


@pytest.mark.needs_r
def test_a_usable_r_says_what_it_is_and_what_packages_it_has(tmp_path):
    facts = host.installed()
    assert facts["reason"] == output_of(REASON, TMPDIR=str(tmp_path)) == ""
    assert list(tmp_path.iterdir()) == []
    assert facts["rng_kind"] == ["Mersenne-Twister", "Inversion", "Rejection"]
    assert facts["utf8"] is True
    assert facts["rpy2"]
    assert facts["r_version"].count(".") == 2
    assert all(re.match(r"\d+\.\d+", v) for v in facts["packages"].values())


@pytest.mark.needs_r
def test_a_package_that_does_not_load_is_broken_and_says_why(tmp_path):
    package = tmp_path / "vip"
    package.mkdir()
    (package / "DESCRIPTION").write_text("Package: vip\nVersion: 9.9\n")
    output = output_of(
        "from importance_audit.r_bridge import host; print(host.installed()['broken'])",
        IMPORTANCE_AUDIT_R_LIBRARY=str(tmp_path),
    )
    assert output.startswith("{'vip': ")
    assert "vip" not in host.installed()["broken"]


@pytest.mark.needs_r
def test_without_r_the_reason_says_so():
    reason = output_of(REASON, PATH="/nonexistent")
    assert reason.startswith("R was not found on PATH or at R_HOME (")
    assert reason.endswith("). Install R.")


@pytest.mark.needs_r
def test_a_wrong_r_home_kills_the_probe_and_not_us_and_a_session_says_the_same():
    code = (
        "from importance_audit.r_bridge import host\n"
        "with host.session() as r:\n"
        "    try:\n"
        "        r.call('echo', {})\n"
        "    except Exception as error:\n"
        "        reason = host.installed()['reason']\n"
        "        print(reason, type(error).__name__, str(error) == reason, sep='|')"
    )
    reason, kind, is_same = output_of(code, R_HOME="/nonexistent").split("|")
    # Older rpy2 starts R, and R ends; newer rpy2 looks for R first.
    assert reason.startswith(("R ended with status ", "R was not found on PATH or "))
    assert "R_HOME" in reason
    assert (kind, is_same) == ("RUnavailable", "True")


def test_without_rpy2_the_remedy_is_to_install_it():
    code = (
        "import sys; sys.modules['rpy2'] = None\n"
        "from importance_audit.r_bridge import probe; probe.main()"
    )
    reason = json.loads(output_of(code))["reason"]
    assert reason.startswith("rpy2 is not installed: ")
    assert reason.endswith(". Run: pip install rpy2")


@for_each(
    [
        (OSError("libR.so: cannot open"), "R did not start (OSError: libR"),
        (
            FileNotFoundError("x"),
            "R was not found on PATH or at R_HOME (FileNotFoundEr",
        ),
        (RuntimeError("Unable to determine R_HOME"), "R was not found on PATH or at "),
        (
            Exception("symbol 'x' not found"),
            "rpy2 was built for another R than this one",
        ),
    ]
)
def test_each_fault_has_its_remedy(case):
    error, words = case
    assert probe.reason_of(error).startswith(words)
