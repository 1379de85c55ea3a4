"""Impurity importance, as reported by a fitted tree ensemble."""

from typing import Any

import numpy as np

from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.errors import NotApplicable, quote
from .insides import refusal, summed_by_feature

TREE_MODULES = ("sklearn.tree.", "sklearn.ensemble.")


def impurity(
    model: FittedModel, data: Dataset, *, seed: int, normalised: bool = True
) -> tuple[Floats, Floats]:
    r"""Return the decrease of impurity at the splits on each feature.

    With :math:`p_t` the share of the training weight that reaches node *t* and
    :math:`\Delta i_t` the decrease of impurity by its split, the importance of feature
    *j* in one tree is the sum of :math:`p_t \Delta i_t` over the nodes split on
    *j* [1]_, in an ensemble the mean over its trees. Impurity is additive: the values
    of a category's encoded columns are summed, and so are those of a group.

    Parameters
    ----------
    model : FittedModel
        Its ``estimator`` and ``encoded`` are read.
    data : Dataset
        Only ``data.groups`` is read: the trees store what is needed.
    seed : int
        Not used: nothing is drawn.
    normalised : bool, default True
        Whether to return scikit-learn's ``feature_importances_``, which sum to one. A
        forest averages the shares of its trees, so these are not its mean decreases
        divided by their sum.

    Returns
    -------
    raw : ndarray of shape (n_groups, 1, 1)
        Shares, or the decrease itself in units of the criterion (the square of the
        target's for squared error); 0 for a column the model does not read.
    baseline : ndarray of shape (1, 1)
        Zero, the value of a feature that is never split on.

    Raises
    ------
    NotApplicable
        If the model is not a tree, a forest or a boosting of scikit-learn that
        reports it, or its columns cannot be traced back to features.

    Warnings
    --------
    It is computed on the training rows, so a feature that only fits noise can score
    high. It favours features with many distinct values, and is divided arbitrarily
    between dependent features.

    References
    ----------
    .. [1] Breiman, Friedman, Olshen and Stone (1984). Classification and Regression
       Trees. doi:10.1201/9781315139470
    """
    estimator: Any = model.estimator
    module = f"{type(estimator).__module__}."
    if not (
        module.startswith(TREE_MODULES) and hasattr(estimator, "feature_importances_")
    ):
        raise refusal(
            model,
            "be a tree, a forest or a boosting of scikit-learn that reports its "
            "impurity",
            "impurity",
        )
    if normalised:
        of_columns = np.array(estimator.feature_importances_, dtype=np.float64)
    elif hasattr(estimator, "estimator_weights_"):
        raise NotApplicable(
            f"Model {quote(model.name)} must count its trees equally for method "
            f"'impurity' with normalised = false; {type(estimator).__name__} weighs "
            "them. Use normalised = true."
        )
    else:
        members = getattr(estimator, "estimators_", [estimator])
        trees = [member.tree_ for member in np.ravel(np.array(members, dtype=object))]
        each = [tree.compute_feature_importances(normalize=False) for tree in trees]
        of_columns = np.asarray(np.mean(each, axis=0), dtype=np.float64)
    return summed_by_feature(model, data, of_columns, "impurity")
