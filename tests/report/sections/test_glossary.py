"""Section Q: the terms that occur, and where the numbers lie."""

from tests.report.made_variants import plain_view
from tests.report.reading import parts

from importance_audit.report.sections.glossary import terms_in
from importance_audit.report.text.blocks import plain
from importance_audit.report.text.wording import look_up


def terms_of(view):
    blocks = parts(view, "Q")["blocks"]
    return {plain(term): plain(means) for block in blocks for term, means in block.rows}


def test_the_stability_index_is_defined_with_what_is_added_to_each_count():
    means = look_up("glossary.psi")["means"]
    assert "Σ (q − p) ln(q/p)" in means
    assert "0.5 is added to each count" in means
    (table,) = terms_in({"H": "largest: floor, PSI 0.10"})["blocks"]
    assert [plain(term) for term, _ in table.rows] == [
        "PSI (population stability index)"
    ]


def test_a_feature_that_is_called_like_a_term_explains_none():
    usual = terms_of(plain_view(("a",)))
    terms = terms_of(plain_view(("out of bag",)))
    assert "Out of bag" not in usual
    assert terms == usual


def test_every_term_is_explained_in_one_or_more_whole_sentences():
    for term in look_up("glossary").values():
        assert term["means"].endswith("."), term
        assert all(find == find.lower() for find in term["found"])
