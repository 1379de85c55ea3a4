"""DALEX answers through the bridge; R's losses are ours."""

import numpy as np
import pandas as pd
import pytest

from importance_audit.engines.asking import ask
from importance_audit.engines.dalex import OWN_LOSSES, dalex_permutation
from importance_audit.r_bridge import host
from importance_audit.r_bridge.errors import RError
from importance_audit.records.dataset_and_model import Dataset, FittedModel
from importance_audit.records.losses import LOSSES, evaluate

LOSS_VALUE = """
loss_value <- function(name, observed, predicted, classes = NULL) {
  loss_named(name)(as_observed(observed, classes), predicted)
}
dalex_loss_value <- function(name, observed, predicted, classes = NULL) {
  getExportedValue("DALEX", name)(as_observed(observed, classes), predicted)
}
generator_after <- function(seed) {
  RNGkind("Wichmann-Hill", "Box-Muller", "Rejection")
  start_stream(seed)
  RNGkind()
}
choose <- function(predicted, by) {
  choose <- if (by == "r") max.col else likeliest_of
  set.seed(1)
  before <- get(".Random.seed", globalenv())
  columns <- choose(predicted)
  list(columns = columns, drew = !identical(get(".Random.seed", globalenv()), before))
}
"""
CLASSES = ("low", "middle", "high")


@pytest.fixture(scope="module")
def r(tmp_path_factory):
    file = tmp_path_factory.mktemp("r") / "loss_value.R"
    file.write_text(LOSS_VALUE)
    with host.session(extra_r_files=[file]) as worker:
        yield worker


def frame(n_samples=60):
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "size (m²)": rng.normal(size=n_samples),
            "if": rng.integers(0, 5, n_samples),
            "kind": pd.Categorical(rng.choice(["u", "v"], n_samples), ["w", "v", "u"]),
        }
    )


def predict(X):
    return X["size (m²)"].to_numpy() + (X["kind"] == "u") * X["if"].to_numpy()


def parts(groups, *, loss="rmse", X=None, y=None, n_repeats=3, **draws):
    """Return the losses with a group permuted, of the rows, and with y permuted."""
    X = frame() if X is None else X
    data = Dataset(
        name="rows",
        X=X,
        y=np.linspace(-1, 1, len(X)) if y is None else y,
        task="regression",
        classes=(),
        weights=np.ones(len(X)),
        groups=groups,
        split="test",
        target="y",
        sha256="",
    )
    model = FittedModel(
        name="model",
        task="regression",
        scale="response",
        predict=predict,
        features=tuple(X),
        losses=(loss,),
    )
    draws |= {"n_repeats": n_repeats}
    answer = dalex_permutation(model, data, seed=1, **draws)
    return answer.raw[..., 0], answer.baseline[:, 0], answer.y_permuted[:, 0]


def judged(task, seed):
    """Return a target and predictions with ties, exact hits and exact misses."""
    rng = np.random.default_rng(seed)
    if task == "regression":
        return rng.normal(size=40), rng.normal(size=40).round(1)
    if task == "binary":
        return rng.integers(0, 2, 40), np.append(
            rng.random(38).round(1) * 0.9, [0.5, 0.5]
        )
    p = rng.dirichlet(np.ones(3), 40).round(2)
    return rng.integers(0, 3, 40), np.vstack(
        [p[:-2], [[0.4, 0.2, 0.4], [0.1, 0.45, 0.45]]]
    )


@pytest.mark.needs_r
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    ("name", "task"), [(name, task) for name in LOSSES for task in LOSSES[name].tasks]
)
def test_r_computes_every_loss_as_python_does(r, name, task, seed):
    y, prediction = judged(task, seed)
    if name.endswith("deviance"):
        y, prediction = np.exp(y), np.exp(prediction)
    (ours,) = evaluate((name,), y, prediction, np.ones(len(y)))
    arguments = {"name": name, "observed": y.astype(float), "predicted": prediction}
    (in_r,) = r.call(
        "loss_value",
        arguments | {"classes": list(CLASSES) if task == "multiclass" else None},
    )
    assert in_r == pytest.approx(ours, rel=1e-12)


@pytest.mark.needs_r
@pytest.mark.parametrize(
    "scores",
    [
        [1e-14, 2e-13, 5e-14, 1.0],
        [1 - 1e-14, 1 - 2e-13, 1 - 5e-14, 0.0],
        [0.3, 0.3 + 1e-13, 0.3 * (1 + 1e-11), 0.3 + 1e-16],
        [1.0, 1 - 2.0**-52, 1 - 2.0**-49, 1 - 1e-9],
        [np.inf, np.inf, -np.inf, 7.5],
        [-2.0, -2.0 * (1 + 1e-13), -2.0 * (1 + 1e-11), 0.0],
    ],
)
def test_r_ties_the_scores_that_python_ties(r, scores):
    name = "one_minus_auc"
    y = np.array([0.0, 1.0, 0.0, 1.0])
    for some in (y, 1 - y):
        arguments = {"name": name, "observed": some, "predicted": np.array(scores)}
        (ours,) = evaluate((name,), some, arguments["predicted"], np.ones(4))
        assert r.call("loss_value", arguments)[0] == pytest.approx(ours, rel=1e-12)


@pytest.mark.needs_r
@pytest.mark.parametrize(
    ("gap", "is_near"),
    [(0, True), (1e-12, True), (9e-6, True), (1.1e-5, False), (0.1, False)],
)
def test_between_classes_of_almost_one_probability_r_draws_and_we_take_the_larger(
    r, gap, is_near
):
    low, high = 0.4, 0.4 * (1 + gap)
    rows = [[low, high, 0.1], [high, low, 0.1]] * 30
    right = np.array([1.0 if gap else 0.0, 0.0] * 30)
    own = r.call("choose", {"predicted": np.array(rows), "by": "r"})
    ours = r.call("choose", {"predicted": np.array(rows), "by": "us"})
    assert (own["drew"][0], ours["drew"][0]) == (is_near, False)
    assert ((own["columns"] - 1).tolist() == right.tolist()) == (not is_near)
    assert (ours["columns"] - 1).tolist() == right.tolist()
    arguments = {"observed": right, "predicted": np.array(rows), "classes": [*CLASSES]}
    for name in ("one_minus_accuracy", "one_minus_mean_recall"):
        assert r.call("loss_value", {"name": name, **arguments})[0] == 0
        assert evaluate((name,), right, np.array(rows), np.ones(60)).item() == 0


@pytest.mark.needs_r
@pytest.mark.parametrize("name", ["log_loss", "negative_log_likelihood"])
def test_a_missed_class_of_probability_zero_costs_infinity_in_r_too(r, name):
    arguments = {"name": name, "observed": [1.0, 0.0], "predicted": [0.0, 0.5]}
    assert r.call("loss_value", arguments)[0] == np.inf


@pytest.mark.needs_r
def test_the_clipped_log_loss_in_r_is_that_of_the_smallest_step_above_one(r):
    arguments = {"name": "log_loss_clipped", "observed": [1.0], "predicted": [0.0]}
    assert r.call("loss_value", arguments)[0] == -np.log(np.finfo(float).eps)


@pytest.mark.needs_r
def test_the_loss_of_dalex_counts_no_probability_below_a_ten_thousandth(r):
    certain = np.array([[1.0, 0.0, 0.0]])
    arguments = {"observed": [2.0], "predicted": certain, "classes": list(CLASSES)}
    (value,) = r.call("loss_value", {"name": "dalex_cross_entropy", **arguments})
    assert value == pytest.approx(-np.log(1e-4), rel=1e-12)


@pytest.mark.needs_r
def test_an_auc_without_one_of_the_classes_is_no_number_in_r_either(r):
    arguments = {
        "name": "one_minus_auc",
        "observed": [1.0, 1.0],
        "predicted": [0.1, 0.5],
    }
    assert np.isnan(r.call("loss_value", arguments)[0])


@pytest.mark.needs_r
def test_the_kinds_of_generator_are_part_of_the_seed(r):
    kinds = ["Mersenne-Twister", "Inversion", "Rejection"]
    assert list(r.call("generator_after", {"seed": 1})) == kinds


@pytest.mark.needs_dalex
@pytest.mark.parametrize(
    ("ours", "own"),
    [*OWN_LOSSES.items(), ("one_minus_accuracy", "loss_one_minus_accuracy")],
)
def test_a_loss_that_dalex_computes_itself_is_defined_as_ours(r, ours, own):
    task = LOSSES[ours].tasks[0]
    y, prediction = judged(task, 3)
    classes = list(CLASSES) if task == "multiclass" else None
    if own == "loss_one_minus_accuracy":
        # A half is of the second class there, and of the first here and for argmax.
        prediction = np.where(prediction == 0.5, np.nextafter(0.5, 1), prediction)
    arguments = {
        "observed": y.astype(float),
        "predicted": prediction,
        "classes": classes,
    }
    (dalex_loss,) = r.call("dalex_loss_value", {"name": own, **arguments})
    (expected,) = evaluate((ours,), y, prediction, np.ones(len(y)))
    assert dalex_loss == pytest.approx(expected, rel=1e-12)


@pytest.mark.needs_dalex
@pytest.mark.parametrize(
    ("gap", "by_dalex", "by_us"), [(4e-16, 0.5, 0.5), (1e-13, 1.0, 0.5), (1e-11, 1, 1)]
)
def test_dalex_ties_predictions_that_differ_beyond_15_digits(r, gap, by_dalex, by_us):
    """DALEX-TIE of importance_audit.engines.known_defects."""
    prediction = np.array([0.3, 0.3 + gap])
    arguments = {"observed": [1.0, 0.0], "predicted": prediction}
    (dalex_loss,) = r.call(
        "dalex_loss_value", {"name": "loss_one_minus_auc", **arguments}
    )
    (ours,) = r.call("loss_value", {"name": "one_minus_auc", **arguments})
    assert (dalex_loss, ours) == (by_dalex, by_us)


@pytest.mark.needs_dalex
@pytest.mark.usefixtures("r")
def test_without_permutation_every_round_measures_the_loss_of_the_rows():
    _, full, _ = parts({"size": ["size (m²)"]})
    y = np.linspace(-1, 1, 60)
    (expected,) = evaluate(("rmse",), y, predict(frame()), np.ones(60))
    np.testing.assert_allclose(full, [expected] * 3, rtol=1e-12)


@pytest.mark.needs_dalex
@pytest.mark.usefixtures("r")
def test_a_group_of_one_is_drawn_like_its_column():
    alone, *_ = parts({"a": ["if"], "b": ["kind"]})
    groups = {"a": ["if"], "b": ["kind"], "c": ["if", "kind"]}
    grouped, *_ = parts(groups, n_repeats=1)
    np.testing.assert_array_equal(alone[:, 0], grouped[:2, 0])


@pytest.mark.needs_dalex
@pytest.mark.usefixtures("r")
@pytest.mark.parametrize("n_rows", [None, 20])
def test_a_single_repeat_is_the_first_of_many(n_rows):
    groups = {"if": ["if"], "size": ["size (m²)"], "both": ["if", "size (m²)"]}
    one, many = (parts(groups, n_repeats=n, n_rows=n_rows) for n in (1, 4))
    for single, several in zip(one, many, strict=True):
        np.testing.assert_allclose(single[..., 0], several[..., 0], rtol=1e-12)


@pytest.mark.needs_dalex
@pytest.mark.usefixtures("r")
def test_a_feature_the_model_ignores_measures_the_loss_of_the_rows():
    X = frame().assign(unread=np.arange(60.0))
    permuted, full, _ = parts({"unread": ["unread"]}, X=X, loss="mae", n_rows=25)
    np.testing.assert_array_equal(permuted[0], full)


@pytest.mark.needs_dalex
@pytest.mark.usefixtures("r")
def test_what_dalex_does_not_score_is_no_number():
    """DALEX-NAN of `known_defects`: a single repeat has no row for NaN."""
    question = {"loss": "one_minus_auc", "y": np.zeros(60), "n_repeats": 1}
    permuted, *_ = parts({"if": ["if"]}, **question)
    assert np.isnan(permuted).all()


@pytest.mark.needs_dalex
@pytest.mark.usefixtures("r")
def test_an_unknown_loss_is_named():
    with pytest.raises(
        RError, match=r"Loss must be one of rmse, .*, but r2 was given\."
    ):
        parts({"if": ["if"]}, loss="r2")


@pytest.mark.needs_dalex
@pytest.mark.parametrize(
    ("feature", "grid"),
    [
        ("size (m²)", np.array([2.0, -1.0, 0.5])),
        ("if", np.array([4, 0, 7])),
        ("if", np.array([0.5, 3.25])),
        ("kind", np.array(["u", "w"], dtype=object)),
    ],
)
def test_a_profile_is_the_mean_prediction_at_each_point_in_the_order_asked(
    r, feature, grid
):
    question = {"feature": feature, "grid": grid, "type": "partial", "seed": 1}
    values = ask("dalex_profile", frame(), predict, **question)
    X = frame()
    level = isinstance(X[feature].dtype, pd.CategoricalDtype)
    expected = []
    for point in grid:
        column = [point] * len(X)
        X[feature] = (
            pd.Categorical(column, X["kind"].cat.categories) if level else column
        )
        expected.append(predict(X).mean())
    np.testing.assert_allclose(values, expected, rtol=1e-12)
    assert (r.warnings, r.messages) == ((), ())


@pytest.mark.needs_r
def test_predictions_come_back_in_their_shape(r):
    X = frame()

    def shares(X):
        return np.column_stack([X["if"], 4 - X["if"]]) / 4

    for ask_model, labels in ((predict, ()), (shares, ("a", "b"))):
        how = {"predict": ask_model, "schema_of": X, "labels": labels}
        answer = r.call("predictions", {"data": X, "most": 1}, **how)
        np.testing.assert_array_equal(answer["predicted"], ask_model(X))
