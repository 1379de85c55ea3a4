"""Permutation importance over all permutations, exactly, of ensembles of trees.

Nothing is drawn: `trees.exact` computes it from the nodes. The predictions of the
packed trees are compared with the model's own `predict` first.
"""

from collections.abc import Sequence

import numpy as np

from ...records.dataset_and_model import Dataset, FittedModel, Floats, Form
from ...records.errors import NotApplicable, quote
from ...records.execution import n_threads
from ...records.influence import INFLUENCE
from ...records.losses import SUMS
from ..trees import compiled
from ..trees.exact import ExactLosses, exact_losses
from ..trees.fitted import NO_BINS, Trees, trees_of
from ..trees.packing import Integers
from ..trees.routes import report_route
from .method_result import Kept, MethodResult
from .row_terms import RowTerms

REMEDY = 'Set draws = "sampled".'
NEAR = 1e-6
"""Largest difference of predictions, as a share of the largest: threads of a library
add in any order, and some libraries add in float32."""


def exact_permutation(
    model: FittedModel,
    data: Dataset,
    *,
    form: Form,
    keep: Sequence[Kept],
) -> MethodResult:
    """Return the result of `permutation`, with one repeat for all permutations.

    Raises
    ------
    NotApplicable
        If the estimator is no ensemble of trees that can be read, or does not get one
        column for each feature; if columns are permuted together; or if a loss is not
        a mean over rows.
    """
    trees, bins = _trees(model, data)
    prediction = model.predict(data.X)
    if (
        np.abs(trees.predicted(bins) - prediction).max(initial=0)
        > NEAR * np.abs(prediction).max()
    ):
        raise NotApplicable(
            f"The trees of model {quote(model.name)} do not add up to what it "
            f"predicts, so they cannot stand for it. {REMEDY}"
        )
    report_route(model, "losses")
    exact = exact_losses(
        trees.packing,
        bins,
        data.y,
        data.weights,
        model.losses,
        columns=trees.columns,
        n_threads=n_threads(),
    )
    places = [
        trees.features.index(name) if name in trees.features else None
        for name, *_ in data.groups.values()
    ]
    raw = np.array([exact.baseline if at is None else exact.raw[at] for at in places])
    terms = None
    if "row_terms" in keep:
        terms = _row_terms(model, data, prediction, exact, places)
    return MethodResult(raw[:, np.newaxis], exact.baseline[np.newaxis], terms)


def _trees(model: FittedModel, data: Dataset) -> tuple[Trees, Integers]:
    """Return the trees of a model, and the bins of the rows."""
    subject = (
        f"The mean over all permutations of model {quote(model.name)} is not known"
    )
    if any(len(names) > 1 for names in data.groups.values()):
        raise NotApplicable(f"{subject} where columns are permuted together. {REMEDY}")
    if not compiled.available():
        raise NotApplicable(
            f"{subject} without numba. Install it (importance-audit doctor prints the "
            'command), or set draws = "sampled".'
        )
    trees = trees_of(model, data.X)
    if isinstance(trees, str):
        raise NotApplicable(f"{subject}. {trees} {REMEDY}")
    if len({*trees.features}) < len(trees.features):
        raise NotApplicable(
            f"{subject}: its estimator does not read one column for each feature. "
            f"{REMEDY}"
        )
    bins = trees.bins(data.X)
    if bins is None:
        raise NotApplicable(f"{subject}. {NO_BINS} {REMEDY}")
    return trees, bins


def _row_terms(
    model: FittedModel,
    data: Dataset,
    prediction: Floats,
    exact: ExactLosses,
    places: list[int | None],
) -> RowTerms:
    """Return the contribution of each row to each importance."""
    terms = RowTerms(model.losses, len(places), data.n_samples, n_repeats=1)
    every = np.arange(data.n_samples)
    terms.start(every, (data.y, prediction, data.weights))
    for feature, at in enumerate(places):
        if at is None:
            continue
        expected = {}
        for k, name in enumerate(model.losses):
            of_rows = exact.own[k, at], exact.lent[k, at]
            expected[name] = _influence(name, data, of_rows, float(exact.raw[at, k]))
        terms.add_expected(feature, expected)
    return terms


def _influence(
    name: str, data: Dataset, of_rows: tuple[Floats, Floats], loss: float
) -> Floats:
    """Return the influence of each row on the mean loss over all permutations.

    `of_rows` holds the mean loss of each row, and that of all rows with its value.
    """
    weights, y = data.weights, data.y
    own, lent = of_rows
    own = np.where(weights > 0, own, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):  # infinite, or constant: NaN
        mean = (weights * own).sum() / weights.sum()
        if name in SUMS:
            n, total = len(y), weights.sum()
            return n * weights * own - total * mean + total * (lent - mean)
        moved = weights * (own - mean) / weights.mean() + lent - mean
        if name == "rmse":
            return moved / (2 * loss) if loss > 0 else moved
        if name == "one_minus_r2":
            constant = np.full(len(y), np.average(y, weights=weights))
            of_spread = INFLUENCE["mse"](y, constant, weights)
            return (moved - loss * of_spread) * loss / mean
        return moved
