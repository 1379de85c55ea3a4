"""The estimand cards: formula, unit, rows and spread of what was really computed."""

from dataclasses import replace
from typing import get_args

import pytest
from tests.report.made_records import (
    made_importance,
    made_rows,
    made_run,
    row_intervals_frame,
)
from tests.report.made_variants import (
    configured,
    plain_result,
    plain_view,
    view_of_records,
)
from tests.report.reading import fact, said_in, section, table, words

from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.methods.trees.routes import Basis
from importance_audit.records.finding import Finding
from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import plain
from importance_audit.report.text.wording import look_up


def forest(model="forest", **fields):
    return made_importance(model, ("a", "b"), (50.0, 5.0), **fields)


def viewed(*, target_unit="EUR/m²", **fields):
    """Return a view of one ranking with these fields and this unit of the target."""
    report = {**made_run().config["report"], "unit": target_unit}
    record = forest(**{"baseline": 283.0, **fields})
    result = plain_result(("a", "b"), importances=(record,))
    return build_view(configured(result, report=report))


def answered_by(*routes):
    """Return what the card says of these (model, basis, reason), else of none."""
    record = forest()
    names = {"method": record.method, "of": record.of, "entry": record.entry}
    keys = ("model", "basis", "reason")
    rows = [dict(zip(keys, route, strict=True)) | names for route in routes]
    run = made_run(volatile={**made_run().volatile, "answered_by": rows})
    others = (replace(record, model=name) for name in ("linear", "additive"))
    view = view_of_records(record, *others, run=run)
    return fact(view, "E1", "Predictions in Python")


def test_a_card_says_who_gave_the_predictions_of_each_model():
    unread = "unread", "LinearRegression is no ensemble of trees that can be read."
    text = answered_by(("forest", "identical", ""), ("linear", *unread))
    assert text == (
        "forest: from the trees of the model, bit-identical to predict; the first "
        "answer was compared with it; linear: by predict. LinearRegression is no "
        "ensemble of trees that can be read"
    )
    assert answered_by(("linear", "few", ""), ("additive", "few", "")) == (
        "linear and additive: by calling predict"
    )


def test_every_route_has_a_sentence():
    assert set(look_up("cards.answered_by")) == set(get_args(Basis))


DRAWN = {"options": {"n_repeats": 10, "n_rows": 1000}}
RATIO = {"form": "ratio", "sd": 2.0}


def test_the_formula_of_a_ratio_says_whether_means_or_ratios_are_averaged():
    view = viewed(aggregator="pooled", **RATIO)
    pooled = fact(view, "E1", "Formula")
    assert "delta method" in fact(view, "E1", "Uncertainty shown")
    permuted = "mean over b of L(y, f(X with j permuted by πb))"
    assert pooled.startswith(f"[{permuted}] / [mean over b of L(y, f(X))];")
    each = fact(viewed(**RATIO), "E1", "Formula")
    assert each.startswith(f"{permuted.replace('L(y', '[L(y', 1)} / L(y, f(X))];")


def test_captions_call_a_pooled_ratio_a_ratio_of_means():
    view = viewed(aggregator="pooled", **RATIO)
    caption = words(table(view, "tab-ranking-forest-permutation-features-rmse").caption)
    assert caption.endswith("Ratio of two means over 10 repeats.")
    assert "ratio of two means over 10" in words(table(view, "tab-executive").caption)
    assert "Dot: ratio of two means over 10 repeats;" in said_in(view, "F")


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "difference from the baseline; EUR/m²"),
        ({"target_unit": ""}, "difference from the baseline; unit of m2.price"),
        (
            {"target_unit": "", "loss": "mse", "unit": "y^2"},
            "difference from the baseline; (unit of m2.price)²",
        ),
        (RATIO, "ratio to the baseline; no unit"),
    ],
)
def test_a_card_names_the_unit_of_the_target_configured_or_not(fields, text):
    assert fact(viewed(**fields), "E1", "Form and unit") == text


OF_SAGE = {"algorithm": "sampling", "tolerance": 0.01}


@pytest.mark.parametrize(
    ("fields", "when"),
    [
        ({}, ", anew for each repeat"),
        ({"stream": "hstats"}, ", once for all repeats"),
        ({"method": "pd_importance", "loss": "", "repeats": 1}, ""),
        ({"method": "vint", "loss": "", "repeats": 2}, ", anew for each repeat"),
        ({"method": "sage", "stream": "numpy"}, ", once for all repeats"),
    ],
)
def test_a_card_says_how_many_of_the_rows_were_drawn_and_when(fields, when):
    options = {"n_repeats": 10, "n_rows": 60, **OF_SAGE}
    text = fact(viewed(n_samples=255, options=options, **fields), "E1", "Data")
    drawn = f"60 of 255 rows (drawn without replacement{when})"
    assert text == f"{drawn}, the evaluation rows, unweighted"


def test_a_loss_on_drawn_rows_says_on_how_many():
    view = viewed(**DRAWN)
    ranking = table(view, "tab-ranking-forest-permutation-features-rmse")
    on = "on 1\u202f000 rows drawn without replacement"
    assert f"Baseline loss of forest, {on}: RMSE 283.0" in words(ranking)
    assert f"EUR/m², {on}." in said_in(view, "F")


@pytest.mark.parametrize(
    ("stream", "drawn", "baseline"),
    [
        ("DALEX", "anew for each repeat", "on the same rows"),
        ("vip-0.5", "anew for each repeat", "on the same rows"),
        ("hstats", "once for all repeats", "on the same rows"),
        ("vip-0.4", "once for all repeats", "on all rows, as vip 0.4 does"),
    ],
)
def test_a_card_says_how_often_its_draw_order_draws_rows(stream, drawn, baseline):
    view = viewed(stream=stream, **DRAWN)
    assert fact(view, "E1", "Repeats and sample") == (
        f"B = 10; 1\u202f000 rows drawn without replacement, {drawn}; the baseline "
        f"loss is computed {baseline}"
    )
    is_of_repeat = "drawn for the b-th repeat" in fact(view, "E1", "Formula")
    assert is_of_repeat == (drawn == "anew for each repeat")


def test_a_card_says_that_nothing_was_drawn():
    every = viewed(options={"n_repeats": 10, "n_rows": 9000})
    assert "drawn for the" not in fact(every, "E1", "Formula")
    assert "all rows" in fact(every, "E1", "Repeats and sample")
    options = {"n_repeats": 10, "n_rows": None, "draws": "exact"}
    view = viewed(options=options, stream="")
    assert fact(view, "E1", "Repeats and sample") == (
        "The mean over all permutations of all rows, nothing drawn; of RMSE, the root "
        "of the mean squared error over all permutations"
    )


GROUPED = {"of": "groups", "columns": (("x1", "x2"), ("x3",))}


def shuffled(options, **fields):
    """Return what a card says of how values are exchanged under these options."""
    usual = {"n_repeats": 10, "n_rows": None, "min_samples_leaf": 15}
    return fact(viewed(options=usual | options, **fields), "E1", "What is shuffled")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "marginally"),
        (
            {"within": "leaves", "min_samples_leaf": 20, "perturbation": "resample"},
            "at least 20 rows in a leaf; πb draws the rows with replacement",
        ),
        ({"within": "gaussian"}, "from a normal distribution given all other columns"),
        ({"within": "neighbours"}, "one of the 5 rows that are nearest"),
        ({"within": "neighbours", "n_neighbours": 12}, "one of the 12 rows"),
        (
            {"within": "neighbours", "convention": "xplainfi"},
            "all equally likely; as in xplainfi, the row itself is one of them.",
        ),
    ],
)
def test_a_card_says_among_which_rows_or_from_what_values_are_drawn(options, words):
    assert words in shuffled(options)
    is_resampled = options.get("perturbation") == "resample"
    assert ("with replacement" in shuffled(options)) == is_resampled


def test_columns_of_a_group_are_said_to_be_drawn_together():
    assert "by the same permutation" in shuffled({}, **GROUPED)
    drawn = shuffled({"within": "gaussian"}, **GROUPED)
    assert drawn.startswith("all columns of one group at a time, together; condition")


@pytest.mark.parametrize(
    ("fields", "function"),
    [
        ({"method": "permutation"}, "PFI"),
        ({"method": "permutation", "options": {"within": "gaussian"}}, "CFI"),
        ({"method": "drop_column"}, "LOCO"),
        ({"method": "drop_column", "columns": (("x1", "x2"), ("x3",))}, "WVIM"),
        ({"method": "sage", "options": {"background": "rows"}}, "MarginalSAGE"),
        ({"method": "sage", "options": {"background": "gaussian"}}, "ConditionalSAGE"),
    ],
)
def test_a_card_names_the_function_of_xplainfi_that_was_called(fields, function):
    usual = {"n_repeats": 10, "n_rows": None, "n_background": 9, **OF_SAGE}
    ours = forest(**{**fields, "options": usual | fields.get("options", {})})
    other = replace(ours, engine="xplainfi", engine_version="1.2.0")
    text = fact(view_of_records(ours, other), "E1", "Engines")
    assert f"xplainfi 1.2.0, {function};" in text


def test_intervals_over_other_rows_are_not_limited_to_the_draws():
    record = forest()
    frame = row_intervals_frame((record,), 9.0)
    limits = said_in(view_of_records(record, row_intervals=frame), "L")
    text = "The resampling intervals of E1 also cover other rows, but not a refitted"
    assert text in limits
    assert "cover random draws only, with one fit of each model" in limits
    assert "resampling" not in said_in(view_of_records(record), "L")
    own = Finding(
        check="scored_on_training_rows",
        severity="warning",
        subject=record.model,
        message="Of the fit.",
    )
    view = view_of_records(record, row_intervals=frame, findings=[own])
    assert "E1 are over training rows and say nothing of new ones." in said_in(
        view, "L"
    )
    notes = plain(sum(table(view, "tab-executive").notes, ()))
    assert "these rows of the fit drawn anew, and other shuffles" in notes


def test_a_card_writes_options_as_a_reader_would():
    options = {"n_drawn": None, "span": 2 / 3, "scaled": True, "n_repeats": 5}
    view = viewed(method="random_subspace", options=options)
    text = fact(view, "E1", "Options")
    assert text == "n_drawn not set, n_repeats = 5, scaled = true, span = 0.666667"


def test_a_permuted_target_of_several_measures_is_not_averaged_over_them():
    row = {"model": "forest", "of": "features", "loss": "rmse", "repeat": 1}
    rows = made_rows("y_permuted", "value", (1200.0,), (1300.0,), **row)
    one, two = (plain_view(y_permuted=rows[:n]) for n in (1, 2))
    assert "so that no information is left: 1\u202f200" in said_in(one, "F")
    assert "with the target shuffled" not in said_in(two, "F")


def titles(method, *options):
    """Return the titles of the cards of one method asked with each of these options."""
    records = (forest(method=method, options=own) for own in options)
    cards = section(view_of_records(*records), "E").parts["cards"]
    return [plain(card.title) for card in cards]


def test_titles_show_options_only_where_they_do_something_and_differ():
    schemes = [("none", 15), ("leaves", 15), ("leaves", 30)]
    options = [{"within": w, "min_samples_leaf": n} for w, n in schemes]
    first, second, third = titles("permutation", *options)
    assert first.endswith(' (within = "none")')
    assert second.endswith(' (min_samples_leaf = 15, within = "leaves")')
    assert third.endswith(' (min_samples_leaf = 30, within = "leaves")')
    assert titles("permutation", options[0], options[2])[1].endswith(
        ' (within = "leaves")'
    )


def sage_record(model, n_drawn, **options):
    usual = {"algorithm": "auto", "n_repeats": 100, "tolerance": 0.01, **options}
    return forest(model, method="sage", options=usual, repeats=n_drawn)


def test_the_card_of_sage_says_how_many_orders_of_each_model_were_drawn():
    view = view_of_records(sage_record("forest", 30), sage_record("linear", 100))
    start = (
        "forest: 30; linear: 100; at most 100, and no more once the largest standard"
    )
    assert fact(view, "E1", "Orders drawn").startswith(start)
    all_subsets = "forest: none, every subset was asked about"
    one_order = "forest: 1; at most 1, and no more once the largest standard error is "
    for options, text in (
        ({}, all_subsets),
        ({"algorithm": "exact", "n_repeats": 1}, all_subsets),
        ({"algorithm": "sampling", "n_repeats": 1}, one_order),
    ):
        view = view_of_records(sage_record("forest", 1, **options))
        assert fact(view, "E1", "Orders drawn").startswith(text)


def test_the_card_of_sage_says_how_many_predictions_were_made():
    """Of 12 rows: 12 of all columns known, 12 times 5 of each of three others."""
    rows = normal_data(2, 1, n_samples=12)
    entry = {"method": "sage", "n_background": 5}
    config = parse_config({"importance": [entry]})
    result = audit(None, rows, config, models=(linear_model(2, 1, losses=("rmse",)),))
    text = fact(build_view(result), "E1", "Predictions in Python")
    assert text == "linear: by predict, 192 predictions"
