"""Runs that nobody watches: each way in which one can end reaches its owner."""

import json
import os
import signal
import subprocess
import sys
import threading
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.cli.test_cli import ROOT, UNPRINTED, written
from tests.operate.test_notify import is_running, wait_for
from tests.runs.test_attempts import kinds

from importance_audit.operate import unattended
from importance_audit.operate.unattended import run_unattended
from importance_audit.runs.audit_log import append, read_log
from importance_audit.runs.folder import load_run
from importance_audit.runs.locks import locked
from importance_audit.runs.timeline import timeline

TELL = """
import json, os, sys
names = "EVENT RUN EXIT_CODE VERDICT NEWS SUMMARY".split()
told = {name: os.environ[f"IMPORTANCE_AUDIT_{name}"] for name in names}
with open("told.jsonl", "a", encoding="utf8") as file:
    file.write(json.dumps(told) + "\\n")
"""
MODEL = """
import os, signal, time
from sklearn.linear_model import LinearRegression
class Model(LinearRegression):
    def fit(self, X, y):
        open("fitting", "w").close()
        {fit}
"""


@pytest.fixture
def audit(tmp_path, monkeypatch):
    """Return a function that writes a small audit which tells of its runs."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(tmp_path)]))
    monkeypatch.chdir(tmp_path)

    def audit(fit="", more="", schedule=""):
        folder = tmp_path / "credit"
        folder.mkdir(exist_ok=True)
        (folder / "tell.py").write_text(TELL)
        (tmp_path / "at_hand.py").write_text(MODEL.format(fit=fit))
        hooks = "".join(
            f"on_{event} = {json.dumps([sys.executable, 'tell.py', event])}\n"
            for event in ("change", "failure", "success")
        )
        report = f"{UNPRINTED}[schedule]\n{hooks}{schedule}"
        model = {"estimator": "at_hand.Model"} if fit else {}
        written(folder, report=report, **model)
        path = folder / "audit.toml"
        path.write_text(more + path.read_text("utf8"), encoding="utf8")
        return folder

    return audit


def notices(folder):
    lines = (folder / "told.jsonl").read_text(encoding="utf8").splitlines()
    return [json.loads(line) for line in lines]


def start_run(folder, *options, **environment):
    """Begin `run` in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "importance_audit", "run", str(folder), *options],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def quietly(folder, **options):
    """Run an audit unattended in this process, and say nothing."""
    return run_unattended(folder, say=lambda _: None, **options)


def start_fitting(folder, *options):
    """Begin `run` in a process of its own, and wait until its model is being fitted."""
    process = start_run(folder, *options)
    wait_for(lambda: Path("fitting").exists() or process.poll() is not None)
    assert process.poll() is None, process.communicate()[1]
    return process


TAKEN = """
import os, sys
assert os.open(".", os.O_RDONLY) == 2  # as imports leave one open
from importance_audit.cli.streams import outlets
with outlets():
    print("unseen", file=sys.stderr)
    print(os.readlink("/proc/self/fd/2"))
"""


def test_a_closed_stream_is_opened_where_an_import_took_its_number():
    words = ["bash", "-c", 'exec "$@" 2>&-', "bash", sys.executable, "-c", TAKEN]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout == "/dev/null\n"


def test_a_job_without_standard_streams_runs_to_its_end(audit):
    folder = audit(fit="pass")
    words = [sys.executable, "-P", "-m", "importance_audit", "run", str(folder)]
    closing = ["bash", "-c", 'exec "$@" <&- >&- 2>&-', "bash"]
    done = subprocess.run([*closing, *words, "--unattended"], check=False)
    assert kinds(folder)[:2] == ["began", "run"]
    (end,) = read_log(folder).of("run")
    assert done.returncode == end["exit_code"]


def test_a_request_to_stop_that_an_import_took_for_a_fault_is_one(audit, tmp_path):
    folder = audit(fit="pass")
    (tmp_path / "at_hand.py").write_text(
        'raise ImportError("initialization failed") from KeyboardInterrupt("SIGTERM")'
    )
    ended = run_unattended(folder, say=print)
    assert (ended.code, bool(ended.run_id)) == (130, True)


def test_of_two_runs_at_once_one_is_refused_and_a_kill_frees_the_lock(audit):
    folder = audit(fit="time.sleep(600)")
    first = start_fitting(folder, "-q")
    second = start_run(folder, "-q")
    assert second.communicate()[1] == (
        f"Audit {str(folder)!r} is in use: process {first.pid} on "
        f"{os.uname().nodename!r} has been using it since "
        f"{json.loads((folder / '.lock').read_bytes())['began']}. Wait until it has "
        "ended, or stop it.\n"
    )
    assert (second.returncode, kinds(folder)) == (5, ["began"])
    first.kill()
    first.communicate()
    third = start_run(audit(), "-q")
    faults = third.communicate()[1]
    assert f"process {first.pid}, which began it at 20" in faults
    assert third.returncode == 0
    assert kinds(folder) == ["began", "died", "began", "run"]


def test_a_run_tells_of_its_verdict_and_the_same_again_of_nothing_new(audit):
    folder, lines = audit(schedule="keep = 1\n"), []
    ended = [run_unattended(folder, say=lines.append) for _ in range(2)]
    (run,) = (folder / "runs").iterdir()
    assert [end.code for end in ended] == [0, 0]
    assert [one["EVENT"] for one in notices(folder)] == ["change", "success", "success"]
    assert notices(folder)[0]["NEWS"] == f"This is the first run: {ended[0].verdict}."
    assert notices(folder)[2]["RUN"] == str(run) == str(run.parent / ended[1].run_id)
    assert notices(folder)[2]["SUMMARY"] == (run / "summary.txt").read_text()
    assert [line for line in lines if "was removed" in line] != []


def test_a_configuration_that_is_wrong_is_told_with_its_message(audit):
    folder = audit(more="sed = 1\n")
    ended = quietly(folder)
    again = quietly(folder)
    assert (ended.code, again.code, ended.run_id) == (2, 2, "")
    assert [one["EVENT"] for one in notices(folder)] == ["change", "failure", "failure"]
    assert (notices(folder)[1]["RUN"], notices(folder)[1]["EXIT_CODE"]) == ("", "2")
    assert notices(folder)[1]["NEWS"] == notices(folder)[2]["SUMMARY"] == ended.message
    assert "Did you mean 'seed'?" in ended.message


def test_a_folder_of_runs_that_cannot_be_read_is_told(audit):
    folder = audit()
    (folder / "runs").symlink_to("runs")
    ended = quietly(folder)
    assert (ended.code, ended.message) == (
        2,
        f"Folder {str(folder / 'runs')!r} cannot be read: Too many levels of symbolic "
        "links.",
    )
    (told,) = [n for n in notices(folder) if n["EVENT"] == "failure"]
    assert (told["EXIT_CODE"], told["SUMMARY"]) == ("2", ended.message)


def test_a_run_that_is_killed_is_told_and_leaves_the_lock_free(audit):
    folder = audit(fit="os.kill(os.getpid(), signal.SIGKILL)")
    ended = quietly(folder)
    assert (ended.code, ended.run_id) == (4, "")
    assert "its process ended with signal SIGKILL (out of memory?)." in ended.message
    assert kinds(folder) == ["began", "died", "notified", "notified"]
    assert notices(folder)[1]["EVENT"] == "failure"
    assert "was killed, or its machine stopped." in notices(folder)[1]["NEWS"]


@pytest.mark.parametrize(
    ("ends", "words"), [("kill -9 $$", "signal SIGKILL"), ("exit 1", "exit code 1")]
)
def test_a_run_that_ends_before_it_says_that_it_began_is_in_the_log(
    audit, monkeypatch, ends, words
):
    folder = audit()
    command = ["/bin/sh", "-c", ends]
    monkeypatch.setattr(unattended, "run_command", lambda *_: command)
    assert quietly(folder).code == 4
    assert kinds(folder)[:2] == ["failed", "notified"]
    (row, *_) = timeline(folder).rows
    assert f"its process ended with {words}" in row.note


def test_a_run_beyond_the_time_that_the_command_gives_it_is_ended_and_told(audit):
    folder = audit(fit="time.sleep(600)", schedule="minutes = 9\nretries = 3\n")
    options = ("--unattended", "--all", "--minutes", "0.05", "-q")
    process = start_run(folder.parent, *options)
    process.communicate()
    (run,) = (folder / "runs").iterdir()
    assert process.returncode == 4
    assert load_run(run).run.status == "complete"
    message = (
        "The time limit of 0.05 minutes was reached before everything was measured. "
        "Cut short: models."
    )
    assert message in notices(folder)[-1]["SUMMARY"]
    assert kinds(folder).count("began") == 1


def test_the_tries_of_a_run_share_its_time(audit, monkeypatch):
    limits, clock = [], [0.0]

    def attempt(_path, minutes, *_):
        limits.append(minutes)
        clock[0] += 90.0
        return unattended.UnattendedOutcome(3, r_failed=True)

    monkeypatch.setattr(unattended, "_attempt", attempt)
    monkeypatch.setattr(unattended.time, "monotonic", lambda: clock[0])
    quietly(audit(schedule="minutes = 4\nretries = 9\n"))
    assert limits == [4, 2.5, 1.0]


def test_a_request_to_stop_that_was_lost_on_its_way_still_ends_the_run(audit):
    lost = """from importance_audit.records import interrupt
        interrupt.AGAIN_SECONDS = 0.5
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        except BaseException:
            pass
        time.sleep(60)"""
    ended = quietly(audit(fit=lost))
    assert (ended.code, bool(ended.run_id)) == (130, True)
    assert "interrupted by SIGTERM" in notices(audit())[-1]["SUMMARY"]


def test_a_run_that_r_failed_is_tried_again_and_each_try_is_said(audit, monkeypatch):
    monkeypatch.setenv("IMPORTANCE_AUDIT_R_LIBRARY", "/nowhere")
    monkeypatch.setenv("PATH", "/nowhere")
    folder = audit(more='require = ["DALEX"]\n', schedule="retries = 1\n")
    lines = []
    ended = run_unattended(folder, say=lines.append)
    assert (ended.code, ended.r_failed) == (3, True)
    assert kinds(folder)[:4] == ["began", "run", "began", "run"]
    assert [line[:43] for line in lines if "is retried" in line] == [
        "R failed, so the audit is retried (1 more):"
    ]


def test_a_run_asked_to_stop_saves_tells_and_ends_with_130(audit):
    folder = audit(fit="time.sleep(600)")
    process = start_fitting(folder, "--unattended")
    process.send_signal(signal.SIGTERM)
    log = process.communicate()[1]
    (run,) = (folder / "runs").iterdir()
    assert process.returncode == 130
    assert load_run(run).run.status == "interrupted"
    assert notices(folder)[-1]["EVENT"] == "failure"
    assert f"Ended with exit code 130, run {run.name}." in log


def test_a_request_to_stop_that_comes_while_a_run_is_begun_is_passed_on(audit):
    folder, due = audit(fit="time.sleep(600)"), [signal.SIGTERM]

    def ask(event, _):  # just before there is a process to pass it on to
        if event == "subprocess.Popen" and due:
            os.kill(os.getpid(), due.pop())

    sys.addaudithook(ask)
    ended = quietly(folder)
    assert ended.code == 130
    assert "it did not stop" not in ended.message


def test_a_run_whose_watcher_was_gone_before_it_looked_does_nothing(audit):
    folder, gone = audit(), subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    process = start_run(folder, "--parent", str(gone.pid))
    assert process.communicate() == ("", "")
    assert (process.returncode, kinds(folder)) == (-signal.SIGKILL, [])


def test_a_run_that_never_returns_is_killed_and_told(audit, monkeypatch):
    monkeypatch.setattr("importance_audit.operate.unattended.GRACE_SECONDS", 0.5)
    deaf = "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])"
    folder = audit(fit=f"{deaf}; open('deaf', 'w').close(); time.sleep(600)")

    def stop():
        wait_for(Path("deaf").exists)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=stop, daemon=True).start()
    ended = quietly(folder)
    assert (ended.code, ended.run_id) == (130, "")
    words = "it did not stop within 0.5 seconds of the request to stop."
    assert words in notices(folder)[-1]["NEWS"]
    with locked(folder):
        assert kinds(folder)[:2] == ["began", "died"]


def test_an_audit_under_way_is_told_with_who_is_at_work(audit):
    folder = audit()
    with locked(folder):
        ended = quietly(folder)
    assert (ended.code, ended.run_id) == (5, "")
    told = notices(folder)[-1]
    assert told["NEWS"].startswith(f"Audit {str(folder)!r} is in use: process ")
    assert told["NEWS"].endswith(". Wait until it has ended, or stop it.")
    assert told["SUMMARY"] == told["NEWS"]


def test_a_run_dies_with_the_process_that_watches_it(audit):
    folder = audit(fit="time.sleep(600)")
    process = start_fitting(folder, "--unattended")
    child = read_log(folder).of("began")[0]["pid"]
    process.kill()
    process.communicate()
    wait_for(lambda: not is_running(child))
    with locked(folder):
        assert kinds(folder) == ["began"]


def test_a_failure_that_nobody_heard_of_is_told_by_the_next_run(audit):
    folder = audit()
    append(folder, "began", pid=7, host="h", unattended=True)
    append(folder, "failed", exit_code=2, message="It broke.", r_failed=False)
    quietly(folder)
    first, *others = notices(folder)[0]["NEWS"].splitlines()
    assert first.startswith("The previous run ended with exit code 2 at 20")
    assert first.endswith(", and no notification was sent: It broke.")
    words = "The previous attempt ended with exit code 2 and left no run; this one did."
    assert words in others


def test_a_fault_before_a_run_that_was_killed_is_not_called_the_previous_attempt(audit):
    folder = audit()
    append(folder, "began", pid=7, host="h", unattended=False)
    append(folder, "failed", exit_code=2, message="It broke.", r_failed=False)
    append(folder, "began", pid=8, host="h", unattended=False)
    quietly(folder)
    told = notices(folder)[0]["NEWS"]
    assert "The run that process 8 began at " in told
    assert "The previous attempt ended with exit code" not in told


def test_change_that_nobody_heard_of_is_told_by_the_next_run(audit):
    folder = audit()
    process = start_run(folder, "-q", "--watched")  # as if its watcher was killed
    assert process.communicate() == ("", "")
    assert quietly(folder).code == 0
    (news,) = (one["NEWS"] for one in notices(folder) if one["EVENT"] == "change")
    assert news.startswith("The previous run ended with exit code 0 at 20")
    assert (
        ", and no notification was sent: This is the first run: not cross-checked"
    ) in news


def test_no_zone_locale_or_folder_moves_a_run_and_a_clock_put_right_is_said(audit):
    folder = audit()
    append(folder, "clock", time="2999-01-01T00:00:00+00:00", message="ahead")
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):
        process = start_run(folder, "-q", TZ=zone, LC_ALL="C")
        assert process.communicate() == ("", "")
        os.chdir(ROOT)
    names = [entry["run"] for entry in read_log(folder).of("run")]
    first, second = (load_run(folder / "runs" / name) for name in names)
    begun = [datetime.fromisoformat(r.run.volatile["started"]) for r in (first, second)]
    assert timedelta() <= begun[1] - begun[0] < timedelta(hours=1)  # maybe one second
    (finding,) = (f for f in first.findings if f.check == "clock_went_back")
    assert (finding.severity, finding.measure) == ("warning", "before the run")
    assert "clock_went_back" not in {f.check for f in second.findings}
    assert kinds(folder)[:4] == ["clock", "clock", "began", "run"]
