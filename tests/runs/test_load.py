"""A stored result that is not as its run wrote it is refused in one sentence."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.test_cli import BUNDLE as RUN
from tests.cli.test_cli import ROOT, answer_of
from tests.run_folders import relist
from tests.signed_runs import stored_result

from importance_audit.operate.save import save_run
from importance_audit.records.as_json import content_digest, digest_of
from importance_audit.records.errors import DataError
from importance_audit.runs.digests import sha256
from importance_audit.runs.load import load_context, load_whole_run
from importance_audit.runs.summary import NO_HISTORY, history_json

COMMANDS = {
    "render": lambda run, other: ["render", run, "--output", other],
    "diff": lambda run, _: ["diff", RUN, run],
    "handoff": lambda run, other: ["handoff", run, "--to", other],
}


def run_command(command, folder, changed, *, sealed=False):
    """Return exit code and words of a command on a run that `changed` altered."""
    run = shutil.copytree(RUN, folder / "run")
    document = json.loads((run / "result.json").read_text("utf8"))
    changed(document)
    if sealed:
        document["content_digest"] = digest_of(document)
    (run / "result.json").write_text(json.dumps(document), encoding="utf8")
    code, output = answer_of(*COMMANDS[command](run, folder / "out"))
    assert not (folder / "out").exists()
    return code, output.replace(str(run), "RUN").strip()


def put(*path_and_value):
    *path, last, value = path_and_value

    def changed(document):
        for key in path:
            document = document[key]
        document[last] = value

    return changed


@pytest.mark.parametrize(
    ("command", "changed"),
    [
        ("render", put("run", "config", 3)),
        ("render", put("run", "environment", ["x"])),
        ("render", put("importances", 0, "unit", None)),
        ("diff", put("datasets", "columns", 0, "name", "x")),
        ("handoff", put("importances", 0, "raw", 0, 0, 1.25)),
    ],
)
def test_an_altered_result_is_refused_and_verify_is_named(tmp_path, command, changed):
    code, words = run_command(command, tmp_path, changed)
    assert code == 2
    assert words.startswith("RUN/result.json was changed after the run: its")
    assert words.endswith("but states another. Run: importance-audit verify RUN")


NO_NAME = "has {!r} as its {}, which must be text without '/'."


NO_START = "does not say when its run started."


@pytest.mark.parametrize(
    ("command", "path", "value", "words"),
    [
        ("handoff", ("run", "audit"), "../taken", NO_NAME),
        ("render", ("run", "volatile", "run_id"), "../../taken", NO_NAME),
        ("render", ("run", "volatile", "run_id"), None, NO_NAME),
        ("diff", ("run", "volatile", "started"), "yesterday", NO_START),
        ("diff", ("run", "volatile", "started"), None, NO_START),
    ],
)
def test_a_name_or_start_that_is_none_leads_nowhere(
    tmp_path, command, path, value, words
):
    answer = run_command(command, tmp_path, put(*path, value), sealed=True)
    words = words.format(value, path[-1])
    words = f"RUN/result.json {words} Run: importance-audit verify RUN"
    assert answer == (2, words)


def test_a_library_that_does_not_load_costs_one_sentence(tmp_path):
    stub = tmp_path / "matplotlib.py"
    stub.write_text('raise ImportError("libfreetype is broken")')
    paths = os.pathsep.join((str(tmp_path), str(ROOT)))
    words = [sys.executable, "-m", "importance_audit", "render", str(RUN)]
    options = {"cwd": tmp_path, "env": os.environ | {"PYTHONPATH": paths}}
    answer = subprocess.run(words, capture_output=True, text=True, **options)
    assert (answer.returncode, answer.stderr) == (
        4,
        "A library of this command cannot be loaded: libfreetype is broken. Run: "
        "importance-audit doctor\n",
    )


@pytest.fixture(scope="module")
def run_with_past(tmp_path_factory):
    """Return a run that keeps the past of its audit."""
    written = stored_result("20261121T084600Z-3f9a1c2b")
    files = {"history.json": history_json(NO_HISTORY, written)}
    return save_run(written, tmp_path_factory.mktemp("made"), files, exit_code=0)


@pytest.mark.parametrize(
    ("file", "alter", "words"),
    [
        ("history.json", Path.unlink, "is missing, and SHA256SUMS lists it."),
        ("tables/findings.csv", Path.unlink, "is missing, and SHA256SUMS lists it."),
        (
            "tables/findings.csv",
            lambda path: (path.unlink(), relist(path.parents[1]), path.touch()),
            "is there, and SHA256SUMS does not list it.",
        ),
    ],
)
def test_a_report_is_made_from_the_files_that_its_run_lists(
    tmp_path, run_with_past, file, alter, words
):
    run = shutil.copytree(run_with_past, tmp_path / "run")
    alter(run / file)
    said = f"{run / file} {words} Run: importance-audit verify {run}\n"
    assert answer_of("render", run, "--output", tmp_path) == (2, said)


def test_a_report_on_another_past_than_its_run_kept_is_refused(tmp_path, run_with_past):
    run = shutil.copytree(run_with_past, tmp_path / "run")
    path = run / "history.json"
    was = sha256(path.read_bytes())
    path.write_bytes(path.read_bytes().replace(b'"n_runs": 0', b'"n_runs": 9'))
    assert answer_of("render", run, "--output", tmp_path) == (
        2,
        f"{path} has SHA-256 {sha256(path.read_bytes())}; SHA256SUMS states {was}. "
        f"Run: importance-audit verify {run}\n",
    )


def test_a_past_that_is_listed_must_be_json(tmp_path):
    (tmp_path / "history.json").write_bytes(b"\xff")
    relist(tmp_path)
    with pytest.raises(DataError) as raised:
        load_context(tmp_path)
    path = tmp_path / "history.json"
    assert str(raised.value).startswith(f"{path} is not valid JSON: 'utf-8' codec")


def test_a_run_is_loaded_by_the_text_of_its_path_too():
    by_text, by_path = load_whole_run(str(RUN)), load_whole_run(RUN)
    assert content_digest(by_text) == content_digest(by_path)
