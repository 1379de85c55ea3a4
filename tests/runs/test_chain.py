"""Claims about the chain of runs: what is missing, altered, forked or only removed."""

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.runs.test_folder import manifest_of, read_only, result, save

from importance_audit.records.errors import DataError
from importance_audit.runs.chain import (
    Chain,
    Link,
    build_chain,
    read_chain,
    read_manifest,
)
from importance_audit.runs.events import append_event

A, B, C, D = (f"2025112{n}T084600Z-3f9a1c2b" for n in range(4))


def write_run(audit, name, previous="", **changes):
    """Write the manifest of a run that names another one as it lies there."""
    before = audit / "runs" / previous / "manifest.json"
    stated = (
        {"run_id": previous, "manifest_sha256": sha256(before)} if previous else None
    )
    facts = {"format": "importance-audit-manifest/1", "run_id": name}
    folder = audit / "runs" / name
    folder.mkdir(parents=True)
    text = json.dumps({**facts, "previous": stated, **changes})
    (folder / "manifest.json").write_text(text, encoding="utf8")
    return folder


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def audit(tmp_path):
    """Return an audit of three runs."""
    for name, before in ((A, ""), (B, A), (C, B)):
        write_run(tmp_path, name, before)
    return tmp_path


def remove(folder):
    shutil.rmtree(folder)


def names(audit):
    return [link.run_id for link in read_chain(audit).order]


def test_a_whole_chain_has_its_runs_in_order_with_their_digests(audit):
    digests = [sha256(audit / "runs" / n / "manifest.json") for n in (A, B, C)]
    links = (
        Link(A, digests[0]),
        Link(B, digests[1], A, digests[0]),
        Link(C, digests[2], B, digests[1]),
    )
    assert read_chain(audit) == Chain(links)


def test_an_audit_without_runs_has_an_empty_chain(tmp_path):
    assert read_chain(tmp_path) == Chain()


def test_a_deleted_run_is_a_gap(audit):
    remove(audit / "runs" / B)
    chain = read_chain(audit)
    assert [link.run_id for link in chain.order] == [A, C]
    assert chain.gaps == (
        f"Run '{B}' is missing: run '{C}' refers to it, but its folder no longer "
        "exists.",
    )


def test_a_run_that_retention_removed_is_no_gap(audit):
    digest = sha256(audit / "runs" / A / "manifest.json")
    remove(audit / "runs" / A)
    append_event(audit, "removed", run_id=A, manifest_sha256=digest)
    assert read_chain(audit)[1:] == ((), (A,))


def test_a_run_removed_with_another_digest_is_a_gap(audit):
    remove(audit / "runs" / A)
    append_event(audit, "removed", run_id=A, manifest_sha256="0" * 64)
    assert read_chain(audit).gaps == (
        f"Run '{A}' is missing: run '{B}' refers to it, but retention removed "
        "another of its name.",
    )


def test_a_deleted_last_run_is_a_gap_where_events_tell_of_it(audit):
    append_event(audit, "ended", run_id=C, exit_code=0)
    append_event(audit, "ended", run_id="", exit_code=2)
    remove(audit / "runs" / C)
    assert read_chain(audit).gaps == (
        f"Run '{C}' is missing: events.jsonl says that it ended, but its folder no "
        "longer exists.",
    )


def test_an_altered_manifest_is_a_gap(audit):
    path = audit / "runs" / A / "manifest.json"
    stated = sha256(path)
    path.write_bytes(path.read_bytes() + b"\n")
    assert read_chain(audit).gaps == (
        f"manifest.json of run '{A}' has {sha256(path)[:12]}…; run '{B}' states "
        f"SHA-256 {stated[:12]}….",
    )


CANNOT = "manifest.json of run '{b}' does not state its own run and the previous one."


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "Run '{b}' has no manifest.json."),
        (b"\xff", CANNOT),
        (b"[]", CANNOT),
        (b"[" * 100_000, CANNOT),
        (
            b'{"format": 1, "run_id": "", "previous": null}',
            "manifest.json of run '{b}' identifies a run by something other than text.",
        ),
        (
            b'{"format": "x/2", "run_id": "", "previous": null}',
            "manifest.json of run '{b}' has format 'x/2'; this version reads "
            "'importance-audit-manifest/1'. Use the version of importance-audit that "
            "wrote it.",
        ),
    ],
)
def test_a_manifest_that_cannot_be_read_is_one_gap(audit, content, message):
    path = audit / "runs" / B / "manifest.json"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    assert read_chain(audit).gaps == (message.format(b=B),)
    assert names(audit) == [A, C]


def test_a_copied_run_is_named_and_is_no_link(audit):
    data = (audit / "runs" / B / "manifest.json").read_bytes()
    (audit / "runs" / "copy").mkdir()
    (audit / "runs" / "copy" / "manifest.json").write_bytes(data)
    assert names(audit) == [A, B, C]
    assert read_chain(audit).gaps == (
        f"Folder 'copy' holds the manifest.json of run '{B}'. Move copies out of "
        "runs/.",
    )


def test_two_runs_after_one_are_a_fork_and_the_later_of_them_goes_on(audit):
    write_run(audit, D, B)
    assert names(audit) == [A, B, C, D]
    assert read_chain(audit).gaps == (
        f"Runs '{C}', '{D}' do not form a sequence: all name '{B}' as the previous "
        "run.",
    )
    append_event(audit, "ended", run_id=C)
    assert names(audit)[-1] == C


def test_two_first_runs_are_a_fork(audit):
    write_run(audit, D)
    assert read_chain(audit).gaps == (
        f"Runs '{A}', '{D}' do not form a sequence: all name no previous run.",
    )


def test_events_tell_which_side_of_a_gap_is_the_later_one(audit):
    early = "19990101T000000Z-3f9a1c2b"
    write_run(audit, early, C)
    append_event(audit, "ended", run_id=A)
    append_event(audit, "ended", run_id=early)
    remove(audit / "runs" / C)
    assert names(audit) == [A, B, early]


def test_a_run_that_names_none_comes_before_one_whose_former_is_gone():
    links = [Link("1999", "2", "2026", "1"), Link("2025", "3")]
    assert [link.run_id for link in build_chain(links).order] == ["2025", "1999"]


def test_a_run_removed_with_all_after_it_is_no_gap(tmp_path):
    append_event(tmp_path, "ended", run_id=A)
    append_event(tmp_path, "removed", run_id=A, manifest_sha256="0" * 64)
    assert read_chain(tmp_path) == Chain()


def test_a_run_that_went_while_it_was_read_is_told_from_one_without_manifest(audit):
    with pytest.raises(FileNotFoundError):
        read_manifest(audit / "runs" / D)


def test_runs_that_name_each_other_in_a_circle_are_all_there():
    links = [Link("a", "1", "b", "2"), Link("b", "2", "a", "1"), Link("c", "3")]
    assert [link.run_id for link in build_chain(links).order] == ["a", "b", "c"]


def test_a_clock_that_went_back_does_not_fork_the_chain(tmp_path):
    for name in (B, C, A, D):
        save(tmp_path, result(name))
    runs = tmp_path / "runs"
    before = [
        (manifest_of(runs / n)["previous"] or {}).get("run_id") for n in (C, A, D)
    ]
    assert before == [B, C, A]
    assert (names(tmp_path), read_chain(tmp_path).gaps) == ([B, C, A, D], ())


def test_a_run_after_a_gap_names_the_last_one(audit):
    remove(audit / "runs" / B)
    assert manifest_of(save(audit, result(D)))["previous"]["run_id"] == C


def test_what_is_no_folder_or_hidden_is_no_run(audit):
    (audit / "runs" / "notes.txt").write_text("mine")
    (audit / "runs" / f".{D}.00.part").mkdir()
    assert (names(audit), read_chain(audit).gaps) == ([A, B, C], ())


def test_events_that_cannot_be_read_are_a_gap_and_lose_no_run(audit):
    (audit / "events.jsonl").mkdir()
    assert names(audit) == [A, B, C]
    assert read_chain(audit).gaps == (
        f"{audit}/events.jsonl cannot be read: Is a directory.",
    )


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
