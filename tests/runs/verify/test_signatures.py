"""Claims about signatures of lines by ssh-keygen, and who may make them."""

import os
import re
import shutil
import subprocess

import pytest
from tests.run_folders import rewrite_log
from tests.signed_runs import APPROVAL, SECOND, write

from importance_audit.operate.sign import sign
from importance_audit.runs.audit_log import LOG, append
from importance_audit.runs.verify import verify

pytestmark = pytest.mark.skipif(
    not shutil.which("ssh-keygen"), reason="ssh-keygen is not on PATH"
)
ZOFIA, ANNA = "zofia@example.org", "anna@example.org"
SIGNED = f"signatures/6.{ZOFIA}.sig"
LINE = f"{LOG}: line 6"


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """Return a folder with a key of each person, by its name."""
    folder = tmp_path_factory.mktemp("keys")
    for name in (ZOFIA, ANNA, "stranger"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name]
        subprocess.run(command, check=True)
    return folder


@pytest.fixture
def signers(tmp_path, keys):
    return allow(tmp_path / "signers", keys, {ZOFIA: "", ANNA: ""})


@pytest.fixture
def audit(tmp_path, made):
    return shutil.copytree(made, tmp_path / "audit")


def allow(folder, keys, options):
    folder.mkdir(exist_ok=True)
    lines = []
    for name, option in options.items():
        kind, key = (keys / f"{name}.pub").read_text().split()[:2]
        lines.append(f"{name} {option} {kind} {key}".replace("  ", " "))
    (folder / "allowed_signers").write_text("\n".join(lines) + "\n")
    return folder


def make_signature(audit, keys, by=ZOFIA, named=ZOFIA, domain="importance-audit"):
    (audit / "signatures").mkdir(exist_ok=True)
    line = (audit / LOG).read_bytes().splitlines(keepends=True)[5]
    command = ["ssh-keygen", "-q", "-Y", "sign", "-n", domain, "-f", keys / by]
    made = subprocess.run(command, input=line, capture_output=True, check=True)
    (audit / "signatures" / f"6.{named}.sig").write_bytes(made.stdout)


def places(found):
    return [item.file for item in found.mismatches]


def test_a_signature_is_valid_and_covers_its_line_and_all_before_it(audit, signers):
    found = verify(audit, signers=signers)
    unsigned = [f"{LOG}: line 3", f"{LOG}: line 4"]  # with signers each must be signed
    assert places(found) == unsigned
    (note,) = found.notes
    start = f'{SIGNED}, line 6 and all before it: Good "importance-audit" signature'
    assert note.startswith(f"{start} for {ZOFIA}")


@pytest.mark.parametrize("time", ["", "9999-12-31T23:59:59-10:00"])
def test_a_log_whose_lines_nobody_can_read_is_named_with_signers_too(
    audit, signers, time
):
    data = (audit / LOG).read_bytes()
    lines = data.replace(b"\n", b"\r\n")
    if time:
        lines = re.sub(rb'"time":"[^"]*"', f'"time":"{time}"'.encode(), data)
    (audit / LOG).write_bytes(lines)
    named = {*places(verify(audit, signers=signers))}
    assert {f"{LOG}: line {n}" for n in range(1, 7)} <= named


def test_without_signers_a_signature_is_named_and_not_checked(audit):
    found = verify(audit)
    assert found.mismatches == ()
    assert found.notes == (
        f"{SIGNED}, line 6 and all before it: not checked: no signers were given "
        "(--signers FOLDER)",
    )


def test_lines_that_follow_leave_a_signature_valid(audit, signers):
    append(audit, "clock", message="back")
    assert not {SIGNED, LINE} & {*places(verify(audit, signers=signers))}


def test_a_whole_audit_written_anew_is_told_by_a_signature(audit, signers):
    change = {"exit_code": 1}
    rewrite_log(audit, lambda e: {**e, **change} if e["kind"] == "run" else e)
    assert {SIGNED, LINE} <= {*places(verify(audit, signers=signers))}


WRONG = {
    "by a key that is not allowed": {"by": "stranger"},
    "by another person in her name": {"by": ANNA},
    "in another namespace": {"domain": "git"},
}


@pytest.mark.parametrize("how", WRONG)
def test_a_signature_by_another_key_is_named(audit, keys, signers, how):
    make_signature(audit, keys, **WRONG[how])
    mismatches = verify(audit, signers=signers).mismatches
    found = {item.file: item.actual for item in mismatches}
    assert {SIGNED, LINE} <= found.keys()
    if WRONG[how].get("by") == ANNA:
        assert found[SIGNED].endswith(f"its key is that of {ANNA}")


def test_a_signature_of_another_person_in_his_own_name_does_not_do(
    audit, keys, signers
):
    (audit / SIGNED).unlink()
    assert places(verify(audit)) == [LINE]  # without signers too
    make_signature(audit, keys, by=ANNA, named=ANNA)
    found = verify(audit, signers=signers)
    assert LINE in places(found)
    assert "(not its signer): Good" in found.notes[0]


def test_a_signature_of_another_line_is_named(audit, signers):
    (audit / SIGNED).rename(audit / "signatures" / f"5.{ZOFIA}.sig")
    found = places(verify(audit, signers=signers))
    assert {f"signatures/5.{ZOFIA}.sig", LINE} <= {*found}


@pytest.mark.parametrize(
    ("option", "is_valid"),
    [
        ('valid-before="20200101"', False),
        ('valid-before="29990101"', True),
        ('valid-after="29990101"', False),
    ],
)
def test_a_key_must_be_valid_when_its_line_was_written(
    audit, keys, tmp_path, option, is_valid
):
    signers = allow(tmp_path / "signers", keys, {ZOFIA: option})
    assert (SIGNED not in places(verify(audit, signers=signers))) == is_valid
    old = {"time": "2019-01-01T00:00:00+00:00"}  # which revives no key
    rewrite_log(audit, lambda e: {**e, **old} if e["n"] == 6 else e)
    make_signature(audit, keys)
    assert (SIGNED not in places(verify(audit, signers=signers))) == is_valid


def test_a_revoked_key_is_named(audit, keys, signers):
    shutil.copy(keys / f"{ZOFIA}.pub", signers / "revoked")
    mismatches = verify(audit, signers=signers).mismatches
    found = {item.file: item.actual for item in mismatches}
    assert found[SIGNED] == (
        f"its key is revoked in {signers / 'revoked'}, or ssh-keygen cannot read that "
        "file"
    )


def test_signatures_of_other_tools_are_named_and_not_checked(audit, signers):
    for ending in ("asc", "minisig"):
        (audit / f"signatures/6.{ZOFIA}.{ending}").write_bytes(b"made elsewhere")
    found = verify(audit, signers=signers)
    assert SIGNED not in places(found)
    said = "line 6 and all before it: not checked: only signatures of ssh are"
    assert [note for note in found.notes if note.endswith(said)] == [
        f"signatures/6.{ZOFIA}.asc, {said}",
        f"signatures/6.{ZOFIA}.minisig, {said}",
    ]


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_signature_that_is_no_file_is_named(audit, signers, make):
    (audit / SIGNED).unlink()
    make(audit / SIGNED)
    assert {SIGNED, LINE} <= {*places(verify(audit, signers=signers))}


def test_signers_inside_the_audit_are_a_note(audit, keys):
    signers = allow(audit / "signers", keys, {ZOFIA: ""})
    assert "can add one" in verify(audit, signers=signers).notes[0]


def test_without_ssh_keygen_nothing_is_called_invalid(audit, signers, monkeypatch):
    monkeypatch.setenv("PATH", "")
    found = verify(audit, signers=signers)
    assert SIGNED not in places(found)
    assert found.notes[0].endswith("not checked: there is no ssh-keygen")


@pytest.fixture(scope="module")
def made(tmp_path_factory, keys):
    """An audit whose line 6, a sign-off, is signed by its signer; nobody changes it."""
    audit = tmp_path_factory.mktemp("made") / "audit"
    write(audit)
    _, notes = sign(audit / "runs" / SECOND, APPROVAL._replace(signer=ZOFIA))
    assert f"sed -n 6p {audit / LOG} | ssh-keygen -Y sign" in notes[-1]
    assert [m.file for m in verify(audit).mismatches] == [LINE]
    make_signature(audit, keys)
    return audit
