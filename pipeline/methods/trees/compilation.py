"""All loops over trees, compiled once, so that no audit waits for it.

numba compiles a loop for each set of types that it is called with. Those of audits are
those of the small ensembles here: one leaf value or several, with and without missing
values and categories.
"""

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

from ...records.dataset_and_model import Floats
from ...records.losses import LOSSES, OF_ROWS
from . import compiled, pack
from .boxes import boxes_of
from .counts import counts_of
from .exact import OF_ERRORS, exact_losses
from .h_statistic import Pairs
from .ice import dependences, sums_at
from .packing import Packing, predict
from .partial_dependence import curves_at_bins, reason_against
from .replay import replay

N_ROWS, N_FEATURES = 150, 3
"""Rows are more than one block of a replay, whose slices are no arrays in one piece."""
CATEGORY = 2
"""The column that histogram boosting reads as categories."""


def compile_loops() -> float:
    """Compile every loop that audits call, and keep what was compiled.

    Returns
    -------
    float
        The seconds that it took: few if it was done before.
    """
    start = perf_counter()
    reversed_rows = np.arange(N_ROWS)[::-1]
    for packing, rows, y in _ensembles():
        bins = packing.bins(rows)
        for n_threads in (1, 2):
            draws = [(j, reversed_rows) for j in range(N_FEATURES)]
            groups = [[j] for j in range(N_FEATURES)]
            list(replay(packing, bins, groups, draws, n_threads=n_threads))
        predict(packing, rows)
        sums_at(packing, bins, [0], bins[:1])
        dependences(packing, bins, [0])
        _compile_losses(packing, rows, y)
        if not reason_against(packing):
            curves_at_bins(packing, bins)
            boxes = boxes_of(packing)
            counts_of(boxes, bins[boxes.used], lists=True)
            Pairs(packing, bins).together(0, 1)
    compiled.note_completion()
    return perf_counter() - start


def _compile_losses(packing: Packing, rows: Floats, y: Any) -> None:
    """Compile what takes the mean losses over all permutations."""
    n_classes = packing.predicted(packing.start[np.newaxis]).shape[1]
    tasks = {1: "regression", 2: "binary"}
    task = tasks.get(n_classes, "multiclass")
    losses = [name for name in OF_ROWS if task in LOSSES[name].tasks]
    columns = {"regression": 0, "binary": 1}.get(task, range(n_classes))
    weights = np.ones(N_ROWS)
    powers = [name for name in losses if OF_ROWS[name] in OF_ERRORS]
    for names in (losses, powers):  # powers alone have a loop of their own
        exact_losses(packing, rows, y, weights, names, columns=columns)


def _ensembles() -> Iterator[tuple[Packing, Floats, Any]]:
    """Yield ensembles of every kind, packed, with rows and their target."""
    from sklearn.ensemble import (
        GradientBoostingClassifier,
        HistGradientBoostingClassifier,
        HistGradientBoostingRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )

    rng = np.random.default_rng(1)
    rows = rng.uniform(size=(N_ROWS, N_FEATURES))
    rows[:, CATEGORY] = np.arange(N_ROWS) % 4
    number = 1 + rows[:, 0] + rows[:, 1] * rows[:, CATEGORY]
    holes = np.where(rng.random(rows.shape) < 0.1, np.nan, rows)
    few = {"n_estimators": 2, "random_state": 1}
    histogram = {"max_iter": 2, "min_samples_leaf": 3, "random_state": 1}
    categories = {"categorical_features": [CATEGORY]}
    for estimator, X, n_classes in (
        (RandomForestRegressor(**few), rows, 0),
        (RandomForestClassifier(**few), rows, 3),
        (GradientBoostingClassifier(**few), rows, 3),
        (HistGradientBoostingRegressor(**histogram, **categories), holes, 0),
        (HistGradientBoostingClassifier(**histogram, **categories), holes, 2),
    ):
        edges = np.quantile(number, np.arange(1, n_classes) / max(1, n_classes))
        y: Any = np.searchsorted(edges, number) if n_classes else number
        packing = pack(estimator.fit(X, y))
        assert isinstance(packing, Packing), packing
        yield packing, X, y
