"""The time limit of an audit: the remaining time, and stopping models after it.

Not: the order of steps before it ends (`audit`).
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
"""Seconds that a call has to finish after the time limit."""
REPORT_SECONDS = 6.0
"""Seconds for the report on a quiet machine, without its long tables."""
ROW_SECONDS = 0.014
"""Seconds per row of the tables of columns and of each ranking."""
LARGEST_SHARE = 0.5
"""Largest share of the time limit that is reserved for the report."""
REMEDY = (
    "Raise --minutes or minutes under [limits], or reduce the work: fewer entries, "
    "max_rows, max_repeats."
)


@dataclass
class Clock:
    """The time in which models may be called; unlimited when sent to a worker.

    Attributes
    ----------
    minutes : float or None
        The time limit, from `begun`.
    begun : float
        Start of the clock, by `time.monotonic`.
    n_report_rows : int
        Number of rows of the report's tables of columns and of rankings, so far.
    cut_short, not_begun : list of str
        The questions and the steps that the time limit cut short or skipped.
    deadline : float
        End of the current question, which leaves time for later ones, by
        `time.monotonic`.
    """

    minutes: float | None = None
    begun: float = field(default_factory=lambda: time.monotonic())
    n_report_rows: int = 0
    cut_short: list[str] = field(default_factory=list)
    not_begun: list[str] = field(default_factory=list)
    deadline: float = float("inf")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the limit."""
        return Clock, ()

    @property
    def limit(self) -> str:
        """The name of the time limit."""
        return f"the time limit of {several(self.minutes or 0.0, 'minute')}"

    @property
    def seconds_of_run(self) -> float:
        """Seconds until the time limit; infinite if there is none."""
        return self.begun + 60 * (self.minutes or float("inf")) - time.monotonic()

    @property
    def seconds_left(self) -> float:
        """Seconds in which models may be called: the report needs the rest."""
        report = REPORT_SECONDS + ROW_SECONDS * self.n_report_rows
        return self.seconds_of_run - min(
            report, LARGEST_SHARE * 60 * (self.minutes or 0.0)
        )

    @property
    def is_late(self) -> bool:
        """Whether models may no longer be called."""
        return self.seconds_left < 0

    @contextmanager
    def within(self, share: float) -> Iterator[None]:
        """Limit the block to a share of the remaining time."""
        self.deadline = time.monotonic() + share * self.seconds_left
        try:
            yield
        finally:
            self.deadline = float("inf")

    def require_time(self) -> None:
        """Raise a pending request to stop, or `OutOfTime` if the time is over."""
        if (request := pending()) is not None:
            raise request
        if self.is_late:
            raise OutOfTime(f"{self.limit} was reached.")
        if time.monotonic() > self.deadline:
            raise OutOfTime(f"its share of {self.limit} was used up.")

    def watched(self, model: FittedModel) -> FittedModel:
        """Return a model whose predict and refits check the time limit first."""
        fit_on = model.fit_on and partial(self._fit_on, model.fit_on)
        predict = partial(self._predict, model.predict)
        vars(predict)["__wrapped__"] = model.predict  # same predictions
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
        """Yield the finding about questions and steps that the time limit cut."""
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
