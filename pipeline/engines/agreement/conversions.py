"""Conversion of two records to one scale, if one follows exactly from the other.

Not: forms (difference, ratio, raw), which `sides` derives from the losses.
"""

from dataclasses import replace
from typing import Any

from ...records.importance_record import Importance
from .reasons import Why, because

MEAN_OF = {"sum_of_squares": "mse", "negative_log_likelihood": "log_loss"}
"""Each loss that is a sum over the rows, and the loss that is its mean."""
ROOT_OF = {"rmse": "mse"}
"""Each loss that is a root, and its square."""
SQUARED = "squared"
"""The option of an H statistic that is False for H itself."""


def on_one_scale(a: Importance, b: Importance) -> tuple[Importance, Importance, Why]:
    r"""Return both records with losses, and H statistics, on a common scale.

    A sum over *n* rows of unit weight is *n* times a mean; a mean square is the square
    of its root, repeat by repeat, where the losses themselves are known; :math:`H^2`
    is the square of :math:`H`. Records without an exact conversion are not changed.

    Returns
    -------
    a, b : Importance
    why : list of (code, sentence)
        One "(converted)" reason for each record that changed.

    Warnings
    --------
    A record does not say whether its rows are weighted. Sums and means of weighted
    rows differ by the sum of the weights, so they must be compared by one loss.
    """
    why: Why = []
    if a.loss != b.loss:
        a, b, why = _same_loss(a, b)
    if a.options.get(SQUARED, True) != b.options.get(SQUARED, True):
        a, b, squares = (
            _squared_h(a),
            _squared_h(b),
            because("H_SCALE (converted)", "H", "H squared"),
        )
        still = a.options.get(SQUARED, True) != b.options.get(SQUARED, True)
        why += [] if still else [squares]
    return a, b, why


def is_finished(record: Importance) -> bool:
    """Return whether the record has final values, without the losses behind them."""
    none = 1.0 if record.form == "ratio" else 0.0
    return bool((record.baseline == none).all())


def without_h_scale(card: dict[str, Any]) -> dict[str, Any]:
    """Return a card without the field for squared H if it has its usual value."""
    usual = card.get(SQUARED, True) is True
    return {k: v for k, v in card.items() if not (usual and k == SQUARED)}


def _same_loss(a: Importance, b: Importance) -> tuple[Importance, Importance, Why]:
    """Return both with one loss if they differ only in scale, otherwise unchanged."""
    means = MEAN_OF.get(a.loss, a.loss), MEAN_OF.get(b.loss, b.loss)
    left, right = a, b
    if len({ROOT_OF.get(loss, loss) for loss in means}) == 1:
        left, right = _as_mean(a), _as_mean(b)
        if left.loss in ROOT_OF and left.loss != right.loss:
            left, right = _without_root(left, right)
        elif right.loss in ROOT_OF and left.loss != right.loss:
            right, left = _without_root(right, left)
    if left.loss != right.loss:
        return a, b, []
    pairs = ((a, left), (b, right))
    why = [
        because("LOSS_SCALE (converted)", old.loss, new.loss)
        for old, new in pairs
        if old.loss != new.loss
    ]
    return left, right, why


def _as_mean(record: Importance) -> Importance:
    """Return a record of sums as one of means, any other record unchanged."""
    if record.loss not in MEAN_OF:
        return record
    # A finished ratio is the same for a sum as for a mean.
    is_ratio = record.form == "ratio" and is_finished(record)
    n = 1 if is_ratio else record.n_drawn
    return replace(
        record,
        loss=MEAN_OF[record.loss],
        raw=record.raw / n,
        baseline=record.baseline / n,
    )


def _without_root(
    root: Importance, square: Importance
) -> tuple[Importance, Importance]:
    """Return both as squares, or both as roots, depending on whose losses are known."""
    if not is_finished(root):
        raw, baseline = root.raw**2, root.baseline**2
        return replace(root, loss=square.loss, raw=raw, baseline=baseline), square
    if is_finished(square):
        return root, square
    raw, baseline = square.raw**0.5, square.baseline**0.5
    return root, replace(square, loss=root.loss, raw=raw, baseline=baseline)


def _squared_h(record: Importance) -> Importance:
    """Return a record of H as one of H squared, any other record unchanged."""
    is_h = not record.options.get(SQUARED, True)
    if not is_h or (record.form == "difference" and not is_finished(record)):
        return record
    return replace(
        record,
        options={**record.options, SQUARED: True},
        raw=record.raw**2,
        baseline=record.baseline**2,
    )
