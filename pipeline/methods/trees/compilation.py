"""Compilation of all loops over trees, so that no audit waits for it.

numba compiles a loop for each combination of argument types. Audits use the types of
the small ensembles here: one leaf value or several, with and without missing values and
categories.
"""

from collections.abc import Mapping
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ...records.losses import LOSSES, OF_ROWS
from . import compiled, pack
from .boxes import boxes_of
from .counts import counts_of
from .dependences import dependences
from .exact import OF_ERRORS, exact_losses
from .few_leaves import MOST_LEAVES
from .packing import predict
from .pairs import Pairs
from .partial_dependence import curves_at_bins, reason_against
from .replay import replay

N_ROWS, N_FEATURES = 150, 3
"""More rows than one block of a replay, whose slices are not contiguous arrays."""
CATEGORY = 2
"""The column that histogram boosting reads as categories."""
TASKS = {0: "regression", 2: "binary", 3: "multiclass"}
"""By the number of classes."""


class _Kind(NamedTuple):
    """A class of small ensembles, which predict a number if `n_classes` is 0."""

    name: str
    settings: Mapping[str, Any]
    n_classes: int = 0
    has_missing: bool = False


_FEW = {"n_estimators": 2, "random_state": 1}
_BINNED = {
    "max_iter": 2,
    "min_samples_leaf": 3,
    "random_state": 1,
    "categorical_features": [CATEGORY],
}
ENSEMBLES = (
    _Kind("RandomForestRegressor", _FEW),
    _Kind("RandomForestClassifier", _FEW, 3),
    _Kind("GradientBoostingClassifier", _FEW, 3),
    _Kind("HistGradientBoostingRegressor", _BINNED, 0, True),
    _Kind("HistGradientBoostingClassifier", _BINNED, 2, True),
)
"""Ensembles whose loops are compiled."""


def compile_loops() -> tuple[float, dict[str, str]]:
    """Compile every loop that audits call, and cache the compiled code.

    Returns
    -------
    seconds : float
        The time that it took.
    unread : dict of str to str
        By the names of ensembles that cannot be read, the reason why.
    """
    start = perf_counter()
    reasons = {kind.name: _compile_for(kind) for kind in ENSEMBLES}
    compiled.note_completion()
    return perf_counter() - start, {name: why for name, why in reasons.items() if why}


def _compile_for(kind: _Kind) -> str:
    """Compile the loops for one ensemble; return why it cannot be read, if so."""
    from sklearn import ensemble

    rng = np.random.default_rng(1)
    rows = rng.uniform(size=(N_ROWS, N_FEATURES))
    rows[:, CATEGORY] = np.arange(N_ROWS) % 4
    y: Any = 1 + rows[:, 0] + rows[:, 1] * rows[:, CATEGORY]
    if kind.has_missing:
        rows = np.where(rng.random(rows.shape) < 0.1, np.nan, rows)
    if kind.n_classes:
        edges = np.quantile(y, np.arange(1, kind.n_classes) / kind.n_classes)
        y = np.searchsorted(edges, y)
    model = getattr(ensemble, kind.name)(**kind.settings).fit(rows, y)
    packing = pack(model)
    if isinstance(packing, str):
        return packing
    expected = (model.predict_proba if kind.n_classes else model.predict)(rows)
    if not np.array_equal(predict(packing, rows), expected.reshape(N_ROWS, -1)):
        return "Its trees give other predictions than its predict."

    bins, reversed_rows = packing.bins(rows), np.arange(N_ROWS)[::-1]
    draws = [(j, reversed_rows) for j in range(N_FEATURES)]
    groups = [[j] for j in range(N_FEATURES)]
    for most_leaves in (0, MOST_LEAVES):  # by a walk, and by sets of leaves
        list(replay(packing, bins, groups, draws, most_leaves=most_leaves))
    dependences(packing, bins, [0])
    task, weights = TASKS[kind.n_classes], np.ones(N_ROWS)
    columns = {"regression": 0, "binary": 1}.get(task, range(kind.n_classes))
    losses = [name for name in OF_ROWS if task in LOSSES[name].tasks]
    powers = [name for name in losses if OF_ROWS[name] in OF_ERRORS]
    for names in (losses, powers):  # powers alone have a loop of their own
        exact_losses(packing, bins, y, weights, names, columns=columns)
    if not reason_against(packing):
        curves_at_bins(packing, bins)
        boxes = boxes_of(packing)
        counts_of(boxes, bins[boxes.used], lists=True)
        Pairs(packing, bins).together(0, 1)
    return ""
