"""The source of the predictions behind a number: the trees of a model, or its predict.

It is reported to callers such as the card of a method.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, NamedTuple, TypeAlias

from ...records.dataset_and_model import FittedModel

Basis: TypeAlias = Literal[
    "identical",
    "rounding",
    "losses",
    "means",
    "no_numba",
    "few",
    "differ",
    "unread",
    "predict",
]


WORTH = 30_000
"""Rows that predict takes in the time of reading trees and loading loops."""
ROWS_OF_CALL = 250
"""Rows that predict of many trees takes in the time of a call itself."""


def is_worth_reading(n_calls: float, n_rows: int) -> bool:
    """Return whether trees are used in place of so many calls of predict.

    The choice depends on these sizes alone, so that numbers which trees and predict
    round differently never depend on a clock. At worst, for few or shallow trees, it
    costs the third of a second that loading compiled loops takes once.

    Parameters
    ----------
    n_calls : float
        Calls of predict, as of draws or of points of a grid.
    n_rows : int
        Rows of each call.
    """
    return n_calls * (n_rows + ROWS_OF_CALL) >= WORTH


class Route(NamedTuple):
    """How a model gives predictions.

    Attributes
    ----------
    model : str
    basis : str
        With trees: "identical" to predict in every bit, or up to the "rounding" of a
        sum that threads add in any order; "losses", the means over all permutations, or
        "means" of predictions, as sums over leaves. With predict: "no_numba"; "few"
        predictions; trees that "differ" from predict; or trees "unread". "predict" if
        trees were not considered.
    reason : str
        Why trees are unread, in plain words.
    n_predictions : int
        Number of rows that predict was called for, 0 if they were not counted.
    """

    model: str
    basis: Basis
    reason: str = ""
    n_predictions: int = 0


_REPORT: ContextVar[Callable[[Route], None] | None] = ContextVar(
    "_REPORT", default=None
)


@contextmanager
def reporting_routes(report: Callable[[Route], None]) -> Iterator[None]:
    """Call `report` with each route that predictions take inside the block."""
    token = _REPORT.set(report)
    try:
        yield
    finally:
        _REPORT.reset(token)


def report_route(
    model: FittedModel, basis: Basis, reason: str = "", n_predictions: int = 0
) -> None:
    """Report how a model gives the predictions of a question."""
    if report := _REPORT.get():
        report(Route(model.name, basis, reason, n_predictions))
