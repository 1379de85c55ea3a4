"""Rankings on resampled rows: what is drawn, what stays, and who is not asked."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.auditing.test_audit import linear, rows_to_audit

from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.data.derived_columns import DerivedSection, with_derived
from importance_audit.methods.known_answers import linear_model, normal_data


def audited(*entries, test=None, resamples=5, **config):
    document = {"importance": list(entries), "stability": {"resamples": resamples}}
    config = parse_config(document | config)
    return audit(None, test or rows_to_audit(), config, models=(linear(),))


PERMUTATION = {"method": "permutation", "n_repeats": 3}


def test_nothing_is_resampled_unless_it_is_asked_for():
    assert audited(PERMUTATION, resamples=0).stability.empty


@pytest.mark.parametrize(
    ("alike", "first", "last", "shares"),
    [(True, [1, 1, 1], [3, 3, 3], [1, 1, 1]), (False, [1, 2, 3], [1, 2, 3], [1, 0, 0])],
)
def test_a_clear_order_stays_on_every_resample_and_equal_rows_leave_every_rank_open(
    alike, first, last, shares
):
    checks = {} if alike else {"top_k": 1}
    test = rows_to_audit()
    if alike:
        test = replace(test, X=test.X.iloc[[0] * 80].reset_index(drop=True))
    stability = audited(PERMUTATION, test=test, checks=checks).stability
    assert stability[["rank_low", "rank_high"]].to_numpy().T.tolist() == [first, last]
    assert stability["p_top_k"].tolist() == shares
    assert np.isinf(stability["repeats_to_settle"][:2]).all() == alike


def noisy_stability(resamples, **stability):
    """Audit a model on rows on which three features matter nearly alike."""
    data, model = normal_data(1, 1, 1, n_samples=40), linear_model(1, 1, 1)
    section = {"resamples": resamples, **stability}
    config = {"importance": [PERMUTATION], "stability": section, "checks": {"top_k": 1}}
    return audit(None, data, parse_config(config), models=(model,))


def test_the_shares_of_the_first_place_sum_to_one():
    shares = noisy_stability(25).stability["p_top_k"]
    assert shares.sum() == pytest.approx(1)
    assert (shares > 0).sum() > 1


def test_more_repeats_than_the_entry_has_are_not_made():
    three, again, nine = (noisy_stability(5, n_repeats=n).stability for n in (3, 3, 9))
    pd.testing.assert_frame_equal(three, again)
    pd.testing.assert_frame_equal(three, nine)
    assert not three.equals(noisy_stability(5).stability)


def test_every_ranking_says_which_it_is():
    result = audited({**PERMUTATION, "losses": ["rmse", "mae"]}, {"method": "spearman"})
    losses = result.stability.groupby("record", sort=True)["loss"].first()
    assert losses.to_dict() == {0: "rmse", 1: "mae", 2: ""}
    assert [r.loss for r in result.importances] == ["rmse", "mae", ""]


@pytest.mark.parametrize(
    "entry",
    [
        {"method": "relieff", "n_neighbours": 3},
        {"method": "permutation", "within": "neighbours"},
    ],
    ids=lambda entry: entry["method"],
)
def test_what_resampled_rows_would_mislead_says_so_and_keeps_its_importance(entry):
    result = audited(entry)
    method = entry["method"]
    (note,) = (f for f in result.findings if f.message.startswith("Stability"))
    assert (note.check, note.severity) == ("not_applicable", "info")
    assert note.message == (
        f"Stability of {method} of features: The rows are not resampled for "
        f"'{method}', so the stability of its ranking is not estimated: a row that is "
        "drawn twice is its own nearest neighbour."
    )
    assert result.stability["resamples"].tolist() == [0, 0, 0]
    assert len(result.importances) == 1


def test_a_derived_column_changes_no_rank_on_resamples():
    """It ties with the column it was made of, and is not held equal for that column."""
    data = normal_data(2, -1, 1, noise=1.0, n_samples=200)
    data = replace(data, X=data.X.round())
    derived = DerivedSection(name="twice", expression="2 * x1")
    entry = {"method": "stratified_impact", "n_repeats": 2}
    config = parse_config({"importance": [entry], "stability": {"resamples": 5}})
    plain, beside = (
        audit(None, test, config, models=(linear_model(2, -1, 1),)).resampled_ranks
        for test in (data, with_derived(data, (derived,)))
    )
    is_derived = beside["feature"] == "twice"
    assert beside.loc[is_derived, "rank"].tolist() == [1.5]
    plain = plain.assign(rank=plain["rank"].map({1: 1.5, 2: 3, 3: 4}))
    pd.testing.assert_frame_equal(beside[~is_derived].reset_index(drop=True), plain)
