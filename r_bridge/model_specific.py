"""Model-specific importances of a fitted R model, with and without vip."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .r_models import RModel

Floats = npt.NDArray[np.float64]


class ModelReport(NamedTuple):
    """Model-specific numbers of a model.

    Attributes
    ----------
    type : str
        The quantity, in R's name.
    terms : tuple of str
        The terms they refer to: columns, dummies or coefficients.
    values : ndarray of shape (n_terms,)
    columns : tuple of tuple of str
        The columns of each term, by the formula; empty if R does not state them.
    offsets : tuple of str
        Columns that enter without a coefficient.
    estimate, covariance : ndarray of shape (n_terms,) and (n_terms, n_terms), or None
        Of coefficients; NaN for those that the rows do not identify.
    """

    type: str
    terms: tuple[str, ...]
    values: Floats
    columns: tuple[tuple[str, ...], ...]
    offsets: tuple[str, ...]
    estimate: Floats | None
    covariance: Floats | None


def own_numbers(model: RModel, type: str) -> ModelReport | tuple[str, ...] | str:  # noqa: A002 (R's name)
    """Return the model-specific numbers of a fitted model.

    Parameters
    ----------
    model : RModel
    type : str
        One of the quantities of its class, or "" for the default one.

    Returns
    -------
    ModelReport, tuple of str or str
        The available quantities, if `type` is none of them. If there are none, a word
        for what the model lacks: "reader", "importance", "splits" or "hidden units".

    Raises
    ------
    importance_audit.r_bridge.errors.RBridgeError
    """
    answer = model.call("model_numbers", {"type": type})
    if "none" in answer:
        return str(answer["none"][0])
    if "types" in answer:
        return _texts(answer["types"])
    return ModelReport(
        type=str(answer["type"][0]),
        terms=_texts(answer["terms"]),
        values=np.atleast_1d(np.asarray(answer["values"], dtype=np.float64)),
        columns=tuple(_texts(columns) for columns in answer.get("columns") or ()),
        offsets=_texts(answer.get("offsets")),
        estimate=answer.get("estimate"),
        covariance=answer.get("covariance"),
    )


def vip_numbers(model: RModel, type: str) -> dict[str, float] | str:  # noqa: A002 (R's name)
    """Return the importance of each term by ``vip::vi_model``.

    Parameters
    ----------
    model : RModel
    type : str
        A quantity that `own_numbers` returned.

    Returns
    -------
    dict of str to float, or str
        A sentence that says why there are none.

    Raises
    ------
    importance_audit.r_bridge.errors.RBridgeError
    """
    answer = model.call("vip_model", {"type": type})
    if "lacks" in answer:
        package = str(answer["lacks"][0])
        return f"vip::vi_model needs R package {package!r}, which is not installed."
    if "refuses" in answer:
        return f"vip::vi_model has no answer: {str(answer['refuses'][0]).rstrip('.')}."
    values = np.atleast_1d(np.asarray(answer["values"], dtype=np.float64))
    return dict(zip(_texts(answer["terms"]), values.tolist(), strict=True))


def _texts(texts: Any) -> tuple[str, ...]:
    """Return a list of single texts from R."""
    return tuple(str(text[0]) for text in texts or ())
