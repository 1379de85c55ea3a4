"""What an audit will cost: predictions counted from its questions, timed as they come.

Not: what is done once there is no time left (`journal`).
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import prod
from typing import Any

from ..config.load import ImportanceSection
from ..data.column_types import is_category
from ..engines import ENGINES, EngineInfo
from ..engines.xplainfi import seconds_of_search
from ..methods.importance import METHODS, sage
from ..methods.trees.fitted import trees_may_answer
from ..methods.trees.routes import is_worth_reading
from ..records.dataset_and_model import Dataset, FittedModel
from ..records.errors import several
from . import measure

SHORT = 10.0
"""Seconds below which nobody needs to be told what is left."""
BY_TREES = 1 / 10
"""What trees take for many predictions, against predict: 1/12 or less was measured."""
COUNTED = 2000
"""Most sets of columns whose different values are counted."""
FEW, OF_MORE = 20, 1 / 40
"""What they take for features beyond so many: few nodes are on each (1/45 measured)."""
PAIRS_BY_TREES = 10.0
"""Predictions of all rows in whose time trees know the interactions of 190 pairs."""


@dataclass(frozen=True)
class Calls:
    """How many predictions of all rows a question takes the time of.

    Attributes
    ----------
    ours : float
    engines : float
        What R engines ask, and we once more in their draw order.
    by_trees : bool
        Whether trees are to answer us, so that predict is not asked as often.
    search : float
        Seconds that xplainfi takes beside them to find neighbours.
    """

    ours: float
    engines: float = 0.0
    by_trees: bool = False
    search: float = 0.0

    @property
    def total(self) -> float:
        """Those of all who ask."""
        return self.ours + self.engines


def calls_of(
    entry: ImportanceSection,
    model: FittedModel | None,
    rows: Dataset,
    engines: Mapping[str, EngineInfo],
) -> Calls | None:
    """Return how many predictions a question takes the time of.

    The parameters are those of `count_calls`; None of what cannot be counted.
    """
    calls = count_calls(entry, model, rows)
    if calls is None or model is None or not calls:
        return None if calls is None else Calls(0.0)
    counted = _calls_by_trees(entry, model, rows, engines, calls)
    options, n_losses = entry.options, len(model.losses)
    if options.get("within") != "neighbours" or "xplainfi" not in entry.engines:
        return counted
    if not engines["xplainfi"].available:
        return counted
    search = seconds_of_search(rows, options.get("convention", "standard"), n_losses)
    return replace(counted, search=search)


def _calls_by_trees(
    entry: ImportanceSection,
    model: FittedModel,
    rows: Dataset,
    engines: Mapping[str, EngineInfo],
    calls: float,
) -> Calls:
    """Return what so many calls of ours take where trees answer some, and engines."""
    more = calls * (_times_asked(entry, model, rows, engines) - 1)
    of_question = calls
    if entry.method not in ("permutation", "h_statistic"):  # a curve is asked by itself
        of_question /= max(1, len(rows.groups))
    may_be_read = (
        entry.method in ASKED_OF_TREES
        and entry.options.get("draws") != "exact"
        and is_worth_reading(of_question, rows.n_samples)
        and trees_may_answer(model)
    )
    if not may_be_read:
        return Calls(calls, more)
    few = min(1.0, FEW / len(rows.groups))
    by_trees = calls * (few * BY_TREES + (1 - few) * OF_MORE)
    if entry.method == "h_statistic":
        by_trees = min(by_trees, PAIRS_BY_TREES * max(1.0, len(rows.groups) / 190))
    return Calls(1 + by_trees, more, by_trees=True)


ASKED_OF_TREES = (
    *("permutation", "partial_dependence", "curve_impact", "curve_importance"),
    *("h_statistic", "vint", "pd_importance"),
)
"""Methods whose predictions trees can give."""


def count_calls(
    entry: ImportanceSection, model: FittedModel | None, rows: Dataset
) -> float | None:
    """Return how often a question of ours asks predict about all rows, or trees.

    Parameters
    ----------
    entry : ImportanceSection
    model : FittedModel or None
        None is never asked.
    rows : Dataset
        Those of `measure.rows_for`: its groups are what is asked about.

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
        names = (name for name in rows.features if name in rows.groups)
        calls = sum(_points(rows, name, entry) for name in names)
    else:
        return None
    return calls


def _times_asked(
    entry: ImportanceSection,
    model: FittedModel,
    rows: Dataset,
    engines: Mapping[str, EngineInfo],
) -> int:
    """Return how often a question is asked: by us, and by each engine there is.

    An engine asks once per loss, and we once more where its draws are repeated.
    """
    method, times = METHODS[entry.method], 1
    for name in entry.engines:
        info, tables = engines[name], ENGINES[name]
        is_asked = entry.method in tables["importance"]
        is_asked = is_asked or measure.curve_of(entry) in tables["effects"]
        if info.available and is_asked:
            times += len(model.losses) if method.unit == "loss" else 1
            primary = measure.primary_stream(entry)
            times += measure.wants_run_beside(entry, rows, info, primary)
    return times


_ENSEMBLES = ("random_subspace", "random_subspace_permutation")
"""Methods whose small models are asked about the rows that their samples left out."""


def count_fits(entry: ImportanceSection, model: FittedModel, rows: Dataset) -> int:
    """Return how often a question fits a model again."""
    if METHODS[entry.method].asks != "refit":
        return 0
    n_repeats, features = int(entry.options.get("n_repeats", 1)), set(model.features)
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

    Of drawn rows, and of many groups, it is the most: there may be fewer different
    values.
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
    asked = sum(min(taken, count) for count in _distinct(rows, sets))
    return float(times * asked * taken / rows.n_samples)


def _distinct(rows: Dataset, sets: Sequence[tuple[str, ...]]) -> Iterator[int]:
    """Yield how many different values each set of columns has among some rows.

    Of many sets it is the most that their columns allow: to count takes too long.
    """
    names = {name for columns in sets for name in columns}
    single = {name: rows.X[name].nunique(dropna=False) for name in names}
    for columns in sets:
        counts = [single[name] for name in columns]
        if len(counts) > 1 and max(counts) < len(rows.X) and len(sets) <= COUNTED:
            yield len(rows.X[list(columns)].drop_duplicates())
        else:
            yield min(prod(counts), len(rows.X))


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
    searches : dict of str to float
        By step, the seconds that xplainfi is still to search neighbours.
    uncounted : list of str
        The steps whose calls cannot be counted beforehand.
    by_trees : bool
        Whether trees are to answer some, so that calls are but a measure of time.
    spent : mapping of str to (int, float)
        By model, rows and seconds of the calls on all rows, or more.
    """

    n_rows: int = 1
    planned: dict[str, tuple[str, float]] = field(default_factory=dict)
    fits: dict[str, int] = field(default_factory=dict)
    fit_seconds: float = 0.0
    searches: dict[str, float] = field(default_factory=dict)
    uncounted: list[str] = field(default_factory=list)
    by_trees: bool = False
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
        self.searches.pop(step, None)
        if step in self.uncounted:
            self.uncounted.remove(step)

    def seconds_of(self, step: str) -> float:
        """Return how long the calls and fits of a step that are to come will take."""
        model, calls = self.planned.get(step, ("", 0.0))
        rows, seconds = self.spent.get(model, (1, 0.0))
        of_calls = calls * self.n_rows * seconds / rows
        of_fits = self.fits.get(step, 0) * self.fit_seconds
        return of_calls + of_fits + self.searches.get(step, 0.0)

    def seconds_left(self) -> float:
        """Return how long the calls and fits that are still to come will take."""
        return sum(self.seconds_of(step) for step in {*self.planned, *self.fits})

    def share_of(self, step: str, seconds: float) -> float:
        """Return how many of so many seconds are those of a step.

        If there is time for all steps, in proportion to what they take. Else all get
        the same at most, and what one does not need goes to the others; what cannot be
        counted needs as much as it gets.
        """
        needs = {name: self.seconds_of(name) for name in (*self.planned, *self.fits)}
        own = needs.get(step, 0.0)
        if not own:
            return seconds
        total = sum(needs.values())
        if total <= seconds and not self.uncounted:
            return seconds * own / total
        level, left = 0.0, seconds
        n_waiting = len(needs) + len(self.uncounted)
        for need in sorted(needs.values()):
            level = left / n_waiting
            if need > level:
                break
            left, n_waiting = left - need, n_waiting - 1
        return level

    def words_left(self) -> str:
        """Return how much time is left, empty where it is short."""
        seconds = self.seconds_left()
        if seconds < SHORT:
            return ""
        return f"{self._least()} {in_words(seconds)} left"

    def words(self) -> str:
        """Return what the audit costs, and how to bound it."""
        n_calls = sum(calls for _, calls in self.planned.values())
        of = "the time of " * self.by_trees
        asked = f"{of}{_round(n_calls)} predict calls on {self.n_rows} rows"
        if n_fits := sum(self.fits.values()):
            asked += f" and {_round(n_fits)} fits"
        time = f"{in_words(self.seconds_left())} on {_cores()}"
        if (search := sum(self.searches.values())) >= SHORT:
            time += f", {in_words(search)} of it for xplainfi's search of neighbours"
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
