"""Claims about the order of runs: what is missing, altered, unknown or only removed."""

import os
import shutil
import subprocess
import sys
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


@pytest.fixture
def audit(tmp_path):
    """Return an audit of three runs."""
    for name in (A, B, C):
        save(tmp_path, result(name))
    return tmp_path


def remove(folder):
    shutil.rmtree(folder)


def digest_of(audit, name):
    return sha256((audit / "runs" / name / "SHA256SUMS").read_bytes())


def tell_removed(audit, name):
    """Remove a run as retention does."""
    append(audit, "removed", run=name, list=digest_of(audit, name), why="too many")
    remove(audit / "runs" / name)


def names(audit):
    return [link.run_id for link in read_chain(audit).order]


def test_a_whole_chain_has_its_runs_in_order_with_their_digests(audit):
    chain = read_chain(audit)
    assert [link[:3] for link in chain.order] == [
        (A, digest_of(audit, A), ""),
        (B, digest_of(audit, B), A),
        (C, digest_of(audit, C), B),
    ]
    assert [link.facts for link in chain.order] == [*read_log(audit).of("run")]
    assert (chain.gaps, chain.removed) == ((), ())


def test_an_audit_without_runs_has_an_empty_chain(tmp_path):
    assert read_chain(tmp_path)[:3] == ((), (), ())


@pytest.mark.parametrize(("name", "line"), [(B, 3), (C, 4)])
def test_a_deleted_run_is_a_gap(audit, name, line):
    remove(audit / "runs" / name)
    chain = read_chain(audit)
    assert [link.run_id for link in chain.order] == sorted({A, B, C} - {name})
    assert chain.gaps == (
        f"Run '{name}' is missing: line {line} of {LOG} names it, but its folder no "
        "longer exists.",
    )


def test_a_run_that_retention_removed_is_no_gap(audit):
    tell_removed(audit, A)
    assert read_chain(audit)[1:3] == ((), (A,))


def test_an_altered_list_is_a_gap(audit):
    stated = digest_of(audit, A)
    path = audit / "runs" / A / "SHA256SUMS"
    path.write_bytes(path.read_bytes() + b"\n")
    assert read_chain(audit).gaps == (
        f"SHA256SUMS of run '{A}' has SHA-256 {digest_of(audit, A)[:12]}…; line 2 of "
        f"{LOG} states {stated[:12]}….",
    )
    assert names(audit) == [B, C]


@pytest.mark.parametrize(
    ("make", "why"),
    [(None, "no such file"), (os.mkfifo, "a FIFO"), (os.mkdir, "a folder")],
)
def test_a_list_that_cannot_be_read_is_one_gap(audit, make, why):
    path = audit / "runs" / B / "SHA256SUMS"
    path.unlink()
    if make:
        make(path)
    gap = f"SHA256SUMS of run '{B}' cannot be read: {why}."
    assert (names(audit), read_chain(audit).gaps) == ([A, C], (gap,))


def test_a_link_to_a_run_is_no_run(audit):
    (audit / "runs" / B).rename(audit / "aside")
    (audit / "runs" / B).symlink_to(audit / "aside")
    assert names(audit) == [A, C]


def test_a_folder_that_the_log_does_not_name_is_a_gap(audit):
    shutil.copytree(audit / "runs" / B, audit / "runs" / "copy")
    assert names(audit) == [A, B, C]
    assert read_chain(audit).gaps == (
        f"Folder 'copy' in runs/ is no run that {LOG} names.",
    )


def test_a_run_of_an_older_version_is_named_as_such(audit):
    (audit / "runs" / D).mkdir()
    (audit / "runs" / D / "manifest.json").write_text("{}")
    assert read_chain(audit).gaps == (
        f"Run '{D}' was made by an older version of importance-audit, with "
        "manifest.json instead of SHA256SUMS. Use that version to read it.",
    )


def test_a_line_that_was_changed_is_a_gap(audit):
    path = audit / LOG
    path.write_bytes(path.read_bytes().replace(b'"exit_code":0', b'"exit_code":1', 1))
    (gap,) = read_chain(audit).gaps
    assert gap.startswith(f"{LOG}: line 3: expected previous ")


def test_a_clock_that_went_back_does_not_change_the_order(tmp_path):
    for name in (B, C, A, D):
        save(tmp_path, result(name))
    assert (names(tmp_path), read_chain(tmp_path).gaps) == ([B, C, A, D], ())


def test_what_is_no_folder_or_hidden_is_no_run(audit):
    (audit / "runs" / "notes.txt").write_text("mine")
    (audit / "runs" / f".{D}.01234567.part").mkdir()
    assert (names(audit), read_chain(audit).gaps) == ([A, B, C], ())


def test_a_run_that_has_its_line_and_not_yet_its_name_is_no_gap(audit):
    (audit / "runs" / C).rename(audit / "runs" / f".{C}.01234567.part")
    assert (names(audit), read_chain(audit).gaps) == ([A, B], ())


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


def test_a_log_that_cannot_be_read_is_a_gap(audit):
    (audit / LOG).unlink()
    (audit / LOG).mkdir()
    assert read_chain(audit).gaps == (f"{audit}/{LOG} cannot be read: a folder.",)


def test_runs_that_nobody_may_list_are_one_sentence():
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        runs = Path(name, "runs")
        runs.mkdir(mode=0o000)
        with read_only(Path(name)), pytest.raises(DataError) as error:
            read_chain(Path(name))
        runs.chmod(0o755)
    assert str(error.value) == (f"Folder '{runs}' cannot be read: Permission denied.")


def test_the_chain_loads_no_table_and_no_numbers():
    code = (
        "import sys, importance_audit.runs.chain;"
        "print(sorted({'numpy', 'pandas', 'click', 'sqlite3'} & set(sys.modules)))"
    )
    root = Path(__file__).parents[2]
    output = subprocess.check_output([sys.executable, "-c", code], cwd=root, text=True)
    assert output.strip() == "[]"
