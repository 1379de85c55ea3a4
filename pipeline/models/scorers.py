"""What scikit-learn's make_scorer returns, as a loss of predictions."""

import re
from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

import numpy as np

from ..records.dataset_and_model import Task
from ..records.losses import Array


def is_scorer(value: Any) -> bool:
    """Return whether an object is asked as ``scorer(estimator, X, y)`` is."""
    if hasattr(value, "__name__") or not callable(value):
        return False
    try:
        return [*signature(value).parameters][:2] == ["estimator", "X"]
    except (TypeError, ValueError):
        return False


def loss_of_scorer(
    scorer: Callable[..., Any], task: Task, classes: Sequence[Any]
) -> Callable[..., float]:
    """Return minus what a scorer says of predictions, as a loss of them.

    The scorer asks a stand-in, whose answers are the predictions of the audited model:
    numbers, or the probabilities of classes, which it calls and sorts as scikit-learn
    would. The class with the largest probability is the one predicted. `classes` are
    as the target names them, in the order of `Dataset.classes`.
    """
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

    labels = np.array(classes)
    order = np.argsort(labels)

    class Answer(BaseEstimator):  # type: ignore[misc]
        def __init__(self, answer: Array) -> None:
            self.answer = answer
            self.classes_ = labels[order]

        def fit(self, *_: Any) -> "Answer":
            return self

    class Numbers(RegressorMixin, Answer):  # type: ignore[misc]
        def predict(self, _: Any) -> Array:
            return self.answer

    class Classes(ClassifierMixin, Answer):  # type: ignore[misc]
        def predict(self, _: Any) -> Array:
            return self.classes_[self.answer.argmax(axis=1)]

        def predict_proba(self, _: Any) -> Array:
            return self.answer

    def loss(y: Array, prediction: Array, weights: Array) -> float:
        truth, told = y, Numbers(prediction)
        if task == "binary":
            prediction = np.column_stack([1 - prediction, prediction])
        if task != "regression":
            truth, told = labels[y.astype(int)], Classes(prediction[:, order])
        # Some scores know no weights, so they are asked without where all are equal.
        weighed = {"sample_weight": weights} if np.ptp(weights) else {}
        return -float(scorer(told, np.zeros((len(y), 1)), truth, **weighed))

    words = re.findall(r"\w+", repr(scorer))
    name = next((word for word in words[1:] if word.isidentifier()), "scorer")
    loss.__name__ = loss.__qualname__ = name
    loss.__doc__ = f"Minus what {scorer!r} says."
    loss.tasks = (task,)  # type: ignore[attr-defined]
    return loss
