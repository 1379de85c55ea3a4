"""Claims about batches: no audit stops the next, none that is finished runs again."""

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from tests.cli.test_cli import AUDIT, rows, runner
from tests.operate.test_notify import is_running
from tests.runs.test_folder import full_disk

from importance_audit.cli.main import main
from importance_audit.cli.run_all import table
from importance_audit.cli.shared import terminable
from importance_audit.operate.batch import audits_of, run_batch
from importance_audit.operate.batch_log import LOG, Outcome, find_unfinished_batch
from importance_audit.operate.exit_codes import GRAVEST, gravest
from importance_audit.records.errors import AuditError, LockedError
from importance_audit.records.errors import printable as shown
from importance_audit.runs.events import append_event, read_events
from importance_audit.runs.locks import locked

ROOT = Path(__file__).parents[2]
LINEAR = "sklearn.linear_model.LinearRegression"
FAULTY = """
import os, pathlib, signal, time

class Linear:
    def predict(self, X):
        return X["a"].to_numpy()

class Crashing(Linear):
    def fit(self, X, y):
        os.kill(os.getpid(), signal.SIGSEGV)

class Slow(Linear):
    def fit(self, X, y):
        name = os.environ["HERE"] + type(self).__name__.removeprefix("Slow")
        pathlib.Path(f"{name}.new").write_text(str(os.getpid()))
        pathlib.Path(f"{name}.new").rename(name)
        time.sleep(60)

class SlowA(Slow):
    pass

class SlowB(Slow):
    pass
"""
HOSTILE = "-z \x1b[2J\n <b>ü\udcff"


def audit(folder, estimator=LINEAR, data=True):
    """Make an audit whose rows need not be there."""
    folder.mkdir(parents=True)
    text = AUDIT.format(task="regression", estimator=estimator, parameters="{}")
    text += '[report]\nprofile = "bundle"\n'
    (folder / "audit.toml").write_text(text, encoding="utf8")
    for seed, name in enumerate(("train.csv", "test.csv") if data else ()):
        rows(seed=seed).to_csv(folder / name, index=False)
    return folder


def runs(folder):
    return sorted(path.name for path in folder.glob("runs/[!.]*"))


def quietly(folder, **options):
    """Run a batch, and return it with the lines that it tells."""
    lines = []
    ignored = {"after_each": lambda _: None, "options": ("-q",)}
    return run_batch(folder, tell=lines.append, **{**ignored, **options}), lines


@pytest.fixture(scope="module", params=[1, 3])
def mixed(tmp_path_factory, request):
    """Return a batch of five audits, of which three go wrong, and its outcomes."""
    folder = tmp_path_factory.mktemp("mixed")
    (folder / "faulty.py").write_text(FAULTY)
    audit(folder / "a-broken").joinpath("audit.toml").write_text("x = [")
    audit(folder / "b-no-data", data=False)
    audit(folder / "c-crash", "faulty.Crashing")
    audit(folder / "d-sound")
    audit(folder / HOSTILE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder))
        batch, lines = quietly(folder, n_jobs=request.param)
    names = (HOSTILE, "a-broken", "b-no-data", "c-crash", "d-sound")
    assert lines == [f"[{n}/5] audit {shown(name)}" for n, name in enumerate(names, 1)]
    return folder, batch


def test_no_audit_stops_the_next(mixed):
    folder, batch = mixed
    assert [(o.audit, o.exit_code) for o in batch.outcomes] == [
        (HOSTILE, 0),
        ("a-broken", 2),
        ("b-no-data", 2),
        ("c-crash", 4),
        ("d-sound", 0),
    ]
    assert batch.exit_code == 4
    for outcome in (batch.outcomes[0], batch.outcomes[-1]):
        assert [outcome.run_id] == runs(folder / outcome.audit)
        assert outcome.verdict == "not cross-checked"


def test_a_process_that_died_is_told_by_its_signal(mixed):
    crash = mixed[1].outcomes[3]
    message = "The run's process ended with signal SIGSEGV."
    assert crash == Outcome("c-crash", 4, "", "", message, crash.seconds)


def test_what_became_of_each_is_in_the_log_whatever_its_name(mixed):
    folder, batch = mixed
    lines = read_events(folder, of=LOG)
    assert [lines[0]["event"], lines[-1]["event"]] == ["batch_began", "batch_ended"]
    ended = [line for line in lines if line["event"] == "audit_ended"]
    outcomes = [Outcome(**{f: e[f] for f in Outcome._fields}) for e in ended]
    assert sorted(outcomes) == [*batch.outcomes]  # in the order in which they ended


def test_a_hostile_name_is_one_line_that_moves_nothing(mixed):
    lines = table(mixed[1])
    assert shown(HOSTILE) == r"-z \x1b[2J\n <b>ü\udcff"
    assert all(line.isprintable() for line in lines)
    assert lines[1].startswith(r"-z \x1b[2J\n <b>ü\udcff  0     not cross-checked")


def test_each_exit_code_has_one_place_among_the_graver():
    assert gravest(()) == 0
    for n, code in enumerate(GRAVEST):
        assert gravest(reversed(GRAVEST[n:])) == code
    assert sorted(GRAVEST) == [0, 1, 2, 3, 4, 5, 130]


def logged(folder, *events, age=timedelta()):
    """Write a log as of some time ago."""
    time = (datetime.now(UTC) - age).isoformat()
    lines = [json.dumps({"time": time, **event}) for event in events]
    (folder / LOG).write_text("".join(f"{line}\n" for line in lines))


def ended(name, code, run_id="20251120T084600Z-3f9a1c2b"):
    return {"event": "audit_ended", **Outcome(name, code, run_id)._asdict()}


def began(name):
    return {"event": "audit_began", "audit": name}


BEGAN = {"event": "batch_began"}
ENDED = {"event": "batch_ended", "exit_code": 0}


def test_of_a_batch_cut_short_only_what_left_a_finished_run_is_done(tmp_path):
    codes = {"a": 0, "b": 1, "c": 4, "d": 2, "e": 3, "f": 5, "g": 130}
    logged(tmp_path, BEGAN, *(ended(name, code) for name, code in codes.items()))
    batch = find_unfinished_batch(tmp_path, print)
    assert [outcome.audit for outcome in batch.finished] == ["a", "b", "c"]


def test_a_crash_without_a_run_is_not_done(tmp_path):
    logged(tmp_path, BEGAN, ended("a", 4, ""))
    assert find_unfinished_batch(tmp_path, print).finished == ()


def test_a_batch_that_ended_is_not_taken_up(tmp_path):
    logged(tmp_path, BEGAN, ended("a", 0), ENDED)
    assert find_unfinished_batch(tmp_path, print) is None
    logged(tmp_path, BEGAN, ENDED, BEGAN, ended("b", 0), {"event": "batch_stopped"})
    assert [o.audit for o in find_unfinished_batch(tmp_path, print).finished] == ["b"]


@pytest.mark.parametrize(
    ("hours", "why"), [(24.1, "more than 24 h ago"), (-1, "in what is now the future")]
)
def test_an_old_batch_is_not_taken_up_and_that_is_said(tmp_path, hours, why):
    logged(tmp_path, BEGAN, ended("a", 0), age=timedelta(hours=hours))
    lines = []
    assert find_unfinished_batch(tmp_path, lines.append) is None
    assert lines[0].endswith(
        f"was interrupted and is not resumed, because it began {why}. All audits are "
        "run."
    )


def test_lines_that_nobody_can_read_are_counted(tmp_path):
    logged(tmp_path, BEGAN, ended("a", 0), {"event": "audit_ended", "audit": "b"})
    with (tmp_path / LOG).open("a") as file:
        file.write('{"time": 3, "event": "audit_began"}\nnonsense\n{"time": "2026')
    lines = []
    batch = find_unfinished_batch(tmp_path, lines.append)
    assert [outcome.audit for outcome in batch.finished] == ["a"]
    message = (
        f"Of {LOG} 3 lines cannot be read; the audits recorded there are run again."
    )
    assert lines == [message]


def manifest(audit, run_id, code=0):
    folder = audit / "runs" / run_id
    folder.mkdir(parents=True)
    facts = {"run_id": run_id, "verdict": "confirmed", "exit_code": code}
    (folder / "manifest.json").write_text(json.dumps(facts))


def test_a_run_saved_just_before_the_batch_was_killed_is_done(tmp_path):
    logged(tmp_path, BEGAN, began("new"), began("old"))
    manifest(tmp_path / "new", f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-3f9a1c2b")
    manifest(tmp_path / "old", "20251120T084600Z-3f9a1c2b")
    batch = find_unfinished_batch(tmp_path, print)
    assert [outcome.audit for outcome in batch.finished] == ["new"]
    assert batch.started == {"new", "old"}


def test_what_was_under_way_at_a_kill_has_its_turn_last(tmp_path):
    for name in "abc":
        audit(tmp_path / name).joinpath("audit.toml").write_text("x = [")
    logged(tmp_path, BEGAN, ended("b", 0), began("a"))
    batch, lines = quietly(tmp_path)
    assert [line.split()[-1] for line in lines[1:]] == ["c", "a"]
    assert lines[0].endswith(
        "without the audits that had finished: 1 audit (--fresh runs all)."
    )
    assert [outcome.exit_code for outcome in batch.outcomes] == [2, 0, 2]


def test_fresh_takes_nothing_up(tmp_path):
    audit(tmp_path / "a").joinpath("audit.toml").write_text("x = [")
    logged(tmp_path, BEGAN, ended("a", 0))
    assert quietly(tmp_path, fresh=True)[0].outcomes[0].exit_code == 2


def test_an_audit_that_goes_away_meanwhile_is_told(tmp_path):
    for name in "ab":
        audit(tmp_path / name).joinpath("audit.toml").write_text("x = [")
    gone = tmp_path / "b" / "audit.toml"
    batch, _ = quietly(tmp_path, after_each=lambda _: gone.unlink(missing_ok=True))
    message = "audit.toml disappeared after the batch began."
    assert batch.outcomes[1] == Outcome("b", 2, message=message)


def test_two_batches_of_a_folder_never_overlap(tmp_path):
    audit(tmp_path / "a")
    with locked(tmp_path):
        answer = runner().invoke(main, ["run", "--all", str(tmp_path)])
    assert (answer.exit_code, runs(tmp_path / "a")) == (5, [])
    assert "is in use: " in answer.stderr
    with locked(tmp_path), pytest.raises(LockedError):
        quietly(tmp_path)


def started_batch(folder, *options):
    """Start a batch of these audits in a process of its own."""
    (folder / "faulty.py").write_text(FAULTY)
    command = [sys.executable, "-m", "importance_audit", "run", "--all", str(folder)]
    paths = os.pathsep.join([str(ROOT), str(folder)])
    surroundings = {**os.environ, "PYTHONPATH": paths, "HERE": str(folder / "here")}
    listening = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    return subprocess.Popen(
        [*command, "-q", *options],
        env=surroundings,
        start_new_session=True,
        preexec_fn=listening,  # a job in the background ignores it
    )


def wait_for(path):
    while not path.exists():
        time.sleep(0.01)


def test_ctrl_c_stops_the_batch_which_can_be_taken_up(tmp_path):
    audit(tmp_path / "a", "faulty.Slow")
    audit(tmp_path / "b")
    with started_batch(tmp_path) as batch:
        wait_for(tmp_path / "here")
        os.killpg(batch.pid, signal.SIGINT)  # as a terminal does: to both processes
    assert batch.returncode == 130
    assert len(runs(tmp_path / "a")) == 1
    assert runs(tmp_path / "b") == []
    unfinished = find_unfinished_batch(tmp_path, print)
    assert (unfinished.started, unfinished.finished) == ({"a"}, ())


@pytest.mark.parametrize("is_sent_to_all", [False, True])
def test_a_request_to_stop_ends_all_audits_that_run(tmp_path, is_sent_to_all):
    for name in "ab":
        audit(tmp_path / name, f"faulty.Slow{name.upper()}")
    audit(tmp_path / "c")
    with started_batch(tmp_path, "--jobs", "2") as batch:
        for name in "AB":
            wait_for(tmp_path / f"here{name}")
        if is_sent_to_all:  # as a terminal does
            os.killpg(batch.pid, signal.SIGINT)
        else:
            batch.terminate()
    assert batch.returncode == 130
    for name in "ab":
        (run,) = runs(tmp_path / name)
        manifest = json.loads(
            (tmp_path / name / "runs" / run / "manifest.json").read_text()
        )
        assert manifest["exit_code"] == 130
    assert runs(tmp_path / "c") == []
    unfinished = find_unfinished_batch(tmp_path, print)
    assert (unfinished.started, unfinished.finished) == ({"a", "b"}, ())


def test_an_audit_that_is_killed_is_a_failure_and_others_go_on(tmp_path):
    audit(tmp_path / "a", "faulty.SlowA")
    for name in "bc":
        audit(tmp_path / name)
    with started_batch(tmp_path, "--jobs", "2") as batch:
        wait_for(tmp_path / "hereA")
        os.kill(int((tmp_path / "hereA").read_text()), signal.SIGKILL)
    assert batch.returncode == 4
    assert [len(runs(tmp_path / name)) for name in "abc"] == [0, 1, 1]
    ended = [e for e in read_events(tmp_path, of=LOG) if e["event"] == "audit_ended"]
    messages = {line["audit"]: line["message"] for line in ended}
    killed = "The run's process ended with signal SIGKILL (out of memory?)."
    assert messages == {"a": killed, "b": "", "c": ""}


def test_several_at_a_time_print_only_what_went_wrong_below_their_line(tmp_path):
    for name in "ac":
        audit(tmp_path / name)
    audit(tmp_path / "b").joinpath("audit.toml").write_text("x = [")
    options = ["run", "--all", str(tmp_path), "--jobs", "3"]
    answer = runner().invoke(main, options)
    lines = answer.stderr.splitlines()
    assert [lines[0], lines[1], lines[-1]] == [
        *("[1/3] audit a", "[2/3] audit b", "[3/3] audit c")
    ]
    assert lines[2:-1] == [
        "audit.toml is not valid TOML: Invalid value (at end of document). "
        "Correct it there."
    ]
    assert answer.exit_code == 2


def test_a_fault_of_the_batch_itself_ends_the_other_audits(tmp_path, monkeypatch):
    (tmp_path / "faulty.py").write_text(FAULTY)
    audit(tmp_path / "a").joinpath("audit.toml").write_text("x = [")
    audit(tmp_path / "b", "faulty.SlowB")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("HERE", str(tmp_path / "here"))

    def after_each(_):
        wait_for(tmp_path / "hereB")
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        quietly(tmp_path, after_each=after_each, n_jobs=2)
    assert not is_running(int((tmp_path / "hereB").read_text()))


def test_jobs_are_of_several_audits(tmp_path):
    answer = runner().invoke(main, ["run", str(tmp_path), "--jobs", "2"])
    assert answer.exit_code == 2
    assert "--jobs requires --all." in answer.stderr


def test_a_stop_that_comes_while_a_run_is_begun_leaves_no_run_behind(
    tmp_path, monkeypatch
):
    (tmp_path / "faulty.py").write_text(FAULTY)
    audit(tmp_path / "a", "faulty.Slow")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("HERE", str(tmp_path / "here"))
    pids = []

    class Busy(subprocess.Popen):  # its start ends as the signal arrives
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            pids.append(self.pid)
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(subprocess, "Popen", Busy)
    with terminable():
        batch, _ = quietly(tmp_path)
    assert (batch.exit_code, batch.outcomes[0].exit_code) == (130, 130)
    assert not is_running(pids[0])


def test_a_full_disk_is_one_sentence_before_anything_is_run(tmp_path):
    audit(tmp_path / "a")
    append_event(tmp_path, "batch_ended", into=LOG)
    before = (tmp_path / LOG).read_bytes()
    with full_disk(len(before)), pytest.raises(AuditError) as error:
        quietly(tmp_path)
    assert str(error.value) == (
        f"Folder '{tmp_path}' cannot take a line of 'batch.jsonl': File too large."
    )
    assert ((tmp_path / LOG).read_bytes(), runs(tmp_path / "a")) == (before, [])


def test_only_folders_with_an_audit_beside_each_other_are_audits(tmp_path):
    for name in ("b", "ä", "B", ".hidden", "b/runs/20251120T084600Z-3f9a1c2b"):
        audit(tmp_path / name, data=False)
    (tmp_path / "empty").mkdir()
    assert audits_of(tmp_path) == ("B", "b", "ä")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gone", "cannot be read: No such file or di"),
        ("empty", "holds no folder with an audit.toml."),
        ("one", "audit.toml. It is a single audit: leave out --all."),
    ],
)
def test_a_folder_without_audits_is_one_sentence(tmp_path, name, message):
    (tmp_path / "empty").mkdir()
    audit(tmp_path / "one", data=False)
    answer = runner().invoke(main, ["run", "--all", str(tmp_path / name)])
    assert (answer.exit_code, message in answer.stderr) == (2, True)


def test_without_all_an_audit_must_be_named():
    answer = runner().invoke(main, ["run"])
    assert answer.exit_code == 2
    assert "Missing argument 'AUDIT', or --all." in answer.stderr
