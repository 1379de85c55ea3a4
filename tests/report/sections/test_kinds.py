"""Reports of several kinds of measures: what is said of each is true of it."""

from dataclasses import replace

import pytest
from tests.report.made_records import made_importance
from tests.report.made_variants import view_of_records
from tests.report.reading import (
    column,
    drawn,
    fact,
    heads_of,
    said_in,
    section,
    table,
    words,
)

from importance_audit.report.figures.models import draw_models
from importance_audit.report.text.blocks import plain

NAMES = ("a", "b")


def of_model(method="permutation", **fields):
    defaults = {"method": method, "stream": "numpy", "options": {}, **fields}
    return made_importance("forest", NAMES, (5.0, 3.0), sd=0.1, **defaults)


def of_data(method="spearman", means=(5.0, 3.0), **fields):
    defaults = {"stream": "", "repeats": 1, "loss": "", "split": "train", "options": {}}
    defaults |= {"n_samples": 1000, "method": method, **fields}
    return made_importance("", NAMES, means, sd=0.1, **defaults)


def test_the_page_opens_with_a_ranking_of_a_model_if_there_is_one():
    view = view_of_records(of_data(), of_model())
    assert section(view, "B").parts["heading"] == "What does it rely on?"
    assert "forest: rise" in words(table(view, "tab-executive").caption)


def test_a_report_on_the_data_alone_does_not_say_that_models_rely_on_it():
    view = view_of_records(of_data())
    assert plain(view.title) == "What the data say about m2.price"
    assert plain(view.subtitle).endswith("on 1\u202f000 training rows.")
    assert section(view, "B").parts["heading"] == "What do the data say?"
    assert words(table(view, "tab-executive").caption).startswith("The data: rank")
    assert said_in(view, "L").count("says neither what a model relies on") == 1


def test_limits_say_what_each_kind_of_interval_covers():
    impact = of_data("stratified_impact", stream="numpy", repeats=4)
    sage = of_model("sage", repeats=20, options={"algorithm": "exact"})
    view = view_of_records(of_model(), of_model("drop_column", repeats=3), impact, sage)
    limits = words(section(view, "L").parts["limits"])
    for text in (
        "E1 and E4 cover random draws only, with one fit of each model and one sample",
        "E2 cover random draws and refits only, with one sample of rows.",
        "E3 cover random draws only, with one sample of rows.",
    ):
        assert f"The Monte-Carlo intervals of {text}" in limits


@pytest.mark.parametrize(("repeats", "notes"), [(1, ""), (3, "All 3 repeats are")])
def test_a_ranking_without_spread_shows_no_interval(repeats, notes):
    """One repeat, and repeats that are all equal, say nothing about uncertainty."""
    record = of_model("drop_column", repeats=repeats)
    record = replace(record, raw=record.raw[:, :1].repeat(repeats, axis=1))
    view = view_of_records(record)
    found = table(view, "tab-ranking-forest-drop_column-features-rmse")
    heads = heads_of(found)
    assert heads[:3] == ["Rank", "Feature", "Rise E1"]
    assert not {"Draws: from", "Ranks"} & set(heads)
    assert "repeat" not in plain(found.caption)
    assert any("equal" in plain(note) for note in found.notes) == bool(notes)
    assert "Dot: the value, without an interval (E1)." in said_in(view, "F")
    assert "random draws" not in words(section(view, "L").parts["limits"])


@pytest.mark.parametrize(
    ("method", "stream", "spread"),
    [
        ("permutation", "one stream per feature and repeat;", "or a refitted model"),
        ("drop_column", "one random state per repeat", "its own random state"),
        ("random_subspace", "one stream per small model;", "new draw of rows and"),
        ("shapley", "each row draws its own orders", "or a refitted model"),
    ],
)
def test_a_card_says_which_draws_were_made_and_what_their_spread_covers(
    method, stream, spread
):
    view = view_of_records(of_model(method))
    assert stream in fact(view, "E1", "Random numbers")
    assert spread in fact(view, "E1", "Uncertainty shown")


def test_the_card_of_sampled_shapley_values_says_what_their_interval_does_not_cover():
    for options in ({}, {"algorithm": "sampling"}, {"algorithm": "exact"}):
        view = view_of_records(of_model("shapley", options=options))
        text = fact(view, "E1", "Uncertainty shown")
        is_sampled = options.get("algorithm") != "exact"
        assert ("More permutations (n_permutations) reduce this" in text) == is_sampled


def test_a_card_says_what_few_rows_can_do_in_the_clipped_log_loss():
    limit = "a row whose class is given no probability counts 36 nats"
    for loss, has_limit in (("log_loss_clipped", True), ("brier", False)):
        view = view_of_records(of_model(loss=loss))
        text = fact(view, "E1", "Known limits")
        assert text.startswith("Correlated features share importance")
        assert (limit in text) == has_limit


@pytest.mark.parametrize(("form", "label"), [("difference", "AUC − ½"), ("raw", "AUC")])
def test_an_area_is_not_called_one_where_one_half_is_subtracted(form, label):
    view = view_of_records(of_data("auc", means=(0.3, 0.2), form=form))
    assert view_label(view).startswith(label)
    assert fact(view, "E1", "Formula").startswith(
        "A − ½" if form == "difference" else "A,"
    )


def test_places_have_no_decimals_and_sizes_do():
    for method, texts in (("mrmr", ["2", "1"]), ("spearman", ["2.500", "1.000"])):
        means = [float(text) for text in texts]
        view = view_of_records(of_data(method, means=means, form="raw", baseline=0.0))
        assert column(table(view, "tab-executive"), view_label(view)) == texts


def view_label(view):
    """Return the head of the column of estimates of the executive page."""
    return words(table(view, "tab-executive").columns[1].label)


@pytest.mark.parametrize(
    ("second", "headline"),
    [
        ((6.0, 3.0), "Every model relies most on a."),
        ((3.0, 6.0), "The models do not rely most on the same feature."),
        ((5.0, 5.01), "The intervals leave open whether the models rely most on"),
    ],
)
def test_models_react_most_to_what_their_intervals_set_apart(second, headline):
    first = of_model(baseline=9.0)
    other = made_importance("linear", NAMES, second, sd=0.1, stream="numpy", options={})
    view = view_of_records(first, other)
    assert headline in said_in(view, "F")


@pytest.mark.parametrize(
    ("means", "ending"),
    [
        ((5.0, 5.01, 2.0, 1.0), "linear relies most on b or a"),
        ((5.0, 5.01, 5.0, 5.01), "linear has no single leader"),
    ],
)
def test_a_figure_of_models_says_in_words_whom_the_intervals_let_lead(means, ending):
    names, options = ("a", "b", "c", "d"), {"sd": 0.1, "stream": "numpy", "options": {}}
    records = (
        made_importance(model, names, numbers, baseline=9.0, **options)
        for model, numbers in (("forest", (6.0, 3.0, 2.0, 1.0)), ("linear", means))
    )
    (figure,) = drawn(view_of_records(*records), draw_models)
    assert figure.alt.endswith(f"forest relies most on a, {ending}.")
