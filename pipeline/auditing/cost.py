"""What an audit will cost: predictions counted from its questions, timed as they come.

Not: what is done once there is no time left (`journal`).
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from math import prod
from typing import Any

from ..config.load import ImportanceSection
from ..data.column_types import is_category
from ..engines import ENGINES, EngineInfo
from ..methods.importance import METHODS, sage
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
        beforehand: how often it asks depends on its draws.
    """
    method, options = METHODS[entry.method], entry.options
    if model is None or method.asks in ("estimator", "data"):
        return 0.0
    if entry.of == "pairs" and entry.top:
        return None
    if method.asks == "refit":
        return None if entry.method in _ENSEMBLES else count_fits(entry, model, rows)
    if options.get("draws") == "exact":
        calls = 1.0
    elif entry.method == "permutation":
        share = (options.get("n_rows") or rows.n_samples) / rows.n_samples
        calls = (len(rows.groups) + 1) * options["n_repeats"] * share
    elif entry.method == "shapley":
        counted = _calls_of_shapley(options, model, rows)
        if counted is None:
            return None
        calls = counted
    elif entry.method == "sage":
        calls = _calls_of_sage(options, model, rows)
    elif entry.method in ("h_statistic", "vint"):
        calls = _calls_of_pairs(entry, rows)
    elif measure.curve_of(entry) and "n_grid" in options:
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


_ENSEMBLES = ("random_subspace", "random_subspace_permutation")
"""Methods whose small models are asked about the rows that their samples left out."""


def count_fits(entry: ImportanceSection, model: FittedModel, rows: Dataset) -> int:
    """Return how often a question fits a model again."""
    if METHODS[entry.method].asks != "refit":
        return 0
    n_repeats, features = int(entry.options["n_repeats"]), set(model.features)
    if entry.method in _ENSEMBLES:
        return n_repeats
    units = [features & set(columns) for columns in rows.groups.values()]
    if entry.method == "shapley_refit":
        return n_repeats * (2 ** _count_players(model, rows) - 1)
    if entry.method == "drop_column":  # without any column there is nothing to fit
        units = [unit for unit in units if unit != features]
    return n_repeats * (1 + len([*filter(None, units)]))


def _calls_of_shapley(
    options: Mapping[str, Any], model: FittedModel, rows: Dataset
) -> float | None:
    """Return the calls for Shapley values, None if another package's draws say."""
    names = ("n_rows", "n_background", "algorithm", "n_repeats", "stream")
    n_rows, n_background, algorithm, n_repeats, stream = map(options.get, names)
    if stream not in (None, "numpy") or algorithm == "linear":
        return None
    features = set(model.features)
    sizes = [len(features & set(columns)) for columns in rows.groups.values()]
    joined = [len(features) - size + 1 for size in sizes if size > 1]
    games = [len(features)] * (1 in sizes) + joined  # each by its number of players
    n = int((rows.weights > 0).sum())
    explained = min(n_rows or n, n)
    if algorithm == "sampling":
        asked = options["n_permutations"] * sum(q + 1 for q in games) * explained
        return float(n_repeats * asked / rows.n_samples)
    others = 1 if options["background"] == "means" else min(n_background or n, n)
    times = n_repeats if n_rows or n_background else 1
    return float(times * sum(2**q for q in games) * explained * others / rows.n_samples)


def _calls_of_sage(
    options: Mapping[str, Any], model: FittedModel, rows: Dataset
) -> float:
    """Return the calls for SAGE values: the most, if orders are drawn."""
    n = int((rows.weights > 0).sum())
    n_draws = options["n_background"]
    if options["background"] == "rows":
        n_draws = min(n_draws, n)
    n_coalitions = sage.most_coalitions(
        options["algorithm"], _count_players(model, rows), options["n_repeats"]
    )
    asked = min(options["n_rows"] or n, n) * (n_coalitions * n_draws + 1)
    return float(asked / rows.n_samples)


def _count_players(model: FittedModel, rows: Dataset) -> int:
    """Return how many groups, and other features alone, a model reads."""
    features = set(model.features)
    units = [features & set(columns) for columns in rows.groups.values()]
    return len([*filter(None, units)]) + len(features - set().union(*units))


def _calls_of_pairs(entry: ImportanceSection, rows: Dataset) -> float:
    """Return the calls for the interactions of the groups of some rows.

    Of drawn rows it is the most: they may hold fewer different values.
    """
    n, n_rows = int((rows.weights > 0).sum()), entry.options.get("n_rows")
    taken = min(n_rows or n, n)
    times = entry.options["n_repeats"] if taken < n else 1
    groups = list(rows.groups.values())
    if entry.method == "vint":
        points = sum(prod(_points(rows, c, entry) for c in pair) for pair in groups)
        return float(times * points * taken / rows.n_samples)
    names = {name for columns in groups for name in columns}
    sets: list[tuple[str, ...]] = [(name,) for name in names]
    for columns in groups:
        for size in range(2, len(columns) + 1):
            sets += combinations(columns, size)
    drop = rows.X.drop_duplicates
    asked = sum(min(taken, len(drop(list(columns)))) for columns in sets)
    return float(times * asked * taken / rows.n_samples)


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
    fits : mapping of str to int
        By step, how often models are still to be fitted again.
    fit_seconds : float
        How long the last fit took.
    uncounted : list of str
        The steps whose calls cannot be counted beforehand.
    spent : mapping of str to (int, float)
        By model, rows and seconds of the calls on all rows, or more.
    """

    n_rows: int = 1
    planned: dict[str, tuple[str, float]] = field(default_factory=dict)
    fits: dict[str, int] = field(default_factory=dict)
    fit_seconds: float = 0.0
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

    def add_fit(self, step: str, seconds: float) -> None:
        """Count one model that was fitted again."""
        self.fit_seconds = seconds
        if self.fits.get(step):
            self.fits[step] -= 1

    def finish(self, step: str) -> None:
        """Expect no more calls in a step."""
        self.planned.pop(step, None)
        self.fits.pop(step, None)

    def seconds_left(self) -> float:
        """Return how long the calls and fits that are still to come will take."""
        total = sum(self.fits.values()) * self.fit_seconds
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
        if n_fits := sum(self.fits.values()):
            asked += f" and {_round(n_fits)} fits"
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
