"""Whatever R does in the middle of an audit, the report is written and says it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.test_cli import SHORT, written

from importance_audit.auditing.audit import audit, exit_code
from importance_audit.config.load import parse_config
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.r_bridge import host

pytestmark = [
    pytest.mark.needs_dalex,
    pytest.mark.skipif(sys.platform != "linux", reason="/proc says what is left over"),
]

ROOT = Path(__file__).parents[2]
FAULTY = Path(__file__).with_name("faulty_loss.R")
ENTRY = {
    "method": "permutation",
    "engines": ["DALEX"],
    "losses": ["mae"],
    "n_repeats": 3,
}
FAILED = "Permutation of features by DALEX failed: R"
FAULTS = {
    "abort": f"{FAILED} ended during the call of 'dalex_parts', with signal SIGABRT.",
    "allocation": (
        f"{FAILED} function 'dalex_parts' stopped: "
        "cannot allocate vector of size 74505.8 Gb"
    ),
}


@pytest.fixture(scope="module")
def requested_fault(tmp_path_factory):
    """A file that says what shall happen in R, and an R that reads it."""
    file = tmp_path_factory.mktemp("fault") / "fault"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAULT", str(file))
        with host.session(r_seconds=30, extra_r_files=[FAULTY]):
            yield file


def audited():
    config = parse_config({"importance": [ENTRY], "seed": 5})
    model = linear_model(2.0, 1.0)
    return audit(None, normal_data(2.0, 1.0), config, models=(model,))


def test_an_r_that_dies_once_answers_the_second_time(requested_fault):
    requested_fault.write_text("killed\n")
    result = audited()
    assert list(result.agreement["verdict"]) == ["replayed"]
    assert "r_restarted" in [finding.check for finding in result.findings]


def test_what_r_prints_changes_no_number(requested_fault):
    requested_fault.write_text("warnings\n")
    result = audited()
    assert list(result.agreement["verdict"]) == ["replayed"]
    assert exit_code(result) == 0


ASKED = 'engines = ["DALEX"]\nlosses = ["mae"]\n'
MODEL = """
[[models]]
name = "m{0}"
estimator = "sklearn.linear_model.Ridge"
parameters = {{ alpha = {0} }}
"""
# What happens while R is asked about each model, and what the summary says of it.
HAPPENS = {
    "quit\nquit": ", with exit status 5.",
    "loop": "did not end within 120 s",
    "memory": "stopped: vector memory ",
    "flood": "1 replayed",
}
# The clock of calls jumps once R loops: a slow machine does not meet the limit before.
RUN = f"""
import os, sys, time
from types import SimpleNamespace
from importance_audit.cli.main import main
from importance_audit.r_bridge import dialogue, host, process
loops = os.environ["FAULT"] + ".loops"
late = lambda: time.monotonic() + 200 * os.path.exists(loops)
dialogue.time = process.time = SimpleNamespace(monotonic=late)
with host.session(r_seconds=120, r_memory_gb=0.3, extra_r_files=[{str(FAULTY)!r}]):
    main(["run", sys.argv[1], "-q", "--no-pdf"])
"""


@pytest.fixture
def folder(tmp_path):
    models = "".join(MODEL.format(n) for n in range(1, len(HAPPENS)))
    written(tmp_path, more=ASKED + models, report=SHORT)
    (tmp_path / "fault").write_text("\n".join(HAPPENS) + "\n")
    (tmp_path / "tmp").mkdir()
    return tmp_path


def run_command(folder):
    """Run the audit as a command; return its exit code."""
    own = {
        "PYTHONPATH": str(ROOT),
        "TMPDIR": str(folder / "tmp"),
        "FAULT": str(folder / "fault"),
    }
    return subprocess.run(
        [sys.executable, "-c", RUN, str(folder)],
        env=os.environ | own,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=300,
        check=False,
    ).returncode


def left_over(folder):
    """Return the files, and the processes, that a run with its TMPDIR has left."""
    mine = f"TMPDIR={folder / 'tmp'}".encode()
    running = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mine in (process / "environ").read_bytes():
                running.append((process / "cmdline").read_text())
        except OSError:
            continue
    return [path.name for path in (folder / "tmp").iterdir()], running


def test_a_command_ends_with_its_report_and_leaves_nothing_over(folder):
    assert run_command(folder) == 4
    (run_folder,) = (folder / "runs").iterdir()
    summary = (run_folder / "summary.txt").read_text(encoding="utf8")
    assert [words for words in HAPPENS.values() if words not in summary] == []
    assert (folder / "fault").read_text() == ""
    page = (run_folder / "report.html").read_text(encoding="utf8")
    assert "by DALEX failed" in page
    assert json.loads((run_folder / "result.json").read_text(encoding="utf8"))
    assert left_over(folder) == ([], [])


@pytest.mark.parametrize("fault", FAULTS)
def test_what_r_does_in_the_middle_of_an_audit_is_the_reason_of_its_pair(
    fault, requested_fault
):
    requested_fault.write_text(f"{fault}\n" * 2)  # R is asked again after it died
    result = audited()
    (reason,) = result.agreement["reasons"]
    assert reason.split(" It last wrote:")[0] == FAULTS[fault]
    assert list(result.agreement["verdict"]) == ["not compared"]
    assert exit_code(result) == 4
    assert len(result.importances) == 1  # ours
