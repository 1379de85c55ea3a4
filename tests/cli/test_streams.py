"""Where a command prints to: a reader that went away, a disk that is full."""

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cases import for_each
from tests.cli.test_cli import SHORT, configured, written

from importance_audit.cli.streams import outlets

BUNDLE = Path(__file__).parents[1] / "bundles" / "2.0"
RUN = f"audit/runs/{next((BUNDLE / 'runs').iterdir()).name}"
NO_SPACE = "cannot be written: No space left on device."
full_disk = pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="this system has no /dev/full"
)


def ended(words, **streams):
    """Return the exit code and what was printed, of streams that are kept."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    command = [sys.executable, "-m", "importance_audit", *words]
    answer = subprocess.run(command, text=True, **streams)
    return answer.returncode, answer.stdout or "", answer.stderr or ""


def closed_pipe():
    """Return the end of a pipe that nobody reads."""
    read, write = os.pipe()
    os.close(read)
    return write


@pytest.fixture
def audit(tmp_path, monkeypatch):
    """Stand beside a copy of a stored audit."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(BUNDLE, "audit")


@pytest.mark.usefixtures("audit")
@for_each([["verify", RUN], ["verify", "nothing here"]])
def test_a_reader_that_went_away_changes_no_exit_code(words):
    code, out, err = ended(words)
    assert out or err
    for name in ("stdout", "stderr"):
        pipe = closed_pipe()
        unread = ended(words, **{name: pipe})
        os.close(pipe)
        assert unread[0] == code, (name, unread)
        assert "Traceback" not in unread[1] + unread[2]
        assert "BrokenPipe" not in unread[1] + unread[2]


@full_disk
@pytest.mark.usefixtures("audit")
def test_a_full_disk_is_one_sentence_and_no_verdict():
    words = ["history", "audit", "--json"]
    with open("/dev/full", "w") as full:
        assert ended(words, stdout=full)[::2] == (2, f"Standard output {NO_SPACE}\n")


@full_disk
def test_nobody_can_be_told_that_both_streams_are_full():
    with open("/dev/full", "w") as full:
        assert ended(["--help"], stdout=full, stderr=full)[0] == 2
        code, out, _ = ended(["no-such-command"], stderr=full)
    assert (code, out) == (2, "")


def test_a_run_that_nobody_reads_ends_as_the_run(tmp_path):
    written(tmp_path, report=SHORT)
    out, err = closed_pipe(), closed_pipe()
    command = ["run", str(tmp_path), "--no-pdf"]
    assert ended(command, stdout=out, stderr=err)[0] == 0
    (run,) = (tmp_path / "runs").iterdir()
    assert (run / "report.html").is_file()
    assert not (run / "report.pdf").exists()
    assert "pdf_failed" not in (run / "tables" / "findings.csv").read_text()
    if Path("/dev/full").exists():
        configured(tmp_path)
        with open("/dev/full", "w") as full:
            code, _, words = ended([*command, "--quiet"], stderr=full)
            assert code == 0
            code, _, words = ended(command, stdout=full)
        assert code == 2
        assert words.endswith(f"Standard output {NO_SPACE}\n")
        assert "Traceback" not in words


class _InPlace(io.TextIOWrapper):
    """A stream in place of the system's that gives the number of the system's."""

    def fileno(self):
        return 1


def test_a_stream_in_place_of_the_systems_is_printed_to(monkeypatch):
    printed = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", _InPlace(printed, encoding="utf-8"))
    with outlets():
        print("seen")
        sys.stdout.flush()
    assert printed.getvalue() == b"seen\n"
