"""Toy classifiers and rows whose importances are known exactly, as `known_answers`."""

import numpy as np
import pandas as pd

from importance_audit.methods.known_answers import linear_model
from importance_audit.records.dataset_and_model import Dataset, FittedModel


def logistic_model(
    *coefficients: float, losses: tuple[str, ...] = ("one_minus_auc",)
) -> FittedModel:
    """Return the model with ``logit P(yes) = sum_j b_j x_j``."""
    linear = linear_model(*coefficients)
    return FittedModel(
        name="logistic",
        task="binary",
        scale="probability",
        predict=lambda X: np.asarray(1 / (1 + np.exp(-linear.predict(X)))),
        features=linear.features,
        losses=losses,
        classes=("no", "yes"),
    )


def level_model(
    share: float = 0.8, *, losses: tuple[str, ...] = ("log_loss",)
) -> FittedModel:
    """Return the model that gives the class named by the column `kind` this share.

    The other two classes of three have equal shares of what is left.
    """
    table = np.full((3, 3), (1 - share) / 2)
    np.fill_diagonal(table, share)
    return FittedModel(
        name="levels",
        task="multiclass",
        scale="probability",
        predict=lambda X: table[X["kind"].cat.codes],
        features=("kind",),
        losses=losses,
        classes=("a", "b", "c"),
    )


def level_data(*, n_samples: int = 150) -> Dataset:
    """Return rows whose class is their level of `kind`, each a third of the rows.

    Beside it stand two columns that no model here reads, `count` (whole numbers) and
    `noise`. With share s the log loss is -log s, and once `kind` is permuted
    -(log s + 2 log((1 - s)/2)) / 3 in expectation.
    """
    codes = np.arange(n_samples) % 3
    kind = pd.Categorical.from_codes(codes, categories=["a", "b", "c"])
    columns = {"count": codes * 7 % 5, "kind": kind, "noise": np.sin(codes + 1.0)}
    X = pd.DataFrame(columns)
    return Dataset(
        name="levels",
        X=X,
        y=codes.astype(np.int64),
        task="multiclass",
        weights=np.ones(n_samples),
        groups={name: (name,) for name in X.columns},
        split="test",
        target="y",
        sha256="",
        classes=("a", "b", "c"),
        source="tests.known_answers",
    )
