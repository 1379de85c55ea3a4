"""PERF: the out-of-bag loss of models that draw a feature, against that of all.

The ensemble has models of few features, each on a bootstrap sample. The importance of a
feature follows from the losses of the models that draw it.
"""

from collections.abc import Iterable
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.dataset_and_model import Dataset, FittedModel, Floats, Form
from ...records.value_rules import Range
from .refits import by_group, refuse_ratio, units_of
from .subspaces import Index, Mask, members_of, rises_of

PERF, TWIN = "random_subspace", "random_subspace_permutation"


def random_subspace(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    stream: Literal["numpy"] = "numpy",
    form: Form = "difference",
    n_repeats: Annotated[int, Range(least=2)] = 500,
    n_drawn: int | None = None,
) -> tuple[Floats, Floats]:
    r"""Return the reduction of the loss of small models that draw a feature (PERF).

    Each member :math:`b = 1, \dots, B` of an ensemble is the model fitted anew on a
    bootstrap sample of its training rows and on *d* of its *p* features, drawn without
    replacement, :math:`\gamma_{bj} = 1` if *j* is one of them; :math:`s_b` is its loss
    on the rows out of its sample. The prediction error reduction is [1]_

    .. math:: \mathrm{PERF}_j = \frac{1}{B} \sum_b s_b
              - \frac{1}{B_j} \sum_b \gamma_{bj} s_b
              = (1 - q_j) (\bar s_{-j} - \bar s_{+j}),
              \quad B_j = \sum_b \gamma_{bj}, \quad q_j = B_j / B,

    with :math:`\bar s_{\pm j}` the mean of the members with and without *j*. It is a
    contrast with the average feature: :math:`\sum_j B_j \mathrm{PERF}_j = 0`, so that
    some are negative even if all matter. The largest is the most valuable predictor.

    Parameters
    ----------
    model : FittedModel
        The base learner: its ``refit`` is called once per member, and each member
        predicts once. Training weights are kept in fits and losses; rows are drawn with
        equal probabilities.
    data : Dataset
        Only ``data.groups`` is read, whose columns are drawn together; all other
        features of the model are drawn separately. The losses are those on the training
        rows, out of bag.
    seed : int
        Selects the random streams, one per member. By definition every number depends
        on all features of the model, and on all members.
    stream : {"numpy"}, default "numpy"
    form : {"difference", "raw"}, default "difference"
        There is no ratio to a baseline of 0.
    n_repeats : int, default 500
        Number of small models, called members, *B*.
    n_drawn : int, optional
        Features or groups that each member draws, *d*; by default the square root of
        *p* for classes and *p* / 3 for numeric targets, rounded up, and less than *p*.

    Returns
    -------
    raw : ndarray of shape (n_features, n_repeats, n_losses)
        One number per member, in units of each of ``model.losses``: PERF plus the
        influence of that member on it. So their mean is PERF, and their standard
        deviation over :math:`\sqrt B` its standard error,

        .. math:: \sqrt{(1 - q_j)^2 (v_{-j} / (B - B_j) + v_{+j} / B_j)
                  + q_j (1 - q_j) (\bar s_{-j} - \bar s_{+j})^2 / (B - 1)},

        *v* the variances (ddof 1) of the two kinds of members; the last term is due to
        the random number of members that draw *j*. NaN for a feature that fewer than
        two members draw, or leave out: it has no mean, or no standard error. A feature
        that the model does not read is never drawn.
    baseline : ndarray of shape (n_repeats, n_losses)
        Zero, the value of the average drawn feature.

    Raises
    ------
    ValueError
        If `n_drawn` is not between 1 and *p* - 1.
    NotApplicable
        If the audit did not fit `model`, it reads one feature or group only, two groups
        share a column, `form` is "ratio", or bootstrap samples lack a class.

    Warnings
    --------
    A value of 0 or less means no better than the average feature, not irrelevant: with
    independent features of unit variance and least squares PERF tends to
    :math:`(p - d) / (p - 1) (\beta_j^2 - \sum_k \beta_k^2 / p)`. A feature that
    correlates with a relevant one replaces it and is positive. Least squares needs many
    more rows than *d*. The standard error covers the draws, not other training rows.

    References
    ----------
    .. [1] Fokoué (2016). Prediction Error Reduction Function as a Variable Importance
       Score. British Journal of Mathematics and Computer Science 15(6).
       doi:10.9734/BJMCS/2016/23945
    """
    refuse_ratio(form, PERF)
    units, places = units_of(model, data, PERF)
    drawn = model, units, PERF, seed, n_repeats, n_drawn
    masks, scores = _stacked(members_of(*drawn, lambda one: (one.mask, one.score)))
    values = [_perf_by_member(masks, score) for score in scores.T]
    return by_group(np.stack(values, axis=-1), places, unread=np.nan)


def random_subspace_permutation(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    stream: Literal["numpy"] = "numpy",
    form: Form = "difference",
    n_repeats: Annotated[int, Range(least=2)] = 500,
    n_drawn: int | None = None,
) -> tuple[Floats, Floats]:
    r"""Return the rise of the loss of small models if a drawn feature is permuted.

    It uses the ensemble of `random_subspace` with the same seed and options: its
    members *b* and their losses :math:`s_b` on the rows out of bag. With
    :math:`s_b^{\pi j}` the loss on these rows with feature *j* permuted [1]_,

    .. math:: \mathrm{VI}_j
              = \frac{1}{B_j} \sum_b \gamma_{bj} (s_b^{\pi j} - s_b).

    The paper has the opposite sign; a rise is positive here.

    Parameters
    ----------
    model, data, seed, stream, form, n_repeats, n_drawn
        As in `random_subspace`. Each member predicts 1 + *d* copies of its out-of-bag
        rows.

    Returns
    -------
    raw : ndarray of shape (n_features, n_repeats, n_losses)
        One number per member, in units of each of ``model.losses``: the mean rise plus
        the influence of that member on it, 0 if it does not draw the feature. So
        their mean is the mean rise over the members that draw *j*, and their standard
        deviation over :math:`\sqrt B` its standard error, the standard deviation of
        those rises over :math:`\sqrt{B_j}`. NaN for a feature that fewer than two
        members draw.
    baseline : ndarray of shape (n_repeats, n_losses)
        Zero, the value of a feature that no member relies on.

    Raises
    ------
    ValueError, NotApplicable
        As `random_subspace`.

    Warnings
    --------
    Permuting breaks the dependence of *j* on the other features drawn, but most members
    lack the features that could replace *j*: correlated features share their importance
    less than in a model of all. The standard error covers the draws only.

    References
    ----------
    .. [1] Fokoué (2016). Prediction Error Reduction Function as a Variable Importance
       Score. British Journal of Mathematics and Computer Science 15(6).
       doi:10.9734/BJMCS/2016/23945
    """
    refuse_ratio(form, TWIN)
    units, places = units_of(model, data, TWIN)
    drawn = model, units, TWIN, seed, n_repeats, n_drawn
    masks, rises = _stacked(
        members_of(*drawn, lambda one: (one.mask, rises_of(one, units, seed)))
    )
    values = [_mean_by_member(masks, rises[..., k]) for k in range(rises.shape[-1])]
    return by_group(np.stack(values, axis=-1), places, unread=np.nan)


class Perf(NamedTuple):
    """PERF of each feature from an ensemble, arrays of shape (n_features,).

    Attributes
    ----------
    values : ndarray
        PERF in units of the scores, NaN if no member has the feature.
    std_error : ndarray
        Standard error over the members; NaN if fewer than two have the feature, or
        fewer than two lack it.
    n_members : ndarray of int
        Number of members that have the feature.
    """

    values: Floats
    std_error: Floats
    n_members: Index


def perf_from(members: Iterable[tuple[npt.ArrayLike, float]]) -> Perf:
    """Return PERF of each feature from any ensemble.

    Parameters
    ----------
    members : iterable of (mask, score)
        For each member, a mask of its features, (n_features,), and its loss on rows it
        was not fitted on, lower is better. Members may differ in kind and in their
        numbers of features; if these are all equal, the values times `n_members` add up
        to 0.

    Returns
    -------
    Perf
        See `random_subspace` for definition, error, limits and reference.

    Examples
    --------
    >>> ensemble = [((1, 1, 0, 0), 2.0), ((1, 0, 1, 0), 3.0), ((0, 1, 1, 0), 7.0)]
    >>> perf_from(ensemble).values.tolist()
    [1.5, -0.5, -1.0, nan]
    """
    masks, scores = _stacked(members)
    with np.errstate(invalid="ignore"):
        values = scores.mean() - _mean(masks, scores)
        spread = _perf_by_member(masks, scores).std(axis=1, ddof=1)
    return Perf(values, spread / np.sqrt(len(masks)), masks.sum(axis=0))


def _stacked(members: Iterable[tuple[npt.ArrayLike, Any]]) -> tuple[Mask, Floats]:
    """Return masks, (n_members, n_units), and values of members, (n_members, …)."""
    pairs = [(np.asarray(mask, dtype=bool), score) for mask, score in members]
    return np.stack([mask for mask, _ in pairs]), np.stack([s for _, s in pairs])


def _mean(masks: Mask, values: Floats) -> Floats:
    """Return the mean over the members whose mask is true, by unit, (n_units,).

    `values` is (n_members,), or (n_members, n_units).
    """
    each = np.broadcast_to(values.reshape(len(values), -1), masks.shape)
    with np.errstate(invalid="ignore"):  # none: NaN
        return np.asarray(np.where(masks, each, 0.0).sum(axis=0) / masks.sum(axis=0))


def _deviations(masks: Mask, values: Floats) -> Floats:
    """Return deviations of members with a true mask from their mean, 0 for others.

    They are scaled so that, divided by the share of these members, their variance over
    all members (ddof 1) over the number of all members is the squared standard error of
    the mean; NaN if there are fewer than two.
    """
    n, n_with = len(masks), masks.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        each = values.reshape(n, -1) - _mean(masks, values)
        scale = np.sqrt(n_with * (n - 1) / (n * (n_with - 1.0)))
    scale[n_with < 2] = np.nan
    return np.where(masks, each * scale, np.where(np.isnan(scale), np.nan, 0.0))


def _perf_by_member(masks: Mask, scores: Floats) -> Floats:
    """Return PERF plus the influence of each member on it, (n_units, n_members)."""
    share = masks.mean(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        gain = _mean(~masks, scores) - _mean(masks, scores)
        odds = (1 - share) / share
        draws = np.where(masks, share - 1, share) * gain
        deviations = _deviations(~masks, scores) - odds * _deviations(masks, scores)
        return np.asarray(((1 - share) * gain + draws + deviations).T)


def _mean_by_member(masks: Mask, values: Floats) -> Floats:
    """Return the mean over members plus each one's influence, (n_units, n_members)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        influence = _deviations(masks, values) / masks.mean(axis=0)
        return np.asarray((_mean(masks, values) + influence).T)
