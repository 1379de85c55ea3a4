"""What R is told of a model, held against what the model says, before R is asked."""

from functools import partial
from typing import NamedTuple

from ...assess import checks
from ...engines import compare_predictions
from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ..journal import Journal


class PredictionsInR(NamedTuple):
    """What R receives of a model.

    Attributes
    ----------
    gap : float
        How far, relatively, it is from what Python receives.
    predictions : ndarray of shape (n_samples,) or (n_samples, n_classes)
    draws : int
        How many numbers predict takes from R's stream.
    """

    gap: float
    predictions: Floats
    draws: int


def predictions_in_r(
    journal: Journal, model: FittedModel, test: Dataset
) -> PredictionsInR | None:
    """Return what R receives, with the answers of its checks kept; None if it fails."""
    question = "the predictions that R receives"
    asked = partial(compare_predictions, model, test)
    answer, _ = journal.guarded(model.name, question, asked)
    if answer is None:
        return None
    gap, draws = answer
    journal.add_checks(checks.of_predictions(model, gap))
    journal.add_checks(checks.of_draws(model, draws))
    return PredictionsInR(gap, model.predict(test.X), draws)
