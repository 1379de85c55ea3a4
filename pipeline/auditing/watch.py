"""Models that are not asked once the audit is to stop, and whose calls are timed.

Not: whose time it is (`journal`), nor what is made of it (`cost`).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pandas as pd

from ..records.dataset_and_model import Dataset, FittedModel, Floats
from ..records.execution import note


def _go_on() -> None:
    pass


@dataclass(frozen=True)
class Watch:
    """Who is asked before a call of a model, and told how long it took.

    Sent to a worker, it asks nobody, and what it is told returns with the answer.

    Attributes
    ----------
    require_time : callable
        Raises if no model is to be asked any more.
    count : callable
        ``count(model, n_rows, seconds)`` of a prediction; of a fit without rows.
    """

    require_time: Callable[[], None] = _go_on
    count: Callable[[str, int, float], None] = note

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave the journal behind."""
        return Watch, ()

    def watched(self, model: FittedModel) -> FittedModel:
        """Return a model that is watched, as are those that it is fitted anew to."""
        fit_on = model.fit_on and partial(self._fit_on, model.fit_on)
        predict = partial(self._predict, model.name, model.predict)
        vars(predict)["__wrapped__"] = model.predict  # it answers the same
        instead = {loss: self.watched(other) for loss, other in model.instead.items()}
        return replace(model, predict=predict, fit_on=fit_on, instead=instead)

    def _predict(
        self, name: str, predict: Callable[[pd.DataFrame], Floats], X: pd.DataFrame
    ) -> Floats:
        self.require_time()
        start = time.perf_counter()
        prediction = predict(X)
        self.count(name, len(X), time.perf_counter() - start)
        return prediction

    def _fit_on(
        self,
        fit_on: Callable[..., FittedModel],
        rows: Dataset,
        seed: int | None,
    ) -> FittedModel:
        self.require_time()
        start = time.perf_counter()
        model = self.watched(fit_on(rows, seed))
        self.count(model.name, 0, time.perf_counter() - start)
        return model
