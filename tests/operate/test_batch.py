"""Claims about batches: no audit stops the next, and all are stopped together."""

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from tests.cli.test_cli import ROOT, invoke, written
from tests.operate.test_notify import is_running, wait_for

from importance_audit.cli.run_all import table
from importance_audit.cli.shared import terminable
from importance_audit.operate.batch import (
    Outcome,
    audits_of,
    recent_outcome,
    run_batch,
)
from importance_audit.operate.exit_codes import GRAVEST, gravest
from importance_audit.records.errors import printable as shown
from importance_audit.runs.audit_log import append, read_log
from importance_audit.runs.locks import locked

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


@pytest.fixture
def make_audit(tmp_path, monkeypatch):
    """Return a function that makes an audit, or one whose file nobody can read."""
    (tmp_path / "faulty.py").write_text(FAULTY)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(tmp_path)]))
    monkeypatch.setenv("HERE", str(tmp_path / "here"))

    def make_audit(name, estimator=LINEAR, text=""):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        if text:
            (folder / "audit.toml").write_text(text)
            return folder
        return written(folder, estimator=estimator)

    return make_audit


BROKEN = "x = ["


def runs(folder):
    return sorted(path.name for path in folder.glob("runs/[!.]*"))


def quietly(folder, **options):
    """Run a batch, and return it with the lines that it tells."""
    lines = []
    options = {"options": ("-q",), **options}
    return run_batch(folder, tell=lines.append, **options), lines


def test_no_audit_stops_the_next(tmp_path, make_audit):
    make_audit("a-broken", text=BROKEN)
    (make_audit("b-no-data") / "train.csv").unlink()
    make_audit("c-crash", "faulty.Crashing")
    make_audit(HOSTILE)
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
    ("made", "skipped"),
    [
        ([(1, 0)], 0),
        ([(1, 1)], 1),
        ([(1, 4)], 4),
        ([(3, 0)], None),
        ([(-1, 0)], None),
        ([(1, 3)], None),
        ([(1, 130)], None),
        ([(1.5, 0), (1, 130)], 0),
    ],
)
def test_only_a_recent_finished_run_is_not_made_again(tmp_path, made, skipped):
    for hours, code in made:
        made_run(tmp_path, run_id(hours), code)
    outcome = recent_outcome(tmp_path, 2)
    assert (outcome and outcome.exit_code) == skipped
    assert recent_outcome(tmp_path, None) is None
    if outcome:
        assert outcome.run_id == runs(tmp_path)[0]


def test_audits_with_a_recent_run_are_skipped_and_that_is_said(tmp_path, make_audit):
    """After what the one before printed."""
    for name in "ab":
        make_audit(name, text=BROKEN)
    made_run(tmp_path / "b", run_id(1), 1)
    words = ["run", "--all", tmp_path, "--newer-than", "24"]
    command = [sys.executable, "-m", "importance_audit", *words]
    answer = subprocess.run(command, capture_output=True, text=True)
    lines = answer.stderr.splitlines()
    places = [lines.index(line) for line in lines if line.startswith("[")]
    told = ["[1/2] audit a", "[2/2] audit b (not run again)"]
    assert [lines[place] for place in places] == told
    of_first = "\n".join(lines[places[0] + 1 : places[1]])
    assert "audit.toml is not valid TOML" in of_first
    assert answer.returncode == 2
    assert "Not run again: its run began at 20" in answer.stdout + answer.stderr
    assert [len(runs(tmp_path / name)) for name in "ab"] == [0, 1]


def test_two_batches_of_a_folder_never_overlap(tmp_path, make_audit):
    make_audit("a", text=BROKEN)
    with locked(tmp_path):
        answer = invoke("run", "--all", tmp_path)
    assert (answer.exit_code, runs(tmp_path / "a")) == (5, [])
    assert "is in use: " in answer.stderr


@pytest.mark.parametrize("is_sent_to_all", [False, True])
def test_a_request_to_stop_ends_all_audits_that_run(
    tmp_path, make_audit, is_sent_to_all
):
    for name in "ab":
        make_audit(name, f"faulty.Slow{name.upper()}")
    make_audit("c")
    words = ["run", "--all", str(tmp_path), "--jobs", "2", "-q"]
    with subprocess.Popen(
        [sys.executable, "-m", "importance_audit", *words],
        start_new_session=True,
        # A job in the background ignores it.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    ) as batch:
        for name in "AB":
            wait_for((tmp_path / f"here{name}").exists)
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


def test_no_run_outlives_a_batch_that_is_killed(tmp_path, make_audit):
    for name in "ab":
        make_audit(name, f"faulty.Slow{name.upper()}")
    words = ["run", "--all", str(tmp_path), "--jobs", "2", "-q"]
    with subprocess.Popen([sys.executable, "-m", "importance_audit", *words]) as batch:
        here = [tmp_path / f"here{name}" for name in "AB"]
        for path in here:
            wait_for(path.exists)
        batch.kill()
    pids = [int(path.read_text()) for path in here]
    wait_for(lambda: not any(map(is_running, pids)))
    assert [runs(tmp_path / name) for name in "ab"] == [[], []]


def test_several_at_a_time_print_only_what_went_wrong_below_their_line(
    tmp_path, make_audit
):
    make_audit("a")
    make_audit("b", text=BROKEN)
    answer = invoke("run", "--all", tmp_path, "--jobs", 2)
    assert answer.stderr.splitlines() == [
        "[1/2] audit a",
        "[2/2] audit b",
        "audit.toml is not valid TOML: Invalid value (at end of document). "
        "Correct it there.",
    ]
    assert answer.exit_code == 2


def test_a_fault_of_the_batch_itself_ends_the_other_audits(tmp_path, make_audit):
    make_audit("a", text=BROKEN)
    make_audit("b", "faulty.SlowB")

    def on_output(_):
        wait_for((tmp_path / "hereB").exists)
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        quietly(tmp_path, on_output=on_output, n_jobs=2)
    assert not is_running(int((tmp_path / "hereB").read_text()))


def test_a_stop_that_comes_while_a_run_is_begun_leaves_no_run_behind(
    tmp_path, monkeypatch, make_audit
):
    make_audit("a", "faulty.Slow")
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


def test_only_folders_with_an_audit_beside_each_other_are_audits(tmp_path, make_audit):
    """One that is linked beside itself is one audit."""
    for name in ("b", "ä", "B", ".hidden", "b/runs/20251120T084600Z-3f9a1c2b"):
        make_audit(f"all/{name}", text=BROKEN)
    elsewhere, every = make_audit("elsewhere", text=BROKEN), tmp_path / "all"
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
    tmp_path, monkeypatch, make_audit, words, message
):
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    make_audit("one", text=BROKEN)
    answer = invoke("run", *words)
    assert (answer.exit_code, message in answer.stderr) == (2, True)
