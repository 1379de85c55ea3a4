"""Importance from the connection weights of a net with one hidden layer."""

from typing import Any

import numpy as np

from ...records.dataset_and_model import Dataset, FittedModel, Floats
from .insides import (
    features_of_columns,
    is_of,
    refusal,
    sign_of,
    summed_by_feature,
)
from .method_result import each_group

NETS = ("sklearn.neural_network.",)


def garson(
    model: FittedModel, data: Dataset, *, seed: int, output_weights: bool = False
) -> tuple[Floats, Floats]:
    r"""Return the share of each feature in the connections of a net (Garson).

    With :math:`w_{jh}` the weight from input *j* to hidden unit *h* and :math:`v_h`
    from there to the output, the share of *j* in a unit is
    :math:`q_{jh} = |w_{jh} v_h| / \sum_k |w_{kh} v_h|`, where :math:`v_h` cancels, and
    its importance [1]_ [2]_

    .. math:: \sum_h q_{jh} \Big/ \sum_k \sum_h q_{kh}.

    With `output_weights` a unit is weighted by its output weight,
    :math:`\sum_h |v_h| q_{jh} / \sum_h |v_h|`. Shares are additive: those of a
    category's columns, or of a group, are summed.

    Parameters
    ----------
    model : FittedModel
        The weights of its ``estimator`` are read.
    data : Dataset
        Only ``data.groups`` is read.
    seed : int
        Not used: nothing is drawn.
    output_weights : bool, default False
        Whether hidden units are weighted by their output weights; otherwise all count
        the same, as in R's NeuralNetTools.

    Returns
    -------
    raw : ndarray of shape (n_groups, 1, 1)
        Shares of one, without sign; 0 for a column the model does not read; NaN for
        all if no unit has connections.
    baseline : ndarray of shape (1, 1)
        Zero, the value of an input without weights.

    Raises
    ------
    NotApplicable
        If the model is no MLPRegressor or MLPClassifier of scikit-learn with one hidden
        layer and one output, or its columns cannot be traced back to features.

    Warnings
    --------
    Weights that cancel on the way to the output count as importance, and units that are
    always on or off are not recognised. Inputs must be on one scale; a fit from another
    random start has other weights.

    References
    ----------
    .. [1] Garson (1991). Interpreting neural-network connection weights. AI Expert
       6(4), 46-51.
    .. [2] Gevrey, Dimopoulos and Lek (2003). Review and comparison of methods to study
       the contribution of variables in artificial neural network models. Ecological
       Modelling 160(3), 249-264. doi:10.1016/S0304-3800(02)00257-0
    """
    hidden, output = _weights(model, "garson")
    shares = garson_shares(hidden, output, output_weights=output_weights)
    if not np.isfinite(shares).all():
        return each_group(data, lambda _: np.nan)
    return summed_by_feature(model, data, shares, "garson")


def olden(model: FittedModel, data: Dataset, *, seed: int) -> tuple[Floats, Floats]:
    r"""Return the sum of the products of a net's connection weights (Olden).

    :math:`\sum_h w_{jh} v_h`, with :math:`w_{jh}` the weight from input *j* to hidden
    unit *h* and :math:`v_h` from there to the output [1]_: the slope of the net if its
    units were linear with slope one.

    Parameters
    ----------
    model : FittedModel
        The weights of its ``estimator`` are read.
    data : Dataset
        Only ``data.groups`` is read.
    seed : int
        Not used: nothing is drawn.

    Returns
    -------
    raw : ndarray of shape (n_groups, 1, 1)
        Signed, for the prediction or the positive class; 0 for a column the model does
        not read; NaN for a feature with several inputs (a category in one-hot columns,
        a group), whose signs would cancel.
    baseline : ndarray of shape (1, 1)
        Zero, the value of an input without weights.

    Raises
    ------
    NotApplicable
        If the model is no MLPRegressor or MLPClassifier of scikit-learn with one hidden
        layer and one output, or its columns cannot be traced back to features.

    Warnings
    --------
    It uses the weights only: units that are always on or off are not recognised, and
    opposite effects of an input through different units cancel. Inputs must be on one
    scale; a fit from another random start has other weights.

    References
    ----------
    .. [1] Olden, Joy and Death (2004). An accurate comparison of methods for
       quantifying variable importance in artificial neural networks using simulated
       data. Ecological Modelling 178(3-4), 389-397.
       doi:10.1016/j.ecolmodel.2004.03.013
    """
    products = sign_of(model) * np.matmul(*_weights(model, "olden"))
    names = np.array(features_of_columns(model, len(products), "olden"), dtype=object)

    def signed(of: tuple[str, ...]) -> float:
        own = products[np.isin(names, of)]
        return float(own.sum()) if len(own) <= 1 else np.nan

    return each_group(data, signed)


def garson_shares(hidden: Floats, output: Floats, *, output_weights: bool) -> Floats:
    """Return Garson's share of each input, NaN if no unit has connections.

    Parameters
    ----------
    hidden : ndarray of shape (n_inputs, n_hidden)
        The weights from inputs to hidden units, without the constants.
    output : ndarray of shape (n_hidden,)
        The weights from there to the output.
    output_weights : bool
        Whether units are weighted by their output weights.
    """
    carried = np.abs(hidden * output)
    totals = carried.sum(axis=0)
    is_connected = totals > 0  # a unit without connections has no shares
    shares = carried[:, is_connected] / totals[is_connected]
    if output_weights:
        shares = shares * np.abs(output[is_connected])
    with np.errstate(invalid="ignore"):
        return np.asarray(shares.sum(axis=1) / shares.sum())


def _weights(model: FittedModel, method: str) -> tuple[Floats, Floats]:
    """Return the weights from inputs to hidden units, and from them to the output."""
    net: Any = model.estimator
    if not is_of(net, NETS) or not hasattr(net, "coefs_"):
        raise refusal(model, "be a neural net of scikit-learn", method)
    if len(net.coefs_) != 2:
        n_layers = f"has {len(net.coefs_) - 1}"
        raise refusal(model, "have one hidden layer", method, finding=n_layers)
    hidden, output = (np.array(part, dtype=np.float64) for part in net.coefs_)
    if output.shape[1] != 1:
        n_layers = f"has {output.shape[1]}"
        raise refusal(model, "have one output", method, finding=n_layers)
    return hidden, output[:, 0]
