"""Access to the inside of a fitted model: training rows, columns and sign."""

from typing import Any

import numpy as np

from ...data.column_types import is_category
from ...data.encoding import encode, learn
from ...models.prediction import own_classes
from ...records.asker import remedy_by_fitting
from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.errors import NotApplicable, quote
from .method_result import each_group

USE_PERMUTATION = "Use permutation importance."


def refusal(
    model: FittedModel, rule: str, method: str, *, finding: str = "", remedy: str = ""
) -> NotApplicable:
    """Return the error for a model to which a method cannot be applied."""
    kind = "is only known by its predictions"
    if model.estimator is not None:
        kind = f"is a {type(model.estimator).__name__}"
    return NotApplicable(
        f"Model {quote(model.name)} must {rule} for method {method!r}; it "
        f"{finding or kind}. {remedy or USE_PERMUTATION}"
    )


def training_rows(model: FittedModel, method: str) -> tuple[Dataset, Floats]:
    """Return the training rows of a model, and the matrix that its estimator read.

    Raises
    ------
    NotApplicable
        If the audit did not fit the model, or its estimator read more than numbers.
    """
    # The order of the training rows of a supplied model is not known, and it determines
    # which are out of bag; a refit needs no order.
    if model.train is None or model.source == "given":
        raise refusal(
            model,
            "be fitted by the audit, which then knows its training rows,",
            method,
            finding="came as it is",
            remedy=remedy_by_fitting(),
        )
    X = model.train.part(model.features).X
    categories = [name for name in X.columns if is_category(X[name])]
    if model.encoder == "none" and categories:
        raise refusal(
            model,
            "see numbers only",
            method,
            finding=f"encodes column {quote(categories[0])} itself",
            remedy="Set encoder = 'one_hot' or 'ordinal'.",
        )
    matrix = encode(learn(X, model.encoder), X, model.name)
    return model.train, np.asarray(matrix, dtype=np.float64)


def features_of_columns(
    model: FittedModel, n_columns: int, method: str
) -> tuple[str, ...]:
    """Return the feature that each column of the estimator was made from."""
    if len(model.encoded) == n_columns:
        return model.encoded
    raise refusal(
        model,
        f"say which feature each of its {n_columns} columns was made from",
        method,
        finding=f"names {len(model.encoded)}",
    )


def summed_by_feature(
    model: FittedModel, data: Dataset, of_columns: Floats, method: str
) -> tuple[Floats, Floats]:
    """Return the sum over the estimator's columns made from each group, and zero."""
    names = np.array(features_of_columns(model, len(of_columns), method), dtype=object)
    return each_group(data, lambda of: of_columns[np.isin(names, of)].sum())


def sign_of(model: FittedModel) -> float:
    """Return -1 if a higher score of the estimator favours the negative class, else 1.

    A classifier's score rises with the last of its `classes_`; a supplied model may
    have the other class as the positive one.
    """
    own = own_classes(model.estimator)
    if model.source == "fitted" or model.task != "binary":
        return 1.0
    return -1.0 if own[::-1] == list(model.classes) else 1.0


def is_of(estimator: Any, modules: tuple[str, ...]) -> bool:
    """Return whether the class of an estimator is defined in one of these modules."""
    return f"{type(estimator).__module__}.".startswith(modules)
