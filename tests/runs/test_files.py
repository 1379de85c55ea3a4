"""What a run folder holds: evidence for every number, and the PDF that carries it."""

import json
import os
import re
import shutil
import subprocess
import sys
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

import pytest
from tests.cli.test_cli import sound, written
from tests.report.made_variants import plain_result, result_of
from tests.run_folders import below

from importance_audit.operate.save import save_run
from importance_audit.records.as_csv import KEPT, rows_of
from importance_audit.records.as_json import content_digest
from importance_audit.report.figures.typeface import font_files
from importance_audit.report.text.wording import look_up
from importance_audit.runs.digests import read_list, sha256
from importance_audit.runs.files import (
    ALWAYS,
    LARGEST_ATTACHMENTS,
    attachments,
    data_files,
    path_in_run,
    stored_attachments,
)
from importance_audit.runs.folder import load_run

ROOT = Path(__file__).parents[2]
CARRIED = {"result.json", "environment.json", "SHA256SUMS", *ALWAYS}


def run(folder, report=""):
    """Return the run folder of an audit of one linear model."""
    sound("run", written(folder, report=report), "-q")
    (run_folder,) = folder.glob("runs/*")
    return run_folder


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory):
    """Return the folder of a whole run; nobody writes to it."""
    return run(tmp_path_factory.mktemp("audit"))


def test_the_pdf_lists_every_file_but_renderings_and_what_is_written_later(whole_run):
    listed = read_list(stored_attachments(whole_run)["SHA256SUMS"])
    renderings = {"report.html", "report.pdf", "summary.txt", "summary.md", "junit.xml"}
    later = {"SHA256SUMS", "log.jsonl", "log-head.json", "renderer.json", "tables.xlsx"}
    renderings.add("findings-to-answer.toml")
    paths = {path for path in below(whole_run) if not path.startswith("figures/")}
    assert {*listed} == paths - renderings - later
    for path, digest in listed.items():
        assert digest == sha256((whole_run / path).read_bytes())


@pytest.mark.needs_poppler
def test_the_pdf_carries_the_files_of_the_folder(whole_run, tmp_path):
    pdf = str(whole_run / "report.pdf")
    subprocess.run(["pdfdetach", "-saveall", "-o", str(tmp_path), pdf], check=True)
    assert {path.name for path in tmp_path.iterdir()} == CARRIED
    stored = stored_attachments(whole_run)["SHA256SUMS"]
    assert (tmp_path / "SHA256SUMS").read_bytes() == stored
    (tmp_path / "SHA256SUMS").unlink()
    for path in tmp_path.iterdir():
        folder = whole_run / "tables" if path.suffix == ".csv" else whole_run
        assert path.read_bytes() == (folder / path.name).read_bytes()


@pytest.mark.skipif(not shutil.which("qpdf"), reason="qpdf is not on PATH")
def test_each_attachment_says_what_it_is_and_when_it_was_made(whole_run):
    options = ["--qdf", "--object-streams=disable"]
    command = ["qpdf", *options, whole_run / "report.pdf", "-"]
    plain = subprocess.run(command, capture_output=True, check=True).stdout
    text = plain.decode(errors="replace")
    described = re.findall(r"/Desc \((.*?)\)\n", text)
    assert sorted(described) == sorted(look_up("attachments").values())
    started = load_run(whole_run).run.volatile["started"]
    date = f"D:{datetime.fromisoformat(started):%Y%m%d%H%M%S}Z"
    for kind in ("CreationDate", "ModDate"):
        assert text.count(f"/{kind} ({date})") >= len(CARRIED)


def test_render_in_another_process_clock_and_language_gives_the_same_bytes(
    whole_run, tmp_path
):
    other = {"PYTHONHASHSEED": "7", "TZ": "Asia/Kathmandu", "LANG": "tr_TR.UTF-8"}
    facts = {"PYTHONPATH": str(ROOT), **other}
    words = ["render", str(whole_run), "--output", str(tmp_path), "-q"]
    command = [sys.executable, "-m", "importance_audit", *words]
    subprocess.run(command, check=True, cwd=tmp_path, env={**os.environ, **facts})
    for kind in ("html", "pdf"):
        (again,) = tmp_path.glob(f"*.{kind}")
        # Beside pages of other runs, the figures lie in a folder named like the page.
        figures = f"{again.stem}/figures/".encode()
        page = again.read_bytes().replace(figures, b"figures/")
        assert page == (whole_run / f"report.{kind}").read_bytes()
    drawn = sorted((whole_run / "figures").iterdir())
    assert {path.suffix for path in drawn} == {".svg", ".png"}
    for figure in drawn:
        other = tmp_path / again.stem / "figures" / figure.name
        assert other.read_bytes() == figure.read_bytes()


def test_the_log_has_one_line_per_step_in_the_order_of_time(whole_run):
    lines = [json.loads(line) for line in (whole_run / "log.jsonl").open()]
    keys = {*"time step seconds level message".split()}
    assert all(set(line) == keys for line in lines)
    assert [line["time"] for line in lines] == sorted(line["time"] for line in lines)
    assert all(line["time"].endswith("+00:00") for line in lines)
    steps = [line["step"] for line in lines if line["seconds"] is not None]
    seconds = load_run(whole_run).run.volatile["seconds_by_step"]
    phases = [step for step in steps if step not in seconds]
    parts = "runs before, tables, sections, figures, HTML, Excel file, PDF"
    report = [f"report: {part}" for part in parts.split(", ")]
    assert phases == ["reading of the rows", "model m", *report]
    assert [step for step in steps if step in seconds] == list(seconds)
    assert "permutation of features, m" in steps


def test_a_run_names_what_its_renderings_were_made_with(whole_run):
    renderer = json.loads((whole_run / "renderer.json").read_text())
    for package in ("weasyprint", "pydyf", "fonttools", "matplotlib", "jinja2"):
        assert renderer[package] == version(package)
    faces = {sha256(Path(name).read_bytes()) for name in font_files().values()}
    assert {font["sha256"] for font in renderer["fonts"]} == faces
    assert renderer["pdf_mode"].startswith("pdf/")
    assert len(renderer["templates_sha256"]) == 64


def test_the_profile_bundle_is_all_files_but_the_report(tmp_path):
    folder = run(tmp_path, '[report]\nprofile = "bundle"\n')
    names = {path.name for path in folder.iterdir()}
    assert not names & {"report.html", "report.pdf", "figures"}
    assert {"result.json", "SHA256SUMS", "junit.xml", "summary.txt"} <= names
    assert "renderer.json" not in names


def test_what_is_too_large_for_the_pdf_stays_beside_it():
    names = (*CARRIED - {"SHA256SUMS"}, "effects.csv")
    files = {path_in_run(name): b"" for name in names}
    assert set(attachments(files)) == CARRIED
    files["result.json"] = bytes(LARGEST_ATTACHMENTS)
    assert set(attachments(files)) == CARRIED
    files["tables/findings.csv"] = b"x"
    assert set(attachments(files)) == {"SHA256SUMS", *ALWAYS}


def test_a_stored_run_carries_what_it_carried_when_it_was_written(tmp_path):
    """Or what its folder has, if it was handed on in part."""
    files = {"audit.toml": "seed = 1\n"}
    folder = save_run(result_of("apartments"), tmp_path, files, exit_code=0)
    carried = attachments(data_files(result_of("apartments"), files))
    assert stored_attachments(folder) == carried
    assert set(carried) == CARRIED
    (tmp_path / "b").mkdir()
    in_part = save_run(result_of("apartments"), tmp_path / "b", {}, exit_code=0)
    assert set(stored_attachments(in_part)) == CARRIED - {"audit.toml"}


def test_every_table_of_a_run_lies_in_the_folder_of_tables_and_has_rows(tmp_path):
    result = result_of("apartments")
    folder = save_run(result, tmp_path, {}, exit_code=0)
    tables = {path for path in below(folder) if path.endswith(".csv")}
    assert {str(Path(path).parent) for path in tables} == {"tables"}
    lengths = {name: len([*rows]) for name, rows in rows_of(result).items()}
    assert tables == {*KEPT} | {name for name, n in lengths.items() if n > 1}
    assert 1 in lengths.values()  # a table of its header alone is left out


@pytest.mark.parametrize("path", ["importances.csv", "tables/importances.csv"])
def test_a_file_with_the_name_of_a_table_is_refused_at_both_places(path):
    with pytest.raises(ValueError, match="not be that of a file made here"):
        data_files(result_of("apartments"), {path: "x"})


def test_half_a_character_in_a_name_survives_the_folder(tmp_path):
    result = plain_result(("a\udc80",))
    folder = save_run(result, tmp_path, {}, exit_code=0)
    again = load_run(folder)
    assert again.importances[0].features == ("a\udc80",)
    assert content_digest(again) == content_digest(result)
