"""Claims about the order of runs: what is missing, altered, unknown or only removed."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from tests.runs.test_folder import read_only, result, save

from importance_audit.records.errors import DataError
from importance_audit.runs import chain
from importance_audit.runs.audit_log import LOG, append, read_log
from importance_audit.runs.chain import read_chain
from importance_audit.runs.digests import sha256

A, B, C, D = (f"2025112{n}T084600Z-3f9a1c2b" for n in range(4))


@pytest.fixture(scope="module")
def three_runs(tmp_path_factory):
    """Return an audit of three runs; nobody changes it."""
    folder = tmp_path_factory.mktemp("made") / "a"
    for name in (A, B, C):
        save(folder, result(name))
    return folder


@pytest.fixture
def audit(tmp_path, three_runs):
    return shutil.copytree(three_runs, tmp_path / "a")


def remove(folder):
    shutil.rmtree(folder)


def digest_of(audit, name):
    return sha256((audit / "runs" / name / "SHA256SUMS").read_bytes())


def tell_removed(audit, name):
    """Remove a run as retention does."""
    append(audit, "removed", run=name, list=digest_of(audit, name), why="too many")
    remove(audit / "runs" / name)


def names(audit):
    return [line["run"] for line in read_chain(audit).order]


def test_a_whole_chain_has_its_runs_in_order_with_their_digests(audit):
    chain = read_chain(audit)
    digests = [(line["run"], line["list"]) for line in chain.order]
    assert digests == [(name, digest_of(audit, name)) for name in (A, B, C)]
    assert chain.order == read_log(audit).of("run")
    assert (chain.gaps, chain.removed) == ((), ())


def test_an_audit_without_runs_has_an_empty_chain(tmp_path):
    assert read_chain(tmp_path)[:3] == ((), (), ())


LIST = f"runs/{B}/SHA256SUMS"


def replaced(path, make):
    path.unlink()
    make(path)


def exchange(path, old, new):
    path.write_bytes(path.read_bytes().replace(old, new, 1))


GAPS = {
    "deleted": (
        lambda audit: remove(audit / "runs" / B),
        [A, C],
        f"Run '{B}' is missing: line 3 of {LOG} names it, but its folder no longer "
        "exists.",
    ),
    "list altered": (
        lambda audit: exchange(audit / LIST, b"\n", b"\n\n"),
        [A, C],
        f"SHA256SUMS of run '{B}' has SHA-256 ",
    ),
    "list deleted": (
        lambda audit: (audit / LIST).unlink(),
        [A, C],
        f"SHA256SUMS of run '{B}' cannot be read: no such file.",
    ),
    "list is a FIFO": (
        lambda audit: replaced(audit / LIST, os.mkfifo),
        [A, C],
        f"SHA256SUMS of run '{B}' cannot be read: a FIFO.",
    ),
    "copied": (
        lambda audit: shutil.copytree(audit / "runs" / B, audit / "runs" / "copy"),
        [A, B, C],
        f"Folder 'copy' in runs/ is no run that {LOG} names.",
    ),
    "line altered": (
        lambda audit: exchange(audit / LOG, b'"exit_code":0', b'"exit_code":1'),
        [A, B, C],
        f"{LOG}: line 3: expected previous ",
    ),
    "log is a folder": (
        lambda audit: replaced(audit / LOG, os.mkdir),
        [],
        "{audit}/audit-log.jsonl cannot be read: a folder.",
    ),
}


@pytest.mark.parametrize("how", GAPS)
def test_what_became_of_a_run_or_the_log_is_one_gap(audit, how):
    alter, order, gap = GAPS[how]
    alter(audit)
    (said,) = read_chain(audit).gaps
    assert said.startswith(gap.format(audit=audit))
    assert names(audit) == order


def hide(run):
    run.rename(run.with_name(f".{run.name}.01234567.part"))


@pytest.mark.parametrize(
    ("what", "order"),
    [
        (lambda runs: (runs / "notes.txt").write_text("mine"), [A, B, C]),
        (lambda runs: (runs / f".{D}.01234567.part").mkdir(), [A, B, C]),
        (lambda runs: hide(runs / C), [A, B]),  # it has its line, not yet its name
    ],
)
def test_what_is_no_folder_or_not_yet_named_is_no_run_and_no_gap(audit, what, order):
    what(audit / "runs")
    assert (names(audit), read_chain(audit).gaps) == (order, ())


def test_a_run_that_retention_removed_is_no_gap(audit):
    tell_removed(audit, A)
    assert read_chain(audit)[1:3] == ((), (A,))


def test_a_clock_that_went_back_does_not_change_the_order(tmp_path):
    for name in (B, C, A, D):
        save(tmp_path, result(name))
    assert (names(tmp_path), read_chain(tmp_path).gaps) == ([B, C, A, D], ())


@pytest.mark.parametrize("happens", ["it gets its name", "it is removed"])
def test_what_happens_to_a_run_between_two_looks_is_no_gap(audit, monkeypatch, happens):
    run, look = audit / "runs" / C, chain._fault_of
    part = run.rename(audit / "runs" / f".{C}.01234567.part")

    def meanwhile(folder, entry):
        fault = look(folder, entry)
        if folder == run and part.exists():
            if happens == "it is removed":
                append(audit, "removed", run=C, list=entry["list"], why="too many")
            part.rename(run if happens == "it gets its name" else audit / "gone")
        return fault

    monkeypatch.setattr(chain, "_fault_of", meanwhile)
    assert chain.read_chain(audit).gaps == ()
    assert names(audit) == [A, B, C][: 2 + run.exists()]


def test_runs_that_nobody_may_list_are_one_sentence():
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        runs = Path(name, "runs")
        runs.mkdir(mode=0o000)
        with read_only(Path(name)), pytest.raises(DataError) as error:
            read_chain(Path(name))
        runs.chmod(0o755)
    assert str(error.value) == (f"Folder '{runs}' cannot be read: Permission denied.")
