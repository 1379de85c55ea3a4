"""Claims about intervals over other rows, of models whose importances are known."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from tests.assess import row_coverage
from tests.assess.measured import audited

from importance_audit.assess.row_intervals import draw, row_intervals, standard_errors
from importance_audit.data.datasets import dataset
from importance_audit.records.errors import NotApplicable
from importance_audit.records.losses import LOSSES
from importance_audit.records.ranking import null_value_of
from importance_audit.records.streams import stream

NAMES = ("x1", "x2", "x3")
B = np.array([1.5, 0.5, 0.0])
REGRESSION = ("mse", "rmse", "mae", "one_minus_r2")
BINARY = ("log_loss", "brier", "one_minus_auc", "one_minus_balanced_accuracy")
TASKS = dict.fromkeys(REGRESSION, "regression") | dict.fromkeys(BINARY, "binary")


def made(task, n, seed, *, weighted=False, shift=0.0):
    """Return normal rows and the model that made their target."""
    draws = np.random.default_rng(seed)
    X = draws.normal(size=(n, 3))
    eta = X @ B + shift
    y = eta + draws.normal(size=n)
    if task == "binary":
        y = draws.random(n) < expit(eta)
    weights = draws.exponential(size=n) if weighted else None
    X = pd.DataFrame(X, columns=NAMES)
    data = dataset(X, y * 1, task=task, name="made", weights=weights)
    link = expit if task == "binary" else np.asarray
    losses = ("brier",) if task == "binary" else ("mse",)
    predict = lambda X: link(X.to_numpy() @ B + shift)  # noqa: E731
    return row_coverage.model_of(predict, data, losses), data


def measured(task, losses, n, seed, *, weighted=False, **options):
    """Return a record per loss, and what each row adds to it."""
    model, data = made(task, n, seed, weighted=weighted)
    return row_coverage.measured(model.with_losses(losses), data, seed=seed, **options)


def losses_of_all_pairs(loss, model, data, all_counts):
    """Return two losses for each number of times that rows count: x1 permuted, and not.

    Slow and plain: the model is asked about every row with the value of every other.
    """
    n = data.n_samples
    row, lender = np.divmod(np.arange(n * n), n)
    X = data.X.iloc[row].assign(x1=data.X["x1"].to_numpy()[lender])
    of_pairs, of_rows = model.predict(X), model.predict(data.X)
    y, function = data.y[row], LOSSES[loss].function
    for counts in all_counts:
        weights = data.weights * counts
        permuted = function(y, of_pairs, weights[row] * counts[lender])
        yield permuted, function(data.y, of_rows, weights)


@pytest.mark.slow
@pytest.mark.parametrize("loss", [*REGRESSION, *BINARY])
def test_the_error_is_that_of_the_bootstrap_over_all_pairs(loss):
    """Of few rows the bootstrap is no straight line: it goes a part of the way."""
    n, task, share = 90, TASKS[loss], 0.05
    model, data = made(task, n, 5, weighted=True)
    rows = np.random.default_rng(8).integers(n, size=(400, n))
    counts = [1 + share * (np.bincount(each, minlength=n) - 1) for each in rows]
    permuted, as_it_is = np.transpose([*losses_of_all_pairs(loss, model, data, counts)])
    values = {"difference": permuted - as_it_is, "ratio": permuted / as_it_is}
    for form in values:
        (record,), terms = measured(
            task, (loss,), n, 5, form=form, weighted=True, n_repeats=400
        )
        of_rows, error = terms.terms[loss][0], standard_errors(record, terms)[0]
        if form == "ratio":
            of_rows = of_rows - (record.mean[0] - 1) * terms.of_baseline(loss)
            of_rows = of_rows / record.baseline.mean()
        noiseless = error * np.sqrt((n - 1) / n) / np.sqrt(np.square(of_rows).sum())
        linear = np.array(counts) @ of_rows * noiseless
        assert np.std(linear) == pytest.approx(np.std(values[form]), rel=0.05), form


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"n_repeats": 2},
        {"n_repeats": 4, "n_rows": 100},
        {"n_repeats": 3, "perturbation": "resample"},
        {"n_repeats": 3, "form": "ratio"},
        {"n_repeats": 3, "weighted": True},
        {"n_repeats": 3, "stream": "DALEX", "n_rows": 100},
        {"n_repeats": 3, "stream": "hstats", "n_rows": 100},
    ],
    ids=str,
)
def test_the_error_is_how_far_an_importance_moves_from_table_to_table(options):
    """Whatever is drawn, and however few repeats there are to tell it by."""
    means, squares = [], []
    for seed in range(300):
        records, terms = measured("regression", ("mse", "mae"), 200, seed, **options)
        means.append([record.mean[:2] for record in records])
        squares.append([standard_errors(r, terms)[:2] ** 2 for r in records])
    expected = np.std(means, axis=0)  # known to 4 %
    assert np.sqrt(np.mean(squares, axis=0)) == pytest.approx(expected, rel=0.15)


@pytest.mark.parametrize("seed", [1, 2])  # the second cannot tell x2 from nothing
@pytest.mark.parametrize("loss", ["one_minus_auc", "log_loss"])
def test_every_form_tells_the_same_features_from_nothing_and_ranks_them_alike(
    loss, seed
):
    """Of 150 rows about 20 are positive, so that the loss as it is moves by a third."""
    model, data = made("binary", 150, seed, shift=-2.6)
    model, told = model.with_losses((loss,)), []
    for form in ("difference", "raw", "ratio"):
        (record,), terms = row_coverage.measured(
            model, data, seed=seed, form=form, n_repeats=40
        )
        nothing, rows = null_value_of(record), intervals(record, terms)
        names = ("rank_low", "rank_high", "top_k_share", "lead_share")
        ends = [(row["low"] > nothing, row["high"] < nothing) for row in rows]
        told.append(
            [(*end, *map(row.get, names)) for end, row in zip(ends, rows, strict=True)]
        )
    assert told[0] == told[1] == told[2]


@pytest.mark.parametrize("seed", [1, 2])
def test_the_interval_of_a_ratio_is_that_of_the_bootstrap_over_all_pairs(seed):
    model, data = made("binary", 150, seed, shift=-2.6)
    model = model.with_losses(("log_loss",))
    rows = np.random.default_rng(8).integers(150, size=(400, 150))
    counts = [np.bincount(each, minlength=150) for each in rows]
    losses = np.array([*losses_of_all_pairs("log_loss", model, data, counts)])
    ends = np.quantile(losses[:, 0] / losses[:, 1], [0.025, 0.975])
    (record,), terms = row_coverage.measured(
        model, data, seed=seed, form="ratio", n_repeats=40
    )
    row = intervals(record, terms)[0]
    assert [row["low"], row["high"]] == pytest.approx(ends, rel=0.1)


def test_a_row_counts_as_one_that_lends_its_values_too():
    """Of a linear model the rows' own losses alone have half the deviation."""
    (record,), terms = measured("regression", ("mse",), 4000, 1, n_repeats=50)
    b, n = B[0], 4000
    # Of the pair the model's error e and the values x, x' of variance 1 make
    # (e + b(x - x'))^2 - e^2; its two projections have b^2 (x^2 - 1) + 2 b e x, and
    # b^2 (x'^2 - 1).
    error = np.sqrt((4 * b**4 * 2 + 4 * b**2) / n)
    assert standard_errors(record, terms)[0] == pytest.approx(error, rel=0.05)


def test_after_a_single_repeat_the_rows_spread_as_they_are():
    (record,), terms = measured("regression", ("mse",), 50, 1, n_repeats=1)
    error = terms.terms["mse"].std(axis=1, ddof=1) / np.sqrt(50)
    assert standard_errors(record, terms) == pytest.approx(error, rel=1e-12)


def test_what_the_model_does_not_read_has_an_interval_of_width_zero():
    for form, nothing in (("difference", 0.0), ("ratio", 1.0)):
        (record,), terms = measured("binary", ("log_loss",), 50, 3, form=form)
        row = intervals(record, terms)[2]
        assert (row["std_error"], row["low"], row["high"]) == (0, nothing, nothing)


def intervals(record, terms, **more):
    usual = {"record": 0, "resamples": 1000, "top_k": 1, "seed": 1}
    return row_intervals(record, terms, **usual | more)


@pytest.mark.slow
@pytest.mark.parametrize("task", list(row_coverage.LOSSES))
def test_ninety_five_of_a_hundred_intervals_hold_the_true_importance(task):
    """Over more tables: python -m tests.assess.row_coverage 1000."""
    shares = row_coverage.coverage(task, 200, resamples=400)
    error = np.sqrt(0.05 * 0.95 / 200)
    assert all(abs(share - 0.95) < 3 * error for share in shares.values()), shares


def test_ranks_and_leads_follow_from_the_same_resamples():
    (record,), terms = measured("regression", ("mse",), 300, 2, n_repeats=5)
    rows = intervals(record, terms, top_k=2)
    ranks = [(row["rank_low"], row["rank_high"]) for row in rows]
    assert ranks == [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]
    assert [row["lead_share"] for row in rows] == [1.0, 0.0, 0.0]
    assert [row["top_k_share"] for row in rows] == [1.0, 1.0, 0.0]
    assert {row["route"] for row in rows} == {"resampled"}


def test_a_coin_decides_between_two_features_that_are_alike():
    of_rows = np.random.default_rng(1).normal(size=(2, 500))
    of_rows -= of_rows.mean(axis=1, keepdims=True)
    _, values = draw(np.zeros(2), of_rows, np.ones(2), resamples=4000, seed=1)
    assert (values[:, 0] > values[:, 1]).mean() == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize("resamples", [7, 20, 47])
def test_the_draws_are_sums_over_the_rows_that_were_drawn(resamples):
    terms = np.random.default_rng(1).normal(size=(3, 60))
    error = np.sqrt(np.square(terms).sum(axis=1)) / 60
    values = draw(np.arange(3.0), terms, error, resamples=resamples, seed=4)[1]
    generator = stream(4, "row intervals", "", 0)
    rows = [generator.integers(60, size=60) for _ in range(resamples)]
    expected = [np.arange(3.0) + terms[:, drawn].sum(axis=1) / 60 for drawn in rows]
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-14)


def test_many_rows_are_drawn_from_their_covariance(monkeypatch):
    terms = np.random.default_rng(1).normal(size=(3, 400))
    terms[1] += terms[0]
    error = np.sqrt(np.square(terms).sum(axis=1)) / 400
    route, by_counts = draw(np.zeros(3), terms, error, resamples=4000, seed=1)
    monkeypatch.setattr("importance_audit.assess.row_intervals.MOST_COUNTS", 0)
    normal, by_covariance = draw(np.zeros(3), terms, error, resamples=4000, seed=1)
    assert (route, normal) == ("resampled", "normal")
    expected = terms @ terms.T / 400**2
    for draws in (by_counts, by_covariance):
        off = np.cov(draws.T) - expected
        assert abs(off).max() < 0.08 * expected.max()  # 4 000 resamples: 2 %


@pytest.mark.parametrize(
    ("loss", "within", "reason"),
    [
        ("one_minus_pr_auc", "none", "of single rows to 1 − PR AUC is not known"),
        ("mse", "leaves", "other rows would give other leaves"),
        ("mse", "gaussian", "other rows would give another one"),
        ("mse", "neighbours", "a row would have other neighbours among other rows"),
    ],
)
def test_why_there_is_no_interval_is_said(loss, within, reason):
    task = "regression" if loss == "mse" else "binary"
    (record,), terms = measured(task, (loss,), 200, 1, n_repeats=2, within=within)
    with pytest.raises(NotApplicable, match=reason):
        intervals(record, terms)


def test_an_infinite_loss_has_no_interval():
    _, data = made("binary", 50, 1)
    step = row_coverage.model_of(
        lambda X: (X["x1"] > 0).to_numpy(dtype=float), data, ("log_loss",)
    )
    entry = {"method": "permutation", "n_repeats": 3, "losses": ["log_loss"]}
    row = audited(step, data, entry).row_intervals.iloc[0]
    assert np.isnan(row["std_error"])
    assert row["route"] == ""


ENTRY = {"method": "permutation", "n_repeats": 3}


def test_intervals_cost_no_prediction_and_change_no_importance():
    model, data = made("regression", 80, 1)
    calls = []

    def predict(X):
        calls.append(len(X))
        return model.predict(X)

    counting = row_coverage.model_of(predict, data, ("mse", "mae"))
    with_them = audited(counting, data, ENTRY)
    n_calls = len(calls)
    without = audited(counting, data, ENTRY, stability={"row_resamples": 0})
    assert len(calls) == 2 * n_calls
    for one, other in zip(with_them.importances, without.importances, strict=True):
        assert np.array_equal(one.raw, other.raw)
    assert list(with_them.row_intervals["record"]) == [0, 0, 0]
    assert without.row_intervals.empty


def test_groups_and_every_loss_have_their_intervals():
    model, data = made("regression", 80, 1)
    entries = [ENTRY | {"losses": ["mse", "mae"]}, ENTRY | {"of": "groups"}]
    rows = audited(model, data, *entries, groups={"both": ["x1", "x2"]}).row_intervals
    assert list(rows["record"]) == [0, 0, 0, 1, 1, 1, 2]
    assert rows["feature"].iloc[-1] == "both"
    assert (rows["low"] <= rows["high"]).all()
