"""The numbers of R's hstats: H, curves, permutation and losses; every case."""

import re
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from tests.cases import for_each
from tests.engines.replaying import rows_of
from tests.methods.recorded import Cases, evaluated, recorded

from importance_audit.methods.effects.partial_dependence import (
    partial_dependence,
    single_curves,
)
from importance_audit.methods.effects.surface import joint_dependence
from importance_audit.methods.importance.h_statistic import at_rows, h_squared
from importance_audit.methods.importance.pd_importance import pd_importance
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.importance.sampled_rows import draw_rows
from importance_audit.methods.known_answers import linear_model
from importance_audit.records import losses
from importance_audit.records.losses import Loss, evaluate
from importance_audit.records.r_rng import RStream

NAMES = ["x1", "x2", "x3", "x4", "k", "g"]
EPS = 1e-10  # what hstats writes as 0
LOSSES = {
    "squared_error": "mse",
    "absolute_error": "mae",
    "logloss": "log_loss",
    "mlogloss": "log_loss",
    "poisson": "poisson_deviance",
    "gamma": "gamma_deviance",
}
LEFT_OUT = {
    "perm-classification-error": "hstats itself refuses this loss",
}
HSTATS = recorded("hstats")
CASES = Cases(HSTATS["cases"], LEFT_OUT)
of = CASES.matching


JOINTLY = [
    (case, kind, features)
    for name, case in CASES.items()
    if name.startswith("h-")
    for kind, size in (("pairwise", 2), ("threeway", 3))
    for features in combinations(case["result"][f"v_{kind}"], size)
]


def argument_of(case, option):
    """Return a number that the call of a case gives, or None."""
    match = re.search(rf"\b{option} = (\d+)", case["call"])
    return int(match[1]) if match else None


def rows(case):
    """Return the rows of a case, binned where hstats approximates by bins."""
    block = HSTATS["data"][case["data"]["see"]]
    columns = block["columns"]
    X = pd.DataFrame(columns)[NAMES].astype({"k": np.int64})
    X["g"] = X["g"].astype(pd.CategoricalDtype(block["levels"]["g"]))
    if "approx = TRUE" in case["call"]:
        for name in set(case["result"]["v"]) - {"g"}:
            X[name] = binned(X[name].to_numpy(), argument_of(case, "grid_size"))
    target = re.search(r"y = d\$(\w+)", case["call"])
    y = columns[target[1]] if target else np.zeros(len(X))
    if target and target[1] == "cl":
        y = [block["levels"]["cl"].index(level) for level in y]
    weights = columns["w"] if "d$w" in case["call"] else np.ones(len(X))
    return rows_of(X, np.array(y, dtype=float), np.array(weights, dtype=float))


def binned(values, n_bins):
    """Return the middles of the bins between quantiles (type 7) that values fall in."""
    edges = np.unique(np.quantile(values, np.linspace(0, 1, n_bins + 1)))
    bins = np.searchsorted(edges, values, side="right") - 1
    return ((edges[1:] + edges[:-1]) / 2)[np.minimum(bins, len(edges) - 2)]


def model_of(case, losses=()):
    """Return the formulas of a case as a model."""
    formulas = case["model"]
    is_many = isinstance(formulas, dict)
    each = list(formulas.values()) if is_many else [formulas]

    def predict(X):
        predictions = [evaluated(one, X) for one in each]
        return np.stack(predictions, axis=1) if is_many else predictions[0]

    facts = {"task": "multiclass", "classes": tuple(formulas)} if is_many else {}
    model = replace(linear_model(1), predict=predict, features=tuple(NAMES))
    return replace(model, losses=losses, **facts)


def values_of(numbers, features=()):
    """Return what hstats says of some features, (n_outputs,)."""
    if not isinstance(numbers, dict):
        return np.atleast_1d(numbers)
    name = ":".join(features)
    if "values" in numbers:
        return np.array(numbers["values"][(numbers["rows"] or [""]).index(name)])
    return np.atleast_1d(numbers[name])


def both(statistic, features=()):
    """Return numerator and denominator of hstats, (2, n_outputs), to be met."""
    parts = [values_of(statistic[kind], features) for kind in ("num", "denom")]
    return pytest.approx(np.stack(parts), rel=1e-9, abs=EPS)


def our_terms(case, features):
    """Return our numerator and denominator."""
    n_max = argument_of(case, "n_max") or 500
    seed = case["seed"] or 0
    drawn = draw_rows(rows(case), n_max, seed=seed, stream="hstats")
    dependence_on = partial(at_rows, model_of(case), drawn, scale="native")
    return h_squared(tuple(features), dependence_on, drawn.weights)


@of("h-")
def test_h_of_each_column_is_that_of_hstats(case):
    for feature in case["result"]["v"]:
        terms = our_terms(case, [feature])
        assert np.stack(terms) == both(case["result"]["h2_overall"], (feature,))


@for_each(JOINTLY, lambda each: f"{each[0]['id']} {each[2]}")
def test_h_of_two_and_of_three_columns_is_that_of_hstats(each):
    case, kind, features = each
    terms = our_terms(case, features)
    truth = both(case["result"][f"h2_{kind}"], features)
    assert np.stack(terms) == truth


@of("h-")
def test_what_the_others_do_not_show_is_the_importance_of_hstats(case):
    truth = case["result"]["pd_importance"]
    data = rows(case).with_groups({f: (f,) for f in case["result"]["v"]})
    options = {"seed": case["seed"] or 0, "n_rows": argument_of(case, "n_max") or 500}
    roots, shares = (
        pd_importance(
            model_of(case), data, stream="hstats", standardised=is_share, **options
        )[0][:, 0, :]
        for is_share in (False, True)
    )
    for feature, root, share in zip(data.groups, roots, shares, strict=True):
        squares = [values_of(truth[kind], (feature,)) for kind in ("num", "denom")]
        assert root**2 == pytest.approx(squares[0], rel=1e-9, abs=EPS)
        has_share = squares[1] > 0
        ratios = squares[0][has_share] / squares[1][has_share]
        assert share[has_share] ** 2 == pytest.approx(ratios, rel=1e-9, abs=EPS)
        assert np.isnan(share[~has_share]).all()


def rows_by(case, column):
    """Return the places of the rows by level, or by interval as R writes it.

    Intervals end at the quantiles that are values of rows (type 1). The first holds its
    lower end, and labels have three digits of the ends.
    """
    n_intervals = argument_of(case, "by_size")
    if n_intervals is None:
        return {k: np.flatnonzero(column == k) for k in column.cat.categories}
    shares = np.linspace(0, 1, n_intervals + 1)
    ends = np.unique(np.quantile(column, shares, method="inverted_cdf"))
    interval = np.maximum(np.searchsorted(ends, column), 1)
    words = [f"{end:.3g}" for end in ends]
    return {
        f"{'(' if k > 1 else '['}{words[k - 1]},{words[k]}]": places
        for k in range(1, len(ends))
        for places in [np.flatnonzero(interval == k)]
    }


def by_part(case, frame, data):
    """Yield the parts of the rows that hstats asks apart, with its answer for each."""
    by = re.search(r'BY = (?:d\$|")(\w+)', case["call"])
    if by is None:
        yield frame, data
        return
    parts = rows_by(case, data.X[by[1]])
    assert list(parts) == list(frame[by[1]].unique())
    for label, places in parts.items():
        part = frame[frame[by[1]] == label].drop(columns=by[1])
        yield part, data.part(data.features, places)


@of("pd-")
def test_partial_dependence_is_that_of_hstats(case):
    model = model_of(case)
    whole = pd.DataFrame(case["result"]["frame"])
    n_max = argument_of(case, "n_max") or 1000
    data = draw_rows(rows(case), n_max, seed=case["seed"] or 0, stream="hstats")
    for frame, part in by_part(case, whole, data):
        features = [column for column in frame if column in NAMES]
        points = tuple(frame[feature].unique() for feature in features)
        if len(features) == 1:
            (f,), (grid,) = features, points
            _, ours = partial_dependence(model, part, f, seed=0, grid=tuple(grid))
        else:
            ours = joint_dependence(model, part.X, part, features, points, "native")
            ours = ours.swapaxes(0, 1).reshape(len(frame), -1)  # R: first is fastest
        reference = frame.drop(columns=features).to_numpy()
        assert ours == pytest.approx(reference, rel=1e-12)


@of("ice")
def test_single_curves_are_those_of_hstats(case):
    data = rows(case)
    n_max = argument_of(case, "n_max")
    places = RStream(case["seed"]).sample(45, n_max) if n_max else np.arange(12)
    data = data.part(data.features, places)
    frame = pd.DataFrame(case["result"]["frame"])
    feature = frame.columns[1]
    grid = tuple(frame[feature].unique())
    curves = single_curves(model_of(case), data, feature, grid=grid)
    ours = np.concatenate([values for _, values in curves], axis=1)
    reference = frame.drop(columns=["obs_", feature]).to_numpy()
    assert ours.reshape(reference.shape) == pytest.approx(reference, rel=1e-12)


@of("perm-(?!multi|fun)")
def test_rises_in_loss_are_those_of_hstats_draw_by_draw(case):
    options, truth = case["options"], case["result"]
    v = options.get("v", NAMES)
    groups = v if isinstance(v, dict) else {name: (name,) for name in v}
    loss = LOSSES[options.get("loss", "squared_error")]
    raw, baseline = permutation(
        model_of(case, (loss,)),
        rows(case).with_groups({g: tuple(names) for g, names in groups.items()}),
        seed=case["seed"],
        stream="hstats",
        n_repeats=truth["m_rep"],
        n_rows=argument_of(case, "n_max"),
    )
    unit = baseline[0, 0] if options.get("normalize") else 1
    rises = (raw - baseline)[:, :, 0] / unit
    means = dict(zip(groups, rises.mean(axis=1), strict=True))
    assert means == pytest.approx(truth["statistic"], rel=1e-12, abs=1e-12)
    if truth["m_rep"] > 1:
        errors = rises.std(axis=1, ddof=1) / np.sqrt(truth["m_rep"])
        errors = dict(zip(groups, errors, strict=True))
        assert errors == pytest.approx(truth["SE"], rel=1e-12, abs=1e-12)


@of("perm-fun")
def test_a_loss_of_a_users_own_is_one_more_row_of_the_table(case, monkeypatch):
    def fourth_power(y, prediction, weights):
        return np.average((y - prediction) ** 4, weights=weights)

    row = Loss(fourth_power, ("regression",), "y^4", "", "")
    monkeypatch.setitem(losses.LOSSES, "fourth_power", row)
    model, truth = model_of(case, ("fourth_power",)), case["result"]
    data = rows(case).with_groups({n: (n,) for n in case["options"]["v"]})
    options = {"seed": case["seed"], "n_repeats": truth["m_rep"]}
    raw, baseline = permutation(model, data, stream="hstats", **options)
    means = dict(zip(data.groups, (raw - baseline)[:, :, 0].mean(axis=1), strict=True))
    assert means == pytest.approx(truth["statistic"], rel=1e-12)


@of("perm-multi")
def test_half_the_squared_errors_of_all_classes_is_our_brier_score(case):
    truth = case["result"]
    groups = {name: (name,) for name in truth["statistic"]["rows"]}
    data, options = rows(case).with_groups(groups), {"n_repeats": truth["m_rep"]}
    raw, baseline = permutation(
        model_of(case, ("brier",)), data, seed=case["seed"], stream="hstats", **options
    )
    reference = np.sum(truth["statistic"]["values"], axis=1) / 2
    assert (raw - baseline)[:, :, 0].mean(axis=1) == pytest.approx(reference, rel=1e-12)


@of("loss-")
def test_the_mean_loss_is_that_of_hstats(case):
    data = rows(case)
    loss = LOSSES[case["options"].get("loss", "squared_error")]
    by, truth = re.search(r"BY = d\$(\w+)", case["call"]), case["result"]
    everywhere = {"": np.arange(data.n_samples)}
    parts = rows_by(case, data.X[by[1]]) if by else everywhere
    mean_losses = {}
    for label, places in parts.items():
        part = data.part(data.features, places)
        prediction = model_of(case).predict(part.X)
        mean_losses[label] = evaluate((loss,), part.y, prediction, part.weights).item()
    assert mean_losses == pytest.approx(truth if by else {"": truth}, rel=1e-12)


def test_every_case_is_compared_or_left_out_for_a_reason():
    assert len(CASES) == 61
    CASES.assert_accounted_for()
