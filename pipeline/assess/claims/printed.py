"""Claims of a printed table of importances, each number to its printed decimals."""

from collections.abc import Mapping
from typing import Annotated

import numpy as np

from ...engines import ENGINES
from ...records.errors import NotApplicable, quote
from ...records.importance_record import Importance
from ...records.ranking import OURS, null_value_of
from ...records.value_rules import OneOf, Range
from .answer import Answer, Names, numbers_of

FULL, Y_PERMUTED = "_full_model_", "_baseline_"  # as DALEX prints them
Engine = Annotated[str, OneOf(tuple(ENGINES))]
Decimals = Annotated[int, Range(least=0, most=12)]


def printed(
    record: Importance,
    features: Names,
    *,
    numbers: Mapping[str, float],
    decimals: Decimals,
    engines: tuple[Engine, ...] = (OURS,),
) -> Answer:
    """Test whether one number of a printed table is ours, rounded to its decimals.

    Parameters
    ----------
    numbers : mapping of str to float
        The printed number of each feature or group. As in tables of DALEX,
        "_full_model_" is the loss with nothing permuted, and "_baseline_" that with the
        target permuted, both in the form of the importance.
    decimals : int
        The number of printed decimals.
    engines : tuple of str
        The engines that must reproduce the numbers; each number is a claim per engine.
    """
    del features, engines
    ((name, number),) = numbers.items()
    quantity, ours = _value(record, name)
    engine = "Python" if record.engine == OURS else record.engine
    holds = abs(ours - number) <= 0.5 * 10.0**-decimals
    requirement = f"{number:.{decimals}f}, to {decimals} decimals"
    return Answer(f"{quantity} by {engine}", requirement, ours, holds)


def _value(record: Importance, name: str) -> tuple[str, float]:
    """Return the quantity of a row of a printed table, in words, and our number."""
    if name in record.features or name not in (FULL, Y_PERMUTED):
        (number,) = numbers_of(record, record.mean, (name,))
        return f"value of {quote(name)}", float(number)
    if name == FULL:
        return "loss with nothing permuted", null_value_of(record)
    if not len(record.y_permuted):
        raise NotApplicable(f"{record.engine} did not permute the target.")
    loss, full = record.y_permuted.mean(), record.baseline.mean()
    with np.errstate(divide="ignore", invalid="ignore"):  # a model without any error
        in_form = {"difference": loss - full, "ratio": loss / full}
    return "loss with the target permuted", float(in_form.get(record.form, loss))
