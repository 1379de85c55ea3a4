"""Claims about batches: no audit stops the next, and all are stopped together."""

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

from importance_audit.cli.main import main
from importance_audit.cli.run_all import table
from importance_audit.cli.shared import terminable
from importance_audit.operate import batch as batch_module
from importance_audit.operate.batch import (
    Outcome,
    audits_of,
    recent_outcome,
    run_batch,
)
from importance_audit.operate.exit_codes import GRAVEST, gravest
from importance_audit.records.errors import LockedError
from importance_audit.records.errors import printable as shown
from importance_audit.runs.audit_log import append, read_log
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


def test_no_audit_stops_the_next(tmp_path, monkeypatch):
    (tmp_path / "faulty.py").write_text(FAULTY)
    audit(tmp_path / "a-broken").joinpath("audit.toml").write_text("x = [")
    audit(tmp_path / "b-no-data", data=False)
    audit(tmp_path / "c-crash", "faulty.Crashing")
    audit(tmp_path / HOSTILE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    batch, told = quietly(tmp_path)
    names = (HOSTILE, "a-broken", "b-no-data", "c-crash")
    assert told == [f"[{n}/4] audit {shown(name)}" for n, name in enumerate(names, 1)]
    codes = [(o.audit, o.exit_code) for o in batch.outcomes]
    assert codes == list(zip(names, (0, 2, 2, 4), strict=True))
    assert batch.exit_code == 4
    sound, *_, crash = batch.outcomes
    assert [sound.run_id] == runs(tmp_path / HOSTILE)
    assert sound.verdict == "not cross-checked"
    message = "The run's process ended with signal SIGSEGV."
    assert crash == Outcome("c-crash", 4, "", "", message)
    lines = table(batch)
    assert all(line.isprintable() for line in lines)
    assert lines[1].startswith(r"-z \x1b[2J\n <b>ü\udcff  0     not cross-checked")


def test_each_exit_code_has_one_place_among_the_graver():
    assert gravest(()) == 0
    for n, code in enumerate(GRAVEST):
        assert gravest(reversed(GRAVEST[n:])) == code
    assert sorted(GRAVEST) == [0, 1, 2, 3, 4, 5, 130]


def made_run(audit, run_id, code=0):
    (audit / "runs" / run_id).mkdir(parents=True)
    facts = {"bytes": 0, "content_digest": "", "list": "", "message": ""}
    facts |= {"run": run_id, "verdict": "confirmed", "exit_code": code}
    append(audit, "run", **facts, r_failed=False)


def run_id(hours):
    return f"{datetime.now(UTC) - timedelta(hours=hours):%Y%m%dT%H%M%SZ}-3f9a1c2b"


@pytest.mark.parametrize(
    ("hours", "code", "is_skipped"),
    [
        (1, 0, True),
        (1, 1, True),
        (1, 4, True),
        (3, 0, False),
        (-1, 0, False),
        (1, 3, False),
        (1, 130, False),
    ],
)
def test_only_a_recent_finished_run_is_not_made_again(
    tmp_path, hours, code, is_skipped
):
    name = run_id(hours)
    made_run(tmp_path, name, code)
    outcome = recent_outcome(tmp_path, 2)
    assert bool(outcome) is is_skipped
    assert recent_outcome(tmp_path, None) is None
    if outcome:
        assert (outcome.exit_code, outcome.run_id) == (code, name)


def test_a_finished_run_counts_behind_an_interrupted_one(tmp_path):
    made_run(tmp_path, run_id(2))
    made_run(tmp_path, run_id(1), 130)
    assert recent_outcome(tmp_path, 3).exit_code == 0


def test_audits_with_a_recent_run_are_skipped_and_that_is_said(tmp_path):
    """After what the one before printed."""
    for name in "ab":
        audit(tmp_path / name).joinpath("audit.toml").write_text("x = [")
    made_run(tmp_path / "b", run_id(1), 1)
    command = [sys.executable, "-m", "importance_audit", "run", "--all", tmp_path]
    answer = subprocess.run(
        [*command, "--newer-than", "24"], capture_output=True, text=True
    )
    lines = answer.stderr.splitlines()
    places = [lines.index(line) for line in lines if line.startswith("[")]
    told = ["[1/2] audit a", "[2/2] audit b (not run again)"]
    assert [lines[place] for place in places] == told
    assert any(
        line.startswith("audit.toml is not valid TOML")
        for line in lines[places[0] + 1 : places[1]]
    )
    assert answer.returncode == 2
    assert "Not run again: its run began at 20" in answer.stdout + answer.stderr
    assert [len(runs(tmp_path / name)) for name in "ab"] == [0, 1]


def test_an_audit_that_goes_away_meanwhile_is_told(tmp_path, monkeypatch):
    audit(tmp_path / "a").joinpath("audit.toml").write_text("x = [")
    monkeypatch.setattr(batch_module, "audits_of", lambda _: ("a", "b"))
    batch, _ = quietly(tmp_path)
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


def started_batch(folder, *options, stderr=None):
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
        stderr=stderr,
        preexec_fn=listening,  # a job in the background ignores it
    )


def wait_for(path):
    while not path.exists():
        time.sleep(0.01)


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
        (line,) = read_log(tmp_path / name).of("run")
        assert (line["run"], line["exit_code"]) == (run, 130)
    assert runs(tmp_path / "c") == []


def test_an_audit_that_is_killed_is_a_failure_and_others_go_on(tmp_path):
    audit(tmp_path / "a", "faulty.SlowA")
    for name in "bc":
        audit(tmp_path / name)
    with started_batch(tmp_path, "--jobs", "2", stderr=subprocess.PIPE) as batch:
        wait_for(tmp_path / "hereA")
        os.kill(int((tmp_path / "hereA").read_text()), signal.SIGKILL)
        printed = batch.communicate()[1].decode()
    assert batch.returncode == 4
    assert [len(runs(tmp_path / name)) for name in "abc"] == [0, 1, 1]
    killed = "The run's process ended with signal SIGKILL (out of memory?)."
    assert printed.count(killed) == 1


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


def test_only_folders_with_an_audit_beside_each_other_are_audits(tmp_path):
    """One that is linked beside itself is one audit."""
    every, elsewhere = tmp_path / "all", tmp_path / "elsewhere"
    for name in ("b", "ä", "B", ".hidden", "b/runs/20251120T084600Z-3f9a1c2b"):
        audit(every / name, data=False)
    audit(elsewhere, data=False)
    (every / "empty").mkdir()
    for link, target in (("a", "b"), ("d", elsewhere), ("e", "d")):
        (every / link).symlink_to(target)
    assert audits_of(every) == ("B", "b", "d", "ä")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--all", "gone"], "cannot be read: No such file or di"),
        (["--all", "empty"], "holds no folder with an audit.toml."),
        (["--all", "one"], "audit.toml. It is a single audit: leave out --all."),
        (["one", "--jobs", "2"], "--jobs requires --all."),
        (["one", "--newer-than", "2"], "--newer-than requires --all."),
        ([], "Missing argument 'AUDIT', or --all."),
    ],
)
def test_words_that_name_no_audits_are_one_sentence(
    tmp_path, monkeypatch, words, message
):
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    audit(Path("one"), data=False)
    answer = runner().invoke(main, ["run", *words])
    assert (answer.exit_code, message in answer.stderr) == (2, True)
