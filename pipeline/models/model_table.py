"""The frames `models` and `steps`. Not: creating models."""

from collections.abc import Mapping, Sequence

import pandas as pd

from ..records.dataset_and_model import FittedModel
from ..records.frames import FRAMES
from . import estimators


def models_frame(
    models: Sequence[FittedModel], digests: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """Return one row per model.

    Columns: model, estimator (class name, empty for a function), library, task, scale,
    positive_class (empty unless binary), classes (tuple of str), encoder, parameters
    (JSON text), source, sha256, n_train, predictions_sha256 (from `digests`: by model,
    the digest of its predictions for the audited rows; empty if unknown).
    """
    return FRAMES["models"].of(
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
                "predictions_sha256": (digests or {}).get(model.name, ""),
            }
            for model in models
        ]
    )


def steps_frame(models: Sequence[FittedModel]) -> pd.DataFrame:
    """Return the wrapper and steps of pipelines and other composite models.

    Columns: model, step (the names that lead to it, joined by /), estimator (its
    class), parameters (JSON text of those that are not the defaults of the class).
    """
    return FRAMES["steps"].of(
        [
            {
                "model": model.name,
                "step": step.path,
                "estimator": step.kind,
                "parameters": estimators.parameters_text(step.parameters),
            }
            for model in models
            for step in estimators.steps_of(model.estimator)
        ]
    )
