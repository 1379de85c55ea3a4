"""Claims about random subspace ensembles: what fires each check, and what does not."""

from dataclasses import replace

import numpy as np
import pytest
from tests.known_answers import level_data
from tests.methods.importance.toys import of_line

from importance_audit.assess import checks
from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.methods.importance.refits import units_of
from importance_audit.methods.importance.subspaces import masks_of, members_of
from importance_audit.methods.known_answers import normal_data

OLS = "sklearn.linear_model.LinearRegression"
PERF, TWIN = "random_subspace", "random_subspace_permutation"


def audited(data, estimator=OLS, method=PERF, **options):
    """Return what one question about one model of these rows finds."""
    entry = {"method": method, "n_repeats": 10, **options}
    if data.task == "regression":
        entry["losses"] = ["mse"]
    model = {"name": "m", "estimator": estimator}
    config = parse_config({"models": [model], "importance": [entry]})
    return audit(replace(data, split="train"), data, config)


def finding(result, word):
    """Return severity, message and remedy of one check; None if it did not fire."""
    findings = [f for f in result.findings if f.check == word]
    return (
        (findings[0].severity, findings[0].message, findings[0].remedy)
        if findings
        else None
    )


def observed(result, word):
    """Return verdict and number of one check."""
    rows = result.checks[result.checks["check"] == word]
    return [(row.verdict, row.observed) for row in rows.itertuples()]


@pytest.mark.parametrize("method", [PERF, TWIN])
def test_least_squares_of_too_many_columns_is_told_how_many_it_can_bear(method):
    # 50 rows: 50 (1 - 0.98^50) = 31.79 distinct ones in the mean, 0.3 of them 9.54.
    data = normal_data(*[1] * 12, n_samples=50)
    assert finding(audited(data, method=method, n_drawn=9), "crowded_fits") is None
    assert finding(audited(data, method=method, n_drawn=10), "crowded_fits") == (
        "warning",
        "Each member fits LinearRegression to 10 columns, and a bootstrap sample has "
        "about 32 distinct rows out of 50. With 0.3 or more columns per row, "
        "out-of-bag performance is mostly chance.",
        "Set n_drawn to 9 or less, or choose a penalised base learner.",
    )


@pytest.mark.parametrize(
    "path", ["sklearn.linear_model.Ridge", "sklearn.tree.DecisionTreeRegressor"]
)
def test_what_shrinks_or_splits_is_not_judged_by_its_columns(path):
    data = normal_data(*[1] * 12, n_samples=50)
    assert observed(audited(data, path, n_drawn=11), "crowded_fits") == []


def test_the_columns_counted_are_those_the_estimator_sees():
    data, distinct = level_data(), 150 * (1 - (149 / 150) ** 150)
    result = audited(data, "sklearn.linear_model.LogisticRegression", n_drawn=2)
    assert observed(result, "crowded_fits") == []  # penalised
    regression = replace(data, task="regression", classes=(), y=np.arange(150.0))
    levels = sum(len(data.X[n].cat.categories) - 1 for n in data.X if n == "kind")
    width = (data.X.shape[1] - 1 + levels) / data.X.shape[1]
    ((_, share),) = observed(audited(regression, n_drawn=2), "crowded_fits")
    assert share == pytest.approx(2 * width / distinct, rel=1e-12)


def test_a_feature_hardly_drawn_is_named_as_such_and_not_as_zero():
    data = normal_data(3, 1, 0, 0)
    result = audited(data, n_repeats=4, n_drawn=1)
    (record,) = result.importances
    counts = masks_of(record.seed, 4, 1, 4).sum(axis=0)
    rare = {f"x{j + 1} ({n})" for j, n in enumerate(counts) if n < 2 or n > 2}
    severity, message, remedy = finding(result, "not_drawn")
    assert (severity, remedy) == ("warning", "Increase n_repeats.")
    names = ", ".join(repr(name) for name in sorted(rare))
    assert message == (
        "An importance requires at least two of the 4 members to draw the feature, and "
        "at least two to leave it out. These features have no importance and no rank, "
        "which is not an importance of 0 (in parentheses the number of members that "
        f"draw them): {names}."
    )
    assert np.isnan(record.rank).sum() == len(rare)


def test_a_feature_no_model_is_given_is_not_called_hardly_drawn():
    data = normal_data(3, 1, 0, 0)
    result = audited(replace(data, unread={"x4": ()}), n_repeats=2)
    _, message, _ = finding(result, "not_drawn")
    assert observed(result, "not_drawn") == [("warn", 3.0)]
    assert "x4" not in message


def test_features_not_above_zero_by_more_than_chance_are_named_with_their_z():
    data = normal_data(3, 1, 0, 0)
    (record,) = audited(data, n_repeats=40).importances
    z = np.array([2.5, -4.0, 1.9, 0.5])
    raw = np.tile([-1.0, 1.0], (4, 20)) + (z / np.sqrt(39))[:, np.newaxis]
    answers = checks.run(
        "ensemble",
        "m",
        importance=replace(record, raw=raw),
        model=of_line(data),
        data=data,
    )
    findings = [f for _, f in answers if f is not None]
    assert [(f.check, f.severity, f.message) for f in findings] == [
        (
            "no_better_than_average",
            "info",
            "The PERF of 'x3 (z = 1.9)', 'x4 (z = 0.5)', 'x2 (z = -4)' is not more "
            "than 2 standard errors above 0, so there is no evidence that they are "
            "better than the average feature. This does not mean that they are "
            "irrelevant.",
        )
    ]


def test_where_no_member_differs_no_feature_is_better_than_the_average_one():
    data = normal_data(3, 1, 0, 0)
    (record,) = audited(data, n_repeats=40).importances
    record = replace(record, raw=np.zeros_like(record.raw))
    (note,) = (
        f
        for _, f in checks.run(
            "ensemble", "m", importance=record, model=of_line(data), data=data
        )
        if f
    )
    assert note.check == "no_better_than_average"
    assert note.evidence["features"] == 4


def test_only_perf_is_a_contrast_with_the_average_feature():
    result = audited(normal_data(3, 1, 0, 0), method=TWIN)
    assert observed(result, "no_better_than_average") == []


def test_who_draws_what_is_known_without_a_fit():
    data = normal_data(*[1] * 7)
    model = of_line(data)
    units, _ = units_of(model, data, PERF)
    masks = members_of(model, units, PERF, 5, 20, 3, lambda m: m.mask.tolist())
    assert masks_of(5, 7, 3, 20).tolist() == list(masks)


def test_other_methods_are_no_ensembles():
    data = normal_data(2, 0)
    result = audited(data, method="permutation")
    of_ensembles = {"crowded_fits", "not_drawn", "no_better_than_average"}
    assert not of_ensembles & set(result.checks["check"])
