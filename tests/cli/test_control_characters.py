"""Names of folders and columns reach a terminal as letters, never as commands to it."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from importance_audit.cli.main import main

AUDIT = """
[data]
train = { file = "rows.csv" }
test = { fraction = 0.5 }
target = "y"
task = "regression"
[[models]]
name = "linear\\u001b]0;model\\u0007"
estimator = "sklearn.linear_model.LinearRegression"
[[importance]]
method = "t_statistic"
[report]
profile = "bundle"
"""
ROWS = "a,b,y\n" + "".join(f"{n % 5},{n % 3},{n % 7}\n" for n in range(40))
BUNDLE = Path(__file__).parents[1] / "bundles" / "1.2"


def printed(*words):
    """Return what a command prints, on both streams."""
    return CliRunner().invoke(main, list(words)).output


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Stand beside an audit in a folder whose name would move the cursor."""
    monkeypatch.chdir(tmp_path)
    name = "au\x1b[2Jdit"
    Path(name).mkdir()
    Path(name, "audit.toml").write_text(AUDIT)
    Path(name, "rows.csv").write_text(ROWS)
    return name


def is_harmless(text):
    return text and all(letter.isprintable() or letter in "\n\xa0" for letter in text)


def test_a_run_and_what_is_done_with_it_print_no_control_character(folder):
    assert is_harmless(printed("run", folder))
    (run,) = Path(folder, "runs").iterdir()
    shutil.copyfile(Path(folder, "rows.csv"), Path(folder, "more.csv"))
    for words in (
        ("render", str(run), "--to", f"{folder}/page"),
        ("handoff", str(run)),
        ("history", folder),
        ("history", folder, "--html"),
        ("verify", str(run)),
        ("approve", str(run), "--by", "A"),
        ("run", "--all", "."),
        ("diff", str(run), str(run)),
        ("init", f"{folder}/new", "--data", f"{folder}/more.csv", "--target", "y"),
        ("schedule", folder),
    ):
        assert is_harmless(printed(*words)), words
