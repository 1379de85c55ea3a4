"""Claims about the quality of a model."""

from typing import Annotated, Literal

from ...models.performance import Judged
from ...records.errors import NotApplicable
from ...records.value_rules import Range
from .answer import Answer, Count, Names, Tolerance, near

Split = Literal["train", "test", "out_of_bag"]
ROWS = {
    "train": "training rows",
    "test": "test rows",
    "out_of_bag": "training rows, out of bag",
}


def performance(
    record: Judged,
    features: Names,
    *,
    expected: float,
    tolerance: Tolerance,
    split: Split = "test",
) -> Answer:
    """Test whether the loss of the model is as expected.

    Parameters
    ----------
    expected : float
        The value in the paper, or the value that follows from it.
    tolerance : float
        The largest difference from `expected` that counts as equal.
    split : {"train", "test", "out_of_bag"}
        The rows on which the loss is measured; "out_of_bag" predicts each training row
        by the members of a bagged ensemble that were not fitted to it.
    """
    del features
    return near(f"loss on the {ROWS[split]}", record.value, expected, tolerance)


def explained(
    record: Judged,
    features: Names,
    *,
    expected: float,
    tolerance: Tolerance,
    split: Split = "test",
) -> Answer:
    """Test the relative reduction of the constant predictor's loss: R² for "mse".

    Parameters
    ----------
    expected : float
        The value in the paper, or the value that follows from it.
    tolerance : float
        The largest difference from `expected` that counts as equal.
    split : {"train", "test", "out_of_bag"}
        As for kind "performance".
    """
    del features
    if record.constant == 0:
        raise NotApplicable(
            "The loss of the constant predictor is 0, so nothing can reduce it."
        )
    saved = 1 - record.value / record.constant
    rows = ROWS[split]
    quantity = f"relative loss reduction against the constant predictor on the {rows}"
    return near(quantity, saved, expected, tolerance)


def cross_validated(
    record: Judged,
    features: Names,
    *,
    expected: float,
    tolerance: Tolerance,
    folds: Annotated[int, Range(least=2)] = 5,
    repeats: Count = 1,
) -> Answer:
    """Test whether the cross-validated loss on the training rows is as expected.

    Parameters
    ----------
    expected : float
        The value in the paper, or the value that follows from it.
    tolerance : float
        The largest difference from `expected` that counts as equal.
    folds : int
        Number of cross-validation folds of the training rows.
    repeats : int
        The number of repetitions of the cross-validation, each with new folds.
    """
    del features
    times = "" if repeats == 1 else f", repeated {repeats} times"
    quantity = f"mean loss in {folds}-fold cross-validation{times}"
    return near(quantity, record.value, expected, tolerance)
