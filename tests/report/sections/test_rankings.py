"""What is ranked, in which order, and which places the intervals leave open."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from tests.cases import for_each
from tests.report.made_records import APARTMENTS, made_importance, row_intervals_frame
from tests.report.made_results import apartments_result
from tests.report.made_variants import configured, plain_result, view_of_records

from importance_audit.methods.importance import METHODS, options_of
from importance_audit.records.ranking import interval
from importance_audit.report.sections.facts import facts_of
from importance_audit.report.sections.ranking_figure import estimate_row
from importance_audit.report.sections.ranking_tables import measured_in, value_word
from importance_audit.report.sections.rankings import cut, places, rankings
from importance_audit.report.text.blocks import plain
from importance_audit.report.text.wording import catalogue

AB, ABC = ("a", "b"), ("a", "b", "c")
BOUNDS = arrays(float, (2, 6), elements=st.floats(-5, 5))


def forest(features, means, **fields):
    return made_importance("forest", tuple(features), means, **fields)


def ranked(record, intervals=None, **report):
    """Return the one ranking of a result of this record, with intervals of rows."""
    frames = {} if intervals is None else {"row_intervals": intervals}
    result = plain_result(record.features, importances=(record,), **frames)
    (ranking,) = rankings(configured(result, report=report))
    return ranking


def test_the_interval_is_students_over_the_repeats():
    record = forest(AB, (3.0, 1.0), sd=0.5)
    low, high = interval(record)
    expected = stats.t.interval(0.95, 9, record.mean, stats.sem(record.values, axis=1))
    np.testing.assert_allclose((low, high), expected, rtol=1e-12)


def test_raw_losses_of_rows_drawn_anew_spread_as_their_rises_do():
    rise = forest(AB, (3.0, 1.0), sd=0.5)
    each = 7 + 5 * np.sin(np.arange(10))  # the loss of the rows of each repeat
    raw = replace(rise, form="raw", raw=rise.values + each, baseline=each)
    ends = np.subtract(interval(raw), each.mean())
    np.testing.assert_allclose(ends, interval(rise), rtol=1e-9)


def test_what_draws_nothing_has_no_interval_but_its_value_and_one_repeat_has_none():
    still = forest(AB, (3.0, 1.0), stream="", repeats=1)
    np.testing.assert_array_equal(interval(still), [[3.0, 1.0], [3.0, 1.0]])
    assert np.isnan(interval(forest(AB, (3.0, 1.0), repeats=1))).all()


def test_repeats_that_are_all_equal_draw_no_interval():
    record = replace(forest(AB, (1.0, 1.0), repeats=3), raw=np.full((2, 3), 0.1))
    low, high = interval(record)
    assert low[0] < high[0]  # by rounding alone
    row = estimate_row(ranked(record), 0, "0.1")
    assert np.isnan([row.low, row.high]).all()
    assert row.title.endswith("a: 0.1")


@given(BOUNDS)
def test_places_count_who_lies_wholly_above_and_wholly_below(bounds):
    low, high = np.sort(bounds, axis=0)
    first, last = places(low, high)
    for i in range(len(low)):
        assert first[i] == 1 + (low > high[i]).sum()
        assert last[i] == len(low) - (high < low[i]).sum()


def test_a_bound_that_is_not_known_leaves_no_place_and_bars_nobody():
    first, last = places(np.array([5, np.nan, 1]), np.array([6, np.nan, 2]))
    np.testing.assert_array_equal(first, [1, np.nan, 2])
    np.testing.assert_array_equal(last, [1, np.nan, 2])


def test_features_and_groups_are_never_ranked_together():
    for ranking in rankings(apartments_result()):
        together = {len(columns) > 1 for columns in ranking.record.columns}
        assert together == {ranking.record.of == "groups"}


def test_a_twin_in_another_draw_order_is_not_ranked():
    whole = apartments_result()
    twin = made_importance("forest", APARTMENTS, (1, 2, 3, 4, 5), stream="vip-0.4")
    more = apartments_result(importances=(*whole.importances, twin))
    assert [r.index for r in rankings(more)] == [r.index for r in rankings(whole)]


def test_other_options_are_another_ranking_with_its_own_key():
    options = ({"n_repeats": 10, "n_rows": n_rows} for n_rows in (None, 500))
    records = tuple(forest(AB, (1, 2), options=each) for each in options)
    both = rankings(plain_result(AB, importances=records))
    assert len({ranking.key for ranking in both}) == 2


def test_the_order_starts_with_the_largest_and_ends_with_what_was_not_measured():
    ranking = ranked(forest("abcd", (1.0, np.nan, 3.0, -2.0)))
    assert ranking.order == (2, 0, 3, 1)
    assert ranking.measured == (2, 0, 3)


@pytest.mark.parametrize(("n", "shown"), [(20, 14), (16, 14), (15, 15)])
def test_the_body_shows_ties_at_the_edge_and_a_short_ranking_whole(n, shown):
    means = [*range(40, 29, -1), 5.0, 5.0, 5.0, 4.0, *range(-1, -9, -1)][:n]
    names = [f"x{i:02}" for i in range(n)]
    ranking = ranked(forest(names, means, stream="", repeats=1))
    assert cut(ranking) == tuple(range(shown))


@pytest.mark.parametrize("missing", [(), (0,), (2,)])
def test_intervals_over_other_rows_count_only_where_every_feature_has_one(missing):
    record = forest(ABC, (3.0, 2.0, 1.0))
    intervals = row_intervals_frame((record,), 0.5)
    intervals.loc[list(missing), ["low", "high"]] = np.nan
    ranking = ranked(record, intervals)
    assert ranking.row_intervals == (() if missing else (0, 1, 2))
    assert np.isfinite(ranking.low).all()


def test_what_a_model_does_better_without_is_in_the_body_wherever_it_ranks():
    names = [f"x{n:02}" for n in range(40)]
    record = forest(names, range(40, 0, -1))
    intervals = row_intervals_frame((record,), 0.5)
    intervals.loc[33, ["low", "high"]] = -2.0, -1.0
    assert cut(ranked(record, intervals)) == (*range(12), 33)


def test_what_the_configuration_always_shows_is_among_the_leading_wherever_it_ranks():
    names = [f"x{i:02}" for i in range(40)]
    always = ("x33", "no feature")
    ranking = ranked(forest(names, range(40, 0, -1)), always_show=always)
    assert ranking.leading(3) == (0, 1, 2, 33)
    assert cut(ranking) == (*range(12), 33)


@pytest.mark.parametrize("always", [(), ("x20",)])
def test_a_figure_shows_no_more_rows_than_it_holds_and_the_lowest_of_those_below(
    always,
):
    names = [f"x{k}" for k in range(60)]
    record = forest(names, range(30, -30, -1))
    intervals = row_intervals_frame((record,), 0.5)
    ranking = replace(ranked(record, intervals), always=frozenset(always))
    assert len(ranking.negative) == 29
    shown = ranking.leading(12)
    assert len(shown) == 40
    assert shown[:12] == tuple(range(12))
    n_lowest = 40 - 12 - len(always)
    assert shown[-n_lowest:] == tuple(range(60 - n_lowest, 60))
    assert {names.index(name) for name in always} <= {*shown}


def test_features_without_a_number_are_named_and_the_others_counted():
    names = tuple(f"x{k:02}" for k in range(14))
    means = (9.0, *(np.nan for _ in names[1:]))
    view = view_of_records(forest(names, means, sd=0.1))
    notes = " ".join(plain(note) for t in view.tables for note in t.notes)
    shown = ", ".join(names[1:11])
    assert f"Not measured, so not ranked: {shown}, and 3 more." in notes


GIVEN = "rise in RMSE when one feature is"
SPREAD_OF = "spread of the expected prediction given one feature"


@for_each(
    [
        ("permutation", {}, f"{GIVEN} shuffled", "Rise"),
        ("permutation", {"perturbation": "resample"}, f"{GIVEN} resampled", "Rise"),
        (
            *("permutation", {"within": "gaussian"}),
            *(f"{GIVEN} drawn given all other columns", "Rise"),
        ),
        (
            *("h_statistic", {"standardised": False}),
            *("root mean square of the joint effect of one feature", "Joint effect"),
        ),
        ("h_statistic", {"standardised": True}, "Friedman's H of one feature", "H"),
        ("firm", {"standardised": False}, f"{SPREAD_OF}, signed", "Signed spread"),
        (
            *("firm", {"standardised": True}),
            f"{SPREAD_OF}, signed, in standard deviations of the prediction",
            "Signed spread",
        ),
        (
            *("anova", {"statistic": "minus_log10_p"}),
            *("−log₁₀ p of the test of the group means by one feature", "−log₁₀ p"),
        ),
    ]
)
def test_the_label_names_the_quantity_that_the_options_make(case):
    method, options, label, head = case
    loss = "rmse" if method == "permutation" else ""
    fields = {"method": method, "options": options, "loss": loss, "unit": "1"}
    record = forest(AB, (3.0, 1.0), **fields)
    facts = facts_of(plain_result(AB, importances=(record,)), "")
    (ranking,) = facts.rankings
    assert plain(measured_in(facts, ranking)) == label
    assert value_word(ranking) == head


def test_words_by_option_are_of_options_that_their_method_has():
    for method, row in METHODS.items():
        own = options_of(row.function)
        docs = row.function.__doc__
        for option in catalogue()["cards"][method].get("by_option", {}):
            assert own.get(option) in (True, False) or f'"{option}"' in docs
