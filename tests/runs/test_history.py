"""Claims about the past of an audit: what its runs found, gone and altered ones too."""

import math
import shutil
import threading
from dataclasses import replace

import pytest
from tests.run_folders import make_agree
from tests.runs.test_chain import A, B, C, D, remove, tell_removed
from tests.runs.test_folder import line_of, result, save
from tests.runs.test_summary import make_finding, measured

from importance_audit.runs.history import load_history, read_runs
from importance_audit.runs.summary import (
    FindingHistory,
    Leader,
    RunHistory,
    history_json,
    read_history,
)


def add(audit, name, *means, findings=(), status="complete", changes=(), **others):
    """Save a run as `running` does, with what it knows of those before."""
    written = result(
        name, importances=(measured(means or [1, 3]),), findings=findings, **others
    )
    object.__setattr__(written.run, "status", status)
    files = {"history.json": history_json(load_history(audit), written, changes)}
    return save(audit, written, files)


@pytest.fixture(scope="module")
def three_runs(tmp_path_factory):
    """Return a folder of three runs; only the first two have a finding."""
    folder = tmp_path_factory.mktemp("made") / "a"
    for name, findings in (
        (A, [make_finding()]),
        (B, [make_finding(), make_finding("info")]),
        (C, []),
    ):
        add(folder, name, findings=tuple(findings))
    return folder


@pytest.fixture
def audit(tmp_path, three_runs):
    """Return a copy of the audit of three runs."""
    folder = tmp_path / "reports" / "a"
    shutil.copytree(three_runs, folder)
    return folder


def names(audit, **options):
    return [run.run_id for run in read_runs(audit, **options).runs]


def test_runs_are_told_as_their_lines_and_histories_have_them(audit):
    audit_runs = read_runs(audit, last=2)
    assert ([run.run_id for run in audit_runs.runs], audit_runs.n_runs) == ([B, C], 3)
    run = audit_runs.runs[0]
    stated = line_of(audit / "runs" / B)
    assert (run.run_id, run.verdict, run.exit_code) == (B, stated["verdict"], 0)
    assert run.content_digest == stated["content_digest"]
    assert run.started == "2025-11-21T08:46:00+00:00"
    assert run.leaders == (Leader("b", 3, 3, 3, 1), Leader("a", 1, 1, 1, 2))
    assert run.findings == {make_finding().key: "warning"}
    assert run.data_sha256 == "b" * 64


def test_a_finding_is_told_with_its_first_and_last_run_and_how_often(audit):
    key = make_finding().key
    history = FindingHistory(key, "weak", "forest", "warning", A, B, 2, in_last=False)
    assert read_runs(audit).findings == (history,)
    about = replace(make_finding("failure"), engines=("vip", "DALEX"))
    add(audit, D, findings=(about, about))
    again = history._replace(severity="failure", last_run=D, times=3, in_last=True)
    again = again._replace(engines=about.engines)
    assert read_runs(audit, last=1).findings == load_history(audit).findings == (again,)


def test_what_runs_that_were_removed_had_found_is_counted_on(audit):
    """As if A and B were there: their folders are gone, not what was found in them."""
    whole = load_history(audit)
    for name in (A, B):
        tell_removed(audit, name)
    assert load_history(audit) == whole
    assert names(audit) == [C]
    add(audit, D, findings=(make_finding(),))
    (history,) = load_history(audit).findings
    assert (history.first_run, history.last_run, history.times) == (A, D, 3)


def test_of_a_memory_that_was_altered_nothing_is_taken(audit):
    """A run after it that is whole knows as much; without one nobody does."""
    remove(audit / "runs" / A)
    for name, known in ((B, [("forest", A, 2)]), (C, [])):
        history = audit / "runs" / name / "history.json"
        text = history.read_text("utf8").replace("forest", "fforest")
        history.write_text(text, "utf8")
        findings = load_history(audit).findings
        assert [(one.subject, one.first_run, one.times) for one in findings] == known


def test_a_run_keeps_the_past_as_it_was_before_it(audit):
    text = (audit / "runs" / C / "history.json").read_text(encoding="utf8")
    history = read_history(text, "history.json")
    assert [run.run_id for run in history.runs] == [A, B]
    audit_runs = read_runs(audit)
    assert history.runs == audit_runs.runs[:2]
    assert load_history(audit) == RunHistory(
        None, audit_runs.runs, 3, audit_runs.findings
    )


def test_what_was_not_measured_stays_unmeasured(audit):
    add(audit, D, 1, math.nan, math.inf)
    first, second, third = read_runs(audit).runs[-1].leaders
    assert (first.feature, first.value, second.feature) == ("c", math.inf, "a")
    assert math.isnan(third.value)
    assert math.isnan(third.rank)


def test_a_run_that_kept_no_past_is_read_from_its_result(audit):
    save(audit, result(D, importances=(measured([5, 2]),)))
    assert read_runs(audit).runs[-1].leaders[0] == Leader("a", 5, 5, 5, 1)


def test_what_runs_found_that_are_not_read_is_in_the_past_of_the_newest(audit):
    whole = read_runs(audit)
    for name in (A, B):
        (audit / "runs" / name / "history.json").unlink()
    audit_runs = read_runs(audit, last=1)
    assert (audit_runs.findings, audit_runs.gaps) == (whole.findings, ())
    assert (audit_runs.n_runs, audit_runs.last_complete) == (3, C)
    assert audit_runs.runs == whole.runs[2:]


def test_what_a_damaged_run_found_is_counted_if_every_run_is_read_too(audit):
    findings = read_runs(audit, last=1).findings
    (audit / "runs" / A / "history.json").unlink()
    audit_runs = read_runs(audit)
    assert (len(audit_runs.gaps), audit_runs.findings) == (1, findings)


def test_in_the_place_of_a_damaged_past_that_of_the_run_before_is_taken(audit):
    add(audit, D)
    whole = read_runs(audit)
    path = audit / "runs" / D / "history.json"
    path.write_bytes(path.read_bytes()[:-9])
    audit_runs = read_runs(audit, last=1)
    assert audit_runs.findings == whole.findings
    assert audit_runs.last_complete == C
    (gap,) = audit_runs.gaps
    assert gap.startswith(f"history.json of run '{D}' has SHA-256 ")


def test_runs_of_which_a_later_one_did_not_know_are_counted(audit):
    """As after two copies of an audit went on apart and were put together."""
    aside = audit.parent / "aside"
    (audit / "runs" / C).rename(aside)
    add(audit, D, findings=(make_finding(),))
    aside.rename(audit / "runs" / C)
    assert names(audit) == [A, B, C, D]
    assert read_runs(audit, last=1).findings[0].times == 3


def test_the_last_complete_run_is_looked_for_among_all(audit):
    add(audit, D, status="interrupted")
    assert read_runs(audit, last=1).last_complete == C
    for name in (B, C):
        remove(audit / "runs" / name)
    audit_runs = read_runs(audit, last=1)
    assert audit_runs.last_complete == A


def test_what_the_last_complete_run_found_is_in_it_whatever_is_gone_since(audit):
    for name in (B, C):
        remove(audit / "runs" / name)
    add(audit, D, status="interrupted", findings=(make_finding(),))
    found = read_runs(audit).findings[0]
    assert (found.first_run, found.last_run, found.in_last) == (A, D, True)


def test_what_the_last_complete_run_found_stays_in_it_when_a_later_one_is_interrupted(
    audit,
):
    other, later = make_finding(subject="other"), D.replace("23T", "24T")
    add(audit, D, findings=(make_finding(),))
    add(audit, later, status="interrupted", findings=(make_finding(), other))
    for last in (None, 1):
        found = read_runs(audit, last=last).findings
        told = [(one.subject, one.last_run, one.in_last) for one in found]
        assert told == [("forest", later, True), ("other", later, False)]


def test_an_altered_history_is_a_gap_and_tells_nothing_until_it_is_put_back(audit):
    path = audit / "runs" / C / "history.json"
    data = path.read_bytes()
    path.write_bytes(data.replace(b'"b"', b'"z"'))
    (gap,) = read_runs(audit).gaps
    assert gap.startswith(f"history.json of run '{C}' has SHA-256 ")
    assert gap.endswith("…, not the one that its SHA256SUMS states.")
    assert read_runs(audit).runs[-1].leaders == ()
    path.unlink()
    gap = f"history.json of run '{C}' cannot be read: no such file."
    assert read_runs(audit).gaps == (gap,)
    path.write_bytes(data)
    assert read_runs(audit).runs[-1].leaders[0].feature == "b"


def test_a_history_of_another_version_is_a_gap(audit):
    path = audit / "runs" / C / "history.json"
    path.write_text(
        '{\n"format": "importance-audit-history/9",\n"run": {},\n"past": 1}'
    )
    make_agree(audit / "runs" / C)
    assert read_runs(audit).gaps == (
        f"history.json of run '{C}' has format 'importance-audit-history/9'; this "
        "version reads 'importance-audit-history/3'. Use the version of "
        "importance-audit that wrote it.",
    )


def test_runs_that_come_while_others_read_are_never_half_told(audit):
    done, wrong = threading.Event(), []

    def look():
        while not done.is_set():
            audit_runs = read_runs(audit)
            wrong.extend(audit_runs.gaps)
            wrong.extend(run for run in audit_runs.runs if not run.leaders)

    looking = threading.Thread(target=look)
    looking.start()
    for n in range(4):
        add(audit, f"2025112{n}T104600Z-3f9a1c2b")
    done.set()
    looking.join()
    assert wrong == []
    assert len(names(audit)) == 7
