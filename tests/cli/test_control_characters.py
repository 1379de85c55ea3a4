"""Names of folders and columns reach a terminal as letters, never as commands to it."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from importance_audit.cli.main import main
from importance_audit.records.errors import SPACES, printable

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


def printed(*words):
    """Return what a command prints, on both streams."""
    return CliRunner().invoke(main, list(words)).output


@pytest.fixture
def audit_named(tmp_path, monkeypatch):
    """Return a function that makes an audit of a name, beside which we stand."""
    monkeypatch.chdir(tmp_path)

    def audit_named(name):
        Path(name).mkdir()
        Path(name, "audit.toml").write_text(AUDIT)
        Path(name, "rows.csv").write_text(ROWS)
        return name

    return audit_named


PLAIN = "\n" + SPACES


def is_harmless(text):
    return text and all(letter.isprintable() or letter in PLAIN for letter in text)


def test_the_spaces_of_numbers_and_units_are_printed_as_they_are():
    text = "±\u202f5.69 of 1\u00a0200 rows"
    assert printable(text) == text
    assert printable("a\u202ed\u200bb") == r"a\u202ed\u200bb"


def test_a_run_and_what_is_done_with_it_print_no_control_character(audit_named):
    folder = audit_named("au\x1b[2Jdit")  # would move the cursor
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


OBEYED = "\x1b[2J\x07\x7f\x9b\u2028\u202e\U000e0041"
"""An escape, a bell, DEL, C1, the end of a line, letters turned round, a tag."""


def test_json_holds_no_character_that_a_terminal_obeys(audit_named):
    name = audit_named(f"größe{OBEYED}")
    printed("run", name, "--quiet")
    (run,) = Path(name, "runs").iterdir()
    (run / f"new{OBEYED}").write_text("")
    for words in (
        ("run", name, "--json", "--quiet"),
        ("verify", str(run), "--json"),
        ("history", name, "--json"),
        ("diff", str(run), str(run), "--json"),
    ):
        answer = CliRunner().invoke(main, list(words))
        assert is_harmless(answer.stdout), words
        document = json.loads(answer.stdout)
        whole = json.dumps(document, ensure_ascii=False)
        assert ("größe" in answer.stdout) == ("größe" in whole), words
        if words[0] in {"verify", "history"}:
            assert json.dumps(OBEYED, ensure_ascii=False)[1:-1] in whole, words


@pytest.mark.parametrize(
    ("kind", "character"),
    [("cron", "\u202e"), ("systemd", "\x1b"), ("github", "\x9b"), ("gitlab", "\x07")],
)
def test_no_schedule_is_printed_for_a_folder_that_no_line_can_name(
    kind, character, audit_named
):
    Path(".git").mkdir()
    name = audit_named(f"audit{character}x")
    answer = CliRunner().invoke(main, ["schedule", name, "--as", kind])
    assert answer.exit_code == 2
    assert is_harmless(answer.output)
    assert "A schedule must be made of lines of UTF-8; the audit is '" in answer.output
    assert f"which has {character!r}. Rename it" in answer.output


@pytest.mark.parametrize("kind", ["cron", "systemd"])
def test_a_printed_schedule_names_a_folder_of_any_letters_whole(kind, audit_named):
    name = audit_named("größe\u3000年\u200d")
    answer = CliRunner().invoke(main, ["schedule", name, "--as", kind])
    assert answer.exit_code == 0, answer.output
    assert f"/{name}" in answer.stdout
