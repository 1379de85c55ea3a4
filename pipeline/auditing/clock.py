"""The time limit of an audit: how much is left, and what stops models once it is over.

Not: who is asked before it ends (`audit`).
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pandas as pd

from ..records.dataset_and_model import Dataset, FittedModel, Floats
from ..records.errors import OutOfTime, several
from ..records.finding import Finding
from ..records.interrupt import pending

GRACE_SECONDS = 3.0
"""What a call has to end by itself once the time limit is over."""
REPORT_SECONDS = 6.0
"""What comes after the measuring on a quiet machine, without its long tables."""
ROW_SECONDS = 0.014
"""What a row of a table costs there: of the columns, and of each ranking."""
LARGEST_SHARE = 0.5
"""Of the time limit, what is kept for the report at most."""
REMEDY = (
    "Raise --minutes or minutes under [limits], or reduce the work: fewer entries, "
    "max_rows, max_repeats."
)


@dataclass
class Clock:
    """How long models may be asked; sent to a worker, it has no limit.

    Attributes
    ----------
    minutes : float or None
        After so many, from when the clock was begun, no model is asked any more.
    begun : float
        When that was, by `time.monotonic`.
    n_rows : int
        Of the report's tables as far as they are known: of the columns, and of the
        rankings until now.
    cut_short, not_begun : list of str
        The questions and the steps that the time limit left without an answer.
    deadline : float
        When the question under way is ended for the sake of those to come, by
        `time.monotonic`.
    """

    minutes: float | None = None
    begun: float = field(default_factory=lambda: time.monotonic())
    n_rows: int = 0
    cut_short: list[str] = field(default_factory=list)
    not_begun: list[str] = field(default_factory=list)
    deadline: float = float("inf")

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave the limit behind."""
        return Clock, ()

    @property
    def limit(self) -> str:
        """The name of the time limit."""
        return f"the time limit of {several(self.minutes or 0.0, 'minute')}"

    @property
    def seconds_of_run(self) -> float:
        """How long until the time limit is over; infinite if there is none."""
        return self.begun + 60 * (self.minutes or float("inf")) - time.monotonic()

    @property
    def seconds_left(self) -> float:
        """How long models may be asked; the report, as it grows, has its share."""
        report = REPORT_SECONDS + ROW_SECONDS * self.n_rows
        return self.seconds_of_run - min(
            report, LARGEST_SHARE * 60 * (self.minutes or 0.0)
        )

    @property
    def is_late(self) -> bool:
        """Whether models are not to be asked any more."""
        return self.seconds_left < 0

    @contextmanager
    def within(self, share: float) -> Iterator[None]:
        """End what is asked inside after this share of the time that is left."""
        self.deadline = time.monotonic() + share * self.seconds_left
        try:
            yield
        finally:
            self.deadline = float("inf")

    def require_time(self) -> None:
        """Raise a request to stop that was lost on its way, or that time is over."""
        if (request := pending()) is not None:
            raise request
        if self.is_late:
            raise OutOfTime(f"{self.limit} was reached.")
        if time.monotonic() > self.deadline:
            raise OutOfTime(f"its share of {self.limit} was used up.")

    def watched(self, model: FittedModel) -> FittedModel:
        """Return a model that is not asked once time is over, as its refits are not."""
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
        self, fit_on: Callable[..., FittedModel], rows: Dataset, seed: int | None
    ) -> FittedModel:
        self.require_time()
        return self.watched(fit_on(rows, seed))

    def cuts(self) -> Iterator[Finding]:
        """Yield what the time limit left without an answer: questions and steps."""
        labels = {"Cut short": self.cut_short, "Not begun": self.not_begun}
        names = [
            f"{words}: {'; '.join(dict.fromkeys(each))}."
            for words, each in labels.items()
            if each
        ]
        if names and self.minutes:
            limit = self.limit.replace("the", "The", 1)
            yield Finding(
                check="time_limit",
                severity="warning",
                subject="audit",
                message=f"{limit} was reached before everything was measured. "
                + " ".join(names),
                remedy=REMEDY,
            )
