"""Labels: what a reader sees instead of raw names, and what keeps the raw names."""

import re
from dataclasses import replace
from functools import cache

import pytest
from tests.report.made_records import made_importance
from tests.report.made_variants import configured, result_of, view_of
from tests.report.reading import parts_of, table, words

from importance_audit.records.as_csv import tables
from importance_audit.records.as_json import dumps
from importance_audit.records.ranking import question_in_words
from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import Name, plain
from importance_audit.report.text.labels import label_of, labelled, with_labels
from importance_audit.report.text.own_words import labels_of

LABELS = {"surface": "Living area (m²)", "forest": "Champion", "size": "Size of flat"}


@cache
def labelled_view():
    return build_view(configured(result_of("apartments"), labels=LABELS))


def names_in(view):
    return [name for section in view.sections for name in parts_of(section, Name)]


def test_every_name_of_a_feature_group_and_model_is_shown_by_its_label():
    names = names_in(labelled_view())
    shown = {name.raw: name.text for name in names if name.raw in LABELS}
    assert shown == LABELS
    assert all(n.text in (LABELS[n.raw], n.text[:0]) for n in names if n.raw in LABELS)


@pytest.mark.slow
def test_no_figure_draws_a_raw_name_that_has_a_label():
    drawings = [figure.svg for figure in labelled_view().figures]
    texts = [t for svg in drawings for t in re.findall(r"<text [^>]*>([^<]*)<", svg)]
    assert not {"surface", "forest", "size"} & set(texts)
    assert any("Living area" in text for text in texts)
    assert any("Champion" in text for text in texts)
    alts = " ".join(figure.alt for figure in labelled_view().figures)
    assert not re.search(r"\bsurface\b|\bforest\b", alts)


def test_the_data_card_keeps_the_raw_name_below_the_label():
    columns = next(t for t in labelled_view().tables if t.id == "tab-columns")
    heads = [plain(row.cells[0].parts) for row in columns.rows]
    assert "Living area (m²)surface" in heads
    assert "floor" in heads


def test_tables_as_files_keep_raw_names():
    result = result_of("apartments")
    labelled_result = configured(result, labels=LABELS)
    assert tables(labelled_result) == tables(result)
    records = dumps(labelled_result)
    assert records.count("Living area") == 1  # in the configuration alone


def test_labels_end_with_the_report():
    with pytest.raises(ZeroDivisionError), labelled(LABELS):
        1 / len(label_of("surface").removeprefix("Living area (m²)"))
    assert label_of("surface") == "surface"


def test_a_level_with_the_name_of_a_labelled_feature_keeps_its_name():
    result = configured(result_of("apartments"), labels={"Srodmiescie": "Downtown"})
    columns, unlabelled = (
        table(view, "tab-columns")
        for view in (build_view(result), view_of("apartments"))
    )
    assert words(columns.rows) == words(unlabelled.rows)


def test_a_stored_sentence_shows_the_label_of_a_name_that_it_quotes():
    with labelled(LABELS):
        text = with_labels("'surface' and 'floor' depend on each other.")
    assert text == "'Living area (m²)' and 'floor' depend on each other."


def test_the_measure_of_a_history_is_said_in_words():
    """A history stores keys, so that runs of every version can be compared."""
    of_class = {"loss": "one_minus_auc", "positive_class": "true"}
    record = made_importance("forest", ("a",), (1.0,), **of_class)
    result = replace(result_of("apartments"), importances=(record,))
    asked = "forest, permutation of features, one_minus_auc, true"
    said = "forest, permutation of features, 1 − AUC, class true"
    assert labels_of(result)[asked] == said
    assert question_in_words(record) == said


def test_pairs_are_shown_by_the_labels_of_their_features():
    columns = {"columns": (("surface", "floor"),), "of": "pairs"}
    record = made_importance("forest", ("surface:floor",), (1.0,), **columns)
    result = replace(result_of("apartments"), importances=(record,))
    labels = labels_of(configured(result, labels={"surface": "Area"}))
    assert labels["surface:floor"] == "Area:floor"


def test_a_question_is_said_in_words():
    """Not by the keys of its method and its loss, which only a file needs."""
    result = result_of("apartments")
    labels = labels_of(configured(result, labels={"forest": "Champion"}))
    asked = "forest, permutation, features, rmse"
    said = "Champion, permutation of features, RMSE"
    assert labels[asked] == said
    assert labels[f"{asked}: python and DALEX"] == f"{said}: Python and DALEX"
    assert labels["forest, rmse"] == "Champion, RMSE"
