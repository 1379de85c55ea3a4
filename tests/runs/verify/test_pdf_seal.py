"""Claims about the seal of a PDF: whatever is altered, moved or added is named."""

import hashlib
import json
import re
import shutil

import pikepdf
import pytest
from click.testing import CliRunner
from tests.run_folders import write_two_runs

from importance_audit.cli.main import main
from importance_audit.report.pages import pdf as pdf_module
from importance_audit.report.pages.pdf import PdfError, to_pdf
from importance_audit.runs.pdf_seal import read_seal, seal
from importance_audit.runs.verify import verify

SEAL = re.compile(rb"\(sha256:[0-9a-f]{64}\)")
SECOND_PART = re.compile(rb"(/ID\s*\[\s*<[0-9a-f]*>\s*)<[0-9a-f]*>")


@pytest.fixture
def report(tmp_path):
    """Return a sealed report of two pages that lies outside its run."""
    run = write_two_runs(tmp_path / "audit")[1]
    alone = tmp_path / "sent.pdf"
    shutil.copy(run / "report.pdf", alone)
    rewrite(alone, lambda file: file.pages.append(file.pages[0]))
    alone.write_bytes(seal(alone.read_bytes()))
    return alone


def rewrite(path, change):
    with pikepdf.open(path, allow_overwriting_input=True) as file:
        change(file)
        file.save(path)


def run_verify(path):
    answer = CliRunner().invoke(main, ["verify", str(path)])
    return answer.exit_code, answer.output


def contents(file):
    """Return what the first page draws."""
    page = file.pages[0]
    page.contents_coalesce()
    return page.obj["/Contents"]


def draw_same_length(file):
    stream = contents(file)
    drawn = stream.read_bytes()
    assert b" 0 0 " in drawn
    stream.write(drawn.replace(b" 0 0 ", b" 0 9 ", 1))


def draw_more(file):
    stream = contents(file)
    stream.write(stream.read_bytes() + b"\n0 0 500 500 re f\n")


def other_characters(file):
    fonts = file.pages[0].obj["/Resources"]["/Font"]
    stream = fonts[min(fonts.keys())]["/ToUnicode"]
    words = stream.read_bytes()
    assert b"<00" in words
    stream.write(words.replace(b"<00", b"<01"))


def cover(file):
    look = file.make_stream(b"1 g 0 0 500 500 re f")
    look["/Type"], look["/Subtype"] = pikepdf.Name("/XObject"), pikepdf.Name("/Form")
    look["/BBox"] = [0, 0, 500, 500]
    annotation = pikepdf.Dictionary(
        Type=pikepdf.Name("/Annot"),
        Subtype=pikepdf.Name("/Stamp"),
        Rect=[0, 0, 500, 500],
        AP=pikepdf.Dictionary(N=look),
    )
    file.pages[0].obj["/Annots"] = pikepdf.Array([file.make_indirect(annotation)])


ALTERATIONS = {
    "other content of the same length": draw_same_length,
    "more content": draw_more,
    "other characters for the same glyphs": other_characters,
    "an annotation over the page": cover,
    "the pages in another order": lambda file: file.pages.reverse(),
    "a page less": lambda file: file.pages.remove(p=2),
    "a page more": lambda file: file.add_blank_page(),
}


@pytest.mark.parametrize("has_old_seal", [False, True])
@pytest.mark.parametrize("change", ALTERATIONS.values(), ids=ALTERATIONS)
def test_an_altered_page_is_named(report, change, has_old_seal):
    (stated,) = SEAL.findall(report.read_bytes())
    assert verify(report).mismatches == ()
    rewrite(report, change)
    expected = "the seal that evidence.json names, found none: the file was rewritten"
    if has_old_seal:
        report.write_bytes(SECOND_PART.sub(rb"\1" + stated, report.read_bytes()))
        expected = f"seal {stated[8:-1].decode()} of the whole file, found "
    code, output = run_verify(report)
    assert code == 1
    assert f"sent.pdf: expected {expected}" in output


def test_a_flipped_bit_at_any_place_is_told(report):
    whole = report.read_bytes()
    for place in (*range(0, len(whole), 211), *range(len(whole) - 140, len(whole), 3)):
        altered = bytearray(whole)
        altered[place] ^= 1
        report.write_bytes(altered)
        assert run_verify(report)[0] in {1, 2}, place
        assert read_seal(bytes(altered))[:2] != read_seal(whole)[:2], place


@pytest.mark.parametrize("has_old_seal", [False, True])
def test_an_update_appended_to_the_file_is_told_by_its_length(report, has_old_seal):
    whole = report.read_bytes()
    with pikepdf.open(report) as file:
        page = file.pages[0].obj
        number, size = page.objgen[0], int(file.trailer["/Size"])
        page["/Annots"] = pikepdf.Array([pikepdf.Dictionary(T="note")])
        body = page.unparse(resolved=True)
        root = file.Root.unparse()
    (stated,) = SEAL.findall(whole)
    start = int(re.findall(rb"startxref\n(\d+)", whole)[-1])
    item = b"%d 0 obj\n%b\nendobj\n" % (number, body)
    update = item + b"xref\n%d 1\n%010d 00000 n \ntrailer\n<< /Size %d /Root %b" % (
        *(number, len(whole), size, root),
    )
    update += b" /Prev %d /ID [(a) %b] >>\nstartxref\n%d\n%%%%EOF\n" % (
        *(start, stated if has_old_seal else b"(b)", len(whole) + len(item)),
    )
    report.write_bytes(whole + update)
    with pikepdf.open(report) as file:
        assert "/Annots" in file.pages[0].obj
    code, output = run_verify(report)
    assert code == 1
    assert (
        f"sent.pdf: expected the end of the file sealed {stated[8:-1].decode()}, found "
        f"{len(update)} bytes appended to it\n" in output
    )


def test_the_seal_is_the_digest_of_the_file_with_zeros_in_its_place(report):
    whole = report.read_bytes()
    (stated,) = SEAL.findall(whole)
    zeros = SEAL.sub(b"(sha256:" + b"0" * 64 + b")", whole)
    assert stated[8:-1].decode() == hashlib.sha256(zeros).hexdigest()
    assert seal(whole) == whole


def test_of_a_sealed_pdf_it_says_what_a_seal_proves(report):
    found = verify(report)
    *_, note, outcome = found.lines()
    assert outcome.startswith("match: ")
    assert note == (
        "checked: every byte of the file against its seal, the attachments, and the "
        "content digest on the pages"
    )
    assert found.unchecked == (
        "not checked: the numbers, who signed, and whether somebody changed the file "
        "and sealed it again: verify the run folder, which states the SHA-256 of "
        "report.pdf"
    )


def test_of_a_pdf_from_before_seals_it_says_what_was_not_looked_at(report):
    def before_seals(file):
        spec = file.attachments["evidence.json"]
        evidence = json.loads(spec.get_file().read_bytes())
        del evidence["pdf_seal"]
        data = json.dumps(evidence).encode()
        old = pikepdf.AttachedFileSpec(file, data, filename="evidence.json")
        file.attachments["evidence.json"] = old

    rewrite(report, before_seals)
    found = verify(report)
    *_, note, outcome = found.lines()
    assert outcome.startswith("match: ")
    assert note == "checked: the attachments and the content digest on the pages"
    assert found.unchecked == (
        "not checked: everything else on the pages, the numbers, and who signed: "
        "verify the run folder, which states the SHA-256 of report.pdf"
    )


def test_a_file_without_identifier_is_not_sealed(monkeypatch):
    with pytest.raises(ValueError, match=r"^The PDF has no identifier \(/ID\) that "):
        seal(b"%PDF-1.7\n%%EOF\n")
    monkeypatch.setattr(pdf_module, "seal", lambda _: seal(b""))
    page = "<html lang='en'><title>t</title><p>x</p></html>"
    with pytest.raises(PdfError) as error:
        to_pdf(page, print_css="", created=pdf_module.datetime.now(), identifier=b"a")
    assert str(error.value) == (
        "What WeasyPrint wrote cannot be sealed. The PDF has no identifier (/ID) that "
        "could hold its seal."
    )
