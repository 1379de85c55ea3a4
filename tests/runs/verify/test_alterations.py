"""What verify names of an audit that was altered, and what nobody can know.

Each row is one alteration of an audit of two runs, the first of which was signed twice;
the log has five lines: audit, run, signoff, signoff, run. What `UNKNOWN` lists cannot
be known from the folder alone; a digest of the log from elsewhere tells of some of it.
"""

import os
import re
import shutil
import subprocess

import pytest
from tests.run_folders import make_agree, relist, rewrite_log
from tests.signed_runs import FIRST, SECOND, write

from importance_audit.records.errors import DataError
from importance_audit.runs.audit_log import FIRST as FIRST_KEYS
from importance_audit.runs.audit_log import LOG, append, read_log, to_line
from importance_audit.runs.digests import sha256
from importance_audit.runs.verify import audit as verify_audit_module
from importance_audit.runs.verify import verify

LIST = "SHA256SUMS"
TABLE = "tables/importances.csv"


@pytest.fixture
def audit(tmp_path):
    write(tmp_path / "audit")
    return tmp_path / "audit"


def lines(audit):
    return (audit / LOG).read_bytes().splitlines(keepends=True)


def put(path, data=b"x"):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)


def instead(path, make):
    """Put something else in the place of a file or folder."""
    aside = path.with_name("aside")
    path.rename(aside)
    make(path, aside)


def sparse(path):
    with path.open("wb") as file:
        file.truncate(4 << 40)


def nested(folder):
    here = os.open(folder, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(os.open("x", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


def replaced(old, new, start=9):
    """Return an alteration of the text of the log, tied anew from a line on."""

    def alter(audit):
        path = audit / LOG
        changed = path.read_bytes().replace(old, new)
        assert changed != path.read_bytes()
        path.write_bytes(changed)
        rewrite_log(audit, lambda entry: entry, start)

    return alter


def of_lines(change):
    return lambda audit: put(audit / LOG, b"".join(change(*lines(audit))))


def in_last_line(old, new):
    """Return an alteration of the first place in the last line where `old` is found."""
    return of_lines(lambda *all_: (*all_[:4], re.sub(old, new, all_[4], count=1)))


def after_last_line(data):
    return of_lines(lambda *all_: (*all_, data))


def without_line(number, *, tied):
    def alter(audit):
        kept = [line for n, line in enumerate(lines(audit), 1) if n != number]
        put(audit / LOG, b"".join(kept))
        if tied:
            rewrite_log(audit, lambda entry: entry)

    return alter


def in_line(number, **facts):
    """Return an alteration of facts of a line, with all later lines tied anew."""
    return lambda audit: rewrite_log(
        audit, lambda entry: entry | facts if entry["n"] == number else entry
    )


def hidden(path, change):
    """Return an alteration of a run or page that is renamed as if still written."""

    def alter(audit):
        part = (audit / path).rename(
            (audit / path).with_name(PART1.format((audit / path).name))
        )
        change(part)

    return alter


def emptied(part):
    shutil.rmtree(part)
    part.mkdir()


def remove_with_line(audit):
    shutil.rmtree(audit / "runs" / SECOND)
    put(audit / LOG, b"".join(lines(audit)[:4]))


def forge_removal(audit, name):
    (listed,) = (e["list"] for e in read_log(audit).of("run") if e["run"] == name)
    append(audit, "removed", run=name, list=listed, why="x")
    shutil.rmtree(audit / "runs" / name)


def forge(audit, **facts):
    first = read_log(audit).of("run")[0]
    own = {key: first[key] for key in first.keys() - {*FIRST_KEYS}}
    append(audit, "run", **own | facts)


def swap(audit):
    first, second = audit / "runs" / FIRST, audit / "runs" / SECOND
    first.rename(audit / "aside")
    second.rename(first)
    (audit / "aside").rename(second)


PART1 = ".{}.01234567.part"
R1, R2 = f"runs/{FIRST}", f"runs/{SECOND}"
LIST1, TABLE1 = f"{R1}/{LIST}", f"{R1}/{TABLE}"
PAGE2, HEAD2 = f"{R2}/report.html", f"{R2}/log-head.json"
SIGNED = "signoffs/3.html"
HIDDEN = f"runs/{PART1.format(FIRST)}"
L = f"{LOG}: line "
LATE = b"9999-12-31T23:59:59-10:00"
ALTERATIONS = {
    # files and lists
    "table changed": (lambda a: put(a / TABLE1), TABLE1),
    "table removed": (lambda a: (a / TABLE1).unlink(), TABLE1),
    "file added to a run": (lambda a: put(a / R1 / "x.csv"), f"{R1}/x.csv"),
    "file renamed": (lambda a: (a / TABLE1).rename(a / R1 / "x.csv"), TABLE1),
    "file added to runs/": (lambda a: put(a / "runs" / "x.csv"), "runs/x.csv"),
    "page changed": (lambda a: put(a / R1 / "report.html"), f"{R1}/report.html"),
    "list removed": (lambda a: (a / LIST1).unlink(), LIST1),
    "line feed added to a list": (
        lambda a: put(a / LIST1, (a / LIST1).read_bytes() + b"\n"),
        LIST1,
    ),
    "list that leads outside": (
        lambda a: put(a / LIST1, b"0" * 64 + b"  ../../audit-log.jsonl\n"),
        LIST1,
    ),
    "table of the first run and its list": (
        lambda a: (put(a / TABLE1), relist(a / R1)),
        LIST1,
    ),
    "page of the newest run and its list": (
        lambda a: (put(a / PAGE2), relist(a / R2)),
        f"{R2}/{LIST}",
    ),
    "page of the newest run, its list and line": (
        lambda a: (put(a / PAGE2), make_agree(a / R2)),
        PAGE2,
    ),
    "table of the first run, its list and line, later lines": (
        lambda a: (put(a / TABLE1), make_agree(a / R1)),
        HEAD2,
    ),
    "another run's line before it": (
        lambda a: (put(a / HEAD2, b"{}"), make_agree(a / R2)),
        HEAD2,
    ),
    "no line before a run but the first": (
        lambda a: (put(a / HEAD2, b'{"n": 0, "sha256": ""}\n'), make_agree(a / R2)),
        HEAD2,
    ),
    # as if still being written
    "run hidden and changed": (
        hidden(R1, lambda part: put(part / TABLE)),
        f"{HIDDEN}/{TABLE}",
    ),
    "run hidden and emptied": (hidden(R1, emptied), f"{HIDDEN}/{LIST}"),
    "signed page hidden and emptied": (
        hidden(SIGNED, lambda part: put(part, b"")),
        f"signoffs/{PART1.format('3.html')}",
    ),
    # the log
    "size of the newest run": (in_last_line(rb'"bytes":\d', b'"bytes":9'), f"{L}5"),
    "content of a signed run": (in_line(3, content_digest="0" * 64), f"{L}3"),
    "meaning of a sign-off that is none": (in_line(4, meaning="praise"), f"{L}4"),
    "sign-off of nobody": (in_line(4, name=" "), f"{L}4"),
    "name in a sign-off": (replaced(b"A. Nowak", b"A. Other"), f"{L}4"),
    "name in a sign-off, later lines tied anew": (
        replaced(b"A. Nowak", b"A. Other", 1),
        SIGNED,
    ),
    "exit code of a run": (replaced(b'"exit_code":0', b'"exit_code":1'), f"{L}3"),
    "verdict of the newest run": (
        in_last_line(b"not cross-checked", b"confirmed"),
        f"{R2}/result.json",
    ),
    "blank in the last line": (in_last_line(b'{"n"', b'{ "n"'), f"{L}5"),
    "key twice in the last line": (in_last_line(b'"n":5', b'"n":5,"n":5'), f"{L}5"),
    "sign-off removed": (without_line(3, tied=False), f"{L}3"),
    "sign-off removed, later lines tied anew": (
        without_line(3, tied=True),
        "signoffs/4.html",
    ),
    "first line removed": (without_line(1, tied=False), f"{L}1"),
    "all lines but the last removed": (of_lines(lambda *all_: all_[4:]), HEAD2),
    "a time beyond the calendar": (in_last_line(rb"2\d{3}-[^\"]*", LATE), f"{L}5"),
    "lines swapped": (of_lines(lambda a, b, c, d, e: (a, b, d, c, e)), f"{L}3"),
    "line copied in": (of_lines(lambda a, b, c, d, e: (a, b, c, c, d, e)), f"{L}4"),
    "log cut, runs left": (of_lines(lambda *all_: all_[:3]), R2),
    "line ends as of Windows": (
        of_lines(lambda *all_: (line.replace(b"\n", b"\r\n") for line in all_)),
        f"{L}1",
    ),
    "half a line at the end": (after_last_line(b"{"), f"{L}6"),
    "NUL bytes at the end": (after_last_line(bytes(99)), f"{L}6"),
    "no line feed at the end": (in_last_line(b"\n", b""), f"{L}5"),
    "empty": (of_lines(lambda *_: ()), R1),
    "log removed": (lambda a: (a / LOG).unlink(), LOG),
    "log is a FIFO": (lambda a: instead(a / LOG, lambda p, _: os.mkfifo(p)), LOG),
    "log is a link": (lambda a: instead(a / LOG, lambda p, q: p.symlink_to(q)), LOG),
    "log is a folder": (lambda a: instead(a / LOG, lambda p, _: p.mkdir()), LOG),
    "log of 4 TiB": (lambda a: sparse(a / LOG), LOG),
    "a line nested without end": (after_last_line(b"[" * 100_000 + b"\n"), f"{L}6"),
    "a run named twice": (lambda a: forge(a), f"{L}6"),
    "a run that leads elsewhere": (lambda a: forge(a, run="../x"), f"{L}6"),
    # runs
    "first run removed by hand": (lambda a: shutil.rmtree(a / R1), R1),
    "newest run removed by hand": (lambda a: shutil.rmtree(a / R2), R2),
    "signed run removed with a forged line": (
        lambda a: forge_removal(a, FIRST),
        f"{L}6",
    ),
    "run copied": (lambda a: shutil.copytree(a / R1, a / "runs/D"), "runs/D"),
    "runs swapped": (swap, LIST1),
    "run folder is a link": (
        lambda a: instead(
            a / R1, lambda p, q: (shutil.move(q, a / "away"), p.symlink_to(a / "away"))
        ),
        R1,
    ),
    "file is a link": (
        lambda a: instead(a / TABLE1, lambda p, q: p.symlink_to(q)),
        TABLE1,
    ),
    "file is a FIFO": (
        lambda a: instead(a / TABLE1, lambda p, _: os.mkfifo(p)),
        TABLE1,
    ),
    "FIFO added": (lambda a: os.mkfifo(a / R1 / "f"), f"{R1}/f"),
    "list is a FIFO": (lambda a: ((a / LIST1).unlink(), os.mkfifo(a / LIST1)), LIST1),
    "list of 4 TiB": (lambda a: sparse(a / LIST1), LIST1),
    "file of 4 TiB": (lambda a: sparse(a / TABLE1), TABLE1),
    "1 500 folders inside each other": (
        lambda a: nested(a / R1),
        f"{R1}/{'d/' * 1500}x",
    ),
    "a name that holds a line": (
        lambda a: put(a / R1 / "x\nmatch: all is well"),
        f"{R1}/x\nmatch: all is well",
    ),
    # pages of sign-offs
    "signed page changed": (lambda a: put(a / SIGNED), SIGNED),
    "signed page removed": (lambda a: (a / SIGNED).unlink(), SIGNED),
    "signed page of another": (
        lambda a: shutil.copy(a / SIGNED, a / "signoffs/4.html"),
        "signoffs/4.html",
    ),
    "page without a line": (lambda a: put(a / "signoffs/9.html"), "signoffs/9.html"),
    "page is a FIFO": (
        lambda a: ((a / SIGNED).unlink(), os.mkfifo(a / SIGNED)),
        SIGNED,
    ),
    "signature of no line": (
        lambda a: put(a / "signatures/9.anna.sig"),
        "signatures/9.anna.sig",
    ),
    "signature with a name that holds a line": (
        lambda a: put(a / "signatures/4.a\nmatch: well"),
        "signatures/4.a\nmatch: well",
    ),
}


@pytest.mark.parametrize("how", ALTERATIONS)
def test_an_alteration_is_named_by_its_place(audit, how):
    alter, where = ALTERATIONS[how]
    alter(audit)
    found = verify(audit)
    assert where in {item.file for item in found.mismatches}
    assert found.lines()[-1] == f"mismatch: {len(found.mismatches)} found"
    assert all(line.isprintable() for line in found.lines())
    subprocess.run(["rm", "-rf", audit], check=True)  # Python cannot remove all of them


def test_a_pdf_without_end_is_refused_and_not_read(tmp_path):
    sparse(tmp_path / "report.pdf")
    with pytest.raises(DataError, match=f"report: a file of {4 << 40} bytes"):
        verify(tmp_path / "report.pdf")


UNKNOWN = {
    "an empty folder added": (lambda a: (a / R1 / "empty").mkdir(), False),
    "the newest run removed with its line": (remove_with_line, True),
    "an unsigned run removed with a forged line": (
        lambda a: forge_removal(a, SECOND),
        False,
    ),
    "the time of the newest line": (
        in_last_line(rb"2\d{3}-[^\"]*", b"2026-01-01T00:00:00+00:00"),
        True,
    ),
    "a table of the newest run, its list and its line": (
        lambda a: (put(a / R2 / TABLE), make_agree(a / R2)),
        True,
    ),
}


@pytest.mark.parametrize("how", UNKNOWN)
def test_what_nobody_can_know_is_told_by_a_head_from_elsewhere(audit, how):
    alter, is_told_by_head = UNKNOWN[how]
    head = verify(audit).head
    alter(audit)
    found = verify(audit)
    assert found.mismatches == ()
    assert "wrote files and log anew together" in found.unchecked
    noted = verify(audit, head=head).mismatches
    assert [item.file for item in noted] == [LOG] * is_told_by_head


def test_a_match_counts_what_was_looked_at_and_prints_the_head(audit):
    found = verify(audit)
    assert (found.mismatches, found.notes) == ((), ())
    assert found.head == sha256(lines(audit)[-1])
    assert found.lines() == (
        f"match: 2 runs, {found.n_files} files, 2 sign-offs, 5 lines, the last with "
        f"SHA-256 {found.head}",
    )
    for line in lines(audit):
        assert verify(audit, head=sha256(line)).mismatches == ()


def test_one_run_is_handed_on_with_the_log(audit, tmp_path):
    sent = tmp_path / "sent"
    shutil.copytree(audit, sent)
    shutil.rmtree(sent / R1)
    assert {item.file for item in verify(sent).mismatches} == {R1}
    found = verify(sent, only=SECOND)
    assert (found.mismatches, found.n_runs) == ((), 1)
    assert verify(sent / R2) == found
    put(sent / R2 / TABLE)
    assert [item.file for item in verify(sent, only=SECOND).mismatches] == [
        f"{R2}/{TABLE}"
    ]
    assert [m.file for m in verify(sent, only="other").mismatches] == ["runs/other"]


def test_a_run_alone_is_held_against_its_own_list(audit, tmp_path):
    sent = shutil.copytree(audit / R1, tmp_path / "for the supervisor")
    found = verify(sent)
    assert found.mismatches == ()
    assert found.notes == (
        f"{LOG} of its audit is not here, so the run was compared with its own list",
    )
    put(sent / TABLE)
    assert [item.file for item in verify(sent).mismatches] == [TABLE]


def test_retention_and_what_a_kill_left_are_notes(audit):
    forge_removal(audit, SECOND)
    parts = (".D.01234567.part", ".E.removed")
    for name in parts:
        (audit / "runs" / name).mkdir()
    put(audit / "signoffs" / ".7.html.01234567.part")
    found = verify(audit)
    assert found.mismatches == ()
    left = "is left by a killed process, or being written"
    assert found.notes == (
        f"{R2} was removed: x",
        *(f"runs/{name} {left}" for name in parts),
        f"signoffs/.7.html.01234567.part {left}",
    )


def test_what_is_gone_at_a_second_look_is_no_fault(audit, monkeypatch):
    """As a run that another process writes meanwhile."""
    path = audit / R2 / TABLE
    data = path.read_bytes()
    put(path)
    monkeypatch.setattr(verify_audit_module.time, "sleep", lambda _: put(path, data))
    assert verify(audit).mismatches == ()


def test_a_line_of_a_sign_off_of_another_list_is_named(audit):
    entry = dict(read_log(audit).of("signoff")[0], list="0" * 64)
    put(audit / LOG, b"".join([*lines(audit)[:2], to_line(entry), *lines(audit)[3:]]))
    assert f"{L}3" in {item.file for item in verify(audit).mismatches}


def test_later_lines_leave_earlier_ones_valid_and_a_clock_that_went_back_is_a_note(
    audit,
):
    append(audit, "notified", hook="h", exit_code=None, message="", seconds=0.5)
    found = verify(audit)
    assert (found.mismatches, found.notes) == ((), ())
    append(audit, "clock", time="2026-01-01T00:00:00+00:00", message="back")
    assert verify(audit).mismatches == ()
    (note,) = verify(audit).notes
    assert note.startswith("the clock went back: a line says 20")
