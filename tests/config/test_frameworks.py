"""Frameworks as data: every rule of their files, and their status from dates alone."""

import re
from datetime import date, timedelta
from pathlib import Path

import pytest
from tests.cases import for_each

from importance_audit.config.frameworks import KINDS, load_frameworks, status_on
from importance_audit.config.load import parse_config
from importance_audit.records.errors import ConfigError
from importance_audit.records.template_folder import templates

ROOT = Path(__file__).parents[2]
FRAMEWORKS = load_frameworks()
CLAUSES = [clause for one in FRAMEWORKS.values() for clause in one.clauses]
FORBIDDEN = re.compile(
    r"\b(compliant|compliance with|certified|proves|guarantees?|bias-free|significant|"
    r"drives|causes)\b",
    re.I,
)


def by_id(clause):
    return clause.id


def test_a_framework_has_its_name_kind_and_dates_and_clauses_that_begin_with_it():
    for key, framework in FRAMEWORKS.items():
        assert key == framework.id
        assert framework.kind in KINDS
        assert framework.parts
        own = {clause.id for clause in framework.clauses}
        assert own == {key} or all(name.startswith(f"{key}/") for name in own)
    assert [key for key, one in FRAMEWORKS.items() if one.superseded_by] == ["sr-11-7"]


@for_each(CLAUSES, by_id)
def test_a_requirement_is_one_sentence_that_claims_nothing_and_names_its_source(clause):
    assert re.fullmatch(r"[A-Z][^.!?]*\.", clause.requirement)
    assert not FORBIDDEN.search(f"{clause.requirement} {clause.beyond}")
    assert len(clause.quote.split()) <= 25
    assert clause.source
    assert "secondary" not in clause.source


def test_iso_texts_are_never_quoted():
    standards = [one for one in FRAMEWORKS.values() if one.kind == "standard"]
    assert standards
    assert not any(clause.quote for one in standards for clause in one.clauses)


def test_revised_guidance_binds_nobody_in_our_words():
    requirements = [clause.requirement for clause in FRAMEWORKS["sr-26-2"].clauses]
    assert not re.search(r"\bmust\b", " ".join(requirements))


def test_nothing_says_that_the_old_guidance_asks_for_replication():
    text = (templates() / "frameworks" / "sr-11-7.toml").read_text(encoding="utf-8")
    assert "replicat" not in text.lower()


def test_every_clause_that_a_text_of_ours_names_exists():
    clause_ids = {clause.id for clause in CLAUSES}
    texts = [*(ROOT / "docs").glob("*.md"), *templates().rglob("*.j2")]
    texts += [templates() / "strings.en.toml", ROOT / "pipeline/config/example.toml"]
    pattern = rf"\b(?:{'|'.join(map(re.escape, FRAMEWORKS))})/[\w.-]*\w"
    citations = {id_ for text in texts for id_ in re.findall(pattern, text.read_text())}
    assert "sr-26-2/V-soundness" in citations
    assert citations <= clause_ids


@pytest.mark.parametrize(
    ("name", "day", "word"),
    [
        ("sr-11-7", date(2026, 4, 16), "in force"),
        ("sr-11-7", date(2026, 4, 17), "superseded"),
        ("sr-26-2", date(2026, 4, 16), "applies later"),
        ("sr-26-2", date(2026, 4, 17), "in force"),
        ("eu-ai-act", date(2027, 12, 1), "applies later"),
        ("eu-ai-act", date(2027, 12, 2), "partly in force"),
        ("eu-ai-act", date(2028, 8, 2), "in force"),
        ("nist", date(2026, 11, 20), "published"),
    ],
)
def test_the_status_follows_the_dates(name, day, word):
    assert status_on(day, FRAMEWORKS[name]).word == word


def test_a_part_applies_from_its_own_day():
    day = date(2027, 12, 2)
    status = status_on(day, FRAMEWORKS["eu-ai-act"])
    assert [part.part for part in status.parts] == ["Annex III"]
    assert [part.part for part in status.later] == ["Annex I"]
    before = status_on(day - timedelta(days=1), FRAMEWORKS["eu-ai-act"])
    assert [part.date for part in before.parts] == [day, date(2028, 8, 2)]


def test_an_unknown_framework_is_told_with_every_other_problem():
    report = {"frameworks": ["sr-26-2", "sr-26-3"], "titel": "x"}
    with pytest.raises(ConfigError) as caught:
        parse_config({"report": report})
    assert caught.value.problems == (
        "[report] has no key 'titel'. Did you mean 'title'?",
        "[report] frameworks names 'sr-26-3', which is unknown. Did you mean "
        "'sr-26-2'? On offer: 21cfr11, eu-ai-act, fda-gmlp, fda-transparency, "
        "iso-42001, nist, sr-11-7, sr-26-2.",
    )
