"""Scorers of scikit-learn's make_scorer, as losses of predictions."""

import re
from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

import numpy as np

from ..records.dataset_and_model import Task
from ..records.losses import Array


def is_scorer(value: Any) -> bool:
    """Return whether an object is called like ``scorer(estimator, X, y)``."""
    if hasattr(value, "__name__") or not callable(value):
        return False
    try:
        return [*signature(value).parameters][:2] == ["estimator", "X"]
    except (TypeError, ValueError):
        return False


def loss_of_scorer(
    scorer: Callable[..., Any], task: Task, classes: Sequence[Any]
) -> Callable[..., float]:
    """Return the negative of a scorer, as a loss of predictions.

    The scorer is given a stand-in estimator that returns the predictions of the audited
    model: numbers, or the probabilities of classes, in the order of scikit-learn. The
    class with the largest probability is the predicted one. `classes` are the labels of
    the target, in the order of `Dataset.classes`.
    """
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

    labels = np.array(classes)
    order = np.argsort(labels)

    class StandIn(BaseEstimator):  # type: ignore[misc]
        def __init__(self, answer: Array) -> None:
            self.answer = answer
            self.classes_ = labels[order]

        def fit(self, *_: Any) -> "StandIn":
            return self

    class Numbers(RegressorMixin, StandIn):  # type: ignore[misc]
        def predict(self, _: Any) -> Array:
            return self.answer

    class Classes(ClassifierMixin, StandIn):  # type: ignore[misc]
        def predict(self, _: Any) -> Array:
            return self.classes_[self.answer.argmax(axis=1)]

        def predict_proba(self, _: Any) -> Array:
            return self.answer

    def loss(y: Array, prediction: Array, weights: Array) -> float:
        truth, estimator = y, Numbers(prediction)
        if task == "binary":
            prediction = np.column_stack([1 - prediction, prediction])
        if task != "regression":
            truth, estimator = labels[y.astype(int)], Classes(prediction[:, order])
        # Some scorers accept no weights, so equal weights are left out.
        weighed = {"sample_weight": weights} if np.ptp(weights) else {}
        return -float(scorer(estimator, np.zeros((len(y), 1)), truth, **weighed))

    words = re.findall(r"\w+", repr(scorer))
    name = next((word for word in words[1:] if word.isidentifier()), "scorer")
    loss.__name__ = loss.__qualname__ = name
    loss.__doc__ = f"Minus what {scorer!r} says."
    loss.tasks = (task,)  # type: ignore[attr-defined]
    return loss
