"""events.jsonl: added to line by line, whatever a killed writer or a disk left."""

import json
import resource
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from importance_audit.records.errors import AuditError, DataError
from importance_audit.runs.events import append_event, read_events


def test_events_are_read_as_they_were_written_with_their_time_in_utc(tmp_path):
    append_event(tmp_path, "began", pid=7, host="h", unattended=True)
    append_event(tmp_path, "ended", run_id="", exit_code=2, message="é\nb")
    began, ended = read_events(tmp_path)
    assert (began["event"], began["pid"], began["unattended"]) == ("began", 7, True)
    assert (ended["exit_code"], ended["message"]) == (2, "é\nb")
    at = datetime.fromisoformat(ended["time"])
    assert at.utcoffset() == timedelta()
    assert abs(datetime.now(UTC) - at) < timedelta(minutes=1)


def test_an_audit_without_events_has_none(tmp_path):
    assert read_events(tmp_path) == ()


def test_the_half_line_of_a_killed_writer_is_left_out(tmp_path):
    append_event(tmp_path, "began", pid=7)
    with (tmp_path / "events.jsonl").open("ab") as file:
        file.write(b'{"time": "2026-11-2')
    assert [event["event"] for event in read_events(tmp_path)] == ["began"]


@pytest.mark.parametrize("time", ["", "yesterday", "2025-11-20T08:46:00", 3, None])
def test_an_event_of_no_instant_is_unreadable(tmp_path, time):
    line = json.dumps({"time": time, "event": "clock", "message": "back"})
    (tmp_path / "events.jsonl").write_text(f"{line}\n", encoding="utf8")
    assert read_events(tmp_path) == ({"event": "unreadable", "line": 1},)


def test_what_comes_after_a_half_line_is_a_line_of_its_own(tmp_path):
    (tmp_path / "events.jsonl").write_bytes(b'{"time": "2026-11-2')
    append_event(tmp_path, "died", pid=7)
    torn, last = read_events(tmp_path)
    assert torn == {"event": "unreadable", "line": 1}
    assert (last["event"], last["pid"]) == ("died", 7)


@pytest.mark.parametrize(
    "line",
    [
        b"[1]",
        b'{"a": 1}',
        b"\xff",
        b"nonsense",
        b'{"time": "t", "event": ["began"]}',
        b'{"time": 1, "event": "began"}',
        b"[" * 100_000,
    ],
)
def test_a_line_that_is_no_event_is_told_by_its_number(tmp_path, line):
    append_event(tmp_path, "began", pid=7)
    with (tmp_path / "events.jsonl").open("ab") as file:
        file.write(line + b"\n")
    append_event(tmp_path, "ended", run_id="r")
    assert read_events(tmp_path)[1] == {"event": "unreadable", "line": 2}


def test_writers_at_once_lose_no_line(tmp_path):
    code = (
        "import sys; from pathlib import Path\n"
        "from importance_audit.runs.events import append_event\n"
        "for n in range(50): append_event(Path(sys.argv[1]), 'e', n=n, x='x' * 300)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    for writer in [subprocess.Popen(command) for _ in range(3)]:
        assert writer.wait() == 0
    numbers = sorted(event["n"] for event in read_events(tmp_path))
    assert numbers == sorted([*range(50)] * 3)


def test_a_full_disk_is_said_and_leaves_the_file_as_it_was(tmp_path):
    append_event(tmp_path, "began", pid=7)
    before = (tmp_path / "events.jsonl").read_bytes()
    former = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 9, former[1]))
        with pytest.raises(AuditError) as full:
            append_event(tmp_path, "ended", run_id="r")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, former)
        signal.signal(signal.SIGXFSZ, ignored)
    assert str(full.value) == (
        f"Folder {str(tmp_path)!r} cannot take a line of 'events.jsonl': File too "
        "large."
    )
    assert (tmp_path / "events.jsonl").read_bytes() == before


def test_a_file_of_events_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "events.jsonl").mkdir()
    with pytest.raises(DataError, match=r"events\.jsonl cannot be read: "):
        read_events(tmp_path)
