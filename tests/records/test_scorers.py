"""Names of scorers measure what scikit-learn's scorers of these names measure."""

from itertools import product

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import average_precision_score, get_scorer

from importance_audit.records.losses import LOSSES, SCORERS, evaluate

CASES = [(name, task) for name, by_task in SCORERS.items() for task in by_task]
N = 60


class Told(BaseEstimator):
    """An estimator that predicts what it was told."""

    def __init__(self, prediction):
        self.prediction = prediction

    def fit(self, *_):
        return self


class ToldNumbers(RegressorMixin, Told):
    def predict(self, _):
        return self.prediction


class ToldClasses(ClassifierMixin, Told):
    @property
    def classes_(self):
        return np.arange(self.prediction.shape[1])

    def predict_proba(self, _):
        return self.prediction

    def predict(self, _):
        return self.prediction.argmax(axis=1)


def rows_of(task, name, *, is_tied, is_rare):
    """Return a target and a prediction, with ties and with a class of one row."""
    rng = np.random.default_rng(7)
    if task == "regression":
        y = rng.poisson(3, N).astype(float)
        prediction = rng.gamma(2, 2, N)
        if is_tied:
            prediction = prediction.round() + 1
        if "gamma" in name:
            y += 1
        elif is_rare:
            y[1:4] = 0  # a percentage of nothing
        return y, prediction
    n_classes = 2 if task == "binary" else 3
    p = rng.dirichlet(np.ones(n_classes), N)
    if is_tied:  # exact halves and thirds among them, zeros and ones
        shares = [[4, 4, 2], [5, 5, 0], [2, 4, 4], [1, 0, 0], [0, 1, 0], [3, 3, 3]]
        few = np.array(shares, dtype=float)[:, :n_classes]
        few = few[few.sum(axis=1) > 0]
        p = (few / few.sum(axis=1, keepdims=True))[rng.integers(len(few), size=N)]
    y = rng.integers(n_classes, size=N)
    if is_rare:
        y = np.where(np.arange(N) == 17, n_classes - 1, y % (n_classes - 1))
    return y, p


def score(name, task, y, prediction, weights):
    """Return what the scorer of scikit-learn says, of weighted rows or not."""
    if (name, task) == ("average_precision", "multiclass"):
        # Not taken before 1.3, and then the mean over the classes against the rest.
        by_class = [
            average_precision_score(y == k, p, sample_weight=weights)
            for k, p in enumerate(prediction.T)
        ]
        return np.mean(by_class)
    told = (ToldNumbers if task == "regression" else ToldClasses)(prediction)
    X = np.zeros((N, 1))
    return get_scorer(name)(told.fit(X, y), X, y, sample_weight=weights)


@pytest.mark.parametrize(("name", "task"), CASES)
@pytest.mark.parametrize(
    ("is_tied", "is_rare", "is_weighted"), [*product([False, True], repeat=3)]
)
def test_a_scorer_measures_what_scikit_learn_measures(
    name, task, is_tied, is_rare, is_weighted
):
    y, prediction = rows_of(task, name, is_tied=is_tied, is_rare=is_rare)
    weights = np.random.default_rng(3).integers(1, 5, N) / 2 if is_weighted else None
    loss = SCORERS[name][task]
    assert task in LOSSES[loss].tasks
    ours = prediction[:, 1] if task == "binary" else prediction
    w = np.ones(N) if weights is None else weights
    (value,) = evaluate((loss,), y, ours, w)
    if (name, task, is_weighted) == ("roc_auc_ovo", "multiclass", True):
        with pytest.raises(ValueError, match="sample_weight"):
            score(name, task, y, prediction, weights)
        return
    theirs = score(name, task, y, prediction, weights)
    expected = -theirs if name.startswith("neg_") else 1 - theirs
    assert value == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
def test_balanced_accuracy_leaves_out_a_class_that_was_not_observed():
    y, prediction = np.array([0, 1, 1]), np.eye(3)[[0, 1, 2]]
    (value,) = evaluate(("one_minus_mean_recall",), y, prediction, np.ones(3))
    told, X = ToldClasses(prediction), np.zeros((3, 1))
    theirs = get_scorer("balanced_accuracy")(told.fit(X, y), X, y)
    assert value == pytest.approx(1 - theirs, rel=1e-12) == 1 / 4
