"""audit-log.jsonl: added to line by line, whatever a killed writer or a disk left."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from tests.runs.test_folder import full_disk

from importance_audit.records.errors import AuditError, DataError
from importance_audit.runs.audit_log import (
    LOG,
    TORN,
    append,
    from_line,
    parse,
    read_intact_log,
    read_log,
    to_line,
)
from importance_audit.runs.digests import sha256

BEGAN = {"pid": 7, "host": "h", "unattended": True}
FAILED = {"exit_code": 2, "message": "é\nb", "r_failed": False}


@pytest.fixture
def log(tmp_path):
    """Return the log of an audit with three lines."""
    append(tmp_path, "began", **BEGAN)
    append(tmp_path, "failed", **FAILED)
    return tmp_path / LOG


def test_lines_are_read_as_they_were_written_with_their_time_in_utc(log):
    first, began, failed = read_log(log.parent).entries
    assert (first["kind"], first["audit"]) == ("audit", log.parent.name)
    assert {key: began[key] for key in BEGAN} == BEGAN
    assert (failed["exit_code"], failed["message"]) == (2, "é\nb")
    at = datetime.fromisoformat(failed["time"])
    assert at.utcoffset() == timedelta()
    assert abs(datetime.now(UTC) - at) < timedelta(minutes=1)


def test_each_line_names_the_one_before_as_sha256sum_prints_it(log):
    assert read_intact_log(log.parent).faults == ()
    second = subprocess.check_output(f"sed -n 2p {log} | sha256sum", shell=True)
    assert read_log(log.parent).entries[2]["previous"] == second[:64].decode()


def test_half_a_line_of_a_killed_writer_is_left_out_and_moved_by_the_next(log):
    whole = log.read_bytes()
    log.write_bytes(whole + b'{"n":4,"ti')
    assert read_intact_log(log.parent).torn == b'{"n":4,"ti'
    append(log.parent, "clock", message="back")
    assert log.read_bytes().startswith(whole)
    assert read_intact_log(log.parent).head["n"] == 4
    assert (log.parent / TORN).read_bytes() == b'{"n":4,"ti\n'


def test_a_log_cut_at_any_byte_is_whole_after_the_next_line(log):
    whole = log.read_bytes()
    for length in range(0, len(whole), 11):
        log.write_bytes(whole[:length])
        append(log.parent, "clock", message="back")
        assert read_intact_log(log.parent).of("clock")
        assert log.read_bytes().startswith(whole[: whole[:length].rfind(b"\n") + 1])


@pytest.mark.parametrize(
    "line",
    [
        b"[1]\n",
        b'{"a":1}\n',
        b"\xff\n",
        b"\n",
        b"[" * 100_000 + b"\n",
        (b'{"n"', b'{ "n"'),
        (b'"pid":7', b'"pid":7,"pid":7'),
        (b'"pid":7', b'"pid":"7"'),
        (b'"pid":7', b'"pid":true'),
        (b'"host":"h",', b""),
        (b"began", b"begun"),
        (b"+00:00", b""),
        (b'"time":"', b'"time":"noon'),
        (b"\n", b"\r\n"),
        (b'{"n"', b'\xef\xbb\xbf{"n"'),
    ],
)
def test_what_is_not_byte_for_byte_a_line_is_none_and_nothing_builds_on_it(log, line):
    before, began = log.read_bytes().splitlines(keepends=True)[:2]
    other = began.replace(*line) if isinstance(line, tuple) else line
    assert other != began
    with pytest.raises((ValueError, RecursionError)):
        from_line(other)
    log.write_bytes(before + other)
    where = {fault.file for fault in read_log(log.parent).faults}
    assert where == {f"{LOG}: line 2"}
    with pytest.raises(AuditError, match="ends with something that is not a line"):
        append(log.parent, "clock", message="back")
    assert log.read_bytes() == before + other


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda line: line + line, "line 3: expected number 3, found 2"),
        (lambda line: line.replace(b":7", b":8"), "line 3: expected p"),
    ],
)
def test_lines_changed_removed_moved_or_copied_break_the_chain(log, change, fault):
    """More of them, and what verify says: tests/runs/verify/test_alterations.py."""
    first, second, third = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(first + change(second) + third)
    assert str(read_log(log.parent).faults[0]).startswith(f"{LOG}: {fault}")
    with pytest.raises(DataError, match="was changed after it was written: line "):
        read_intact_log(log.parent)


def test_writers_at_once_lose_no_line(tmp_path):
    code = (
        "import sys; from pathlib import Path\n"
        "from importance_audit.runs.audit_log import append\n"
        "for n in range(40):\n"
        "    append(Path(sys.argv[1]), 'clock', message=f'{n}' * 300)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    for writer in [subprocess.Popen(command) for _ in range(3)]:
        assert writer.wait() == 0
    messages = [entry["message"] for entry in read_intact_log(tmp_path).of("clock")]
    assert sorted(messages) == sorted([f"{n}" * 300 for n in range(40)] * 3)


def test_a_full_disk_is_said_and_leaves_the_log_as_it_was(log):
    before = log.read_bytes()
    with full_disk(len(before) + 9), pytest.raises(AuditError) as full:
        append(log.parent, "clock", message="back")
    assert str(full.value) == (
        f"Folder {str(log.parent)!r} cannot take a line of {LOG!r}: File too large."
    )
    assert log.read_bytes() == before


@pytest.mark.parametrize(
    ("make", "words"), [(os.mkdir, "a folder"), (os.mkfifo, "a FIFO")]
)
def test_a_log_that_is_no_file_is_named_and_waits_for_nobody(log, make, words):
    log.unlink()
    make(log)
    with pytest.raises(DataError, match=rf"{LOG} cannot be read: {words}\."):
        read_log(log.parent)
    with pytest.raises(AuditError):
        append(log.parent, "clock", message="back")


def test_a_line_is_canonical_json(log):
    for line, entry in zip(
        log.read_bytes().splitlines(), parse(log.read_bytes()).entries, strict=True
    ):
        assert to_line(entry) == line + b"\n"
        assert [*json.loads(line)][:4] == ["n", "time", "kind", "previous"]
    assert read_log(log.parent).head == {"n": 3, "sha256": sha256(line + b"\n")}
