"""Each number of the HTML page leads back to the result; the page stays small."""

from dataclasses import replace
from functools import cache

from tests.report.made_records import models_frame, performance_frame
from tests.report.made_variants import plain_result, result_of, view_of
from tests.report.page_reader import traces_of
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


def page_of_models(n_features, n_models, losses=("rmse",)):
    """Return the view of so many models and features, and the bytes of its page."""
    names = tuple(f"model{n}" for n in range(n_models))
    features = [f"feature.{i:04}" for i in range(n_features)]
    plain = plain_result(features)
    record = plain.importances[0]
    view = build_view(
        replace(
            plain,
            models=models_frame(names),
            performance=performance_frame(names),
            importances=tuple(
                replace(record, model=name, loss=loss)
                for name in names
                for loss in losses
            ),
        )
    )
    return view, len(to_html(view).encode())


def test_two_hundred_features_in_ten_rankings_and_ten_figures_stay_below_a_megabyte():
    view, size = page_of_models(
        200, 2, ("rmse", "mae", "mse", "mape", "sum_of_squares")
    )
    figures = [len(svg_uri(figure)) for figure in view.figures]
    assert size + (10 / len(figures) - 1) * sum(figures) <= 1_000_000


def test_two_thousand_features_stay_below_three_megabytes():
    assert page_of_models(2000, 1)[1] <= 3_000_000
