"""Claims about approve: what is signed, what is refused, and what a kill leaves."""

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys

import pytest
from tests.cli.test_cli import ROOT, invoke
from tests.report.made_results import found
from tests.run_folders import below
from tests.runs.verify.test_verify import flip
from tests.signed_runs import APPROVAL, FIRST, REVIEW, SECOND, save, write

from importance_audit.operate.sign import sign
from importance_audit.records.as_json import content_digest, digest_of
from importance_audit.records.errors import AuditError, ConfigError, DataError
from importance_audit.report.sections.verdicts import badge
from importance_audit.runs.audit_log import LOG
from importance_audit.runs.digests import sha256
from importance_audit.runs.load import load_baseline, load_context, load_whole_run
from importance_audit.runs.locks import locked
from importance_audit.runs.signoff.approvals import (
    baseline_of,
    read_signoffs,
    signoffs_in,
)
from importance_audit.runs.summary import Approved
from importance_audit.runs.verify import verify

WORDS = ("name", "role", "relation", "meaning", "statement")


@pytest.fixture
def audit(tmp_path):
    write(tmp_path)
    return tmp_path


def approve(run, request=REVIEW, *more):
    options = [part for word in WORDS for part in (f"--{word}", getattr(request, word))]
    return invoke("approve", run, *options, *more)


def refusal(audit, run=FIRST, request=REVIEW):
    """Return why a run is not signed; nothing is written."""
    before = below(audit), (audit / LOG).read_bytes()
    with pytest.raises(AuditError) as error:
        sign(audit / "runs" / run, request)
    assert (below(audit), (audit / LOG).read_bytes()) == before
    return str(error.value).replace(f"{audit}/", "")


def test_each_line_says_what_was_signed(audit):
    listed = (audit / "runs" / FIRST / "SHA256SUMS").read_bytes()
    first, second = read_signoffs(audit)
    for record in (first, second):
        assert (record["run"], record["list"]) == (FIRST, sha256(listed))
        assert record["content_digest"] == verify(audit / "runs" / FIRST).digest
    assert (first["n"], second["n"]) == (3, 4)
    assert (second["name"], second["meaning"]) == ("Zofia Zając", "approval")
    assert second["signer"] == ""
    assert first["method"] == "a name typed at the terminal"


def test_the_page_of_a_line_prints_who_signed_and_the_line(audit):
    run = audit / "runs" / SECOND
    words = {"name": 'A "B" <i>', "statement": "Twice  \u202e said.", "role": "a & b"}
    file, notes = sign(run, REVIEW._replace(**words, signer="nowak@example.org"))
    assert file == audit / "signoffs" / "6.html"
    page = file.read_text("utf8")
    assert "A &#34;B&#34; &lt;i&gt;" in page
    assert "⟨U+202E⟩" in page
    assert "\u202e" not in page
    assert "nowak@example.org" in page
    assert "electronic" not in page.lower()
    (verdict,) = re.findall(r'<p class="big">.*?<span>([^<]*)</span></p>', page)
    assert verdict == badge(load_whole_run(run).verdict).label
    assert notes[-1].startswith("Its line awaits the signature of nowak@")
    assert [m.file for m in verify(audit).mismatches] == [f"{LOG}: line 6"]
    assert sign(run, APPROVAL)[0].name == "7.html"  # it waits for no signature


def test_the_baseline_is_the_run_as_it_was_approved_and_an_altered_one_is_refused(
    audit,
):
    approved = baseline_of(audit)
    assert content_digest(load_baseline(audit, approved)) == approved.content_digest
    path = audit / "runs" / FIRST / "result.json"
    listed = path.with_name("SHA256SUMS")
    content = listed.read_bytes()
    listed.write_bytes(content[1:])
    with pytest.raises(DataError, match="SHA256SUMS was changed after its run was"):
        load_baseline(audit, approved)
    listed.unlink()
    with pytest.raises(DataError, match="now found: no such file"):
        load_baseline(audit, approved)
    listed.write_bytes(content)
    document = json.loads(path.read_bytes())
    document["run"]["config"]["seed"] = 9
    document["content_digest"] = digest_of(document)
    path.write_text(json.dumps(document), encoding="utf8")
    with pytest.raises(DataError) as error:
        load_baseline(audit, approved)
    words = (
        rf"{path} was changed after its run was approved: its digest was [0-9a-f]"
        rf"{{12}}… and is now [0-9a-f]{{12}}…\. Run: "
        rf"importance-audit verify {path.parent}"
    )
    assert re.fullmatch(words, str(error.value))
    shutil.rmtree(path.parent)
    assert load_baseline(audit, approved) is None


def test_only_an_approval_moves_the_baseline(audit):
    approved = read_signoffs(audit)[1]
    assert baseline_of(audit) == Approved(
        run_id=FIRST,
        content_digest=approved["content_digest"],
        list_sha256=approved["list"],
        printed_name="Zofia Zając",
        signed_at=approved["time"],
    )
    assert approve(audit / "runs" / SECOND).exit_code == 0
    assert baseline_of(audit).run_id == FIRST
    assert approve(audit / "runs" / SECOND, APPROVAL).exit_code == 0
    assert baseline_of(audit).run_id == SECOND
    assert verify(audit).mismatches == ()


def test_render_prints_the_sign_offs_of_a_run(audit):
    run = audit / "runs" / FIRST
    assert load_context(run).signoffs == read_signoffs(audit)
    assert load_context(audit / "runs" / SECOND).signoffs == ()
    sent = shutil.copytree(run, audit / "sent")
    assert signoffs_in(sent) is None


def test_every_word_that_is_wrong_is_told_at_once(audit):
    wrong = {"name": " ", "role": "\udcff", "meaning": "agreed", "signer": "a/b"}
    request = REVIEW._replace(**wrong, statement="x" * 2001)
    with pytest.raises(ConfigError) as error:
        sign(audit / "runs" / FIRST, request)
    assert error.value.problems == (
        "--name must not be empty.",
        r"--role must be UTF-8 text; '\udcff' was given.",
        "--meaning must be one of review, approval, responsibility, authorship; "
        "'agreed' was given.",
        "--statement must have at most 2000 characters; 2001 were given.",
        "--signer must be a name as in allowed_signers, without blanks and '/'; 'a/b' "
        "was given.",
    )
    # where nobody can be asked
    answer = invoke("approve", audit / "runs" / FIRST, "--role", "reviewer")
    assert (answer.exit_code, answer.stderr) == (
        2,
        "approve needs to know who signs what: --name, --relation, --meaning, "
        "--statement are missing. Give them, or run the command in a terminal, "
        "which asks for them.\n",
    )


def test_an_altered_run_is_not_signed(audit):
    path = audit / "runs" / SECOND / "tables" / "importances.csv"
    old = sha256(path.read_bytes())
    flip(path, 0)
    words = (
        f"runs/{SECOND} is not as it was written and cannot be signed: "
        f"tables/importances.csv: expected SHA-256 {old}, found "
        f"{sha256(path.read_bytes())}"
    )
    remedy = f". Run: importance-audit verify runs/{SECOND}"
    assert refusal(audit, SECOND) == words + remedy
    (path.parent / "models.csv").unlink()
    assert refusal(audit, SECOND) == f"{words}; 2 mismatches in all{remedy}"


def test_nothing_is_signed_under_a_broken_log_and_it_names_no_baseline(audit):
    log = (audit / LOG).read_bytes()
    (audit / LOG).write_bytes(log.replace(b"Read.", b"read."))
    words = f"{LOG} was changed after it was written: line 4: expected previous "
    assert refusal(audit, SECOND).startswith(words)
    with pytest.raises(DataError) as error:
        baseline_of(audit)
    assert str(error.value).startswith(f"{audit}/{words}")
    assert str(error.value).endswith(f". Run: importance-audit verify {audit}")


def test_nothing_is_signed_after_a_last_line_that_was_altered(tmp_path):
    """No later line names it: its page tells."""
    save(tmp_path, FIRST)
    second = save(tmp_path, SECOND)
    sign(tmp_path / "runs" / FIRST, REVIEW)
    log = (tmp_path / LOG).read_bytes()
    (tmp_path / LOG).write_bytes(log.replace(b"Read.", b"read."))
    assert refusal(tmp_path, second.name) == (
        f"runs/{SECOND} is not as it was written and cannot be signed: "
        "signoffs/4.html: expected the words of line 4 on it, found others. Run: "
        f"importance-audit verify runs/{SECOND}"
    )


@pytest.mark.parametrize(
    ("status", "findings", "why"),
    [
        ("interrupted", (), "Its status is interrupted."),
        ("complete", (found("time_limit", "audit"),), "It was found."),
    ],
)
def test_a_run_that_did_not_end_can_be_reviewed_and_not_approved(
    audit, status, findings, why
):
    name = "20261122T084600Z-3f9a1c2b"
    run = save(audit, name, status=status, findings=findings)
    assert refusal(audit, name, APPROVAL) == (
        f"runs/{name} must be complete to be approved. {why} It can be signed with "
        "another meaning: review, responsibility, authorship."
    )
    assert approve(run).exit_code == 0


def test_what_is_no_run_of_an_audit_is_not_signed(audit):
    shutil.copytree(audit / "runs" / FIRST, audit / "sent")
    for where in (".", "runs", "sent"):
        words = approve(audit / where).stderr.replace(str(audit / where), "IT")
        assert words == "IT is not a run folder below runs/ of its audit. Name one.\n"
    shutil.copytree(audit / "runs" / FIRST, audit / "runs" / "copy")
    assert refusal(audit, "copy").startswith(f"runs/copy is no run that {LOG} names. ")


def test_one_process_at_a_time_signs(audit):
    with locked(audit):
        answer = approve(audit / "runs" / SECOND)
    assert answer.exit_code == 5
    assert "is in use: " in answer.stderr


KILLED = """
import os, signal, sys
from pathlib import Path
from tests.signed_runs import APPROVAL
from importance_audit.operate.sign import sign

def killed(event, arguments):
    if event == "os.rename" and str(arguments[1]).endswith(".html"):
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(killed)
sign(Path(sys.argv[1]), APPROVAL)
"""


def test_a_kill_between_the_line_and_the_name_of_its_page_is_mended_by_the_next(audit):
    run = audit / "runs" / SECOND
    command = [sys.executable, "-c", KILLED, str(run)]
    ended = subprocess.run(command, cwd=ROOT, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert baseline_of(audit).run_id == SECOND
    assert verify(audit).notes == (
        "signoffs/6.html has not its name yet; the next run finishes it",
    )
    answer = approve(run)
    assert (answer.exit_code, answer.stderr) == (
        0,
        "The page 6.html of a sign-off, which a killed process had written, was given "
        "its name.\n",
    )
    assert [record["n"] for record in read_signoffs(audit)] == [3, 4, 6, 7]
    assert (verify(audit).mismatches, verify(audit).notes) == ((), ())


def test_a_terminal_is_asked_for_what_is_missing_having_shown_what_is_signed(audit):
    run = audit / "runs" / SECOND
    main_end, child_end = pty.openpty()
    words = ["approve", str(run), "--name", "A"]
    with subprocess.Popen(
        [sys.executable, "-m", "importance_audit", *words],
        cwd=ROOT,
        stdin=child_end,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as child:
        os.write(main_end, b"reviewer\nnone\nagreed\nRead.\n")
        output = child.communicate(timeout=120)[0].decode()
    assert child.returncode == 2
    assert f"Content digest {verify(run).digest}" in output
    for prompt in ("Role: ", "Relation to the developer of the model: ", "Statement: "):
        assert prompt in output
    assert "Printed name" not in output
    assert output.endswith("authorship; 'agreed' was given.\n")


def test_a_log_that_lacks_a_sign_off_has_no_baseline(audit):
    """Else a run would compare with another one, or as if nobody had ever approved.

    A copy that somebody made of a page belongs to no line.
    """
    (audit / "signoffs" / "9 (copy).html").touch()
    assert baseline_of(audit) is not None
    kept = (audit / LOG).read_bytes().splitlines(keepends=True)[:3]
    (audit / LOG).write_bytes(b"".join(kept))
    with pytest.raises(DataError) as error:
        baseline_of(audit)
    assert str(error.value) == (
        f"{audit / LOG} lacks the sign-off of signoffs/4.html. Put the log back as it "
        f"was, for example from version control. Run: importance-audit verify {audit}"
    )
