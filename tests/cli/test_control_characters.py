"""Names of folders and columns reach a terminal as letters, never as commands to it."""

import json
from pathlib import Path

import pytest
from tests.cli.test_cli import answer_of, change_config, invoke, sound, written

from importance_audit.records.errors import SPACES, printable


@pytest.fixture
def audit_named(tmp_path, monkeypatch):
    """Return a function that makes an audit of a name, beside which we stand."""
    monkeypatch.chdir(tmp_path)

    def audit_named(name):
        Path(name).mkdir()
        change_config(written(Path(name)), '"m"', r'"linear\u001b]0;model\u0007"')
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
    assert is_harmless(answer_of("run", folder)[1])
    (run,) = Path(folder, "runs").iterdir()
    for words in (
        ("render", run, "--to", f"{folder}/page"),
        ("handoff", run),
        ("history", folder),
        ("history", folder, "--html"),
        ("verify", run),
        ("approve", run, "--by", "A"),
        ("run", "--all", "."),
        ("diff", run, run),
        ("init", f"{folder}/new", "--data", f"{folder}/test.csv", "--target", "y"),
        ("schedule", folder),
    ):
        assert is_harmless(answer_of(*words)[1]), words


OBEYED = "\x1b[2J\x07\x7f\x9b\u2028\u202e\U000e0041"
"""An escape, a bell, DEL, C1, the end of a line, letters turned round, a tag."""


def test_json_holds_no_character_that_a_terminal_obeys(audit_named):
    name = audit_named(f"größe{OBEYED}")
    invoke("run", name, "--quiet")
    (run,) = Path(name, "runs").iterdir()
    (run / f"new{OBEYED}").write_text("")
    for words in (
        ("run", name, "--json", "--quiet"),
        ("verify", run, "--json"),
        ("history", name, "--json"),
        ("diff", run, run, "--json"),
    ):
        answer = invoke(*words)
        assert is_harmless(answer.stdout), words
        document = json.loads(answer.stdout)
        if words[0] in {"verify", "history"}:
            whole = json.dumps(document, ensure_ascii=False)
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
    code, output = answer_of("schedule", name, "--as", kind)
    assert code == 2
    assert is_harmless(output)
    assert "A schedule must be made of lines of UTF-8; the audit is '" in output
    assert f"which has {character!r}. Rename it" in output


@pytest.mark.parametrize("kind", ["cron", "systemd"])
def test_a_printed_schedule_names_a_folder_of_any_letters_whole(kind, audit_named):
    name = audit_named("größe\u3000年\u200d")
    assert f"/{name}" in sound("schedule", name, "--as", kind)
