"""Attempts: each begins and ends in events.jsonl, and one that was killed is told."""

import os

import pytest

from importance_audit.runs.attempts import end_attempt, start_attempt
from importance_audit.runs.events import append_event, read_events

NAME = "29991231T235959Z-3f9a1c2b"


def kinds(folder):
    return [event["event"] for event in read_events(folder)]


def test_an_attempt_that_ended_did_not_die(tmp_path):
    start_attempt(tmp_path, unattended=True)
    end_attempt(tmp_path, run_id="", exit_code=2, verdict="", message="no")
    assert start_attempt(tmp_path, unattended=False).died == ""
    assert kinds(tmp_path) == ["began", "ended", "began"]


def test_an_attempt_that_never_ended_is_told_once(tmp_path):
    start_attempt(tmp_path, unattended=True)
    began = read_events(tmp_path)[0]["time"]
    assert start_attempt(tmp_path, unattended=True).died == (
        f"The previous run did not finish: process {os.getpid()}, which began it at "
        f"{began}, was killed, or its machine stopped. It left no run."
    )
    end_attempt(tmp_path, run_id="", exit_code=0, verdict="", message="")
    assert start_attempt(tmp_path, unattended=True).died == ""
    assert kinds(tmp_path) == ["began", "died", "began", "ended", "began"]


def test_the_run_that_a_killed_attempt_left_is_named(tmp_path):
    append_event(tmp_path, "ended", run_id="20200101T000000Z-0", exit_code=0)
    start_attempt(tmp_path, unattended=True)
    for name in ("20200101T000000Z-0", NAME):
        (tmp_path / "runs" / name).mkdir(parents=True)
    assert start_attempt(tmp_path, unattended=True).died.endswith(
        f" It left run {NAME!r}."
    )
    assert read_events(tmp_path)[2]["run_id"] == NAME


@pytest.mark.parametrize("name", ["20200101T000000Z-0", NAME])
def test_runs_of_other_attempts_are_not_those_of_a_killed_one(tmp_path, name):
    if name == NAME:
        append_event(tmp_path, "ended", run_id=name, exit_code=0)
    start_attempt(tmp_path, unattended=True)
    (tmp_path / "runs" / name).mkdir(parents=True)
    assert start_attempt(tmp_path, unattended=True).died.endswith(" It left no run.")


def test_what_a_killed_attempt_left_half_done_is_removed(tmp_path):
    half = tmp_path / "runs" / f".{NAME}.0f.part"
    gone = tmp_path / "runs" / f".{NAME}.removed"
    signed = tmp_path / "runs" / NAME / "signed"
    for path in (half / "figures", gone, signed / "1", signed / ".2.0f.part"):
        path.mkdir(parents=True)
    start_attempt(tmp_path, unattended=False)
    assert [path.name for path in signed.iterdir()] == ["1"]
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [NAME]


def test_events_that_nobody_can_read_are_told_and_keep_no_audit_from_running(tmp_path):
    append_event(tmp_path, "began", pid=1)
    with (tmp_path / "events.jsonl").open("ab") as file:
        file.write(b"\xff\n")
    assert "process 1, which began it" in start_attempt(tmp_path, unattended=False).died


def test_an_end_that_cannot_be_kept_is_said(tmp_path):
    os.symlink("/dev/full", tmp_path / "events.jsonl")
    assert end_attempt(tmp_path, run_id="r") == (
        f"Folder {str(tmp_path)!r} cannot take a line of 'events.jsonl': No space "
        "left on device."
    )
