"""Fitted models as the rows of one table. Not: making them."""

from collections.abc import Sequence

import pandas as pd

from pipeline import estimators
from pipeline.records import FittedModel

COLUMNS = (
    "model",
    "estimator",
    "library",
    "task",
    "scale",
    "positive_class",
    "classes",
    "encoder",
    "parameters",
    "source",
    "sha256",
    "n_train",
)


def models_frame(models: Sequence[FittedModel]) -> pd.DataFrame:
    """Return one row per model.

    Columns: model, estimator (class name, empty for a function), library, task, scale,
    positive_class (empty unless binary), classes (tuple of str), encoder, parameters
    (JSON text), source, sha256, n_train.
    """
    return pd.DataFrame(
        [
            {
                "model": model.name,
                "estimator": estimators.class_name(model.estimator),
                "library": model.library,
                "task": model.task,
                "scale": model.scale,
                "positive_class": model.classes[1] if model.task == "binary" else "",
                "classes": model.classes,
                "encoder": model.encoder,
                "parameters": estimators.parameters_text(model.parameters),
                "source": model.source,
                "sha256": model.sha256,
                "n_train": model.n_train,
            }
            for model in models
        ],
        columns=list(COLUMNS),
    )
