"""Every command and code block of README and docs runs, or is at least sound."""

import importlib.util
import re
import shlex
import shutil
import subprocess
import tomllib
from datetime import date
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner
from tests.docs.pages import ROOT, all_blocks, blocks, name_of
from tests.docs.test_names import PATH, TARGETS, is_there
from tests.run_folders import write_two_runs
from tests.signed_runs import APPROVAL, SECOND, write

from importance_audit.cli.main import main
from importance_audit.config.load import parse_config
from importance_audit.operate.sign import sign
from importance_audit.runs.audit_log import LOG, read_log
from importance_audit.runs.signoff.answers_file import load_answers
from importance_audit.runs.verify import verify

RUNS = {"history", "init", "schedule", "verify"}
"""Commands that are run as they stand; the arguments of the others are read."""
LONG = {"--replay", "--signers", "--install", "--remove", "report.pdf"}
"""What takes minutes, changes the machine, or needs a printed report."""
SMALL = """
[data]
train = { sklearn = "load_diabetes" }
test = { fraction = 0.33 }
target = "target"
task = "regression"
[[models]]
name = "linear"
estimator = "sklearn.linear_model.LinearRegression"
[[importance]]
method = "permutation"
n_repeats = 2
[report]
profile = "bundle"
"""


def test_every_block_is_of_a_kind_that_is_tested():
    languages = {block.language for block in all_blocks()}
    assert languages == {"python", "toml", "sh", "r", "mermaid"}


WITH_PYTHON = {
    "docs/python.md": lambda names: (
        names["stored"].verdict == names["run"].result.verdict
    ),
    "docs/extending.md": lambda names: (
        names["reversal"].unit == "prediction"
        and names["pinball"](np.array([2.0]), np.array([1.0]), np.array([1.0])) == 0.9
    ),
    "docs/methods.md": lambda names: len(names["scores"]["GATTACA"]) == 14,
}
"""What holds once the blocks of a page have run."""


@pytest.mark.needs_dalex
def test_the_python_lines_of_the_readme_run():
    names = run_python("README.md")
    assert "replayed" in set(names["result"].agreement["verdict"])


def test_every_page_with_python_is_run():
    assert {block.page for block in blocks("python")} - {"README.md"} == {*WITH_PYTHON}


@pytest.mark.parametrize("page", WITH_PYTHON)
def test_the_python_blocks_of_a_page_run_one_after_another(page, tmp_path, monkeypatch):
    (tmp_path / "audit").mkdir()
    (tmp_path / "audit" / "audit.toml").write_text(SMALL)
    monkeypatch.chdir(tmp_path)
    assert WITH_PYTHON[page](run_python(page))


def run_python(page):
    """Run the Python of a page from its top; return the names it has then."""
    names = {}
    for block in blocks("python"):
        if block.page == page:
            exec(compile(block.text, name_of(block), "exec"), names)
    return names


@pytest.mark.parametrize("block", blocks("toml"), ids=name_of)
def test_a_toml_block_is_a_sound_part_of_its_file(block, tmp_path):
    document = tomllib.loads(block.text.replace('"…"', f'"{"0" * 64}"'))
    if "finding" in document:
        (tmp_path / "findings.toml").write_text(block.text, encoding="utf-8")
        (answer,) = load_answers(tmp_path)
        assert answer.due == date(2026, 12, 15)
    else:
        own = [b.text for b in blocks("python") if b.page == "docs/extending.md"]
        (tmp_path / "my_module.py").write_text("\n".join(own), encoding="utf-8")
        assert parse_config(completed(document), base=tmp_path).data is not None


def completed(document):
    """Return a part of a configuration with the sections that every file needs."""
    whole = tomllib.loads(SMALL)
    entries = [*document.get("claims", ()), *document.get("supplied", ())]
    models = {entry.get("model", "linear") for entry in entries} or {"linear"}
    estimator = whole["models"][0]["estimator"]
    models = [{"name": name, "estimator": estimator} for name in sorted(models)]
    data = whole["data"] | document.get("data", {})
    return {"models": models} | document | {"data": data}


def test_the_small_audit_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (audit_text,) = [
        block.text for block in blocks("toml") if block.page == "README.md"
    ]
    folder = Path("first-audit")
    folder.mkdir()
    text = f'{audit_text}\n[report]\nprofile = "bundle"\n'
    (folder / "audit.toml").write_text(text)
    answer = CliRunner().invoke(main, ["run", "first-audit"])
    assert answer.exit_code == 0, answer.output
    (run,) = (folder / "runs").iterdir()
    assert (run / "SHA256SUMS").is_file()


def commands():
    """Return every line of every sh block, with the block it stands in."""
    lines = []
    for block in blocks("sh"):
        for line in block.text.replace("\\\n", " ").splitlines():
            lines += [(block, shlex.split(line, comments=True))] * bool(line.strip())
    return lines


def ours():
    """Return the arguments of every call of importance-audit."""
    calls = {}
    for block, words in commands():
        if words[0].endswith("importance-audit"):
            words = [word for word in words[1:] if not word.startswith(">")]
            calls.setdefault(tuple(words), block)
    return list(calls)


@pytest.mark.parametrize("words", ours(), ids=" ".join)
def test_a_command_is_understood(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_two_runs(tmp_path / "audit")
    for folder in ("audit", "reports/apartments"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "audit.toml").write_text(SMALL)
    (tmp_path / "rows.csv").write_text("x,y\n" + "1,2\n3,4\n5,7\n" * 4)
    (tmp_path / ".git").mkdir()
    if words[0] in RUNS and not LONG.intersection(words):
        answer = CliRunner().invoke(main, list(words))
        assert answer.exit_code == 0, answer.output
    else:
        command = main.commands[words[0]]
        assert command.make_context(words[0], list(words[1:])).params


@pytest.mark.parametrize("words", [("verify", "--nothing"), ("run", "--keep", "few")])
def test_a_command_that_is_not_understood_is_seen(words):
    with pytest.raises(click.UsageError):
        main.commands[words[0]].make_context(words[0], list(words[1:]))


def test_every_other_command_is_there():
    for _, words in commands():
        if words[0] == "make":
            assert words[1] in TARGETS, words
        elif words[0] == ".venv/bin/python" and words[1] == "-m":
            is_there_by_apt = words[2] == "ipykernel"  # which the tests do without
            assert is_there_by_apt or importlib.util.find_spec(words[2]), words
        elif words[0] == ".venv/bin/python" and words[1] == "-c":
            compile(words[2], "docs", "exec")
        elif words[0] not in {"importance-audit", ".venv/bin/importance-audit"}:
            others = {".venv/bin/python", "tail", "sed", "sha256sum", "mkdir", "R"}
            others |= {"crontab", "systemctl", "podman"}
            assert words[0] in others, words
        paths = [word for word in words if PATH.fullmatch(word)]
        assert [word for word in paths if not is_there(word)] == [], words


@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="no ssh-keygen")
def test_what_the_page_on_integrity_does_without_this_software(tmp_path):
    """A line signed by hand is valid, and the shell finds what the log states."""
    audit = tmp_path / "audit"
    write(audit)
    run = audit / "runs" / SECOND
    sign(run, APPROVAL._replace(signer="nowak@example.org"))
    make_key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", audit / "KEY"]
    subprocess.run(make_key, check=True)
    trusted = audit / "trusted"
    trusted.mkdir()
    kind, key, *_ = (audit / "KEY.pub").read_text().split()
    (trusted / "allowed_signers").write_text(f"nowak@example.org {kind} {key}\n")

    def shell(start, folder=audit):
        (text,) = [
            block.text
            for block in blocks("sh")
            if block.page == "docs/integrity.md" and block.text.startswith(start)
        ]
        text = text.replace("4p", "6p").replace("/4.", "/6.")
        lines = (line for line in text.splitlines() if "importance-audit v" not in line)
        command = ["sh", "-e", "-c", "\n".join(lines)]
        return subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=True
        ).stdout

    shell("mkdir -p signatures")
    (audit / LOG).rename(run / LOG)
    third, last, *checked = shell("sed -n 3p", run).splitlines()
    (run / LOG).rename(audit / LOG)
    assert third.split()[0] == read_log(audit).entries[3]["previous"]
    found = verify(audit, head=last.split()[0], signers=trusted)
    assert all(line.endswith(": OK") for line in checked)
    unsigned = {f"{LOG}: line 3", f"{LOG}: line 4"}
    assert {item.file for item in found.mismatches} == unsigned
    assert 'Good "importance-audit" signature' in shell("importance-audit verify --s")


@pytest.mark.needs_r
def test_r_reads_every_block_of_r(tmp_path):
    for block in blocks("r"):
        (tmp_path / "block.R").write_text(block.text, encoding="utf-8")
        words = ["Rscript", "-e", "invisible(parse('block.R'))"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == 0, (name_of(block), done.stderr)


def test_the_readme_names_the_two_targets_that_people_start_with():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    alone = set(re.findall(r"^```sh\n(make \w+)\n```$", text, re.MULTILINE))
    assert {"make report", "make test"} <= alone
