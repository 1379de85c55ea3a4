"""The numbers of R's xplainfi: permutation, conditional and relative importance."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.engines.replaying import rows_of as table_of
from tests.methods.recorded import Cases, evaluated, recorded

from importance_audit.methods.importance.conditional import (
    near_of,
    normal_of,
    replayed_given,
)
from importance_audit.methods.importance.drop_column import drop_column
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.importance.permutation_draws import BASELINE, DRAWS, Draw
from importance_audit.methods.importance.permuted_predictions import answers
from importance_audit.methods.known_answers import linear_model
from importance_audit.models.fit import fit
from importance_audit.models.section import ModelSection
from importance_audit.records.losses import evaluate
from importance_audit.records.r_rng import RStream

LEFT_OUT = {
    "pfi-folds-inference": "models refitted over folds in one stream, for a test",
    "cfi-knn-k1": (
        "a fault: of a single neighbour, row i, it draws one of the rows 1 to i"
    ),
    "cfi-knockoff-.*": "knockoffs, which no method here draws",
    "cpi-(gauss|knn)-(t|wilcoxon|binomial|fisher)-.*": "tests of the importances",
    "cpi-pkg-.*": "tests of the package cpi",
    "sage-.*": "Shapley values of the loss",
}
XPLAINFI, TIES = recorded("xplainfi"), recorded("xplainfi_ties")
CASES = Cases(XPLAINFI["cases"], LEFT_OUT)
matching = CASES.matching
SCORES = {
    "regr.mse": ("mse", 1),
    "regr.rmse": ("rmse", 1),
    "regr.mae": ("mae", 1),
    "regr.rsq": ("one_minus_r2", 0),
    "classif.logloss": ("log_loss", 1),
    "classif.auc": ("one_minus_auc", 0),
    "classif.ce": ("one_minus_accuracy", 1),
    "classif.acc": ("one_minus_accuracy", 0),
    "classif.bbrier": ("brier", 1),
    "classif.mbrier": ("brier", 2),
    "classif.mauc_au1u": ("one_minus_auc_ovo", 0),
}
"""By measure our loss, and what it is times it; 0: the measure is 1 less our loss."""


def model_of(case):
    """Return the formula of a case as a model with the loss of its measure."""
    text, names = case["model"], tuple(frame_of(case)[0])

    def softmax(X):
        scores = np.exp([evaluated(each, X) for each in text["softmax"].values()])
        return (scores / scores.sum(axis=0)).T

    task = {"reg": "regression", "num": "regression", "bin": "binary"}.get(
        case["data"]["see"], "multiclass"
    )
    is_many = task == "multiclass"
    return replace(
        linear_model(1),
        task=task,
        scale="response" if task == "regression" else "probability",
        predict=softmax if is_many else lambda X: evaluated(text, X),
        features=names,
        losses=(SCORES[case["options"]["measure"]][0],),
        classes=classes_of(case),
    )


def classes_of(case):
    return tuple(XPLAINFI["data"][case["data"]["see"]]["levels"].get("y", ()))


def frame_of(case):
    """Return the columns of a case and its target in numbers."""
    block = XPLAINFI["data"][case["data"]["see"]]
    X = pd.DataFrame(block["columns"])
    y = X.pop("y")
    if classes_of(case):
        y = y.map(classes_of(case).index)
    if "g" in X:
        X["g"] = pd.Categorical(X["g"], categories=block["levels"]["g"])
    return X, y.to_numpy(float)


def rows_of(case):
    """Return the rows of a case with what is asked of them."""
    X, y = frame_of(case)
    options = case["options"]
    rows = np.array(options.get("rows", range(1, len(X) + 1))) - 1
    groups = {
        name: (columns,) if isinstance(columns, str) else tuple(columns)
        for name, columns in options.get("groups", {}).items()
    }
    # Features in an order of their own have names in that order.
    asked = options.get("features", ())
    groups = groups or {f"{k}": (name,) for k, name in enumerate(asked)}
    task = "multiclass" if classes_of(case) else "regression"
    data = replace(table_of(X.iloc[rows], y[rows]), task=task)
    return data.with_groups(groups) if groups else data


def recorded_scores(case, data, key):
    """Return what is recorded of each group in each repeat, in the order of `data`."""
    scores = pd.DataFrame(case["result"]["scores"])
    table = scores.pivot(index="feature", columns="iter_repeat", values=key)
    names = [
        name if name in table.index else columns[0]
        for name, columns in data.groups.items()
    ]
    return table.loc[names].to_numpy(float)


def assert_replayed(case, data, raw, baseline):
    """Assert that losses are those of a case, and give its importances."""
    times = SCORES[case["options"]["measure"]][1]
    ours = [1 - x if times == 0 else times * x for x in (raw[..., 0], baseline[:, 0])]
    recorded = [
        recorded_scores(case, data, key) for key in ("score_post", "score_baseline")
    ]
    scale = abs(recorded[1]).max()
    for one, other in zip(ours, recorded, strict=True):
        allowed = 1e-12 * np.maximum(abs(other), scale)
        assert (abs(one - other) <= allowed).all(), abs(one - other).max()
    after, before = ours if times else ours[::-1]
    is_ratio = case["options"].get("relation") == "ratio"
    values = after / before if is_ratio else after - before
    importance = recorded_scores(case, data, "importance")
    np.testing.assert_allclose(values, importance, rtol=1e-12, atol=1e-12 * scale)
    of_feature = dict(zip(*case["result"]["importance"].values(), strict=True))
    names = [k if k in of_feature else v[0] for k, v in data.groups.items()]
    means = [of_feature[name] for name in names]
    np.testing.assert_allclose(
        values.mean(axis=1), means, rtol=1e-12, atol=1e-12 * scale
    )


def within_of(case):
    """Return the options that draw as the sampler of a case does."""
    sampler = case["options"].get("sampler", "")
    if "Gaussian" in sampler:
        return {"within": "gaussian"}
    if "KNN" in sampler:
        k = int(re.search(r"k = (\d+)L", sampler)[1])
        options = {"within": "neighbours", "convention": "xplainfi"}
        return options | {"n_neighbours": k}
    return {}


@matching(r"pfi-(?!groups).*|cfi-.*|cpi-(gauss|knn)-base")
def test_every_repeat_is_replayed(case):
    model, data = model_of(case), rows_of(case)
    raw, baseline = permutation(
        model,
        data,
        seed=case["seed"],
        stream="xplainfi",
        n_repeats=case["options"]["n_repeats"],
        **within_of(case),
    )
    assert_replayed(case, data, raw, baseline)


@pytest.mark.skipif(
    np.finfo(np.longdouble).nmant != 63,
    reason="R's long doubles, which decide, have 80 bits where this was recorded",
)
@Cases(TIES["cases"], {}).matching("")
def test_distances_of_whole_numbers_are_tied_where_they_are_in_r(case):
    X = pd.DataFrame(TIES["data"])
    y = X.pop("y").to_numpy()
    X["g"] = X["g"].astype("category")
    columns = case["columns"]
    data = rows_of({"data": {"see": "num"}, "options": {}})
    groups = {name: (name,) for name in columns}
    data = replace(data, X=X[columns], y=y, weights=np.ones(len(y)), groups=groups)
    model = replace(
        model_of(CASES["cfi-knn-1"]), predict=lambda X: evaluated(case["model"], X)
    )
    options = {"within": "neighbours", "n_neighbours": 4, "n_repeats": 2}
    options |= {"stream": "xplainfi", "convention": "xplainfi"}
    raw, baseline = permutation(model, data, seed=5, **options)
    np.testing.assert_allclose(raw.ravel(), case["score_post"], rtol=1e-12)
    np.testing.assert_allclose(baseline, case["score_baseline"], rtol=1e-12)


def losses_of(model, data, drawn, n_repeats):
    """Return the losses of given draws, as `permutation` measures them."""
    raw = np.empty((len(data.groups), n_repeats, 1))
    baseline = np.empty((n_repeats, 1))
    for draw, table, prediction in answers(model, data, drawn):
        loss = evaluate(model.losses, table.y, prediction, table.weights)
        if draw.what == BASELINE:
            baseline[draw.repeat] = loss
        else:
            raw[draw.what, draw.repeat] = loss
    return raw, baseline


@matching(r"rfi-.*")
def test_relative_importance_is_drawn_given_the_columns_it_is_relative_to(case):
    model, data, options = model_of(case), rows_of(case), case["options"]
    given, how = options["conditioning_set"], within_of(case)
    names, n_repeats = tuple(data.groups), options["n_repeats"]
    samplers = []
    for name in names:
        X = data.X[given].add_prefix("given ").assign(**{name: data.X[name]})
        few = replace(data, X=X, groups={name: (name,)})
        if how["within"] == "gaussian":
            samplers.append(normal_of(few, name))
        else:
            samplers.append(near_of(few, name, how["n_neighbours"], how["convention"]))
    drawn = DRAWS["xplainfi"](case["seed"], names, data.n_samples, n_repeats, None)
    drawn = replayed_given(drawn, samplers, names, case["seed"])
    assert_replayed(case, data, *losses_of(model, data, drawn, n_repeats))


@matching(r"pfi-groups-.*")
def test_the_columns_of_a_group_are_permuted_one_by_one_there_and_not_together(case):
    model, data = model_of(case), rows_of(case)
    n, n_repeats = data.n_samples, case["options"]["n_repeats"]
    r = RStream(case["seed"])
    drawn = [Draw(k, BASELINE, np.arange(n), np.arange(n)) for k in range(n_repeats)]
    for what, columns in enumerate(data.groups.values()):
        orders = [[r.sample(n) for _ in range(n_repeats)] for _ in columns]
        for k in range(n_repeats):
            values = tuple(
                data.X[name].iloc[order[k]].array
                for name, order in zip(columns, orders, strict=True)
            )
            drawn.append(Draw(k, what, np.arange(n), np.arange(n), values))
    assert_replayed(case, data, *losses_of(model, data, iter(drawn), n_repeats))
    together, _ = permutation(
        model, data, seed=case["seed"], stream="xplainfi", n_repeats=n_repeats
    )
    ours = recorded_scores(case, data, "score_post")
    assert (abs(together[:2, :, 0] / ours[:2] - 1) > 1e-3).all()


@matching(r"(loco|wvim)-.*")
def test_losses_of_refits_without_a_column_are_those_of_drop_column(case):
    options, (X, y) = case["options"], frame_of(case)
    whole = rows_of({**case, "options": {"groups": options.get("groups", {})}})
    train, test = (
        replace(
            whole,
            X=X.iloc[rows],
            y=y[rows],
            weights=np.ones(len(rows)),
            split=split,
        )
        for split in ("train", "test")
        for rows in [np.array(options[split]) - 1]
    )
    section = ModelSection(
        name="lm", estimator="sklearn.linear_model.LinearRegression", parameters={}
    )
    model = fit(section, train).with_losses((SCORES[options["measure"]][0],))
    raw, baseline = drop_column(model, test, seed=1, n_repeats=1)
    assert_replayed(case, test, raw, baseline)
