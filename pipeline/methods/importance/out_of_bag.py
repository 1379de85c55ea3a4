"""Out-of-bag permutation: each member of a bagged ensemble on its out-of-bag rows."""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.losses import evaluate
from ...records.streams import stream as generator_of
from .insides import features_of_columns, is_of, refusal, training_rows

OOB, SCALED = "oob_permutation", "oob_permutation_scaled"
OOB_LOSS = "loss out of bag"
FORESTS = ("sklearn.ensemble._forest.",)
BAGS = ("sklearn.ensemble._bagging.",)
OF_BREIMAN = {"regression": "mse"}
Index = npt.NDArray[np.intp]


class Member(NamedTuple):
    """One member of an ensemble, and its out-of-bag rows.

    Attributes
    ----------
    estimator : Any
    rows : ndarray of int, shape (n_out,)
    columns : ndarray of int, shape (n_columns,)
        The columns of the ensemble that it reads, in its own order.
    """

    estimator: Any
    rows: Index
    columns: Index


def oob_permutation(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    stream: Literal["numpy"] = "numpy",
) -> tuple[Floats, Floats]:
    r"""Return each tree's out-of-bag loss with a feature permuted, and unpermuted.

    With :math:`O_t` the training rows that are not in the bootstrap sample of tree
    :math:`t = 1, \dots, T`, :math:`L_t` its loss on them and :math:`L_t^{\pi j}` that
    with feature *j* permuted among them, the importance is [1]_

    .. math:: \frac{1}{T} \sum_t (L_t^{\pi j} - L_t).

    The losses of single trees are averaged; it is not the loss of the forest.

    Parameters
    ----------
    model : FittedModel
        A random forest, extremely randomised trees with bootstrap, or any bagging of
        scikit-learn, fitted by the audit. ``model.losses`` are computed on the scale of
        its predictions, with the training weights.
    data : Dataset
        Only ``data.groups`` is read, whose columns are permuted together: the training
        rows are evaluated.
    seed : int
        Selects the random stream.
    stream : {"numpy"}, default "numpy"
        One stream per feature and tree.

    Returns
    -------
    raw : ndarray of shape (n_groups, n_trees, n_losses)
        :math:`L_t^{\pi j}` of each tree that has out-of-bag rows; the spread over the
        trees gives the standard error.
    baseline : ndarray of shape (n_trees, n_losses)
        :math:`L_t`, which a column that the tree does not read has exactly.

    Raises
    ------
    NotApplicable
        If the model is no such ensemble, draws no samples, leaves no row out, its
        training rows are not known or its columns cannot be traced back to features,
        or its members give no probabilities of classes.

    Warnings
    --------
    Permuting breaks the dependence on other features, so trees predict rows that cannot
    occur. The gain of forests over single trees is not measured. The standard error
    treats trees as independent, and does not cover other training rows. Since
    scikit-learn 1.9 rows are drawn by weight, so those of large weight are seldom out
    of a bag.

    References
    ----------
    .. [1] Breiman (2001). Random Forests. Machine Learning 45, 5-32.
       doi:10.1023/A:1010933404324
    """
    return _losses(model, data, seed, model.losses, OOB)


def oob_permutation_scaled(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    stream: Literal["numpy"] = "numpy",
) -> tuple[Floats, Floats]:
    r"""Return the out-of-bag rise of each feature in standard errors over the trees.

    With :math:`d_{tj}` the rise of the loss of tree *t* as in `oob_permutation`, and
    the same draws,

    .. math:: \bar d_j \Big/ \sqrt{\frac{1}{T} \cdot
              \frac{1}{T} \sum_t (d_{tj} - \bar d_j)^2},

    the z score of R's randomForest [1]_, which divides by *T* and not by *T* - 1. The
    loss is squared error for numbers and the error rate for classes.

    Parameters
    ----------
    model, data, seed, stream
        As in `oob_permutation`, except ``model.losses``, which are not read.

    Returns
    -------
    raw : ndarray of shape (n_groups, 1, 1)
        Without unit; 0 if no tree's loss changes, NaN if all change by the same.
    baseline : ndarray of shape (1, 1)
        Zero, the value of a column that no tree reads.

    Raises
    ------
    NotApplicable
        As `oob_permutation`.

    Warnings
    --------
    It grows with the root of the number of trees, without bound for any feature that
    is not exactly useless: it measures how certain the mean of *these* trees is, not
    its size, and is no test [2]_. To compare forests, use `oob_permutation`.

    References
    ----------
    .. [1] Breiman (2001). Random Forests. Machine Learning 45, 5-32.
       doi:10.1023/A:1010933404324
    .. [2] Strobl and Zeileis (2008). Danger: High Power! Exploring the Statistical
       Properties of a Test for Random Forest Variable Importance. COMPSTAT 2008.
       doi:10.5282/ubm/epub.2111
    """
    loss = OF_BREIMAN.get(model.task, "one_minus_accuracy")
    raw, baseline = _losses(model, data, seed, (loss,), SCALED)
    scores = in_standard_errors((raw - baseline)[:, :, 0])
    return scores.reshape(-1, 1, 1), np.zeros((1, 1))


def in_standard_errors(rises: Floats) -> Floats:
    """Return mean over standard error of rises, (n_groups, n_trees) to (n_groups,)."""
    mean = rises.mean(axis=1)
    std_error = rises.std(axis=1, ddof=0) / np.sqrt(rises.shape[1])
    is_still = ~rises.any(axis=1)
    divisor = np.where(std_error > 0, std_error, np.nan)
    return np.where(is_still, 0.0, mean / divisor)


def _losses(
    model: FittedModel,
    data: Dataset,
    seed: int,
    losses: tuple[str, ...],
    method: str,
) -> tuple[Floats, Floats]:
    """Return the losses of each tree with each group permuted, and unpermuted."""
    if not is_of(model.estimator, FORESTS + BAGS):
        raise refusal(model, "be a bagged ensemble of scikit-learn", method)
    train, matrix = training_rows(model, method)
    names = np.array(features_of_columns(model, matrix.shape[1], method), dtype=object)
    of_groups = {
        group: np.flatnonzero(np.isin(names, columns))
        for group, columns in data.groups.items()
    }
    raw, baseline = [], []
    for t, member in members(model, matrix.shape, method):
        X = matrix[member.rows]
        y, weights = train.y[member.rows], train.weights[member.rows]
        if not weights.any():
            continue
        unpermuted = evaluate(losses, y, _prediction(model, member, X), weights)
        baseline.append(unpermuted)
        of_member = []
        for group, at in of_groups.items():
            loss = unpermuted
            if np.isin(at, member.columns).any():
                order = generator_of(seed, "out of bag", group, t).permutation(len(X))
                changed = X.copy()
                changed[:, at] = X[np.ix_(order, at)]
                loss = evaluate(losses, y, _prediction(model, member, changed), weights)
            of_member.append(loss)
        raw.append(of_member)
    if not raw:
        raise refusal(
            model,
            "leave rows out of the sample of some member",
            method,
            finding="leaves none out",
        )
    return np.array(raw, dtype=np.float64).transpose(1, 0, 2), np.array(baseline)


def oob_prediction(model: FittedModel) -> tuple[Dataset, Floats]:
    """Return the mean out-of-bag prediction of each training row.

    Parameters
    ----------
    model : FittedModel
        As in `oob_permutation`.

    Returns
    -------
    rows : Dataset
        The training rows.
    prediction : ndarray of shape (n_samples,) or (n_samples, n_classes)
        The prediction of each of them; probabilities of classes are averaged.

    Raises
    ------
    NotApplicable
        As `oob_permutation`, or if a row is in the sample of every member.
    """
    if not is_of(model.estimator, FORESTS + BAGS):
        raise refusal(model, "be a bagged ensemble of scikit-learn", OOB_LOSS)
    train, matrix = training_rows(model, OOB_LOSS)
    of_one = (len(model.classes),) if model.task == "multiclass" else ()
    total = np.zeros((train.n_samples, *of_one))
    count = np.zeros(train.n_samples)
    for _, member in members(model, matrix.shape, OOB_LOSS):
        total[member.rows] += _prediction(model, member, matrix[member.rows])
        count[member.rows] += 1
    if not count.all():
        finding = f"has {int((count == 0).sum())} of {len(count)} rows in every sample"
        rule = "leave each row out of the sample of some member"
        raise refusal(
            model, rule, OOB_LOSS, finding=finding, remedy="Fit more members."
        )
    return train, (total.T / count).T


def is_bagged(estimator: Any) -> bool:
    """Return whether an estimator, or the last of a pipeline, is a bagged ensemble.

    It is close to right on every training row, since most of its members saw it.
    """
    while steps := getattr(estimator, "steps", None):
        estimator = steps[-1][1]
    return is_of(estimator, FORESTS + BAGS)


def _prediction(model: FittedModel, member: Member, X: Floats) -> Floats:
    """Return the predictions of one member, in the form of `FittedModel.predict`."""
    columns = X[:, member.columns]
    if model.task == "regression":
        return np.asarray(member.estimator.predict(columns))
    shares = np.zeros((len(X), len(model.classes)))
    classes = np.asarray(member.estimator.classes_).astype(np.intp)
    shares[:, classes] = member.estimator.predict_proba(columns)
    return shares[:, 1] if model.task == "binary" else shares


def members(
    model: FittedModel, shape: tuple[int, ...], method: str
) -> Iterator[tuple[int, Member]]:
    """Yield the position and the member of an ensemble, if it has out-of-bag rows."""
    ensemble = model.estimator
    samples = _samples(model, shape[0], method)
    columns = getattr(ensemble, "estimators_features_", None)
    every = np.arange(shape[1])
    for t, (estimator, own_rows) in enumerate(
        zip(ensemble.estimators_, samples, strict=True)
    ):
        if model.task != "regression" and not hasattr(estimator, "predict_proba"):
            kind = f"is made of {type(estimator).__name__}"
            raise refusal(
                model, "have members with predict_proba", method, finding=kind
            )
        out = np.setdiff1d(np.arange(shape[0]), own_rows)
        if len(out):
            yield t, Member(estimator, out, every if columns is None else columns[t])


def _samples(model: FittedModel, n_samples: int, method: str) -> list[Index]:
    """Return the rows that each member of an ensemble was fitted on."""
    ensemble = model.estimator
    is_forest = is_of(ensemble, FORESTS)
    if is_forest and not ensemble.bootstrap:
        raise refusal(
            model,
            "draw a sample of the rows for each tree",
            method,
            finding="was fitted with bootstrap = false",
            remedy="Set bootstrap = true, or use permutation importance.",
        )
    if hasattr(ensemble, "estimators_samples_"):
        return [np.asarray(rows) for rows in ensemble.estimators_samples_]
    # Forests before 1.4 store only the seed of each draw, which scikit-learn repeats.
    from sklearn.ensemble import _forest

    n_drawn = _forest._get_n_samples_bootstrap(n_samples, ensemble.max_samples)
    return [
        _forest._generate_sample_indices(tree.random_state, n_samples, n_drawn)
        for tree in ensemble.estimators_
    ]
