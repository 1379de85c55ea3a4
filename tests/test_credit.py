"""The second example: its table is what its script draws, and its facts are found."""

import gzip
import runpy
from collections import Counter
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pandas as pd
import pytest

from importance_audit.assess.dependent_leaders import dependent_leaders
from importance_audit.auditing.audit import audit
from importance_audit.config.load import load_config
from importance_audit.config.settings import LimitsSection
from importance_audit.data.datasets import read_datasets

AUDIT = Path(__file__).parents[1] / "reports" / "credit"
LATE = "months_since_most_recent_delinquency_any_trade"
INCOME = "annual_gross_income_primary_applicant_thousands"


@pytest.fixture(scope="module")
def stored():
    return gzip.decompress((AUDIT / "data.csv.gz").read_bytes())


@pytest.fixture(scope="module")
def rows(stored):
    return pd.read_csv(BytesIO(stored))


@pytest.fixture(scope="module")
def result():
    """Return the audit in Python alone, of fewer rows and the features only."""
    config = load_config(AUDIT)
    alone = replace(config.importance[0], engines=())
    config = replace(config, importance=(alone,), limits=LimitsSection(max_repeats=4))
    return audit(*read_datasets(**config.data_arguments), config)


@pytest.fixture(scope="module")
def measured(result):
    """Return the importances, a row per feature and a column per model."""
    return pd.DataFrame(
        {
            record.model: pd.Series(record.mean, index=record.features)
            for record in result.importances
        }
    )


def test_the_committed_table_is_what_its_script_draws(stored):
    # Unpacked, since builds of zlib pack the same bytes otherwise.
    assert runpy.run_path(str(AUDIT / "draw_data.py"))["table"]() == stored


def test_the_table_has_the_shape_that_five_short_names_hide(rows):
    assert rows.shape == (12_000, 25)
    assert max(map(len, rows)) == 48
    assert rows["default_within_12_months"].mean() == 0.08
    assert rows["application.number"].is_unique
    dealers = rows["dealer.code"].value_counts()
    assert len(dealers) == 84
    assert (dealers < 20).sum() > 20
    is_train = rows["development_sample"] == "train"
    dates = rows["applicationDate"]
    assert dates[is_train].max() < dates[~is_train].min()


def test_only_a_missing_delinquency_tells_of_default(rows):
    """Whoever was never late defaults less; what else is blank is blank by chance."""
    share = {
        name: rows.groupby(rows[name].isna())["default_within_12_months"].mean()
        for name in rows.columns[rows.isna().any()]
    }
    ratio = {name: each[True] / each[False] for name, each in share.items()}
    assert ratio.pop(LATE) < 0.5
    assert ratio == pytest.approx(dict.fromkeys(ratio, 1), abs=0.25)
    assert set(ratio) == {
        "bureau.score.v2",
        "bureau.score.v3",
        "employmentLengthInMonths",
    }


@pytest.mark.slow
def test_boosting_parts_from_its_training_rows_and_the_scorecard_does_not(result):
    lost = result.performance.set_index(["model", "split"])["value"].unstack()
    boosting, scorecard = (lost.loc[m.name] for m in load_config(AUDIT).models)
    assert boosting["train"] < 0.01
    assert boosting["test"] > 0.15
    assert scorecard["test"] - scorecard["train"] < 0.03
    assert scorecard["test"] < boosting["test"]


@pytest.mark.slow
def test_the_useless_digit_measures_little_and_a_missing_delinquency_much(measured):
    place = measured.rank(ascending=False)
    assert (place.loc["bureau.score.v3"] == 1).all()
    assert (place.loc[INCOME] > 3).all()  # where the owner expects it
    largest = measured.max()
    # Three of boosting are about as large, and the processor decides on their order.
    assert (measured.loc[LATE] > 0.2 * largest).all()
    assert (measured.loc["internal.routing.digit"].abs() < 0.1 * largest).all()


@pytest.mark.slow
def test_the_findings_are_those_that_the_table_was_made_for(result):
    messages = {f.check: f.message for f in result.findings}
    for pair in (
        f"'{INCOME}', 'household.net_income_per_month'",
        "'bureau.score.v3', 'bureau.score.v2'",
    ):
        assert pair in messages["dependence"]
    counts = Counter((f.check, f.severity) for f in result.findings)
    assert counts["unseen_levels", "warning"] == 1
    assert counts["unexpected", "warning"] == 2  # one per model: of income


@pytest.mark.slow
def test_two_scores_inside_the_group_of_the_bureau_are_a_warning_still(result):
    """At 0.98 they stand in for each other, and the group of five does not say so."""
    config = load_config(AUDIT)
    findings = dependent_leaders(
        result.importances,
        *read_datasets(**config.data_arguments),
        grouped=tuple(config.groups.values()),
        threshold=config.checks.dependence,
        top_k=config.checks.top_k,
    )
    measures = [finding.measure for finding in findings]
    assert "bureau.score.v3, bureau.score.v2" in measures
