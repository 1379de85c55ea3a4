"""Tables of the nodes of the trees in a fitted R model."""

from typing import Any

from .errors import RBridgeError
from .r_models import RModel


def tree_tables(model: RModel) -> dict[str, Any] | str:
    """Return the nodes of all trees in the fields of the R package.

    Parameters
    ----------
    model : RModel
        A model of ranger, randomForest, gbm or rpart.

    Returns
    -------
    dict of str to ndarray, or str
        One array for each field, tree after tree; or a sentence that says why the nodes
        are not available or do not reproduce the predictions.
    """
    try:
        answer: dict[str, Any] = model.call("model_trees", {})
    except RBridgeError as error:
        return f"R does not hand over its trees: {error}"
    return str(answer["none"][0]) if "none" in answer else answer
