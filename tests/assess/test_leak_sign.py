"""Claims about the sign that a feature is known only with the target."""

import numpy as np
import pytest
from tests.assess.measured import audited, finding_of, importance_of

from importance_audit.assess import checks
from importance_audit.assess.checks import Limit
from importance_audit.methods.known_answers import linear_model, normal_data


def sign_of(rises, least, *, limit=None, **fields):
    """Return the finding on losses that rise from `least` by these."""
    raw = least + np.array(rises, dtype=float)[:, np.newaxis]
    limits = checks.DEFAULTS | ({"leak_sign": limit} if limit else {})
    facts = {"importance": importance_of(raw, least, **fields), "constant": 1.0}
    subject = checks.importances.question(facts["importance"])
    answers = checks.run("leak", subject, limits, **facts)
    return answers[0][1] if answers else None


@pytest.mark.parametrize("form", ["difference", "ratio", "raw"])
def test_one_feature_that_carries_nearly_all_at_hardly_any_loss_is_named(form):
    finding = sign_of([0.1, 1.9, 0.0], 0.01, form=form)
    assert (finding.severity, finding.subject) == (
        "info",
        "linear, permutation, features, mse",
    )
    assert finding.message == (
        "'x2' has 95.0% of all positive importance, and the loss of the model is 1.0% "
        "of that of the constant predictor: the feature may hold what becomes known "
        "only with the target."
    )
    assert finding.remedy == "Check that it is known at the time of prediction."
    assert finding.evidence["share"] == pytest.approx(0.95)


def test_a_negative_importance_takes_nothing_from_the_total():
    assert sign_of([1.6, 0.4, -1.0], 0.01).evidence["share"] == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("rises", "loss"),
    [
        ([1.9, 0.1, 0.0], 0.06),  # a model may be that good
        ([1.5, 0.5, 0.0], 0.01),  # two features carry it
        ([1.9, 0.1], 0.01),  # of two features one often does
        ([0.0, -0.1, 0.0], 0.01),  # nothing is important
        ([np.inf, 1.0, 1.0], 0.01),
    ],
)
def test_there_is_no_sign(rises, loss):
    assert sign_of(rises, loss) is None


def test_a_loss_in_the_unit_of_the_target_is_held_against_it_squared():
    assert sign_of([1.9, 0.1, 0.0], 0.22, loss="rmse", unit="y") is not None
    assert sign_of([1.9, 0.1, 0.0], 0.23, loss="rmse", unit="y") is None


def test_the_limit_of_the_configuration_decides():
    assert sign_of([1.5, 0.5, 0.0], 0.01, limit=Limit(0.7, "[checks] leak_sign"))


def stop_before_agreement(_done, _total, label):
    if label == "agreement":
        raise KeyboardInterrupt


def test_an_audit_of_a_model_that_reads_a_copy_of_its_target_has_the_note():
    """The first column is the target but for noise of variance 1 in 401."""
    result = audited(linear_model(20, 1, 0), normal_data(20, 1, 0))
    assert finding_of(result, "leak_sign").measure == "x1"
    stopped = audited(
        linear_model(20, 1, 0), normal_data(20, 1, 0), on_step=stop_before_agreement
    )
    assert stopped.run.status == "interrupted"
    assert finding_of(stopped, "leak_sign").measure == "x1"
    weak = audited(linear_model(4, 1, 0), normal_data(4, 1, 0))
    assert "leak_sign" not in {f.check for f in weak.findings}
