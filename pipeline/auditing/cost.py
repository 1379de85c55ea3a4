"""What an audit will cost: predictions counted from its questions, timed as they come.

Not: what is done once there is no time left (`journal`).
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import comb

from ..config.load import ImportanceSection
from ..data.column_types import is_category
from ..engines import ENGINES, EngineInfo
from ..methods.importance import METHODS
from ..records.dataset_and_model import Dataset, FittedModel
from ..records.errors import several
from . import measure

SHORT = 10.0
"""Seconds below which nobody needs to be told what is left."""


def count_calls(
    entry: ImportanceSection,
    model: FittedModel | None,
    rows: Dataset,
    engines: Mapping[str, EngineInfo],
) -> float | None:
    """Return how often a question asks for predictions of all rows.

    Parameters
    ----------
    entry : ImportanceSection
    model : FittedModel or None
        None is never asked.
    rows : Dataset
        Those of `measure.rows_for`: its groups are what is asked about.
    engines : mapping of str to EngineInfo
        Each that is available asks as often as we do, once per loss, and we once more
        where its draws are repeated.

    Returns
    -------
    float or None
        A call on half of the rows counts half. None of a method that cannot be counted
        beforehand: it refits, or how often it asks depends on the data.
    """
    method, options = METHODS[entry.method], entry.options
    if model is None or method.asks in ("estimator", "data"):
        return 0.0
    n_groups = comb(entry.top, 2) if entry.of == "pairs" and entry.top else None
    if entry.method == "permutation":
        share = (options.get("n_rows") or rows.n_samples) / rows.n_samples
        calls = (len(rows.groups) + 1) * options["n_repeats"] * share
    elif measure.curve_of(entry) and "n_grid" in options and n_groups is None:
        calls = sum(_points(rows, name, entry) for name in rows.features)
    else:
        return None
    times = 1
    for name in entry.engines:
        info, tables = engines[name], ENGINES[name]
        is_asked = entry.method in tables["importance"]
        is_asked = is_asked or measure.curve_of(entry) in tables["effects"]
        if info.available and is_asked:
            times += len(model.losses) if method.unit == "loss" else 1
            primary = measure.primary_stream(entry)
            times += measure.wants_run_beside(entry, rows, info, primary)
    return calls * times


def _points(rows: Dataset, feature: str, entry: ImportanceSection) -> int:
    """Return at how many points the curve of a feature is taken."""
    if is_category(rows.X[feature]):
        return len(rows.X[feature].cat.categories)
    grid = entry.options.get("grid")
    if grid and not isinstance(grid, str):
        return len(grid)
    return int(entry.options["n_grid"])


@dataclass
class Pace:
    """How long models take to predict, and how much they are still to be asked.

    Attributes
    ----------
    n_rows : int
        The audited rows: a call counts by how many of them it asks about.
    planned : mapping of str to (str, float)
        By step, the model and the calls on all rows that are still to come.
    uncounted : list of str
        The steps whose calls cannot be counted beforehand.
    spent : mapping of str to (int, float)
        By model, rows and seconds of the calls on all rows, or more.
    """

    n_rows: int = 1
    planned: dict[str, tuple[str, float]] = field(default_factory=dict)
    uncounted: list[str] = field(default_factory=list)
    spent: dict[str, tuple[int, float]] = field(default_factory=dict)

    def add(self, model: str, step: str, n_rows: int, seconds: float) -> None:
        """Count one call of a model."""
        if n_rows >= self.n_rows > 1:
            rows, before = self.spent.get(model, (0, 0.0))
            self.spent[model] = rows + n_rows, before + seconds
        if step in self.planned:
            name, left = self.planned[step]
            self.planned[step] = name, max(0.0, left - n_rows / self.n_rows)

    def finish(self, step: str) -> None:
        """Expect no more calls in a step."""
        self.planned.pop(step, None)

    def seconds_left(self) -> float:
        """Return how long the calls that are still to come will take."""
        total = 0.0
        for model, calls in self.planned.values():
            rows, seconds = self.spent.get(model, (1, 0.0))
            total += calls * self.n_rows * seconds / rows
        return total

    def words_left(self) -> str:
        """Return how much time is left, empty where it is short."""
        seconds = self.seconds_left()
        if seconds < SHORT:
            return ""
        return f"{self._least()} {in_words(seconds)} left"

    def words(self) -> str:
        """Return what the audit costs, and how to bound it."""
        n_calls = sum(calls for _, calls in self.planned.values())
        asked = f"{_round(n_calls)} predict calls on {self.n_rows} rows"
        time = f"{in_words(self.seconds_left())} on {_cores()}"
        more = "; ".join(self.uncounted)
        without = f", without {more}" * bool(more)
        bound = "bound it with --minutes or [limits]"
        return f"{self._least()} {asked}, {time}{without}; {bound}"

    def _least(self) -> str:
        return "at least" if self.uncounted else "about"


def in_words(seconds: float) -> str:
    """Return a time that is not known exactly, such as "40 s", "4 min" or "2.5 h"."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 100 else f"{minutes / 60:.1f} h"


def _round(number: float) -> str:
    """Return a number to two digits, with a space between thousands."""
    return f"{int(float(f'{number:.2g}')):,}".replace(",", " ")


def _cores() -> str:
    has_affinity = hasattr(os, "sched_getaffinity")  # not on macOS
    return several(
        len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1, "core"
    )
