"""Words on a page: names cannot hide anything, marks come from the catalogue only."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.made_records import HOSTILE

from importance_audit import assess
from importance_audit.assess.checks import CHECKS
from importance_audit.methods.importance import METHODS
from importance_audit.report.text.blocks import plain
from importance_audit.report.text.wording import (
    display_name,
    ended,
    figure_of,
    in_one_line,
    key_of,
    look_up,
    pieces_of,
    quoted_names,
    say,
    short_name,
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("two\nlines", "two⟨U+000A⟩lines"),
        ("zero\u200bwidth", "zero⟨U+200B⟩width"),
        (" led", "⟨U+0020⟩led"),
        ("trailed ", "trailed⟨U+0020⟩"),
        ("wide  gap", "wide⟨U+0020⟩⟨U+0020⟩gap"),
        ("no\u00a0break", "no⟨U+00A0⟩break"),
        ("", "(empty name)"),
        ("Größe, m²", "Größe, m²"),
    ],
)
def test_what_a_name_hides_is_made_visible(name, text):
    assert display_name(name) == text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gradient boosting, challenger 2024-02", "gradient …2024-02"),
        ("totalDebtToIncomeRatioAfterDisbursement", "totalDebtTo…Disbursement"),
        ("bureau.score.v3 of the last twelve months", "bureau.…months"),
        ("x" * 50, "xxxxxxxxxxxx…xxxxxxxxxxxx"),
    ],
)
def test_a_name_is_cut_between_words_and_inside_one_only_if_none_fits(name, text):
    assert short_name(name, limit=25).text == text


def test_what_a_figure_says_in_words_ends_with_a_word():
    text = "The importance of " + "annual_gross_income, " * 20
    shown = {"headline": (), "caption": ()}
    alt = figure_of("x", print, {}, alt=(text,), **shown).alt
    assert alt.removesuffix("…") in text
    assert alt.endswith(("_…", " …"))
    assert 200 < len(alt) <= 250
    assert figure_of("x", print, {}, alt=("short",), **shown).alt == "short"


@given(st.lists(st.text(max_size=8), min_size=1, max_size=3))
def test_an_id_holds_what_html_and_file_names_allow(names):
    assert re.fullmatch(r"[a-z0-9_-]*", key_of(*names))


def test_ids_of_names_that_differ_are_different():
    keys = {key_of(name) for name in (*HOSTILE, "a.b", "a b", "a-b", "A-b", "ab")}
    assert len(keys) == len(HOSTILE) + 5


def test_marks_in_what_is_filled_in_stay_as_they_are():
    parts = say("results.leads", feature="*a* {b} ~c~", models="`d`")
    assert plain(parts) == "*a* {b} ~c~ leads in `d`."


def test_an_entry_that_is_missing_is_named_in_full():
    with pytest.raises(KeyError, match=r"strings\.en\.toml has no entry 'results\.x'"):
        look_up("results.x")


def test_what_people_wrote_ends_once():
    assert [ended(t) for t in ("Why?", "So.", "so ")] == ["Why?", "So.", "so."]


def test_words_of_others_do_not_run_into_the_sentence_that_follows():
    """The last text may be a command, which a full stop would change."""
    assert in_one_line("R says: no answer", "", "Ask again.", "Run: make report") == (
        "R says: no answer. Ask again. Run: make report"
    )
    assert in_one_line("", "") == ""


def test_what_holds_for_every_form_is_said_once():
    assert look_up("cards.impurity.formula.raw") == look_up("cards.impurity.formula")
    with_sign = look_up("cards.t_statistic.value.any")
    assert look_up("cards.t_statistic.value.difference") == with_sign
    assert look_up("cards.t_statistic.value.absolute") != with_sign
    for key in ("title.kicker.raw", "cards.impurity.formula.raw.raw", "months.any"):
        with pytest.raises(KeyError):
            look_up(key)


@pytest.mark.parametrize(
    ("name", "pieces"),
    [
        ("months_since_any", ["months_", "since_", "any"]),
        ("avgBalanceLast12Months", ["avg", "Balance", "Last12", "Months"]),
        ("bureau.score.v3", ["bureau.", "score.", "v3"]),
        ("idOfURLOpened", ["id", "Of", "URL", "Opened"]),
        ("challenger-2024-02", ["challenger-", "2024-02"]),
        ("vip 0.4.5", ["vip ", "0.4.5"]),
        ("RandomForestRegressor", ["Random", "Forest", "Regressor"]),
        ("two words, three", ["two ", "words,", " ", "three"]),
        ("lower", ["lower"]),
        ("", [""]),
    ],
)
def test_a_line_may_end_after_a_word_of_a_name(name, pieces):
    assert pieces_of(name) == pieces


@given(st.text())
def test_the_pieces_of_a_name_are_the_name(name):
    assert "".join(pieces_of(name)) == name


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("rank of 'size'", ["size"]),
        ("'a', 'b c'", ["a", "b c"]),
        ("Kendall's correlation with 'rf'", ["rf"]),
    ],
)
def test_names_in_quotation_marks_are_told_from_apostrophes(text, names):
    parts = quoted_names(text)
    assert [part.text for part in parts if not isinstance(part, str)] == names


def test_every_method_has_its_words():
    assert set(METHODS) <= set(look_up("cards"))
    assert set(METHODS) == set(look_up("limits.method"))


def test_every_check_has_its_words():
    sources = Path(assess.__file__).parents[1].rglob("*.py")
    texts = (path.read_text(encoding="utf-8") for path in sources)
    raised = {name for t in texts for name in re.findall(r'\bcheck="(\w+)"', t)}
    assert len(raised) > 30
    assert set(CHECKS) <= set(look_up("checks"))
    assert set(CHECKS) | raised <= set(look_up("findings.title"))
