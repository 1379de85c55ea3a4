"""Claims about rows told apart: every row once, and numbers that rows alone give."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import mean_absolute_error, mean_squared_error, roc_auc_score
from tests.assess.measured import importance_of

import importance_audit
from importance_audit.assess.segments import (
    LEAST_ROWS,
    MOST_SEGMENTS,
    importance_rows,
    performance_rows,
    segments_of,
)
from importance_audit.data.datasets import dataset
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.known_answers import linear_model
from importance_audit.models.fit import wrap
from importance_audit.records.errors import DataError


def rows_of(column, **options):
    """Return rows that a column tells apart, of one feature without a meaning."""
    n = len(column)
    X = pd.DataFrame({"x1": np.arange(n, dtype=float)})
    usual = {"task": "regression", "name": "made", "segments": {"column": column}}
    return dataset(X, np.zeros(n), **(usual | options))


def made(n=600, seed=0, *, task="regression", weights=None):
    """Return rows in which x1 matters in a and c, and x2 in b, and their model."""
    draws = np.random.default_rng(seed)
    X = pd.DataFrame(draws.normal(size=(n, 2)), columns=["x1", "x2"])
    X["which"] = draws.choice(["a", "b", "c"], n, p=[0.5, 0.4, 0.1])
    X["row"] = np.arange(n)

    def predict(X):
        eta = np.where(X["which"] == "b", 2 * X["x2"], X["x1"])
        return eta if task == "regression" else 1 / (1 + np.exp(-eta))

    mean = predict(X)
    y = mean + draws.normal(size=n)
    if task == "binary":
        y = (draws.random(n) < mean).astype(int)
    data = dataset(X, y, task=task, name="made", weights=weights, segments=["which"])
    data = data.without_asking(["row"])
    losses = ("mse", "mae", "rmse") if task == "regression" else ("one_minus_auc",)
    facts = {"task": task, "features": ("x1", "x2", "which")}
    if task == "binary":
        facts["classes"] = data.classes
    return wrap(predict, name="model", **facts).with_losses(losses), data


def measured(model, data, **options):
    """Return a row per segment, loss and feature, with the loss in it."""
    segments = [segment for segment in segments_of(data) if segment.is_judged]
    answer = permutation(
        *(model, data),
        segments=[segment.rows for segment in segments],
        **{"seed": 1, "n_repeats": 4, **options},
    )
    (raw, baseline), parts = answer, answer.segment_losses
    rows = []
    for k, loss in enumerate(model.losses):
        record = importance_of(raw[..., k], baseline[:, k], data=data, loss=loss)
        rows += [
            {**row, "loss": loss, "overall": record.mean[record.features.index(name)]}
            for row in importance_rows(record, parts, segments, record=0)
            for name in [row["feature"]]
        ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["b", "a", None, "b"] * 20),
        pd.Series([f"level {n % 3000}" for n in range(6000)]),
        pd.Series([np.nan, *np.linspace(0, 1e-7, 300), np.nan]),
        pd.Series([0] * 90 + list(range(30))),
        pd.Series([True, False, True] * 9),
        pd.Series([np.nan] * 40),
        pd.Series(pd.date_range("2019-11-01", periods=50, freq="W")),
        pd.Series([np.inf, -np.inf, *range(40)]),
    ],
    ids="texts levels tiny ties flags empty dates infinite".split(),
)
def test_every_row_is_in_one_segment_of_a_column(column):
    segments = segments_of(rows_of(column))
    places = np.concatenate([segment.rows for segment in segments])
    assert sorted(places) == list(range(len(column)))
    assert len({(s.kind, s.level) for s in segments}) == len(segments)
    assert len(segments) <= MOST_SEGMENTS + 1
    for segment in segments:
        assert segment.is_judged is (len(segment.rows) >= LEAST_ROWS)
        assert column.iloc[segment.rows].isna().all() == (segment.kind == "missing")


def test_numbers_are_cut_at_their_quartiles_and_named_by_what_is_in_them():
    found = segments_of(rows_of(pd.Series(range(1, 101))))
    ends = ["1 to 25", "26 to 50", "51 to 75", "76 to 100"]
    assert [(s.kind, s.level, len(s.rows)) for s in found] == [
        ("range", text, 25) for text in ends
    ]


def test_a_few_numbers_are_segments_each_and_dates_go_by_year():
    found = segments_of(rows_of(pd.Series([10, 2, 10, 2, 3] * 10)))
    assert [s.level for s in found] == ["2", "3", "10"]
    days = pd.to_datetime(["2021-05-01", "2019-01-31", None, "2021-12-31"])
    found = segments_of(rows_of(pd.Series(days)))
    assert [(s.kind, s.level) for s in found] == [
        *(("level", "2019"), ("level", "2021"), ("missing", ""))
    ]


def test_rare_levels_are_one_segment_that_says_how_many_they_are():
    column = pd.Series([f"often {n % 19:02}" for n in range(950)] + list("pqrs") * 10)
    *common, rest = segments_of(rows_of(column))
    assert [s.level for s in common] == [f"often {n:02}" for n in range(19)]
    assert (rest.kind, rest.level, len(rest.rows)) == ("others", "4", 40)


def test_rows_without_weight_do_not_make_a_segment_one_to_judge():
    column = pd.Series(["a"] * 40)
    for n_heavy in (29, 30):
        weights = [1.0] * n_heavy + [0.0] * (40 - n_heavy)
        (segment,) = segments_of(rows_of(column, weights=weights))
        assert segment.is_judged is (n_heavy == 30)


@pytest.mark.parametrize("weighted", [False, True])
def test_losses_are_those_of_the_rows_of_the_segment_alone(weighted):
    w = np.random.default_rng(3).exponential(size=600) if weighted else None
    model, data = made(weights=w)
    prediction = model.predict(data.X)
    found = performance_rows(model, data, prediction, segments_of(data))
    frame = pd.DataFrame(found["segment_performance"]).set_index(["level", "loss"])
    for level in "abc":
        at = (data.X["which"] == level).to_numpy()
        own = data.y[at], prediction[at], data.weights[at]
        mse = mean_squared_error(*own[:2], sample_weight=own[2])
        assert frame.loc[(level, "mse"), "value"] == pytest.approx(mse)
        assert frame.loc[(level, "rmse"), "value"] == pytest.approx(mse**0.5)
        mae = mean_absolute_error(*own[:2], sample_weight=own[2])
        assert frame.loc[(level, "mae"), "value"] == pytest.approx(mae)
        assert frame.loc[(level, "mae"), "rows"] == at.sum()
        if not weighted:
            error = stats.sem(np.abs(own[0] - own[1]))
            assert frame.loc[(level, "mae"), "std_error"] == pytest.approx(error)
    means = pd.DataFrame(found["segment_calibration"]).set_index("level")
    for level in "abc":
        at = (data.X["which"] == level).to_numpy()
        own = means.loc[level]
        of = {"weights": data.weights[at]}
        assert own["predicted"] == pytest.approx(np.average(prediction[at], **of))
        assert own["observed"] == pytest.approx(np.average(data.y[at], **of))
        if not weighted:
            residual = data.y[at] - prediction[at]
            t = stats.t.interval(
                0.95, at.sum() - 1, residual.mean(), stats.sem(residual)
            )
            ends = np.array([own["low"], own["high"]]) - own["predicted"]
            assert ends == pytest.approx(t)


def test_a_segment_of_few_rows_is_counted_and_has_no_numbers():
    model, data = made(n=100)
    found = performance_rows(model, data, model.predict(data.X), segments_of(data))
    frame = pd.DataFrame(found["segment_performance"])
    few = frame[frame["level"] == "c"]
    assert (few["rows"] < LEAST_ROWS).all()
    assert few[["value", "std_error"]].isna().all(axis=None)
    assert "c" not in {row["level"] for row in found["segment_calibration"]}


@pytest.mark.parametrize("stream", ["numpy", "DALEX"])
def test_an_importance_is_the_mean_of_those_of_the_segments(stream):
    model, data = made()
    frame = measured(model, data, stream=stream)
    shares = data.X["which"].value_counts(normalize=True)
    for (loss, _), rows in frame.groupby(["loss", "feature"]):
        if loss != "rmse":  # which is no mean over rows
            total = (rows["mean"] * rows["level"].map(shares).astype(float)).sum()
            assert total == pytest.approx(rows["overall"].iloc[0])


def test_a_feature_matters_where_the_model_reads_it_and_is_zero_elsewhere():
    model, data = made()
    frame = measured(model, data).set_index(["loss", "level", "feature"])["mean"]
    for loss in model.losses:
        for level, read, unread in (("a", "x1", "x2"), ("b", "x2", "x1")):
            assert frame[loss, level, unread] == 0.0
            assert frame[loss, level, read] > 0.1


@pytest.mark.parametrize("n_rows", [None, 400])
def test_an_importance_is_what_rows_of_the_segment_lose_when_asked_again(n_rows):
    model, data = made(task="binary")
    asked = []
    spied = replace(model, predict=lambda X: asked.append(X) or model.predict(X))
    frame = measured(spied, data, n_rows=n_rows).set_index(["level", "feature"])

    def auc(X, level):
        at = (data.X["which"][X["row"]] == level).to_numpy()
        return roc_auc_score(data.y[X["row"]][at], model.predict(X)[at])

    found = {}
    for X in asked:
        own = data.X.loc[X["row"]].reset_index(drop=True)
        moved = [
            name for name in X if (X[name].to_numpy() != own[name].to_numpy()).any()
        ]
        if not moved:
            baseline = X
        for level in "ab" if moved else "":
            change = auc(baseline, level) - auc(X, level)
            found.setdefault((level, *moved), []).append(change)
    assert {len(changes) for changes in found.values()} == {4}
    for key, changes in found.items():
        assert frame["mean"][key] == pytest.approx(np.mean(changes))


def test_where_the_share_of_a_row_is_not_known_there_is_no_standard_error():
    model, data = made(task="binary")
    model = replace(model, losses=("one_minus_pr_auc",))
    frame = measured(model, data)
    assert frame["mean"].notna().all()
    assert frame["std_error"].isna().all()


def test_a_repeat_without_a_row_of_a_segment_leaves_no_number_of_it():
    model, data = made()
    few = np.arange(600) < 40
    data = replace(data, segments=pd.DataFrame({"few": few}))
    frame = measured(model, data, n_rows=5)
    own = frame[frame["level"] == "true"]
    assert own[["mean", "std_error"]].isna().all(axis=None)


@pytest.mark.slow
def test_intervals_hold_the_importance_over_other_rows_as_often_as_they_say():
    model = linear_model(1.0, 0.5)
    held = []
    for seed in range(150):
        draws = np.random.default_rng(seed)
        X = pd.DataFrame(draws.normal(size=(1200, 2)), columns=["x1", "x2"])
        which = np.arange(1200) < 120
        data = dataset(
            *(X, X["x1"] + 0.5 * X["x2"] + draws.normal(size=1200)),
            **{"task": "regression", "name": "made", "segments": {"which": which}},
        )
        frame = measured(model, data, seed=seed)
        frame = frame[frame["level"] == "true"].set_index("feature")
        # With its values those of other rows, E (b (x - x'))^2 = 2 b^2.
        z = (frame["mean"] - pd.Series({"x1": 2.0, "x2": 0.5})) / frame["std_error"]
        held += list(np.abs(z) < stats.norm.ppf(0.975))
    assert 0.91 < np.mean(held) < 0.98


def test_the_audit_tells_each_ranking_by_permutation_of_single_features():
    model, data = made()
    result = importance_audit.audit(
        {"model": model.predict, "other": lambda X: X["x1"]},
        data.X.drop(columns="row"),
        data.y,
        losses=["mse", "rmse"],
        n_repeats=3,
        methods=[
            "permutation",
            {"method": "permutation", "draws": "sampled", "form": "ratio", "name": "r"},
        ],
        segments={"which": data.X["which"], "half": np.arange(600) % 2},
    ).result
    assert list(dict.fromkeys(result.segment_performance["segment"])) == [
        "which",
        "half",
    ]
    by_record = result.segment_importances.groupby("record")
    assert {len(rows) for _, rows in by_record} == {3 * (3 + 2)}
    assert set(by_record.groups) == set(range(len(result.importances)))
    for place, rows in by_record:
        importance = result.importances[place]
        nothing = 1.0 if importance.form == "ratio" else 0.0
        unread = rows[(rows["segment"] == "which") & (rows["level"] == "a")]
        assert unread.set_index("feature")["mean"]["x2"] == nothing


@pytest.mark.parametrize(
    ("segments", "message"),
    [
        (
            ["wich"],
            "segments names 'wich', which is not a column. Did you mean 'which'?",
        ),
        (
            {"n": pd.Series(range(600))[::-1]},
            "The index of segments['n'] has the same labels in another order than that "
            "of X. Pass segments['n'].loc[X.index].",
        ),
        (
            {"n": [1, 2]},
            "segments['n'] must have one value for each of the 600 rows of X; its "
            "shape is (2,).",
        ),
        ({"n": None}, "segments['n'] must have one value for each of the 600 rows"),
        (
            {"n": np.ones((600, 2))},
            "made: segment 'n' must be one column; it has 2.",
        ),
    ],
)
def test_what_is_no_column_is_refused(segments, message):
    _, data = made()
    with pytest.raises(DataError) as caught:
        dataset(data.X, data.y, task="regression", name="made", segments=segments)
    assert message in str(caught.value)
