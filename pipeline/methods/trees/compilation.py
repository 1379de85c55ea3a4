"""Compilation of all loops over trees, so that no audit waits for it.

numba compiles a loop for each combination of argument types. Audits use the types of
the small ensembles here: one leaf value or several, with and without missing values and
categories.
"""

from collections.abc import Mapping
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ...records.dataset_and_model import Floats
from ...records.errors import words
from ...records.losses import LOSSES, OF_ROWS
from . import compiled, pack
from .boxes import boxes_of
from .counts import counts_of
from .dependences import dependences
from .exact import OF_ERRORS, exact_losses
from .few_leaves import MOST_LEAVES
from .packing import Packing, predict
from .pairs import Pairs
from .partial_dependence import curves_at_bins, reason_against
from .replay import replay

N_ROWS, N_FEATURES = 150, 3
"""More rows than one block of a replay, whose slices are not contiguous arrays."""
CATEGORY = 2
"""The column that boosting reads as categories, if it can."""


class _Kind(NamedTuple):
    """A class of small ensembles, which predict a number if `n_classes` is 0."""

    name: str
    settings: Mapping[str, Any]
    n_classes: int = 0
    has_missing: bool = False


class _Small(NamedTuple):
    """A small ensemble whose trees reproduce its predictions, with rows and target."""

    packing: Packing
    rows: Floats
    y: Any


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
        Duration: few if the loops were compiled before.
    unread : dict of str to str
        Why the trees of some class are not read, by its name: predict is then used,
        and its loops are not compiled.
    """
    start = perf_counter()
    unread = {}
    for kind in ENSEMBLES:
        small = _small(kind)
        if isinstance(small, str):
            unread[kind.name] = small
        else:
            _compile_for(*small)
    compiled.note_completion()
    return perf_counter() - start, unread


def _compile_for(packing: Packing, rows: Floats, y: Any) -> None:
    """Compile the loops that audits call for one ensemble."""
    reversed_rows = np.arange(N_ROWS)[::-1]
    bins = packing.bins(rows)
    draws = [(j, reversed_rows) for j in range(N_FEATURES)]
    groups = [[j] for j in range(N_FEATURES)]
    for most_leaves in (0, MOST_LEAVES):  # by a walk, and by sets of leaves
        list(replay(packing, bins, groups, draws, most_leaves=most_leaves))
    dependences(packing, bins, [0])
    _compile_losses(packing, rows, y)
    if not reason_against(packing):
        curves_at_bins(packing, bins)
        boxes = boxes_of(packing)
        counts_of(boxes, bins[boxes.used], lists=True)
        Pairs(packing, bins).together(0, 1)


def _compile_losses(packing: Packing, rows: Floats, y: Any) -> None:
    """Compile the loops of the mean losses over all permutations."""
    n_classes = packing.predicted(packing.start[np.newaxis]).shape[1]
    tasks = {1: "regression", 2: "binary"}
    task = tasks.get(n_classes, "multiclass")
    losses = [name for name in OF_ROWS if task in LOSSES[name].tasks]
    columns = {"regression": 0, "binary": 1}.get(task, range(n_classes))
    weights = np.ones(N_ROWS)
    powers = [name for name in losses if OF_ROWS[name] in OF_ERRORS]
    for names in (losses, powers):  # powers alone have a loop of their own
        exact_losses(packing, packing.bins(rows), y, weights, names, columns=columns)


def _small(kind: _Kind) -> _Small | str:
    """Return a small ensemble, or why its trees are not read."""
    from sklearn import ensemble

    rng = np.random.default_rng(1)
    rows = rng.uniform(size=(N_ROWS, N_FEATURES))
    rows[:, CATEGORY] = np.arange(N_ROWS) % 4
    number = 1 + rows[:, 0] + rows[:, 1] * rows[:, CATEGORY]
    if kind.has_missing:
        rows = np.where(rng.random(rows.shape) < 0.1, np.nan, rows)
    edges = np.quantile(number, np.arange(1, kind.n_classes) / max(1, kind.n_classes))
    y: Any = np.searchsorted(edges, number) if kind.n_classes else number
    try:
        model = getattr(ensemble, kind.name)(**kind.settings)
        model.fit(rows, y)
        expected = (model.predict_proba if kind.n_classes else model.predict)(rows)
    except Exception as error:  # the library can raise anything
        return f"It cannot be fitted: {type(error).__name__}: {words(error)}"
    packing = pack(model)
    if isinstance(packing, str):
        return packing
    if not np.array_equal(predict(packing, rows), expected.reshape(N_ROWS, -1)):
        return "Its trees give other predictions than its predict."
    return _Small(packing, rows, y)
