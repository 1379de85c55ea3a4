"""Claims about verify: what is altered, gone or added is named, and nothing else."""

import json
import os
import re
import shutil
import socket
from datetime import UTC, datetime

import pikepdf
import pytest
from click.testing import CliRunner
from tests.run_folders import (
    below,
    page,
    printed,
    run_folder,
    seal,
    small_result,
    stated,
    two_runs,
    write_evidence,
    write_two_runs,
)

from importance_audit.cli.main import main
from importance_audit.records.errors import DataError
from importance_audit.report.pages.pdf import to_pdf
from importance_audit.runs.pdf_seal import seal as seal_pdf
from importance_audit.runs.verify import verify
from importance_audit.runs.verify.pdf_reading import read_pdf
from importance_audit.runs.verify.run import _facts
from importance_audit.runs.verify.statements import (
    compare_printed_digest as printed_otherwise,
)

OTHER = "0" * 64


@pytest.fixture
def runs(tmp_path):
    return write_two_runs(tmp_path)


def mismatching_files(path):
    return [item.file for item in verify(path).mismatches]


def run_verify(path):
    """Return the exit code of the command, and every line it prints."""
    answer = CliRunner().invoke(main, ["verify", str(path)])
    return answer.exit_code, answer.output


def flip(path, place):
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


def change(path, **changes):
    path.write_text(json.dumps(json.loads(path.read_bytes()) | changes), "utf8")


@pytest.mark.parametrize(
    ("facts", "part"),
    [
        ({"verdict": ["confirmed"]}, "a text as 'verdict'"),
        ({"files": [{"path": {}, "bytes": 1, "sha256": ""}]}, "a text as 'path'"),
        ({"files": [{"path": "a", "bytes": "1", "sha256": ""}]}, "a number as 'bytes'"),
        ({"previous": {"run_id": 5, "manifest_sha256": OTHER}}, "the run before by"),
        ({"inputs": ["a.csv"]}, "a list of objects as 'inputs'"),
    ],
)
def test_a_manifest_of_other_types_is_refused_in_one_sentence(runs, facts, part):
    with pytest.raises(DataError) as error:
        verify(stated(runs[1], **facts))
    assert str(error.value).startswith(f"manifest.json does not hold {part}")


@pytest.mark.parametrize("name", ["manifest.json", "result.json"])
def test_a_list_without_end_is_no_traceback(runs, name):
    (runs[1] / name).write_text("[" * 100_000, encoding="utf8")
    if name == "result.json":
        seal(runs[1])
    with pytest.raises(DataError, match="cannot be read as"):
        verify(runs[1])


def test_whole_runs_match(runs):
    for folder in runs:
        verification = verify(folder)
        assert verification.mismatches == verification.notes == ()
        assert verification.n_files == len(below(folder)) - 1
        assert verification.digest in (folder / "report.html").read_text("utf8")


def test_a_second_table_of_a_name_beside_the_report_is_named(tmp_path):
    run = run_folder(tmp_path, small_result())
    (run / "importances.csv").write_text("model,feature\n", encoding="utf8")
    assert "importances.csv" in mismatching_files(run)


def test_of_a_folder_without_its_tables_each_is_named(runs):
    names = [path for path in below(runs[1]) if path.startswith("tables/")]
    assert len(names) > 2
    shutil.rmtree(runs[1] / "tables")
    missing = {m.file for m in verify(runs[1]).mismatches if m.actual == "no such file"}
    assert missing == {*names, "evidence.json"}
    code, lines = run_verify(runs[1])
    assert code == 1
    for name in names:
        assert re.search(rf"^{name}: expected SHA-256 .*, found no such", lines, re.M)


def test_a_folder_handed_on_may_have_any_name_but_not_among_the_runs(runs):
    handed = runs[0].parents[1] / "for the supervisor"
    shutil.copytree(runs[0], handed)
    assert mismatching_files(handed) == []
    other = runs[0].with_name("20990101T000000Z-00000000")
    shutil.copytree(runs[0], other)
    assert "manifest.json" in mismatching_files(other)


def test_the_command_tells_how_many_files_match(runs):
    code, lines = run_verify(runs[1])
    assert code == 0
    outcome, _ = lines.splitlines()
    assert re.fullmatch(r"match: \d+ files, content digest [0-9a-f]{64}", outcome)


@pytest.mark.parametrize("place", [(), (1,)])
def test_the_last_line_says_what_a_run_and_an_audit_were_not_checked_for(runs, place):
    path = runs[place[0]] if place else runs[0].parents[1]
    _, lines = run_verify(path)
    assert lines.splitlines()[-1] == (
        "not checked: whether the numbers come out again (verify --replay), whether "
        "the pages of the report show them beyond the content digest, and who signed "
        "(a detached signature is for the tool that made it)"
    )


WRITTEN = {path.split("/", 2)[2] for path, data in two_runs().items() if data}
FILES = sorted(WRITTEN - {"manifest.json"})


@pytest.mark.parametrize("file", FILES)
def test_one_flipped_bit_in_any_file_is_named(runs, file):
    path = runs[1] / file
    whole = path.read_bytes()
    for place in (0, len(whole) - 1):
        flip(path, place)
        assert mismatching_files(runs[1]) == [file]
        path.write_bytes(whole)
    flip(path, len(whole) // 2)
    code, lines = run_verify(runs[1])
    assert (code, lines.split(" expected SHA-256 ")[0]) == (1, f"{file}:")


def test_any_flipped_bit_in_the_manifest_of_a_run_that_has_a_successor_is_told(runs):
    path = runs[0] / "manifest.json"
    whole = path.read_bytes()
    for place in range(0, len(whole), 83):
        flip(path, place)
        code, lines = run_verify(runs[0])
        assert (code in {1, 2}, "manifest.json" in lines) == (True, True), place
        path.write_bytes(whole)


@pytest.mark.parametrize("key", ["run_id", "audit", "content_digest", "verdict"])
def test_a_manifest_that_says_another_thing_than_the_result_is_named(runs, key):
    stated(runs[1], **{key: "other"})
    assert set(mismatching_files(runs[1])) == {"manifest.json"}


def test_a_missing_file_and_an_added_one_are_named(runs):
    (runs[1] / "audit.toml").unlink()
    (runs[1] / "figures").mkdir()
    (runs[1] / "figures" / "new.svg").write_text("<svg/>")
    assert sorted(set(mismatching_files(runs[1]))) == [
        "audit.toml",
        "evidence.json",
        "figures/new.svg",
    ]


def test_a_deleted_run_is_a_gap_in_the_next(runs):
    shutil.rmtree(runs[0])
    (gap,) = verify(runs[1]).mismatches
    assert gap.file == f"../{runs[0].name}/manifest.json"
    assert gap.actual == "a gap: no such file"


def test_a_run_whose_manifest_was_written_anew_is_told_by_its_successor(runs):
    stated(runs[0], exit_code=1)
    assert mismatching_files(runs[0]) == ["manifest.json"]
    assert mismatching_files(runs[1]) == [f"../{runs[0].name}/manifest.json"]


def test_a_result_altered_with_all_digests_but_its_own_is_named(runs):
    path = runs[1] / "result.json"
    path.write_text(path.read_text("utf8").replace("0.30000000000000004", "0.4"))
    write_evidence(runs[1])
    seal(runs[1])
    assert set(mismatching_files(runs[1])) == {
        "result.json",
        "manifest.json",
        "evidence.json",
        "report.html",
        "report.pdf",
        "report.pdf: result.json",
        "report.pdf: evidence.json",
    }


def test_a_page_that_prints_another_digest_is_named(runs):
    path = runs[1] / "report.html"
    digest = verify(runs[1]).digest
    path.write_text(page(OTHER).replace(f'"{OTHER}"', f'"{digest}"'))
    (only,) = verify(seal(runs[1])).mismatches
    assert only == ("report.html", f"content digest {digest} in its text", "it nowhere")


def test_a_pdf_that_prints_another_digest_is_named(runs):
    digest = verify(runs[1]).digest
    carried = dict(read_pdf((runs[1] / "report.pdf").read_bytes()).attachments)
    other = digest[:32] + OTHER[:32]
    (runs[1] / "report.pdf").write_bytes(printed(other, carried))
    (only,) = verify(seal(runs[1])).mismatches
    assert only.file == "report.pdf"
    assert only.expected == f"content digest {digest} on its pages"


@pytest.mark.parametrize("start", ["0d0a0d", "0a0d0d", "5c2829", "0d5c0a"])
def test_a_digest_that_reads_like_ends_of_lines_is_found_in_its_pdf(start):
    digest = (start + "0123456789abcdef" * 4)[:64]
    file = to_pdf(
        f"<html lang='en'><title>t</title><p>{digest}</p></html>",
        print_css="",
        created=datetime(2025, 1, 1, tzinfo=UTC),
        identifier=digest[:32].encode(),
    )
    content = read_pdf(file, name="report.pdf")
    assert list(printed_otherwise(content, "report.pdf", digest)) == []


def test_a_folder_without_a_manifest_is_unreadable(tmp_path):
    code, line = run_verify(tmp_path)
    assert code == 2
    assert line == (
        f"{tmp_path}/manifest.json cannot be read: No such file or directory. Name a "
        "folder below runs/, the folder of an audit, or a PDF report.\n"
    )


def test_a_manifest_of_another_format_is_refused(runs):
    change(runs[1] / "manifest.json", format="importance-audit-manifest/2")
    with pytest.raises(
        DataError, match=r"has format '.*/2'; this version reads '.*/1'"
    ):
        verify(runs[1])


def test_a_pdf_alone_matches_and_tells_what_it_does_not_carry(runs, tmp_path):
    alone = shutil.copy(runs[1] / "report.pdf", tmp_path / "sent.pdf")
    verification = verify(tmp_path / "sent.pdf")
    assert (verification.mismatches, verification.n_files) == ((), 5)
    assert "tables/datasets.csv: not in the PDF" in verification.notes
    assert "tables/importances.csv: not in the PDF" not in verification.notes
    assert run_verify(alone)[0] == 0


def rewritten(path, **changes):
    """Write other bytes as embedded files into a PDF, under a seal; None takes one out.

    A seal is no signature: whoever rewrites the file can do so.
    """
    with pikepdf.open(path, allow_overwriting_input=True) as pdf:
        for name, data in changes.items():
            key = f"{name.replace('_', '.')}"
            (there,) = [
                k for k in pdf.attachments if pdf.attachments[k].filename == key
            ]
            del pdf.attachments[there]
            if data is not None:
                spec = pikepdf.AttachedFileSpec(pdf, data, filename=key)
                pdf.attachments[there] = spec
        pdf.save(path)
    path.write_bytes(seal_pdf(path.read_bytes()))


def test_an_altered_embedded_file_is_named(runs):
    path = runs[1] / "report.pdf"
    rewritten(path, importances_csv=b"model,feature\n")
    assert mismatching_files(path) == ["importances.csv"]


def test_a_pdf_without_evidence_is_no_match(runs):
    path = runs[1] / "report.pdf"
    rewritten(path, evidence_json=None)
    assert mismatching_files(path) == ["evidence.json"]


def test_a_result_too_large_for_the_pdf_is_told_and_its_stated_digest_checked(runs):
    path = runs[1] / "report.pdf"
    rewritten(path, result_json=None)
    verification = verify(path)
    assert verification.mismatches == ()
    assert "result.json: not in the PDF" in verification.notes
    evidence = json.loads((runs[1] / "evidence.json").read_bytes())
    evidence["content_digest"] = OTHER
    rewritten(path, evidence_json=json.dumps(evidence).encode())
    assert mismatching_files(path) == ["report.pdf", "report.pdf"]


def streams(path):
    """Return where in a PDF each embedded file lies compressed: name, start, length."""
    whole = path.read_bytes()
    with pikepdf.open(path) as pdf:
        for key in pdf.attachments:
            packed = pdf.attachments[key].obj["/EF"]["/F"].read_raw_bytes()
            yield pdf.attachments[key].filename, whole.index(packed), len(packed)


def test_a_flipped_bit_inside_any_compressed_embedded_file_is_named(runs):
    path = runs[1] / "report.pdf"
    whole = path.read_bytes()
    places = list(streams(path))
    assert len(places) == 5
    for name, start, length in places:
        for place in (*range(0, length, 15), *range(length - 6, length)):
            flip(path, start + place)
            assert mismatching_files(path) == [name, path.name], place
            path.write_bytes(whole)


def test_what_is_no_pdf_is_unreadable(tmp_path):
    (tmp_path / "report.pdf").write_text("no pdf")
    code, line = run_verify(tmp_path / "report.pdf")
    assert code == 2
    assert re.fullmatch(r".*report\.pdf is not a complete PDF: .*\.\n", line)


def test_a_file_that_is_no_pdf_is_told_in_words(tmp_path):
    path = tmp_path / "audit.toml"
    path.write_text("seed = 1\n")
    code, line = run_verify(path)
    assert code == 2
    words = "is not a complete PDF: .*can't find startxref"
    assert re.fullmatch(rf"{re.escape(str(path))} {words}\.\n", line)


@pytest.mark.parametrize(
    ("resources", "content"),
    [(b"7", b""), (b"<< >>", b"800130013001400198615800130013001400198615 Tf")],
)
def test_a_page_with_something_else_where_it_belongs_never_matches(
    resources, content, tmp_path
):
    with pikepdf.new() as pdf:
        page = pdf.add_blank_page().obj
        page["/Resources"] = pikepdf.Object.parse(resources)
        page["/Contents"] = pdf.make_stream(content)
        pdf.save(tmp_path / "report.pdf")
    code, lines = run_verify(tmp_path / "report.pdf")
    assert code in (1, 2)  # pikepdf reads more of it from version to version
    assert re.search("is not a complete PDF|mismatch", lines)
    assert "Traceback" not in lines


def make_link(path):
    aside = path.with_name("aside")
    aside.write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(aside)
    return aside


def make_fifo(path):
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def make_socket(path, monkeypatch):
    path.unlink(missing_ok=True)
    monkeypatch.chdir(path.parent)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as end:
        end.bind(path.name)


WORDS = {"link": "a symbolic link", "fifo": "a FIFO", "socket": "a socket"}


@pytest.mark.parametrize("name", ["result.json", "manifest.json", "report.pdf", "new"])
@pytest.mark.parametrize("kind", WORDS)
def test_what_is_no_file_is_named_and_never_opened(runs, name, kind, monkeypatch):
    path = runs[0] / name
    extra = set()
    if kind == "link":
        if name == "new":
            path.write_bytes(b"")
        extra = {make_link(path).name}
    elif kind == "fifo":
        make_fifo(path)
    else:
        make_socket(path, monkeypatch)
    found = {item.file: item for item in verify(runs[0]).mismatches}
    assert (found[name].expected, found[name].actual) == ("a file", WORDS[kind])
    assert name == "manifest.json" or extra <= found.keys()
    whole = verify(runs[0].parents[1]).mismatches
    assert f"runs/{runs[0].name}/{name}" in {item.file for item in whole}
    verify(runs[1])


def test_a_link_to_a_folder_is_named_and_not_followed(runs, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "x.csv").write_text("a")
    (runs[0] / "figures").symlink_to(tmp_path / "elsewhere")
    (mismatch,) = verify(runs[0]).mismatches
    assert str(mismatch) == "figures: expected a file, found a symbolic link"


def test_a_fifo_is_no_pdf(tmp_path):
    make_fifo(tmp_path / "report.pdf")
    with pytest.raises(DataError) as error:
        verify(tmp_path / "report.pdf")
    assert str(error.value) == (
        f"{tmp_path / 'report.pdf'} cannot be read as a PDF report: it is a FIFO."
    )


@pytest.mark.parametrize(
    ("word", "n_mismatches"), [("not cross-checked", 0), ("confirmed", 1)]
)
def test_the_verdict_of_the_manifest_is_that_of_the_result(runs, word, n_mismatches):
    document = json.loads((runs[0] / "result.json").read_text())
    manifest = json.loads((runs[0] / "manifest.json").read_text())
    assert manifest["verdict"] == "not cross-checked"
    stated_facts = {**manifest, "verdict": word}
    assert len(list(_facts(stated_facts, document, runs[0]))) == n_mismatches
