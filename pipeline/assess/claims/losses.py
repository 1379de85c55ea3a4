"""Claims about the quality of a model."""

from typing import Annotated, Literal

from ...models.performance import Judged
from ...records.errors import NotApplicable
from ...records.value_rules import Range
from .answer import Answer, Count, Names, Tolerance, near

Split = Literal["train", "test", "out_of_bag"]
ROWS = {
    "train": "train rows",
    "test": "test rows",
    "out_of_bag": "train rows out of bag",
}


def performance(
    record: Judged,
    features: Names,
    *,
    expected: float,
    tolerance: Tolerance,
    split: Split = "test",
) -> Answer:
    """Say whether the loss of the model is as expected.

    Parameters
    ----------
    expected : float
        What the paper says, or what follows from it.
    tolerance : float
        The largest difference from `expected` that counts as equal.
    split : {"train", "test", "out_of_bag"}
        The rows it is measured on; of "out_of_bag" each is predicted by the members of
        a bagged ensemble that did not see it.
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
    """Say which share of the loss of a constant the model saves: R² if that is "mse".

    Parameters
    ----------
    expected : float
        What the paper says, or what follows from it.
    tolerance : float
        The largest difference from `expected` that counts as equal.
    split : {"train", "test", "out_of_bag"}
        As of kind "performance".
    """
    del features
    if record.constant == 0:
        raise NotApplicable("The constant has no loss, of which to save a share.")
    saved = 1 - record.value / record.constant
    quantity = f"share saved of the loss of a constant on the {ROWS[split]}"
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
    """Say whether the mean loss in folds of the training rows is as expected.

    Parameters
    ----------
    expected : float
        What the paper says, or what follows from it.
    tolerance : float
        The largest difference from `expected` that counts as equal.
    folds : int
        Parts of the training rows; each is left out in turn, and the model fitted anew.
    repeats : int
        How often the rows are cut into folds.
    """
    del features
    times = "" if repeats == 1 else f", cut {repeats} times"
    quantity = f"mean loss in {folds} folds of the train rows{times}"
    return near(quantity, record.value, expected, tolerance)
