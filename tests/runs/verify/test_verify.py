"""Claims about verify: what is altered, gone or added is named, and nothing else."""

import re
import shutil
from datetime import UTC, datetime

import pikepdf
import pytest
from tests.cli.test_cli import answer_of
from tests.run_folders import (
    below,
    make_agree,
    page,
    printed,
    write_two_runs,
)

from importance_audit.report.pages.pdf import to_pdf
from importance_audit.runs.audit_log import LOG
from importance_audit.runs.digests import read_list, write_list
from importance_audit.runs.verify import verify
from importance_audit.runs.verify.pdf_reading import read_pdf
from importance_audit.runs.verify.renderings import compare_printed_digest

OTHER = "0" * 64


@pytest.fixture
def runs(tmp_path):
    return write_two_runs(tmp_path)


def mismatching_files(path):
    """Return what is named, by its path in the run."""
    named = (item.file for item in verify(path).mismatches)
    return [re.sub("^runs/[^/]*/", "", name) for name in named]


def run_verify(path, *options):
    return answer_of("verify", path, *options)


def flip(path, place):
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


def test_a_result_without_end_is_no_traceback(runs):
    (runs[1] / "result.json").write_text("[" * 100_000, encoding="utf8")
    make_agree(runs[1])
    (only,) = verify(runs[1]).mismatches
    assert only.file == f"runs/{runs[1].name}/result.json"
    assert "cannot be read as the result of an audit" in only.actual


def test_the_command_tells_how_many_files_match(runs):
    verification = verify(runs[1])
    assert verification.mismatches == verification.notes == ()
    assert verification.n_files == len(below(runs[1])) - 1
    assert verification.digest in (runs[1] / "report.html").read_text("utf8")
    code, lines = run_verify(runs[1])
    assert code == 0
    assert re.fullmatch(
        rf"match: 1 run, {verification.n_files} files, 0 sign-offs, 3 lines, the last "
        rf"with SHA-256 [0-9a-f]{{64}}, content digest {verification.digest}",
        lines.splitlines()[0],
    )


@pytest.mark.parametrize("what", ["run", "audit", "alone"])
def test_the_last_line_says_what_was_not_checked(runs, what, tmp_path):
    alone = shutil.copytree(runs[0], tmp_path / "alone")
    path = {"run": runs[0], "audit": runs[0].parents[1], "alone": alone}[what]
    _, lines = run_verify(path)
    words = (
        "who signed, and whether somebody wrote the folder anew with its list: verify "
        "it with the log of its audit"
        if what == "alone"
        else "and whether somebody wrote files and log anew together: for that, "
        "compare the log with the SHA-256 of its last line from elsewhere (--head), or "
        "with signatures (--signers)"
    )
    assert lines.splitlines()[-1] == (
        "not checked: whether the numbers come out again (verify --replay), whether "
        f"the pages of the report show them beyond the content digest, {words}"
    )


def test_one_flipped_bit_in_any_file_is_named(runs):
    for file in below(runs[0]):
        path = runs[0] / file
        whole = path.read_bytes()
        if not whole:
            continue
        flip(path, 0)
        assert file in mismatching_files(runs[0])
        path.write_bytes(whole)
        flip(path, len(whole) - 1)
        code, lines = run_verify(runs[0])
        assert (code, f"{file}: expected " in lines) == (1, True)
        path.write_bytes(whole)


def test_any_flipped_bit_in_the_log_is_told(runs):
    path = runs[0].parents[1] / LOG
    whole = path.read_bytes()
    for place in range(0, len(whole) - 300, 127):
        flip(path, place)
        assert any(LOG in m.file for m in verify(path.parent).mismatches), place
        path.write_bytes(whole)


def test_a_result_altered_with_all_digests_but_its_own_is_named(runs):
    path = runs[1] / "result.json"
    path.write_text(path.read_text("utf8").replace("0.30000000000000004", "0.4"))
    make_agree(runs[1])
    assert set(mismatching_files(runs[1])) == {
        "result.json",
        "report.html",
        "report.pdf",
        "report.pdf: result.json",
        "report.pdf: SHA256SUMS",
    }


def test_a_table_altered_with_its_list_and_line_is_told_by_the_pdf(runs):
    (runs[1] / "tables" / "importances.csv").write_text("model,feature\n")
    make_agree(runs[1])
    assert mismatching_files(runs[1]) == [
        "report.pdf: SHA256SUMS",
        "report.pdf: importances.csv",
    ]


def test_a_page_that_prints_another_digest_is_named(runs):
    path = runs[1] / "report.html"
    digest = verify(runs[1]).digest
    path.write_text(page(OTHER).replace(f'"{OTHER}"', f'"{digest}"'))
    (only,) = verify(make_agree(runs[1])).mismatches
    expected = f"content digest {digest} in its text"
    assert only[1:] == (expected, "it nowhere")


def test_a_pdf_that_prints_another_digest_is_named(runs):
    digest = verify(runs[1]).digest
    carried = dict(read_pdf((runs[1] / "report.pdf").read_bytes()).attachments)
    other = digest[:32] + OTHER[:32]
    (runs[1] / "report.pdf").write_bytes(printed(other, carried))
    (only,) = verify(make_agree(runs[1])).mismatches
    assert only.file.endswith("/report.pdf")
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
    assert list(compare_printed_digest(content, "report.pdf", digest)) == []


def test_a_folder_without_a_list_is_unreadable(tmp_path):
    code, line = run_verify(tmp_path)
    assert code == 2
    assert line == (
        f"{tmp_path} has neither SHA256SUMS nor {LOG}. Name a folder below runs/, the "
        "folder of an audit, or a PDF report.\n"
    )


def test_a_digest_is_whole_and_its_case_says_nothing(runs):
    audit = runs[0].parents[1]
    head = verify(audit).head
    for text, code in ((head.upper(), 0), (head[:12], 2), ("z" * 64, 2)):
        assert run_verify(audit, "--head", text)[0] == code


@pytest.mark.parametrize("option", ["--head", "--only", "--signers"])
def test_what_is_asked_of_the_log_is_refused_without_one(runs, option, tmp_path):
    shutil.copytree(runs[0], tmp_path / "sent")
    (tmp_path / "allowed_signers").write_text("")
    for path in (tmp_path / "sent", runs[0] / "report.pdf"):
        value = OTHER if option == "--head" else tmp_path
        code, line = run_verify(path, option, value)
        assert code == 2
        assert "which --head, --only and --signers are about" in line


def test_a_pdf_alone_matches_and_tells_what_it_does_not_carry(runs, tmp_path):
    alone = shutil.copy(runs[1] / "report.pdf", tmp_path / "sent.pdf")
    found = verify(tmp_path / "sent.pdf")
    assert (found.mismatches, found.n_files) == ((), 6)
    assert "tables/datasets.csv: not in the PDF" in found.notes
    assert "tables/importances.csv: not in the PDF" not in found.notes
    assert run_verify(alone)[0] == 0
    *_, note, outcome = found.lines()
    assert outcome.startswith("match: ")
    assert note == (
        "note: checked: the attached files against the attached SHA256SUMS, and the "
        "content digest on the pages"
    )
    assert found.unchecked == (
        "not checked: everything else on the pages, the numbers, and who signed: "
        "verify the run folder, whose SHA256SUMS has the SHA-256 of report.pdf"
    )


def rewritten(path, **changes):
    """Write other bytes as embedded files into a PDF; None takes one out."""
    with pikepdf.open(path, allow_overwriting_input=True) as pdf:
        for name, data in changes.items():
            key = name.replace("_", ".")
            (there,) = [
                k for k in pdf.attachments if pdf.attachments[k].filename == key
            ]
            del pdf.attachments[there]
            if data is not None:
                spec = pikepdf.AttachedFileSpec(pdf, data, filename=key)
                pdf.attachments[there] = spec
        pdf.save(path)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("importances.csv", b"model,feature\n"),
        ("SHA256SUMS", None),
        ("SHA256SUMS", b"all is well\n"),
    ],
)
def test_an_altered_embedded_file_or_list_is_named(runs, name, data):
    path = runs[1] / "report.pdf"
    rewritten(path, **{name.replace(".", "_"): data})
    assert name in mismatching_files(path)


def test_a_result_too_large_for_the_pdf_is_told_and_the_printed_digest_checked(runs):
    path = runs[1] / "report.pdf"
    rewritten(path, result_json=None)
    verification = verify(path)
    assert verification.mismatches == ()
    assert "result.json: not in the PDF" in verification.notes
    assert verification.digest == verify(runs[0]).digest
    with pikepdf.open(path, allow_overwriting_input=True) as pdf:
        pdf.trailer["/ID"] = pikepdf.Array([b"0" * 32, b"0" * 32])
        pdf.save(path, static_id=False)
    assert mismatching_files(path) in ([path.name], [])


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
    assert len(places) == 6
    for name, start, length in places:
        for place in (*range(0, length, 60), *range(length - 6, length)):
            flip(path, start + place)
            assert name in mismatching_files(path), place
            path.write_bytes(whole)


def test_a_file_that_is_no_pdf_is_told_in_words(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("<html>")
    assert run_verify(path) == (
        2,
        f"{path} is no PDF, and no other file can be checked alone. Name the run "
        "folder that holds it.\n",
    )
    path.write_text("%PDF-1.7")
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


ODD = {"a b": "1" * 64, "a\nb": "2" * 64, "a\\b": "3" * 64, "a\rb": "4" * 64}


def test_a_list_of_odd_names_comes_back_and_other_writings_are_refused():
    data = write_list(ODD)
    assert read_list(data) == ODD
    assert read_list(b"") == {}
    for other in (data[:-1], data + data, data.upper(), b"\n", b"0  x\n"):
        with pytest.raises(ValueError, match="line"):
            read_list(other)
    for path in ("/x", "../x", "a/../x", "./x", "a//x"):
        with pytest.raises(ValueError, match="outside the folder"):
            read_list(f"{'0' * 64}  {path}\n".encode())
