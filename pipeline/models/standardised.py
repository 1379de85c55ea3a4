"""Numbers to mean 0 and standard deviation 1 before an estimator sees them.

As R's e1071 does by default: the columns of numbers, not those made of categories, and
the target of a regression, whose predictions come back in its own unit. R divides by
the deviation with ddof 1, and gives a category a column for its first level too: the
predictions of a machine are near those of R, not equal to them.
"""

from typing import Any

from ..records.dataset_and_model import Task


def standardised(estimator: Any, numbers: list[int], task: Task) -> Any:
    """Return an estimator that standardises what it is fitted on, and asked with it.

    Parameters
    ----------
    estimator : estimator
        Of scikit-learn's kind, not yet fitted.
    numbers : list of int
        The places of the columns to standardise, by the training rows (ddof 0); the
        others come after them, as they are.
    task : {"regression", "binary", "multiclass"}
        Of a regression the target is standardised too.
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
