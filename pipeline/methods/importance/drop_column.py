"""Importance by refitting: without a feature, with it shuffled, or on every subset."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, product
from math import comb
from typing import Annotated, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.dataset_and_model import Dataset, FittedModel, Floats, Form
from ...records.errors import NotApplicable
from ...records.execution import each
from ...records.losses import evaluate
from ...records.streams import stream as generator_of
from ...records.value_rules import Range
from ..effects.shapley_values import check_players
from .method_result import Kept, MethodResult
from .paired_losses import PairedLosses
from .permutation_draws import Draw
from .refits import (
    Unit,
    by_group,
    columns_of,
    n_held_out,
    parted,
    prediction_of_refit,
    refuse_ratio,
    seed_of_fit,
    training_rows,
    units_of,
)

REMEDY = "Group features under [groups], or leave some out."


class Fit(NamedTuple):
    """One fit of a repeat, with the columns of a group changed, if any."""

    repeat: int
    name: str
    columns: Unit


def drop_column(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    stream: Literal["numpy"] = "numpy",
    n_repeats: int = 5,
    held_out: Annotated[float, Range(least=0, below=1)] = 0.0,
    keep: Sequence[Kept] = (),
) -> MethodResult:
    r"""Return the loss of the model fitted without a feature, and with all features.

    With :math:`f_S` the model fitted on the training rows with the columns *S* alone,
    *P* all its columns and *L* the loss on the rows of `data` [1]_ [2]_,

    .. math:: \mathrm{VI}_j = L(y, f_{P \setminus j}(X)) - L(y, f_P(X)).

    All fits of one repeat have the same ``random_state``; without random draws, all
    repeats are equal. Without any column, a model predicts the mean of the training
    target, or the shares of its classes.

    Parameters
    ----------
    model : FittedModel
        Its ``refit`` is called on its training rows, 1 + n_features times per repeat,
        and the refitted models predict. Training weights are kept.
    data : Dataset
        The evaluation rows; ``data.groups`` names the columns that are left out.
    seed : int
        Selects the random stream.
    stream : {"numpy"}, default "numpy"
        Draw order of the ``random_state`` of each repeat.
    n_repeats : int, default 5
        Number of times all models are fitted.
    held_out : float, default 0.0
        Share of the training rows that each repeat holds out, drawn anew and by class,
        to compute the losses on; the model is fitted on the others. With 0 it is fitted
        on all training rows, and the losses are those on the evaluation rows.
    keep : sequence of {"row_terms", "paired_losses"}, default ()
        "paired_losses" keeps the losses of each row without each feature and with all,
        if no rows are held out.

    Returns
    -------
    raw : ndarray of shape (n_features, n_repeats, n_losses)
        Loss of the model fitted without one feature, in units of each of
        ``model.losses``.
    baseline : ndarray of shape (n_repeats, n_losses)
        Loss of the model fitted with all features, which a feature that the model does
        not read has exactly.

    Raises
    ------
    NotApplicable
        If the audit did not fit `model`, or no row would be held out, or fitted.

    Warnings
    --------
    It is the importance of a feature to the learner, not to the audited model.
    Information that other features can replace is not counted: two equal columns both
    have an importance of about zero. The spread covers the learner's own draws, not
    other training rows; with rows held out it covers some of that variation, but too
    little, since repeats share most of their rows.

    References
    ----------
    .. [1] Lei, G'Sell, Rinaldo, Tibshirani and Wasserman (2018). Distribution-Free
       Predictive Inference for Regression. JASA 113(523), 1094-1111.
       doi:10.1080/01621459.2017.1307116
    .. [2] Parr, Wilson and Hamrick (2020). Nonparametric Feature Impact and
       Importance. doi:10.48550/arXiv.2006.04750
    """
    check_held_out(training_rows(model, "drop_column").n_samples, held_out)
    part = partial(parted, model.unfitted(), data, held_out, seed=seed)
    predict = partial(_predict_without, part, seed)
    paired = None
    if "paired_losses" in keep and not held_out:
        paired = PairedLosses(model.losses, len(data.groups), data.n_samples)
    numbers = _against_all(
        model, data, predict, n_repeats=n_repeats, part=part, paired=paired
    )
    return MethodResult(*numbers, paired_losses=paired)


def permute_refit(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    stream: Literal["numpy"] = "numpy",
    n_repeats: int = 5,
) -> tuple[Floats, Floats]:
    r"""Return the loss of the model fitted with a feature shuffled, and unshuffled.

    With :math:`f^{\pi j}` the model fitted on the training rows with the columns of
    feature or group *j* permuted together, *f* the one fitted on the unpermuted rows
    and *L* the loss on the rows of `data`, in which nothing is permuted [1]_,

    .. math:: \mathrm{VI}_j = L(y, f^{\pi j}(X)) - L(y, f(X)).

    Unlike in `drop_column`, the model keeps its columns. All fits of one repeat have
    the same ``random_state``.

    Parameters
    ----------
    model : FittedModel
        Its ``refit`` is called on its training rows, 1 + n_features times per repeat,
        and the refitted models predict. A weight stays with its row.
    data : Dataset
        The evaluation rows; ``data.groups`` names the columns that are permuted.
    seed : int
        Selects the random stream.
    stream : {"numpy"}, default "numpy"
        Draw order: one stream for every feature and repeat.
    n_repeats : int, default 5
        Number of permutations of each feature.

    Returns
    -------
    raw : ndarray of shape (n_features, n_repeats, n_losses)
        Loss of the model fitted with one feature permuted, in units of each of
        ``model.losses``.
    baseline : ndarray of shape (n_repeats, n_losses)
        Loss of the model fitted on the unpermuted rows, which a feature that the model
        does not read has exactly.

    Raises
    ------
    NotApplicable
        If the audit did not fit `model`.

    Warnings
    --------
    It is the importance of a feature to the learner, not to the audited model.
    Information that other features can replace is not counted. A learner that overfits
    also fits the noise of the shuffled column: leaving the column out costs less.

    References
    ----------
    .. [1] Parr, Wilson and Hamrick (2020). Nonparametric Feature Impact and
       Importance. doi:10.48550/arXiv.2006.04750
    """
    training_rows(model, "permute_refit")
    predict = partial(_predict_shuffled, model.unfitted(), data, seed)
    return _against_all(model, data, predict, n_repeats=n_repeats)


def shapley_refit(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    stream: Literal["numpy"] = "numpy",
    form: Form = "difference",
    n_repeats: int = 1,
) -> tuple[Floats, Floats]:
    r"""Return the Shapley value of each feature for the reduction of the loss.

    With :math:`f_S` the model fitted on the training rows with the features *S* alone,
    :math:`v(S) = L(y, f_\emptyset(X)) - L(y, f_S(X))` the reduction of the loss on the
    rows of `data`, and *p* features, the Shapley value of feature *j* is [1]_ [2]_

    .. math:: \phi_j = \sum_{S \not\ni j} \frac{|S|! (p - |S| - 1)!}{p!}
              \left( v(S \cup j) - v(S) \right).

    :math:`f_\emptyset` predicts the mean of the training target, or the shares of its
    classes. The values add up to the reduction of the loss from that constant to the
    model with all features. For least squares with squared error on the training rows
    they are the variance of *y* times the shares of R² that Lindeman, Merenda and Gold
    (LMG) average over orders, which add up to R².

    Parameters
    ----------
    model : FittedModel
        Its ``refit`` is called on every subset of its features but the empty one,
        2**p - 1 times per repeat. Training weights are kept.
    data : Dataset
        The evaluation rows; ``data.groups`` names the columns that enter together.
        Features of no group enter separately.
    seed : int
        Selects the random stream.
    stream : {"numpy"}, default "numpy"
        Draw order of the ``random_state`` of each repeat.
    form : {"difference", "raw"}, default "difference"
        There is no ratio to a baseline of 0.
    n_repeats : int, default 1
        Number of times all models are fitted.

    Returns
    -------
    raw : ndarray of shape (n_features, n_repeats, n_losses)
        Shapley values in units of each of ``model.losses``; 0 for groups that the model
        does not read.
    baseline : ndarray of shape (n_repeats, n_losses)
        Zero, the value of a feature that improves no model.

    Raises
    ------
    NotApplicable
        If the audit did not fit `model`, `form` is "ratio", two groups share a column,
        or there are more than 12 features and groups.

    Warnings
    --------
    It is the importance of a feature to the learner, not to the audited model.
    Dependent features share their common information, so an irrelevant one that
    correlates with a relevant one has a positive share.

    References
    ----------
    .. [1] Lipovetsky and Conklin (2001). Analysis of Regression in Game Theory
       Approach. Applied Stochastic Models in Business and Industry 17(4), 319-330.
       doi:10.1002/asmb.446
    .. [2] Grömping (2007). Estimators of Relative Importance in Linear Regression
       Based on Variance Decomposition. The American Statistician 61(2), 139-147.
       doi:10.1198/000313007X188252
    """
    training_rows(model, "shapley_refit")
    refuse_ratio(form, "shapley_refit")
    units, places = units_of(model, data, "shapley_refit")
    check_players(model, len(units), "Shapley values of refits", REMEDY)
    loss = partial(_loss_of_subset, model.unfitted(), data, units, seed)
    n_subsets = 2 ** len(units)
    losses_in_turn = each(loss, product(range(n_repeats), range(n_subsets)))
    values = [
        shapley_values(np.stack([*islice(losses_in_turn, n_subsets)]), len(units))
        for _ in range(n_repeats)
    ]
    return by_group(np.stack(values, axis=1), places, unread=0.0)


def check_held_out(n_samples: int, held_out: float) -> None:
    """Refuse a share that leaves no row to fit, or to hold out."""
    n_out = n_held_out(n_samples, held_out)
    if held_out and not 0 < n_out < n_samples:
        raise NotApplicable(
            "held_out must leave one training row or more on each side; of "
            f"{n_samples} rows {n_out} would be held out. Choose another share."
        )


def _against_all(
    model: FittedModel,
    data: Dataset,
    predict: Callable[[Fit], Floats],
    *,
    n_repeats: int,
    part: Callable[..., tuple[FittedModel, Dataset]] | None = None,
    paired: PairedLosses | None = None,
) -> tuple[Floats, Floats]:
    """Return the loss of each group's refit, and of the refit with nothing changed.

    `predict` returns the predictions of a refit for the evaluation rows, which are
    `data` unless ``part(repeat=…)`` has others; `paired` collects all of them.
    """
    units = {name: columns_of(model, [unit]) for name, unit in data.groups.items()}
    changes = [("", ()), *(change for change in units.items() if change[1])]
    fits = [Fit(repeat, *change) for repeat in range(n_repeats) for change in changes]
    predictions = each(predict, fits)
    baseline = np.empty((n_repeats, len(model.losses)))
    raw = np.empty((len(units), *baseline.shape))
    every = np.arange(data.n_samples)
    for repeat in range(n_repeats):
        evaluated = part(repeat=repeat)[1] if part else data
        y, weights = evaluated.y, evaluated.weights
        unchanged = y, next(predictions), weights
        baseline[repeat] = evaluate(model.losses, *unchanged)
        if paired:
            paired.start(every, unchanged)
        for row, columns in enumerate(units.values()):
            scored = (y, next(predictions), weights) if columns else unchanged
            raw[row, repeat] = evaluate(model.losses, *scored)
            if paired:
                draw = Draw(repeat, row, every, every)
                paired.add(draw, scored)
    return raw, baseline


def _predict_without(
    part: Callable[..., tuple[FittedModel, Dataset]], seed: int, fit: Fit
) -> Floats:
    """Return the predictions of the model fitted without some columns."""
    model, evaluated = part(repeat=fit.repeat)
    others = [other for other in model.features if other not in fit.columns]
    seed = seed_of_fit(seed, fit.repeat)
    return prediction_of_refit(model, others, evaluated, seed=seed)


def _predict_shuffled(model: FittedModel, data: Dataset, seed: int, fit: Fit) -> Floats:
    """Return predictions of the model fitted with some columns permuted together."""
    train = training_rows(model, "permute_refit")
    generator = generator_of(seed, "permute", fit.name, fit.repeat)
    order = generator.permutation(train.n_samples)
    shuffled = {
        column: train.X[column].iloc[order].set_axis(train.X.index)
        for column in fit.columns
    }
    on_shuffled = replace(model, train=replace(train, X=train.X.assign(**shuffled)))
    fit_seed = seed_of_fit(seed, fit.repeat)
    return prediction_of_refit(on_shuffled, model.features, data, seed=fit_seed)


def _loss_of_subset(
    model: FittedModel,
    data: Dataset,
    units: list[Unit],
    seed: int,
    subset_of_repeat: tuple[int, int],
) -> Floats:
    """Return the losses of the model fitted on a subset of the units.

    Unit *k* is in subset *s* if the *k*-th binary digit of *s* is 1.
    """
    repeat, subset = subset_of_repeat
    columns = columns_of(model, [u for k, u in enumerate(units) if subset >> k & 1])
    fit_seed = seed_of_fit(seed, repeat)
    prediction = prediction_of_refit(model, columns, data, seed=fit_seed)
    return evaluate(model.losses, data.y, prediction, data.weights)


def shapley_values(losses: Floats, n_players: int) -> Floats:
    """Return the Shapley value of each player, (n_players, n_losses)."""
    subsets: npt.NDArray[np.int64] = np.arange(len(losses))
    values = []
    for player in range(n_players):
        without = subsets[(subsets >> player & 1) == 0]
        sizes = sum(without >> k & 1 for k in range(n_players))
        orders = np.array([n_players * comb(n_players - 1, size) for size in sizes])
        with np.errstate(invalid="ignore"):  # inf - inf: not measured, NaN
            gains = losses[without] - losses[without | 1 << player]
        values.append((gains / orders[:, np.newaxis]).sum(axis=0))
    return np.stack(values)
