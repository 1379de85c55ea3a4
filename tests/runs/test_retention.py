"""Old runs go; signed ones, the newest and the last complete one never do."""

import shutil
from dataclasses import replace

import pytest
from tests.runs.baseline.test_change import run_of
from tests.runs.test_folder import full_disk, result

from importance_audit.operate.run import _history, _load_before
from importance_audit.operate.save import save_run
from importance_audit.records.finding import Finding
from importance_audit.runs.audit_log import LOG, append, read_log
from importance_audit.runs.baseline.news import news
from importance_audit.runs.chain import read_chain
from importance_audit.runs.history import load_history
from importance_audit.runs.locks import locked
from importance_audit.runs.retention import remove_old_runs
from importance_audit.runs.summary import history_json

NAMES = [f"2025112{day}T084600Z-3f9a1c2b" for day in range(5)]


@pytest.fixture(scope="module")
def five_runs(tmp_path_factory):
    """Return the folder of an audit with five runs; nobody changes it."""
    folder = tmp_path_factory.mktemp("made")
    for name in NAMES:
        save_run(result(name), folder, {}, exit_code=0)
    return folder


@pytest.fixture
def folder(five_runs, tmp_path):
    return shutil.copytree(five_runs, tmp_path / "a")


def left(folder):
    return sorted(path.name for path in (folder / "runs").iterdir())


def test_the_newest_runs_stay_and_each_removal_is_said_and_kept(folder):
    digests = {line["run"]: line["list"] for line in read_chain(folder).order}
    assert remove_old_runs(folder, 0) == ()
    assert left(folder) == NAMES
    assert remove_old_runs(folder, 2) == tuple(
        f"Run {name!r} was removed: more than the runs to keep, unsigned."
        for name in NAMES[:3]
    )
    assert left(folder) == NAMES[3:]
    removals = [(e["run"], e["list"]) for e in read_log(folder).of("removed")]
    assert removals == [(name, digests[name]) for name in NAMES[:3]]
    assert read_chain(folder).gaps == ()


def test_a_feature_that_moved_is_told_however_few_runs_are_kept(tmp_path):
    """Five runs on other rows let expect a value; four of them are removed."""
    runs = []
    for day, value in enumerate([20, 21, 22, 21, 21, 99]):
        before, now = load_history(tmp_path), run_of([30, value, 10])
        facts = {**now.run.volatile, "run_id": f"{NAMES[0]}{day}"}
        run = replace(now.run, data_sha256=str(day) * 64, volatile=facts)
        runs.append(replace(now, run=run))
        files = {"history.json": history_json(before, runs[-1])}
        save_run(runs[-1], tmp_path, files, exit_code=0)
        remove_old_runs(tmp_path, 1)
        assert (len(left(tmp_path)), len(before.runs)) == (1, day)
    (line,) = news(*runs[-2:], before)
    assert line.startswith("Outside the range of the last 5 runs on other rows, in ")


def test_under_a_log_with_a_broken_line_every_run_stays(folder):
    with (folder / LOG).open("a") as file:
        file.write("{}\n")
    (message,) = remove_old_runs(folder, 1)
    assert message.startswith("Runs beyond the newest 1 were not removed: ")
    assert left(folder) == NAMES


def test_a_signed_run_is_never_removed(folder):
    words = ("meaning", "method", "name", "page", "relation", "role", "signer")
    facts = dict.fromkeys((*words, "statement", "content_digest"), "x")
    listed = read_chain(folder).order[0]["list"]
    append(folder, "signoff", run=NAMES[0], list=listed, **facts)
    remove_old_runs(folder, 1)
    assert left(folder) == [NAMES[0], NAMES[4]]


def test_the_last_complete_run_is_never_removed(tmp_path):
    for name, status in zip(NAMES, ["complete", *["interrupted"] * 4], strict=True):
        run = replace(result(name).run, status=status)
        save_run(result(name, run=run), tmp_path, {}, exit_code=0)
    remove_old_runs(tmp_path, 1)
    assert left(tmp_path) == [NAMES[0], NAMES[4]]


def test_beyond_removed_runs_the_news_still_find_the_last_complete_one(tmp_path):
    finding = Finding(check="dependence", severity="warning", subject="a", message="m.")

    def ended(name, status="complete", **changes):
        run = replace(result(name).run, status=status, data_sha256=name)
        datasets = result(name).datasets.assign(rows=9)
        return result(name, run=run, datasets=datasets, **changes)

    save_run(ended(NAMES[0]), tmp_path, {}, exit_code=0)
    for name in NAMES[1:4]:
        save_run(ended(name, "interrupted"), tmp_path, {}, exit_code=0)
    remove_old_runs(tmp_path, 1)
    assert left(tmp_path) == [NAMES[0], NAMES[3]]
    newest = ended(NAMES[4], findings=(finding,))
    noted = _history(tmp_path, _load_before(tmp_path), newest)
    assert "New: warning, Correlated features: m." in noted


def test_the_newest_run_is_the_end_of_the_chain_not_the_greatest_name(tmp_path):
    for name in (NAMES[3], NAMES[4], NAMES[0]):  # the clock went back
        save_run(result(name), tmp_path, {}, exit_code=0)
    remove_old_runs(tmp_path, 1)
    assert left(tmp_path) == [NAMES[0]]


def test_a_folder_without_its_list_is_left_alone(folder):
    (folder / "runs" / NAMES[0] / "SHA256SUMS").unlink()
    remove_old_runs(folder, 1)
    assert left(folder) == [NAMES[0], NAMES[4]]


def test_nothing_is_removed_while_another_process_is_at_work(folder):
    with locked(folder):
        (message,) = remove_old_runs(folder, 1)
    assert message.startswith("Runs beyond the newest 1 were not removed: Audit ")
    assert left(folder) == NAMES


def test_nothing_is_removed_that_cannot_be_told_of(folder):
    with full_disk((folder / LOG).stat().st_size):
        (message,) = remove_old_runs(folder, 1)
    assert f"cannot take a line of {LOG!r}" in message
    assert left(folder) == NAMES
