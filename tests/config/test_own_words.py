"""Claims about the words of the report in another language."""

import tomllib

import pytest
from click.testing import CliRunner
from tests.config.test_extensions import HEAD

from importance_audit.cli.main import main
from importance_audit.config.load import load_config
from importance_audit.config.own_words import (
    missing_in,
    problems_of,
    words_to_translate,
)
from importance_audit.operate.run import run_audit
from importance_audit.records.errors import ConfigError
from importance_audit.records.template_folder import english

GERMAN = """
months = ["Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August",
  "September", "Oktober", "November", "Dezember"]
[page]
skip = "Zum Bericht"
found = "{n} von {all} Zeilen"
"""


def test_what_a_translator_gets_is_whole_and_sound():
    text = words_to_translate("de")
    assert tomllib.loads(text) == english()
    assert problems_of(text) == []
    assert 'strings.de.toml beside audit.toml\n# with language = "de"' in text


def test_texts_are_in_english_until_they_are_translated():
    """One of a single word may be the same in both languages."""
    text = words_to_translate("de")
    before = missing_in(text)
    assert "page.skip" in before
    line = f'skip = "{english()["page"]["skip"]}"'
    assert line in text
    after = missing_in(text.replace(line, 'skip = "Zum Bericht"'))
    assert after == [key for key in before if key != "page.skip"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[page]\ncontent = "Inhalt"', "page.content is no entry of the report. Did "),
        ("[page]\ncontents = 3", "page.contents must be a text."),
        ('months = ["Januar"]', "months must be 12 texts."),
        ('[page]\nfound = "{n} Zeilen"', "page.found has lost '{all}': '{n} Zeilen'."),
        ('[page]\nfound = "{n} {al} {all}"', "page.found has '{al}', which nothing"),
        ('[page]\ncontents = "{n}"', "page.contents has '{n}', which nothing fills in"),
        ("[page", "is no TOML: "),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path, text, problem):
    assert problems_of(text)[0].startswith(problem)
    (tmp_path / "audit.toml").write_text(f'{HEAD}\n[report]\nlanguage = "de"\n')
    (tmp_path / "strings.de.toml").write_text(text)
    with pytest.raises(ConfigError) as error:
        load_config(tmp_path)
    (first, *_) = error.value.problems
    assert f"[report] language 'strings.de.toml': {problem}" in first


def test_a_file_of_words_that_is_not_there_can_be_written(tmp_path):
    (tmp_path / "audit.toml").write_text(f'{HEAD}\n[report]\nlanguage = "de"\n')
    with pytest.raises(ConfigError) as error:
        load_config(tmp_path)
    assert str(error.value).endswith(
        "[report] language 'strings.de.toml' cannot be read: no such file or "
        "directory. Run: importance-audit init --strings de"
    )


@pytest.mark.slow
def test_the_report_has_these_words_and_english_for_the_others(tmp_path):
    (tmp_path / "audit.toml").write_text(f'{HEAD}\n[report]\nlanguage = "de"\n')
    (tmp_path / "strings.de.toml").write_text(GERMAN, encoding="utf8")
    outcome = run_audit(tmp_path, pdf=False)
    page = (outcome.folder / "report.html").read_text(encoding="utf8")
    assert '<html lang="de">' in page
    assert "Zum Bericht" in page
    assert "Skip to the report" not in page
    assert "Document control" in page


def test_init_writes_the_words_once_and_then_says_what_they_lack(tmp_path):
    def init(language="de"):
        words = ["init", str(tmp_path), "--strings", language]
        return CliRunner().invoke(main, words)

    file = tmp_path / "strings.de.toml"
    assert init().exit_code == 0
    assert tomllib.loads(file.read_text(encoding="utf8")) == english()
    file.write_text(GERMAN, encoding="utf8")
    answer = init()
    assert answer.exit_code == 0
    assert "in English: 'page.contents', 'page.none_here'" in answer.output
    assert file.read_text(encoding="utf8") == GERMAN
    file.write_text("[page]\nfound = 'Zeilen'", encoding="utf8")
    answer = init()
    assert answer.exit_code == 2
    assert "page.found has lost '{all}', '{n}': 'Zeilen'." in answer.output
    assert init("Deutsch").exit_code == 2
    assert not (tmp_path / "audit.toml").exists()
