"""Claims about approve: what is signed, what is refused, and what a kill leaves."""

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.test_cli import configured, rows, runner
from tests.run_folders import below, seal
from tests.runs.verify.test_verify import flip
from tests.signed_runs import (
    APPROVAL,
    FIRST,
    REVIEW,
    SECOND,
    save,
    trail,
    without_pdf,
    write,
)

from importance_audit.cli.main import main
from importance_audit.operate.run import run_audit
from importance_audit.operate.sign import append_missing_line, sign
from importance_audit.records.as_json import content_digest
from importance_audit.records.errors import AuditError, ConfigError, DataError
from importance_audit.report.pages import html
from importance_audit.runs.load import load_context
from importance_audit.runs.locks import locked
from importance_audit.runs.signoff.approvals import (
    baseline_of,
    describe_missing_lines,
    load_baseline,
    signoffs_in,
    signoffs_of,
)
from importance_audit.runs.signoff.record import Signoff
from importance_audit.runs.signoff.signoff_trail import read_trail, sha256
from importance_audit.runs.summary import Approved
from importance_audit.runs.verify import verify

ROOT = Path(__file__).parents[2]
WORDS = ("name", "role", "relation", "meaning", "statement")


@pytest.fixture
def audit(tmp_path):
    write(tmp_path)
    return tmp_path


def approve(run, request=REVIEW, *more):
    options = [part for word in WORDS for part in (f"--{word}", getattr(request, word))]
    with without_pdf():
        return runner().invoke(main, ["approve", str(run), *options, *more])


def refusal(audit, run=FIRST, request=REVIEW):
    """Return why a run is not signed; nothing is written."""
    before = below(audit), (audit / "signoffs.jsonl").read_bytes()
    with pytest.raises(AuditError) as error:
        sign(audit / "runs" / run, request)
    assert (below(audit), (audit / "signoffs.jsonl").read_bytes()) == before
    return str(error.value).replace(f"{audit}/", "")


def test_each_record_says_what_was_signed_and_names_the_line_before(audit):
    first, second = read_trail(trail()[0]).records
    manifest = (audit / "runs" / FIRST / "manifest.json").read_bytes()
    assert (first.signoff_id, second.signoff_id) == (f"{FIRST}/1", f"{FIRST}/2")
    assert first.previous_sha256 == ""
    assert second.previous_sha256 == sha256(trail()[1].rstrip())
    for record in (first, second):
        assert record.manifest_sha256 == sha256(manifest)
        assert record.content_digest == json.loads(manifest)["content_digest"]
    assert (second.printed_name, second.meaning) == ("Zofia Zając", "approval")


def test_a_line_is_canonical_json_of_exactly_these_fields():
    line = trail()[2].rstrip().decode("utf8")
    facts = json.loads(line)
    assert [*facts] == sorted(Signoff.__dataclass_fields__)
    assert line == json.dumps(facts, separators=(",", ":"), ensure_ascii=False)


def test_a_detached_signature_is_kept_as_it_was_and_listed_with_its_digest(audit):
    signed = audit / "runs" / FIRST / "signed"
    data = (signed / "2" / "signature" / "approval.sig").read_bytes()
    assert data == b"made elsewhere"
    first, second = read_trail(trail()[0]).records
    assert (
        second.method == f"detached signature file approval.sig, SHA-256 {sha256(data)}"
    )
    assert first.method == "a name typed at the terminal"
    page = (signed / "2" / "report.html").read_text("utf8")
    assert sha256(data)[:32] in page
    assert sha256(data)[32:] in page


def test_the_signed_document_prints_its_version_and_who_signed(audit):
    for number in ("1", "2"):
        path = audit / "runs" / FIRST / "signed" / number / "report.html"
        page = path.read_text("utf8")
        assert f"Version {number}, signed (section Sign-off)." in page
        assert ("Zofia Zając" in page) == (number == "2")
        assert "electronic" not in page.lower()


def test_only_an_approval_moves_the_baseline(audit):
    approved = read_trail(trail()[0]).records[1]
    assert baseline_of(audit) == Approved(
        run_id=FIRST,
        content_digest=approved.content_digest,
        manifest_sha256=approved.manifest_sha256,
        signoff_id=f"{FIRST}/2",
        printed_name="Zofia Zając",
        signed_at=approved.signed_at.isoformat(),
    )
    assert approve(audit / "runs" / SECOND).exit_code == 0
    assert baseline_of(audit).run_id == FIRST
    assert approve(audit / "runs" / SECOND, APPROVAL).exit_code == 0
    assert baseline_of(audit).run_id == SECOND
    assert verify(audit).mismatches == ()


def test_without_a_sign_off_there_is_no_baseline(tmp_path):
    assert baseline_of(tmp_path) is None
    assert load_baseline(tmp_path, None) is None
    assert signoffs_of(tmp_path, FIRST) == ()


def test_the_baseline_is_the_run_as_it_was_approved_none_if_it_is_gone(audit):
    approved = baseline_of(audit)
    baseline = load_baseline(audit, approved)
    assert content_digest(baseline) == approved.content_digest
    shutil.rmtree(audit / "runs" / FIRST)
    assert load_baseline(audit, approved) is None


@pytest.mark.parametrize("file", ["manifest.json", "result.json"])
def test_a_baseline_that_was_altered_is_refused(audit, file):
    approved = baseline_of(audit)
    path = audit / "runs" / FIRST / file
    path.write_bytes(path.read_bytes().replace(b"rmse", b"rmsf") + b"\n")
    with pytest.raises(DataError) as error:
        load_baseline(audit, approved)
    words = (
        rf"{path} was changed after its run was approved: its digest was [0-9a-f]"
        rf"{{12}}… and is now [0-9a-f]{{12}}…\. Run: "
        rf"importance-audit verify {path.parent}"
    )
    assert re.fullmatch(words, str(error.value))


def test_a_broken_trail_names_no_baseline(audit):
    _, *lines = trail()
    (audit / "signoffs.jsonl").write_bytes(lines[1])
    with pytest.raises(DataError) as error:
        baseline_of(audit)
    before = sha256(lines[0].rstrip())
    assert str(error.value) == (
        f"{audit}/signoffs.jsonl was changed after approve wrote it: line 1 should "
        f"have previous_sha256 none (the line before) and has {before}. Run: "
        f"importance-audit verify {audit}"
    )


def test_a_trail_that_cannot_be_read_is_named_before_anything_is_signed(audit):
    (audit / "signoffs.jsonl").unlink()
    (audit / "signoffs.jsonl").mkdir()
    before = below(audit)
    answer = approve(audit / "runs" / SECOND)
    assert (answer.exit_code, answer.stderr) == (
        2,
        f"{audit}/signoffs.jsonl cannot be read: Is a directory.\n",
    )
    assert below(audit) == before


def test_render_prints_the_sign_offs_of_a_run_also_of_one_that_was_handed_on(audit):
    run = audit / "runs" / FIRST
    assert load_context(run).signoffs == read_trail(trail()[0]).records
    sent = shutil.copytree(run, audit / "sent")
    assert signoffs_in(sent) == read_trail(trail()[0]).records
    assert load_context(audit / "runs" / SECOND).signoffs == ()


def test_every_word_that_is_wrong_is_told_at_once(audit):
    request = REVIEW._replace(
        name=" ", role="\udcff", meaning="agreed", statement="x" * 2001
    )
    with pytest.raises(ConfigError) as error:
        sign(audit / "runs" / FIRST, request)
    assert error.value.problems == (
        "--name must not be empty.",
        r"--role must be UTF-8 text; '\udcff' was given.",
        "--meaning must be one of review, approval, responsibility, authorship; "
        "'agreed' was given.",
        "--statement must have at most 2000 characters; 2001 were given.",
    )


def test_what_was_not_said_is_told_at_once_where_nobody_can_be_asked(audit):
    words = ["approve", str(audit / "runs" / FIRST), "--role", "reviewer"]
    answer = runner().invoke(main, words)
    assert (answer.exit_code, answer.stderr) == (
        2,
        "approve needs to know who signs what: --name, --relation, --meaning, "
        "--statement are missing. Give them, or run the command in a terminal, "
        "which asks for them.\n",
    )


def test_a_sign_off_holds_the_tables_that_its_page_links_to(tmp_path, monkeypatch):
    monkeypatch.setattr(html, "DOWNLOADS", 0)  # every table is too large for the page
    run = save(tmp_path, FIRST, profile="technical")
    with without_pdf():
        folder = sign(run, REVIEW).folder
    page = (folder / "report.html").read_text("utf8")
    links = set(re.findall(r'href="([^"]*\.csv)"', page))
    assert "tables/importances.csv" in links
    assert links == {path for path in below(folder) if path.endswith(".csv")}
    for link in links:
        data = (folder / link).read_bytes()
        assert data == (run / link).read_bytes()
        assert f'<span class="hash">{sha256(data)}</span>' in page
    assert verify(run).mismatches == verify(tmp_path).mismatches == ()
    with without_pdf():
        assert sign(run, APPROVAL).record.signoff_id.endswith("/2")


def test_an_altered_run_is_not_signed(audit):
    path = audit / "runs" / SECOND / "tables" / "importances.csv"
    old = sha256(path.read_bytes())
    flip(path, 0)
    assert refusal(audit, SECOND) == (
        f"runs/{SECOND} is not as it was written and cannot be signed: "
        f"tables/importances.csv: expected SHA-256 {old}, found "
        f"{sha256(path.read_bytes())}. Run: importance-audit verify runs/{SECOND}"
    )


def test_nothing_is_signed_under_a_broken_trail(audit):
    (audit / "signoffs.jsonl").write_bytes(trail()[0].replace(b"Read.", b"read."))
    words = refusal(audit, SECOND)
    assert words.startswith(
        f"runs/{SECOND} is not as it was written and cannot be signed: "
        "../../signoffs.jsonl: line 2: expected previous_sha256 "
    )


def test_nothing_is_signed_after_a_last_line_that_was_altered(tmp_path):
    save(tmp_path, FIRST)
    second = save(tmp_path, SECOND)
    with without_pdf():
        sign(tmp_path / "runs" / FIRST, REVIEW)
    trail = tmp_path / "signoffs.jsonl"
    trail.write_bytes(trail.read_bytes().replace(b"Read.", b"read."))
    assert refusal(tmp_path, second.name) == (
        "signoffs.jsonl is not as it was signed last: it differs from the copy in "
        f"runs/{FIRST}/signed/1. Run: importance-audit verify {tmp_path}"
    )


@pytest.mark.parametrize("name", ["signoffs.jsonl", "events.jsonl"])
def test_what_cannot_be_read_of_the_trail_is_named(audit, name):
    (audit / name).unlink(missing_ok=True)
    (audit / name).mkdir()
    answer = approve(audit / "runs" / FIRST)
    assert (answer.exit_code, answer.stderr.count("\n")) == (2, 1)
    assert f"{name}" in answer.stderr
    assert " cannot be read: Is a directory." in answer.stderr


def test_a_run_that_did_not_end_can_be_reviewed_and_not_approved(audit):
    name = "20261122T084600Z-3f9a1c2b"
    run = save(audit, name, status="interrupted")
    assert refusal(audit, name, APPROVAL) == (
        f"runs/{name} must be complete to be approved; it is interrupted. It can be "
        "signed with another meaning: review, responsibility, authorship."
    )
    assert approve(run).exit_code == 0


@pytest.mark.parametrize("where", [".", "runs", "sent"])
def test_what_is_no_run_of_an_audit_is_not_signed(audit, where):
    shutil.copytree(audit / "runs" / FIRST, audit / "sent")
    words = approve(audit / where).stderr.replace(str(audit / where), "IT")
    assert words == ("IT is not a run folder below runs/ of its audit. Name one.\n")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (None, "cannot be read: No such file or directory."),
        (b"", "must have 1 to 1000000 bytes; it has 0."),
        (b"x" * 1_000_001, "must have 1 to 1000000 bytes; it has 1000001."),
    ],
)
def test_a_signature_that_is_none_is_refused(audit, data, why):
    path = audit / "a.sig"
    if data is not None:
        path.write_bytes(data)
    request = REVIEW._replace(signature=path)
    assert refusal(audit, FIRST, request) == f"--signature a.sig {why}"


def test_one_process_at_a_time_signs(audit):
    with locked(audit):
        answer = approve(audit / "runs" / SECOND)
    assert answer.exit_code == 5
    assert "is in use: " in answer.stderr


def test_a_clock_that_went_back_is_told(audit):
    line = trail()[2].rstrip().replace(b'"signed_at":"2', b'"signed_at":"3')
    late = trail()[1] + line + b"\n"
    (audit / "signoffs.jsonl").write_bytes(late)
    signed = audit / "runs" / FIRST / "signed" / "2"
    (signed / "signoffs.jsonl").write_bytes(late)
    seal(signed)
    shutil.rmtree(audit / "runs" / SECOND)
    with without_pdf():
        signoff = sign(audit / "runs" / FIRST, REVIEW)
    assert signoff.notes[0].startswith(
        "The clock went back: an earlier line of signoffs.jsonl is of 3"
    )


def test_a_page_alone_is_signed_where_no_pdf_can_be_made_and_that_is_said(audit):
    answer = approve(audit / "runs" / SECOND)
    folder = audit / "runs" / SECOND / "signed" / "1"
    assert (answer.exit_code, answer.stdout) == (0, f"{folder}\n")
    assert answer.stderr.startswith(
        "The signed PDF was not written beside the HTML: WeasyPrint had no folder to "
        "work"
    )
    assert below(folder) == ["manifest.json", "report.html", "signoffs.jsonl"]


@pytest.mark.parametrize("left", [0, 1, 200, -1])
def test_a_line_that_a_kill_left_out_or_cut_is_appended_as_it_was_signed(audit, left):
    _, first, second = trail()
    (audit / "signoffs.jsonl").write_bytes(first + second[:left])
    assert "signoffs.jsonl: line 2" in {m.file for m in verify(audit).mismatches}
    assert append_missing_line(audit) == (
        f"signoffs.jsonl lacked the line of runs/{FIRST}/signed/2, which was appended "
        "to it.",
    )
    assert (audit / "signoffs.jsonl").read_bytes() == trail()[0]
    assert append_missing_line(audit) == ()


def test_more_than_one_line_is_not_what_a_kill_leaves_out(audit):
    (audit / "signoffs.jsonl").unlink()
    shutil.rmtree(audit / "runs" / FIRST / "signed" / "1")
    assert append_missing_line(audit) == ()
    assert not (audit / "signoffs.jsonl").exists()


def test_an_altered_copy_is_not_appended(audit):
    (audit / "signoffs.jsonl").write_bytes(trail()[1])
    flip(audit / "runs" / FIRST / "signed" / "2" / "signoffs.jsonl", -3)
    assert append_missing_line(audit) == ()


KILLED = """
import os, signal, sys
from pathlib import Path
from tests.signed_runs import APPROVAL
from importance_audit.operate.sign import sign

def killed(event, arguments):
    # The commit is made; the line of the trail is about to be appended.
    name, _, flags = (*arguments, 0, 0, 0)[:3] if event == "open" else ("", "", 0)
    if str(name).endswith("signoffs.jsonl") and flags & os.O_APPEND:
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(killed)
sign(Path(sys.argv[1]), APPROVAL)
"""


def test_a_kill_between_the_commit_and_the_trail_is_mended_by_the_next(audit):
    run = audit / "runs" / SECOND
    command = [sys.executable, "-c", KILLED, str(run)]
    ended = subprocess.run(command, cwd=ROOT, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert (audit / "signoffs.jsonl").read_bytes() == trail()[0]
    assert "report.pdf" in below(run / "signed" / "1")
    answer = approve(run)
    assert (answer.exit_code, answer.stderr.splitlines()[0]) == (
        0,
        f"signoffs.jsonl lacked the line of runs/{SECOND}/signed/1, which was appended "
        "to it.",
    )
    assert [r.signoff_id[-2:] for r in signoffs_of(audit, SECOND)] == ["/1", "/2"]
    assert baseline_of(audit).run_id == SECOND
    assert verify(audit).mismatches == ()


def test_what_a_kill_left_half_written_is_removed_by_the_next(audit):
    part = audit / "runs" / SECOND / "signed" / ".1.0a1b2c3d.part"
    part.mkdir(parents=True)
    answer = approve(audit / "runs" / SECOND)
    assert "Half a sign-off, left by a kill, was removed." in answer.stderr
    assert not part.exists()


def test_a_terminal_is_asked_for_what_is_missing_having_shown_what_is_signed(audit):
    run = audit / "runs" / SECOND
    main_end, child_end = pty.openpty()
    command = [
        sys.executable,
        "-m",
        "importance_audit",
        "approve",
        str(run),
        "--name",
        "A",
    ]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=child_end,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as child:
        os.write(main_end, b"reviewer\nnone\nagreed\nRead.\n")
        output = child.communicate(timeout=120)[0].decode()
    assert child.returncode == 2
    digest = json.loads((run / "manifest.json").read_bytes())["content_digest"]
    assert f"Content digest {digest}" in output
    for prompt in ("Role: ", "Relation to the developer of the model: ", "Statement: "):
        assert prompt in output
    assert "Printed name" not in output
    assert output.endswith("authorship; 'agreed' was given.\n")


def test_a_refusal_counts_what_else_is_wrong(audit):
    for name in ("importances.csv", "models.csv"):
        (audit / "runs" / SECOND / "tables" / name).unlink()
    assert "; 4 mismatches in all. Run: " in refusal(audit, SECOND)


@pytest.mark.parametrize("lines", [0, 1])
def test_a_trail_that_lacks_a_sign_off_is_told_of(tmp_path, lines):
    write(tmp_path)
    trail = tmp_path / "signoffs.jsonl"
    assert describe_missing_lines(tmp_path) == ""
    trail.write_bytes(b"".join(trail.read_bytes().splitlines(keepends=True)[:lines]))
    message = describe_missing_lines(tmp_path)
    assert message.startswith("signoffs.jsonl lacks sign-offs of its runs: ")
    assert " lacks sign-offs of its runs: the lines of runs/" in message


def test_a_run_beside_a_trail_that_was_emptied_says_so(tmp_path):
    """Else it would compare with nothing, as if nobody had ever approved."""
    for seed, name in enumerate(("train.csv", "test.csv")):
        rows(seed=seed).to_csv(tmp_path / name, index=False)
    configured(tmp_path)
    signed = tmp_path / "runs" / "20250101T000000Z-3f9a1c2b" / "signed" / "1"
    signed.mkdir(parents=True)
    (signed / "signoffs.jsonl").write_text("{}\n")
    ran = run_audit(tmp_path)
    assert "trail_short" in {finding.check for finding in ran.result.findings}
