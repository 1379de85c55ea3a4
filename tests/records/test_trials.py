"""Trials on other rows: which features they leave unstable, and what shows it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.assess.measured import checked_importance
from tests.report.made_records import made_importance
from tests.report.made_variants import plain_result
from tests.report.reading import column, table, words

from importance_audit.methods.known_answers import normal_data
from importance_audit.records.trials import unstable
from importance_audit.report.pages.view import build_view
from importance_audit.report.sections.rankings import rankings

NAMES = ("steady", "wild", "small", "absent")
TABLE = "tab-ranking-stratified_impact-features"
ROWS = normal_data(1)
ROWS = replace(ROWS, X=pd.DataFrame(dict.fromkeys(NAMES, ROWS.X["x1"])))


def impact(resample="subsample", **changes):
    """Return ten trials of means 4, 15, 1 and none, of which the second varies most."""
    record = made_importance(
        "",
        NAMES,
        (4.0, 15.0, 1.0, np.nan),
        sd=1.0,
        method="stratified_impact",
        loss="",
        options={"n_repeats": 10, "resample": resample},
        stream="numpy",
        **changes,
    )
    spread = np.array([1.9, 7.6, 0.1, 1])[:, np.newaxis]
    noise = np.tile([1.0, -1.0], 5) * np.sqrt(9 / 10)  # of standard deviation 1
    return replace(record, raw=record.mean[:, np.newaxis] + spread * noise)


def test_a_mean_under_two_standard_deviations_over_the_trials_is_unstable():
    assert unstable(impact()).tolist() == [False, True, False, False]
    assert unstable(impact("bootstrap")).tolist() == [False, True, False, False]


def test_repeats_on_the_same_rows_and_a_single_trial_leave_nothing_unstable():
    single = impact()
    single = replace(single, raw=single.raw[:, :1], baseline=single.baseline[:1])
    same_rows = replace(impact(), method="permutation", options={"n_repeats": 10})
    for record in (single, same_rows, impact("none")):
        assert not unstable(record).any()


@pytest.mark.slow
def test_the_table_lists_what_is_unstable_last_with_its_rank_and_a_mark():
    result = plain_result(NAMES, importances=(impact(),))
    ranking_table = table(build_view(result), TABLE)
    names = ["steady", "small", "wild (unstable)", "absent"]
    assert column(ranking_table, "Feature") == names
    assert column(ranking_table, "Rank") == ["2", "3", "1", "–"]
    assert column(ranking_table, "Share") == ["20\u202f%", "5\u202f%", "75\u202f%", "–"]
    note = "less than two standard deviations over the trials"
    assert note in words(ranking_table.notes)


def test_the_finding_names_what_is_unstable_and_fails_no_audit():
    answers = checked_importance(impact(), ROWS, np.nan)
    ((row, finding),) = (a for a in answers if a[0]["check"] == "unstable")
    assert (row["observed"], row["verdict"], finding.severity) == (1, "note", "info")
    assert finding.message == (
        "The importance of 'wild' is less than 2 standard deviations over the trials."
    )


def test_no_check_asks_repeats_that_are_no_trials_for_their_spread():
    answers = checked_importance(impact("none"), ROWS, np.nan)
    assert "unstable" not in {row["check"] for row, _ in answers}


def test_losses_have_no_shares():
    losses = replace(impact(), method="permutation", loss="rmse")
    (ranking,) = rankings(plain_result(NAMES, importances=(losses,)))
    assert not ranking.has_shares


@pytest.mark.parametrize("form", ["difference", "absolute"])
def test_shares_are_parts_of_the_sum_of_what_was_measured(form):
    share = replace(impact(), form=form).share
    assert share == pytest.approx([4 / 20, 15 / 20, 1 / 20, np.nan], nan_ok=True)


@pytest.mark.parametrize(
    ("values", "form"),
    [
        ([1, -1e-9], "difference"),
        ([0, 0], "difference"),
        ([np.inf, 1], "difference"),
        ([2, 1], "ratio"),
        ([2, 1], "raw"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_there_is_no_share_of_a_sum_that_has_no_parts(values, form):
    record = made_importance("m", ("a", "b"), values, sd=0.0, repeats=1, form=form)
    record = replace(record, baseline=np.array([float(form == "ratio")]))
    assert np.isnan(record.share).all()
