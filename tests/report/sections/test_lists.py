"""Section Q: the terms that occur, every table and figure, the files that go along."""

import pytest
from tests.report.made_variants import plain_result, result_of, view_of
from tests.report.page_reader import parse_page
from tests.report.reading import column, section, table, words

from importance_audit.report.pages.html import to_html
from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import plain
from importance_audit.report.text.wording import look_up

ATTACHED = {"result.json": (123456, "ab" * 32), "audit.toml": (12, "cd" * 32)}


def items(view):
    """Return target and number of everything that section Q lists."""
    groups = section(view, "Q").parts["lists"]
    return {item.target: item.place for index in groups for item in index.items}


def rows_of(view, id_):
    blocks = section(view, "Q").parts["glossary"]
    rows = next((block.rows for block in blocks if block.id == id_), ())
    return {plain(term): plain(means) for term, means in rows}


def test_every_table_and_figure_is_listed_with_its_number(any_name):
    view = build_view(result_of(any_name), attachments=ATTACHED)
    numbers = {id_: label.split("\u00a0")[1] for id_, label in view.labels.items()}
    assert items(view) == numbers


def test_a_list_without_entries_is_left_out():
    view = view_of("interrupted")
    titles = [index.title for index in section(view, "Q").parts["lists"]]
    assert titles == ["Tables", "Tables of report.html only"]


def test_a_caption_is_listed_up_to_its_first_comma_but_names_stay_whole():
    view = build_view(plain_result(("a, b", "c")))
    heads = {
        item.target: plain(item.head)
        for index in section(view, "Q").parts["lists"]
        for item in index.items
    }
    assert heads["tab-untested"] == "What was not tested"
    leader = next(text for id_, text in heads.items() if id_.startswith("fig-ranking"))
    assert leader.startswith("a, b leads")
    quality = "Performance, best model first: RMSE"
    assert heads["tab-quality"] == quality, "one word alone says nothing"


def test_no_link_stands_inside_a_link(any_name):
    tree = parse_page(to_html(view_of(any_name)))
    assert not [inner for link in tree.all("a") for inner in link.all("a")]


def test_only_terms_that_occur_are_explained():
    alone = rows_of(build_view(plain_result(("a",))), "kv-terms")
    both = rows_of(view_of("disagreeing"), "kv-terms")
    assert {"Replayed", "Equivalent", "Comparable", "Disagrees"} <= set(both)
    assert not {"Replayed", "Equivalent", "Disagrees"} & set(alone)
    assert {"Importance", "Content digest"} <= set(alone)


def test_a_feature_that_is_called_like_a_term_explains_none():
    usual = rows_of(build_view(plain_result(("a",))), "kv-terms")
    terms = rows_of(build_view(plain_result(("out of bag",))), "kv-terms")
    assert "Out of bag" not in usual
    assert terms == usual


def test_every_term_is_explained_in_one_or_more_whole_sentences():
    for term in look_up("glossary").values():
        assert term["means"].endswith("."), term
        assert all(find == find.lower() for find in term["found"])


def test_each_measure_is_explained_once_by_its_question(any_name):
    view = view_of(any_name)
    cards = section(view, "E").parts["cards"]
    measures = rows_of(view, "kv-measures")
    assert list(measures) == [plain(card.title) for card in cards]
    for card in cards:
        assert measures[plain(card.title)].endswith(f" {card.id}")


def test_attached_files_are_listed_with_bytes_and_digest():
    view = build_view(result_of("apartments"), attachments=ATTACHED)
    files = table(view, "tab-attachments")
    assert column(files, "File") == ["audit.toml", "result.json"]
    assert column(files, "Contents")[0] == "the configuration as given"
    assert column(files, "Bytes") == ["12", "123\u202f456"]
    assert column(files, "SHA-256") == ["cd" * 32, "ab" * 32]


@pytest.mark.parametrize("attachments", [{}, ATTACHED])
def test_where_the_other_files_lie_is_always_said(attachments):
    view = build_view(result_of("apartments"), attachments=attachments)
    assert "`" not in words(section(view, "Q"))
    assert "manifest.json lists the SHA-256 of each of its files" in words(
        section(view, "Q")
    )
    assert ("tab-attachments" in view.labels) == bool(attachments)
