"""A run that did not come to its end says nothing of what it did not do."""

from dataclasses import replace

from tests.report.made_records import made_frame, made_pair, made_rows
from tests.report.made_results import apartments_result, found
from tests.report.made_variants import configured, result_of, stopped_result, view_of
from tests.report.reading import column, figure, lede_of, section, table

from importance_audit.report.pages.by_model import part_of
from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import plain


def paired(verdict):
    """Return the stopped run with its pair of rankings compared or not."""
    pair = made_pair("forest", verdict, reasons="definition: another formula.")
    return stopped_result(agreement=made_frame("agreement", [pair]))


def sentences_of_agreement(verdict):
    """Return what section Agreement says of a pair beside its tables and figures."""
    blocks = section(build_view(paired(verdict)), "G").parts["blocks"]
    return [plain(block) for block in blocks if isinstance(block, tuple)]


def test_a_complete_run_of_python_alone_says_that_nobody_took_part():
    assert lede_of(view_of("one feature"), "G") == (
        "Nothing was compared: no second implementation has a result in this run."
    )


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


def unfinished(*, engine="python", **changes):
    """Return page one of a run that measured two of nine rankings, as texts by name."""
    permuted = {"method": "permutation", "losses": ["rmse"], "engines": []}
    entries = [
        permuted,
        {**permuted, "of": "groups"},
        {**permuted, "method": "shapley"},
    ]
    records = [r for r in stopped_result().importances if r.engine == engine]
    result = stopped_result(importances=tuple(records), **changes)
    view = build_view(configured(result, importance=entries))
    return view, section(view, "B").parts


def test_what_is_missing_has_a_number_and_names():
    view, page = unfinished()
    assert plain(page["headline"]) == (
        "Incomplete: importance cannot be judged from 2 of 9 rankings"
    )
    assert plain(page["recomputed"]) == (
        "The audit was interrupted in the step 'permutation, linear'. Measured: 2 of 9 "
        "rankings."
    )
    assert [plain(point) for point in page["points"]] == [
        "Incomplete. Not measured: permutation importance of features and permutation "
        "importance of groups (linear and svm); Shapley importance of features (all "
        "models) (K1)."
    ]
    assert plain(page["untested"]).startswith("7 of 9 rankings; ")
    row = table(view, "tab-untested").rows[0]
    assert plain(row.cells[1].parts) == "not finished"


def test_what_only_another_engine_measured_is_not_measured():
    _, page = unfinished(engine="DALEX")
    assert "(all models)" in plain(page["points"][0])
    assert plain(page["headline"]) == "Incomplete: importance cannot be judged"


def test_a_run_that_its_time_limit_cut_is_incomplete_and_asks_for_more_time():
    cut = found("time_limit", "audit", "warning", message="The time limit was reached.")
    run = replace(stopped_result().run, status="complete")
    agreement = made_frame("agreement", [made_pair("forest", "replayed")])
    view, page = unfinished(run=run, findings=(cut,), agreement=agreement)
    assert plain(view.title).startswith("Audit not completed")
    assert page["verdict"].label == "Calculation incomplete"
    assert plain(page["recomputed"]).startswith(
        "The time limit ended the run. Measured: 2 of 9 rankings. "
    )
    assert plain(page["points"][0]).startswith("Incomplete. Not measured: perm")
    assert plain(page["decide"]) == (
        "Run the audit again with more time; on what was not measured nothing can be "
        "decided."
    )
    fewer = found("time_limit", "forest, permutation of features", "warning")
    view, page = unfinished(run=run, findings=(fewer,), agreement=agreement)
    assert not plain(page["headline"]).startswith("Incomplete")


def test_expectations_of_a_run_that_ended_early_hold_so_far():
    names = "expectation place model farthest rank verdict features first share reason"
    met = (
        1,
        "top",
        "forest",
        "surface",
        1.0,
        "as expected",
        "'surface'",
        "",
        0.5,
        "Law",
    )
    asked = {"record": 0, "method": "permutation", "loss": "rmse", "of": "features"}
    frame = made_rows("expected", names, met, positive_class="", **asked)
    _, page = unfinished(expected=frame)
    assert plain(page["expected"][0]).startswith(
        "Expectations that hold in every ranking so far: "
    )


def test_the_page_of_one_model_says_only_what_that_model_lacks():
    records = [r for r in stopped_result().importances if r.engine == "python"]
    result = configured(
        stopped_result(importances=tuple(records)),
        importance=[{"method": "permutation", "losses": ["rmse"], "engines": []}],
    )
    for model, text in (
        (
            "forest",
            "Incomplete. The audit was interrupted in the step 'permutation, lin",
        ),
        ("svm", "Incomplete. Not measured: permutation importance of features (svm)"),
    ):
        page = section(build_view(part_of(result, model).result), "B").parts
        assert plain(page["points"][0]).startswith(text)
