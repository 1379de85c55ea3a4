"""Attempts: each begins and ends in the audit log, and one that was killed is told."""

import os

import pytest
from tests.runs.test_folder import result, save

from importance_audit.runs.attempts import end_attempt, start_attempt
from importance_audit.runs.audit_log import LOG, append, read_log
from importance_audit.runs.verify import verify

FAILED = {"exit_code": 2, "message": "no", "r_failed": False}


def write_two_runs(audit):
    """Write an audit with two runs; return the folders of both."""
    for day in (20, 21):
        name = f"202511{day}T084600Z-3f9a1c2b"
        save(audit, result(name), {"audit.toml": "seed = 1\n"})
    return sorted((audit / "runs").iterdir())


def kinds(folder):
    return [event["kind"] for event in read_log(folder).events[1:]]


def test_an_attempt_that_ended_did_not_die(tmp_path):
    """Whether or not it left a run."""
    start_attempt(tmp_path, unattended=True)
    end_attempt(tmp_path, **FAILED)
    assert start_attempt(tmp_path, unattended=False).died == ""
    assert kinds(tmp_path) == ["began", "failed", "began"]
    facts = {"bytes": 0, "content_digest": "", "list": "", "run": "r", "verdict": ""}
    append(tmp_path, "run", **facts, **FAILED)
    assert start_attempt(tmp_path, unattended=True).died == ""


def test_an_attempt_that_never_ended_is_told_once(tmp_path):
    start_attempt(tmp_path, unattended=True)
    began = read_log(tmp_path).of("began")[0]["time"]
    assert start_attempt(tmp_path, unattended=True).died == (
        f"The previous run did not finish: process {os.getpid()}, which began it at "
        f"{began}, was killed, or its machine stopped. It left no run."
    )
    end_attempt(tmp_path, **FAILED)
    assert start_attempt(tmp_path, unattended=True).died == ""
    assert kinds(tmp_path) == ["began", "died", "began", "failed", "began"]


def test_what_a_killed_process_left_half_done_is_removed(tmp_path):
    first, second = write_two_runs(tmp_path)
    aside = ".20251122T084600Z-3f9a1c2b"
    for name in (f"{aside}.01234567.part", f"{aside}.removed"):
        (tmp_path / "runs" / name / "figures").mkdir(parents=True)
    page = tmp_path / "signoffs" / ".9.html.01234567.part"
    page.parent.mkdir()
    page.write_text("<p>")
    start_attempt(tmp_path, unattended=False)
    assert sorted((tmp_path / "runs").iterdir()) == [first, second]
    assert list(page.parent.iterdir()) == []


def take_name_from_second(audit):
    """Write two runs, the second without its name yet; return both its paths."""
    _, second = write_two_runs(audit)
    return second, second.rename(second.with_name(f".{second.name}.01234567.part"))


def test_a_run_that_was_killed_between_line_and_name_is_finished(tmp_path):
    second, _ = take_name_from_second(tmp_path)
    found = verify(tmp_path)
    assert found.mismatches == ()
    where = f"runs/{second.name}"
    assert found.notes == (f"{where} has not its name yet; the next run finishes it",)
    log = (tmp_path / LOG).read_bytes()
    assert start_attempt(tmp_path, unattended=False).died == (
        f"Run '{second.name}', which a killed process had written, was given its name."
    )
    begun = (tmp_path / LOG).read_bytes().removeprefix(log)
    assert begun.count(b"\n") == 1
    assert verify(tmp_path).notes == ()


def test_a_run_between_line_and_name_that_was_altered_is_left_and_named(tmp_path):
    second, part = take_name_from_second(tmp_path)
    (part / "audit.toml").write_text("seed = 2\n")
    assert start_attempt(tmp_path, unattended=False).died == (
        f"Run '{second.name}' is not as its line in the log says and was left as "
        f"'{part.name}'. Run: importance-audit verify {tmp_path}"
    )
    (found,) = verify(tmp_path).mismatches
    assert found.file == f"runs/{part.name}/audit.toml"


def test_an_end_that_cannot_be_kept_hides_no_other_fault(tmp_path):
    (tmp_path / LOG).mkdir()

    def run():
        try:
            raise OSError("what ended the run")
        except OSError:
            end_attempt(tmp_path, **FAILED)
            raise

    with pytest.raises(OSError, match="what ended the run"):
        run()
    assert [*(tmp_path / LOG).iterdir()] == []
