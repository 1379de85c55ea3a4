"""Each number of the HTML page leads back to the result; the page stays small."""

from dataclasses import replace
from functools import cache

import pytest
from tests.report.made_records import models_frame, performance_frame
from tests.report.made_variants import plain_result, result_of, view_of
from tests.report.page_reader import parse_page, traces_of
from tests.report.reading import value_at

from importance_audit.records.as_json import dumps, loads
from importance_audit.report.pages.compose import svg_uri
from importance_audit.report.pages.html import print_html, to_html
from importance_audit.report.pages.view import build_view


@cache
def traced(name):
    return traces_of(to_html(view_of(name)))


def test_each_number_of_the_page_equals_that_of_result_json(any_name):
    whole = loads(dumps(result_of(any_name)))
    as_it_is = [node for node in traced(any_name) if "data-d" not in node]
    for node in as_it_is:
        assert float(node["data-v"]) == float(value_at(whole, node["data-p"])), node
    assert as_it_is


def test_each_number_made_of_others_names_them_and_what_was_made(any_name):
    whole = loads(dumps(result_of(any_name)))
    for node in traced(any_name):
        if "data-d" in node:
            assert node["data-d"]
            assert value_at(whole, node["data-p"]) is not None


def test_no_number_in_a_table_is_without_its_place(any_name):
    assert all(node["data-p"] for node in traced(any_name))


def test_paper_does_not_carry_the_places():
    assert "data-p" not in print_html(view_of("wide"), conformity="PDF/A: not claimed.")


def page_of_models(n_features, *models, losses=("rmse",)):
    """Return the view of so many features in these models, and its page."""
    result = plain_result([f"feature.{i:04}" for i in range(n_features)])
    (record,) = result.importances
    each = [(name, loss) for name in models for loss in losses]
    records = tuple(replace(record, model=name, loss=loss) for name, loss in each)
    frames = {"models": models_frame(models), "performance": performance_frame(models)}
    view = build_view(replace(result, importances=records, **frames))
    return view, to_html(view)


@pytest.mark.slow
def test_two_hundred_features_in_ten_rankings_and_ten_figures_stay_below_a_megabyte():
    losses = ("rmse", "mae", "mse", "mape", "sum_of_squares")
    view, page = page_of_models(200, "one", "two", losses=losses)
    figures = [len(svg_uri(figure)) for figure in view.figures]
    size = len(page.encode()) + (10 / len(figures) - 1) * sum(figures)
    assert size <= 1_000_000


@pytest.mark.slow
def test_two_thousand_features_stay_below_three_megabytes_and_more_are_in_a_file():
    _, page = page_of_models(2003, "forest")
    assert len(page.encode()) <= 3_000_000
    results = page[page.index('id="sec-f"') :].partition("</section>")[0]
    (opened,) = parse_page(results[results.index("<details") :]).all("details")
    assert len(opened.all("tbody")[0].all("tr")) == 2000
    rest = "The other 3 rows are in tables/importances.csv."
    assert rest in opened.all("caption")[0].text
