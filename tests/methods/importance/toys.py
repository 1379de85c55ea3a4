"""Toy rows, models and questions that the tests of several methods share."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from importance_audit.methods.known_answers import normal_data
from importance_audit.models.fit import fit, wrap
from importance_audit.models.section import ModelSection
from importance_audit.records.dataset_and_model import Dataset
from importance_audit.records.errors import NotApplicable
from importance_audit.records.streams import stream

WHOLE = re.compile(r"\S.*[.]")


def rows_of(X, y=None, *, weights=None, classes=()):
    """Return rows whose every column is asked."""
    return Dataset(
        name="rows",
        X=X,
        y=np.zeros(len(X)) if y is None else np.asarray(y),
        task={0: "regression", 2: "binary"}.get(len(classes), "multiclass"),
        weights=np.ones(len(X)) if weights is None else np.asarray(weights, float),
        groups={name: (name,) for name in X},
        split="test",
        target="y",
        sha256="",
        classes=tuple(classes),
    )


def of_two_classes(data):
    """Return the rows with the sign of their target."""
    y = (data.y > 0).astype(int)
    return replace(data, y=y, task="binary", classes=("no", "yes"))


def of_three_classes(data):
    """Return the rows with a low, middle or high target."""
    classes = ("low", "mid", "high")
    y = np.digitize(data.y, [-2, 2])
    return replace(data, y=y, task="multiclass", classes=classes)


def as_often_as_they_weigh(data):
    """Return each row as often as its weight says."""
    at = np.arange(data.n_samples).repeat(data.weights.astype(int))
    return replace(data.part(data.features, at), weights=np.ones(len(at)))


def correlated(r, n_samples=200):
    """Return two columns of unit variance with exactly this correlation."""
    white = normal_data(n_samples=n_samples).X
    return white.assign(x2=r * white["x1"] + np.sqrt(1 - r**2) * white["x2"])


def score_of(function, features=("x1", "x2", "x3"), name="score"):
    """Return a regression model that is only known by its predictions."""
    return wrap(function, name=name, task="regression", features=list(features))


def fitted(estimator, train, losses=None, encoder="auto", **parameters):
    """Return an estimator of scikit-learn, fitted by the audit."""
    section = ModelSection(
        name="m",
        estimator=f"sklearn.{estimator}",
        parameters=parameters,
        encoder=encoder,
    )
    model = fit(section, train)
    return model if losses is None else model.with_losses(losses)


def of_line(train, losses=("mse",)):
    """Return the least squares that the audit fitted on these rows."""
    return fitted("linear_model.LinearRegression", train, losses)


def curved(X):
    """Return a score whose columns act together."""
    return X["x1"] * np.exp(X["x2"] * X["x3"] / 2) - X["x2"]


EFFECT = np.array([0.0, 6, 3])
"""What each level of `additive` adds."""


def additive(n_others=1):
    """Return rows of x, other and level, all combinations, x = 0 four times as often.

    y = x**2 + 1000 other + effect of the level; x and the level are asked.
    """
    x, other, level = np.indices((7, n_others, 3)).reshape(3, -1)
    often = np.repeat(np.arange(len(x)), np.where(x == 0, 4, 1))
    x, other, level = x[often] * 1.0, other[often] * 1.0, level[often]
    kind = pd.Categorical.from_codes(level, categories=["a", "b", "c"])
    X = pd.DataFrame({"x": x, "other": other, "level": kind})
    data = rows_of(X, x**2 + 1000 * other + EFFECT[level])
    return data.with_groups({"x": ("x",), "level": ("level",)})


def rise(raw, baseline):
    """Return the mean rise of each loss over its baseline, and its standard error."""
    values = raw - baseline
    n_repeats = values.shape[1]
    return values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(n_repeats)


def numbers(method, model, data, **options):
    """Return one number per group: of the first repeat and score."""
    return method(model, data, **{"seed": 1, **options})[0][:, 0, 0]


def uniform(n_samples, n_columns, seed=1):
    """Return columns a, b, ... of numbers between 0 and 1."""
    cells = stream(seed, "test", "", 0).uniform(size=(n_samples, n_columns))
    return pd.DataFrame(cells, columns=list("abcdefghij"[:n_columns]))


def friedman_1(X):
    """Return a function of which only a and b interact."""
    return (
        10 * np.sin(np.pi * X["a"] * X["b"])
        + 20 * (X["c"] - 0.5) ** 2
        + 10 * X["d"]
        + 5 * X["e"]
    )


def refused(ask, *arguments, error=NotApplicable, **options):
    """Return the whole sentence in which a question is refused."""
    with pytest.raises(error) as refusal:
        ask(*arguments, **{"seed": 1, **options})
    sentence = str(refusal.value)
    assert WHOLE.fullmatch(sentence)
    return sentence
