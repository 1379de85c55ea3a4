"""Toy models and rows whose importances are known exactly: for docstrings and tests.

With population moments, permuting feature *j* of a linear model raises the expected
mean squared error by ``2 b_j**2 var(x_j) + 2 b_j cov(y - f, x_j)``. The columns of
`normal_data` have mean 0, variance 1 and no correlation with each other or the noise,
so for the model that made `y` the rise is ``2 b_j**2`` and the baseline ``noise**2``.
"""

import numpy as np
import pandas as pd

from ..records.dataset_and_model import Dataset, FittedModel, Floats
from ..records.streams import stream


def _names(n_features: int) -> tuple[str, ...]:
    """Return x1, x2, … ."""
    return tuple(f"x{j + 1}" for j in range(n_features))


def _white(n_samples: int, n_columns: int, seed: int) -> Floats:
    """Return columns of mean 0, variance 1 and correlations 0, up to rounding."""
    columns = stream(seed, "known answers", "", 0).normal(size=(n_samples, n_columns))
    orthonormal, _ = np.linalg.qr(columns - columns.mean(axis=0))
    return np.asarray(orthonormal * np.sqrt(n_samples))


def linear_model(
    *coefficients: float, losses: tuple[str, ...] = ("mse",)
) -> FittedModel:
    """Return the model ``f(x) = sum_j b_j x_j`` of the columns x1, x2, …."""
    features = _names(len(coefficients))

    def predict(X: pd.DataFrame) -> Floats:
        terms = (b * X[name] for b, name in zip(coefficients, features, strict=True))
        return np.asarray(sum(terms), dtype=float)

    return FittedModel(
        name="linear",
        task="regression",
        scale="response",
        predict=predict,
        features=features,
        losses=losses,
    )


def normal_data(
    *coefficients: float, noise: float = 1.0, n_samples: int = 200, seed: int = 1
) -> Dataset:
    """Return white columns x1, x2, … and ``y = sum_j b_j x_j + noise``.

    Parameters
    ----------
    *coefficients : float
        One per column; 2 and 0 if none is given.
    noise : float, default 1.0
        Exact standard deviation of the noise term.
    n_samples : int, default 200
    seed : int, default 1
    """
    b = np.array(coefficients or (2.0, 0.0))
    columns = _white(n_samples, len(b) + 1, seed)
    features = _names(len(b))
    return Dataset(
        name="normal",
        X=pd.DataFrame(columns[:, :-1], columns=list(features)),
        y=columns[:, :-1] @ b + noise * columns[:, -1],
        task="regression",
        weights=np.ones(n_samples),
        groups={name: (name,) for name in features},
        split="test",
        target="y",
        sha256="",
        source="importance_audit.methods.known_answers",
    )


def binary_data(*, n_features: int = 2, n_samples: int = 200, seed: int = 1) -> Dataset:
    """Return white columns and a class that is "yes" where x1 is above its median.

    A model that rises with x1 alone has 1 - AUC = 0, and 0.5 in expectation once x1
    is permuted.
    """
    columns = _white(n_samples, n_features, seed)
    features = _names(n_features)
    return Dataset(
        name="binary",
        X=pd.DataFrame(columns, columns=list(features)),
        y=(columns[:, 0] > np.median(columns[:, 0])).astype(np.int64),
        task="binary",
        weights=np.ones(n_samples),
        groups={name: (name,) for name in features},
        split="test",
        target="y",
        sha256="",
        classes=("no", "yes"),
        source="importance_audit.methods.known_answers",
    )
