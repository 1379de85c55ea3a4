"""Pipelines whose steps make every column from one column, row by row.

Permuting a feature then permutes the columns that were made from it, so the trees at
the end can be used. Steps must be of the scikit-learn classes listed in `RULES`, not of
classes that inherit from these.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...data.column_types import is_category
from ...models.prediction import has_own
from ...records.errors import ModelError, quote, words
from . import name_of

PIPELINE = "sklearn.Pipeline"
Names = tuple[str, ...]
PREDICTS = ("predict", "predict_proba")
NOTHING = (None, "passthrough")
"""Steps that pass their columns on unchanged."""


def looked_through(estimator: Any) -> tuple[tuple[Any, ...], Any]:
    """Return the named steps before the last one of a pipeline, and the last step.

    Any other estimator has no steps before it.
    """
    steps: tuple[Any, ...] = ()
    while name_of(estimator) == PIPELINE and not has_own(estimator, *PREDICTS):
        steps += tuple(estimator.steps[:-1])
        estimator = estimator.steps[-1][1]
    return steps, estimator


def features_after(steps: Sequence[Any], features: Names) -> Names | str:
    """Return for each column that leaves the steps the feature it is made from.

    If that is not known, return the reason in plain words.

    Parameters
    ----------
    steps : sequence of (str, transformer)
    features : tuple of str
        The feature that each column entering the steps is made from.
    """
    for name, step in steps:
        after = _after(step, features)
        if after is None:
            kind = type(step).__name__
            return (
                f"Its step {quote(name)} ({kind}) is not known to make each column of "
                "one column."
            )
        features = after
    return features


def _after(step: Any, features: Names) -> Names | None:
    """Return the result of `features_after` for one step, None if it is not known."""
    if step in NOTHING:
        return features
    rule = RULES.get(name_of(step))
    if rule is None or has_own(step, "transform"):
        return None
    if getattr(step, "n_features_in_", len(features)) != len(features):
        return None
    return rule(step, features)


def _same(_: Any, features: Names) -> Names:
    """Return the columns of a step that changes each of them separately."""
    return features


def _selected(step: Any, features: Names) -> Names:
    """Return the columns that a selection keeps."""
    return tuple(features[at] for at in step.get_support(indices=True))


def _imputed(step: Any, features: Names) -> Names | None:
    """Return the columns of an imputer: those without any value are left out."""
    if step.add_indicator:
        return None
    is_empty = pd.isna(step.statistics_)
    return tuple(np.array(features, dtype=object)[~is_empty])


def _one_hot(step: Any, features: Names) -> Names:
    """Return one column per category, and one for all infrequent ones together."""
    dropped = step.drop_idx_
    infrequent = getattr(step, "infrequent_categories_", None)
    widths = [len(own) for own in step.categories_]
    for j in range(len(widths)):
        if infrequent is not None and infrequent[j] is not None:
            widths[j] -= len(infrequent[j]) - 1
        if dropped is not None and dropped[j] is not None:
            widths[j] -= 1
    return tuple(np.repeat(np.array(features, dtype=object), widths))


def _unchanged(step: Any, features: Names) -> Names | None:
    """Return the columns of a function transformer, known only without a function.

    The newest scikit-learn has one in place of each "passthrough" of a transformer of
    columns.
    """
    return features if step.func is None else None


def _parts(step: Any, features: Names) -> Names | None:
    """Return the columns of transformers that are applied in parallel."""
    names = getattr(step, "feature_names_in_", None)
    places = getattr(step, "_transformer_to_input_indices", None)
    if places is None or (names is not None and tuple(names) != features):
        return None
    columns: Names = ()
    for name, part, _ in step.transformers_:
        own = tuple(features[at] for at in places[name])
        if part == "drop" or not own:
            continue
        after = _after(part, own)
        if after is None:
            return None
        columns += after
    return columns


def _chain(step: Any, features: Names) -> Names | None:
    """Return the columns after several steps."""
    after = features_after(step.steps, features)
    return None if isinstance(after, str) else after


_EACH_ON_ITS_OWN = (
    "StandardScaler MinMaxScaler MaxAbsScaler RobustScaler QuantileTransformer "
    "PowerTransformer OrdinalEncoder"
)
_SELECTIONS = "SelectKBest SelectPercentile SelectFromModel VarianceThreshold"
RULES: dict[str, Callable[[Any, Names], Names | None]] = {
    **dict.fromkeys((f"sklearn.{name}" for name in _EACH_ON_ITS_OWN.split()), _same),
    **dict.fromkeys((f"sklearn.{name}" for name in _SELECTIONS.split()), _selected),
    "sklearn.SimpleImputer": _imputed,
    "sklearn.OneHotEncoder": _one_hot,
    "sklearn.FunctionTransformer": _unchanged,
    "sklearn.ColumnTransformer": _parts,
    PIPELINE: _chain,
}
"""From the class of a step to the function that returns its columns."""


def rows_given(
    X: pd.DataFrame,
    *,
    read: Callable[[pd.DataFrame], Any],
    steps: Sequence[Any],
    library: str,
) -> Any:
    """Return the numbers that the last step of a pipeline reads, given a frame.

    Parameters
    ----------
    X : DataFrame
    read : callable
        Returns the input of the first step.
    steps : sequence of (str, transformer)
    library : str
        That of the last step. Entries that a sparse matrix omits are zero to
        scikit-learn but missing to XGBoost, whose rows must not be sparse here.
        XGBoost reads levels as their codes.

    Raises
    ------
    ModelError
        If a step refuses the rows.
    """
    rows = read(X)
    for name, step in steps:
        if step in NOTHING:
            continue
        try:
            rows = step.transform(rows)
        except Exception as error:
            raise ModelError(
                f"Step {quote(name)} of a pipeline cannot transform the rows; "
                f"{type(step).__name__} says: {words(error)}"
            ) from error
    if library == "sklearn" and hasattr(rows, "toarray"):
        return rows.toarray()
    if library == "xgboost" and isinstance(rows, pd.DataFrame):
        return rows.apply(_codes)
    return rows


def _codes(column: pd.Series) -> pd.Series:
    """Return the codes of levels, NaN where missing; other columns unchanged."""
    if not is_category(column):
        return column
    codes = column.cat.codes
    return codes.where(codes >= 0, np.nan)
