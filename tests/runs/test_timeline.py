"""Claims about the history of an audit: what each run changed, and what left none."""

import json
import math
import shutil
from contextlib import nullcontext
from pathlib import Path

import pytest
from tests.cli.test_cli import COMMAND, invoke, lines_and_loaded
from tests.run_folders import rewrite_log
from tests.runs.test_chain import A, B, remove, tell_removed
from tests.runs.test_history import add
from tests.runs.test_summary import make_finding

from importance_audit.runs.audit_log import LOG, append, read_log
from importance_audit.runs.locks import locked
from importance_audit.runs.timeline import timeline


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "a"
    add(folder, A)
    finding = make_finding()
    changes = f"New: {finding.severity}, {finding.check}: {finding.message}"
    add(folder, B, 3, 1, findings=(finding,), changes=(changes,))
    return folder


@pytest.fixture
def audit(tmp_path, two_runs):
    return Path(shutil.copytree(two_runs, tmp_path / "reports" / "a"))


def notes(audit, **options):
    """Return runs by their names, what left none by its note."""
    return [r.run.run_id if r.run else r.note for r in timeline(audit, **options).rows]


def put_between(audit, n_lines):
    """Move the last lines of a log between its two runs."""
    entries = [*read_log(audit).entries]
    moved = [entries.pop() for _ in range(n_lines)][::-1]
    place = next(n for n, entry in enumerate(entries) if entry.get("run") == B)
    order = [*entries[:place], *moved, *entries[place:]]
    taken = iter(order)
    rewrite_log(audit, lambda _: dict(next(taken)))


def failed(audit, message):
    append(audit, "failed", exit_code=2, message=message, r_failed=False)


def test_an_attempt_that_left_no_run_stands_between_the_runs(audit):
    failed(audit, "audit.toml: no.")
    append(audit, "died", began="2025-11-20T09:00:00+00:00", pid=7)
    put_between(audit, 2)
    append(audit, "clock", message="The clock went back.")
    append(audit, "began", pid=8, host="h", unattended=False)
    assert notes(audit) == [
        *(A, "audit.toml: no.", "process 7 started and was killed", B),
        *("The clock went back.", "process 8 started and was killed"),
    ]
    assert notes(audit, last=3)[0] == B
    codes = [row.exit_code for row in timeline(audit).rows]
    assert codes == [0, 2, None, 0, None, None]
    assert timeline(audit).rows[2].time == "2025-11-20T09:00:00+00:00"


def test_an_attempt_without_an_end_was_killed_if_nobody_holds_the_lock(audit):
    append(audit, "began", pid=8, host="h", unattended=True)
    for is_held, became in (
        (True, "8 on h started and has not ended"),
        (False, "8 st"),
    ):
        with locked(audit) if is_held else nullcontext():
            last = timeline(audit).rows[-1]
        assert last.note.startswith(f"process {became}")
        assert last.note.endswith("has not ended" if is_held else "was killed")
        assert last.time == read_log(audit).events[-1]["time"]


def test_a_notification_that_failed_and_a_broken_line_are_told(audit):
    told = {"hook": "on_change", "exit_code": 0, "seconds": 0.1, "message": ""}
    append(audit, "notified", **told)
    hung = {"hook": "on_failure", "exit_code": None, "message": "hung"}
    append(audit, "notified", **told | hung)
    with (audit / LOG).open("a") as file:
        file.write("no JSON\n")
    lines = notes(audit)
    assert "command of on_failure failed: hung" in lines
    (gap,) = timeline(audit).gaps
    assert gap.startswith(f"{LOG}: line 6: expected a line as it was written, found ")


def history(*words):
    return invoke("history", *words)


def test_the_runs_of_an_audit_are_listed(audit):
    append(audit, "clock", message="It was later before.")
    failed(audit, "two\nlines\x1b[2J")
    answer = history(audit)
    assert answer.exit_code == 0, answer.stderr
    head, _, *rows, clock, last = answer.stdout.splitlines()
    assert head == "a: 2 runs, 1 finding, notes not counted, in the last complete run"
    words = f"{'not cross-checked':25}"
    digests = [row.run.content_digest[:12] for row in timeline(audit).rows[:2]]
    indent = " " * 27
    assert rows == [
        f"2025-11-20 08:46:00     0  {words}  {digests[0]}  {A}",
        f"{indent}leads: b, a",
        f"2025-11-21 08:46:00     0  {words}  {digests[1]}  {B}",
        f"{indent}New: warning, weak: Weak.",
        f"{indent}leads: a, b",
    ]
    assert clock.endswith("        It was later before.")
    assert "no run" not in clock
    assert last.endswith("     2  no run: two lines\\x1b[2J")


def test_the_newest_run_of_each_audit_is_listed(audit):
    """Once, whatever links to it."""
    (audit.parent / "new").mkdir()
    (audit.parent / "new" / "audit.toml").touch()
    (audit.parent / "other").mkdir()
    (audit.parent / "0").symlink_to("a")
    lines = history(audit.parent).stdout.splitlines()
    head = "audit last run (UTC) exit verdict found gaps"
    assert lines[0].split() == head.split()
    assert lines[1].startswith("a      2025-11-21 08:46:00  ")
    assert lines[1].split()[-4:] == ["not", "cross-checked", "1", "0"]
    assert lines[2:] == ["new    no run"]


def test_a_run_that_is_gone_stays_in_the_history_if_retention_removed_it(audit):
    (document,) = json.loads(history(audit, "--json").stdout)["audits"]
    assert [row["run"]["run_id"] for row in document["rows"]] == [A, B]
    assert document["rows"][1]["run"]["leaders"][0] == ["a", 3.0, 3.0, 3.0, 1.0]
    assert document["findings"][0]["key"] == make_finding().key
    assert A not in history(audit, "--last", 1).stdout
    assert A in history(audit, "--last", 0).stdout
    kept = shutil.copytree(audit, audit.parent / "kept")
    remove(audit / "runs" / A)
    assert history(audit).stdout.splitlines()[-2:] == [
        "gaps:",
        f"  Run '{A}' is missing: line 2 of {LOG} names it, but its folder no longer "
        "exists.",
    ]
    tell_removed(kept, A)
    assert notes(kept) == [f"run {A}, which retention removed", B]
    assert timeline(kept).gaps == ()


def test_an_attempt_after_the_newest_run_is_told_whatever_came_after_it(audit):
    failed(audit, "No such column.")
    told = {"hook": "on_failure", "exit_code": 3, "message": "no route"}
    append(audit, "notified", **told, seconds=0.1)
    _, run, attempt, event = history(audit.parent).stdout.splitlines()
    assert B[:4] in run
    assert attempt.endswith("  no run: No such column.")
    assert event.endswith("  command of on_failure failed: no route")
    history(audit.parent, "--html")
    page = (audit.parent / "history.html").read_text(encoding="utf8")
    assert "Not every audit ended with exit code 0" in page
    assert "No run: No such column. command of" in page


def test_a_link_to_an_audit_elsewhere_has_its_own_name_and_report(audit, tmp_path):
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "b").symlink_to(audit)
    (audit / "runs" / B / "report.html").touch()
    (_, line) = history(tmp_path / "links").stdout.splitlines()
    assert line.startswith("b      2025-11-21 08:46:00  ")
    history(tmp_path / "links", "--html")
    page = (tmp_path / "links" / "history.html").read_text(encoding="utf8")
    assert f'<a href="../reports/a/runs/{B}/report.html">' in page


def test_what_is_one_or_none_is_not_told_as_several(tmp_path):
    add(tmp_path / "b", A, status="interrupted")
    head = history(tmp_path / "b").stdout.splitlines()[0]
    assert head == "b: 1 run, none complete"
    assert history(tmp_path).stdout.splitlines()[1].split()[-2:] == ["–", "0"]
    add(tmp_path / "c", A, math.nan, math.nan, findings=(make_finding(),))
    head, *_, last = history(tmp_path / "c").stdout.splitlines()
    assert head == "c: 1 run, 1 finding, notes not counted, in the last complete run"
    assert last.strip() == "leads: nobody"


def test_the_pages_are_made_from_runs_and_attempts(audit, tmp_path):
    tell_removed(audit, A)
    failed(audit, "No such column.")
    answer = history(audit, "--html")
    assert answer.stdout == f"HTML  {audit}/history.html\n", answer.stderr
    page = (audit / "history.html").read_text(encoding="utf8")
    for text in (A, B, "No such column.", "New: warning, weak: Weak.", "RMSE"):
        assert text in page
    assert "rmse" not in page
    assert " removed under the retention rules, as recorded in the log." in page
    target = tmp_path / "pages" / "index.html"
    answer = history(audit.parent, "--html", target)
    assert answer.stdout == f"HTML  {target}\n", answer.stderr
    page = target.read_text(encoding="utf8")
    assert B in page
    assert A not in page


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "contains no audit: neither it nor a folder in it has an audit.toml or"),
        ("none", "cannot be read: No such file or directory."),
    ],
)
def test_what_is_no_folder_of_audits_is_refused(tmp_path, name, message):
    answer = history(tmp_path / name)
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert answer.stderr.startswith(f"'{tmp_path / name}' {message}")


@pytest.mark.parametrize(
    "words", [("history",), ("run",), ("run", "-q", "--unattended"), ("run", "--all")]
)
def test_a_run_is_not_taken_for_an_audit_and_stays_as_it_is(audit, words):
    run_folder = audit / "runs" / B
    (run_folder / "audit.toml").write_text("seed = 1\n")
    before = sorted(audit.rglob("*"))
    target = run_folder.parent if "--all" in words else run_folder
    answer = invoke(*words, target)
    assert answer.exit_code == 2
    if target == run_folder:
        assert answer.stderr.endswith(
            f"{str(run_folder)!r} is a run, not the folder of an audit. Name the "
            "folder above runs/.\n"
        )
    assert sorted(audit.rglob("*")) == before


def test_a_page_in_the_place_of_a_folder_is_refused(tmp_path):
    answer = history(tmp_path / "none", "--html", tmp_path)
    assert answer.exit_code == 2
    assert answer.stderr == (
        f"--html must name a file; '{tmp_path}' is a folder. Put PATH before --html.\n"
    )


def test_the_history_starts_without_tables_and_numbers(audit):
    code = f"{COMMAND}(['history', {str(audit)!r}])"
    first, *_, loaded = lines_and_loaded(code, "numpy pandas rich")
    assert first == "a: 2 runs, 1 finding, notes not counted, in the last complete run"
    assert loaded == "set()"


def test_an_audit_that_nobody_can_look_into_hides_no_other(audit):
    folder = audit.parent / "A"
    folder.mkdir()
    (folder / "runs").symlink_to("runs")
    (folder / "audit.toml").touch()
    why = f"Folder '{folder}/runs' cannot be read: Too many levels of symbolic links."
    answer = history(audit.parent)
    assert (answer.exit_code, answer.stderr) == (2, "")
    _, first, second = answer.stdout.splitlines()
    assert first == f"A      {why}"
    assert second.startswith("a      2025-11-21 08:46:00  ")
    answer = history(audit.parent, "--json")
    assert answer.exit_code == 2
    unread, read = json.loads(answer.stdout)["audits"]
    assert (unread["fault"], read["fault"]) == (why, "")
    assert history(audit.parent, "--html").exit_code == 2
    page = (audit.parent / "history.html").read_text(encoding="utf8")
    assert "Too many levels of symbolic links" in page
    assert B in page
    assert ">2</" in page.split('id="tab-audits"')[1].split("Too many")[0]
