"""The numbers of R's iml: importance, H, partial dependence, ALE, ICE; every case."""

import subprocess
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from tests.engines.lecuyer import substreams
from tests.methods.recorded import Cases, evaluated, recorded

from importance_audit.methods.effects.ale import ale
from importance_audit.methods.effects.partial_dependence import (
    partial_dependence,
    single_curves,
)
from importance_audit.methods.effects.surface import joint_dependence
from importance_audit.methods.importance.h_statistic import h_statistic
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.importance.permutation_draws import BASELINE, DRAWS, Draw
from importance_audit.methods.known_answers import linear_model, normal_data

NAMES = ["x1", "x2", "x3", "k", "g"]
LEFT_OUT = {
    "imp-ce": "iml compares probabilities with classes, so every row counts as wrong",
    "interaction-(all|pair)-grid": (
        "H at 12 drawn rows of means over all 50; here both are of the same rows"
    ),
}
IML = recorded("iml")
CASES = Cases(IML["cases"], LEFT_OUT)
of = CASES.matching
DATA = IML["data"]["d"]
LOSSES = {"rmse": "rmse", "mse": "mse", "mae": "mae", "logLoss": "log_loss"}


def model_of(text, losses=()):
    """Return a formula of the columns as a model."""
    is_event = text.startswith("1/(1 + exp")
    facts = {"task": "binary", "classes": ("no", "yes")} if is_event else {}
    predict = partial(evaluated, text)
    model = replace(linear_model(1), predict=predict, features=tuple(NAMES), **facts)
    return replace(model, losses=losses)


def rows(n_rows=50, target="y"):
    """Return the first rows of the data of all cases."""
    X = pd.DataFrame(DATA["columns"])[NAMES]
    X["g"] = X["g"].astype(pd.CategoricalDtype(DATA["levels"]["g"]))
    y = np.array(DATA["columns"][target], dtype=float)[:n_rows]
    data = replace(normal_data(), X=X[:n_rows], y=y, weights=np.ones(n_rows))
    return data.with_groups({name: (name,) for name in X})


def case_parts(case):
    """Return the model, the rows and the options of a case, and what iml says."""
    options = case["options"]
    question = model_of(case["model"]), rows(options.get("rows", 50)), options
    return *question, case["result"]["results"]


@of(r"effect-pdp-(?!two|ice)")
def test_partial_dependence_is_that_of_iml(case):
    model, data, options, truth = case_parts(case)
    feature = options["feature"]
    is_even = feature in ("x1", "x3") and not {"center.at", "grid.points"} & {*options}
    points = {"n_grid": options.get("grid.size", 20)}
    points = points if is_even else {"grid": tuple(truth[feature])}
    grid, values = partial_dependence(model, data, feature, seed=1, **points)
    if "center.at" in options:
        values = values - values[list(grid).index(options["center.at"])]
    reference = dict(zip(truth[feature], truth[".value"], strict=True))
    if feature != "g":
        reference = dict(zip(grid, reference.values(), strict=True))
    ours = dict(zip(grid, values[:, 0], strict=True))
    assert ours == pytest.approx(reference, rel=1e-12, abs=1e-12)
    assert feature == "g" or grid == pytest.approx(np.array(truth[feature]), rel=1e-12)


@of("effect-pdp-two")
def test_partial_dependence_on_two_is_that_of_iml(case):
    model, data, options, truth = case_parts(case)
    features = tuple(options["feature"])
    points = tuple(pd.unique(pd.Series(truth[feature])) for feature in features)
    surface = joint_dependence(model, data.X, data, features, points, "native")
    ours = surface[:, :, 0].T.ravel()  # the first is fastest in R
    assert ours == pytest.approx(np.array(truth[".value"]), rel=1e-12)


@of("effect-ice|effect-pdp-ice")
def test_single_curves_and_their_mean_are_those_of_iml(case):
    model, data, options, truth = case_parts(case)
    feature, frame = options["feature"], pd.DataFrame(truth)
    points = {} if feature == "g" else {"n_grid": options["grid.size"]}
    ((grid, values),) = single_curves(model, data, feature, **points)
    by_row = frame[frame[".type"] == "ice"].pivot(
        index=feature, columns=".id", values=".value"
    )
    assert values[:, :, 0] == pytest.approx(by_row.loc[grid].to_numpy(), rel=1e-12)
    if "pdp" in case["id"]:
        mean = frame[frame[".type"] == "pdp"].set_index(feature)[".value"]
        assert values[:, :, 0].mean(axis=1) == pytest.approx(
            mean[grid].to_numpy(), rel=1e-12
        )


@of("effect-ale")
def test_accumulated_local_effects_are_those_of_iml(case):
    model, data, options, truth = case_parts(case)
    feature, points = options["feature"], {}
    if feature == "g":  # iml orders levels by how alike their rows are
        own_order = data.X["g"].cat.reorder_categories(truth["g"])
        data = replace(data, X=data.X.assign(g=own_order))
    else:
        points = {"grid": tuple(truth[feature])}
    grid, values = ale(model, data, feature, seed=1, **points)
    ours, expected = values[:, 0], np.array(truth[".value"])
    # Where iml is told the zero, or rows lie outside the grid, its zero is another.
    if {"center.at", "grid.points"} & set(options):
        ours, expected = ours - ours[0], expected - expected[0]
    assert list(grid) == truth[feature]
    assert ours == pytest.approx(expected, rel=1e-12, abs=1e-14)


@of("interaction")
def test_h_is_that_of_iml(case):
    model, data, _, truth = case_parts(case)
    names = [tuple(pair.split(":")) for pair in truth[".feature"]]
    data = data.with_groups({":".join(columns): columns for columns in names})
    raw, _ = h_statistic(model, data, seed=1, standardised=True)
    reference = np.array(truth[".interaction"], dtype=float)
    assert raw[:, 0, 0] == pytest.approx(reference, rel=1e-12, abs=1e-12, nan_ok=True)


def iml_draws(seed, names, n, n_repeats, n_rows):
    """Yield the draws of iml: a substream per feature, all its repeats in turn.

    iml exchanges all other columns and the target, and leaves the feature: the same
    rows in another order.
    """
    assert n_rows is None
    for repeat in range(n_repeats):
        yield Draw(repeat, BASELINE, np.arange(n), np.arange(n))
    for what, r in enumerate(substreams(seed, len(names))):
        for repeat in range(n_repeats):
            yield Draw(repeat, what, np.arange(n), np.argsort(r.sample(n)))


def replayed(case, monkeypatch):
    """Return our losses by group, (n_repeats,), and with nothing permuted."""
    monkeypatch.setitem(DRAWS, "iml", iml_draws)
    options, text = case["options"], case["model"]
    target = {"imp-name-logLoss": "b", "imp-zero-error": "prediction"}.get(case["id"])
    data = rows(target=target if target == "b" else "y")
    if target == "prediction":
        data = replace(data, y=model_of(text).predict(data.X))
    groups = options.get("features") or {name: [name] for name in NAMES}
    data = data.with_groups({group: tuple(names) for group, names in groups.items()})
    loss = LOSSES[options["loss"].removeprefix("loss_")]
    raw, baseline = permutation(
        model_of(text, (loss,)),
        data,
        seed=case["seed"],
        stream="iml",
        n_repeats=options["n.repetitions"],
    )
    return dict(zip(data.groups, raw[:, :, 0], strict=True)), baseline[0, 0]


@of("imp-")
def test_importances_of_iml_are_replayed(case, monkeypatch):
    result = case["result"]
    table = pd.DataFrame(result["results"]).set_index("feature")
    ours, unmoved = replayed(case, monkeypatch)
    assert unmoved == pytest.approx(result["original_error"], rel=1e-12, abs=1e-15)
    if "raw_losses" in result:
        losses = np.concatenate(list(ours.values()))
        assert losses == pytest.approx(np.array(result["raw_losses"]), rel=1e-12)
    for group, losses in ours.items():
        is_ratio = result["compare"] == "ratio"
        scores = losses / unmoved if is_ratio else losses - unmoved
        columns = {0.05: "importance.05", 0.5: "importance", 0.95: "importance.95"}
        for q, column in columns.items():
            truth = table.loc[group, column]
            assert np.quantile(scores, q) == pytest.approx(truth, rel=1e-12, abs=1e-13)
        error = table.loc[group, "permutation.error"]
        assert np.median(losses) == pytest.approx(error, rel=1e-12)


@pytest.mark.needs_r
def test_the_streams_of_future_are_those_of_r_itself():
    code = """
    set.seed(42, "Mersenne-Twister", "Inversion", "Rejection")
    RNGkind("L'Ecuyer-CMRG")
    stream <- .Random.seed
    for (i in 1:3) {
      assign(".Random.seed", parallel::nextRNGSubStream(stream), globalenv())
      cat(sample(300, 40), sprintf("%a", runif(3)), "\\n")
      stream <- parallel::nextRNGStream(stream)
    }
    """
    command = ["Rscript", "--vanilla", "-e", code]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    for r, line in zip(substreams(42, 3), answer.stdout.splitlines(), strict=True):
        words = line.split()
        assert (r.sample(300, 40) + 1).tolist() == [int(word) for word in words[:40]]
        uniforms = [r.uniform() for _ in range(3)]
        assert uniforms == [float.fromhex(word) for word in words[40:]]


def test_every_case_is_compared_or_left_out_for_a_reason():
    assert len(CASES) == 38
    CASES.assert_accounted_for()
