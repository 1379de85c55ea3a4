"""DALEX answers through the bridge; R's losses are ours."""

from dataclasses import replace

import numpy as np
import pytest
from tests.cases import for_each
from tests.engines.replaying import mixed

from importance_audit.engines.dalex import OWN_LOSSES, dalex_permutation
from importance_audit.r_bridge import host
from importance_audit.r_bridge.errors import RError
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


def losses_of(r, name, y, prediction, classes=None, by="loss_value"):
    """Return a loss as R and as Python compute it."""
    arguments = {"name": name, "observed": y.astype(float), "predicted": prediction}
    (in_r,) = r.call(by, arguments | {"classes": classes})
    if by != "loss_value":
        return in_r
    return in_r, evaluate((name,), y, prediction, np.ones(len(y))).item()


@pytest.mark.needs_r
@for_each([(name, task) for name in LOSSES for task in LOSSES[name].tasks])
def test_r_computes_every_loss_as_python_does(case, r):
    name, task = case
    for seed in (1, 2):
        y, prediction = judged(task, seed)
        if name.endswith("deviance"):
            y, prediction = np.exp(y), np.exp(prediction)
        classes = list(CLASSES) if task == "multiclass" else None
        in_r, ours = losses_of(r, name, y, prediction, classes)
        assert in_r == pytest.approx(ours, rel=1e-12)


@pytest.mark.needs_r
@for_each(
    [
        [1e-14, 2e-13, 5e-14, 1.0],
        [1 - 1e-14, 1 - 2e-13, 1 - 5e-14, 0.0],
        [0.3, 0.3 + 1e-13, 0.3 * (1 + 1e-11), 0.3 + 1e-16],
        [1.0, 1 - 2.0**-52, 1 - 2.0**-49, 1 - 1e-9],
        [np.inf, np.inf, -np.inf, 7.5],
        [-2.0, -2.0 * (1 + 1e-13), -2.0 * (1 + 1e-11), 0.0],
    ]
)
def test_r_ties_the_scores_that_python_ties(scores, r):
    y = np.array([0.0, 1.0, 0.0, 1.0])
    for some in (y, 1 - y):
        in_r, ours = losses_of(r, "one_minus_auc", some, np.array(scores))
        assert in_r == pytest.approx(ours, rel=1e-12)


CERTAIN = np.array([[1.0, 0.0, 0.0]])
EPS = np.finfo(float).eps


@pytest.mark.needs_r
@for_each(
    [
        ("log_loss", [1, 0], [0.0, 0.5], np.inf),
        ("negative_log_likelihood", [1, 0], [0.0, 0.5], np.inf),
        ("log_loss_clipped", [1], [0.0], -np.log(EPS)),
        ("dalex_cross_entropy", [2], CERTAIN, -np.log(1e-4)),
        ("one_minus_auc", [1, 1], [0.1, 0.5], np.nan),
    ]
)
def test_a_certain_prediction_that_is_wrong_costs_in_r_what_the_definition_says(
    case, r
):
    name, y, prediction, expected = case
    classes = list(CLASSES) if np.ndim(prediction) == 2 else None
    in_r, _ = losses_of(r, name, np.array(y), np.array(prediction), classes)
    assert in_r == pytest.approx(expected, rel=1e-12, nan_ok=True)


@pytest.mark.needs_r
@for_each([(0, True), (1e-12, True), (9e-6, True), (1.1e-5, False), (0.1, False)])
def test_between_classes_of_almost_one_probability_r_draws_and_we_take_the_larger(
    case, r
):
    gap, is_near = case
    low, high = 0.4, 0.4 * (1 + gap)
    rows = [[low, high, 0.1], [high, low, 0.1]] * 30
    right = np.array([1.0 if gap else 0.0, 0.0] * 30)
    own = r.call("choose", {"predicted": np.array(rows), "by": "r"})
    ours = r.call("choose", {"predicted": np.array(rows), "by": "us"})
    assert (own["drew"][0], ours["drew"][0]) == (is_near, False)
    assert ((own["columns"] - 1).tolist() == right.tolist()) == (not is_near)
    assert (ours["columns"] - 1).tolist() == right.tolist()
    for name in ("one_minus_accuracy", "one_minus_mean_recall"):
        assert losses_of(r, name, right, np.array(rows), [*CLASSES]) == (0, 0)


@pytest.mark.needs_r
def test_the_kinds_of_generator_are_part_of_the_seed(r):
    kinds = ["Mersenne-Twister", "Inversion", "Rejection"]
    assert list(r.call("generator_after", {"seed": 1})) == kinds


@pytest.mark.needs_dalex
@for_each([*OWN_LOSSES.items(), ("one_minus_accuracy", "loss_one_minus_accuracy")])
def test_a_loss_that_dalex_computes_itself_is_defined_as_ours(case, r):
    name, own = case
    task = LOSSES[name].tasks[0]
    y, prediction = judged(task, 3)
    classes = list(CLASSES) if task == "multiclass" else None
    if own == "loss_one_minus_accuracy":
        # A half is of the second class there, and of the first here and for argmax.
        prediction = np.where(prediction == 0.5, np.nextafter(0.5, 1), prediction)
    dalex_loss = losses_of(r, own, y, prediction, classes, by="dalex_loss_value")
    _, ours = losses_of(r, name, y, prediction, classes)
    assert dalex_loss == pytest.approx(ours, rel=1e-12)


@pytest.mark.needs_dalex
@for_each([(4e-16, 0.5, 0.5), (1e-13, 1.0, 0.5), (1e-11, 1, 1)])
def test_dalex_ties_predictions_that_differ_beyond_15_digits(case, r):
    """DALEX-TIE of importance_audit.engines.known_defects."""
    gap, by_dalex, by_us = case
    question = np.array([1, 0]), np.array([0.3, 0.3 + gap])
    dalex_loss = losses_of(r, "loss_one_minus_auc", *question, by="dalex_loss_value")
    assert (dalex_loss, losses_of(r, "one_minus_auc", *question)[0]) == (
        by_dalex,
        by_us,
    )


@pytest.mark.needs_dalex
@pytest.mark.usefixtures("r")
def test_what_dalex_does_not_score_is_no_number_and_an_unknown_loss_is_named():
    """DALEX-NAN of `known_defects`: a single repeat has no row for NaN."""
    model, data = mixed("if", "kind")
    of_one_class = replace(data, y=np.zeros(40))
    model = model.with_losses(("one_minus_auc",))
    answer = dalex_permutation(model, of_one_class, seed=1, n_repeats=1)
    assert np.isnan(answer.raw).all()
    with pytest.raises(
        RError, match=r"Loss must be one of rmse, .*, but r2 was given\."
    ):
        dalex_permutation(replace(model, losses=("r2",)), data, seed=1)
