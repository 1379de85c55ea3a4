"""Standardises numbers to mean 0 and standard deviation 1 for an estimator.

This is the default of R's e1071: it applies to numeric columns, not those derived from
categories, and to the target of a regression, whose predictions are converted back. R
uses the standard deviation with ddof 1, and encodes the first level of a category too:
so predictions of support vector machines are close to those of R, not equal to them.
"""

from typing import Any

from ..records.dataset_and_model import Task


def standardised(estimator: Any, numbers: list[int], task: Task) -> Any:
    """Return an estimator that standardises its inputs in fit and predict.

    Parameters
    ----------
    estimator : estimator
        With the scikit-learn interface, not yet fitted.
    numbers : list of int
        The positions of the columns to standardise, by the training rows (ddof 0); the
        other columns follow unchanged.
    task : {"regression", "binary", "multiclass"}
        In a regression the target is standardised too.
    """
    from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    scaled = ("numbers", StandardScaler(), numbers)
    columns = ColumnTransformer([scaled], remainder="passthrough")
    steps = Pipeline([("columns", columns), ("estimator", estimator)])
    if task != "regression":
        return steps
    return TransformedTargetRegressor(regressor=steps, transformer=StandardScaler())
