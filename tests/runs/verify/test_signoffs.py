"""Claims about the trail of sign-offs: what is changed, gone or added is named."""

import hashlib
import json
import shutil
from dataclasses import replace

import pytest
from tests.run_folders import below, seal, stated, write_two_runs
from tests.runs.verify.test_verify import flip, run_verify
from tests.signed_runs import FIRST, SECOND, save, signed_audit, trail, write

from importance_audit.runs.events import append_event
from importance_audit.runs.manifest import is_sealed
from importance_audit.runs.signoff.record import line_of
from importance_audit.runs.signoff.signoff_trail import read_trail
from importance_audit.runs.verify import verify
from importance_audit.runs.verify.files import files_below
from importance_audit.runs.verify.signoffs import RunFiles, verify_signoffs
from importance_audit.runs.verify.statements import Mismatch

FILES = ("manifest.json", "report.html", "signoffs.jsonl")
SIGNED = [f"runs/{FIRST}/signed/{number}/{file}" for number in (1, 2) for file in FILES]
SIGNED += [f"runs/{FIRST}/signed/2/signature/approval.sig"]
MANIFESTS = [f"runs/{run}/manifest.json" for run in (FIRST, SECOND)]


@pytest.fixture
def audit(tmp_path):
    write(tmp_path)
    return tmp_path


def mismatching_files(path):
    return {item.file for item in verify(path).mismatches}


@pytest.fixture
def copied(audit):
    """Return the first run with nothing but its copies of the trail."""
    run = audit / "runs" / FIRST
    copies = {
        p: f for p, f in files_below(run)[0].items() if p.endswith("signoffs.jsonl")
    }
    data = (run / "manifest.json").read_bytes()
    return RunFiles(copies, json.loads(data), hashlib.sha256(data).hexdigest(), audit)


def of_trail(run, data):
    """Return what is named if the trail has these bytes."""
    (run.audit / "signoffs.jsonl").write_bytes(data)
    return {item.file.split(":")[0] for item in verify_signoffs(run)}


def test_a_run_that_was_signed_twice_matches_alone_and_in_its_audit(audit):
    for run in (FIRST, SECOND):
        verification = verify(audit / "runs" / run)
        assert verification.mismatches == verification.notes == ()
    code, lines = run_verify(audit)
    n_files = sum(not p.endswith("manifest.json") for p in below(audit / "runs"))
    outcome = f"match: 2 runs, {n_files} files, 2 sign-offs"
    assert (code, lines.splitlines()[0]) == (0, outcome)


def test_all_that_sign_offs_add_is_looked_at_below():
    assert {path for path in signed_audit() if "/signed/" in path} == {*SIGNED}


@pytest.mark.parametrize("file", [*SIGNED, *MANIFESTS, "signoffs.jsonl"])
def test_one_flipped_bit_in_any_file_of_the_trail_is_named(audit, file):
    path = audit / file
    whole = path.read_bytes()
    for place in (0, len(whole) - 1):
        flip(path, place)
        mismatches = verify(audit).mismatches
        assert any(file in f"{m.file}/manifest.json" for m in mismatches), place
        path.write_bytes(whole)


def test_any_changed_byte_of_the_trail_is_named(copied):
    whole, *_ = trail()
    for place in range(len(whole)):
        data = bytearray(whole)
        data[place] ^= 1
        assert "../../signoffs.jsonl" in of_trail(copied, data), place


def test_a_trail_cut_anywhere_is_named(copied):
    whole, *_ = trail()
    for length in range(0, len(whole), 7):
        assert "../../signoffs.jsonl" in of_trail(copied, whole[:length]), length


@pytest.mark.parametrize("file", [*MANIFESTS, *(f for f in SIGNED if "manifest" in f)])
def test_any_changed_byte_of_a_manifest_breaks_its_seal(file):
    whole = signed_audit()[file]
    assert is_sealed(whole)
    for place in range(len(whole)):
        data = bytearray(whole)
        data[place] ^= 1
        assert not is_sealed(bytes(data)), place


def forged(*changes):
    """Return the trail with records after its last, each tied to the one before."""
    _, *lines = trail()
    for change in changes:
        last = lines[-1].removesuffix(b"\n")
        record = replace(
            read_trail(lines[-1]).records[0],
            previous_sha256=hashlib.sha256(last).hexdigest(),
            **change,
        )
        lines.append(line_of(record) + b"\n")
    return b"".join(lines)


ALTERED = {
    "nothing": (lambda _a, _b: b"", "signoffs.jsonl: line 1"),
    "the first alone": (lambda a, _: a, "signoffs.jsonl: line 2"),
    "the second alone": (lambda _, b: b, "signoffs.jsonl: line 1"),
    "the other order": (lambda a, b: b + a, "signoffs.jsonl: line 1"),
    "the first twice": (lambda a, b: a + a + b, "signoffs.jsonl: line 2"),
    "an empty line": (lambda a, b: a + b"\n" + b, "signoffs.jsonl: line 2"),
    "the second twice": (lambda a, b: a + b + b, "signoffs.jsonl: line 3"),
    "no record": (lambda a, b: a + b + b"{}\n", "signoffs.jsonl: line 3"),
    "no end": (lambda a, b: a + b + b"{", "signoffs.jsonl: line 3"),
    "deep": (
        lambda a, b: a + b + b"[" * 100_000 + b"\n",
        "signoffs.jsonl: line 3",
    ),
}
FORGED = {
    "a third": ({"signoff_id": f"{FIRST}/3"}, f"runs/{FIRST}/signed/3/manifest.json"),
    "no run": ({"run_id": "gone", "signoff_id": "gone/1"}, "runs/gone"),
    "no place": ({"signoff_id": "x/../y"}, "signoffs.jsonl: line 3"),
    "other content": (
        {"signoff_id": f"{FIRST}/3", "content_digest": "0" * 64},
        "signoffs.jsonl: line 3",
    ),
    "other manifest": (
        {"signoff_id": f"{FIRST}/3", "manifest_sha256": "0" * 64},
        "signoffs.jsonl: line 3",
    ),
}


@pytest.mark.parametrize("how", ALTERED)
def test_lines_that_are_gone_moved_or_put_in_are_named(audit, how):
    of_lines, where = ALTERED[how]
    _, *lines = trail()
    (audit / "signoffs.jsonl").write_bytes(of_lines(*lines))
    assert where in mismatching_files(audit)


@pytest.mark.parametrize("how", FORGED)
def test_a_line_of_nobody_tied_to_the_one_before_is_named(audit, how):
    change, where = FORGED[how]
    (audit / "signoffs.jsonl").write_bytes(forged(change))
    assert where in mismatching_files(audit)


BROKEN = {
    "whole": (lambda a, b: a + b, []),
    "the second alone": (lambda _, b: b, [1]),
    "the other order": (lambda a, b: b + a, [1, 2]),
    "the first twice": (lambda a, b: a + a + b, [2]),
    "other words": (lambda a, b: a.replace(b"Read.", b"Seen.") + b, [2]),
    "the second twice": (lambda a, b: a + b + b, [3]),
    "no end": (lambda a, b: a + b[:-1], [2]),
}


@pytest.mark.parametrize("how", BROKEN)
def test_the_chain_of_lines_alone_tells_where_it_is_broken(how):
    of_lines, numbers = BROKEN[how]
    _, *lines = trail()
    faults = read_trail(of_lines(*lines)).faults
    assert [fault.line for fault in faults] == numbers


@pytest.mark.parametrize(
    "key", ["audit", "run_id", "content_digest", "signoff_id", "parent_sha256"]
)
def test_a_sign_off_of_another_run_is_named_under_a_whole_seal(audit, key):
    run = audit / "runs" / FIRST
    stated(run / "signed" / "2", **{key: "other"})
    (only,) = verify(run).mismatches
    assert (only.file, only.actual) == ("signed/2/manifest.json", "other")
    assert only.expected.startswith(f"{key} ")


def test_a_shorter_trail_is_told_by_the_copy_and_by_the_run_after_it(audit):
    whole, first, second = trail()
    (audit / "signoffs.jsonl").write_bytes(first)
    digest = hashlib.sha256(second.removesuffix(b"\n")).hexdigest()
    when = "as when manifest.json was written"
    assert verify(audit).mismatches == (
        Mismatch(
            "signoffs.jsonl: line 2",
            f"SHA-256 {digest}, as signed/2/signoffs.jsonl has it",
            "no such line",
        ),
        Mismatch(
            "signoffs.jsonl", f"at least {len(whole)} bytes, {when}", f"{len(first)}"
        ),
    )


@pytest.mark.parametrize("gone", ["signed/1", "signed/2", "signed"])
def test_a_deleted_folder_of_a_sign_off_is_named(audit, gone):
    run = audit / "runs" / FIRST
    shutil.rmtree(run / gone)
    numbers = {"signed/1": "1", "signed/2": "2", "signed": "12"}[gone]
    assert {f"signed/{n}/manifest.json" for n in numbers} <= mismatching_files(run)


def test_a_folder_that_was_never_signed_is_named(audit):
    run = audit / "runs" / FIRST
    shutil.copytree(run / "signed" / "2", run / "signed" / "3")
    assert {"signed/3/manifest.json", "signed/3/signoffs.jsonl"} <= mismatching_files(
        run
    )
    other = audit / "runs" / SECOND
    shutil.copytree(run / "signed", other / "signed")
    assert {"signed/1/manifest.json", "signed/2/manifest.json"} <= mismatching_files(
        other
    )


def test_another_signature_under_a_whole_manifest_is_named(audit):
    signed = audit / "runs" / FIRST / "signed" / "2"
    (signed / "signature" / "approval.sig").write_bytes(b"another")
    seal(signed)
    files = mismatching_files(audit / "runs" / FIRST)
    assert files == {"signed/2/signature/"}
    assert f"runs/{FIRST}/signed/2/manifest.json" in mismatching_files(audit)


def test_sign_offs_that_were_all_taken_away_are_told_by_the_run_after_them(audit):
    (audit / "signoffs.jsonl").unlink()
    shutil.rmtree(audit / "runs" / FIRST / "signed")
    assert mismatching_files(audit) == {
        "signoffs.jsonl",
        f"runs/{FIRST}/signed/2/manifest.json",
    }


def test_what_nothing_later_names_can_be_taken_away_unseen(audit):
    (audit / "signoffs.jsonl").unlink()
    shutil.rmtree(audit / "runs" / FIRST / "signed")
    shutil.rmtree(audit / "runs" / SECOND)
    assert mismatching_files(audit) == set()


def test_a_run_that_was_handed_on_is_held_against_its_own_copies(audit, tmp_path):
    sent = shutil.copytree(audit / "runs" / FIRST, tmp_path / "sent")
    verification = verify(sent)
    assert verification.mismatches == ()
    assert verification.notes == (
        "the sign-off trail of its audit is not here, so it was not compared",
    )
    shutil.rmtree(sent / "signed" / "1")
    assert mismatching_files(sent) == {"signed/1/manifest.json"}


def test_events_that_were_changed_are_told_by_the_run_after_them(audit):
    append_event(audit, "clock", message="It went back.")
    save(audit, "20261122T084600Z-3f9a1c2b")
    append_event(audit, "clock", message="Again.")
    assert mismatching_files(audit) == set()
    path = audit / "events.jsonl"
    path.write_bytes(path.read_bytes().replace(b"It went", b"It ran "))
    assert mismatching_files(audit) == {"events.jsonl"}


def test_a_removed_run_is_a_note_if_retention_says_so(tmp_path):
    first, second = write_two_runs(tmp_path)
    digest = hashlib.sha256((first / "manifest.json").read_bytes()).hexdigest()
    shutil.rmtree(first)
    assert mismatching_files(tmp_path) == {"runs"}
    append_event(tmp_path, "removed", run_id=first.name, manifest_sha256=digest)
    assert verify(tmp_path).mismatches == verify(second).mismatches == ()
    assert verify(tmp_path).notes == (f"runs/{first.name} was removed by retention",)
    told_by_run = f"the run before, {first.name}, was removed by retention"
    assert verify(second).notes == (told_by_run,)


def test_a_run_that_nobody_can_read_does_not_hide_the_others(audit):
    (audit / "runs" / SECOND / "manifest.json").write_text("{")
    flip(audit / "runs" / FIRST / "tables" / "importances.csv", 3)
    files = mismatching_files(audit)
    altered = f"runs/{FIRST}/tables/importances.csv"
    assert {"runs", f"runs/{SECOND}", altered} <= files


def test_half_a_sign_off_is_told_and_is_no_mismatch(audit):
    run = audit / "runs" / FIRST
    part = run / "signed" / ".3.0a1b2c3d.part"
    part.mkdir()
    (part / "report.html").write_text("<p>")
    verification = verify(run)
    assert verification.mismatches == ()
    assert verification.notes == (
        "signed/: files left by a killed sign-off were not checked",
    )


@pytest.mark.parametrize("trail", [3, {"signoffs.jsonl": 3}, {"../x": {}}])
def test_a_manifest_whose_trail_is_none_is_named(audit, trail):
    path = audit / "runs" / SECOND / "manifest.json"
    code, lines = run_verify(stated(path.parent, trail=trail))
    assert code == 2
    assert lines == (
        "manifest.json does not state bytes and sha256 of each file of its trail.\n"
    )


def test_a_trail_that_leads_elsewhere_is_not_followed(audit):
    path = audit / "runs" / SECOND / "manifest.json"
    entry = {"bytes": 0, "sha256": "0" * 64}
    stated(path.parent, trail={"../../secret": entry})
    (only,) = verify(path.parent).mismatches
    assert only == ("manifest.json", "a trail of known files", "../../secret")
