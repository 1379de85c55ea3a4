"""A run that did not come to its end says nothing of what it did not do."""

from dataclasses import replace

from tests.report.made_records import made_frame, made_pair
from tests.report.made_results import apartments_result
from tests.report.made_variants import configured, result_of, stopped_result, view_of
from tests.report.reading import column, figure, lede_of, section, table

from importance_audit.report.pages.view import build_view
from importance_audit.report.sections.agreement_figures import engine_figures
from importance_audit.report.sections.facts import facts_of
from importance_audit.report.text.blocks import plain


def paired(verdict):
    """Return the stopped run with its pair of rankings compared or not."""
    pair = made_pair("forest", verdict, reasons="definition: another formula.")
    return stopped_result(agreement=made_frame("agreement", [pair]))


def headline(verdict):
    """Return what stands above the marks of the engines."""
    (marks,) = engine_figures(facts_of(paired(verdict), ""))
    return plain(marks.headline)


def sentences_of_agreement(verdict):
    """Return what section Agreement says of a pair beside its tables and figures."""
    blocks = section(build_view(paired(verdict)), "G").parts["blocks"]
    return [plain(block) for block in blocks if isinstance(block, tuple)]


def test_an_engine_that_was_not_reached_is_not_told_as_never_asked():
    ours = [r for r in stopped_result().importances if r.engine == "python"]
    view = build_view(stopped_result(importances=tuple(ours)))
    assert lede_of(view, "G") == (
        "Nothing was compared: the run ended before a second implementation returned "
        "a result."
    )


def test_a_complete_run_of_python_alone_says_that_nobody_took_part():
    assert lede_of(view_of("one feature"), "G") == (
        "Nothing was compared: no second implementation took part in this run."
    )


def test_one_order_is_said_of_pairs_that_were_compared_alone():
    uncompared, compared = (headline("not compared"), headline("comparable"))
    assert uncompared == "forest: 2 implementations whose results were not compared."
    assert compared == "forest: 2 implementations rank the features in the same order."


def test_no_band_was_kept_where_no_pair_was_judged():
    (text,) = sentences_of_agreement("not compared")
    assert text == (
        "No pair of rankings was compared value by value, so no difference was tested "
        "against a band."
    )
    (text,) = sentences_of_agreement("replayed")
    assert text.startswith("No difference lies outside its band")


def test_every_model_is_said_only_where_every_model_was_measured():
    whole = apartments_result()
    records = tuple(r for r in whole.importances if r.model != "svm")
    view = build_view(replace(whole, importances=records))
    models = figure(view, "fig-models-permutation-features-rmse-difference")
    assert plain(models.headline) == "The models shown here rely most on district."


def test_a_second_model_that_was_not_reached_is_not_told_as_never_configured():
    stopped = result_of("stopped")
    models = [{"name": name, "parameters": {}} for name in ("forest", "linear")]
    for asked, is_missing in ((models, False), (models[:1], True)):
        result = stopped.with_frames(models=stopped.models.iloc[:1])
        view = build_view(configured(result, models=asked))
        items = column(table(view, "tab-untested"), "Item")
        assert ("a second model" in items) == is_missing
