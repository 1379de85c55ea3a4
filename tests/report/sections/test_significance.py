"""The table of p-values below a ranking."""

from dataclasses import replace

import pandas as pd
import pytest
from tests.report.made_records import APARTMENTS, made_rows
from tests.report.made_results import apartments_result
from tests.report.made_variants import apartments_view
from tests.report.reading import blocks, cells_of, column, fact, heads_of, table, words

from importance_audit.report.text.blocks import Table, plain

SIGNIFICANCE = "tab-significance-forest-permutation-features-rmse"
OF_ENGINE = "tab-significance-xplainfi-forest-permutation-features-rmse"


def shuffled_targets():
    """Return the frame of p-values of the first ranking, the last one unknown."""
    pairs = zip(APARTMENTS, (0.01, 0.02, 0.01, 0.4, float("nan")), strict=True)
    return made_rows(
        "significance",
        "feature p_value p_adjusted shuffles",
        *((name, p, 2 * p, 99 if p == p else 12) for name, p in pairs),
        **{"record": 0, "test": "shuffled_targets", "statistic": ""},
        adjustment="benjamini_hochberg",
    )


def view():
    return apartments_view(significance=shuffled_targets())


def test_p_values_are_told_to_the_step_of_their_grid_in_the_order_of_the_ranking():
    significance = table(view(), SIGNIFICANCE)
    names, p_values = (column(significance, c) for c in ("Feature", "p-value"))
    texts = ("0.010", "0.020", "0.010", "0.400", "–")
    assert (names, p_values) == ([*APARTMENTS], [*texts])
    assert column(significance, "Rank") == ["1", "2", "3", "4", "5"]
    assert column(significance, "Adjusted")[0] == "0.020"
    assert plain(significance.caption).endswith("from 99 shuffles of the target.")
    assert "at least 0.010" in words(significance.notes)
    assert "Benjamini-Hochberg over 4 p-values" in words(significance.notes)
    assert f"(number in brackets): {APARTMENTS[-1]} (12)." in words(significance.notes)


def paired(test, statistic, **columns):
    """Return the frame of a test of the first ranking, with an interval if by t."""
    shared = {"p_value": 0.00004, "p_adjusted": 0.0123, "record": 0}
    shared |= {"shuffles": 0, "n": 250, "test": test, "statistic": statistic}
    shared |= {"value": 2.5, "estimate": 0.75, "adjustment": "holm", **columns}
    rows = [(name,) for name in APARTMENTS]
    return made_rows("significance", "feature", *rows, **shared)


INTERVAL = {"std_error": 0.1, "low": 0.55, "high": 0.95}


def card_of(frame, **changes):
    """Return what the first card says of p-values."""
    return fact(apartments_view(significance=frame, **changes), "E1", "p-values")


def with_options(**options):
    """Return the records, the first one asked with these options too."""
    first, *others = apartments_result().importances
    return (replace(first, options=first.options | options), *others)


def test_a_test_of_losses_shows_its_differences_its_statistic_and_its_interval():
    made = apartments_view(significance=paired("cpi", "t", **INTERVAL))
    significance = table(made, SIGNIFICANCE)
    heads = heads_of(significance)
    assert heads[2:] == [
        *("Mean difference", "95\u202f% from", "to", "t", "p-value", "Adjusted")
    ]
    assert [cell.exact for cell in significance.rows[0].cells][2:] == [
        *("0.75", "0.55", "0.95", "2.5", "4e-05", "0.0123")
    ]
    assert plain(significance.caption).endswith("of the losses of 250 rows.")
    assert "Card E1 states the null hypothesis" in words(significance.notes)
    assert "two-sided interval" in words(significance.notes)


def beside(engine_p, statistic="t"):
    """Return a view in which xplainfi tests the first ranking too, in its draws."""
    result = apartments_result()
    n, (first, *_) = len(result.importances), result.importances
    theirs, own = (
        replace(first, engine=engine, stream="xplainfi")
        for engine in ("xplainfi", "python")
    )
    ours = paired("cpi", statistic, std_error=0.1)
    in_its_draws = [ours.assign(record=n, p_value=engine_p)]
    in_its_draws += [ours.assign(record=n + 1, p_value=0.5)]
    return apartments_view(
        importances=(*result.importances, theirs, own),
        significance=pd.concat([ours, *in_its_draws], ignore_index=True),
    )


def test_the_test_of_an_engine_stands_beside_ours_in_its_draws():
    made = beside(0.25)
    tables = [b.id for b in blocks(made, "F") if isinstance(b, Table)]
    assert tables[tables.index(SIGNIFICANCE) + 1] == OF_ENGINE
    shown = table(made, OF_ENGINE)
    assert plain(shown.caption).startswith("p-values of the features of forest by us")
    assert heads_of(shown)[2:] == [
        *("t, ours", "t, xplainfi", "Relative difference"),
        *("p-value, ours", "p-value, xplainfi", "Relative difference"),
    ]
    assert cells_of(shown.rows[0]) == [
        *("1", APARTMENTS[0], "2.50", "2.50", "0", "0.5000", "0.2500", "0.5")
    ]
    assert "Largest relative difference: 0.5." in words(shown.notes)


def test_a_number_that_an_engine_lacks_is_a_dash():
    shown = table(beside(float("nan"), statistic="sign"), OF_ENGINE)
    assert [plain(cell.parts) for cell in shown.rows[0].cells[-2:]] == ["–", "–"]
    assert "Largest relative difference: 0." in words(shown.notes)


def test_a_test_without_an_interval_shows_none():
    made = apartments_view(significance=paired("lei", "wilcoxon"))
    significance = table(made, SIGNIFICANCE)
    heads = heads_of(significance)
    assert heads[2:] == ["Median difference", "V", "p-value", "Adjusted"]
    assert column(significance, "p-value")[0] == "< 0.0001"
    assert "two-sided interval" not in words(significance.notes)


@pytest.mark.parametrize(
    ("frame", "adjustment"),
    [
        (paired("lei", "sign"), "benjamini_hochberg"),
        (paired("lei", "sign"), "holm"),
        (shuffled_targets(), "bonferroni"),
    ],
)
def test_a_note_says_against_which_errors_adjusted_p_values_guard(frame, adjustment):
    view = apartments_view(significance=frame.assign(adjustment=adjustment))
    text = words(table(view, SIGNIFICANCE).notes)
    assert ("expected share" in text) == (adjustment == "benjamini_hochberg")
    assert ("probability that any" in text) == (adjustment != "benjamini_hochberg")
    assert ("behave as under shuffled targets" in text) == (adjustment == "bonferroni")
    assert ("Adjusted: Holm over 5 p-values." in text) == (adjustment == "holm")


def test_a_card_names_the_null_hypothesis_and_what_is_assumed():
    text = card_of(paired("cpi", "sign"))
    assert "shuffling the feature among all rows does not raise" in text
    assert "It is not the test of conditional predictive impact" in text
    assert "a row without a change counts as no rise. The mean over several" in text
    assert text.endswith("Set n_repeats = 1, or take t")
    for test, statistic in (("cpi", "t"), ("lei", "sign"), ("cpi", "fisher")):
        text = card_of(paired(test, statistic))
        assert "The mean over several repeats" not in text
    assert "Shuffled targets" in fact(view(), "E1", "p-values")


def test_drawn_given_the_other_features_it_is_the_conditional_predictive_impact():
    text = card_of(paired("cpi", "t"), importances=with_options(within="leaves"))
    assert text.startswith("Conditional predictive impact")
    assert "independent of the feature given the others" in text


def test_refits_are_counted_and_their_heuristic_is_named():
    frame = paired("nadeau_bengio", "t", **INTERVAL, n=15)
    made = apartments_view(significance=frame)
    significance = table(made, SIGNIFICANCE)
    assert plain(significance.caption).endswith("of the losses of 15 refits.")
    text = fact(made, "E1", "p-values")
    assert text.startswith("Corrected resampled t-test (Nadeau and Bengio 2003)")
    assert text.endswith("and that differences are about normal")


def test_a_spread_over_refits_that_share_rows_is_said_to_be_too_narrow():
    made = apartments_view(importances=with_options(held_out=0.2))
    assert "Repeats share rows" in fact(made, "E1", "Uncertainty shown")
