"""Models that are not asked once the audit is to stop. Not: whose time it is."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pandas as pd

from ..records.dataset_and_model import Dataset, FittedModel, Floats


def _go_on() -> None:
    pass


@dataclass(frozen=True)
class Watch:
    """Who is asked before a call of a model; sent to a worker, it asks nobody.

    Attributes
    ----------
    require_time : callable
        Raises if no model is to be asked any more.
    """

    require_time: Callable[[], None] = _go_on

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave the journal behind."""
        return Watch, ()

    def watched(self, model: FittedModel) -> FittedModel:
        """Return a model that is watched, as are those that it is fitted anew to."""
        fit_on = model.fit_on and partial(self._fit_on, model.fit_on)
        predict = partial(self._predict, model.predict)
        vars(predict)["__wrapped__"] = model.predict  # it answers the same
        instead = {loss: self.watched(other) for loss, other in model.instead.items()}
        return replace(model, predict=predict, fit_on=fit_on, instead=instead)

    def _predict(
        self, predict: Callable[[pd.DataFrame], Floats], X: pd.DataFrame
    ) -> Floats:
        self.require_time()
        return predict(X)

    def _fit_on(
        self,
        fit_on: Callable[..., FittedModel],
        rows: Dataset,
        seed: int | None,
    ) -> FittedModel:
        self.require_time()
        return self.watched(fit_on(rows, seed))
