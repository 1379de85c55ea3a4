"""Commands that tell of a run: what they are told, and what they may do wrong."""

import json
import os
import signal
import sys
import time
from itertools import count
from pathlib import Path

import pytest

from importance_audit.config.settings import ScheduleSection
from importance_audit.operate.notify import Notice, notify
from importance_audit.runs.audit_log import LOG, read_log

TOLD = Notice(
    "credit", "/a/runs/r", "not confirmed", 1, "Summary é\n", ("News.", "2 → 3")
)
SAY = """
import json, os
ours = {k: v for k, v in os.environ.items() if k.startswith("IMPORTANCE_AUDIT_")}
print(json.dumps([ours, os.environ["MARK"], os.getcwd()]))
"""


def is_running(pid):
    """Return whether a process is there that nobody has ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:  # gone, maybe between two looks
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def wait_for(holds, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def notify_outcome(folder, *command, seconds=60.0, **changes):
    """Return the faults and the events of one on_failure command."""
    section = ScheduleSection(on_failure=command, command_seconds=seconds)
    faults = notify(folder, section, TOLD._replace(**changes))
    return faults, read_log(folder).of("notified")


def python(*lines):
    return sys.executable, "-I", "-X", "utf8", "-c", "\n".join(lines)


def test_a_command_is_told_of_the_run_in_the_folder_of_the_audit(tmp_path, monkeypatch):
    """It has the environment of the run besides."""
    monkeypatch.delenv("IMPORTANCE_AUDIT_REQUIRE_R", raising=False)
    monkeypatch.setenv("MARK", "here")
    faults, (event,) = notify_outcome(tmp_path, *python(SAY))
    environment, mark, where = json.loads(event["message"])
    assert (faults, mark, where) == ((), "here", str(tmp_path))
    assert environment == {
        "IMPORTANCE_AUDIT_EVENT": "failure",
        "IMPORTANCE_AUDIT_AUDIT": "credit",
        "IMPORTANCE_AUDIT_RUN": "/a/runs/r",
        "IMPORTANCE_AUDIT_VERDICT": "not confirmed",
        "IMPORTANCE_AUDIT_EXIT_CODE": "1",
        "IMPORTANCE_AUDIT_SUMMARY": "Summary é\n",
        "IMPORTANCE_AUDIT_NEWS": "News.\n2 → 3",
    }


@pytest.mark.parametrize(
    ("code", "news", "hooks", "of_one"),
    [
        (0, (), ["on_success"], "on_success"),
        (0, ("Moved.",), ["on_change", "on_success"], "on_change"),
        (1, (), ["on_failure"], "on_failure"),
        (2, ("Moved.",), ["on_change", "on_failure"], "on_failure"),
        (5, ("In use.",), ["on_failure"], "on_failure"),
    ],
)
def test_each_end_calls_for_its_commands_and_what_several_ends_name_runs_once(
    tmp_path, code, news, hooks, of_one
):
    ends = ("on_change", "on_failure", "on_success")
    told = TOLD._replace(exit_code=code, news=news)
    for commands, expected in (("abc", hooks), ("aaa", [of_one])):
        (tmp_path / commands).mkdir()
        given = {end: ("true", word) for end, word in zip(ends, commands, strict=True)}
        notify(tmp_path / commands, ScheduleSection(**given), told)
        events = read_log(tmp_path / commands).of("notified")
        assert [event["hook"] for event in events] == expected


@pytest.mark.parametrize(
    ("command", "words", "code"),
    [
        (
            ["/bin/sh", "-c", "echo no route >&2; exit 7"],
            "'/bin/sh' ended with exit code 7. Its output: no route",
            7,
        ),
        (
            ["/bin/sh", "-c", "kill -40 $$"],
            "'/bin/sh' ended with signal 40. Its output: -",
            -40,
        ),
        (
            ["nowhere-at-all"],
            "'nowhere-at-all' did not start: No such file or directory.",
            None,
        ),
        (["ls", "$HOME; exit 3"], None, 2),  # no shell reads it
    ],
)
def test_a_command_that_fails_is_said_with_its_words(tmp_path, command, words, code):
    (fault,), (event,) = notify_outcome(tmp_path, *command)
    said = "[schedule] on_failure did not run successfully: "
    assert fault == said + words if words else "$HOME; exit 3" in fault
    assert (event["hook"], event["exit_code"]) == ("on_failure", code)


def test_what_a_failed_command_says_moves_nothing_in_a_log(tmp_path):
    forged = "2026-11-22T08:00:00+00:00 Ended with exit code 0"
    code = f"print('\\x1b[2J\\r\\u202e'); print({forged!r}); raise SystemExit(7)"
    (fault,), (event,) = notify_outcome(tmp_path, *python(code))
    assert fault.endswith(rf"Its output: \x1b[2J\r\u202e\n{forged}")
    assert event["message"].startswith("\x1b[2J\r")


def test_a_command_that_hangs_is_ended_with_all_that_it_started(tmp_path, monkeypatch):
    hang = "sleep 600 & echo $!; touch spoken; sleep 600"
    spoken, clock, looks = tmp_path / "spoken", time.monotonic, count()

    def halting():  # once it has spoken, each look comes 900 s after the one before
        return clock() + 900 * (next(looks) if spoken.exists() else 0)

    monkeypatch.setattr(time, "monotonic", halting)
    faults, (event,) = notify_outcome(tmp_path, "/bin/sh", "-c", hang, seconds=600.0)
    monkeypatch.undo()
    message, pid = faults[0].rsplit(" ", 1)
    assert message == (
        "[schedule] on_failure did not run successfully: '/bin/sh' was ended after "
        "600 seconds (command_seconds). Its output:"
    )
    assert event["exit_code"] is None
    assert event["seconds"] >= 900
    wait_for(lambda: not is_running(pid))


def test_a_command_that_leaves_a_child_behind_is_not_waited_for(tmp_path):
    faults, (event,) = notify_outcome(
        tmp_path, "/bin/sh", "-c", "sleep 600 & echo sent $!"
    )
    words, pid = event["message"].rsplit(" ", 1)
    assert (faults, words, is_running(pid)) == ((), "sent", True)
    os.kill(int(pid), signal.SIGKILL)


def test_of_a_command_that_prints_much_the_last_is_kept(tmp_path):
    code = "print('x' * 30_000_000); print('the end')"
    faults, (event,) = notify_outcome(tmp_path, *python(code))
    assert faults == ()
    assert event["message"].endswith("x\nthe end")
    assert len(event["message"]) == 4095  # of 4096 bytes the last is an end of line


def test_news_too_long_for_an_environment_is_cut_at_a_line(tmp_path):
    news = ("a\0b\udc80→", *(f"{n}: {'é' * 500}" for n in range(500)))
    lines = "import os; t = os.environ['IMPORTANCE_AUDIT_NEWS'].splitlines()"
    code = "print(ascii(t[0]), t[-2].count('\u00e9'), len(t), t[-1])"
    _, (event,) = notify_outcome(tmp_path, *python(lines, code), news=news)
    whole = [f"{line}\n".encode() for line in ("ab?→", *news[1:])]
    left = sum(map(len, whole)) - 1 - (sum(map(len, whole[:32])) - 1)
    assert event["message"] == f"{'ab?→'!a} 500 33 ... and {left} bytes more."


def test_a_command_is_run_where_its_end_cannot_be_kept(tmp_path):
    (tmp_path / LOG).mkdir()
    section = ScheduleSection(on_failure=("touch", "told"))
    (fault,) = notify(tmp_path, section, TOLD)
    assert "cannot take a line of 'audit-log.jsonl'" in fault
    assert (tmp_path / "told").exists()
