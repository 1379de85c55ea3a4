"""Debiased impurity: the splits of a forest, evaluated on out-of-bag rows."""

from typing import Any

import numpy as np

from ...records.dataset_and_model import Dataset, FittedModel, Floats
from .insides import is_of, refusal, summed_by_feature, training_rows
from .out_of_bag import FORESTS, Index, members

NAME = "impurity_oob"
CRITERIA = ("squared_error", "friedman_mse", "gini")
"""Criteria whose impurity is a variance: of the target, or of class indicators."""


def impurity_oob(
    model: FittedModel, data: Dataset, *, seed: int
) -> tuple[Floats, Floats]:
    r"""Return the out-of-bag covariance of the splits on each feature with the target.

    In tree *T* of a forest let :math:`\mu_t` be the mean target of node *t* in the
    bag, :math:`c` the child of *t* that row *i* falls into, :math:`O_T` the rows out of
    the bag, of weight :math:`w_i`, and :math:`\bar y_t` their mean target in *t*. The
    importance of feature *j* is the mean over trees of

    .. math:: \frac{1}{\sum_{i \in O_T} w_i} \sum_{t \text{ split on } j} \;
              \sum_{i \in O_T \cap t} w_i (\mu_c - \mu_t) (y_i - \bar y_t).

    On the rows in the bag the same sum is the decrease of impurity, as `impurity` is
    without normalisation. Out of the bag, a feature that is independent of the target
    and of the other features has expectation 0, however many values it has. Li and
    others [1]_ omit :math:`\bar y_t`, so their measure depends on the origin of *y*.
    For classes, *y* is an indicator of each class, and the sums are added.

    Parameters
    ----------
    model : FittedModel
        A random forest, or extremely randomised trees with bootstrap, of scikit-learn,
        fitted by the audit with squared error, Friedman's MSE or Gini impurity, and
        without class weights.
    data : Dataset
        Only ``data.groups`` is read: the splits are evaluated on the training rows.
        Encoded columns of a category are summed, and so is a group of features.
    seed : int
        Not used: nothing is drawn.

    Returns
    -------
    raw : ndarray of shape (n_groups, 1, 1)
        In units of the criterion, for squared error the square of the target's; 0 for a
        column that no tree reads. Below 0 by chance, or where splits mislead.
    baseline : ndarray of shape (1, 1)
        Zero, the value of a feature that is never split on.

    Raises
    ------
    NotApplicable
        If the model is no such forest, draws no samples, leaves no row out, its
        training rows are not known, or its columns cannot be traced back to features.

    Warnings
    --------
    It measures the splits that were made, not the loss of the forest without the
    feature, and is divided arbitrarily between dependent features, as `impurity` is. A
    node with one out-of-bag row adds nothing, so deep trees of few rows give too low
    values.

    References
    ----------
    .. [1] Li, Wang, Basu, Kumbier and Yu (2019). A Debiased MDI Feature Importance
       Measure for Random Forests. NeurIPS 32, 8049-8059.
       doi:10.48550/arXiv.1906.10845
    """
    estimator: Any = model.estimator
    if not is_of(estimator, FORESTS):
        raise refusal(model, "be a random forest of scikit-learn", NAME)
    if estimator.criterion not in CRITERIA:
        raise refusal(
            model,
            "be fitted with squared error or Gini impurity",
            NAME,
            finding=f"was fitted with criterion {estimator.criterion!r}",
        )
    if getattr(estimator, "class_weight", None) is not None:
        raise refusal(
            model,
            "be fitted without class weights",
            NAME,
            finding="was fitted with class_weight",
        )
    train, matrix = training_rows(model, NAME)
    target = np.asarray(train.y, dtype=np.float64)[:, np.newaxis]
    if model.task != "regression":
        target = np.eye(len(model.classes))[train.y.astype(np.intp)]
    of_trees = []
    for _, member in members(model, matrix.shape, NAME):
        weights = train.weights[member.rows]
        if weights.any():
            rows = matrix[member.rows], target[member.rows], weights
            of_trees.append(covariances(member.estimator, *rows))
    if not of_trees:
        raise refusal(
            model,
            "leave rows out of the sample of some tree",
            NAME,
            finding="leaves none out",
        )
    return summed_by_feature(model, data, np.mean(of_trees, axis=0), NAME)


def covariances(tree: Any, X: Floats, target: Floats, weights: Floats) -> Floats:
    """Return the covariance of a tree's splits on each column with a target.

    Parameters
    ----------
    tree : DecisionTreeRegressor or DecisionTreeClassifier
        Fitted.
    X : ndarray of shape (n_samples, n_columns)
    target : ndarray of shape (n_samples, n_outputs)
        One column of numbers, or one of 0 and 1 for each class.
    weights : ndarray of shape (n_samples,)

    Returns
    -------
    ndarray of shape (n_columns,)
        On the rows that the tree was fitted to, with their weights, it is the decrease
        of impurity.
    """
    nodes = tree.tree_
    path = tree.decision_path(X).T
    weight = path @ weights
    total = path @ (weights[:, np.newaxis] * target)
    means = nodes.value[:, 0, :]
    if hasattr(tree, "classes_"):  # counts before scikit-learn 1.3, shares since
        means = means / means.sum(axis=1, keepdims=True)
    inner: Index = np.flatnonzero((nodes.children_left >= 0) & (weight > 0))
    own = total[inner] / weight[inner, np.newaxis]
    of_nodes = np.zeros(len(inner))
    for children in (nodes.children_left[inner], nodes.children_right[inner]):
        rest = total[children] - weight[children, np.newaxis] * own
        of_nodes += ((means[children] - means[inner]) * rest).sum(axis=1)
    columns = nodes.feature[inner]
    sums = np.bincount(columns, weights=of_nodes, minlength=X.shape[1])
    return np.asarray(sums / weights.sum())
