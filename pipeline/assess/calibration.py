"""Whether predictions agree with what was observed, decile by decile.

One test for probabilities (calibration) and for numbers (bias). Not: the deciles
(`models.diagnostics`), nor the findings about them (`checks`).
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from ..records.frames import Row
from ..records.ranking import LEVEL

ROUNDING = 1e-9
"""Tolerance for rounding, relative to the largest mean or to the constant's loss."""
Side = Literal["too low", "too high", "within"]


def calibration_checks(rows: Sequence[Row]) -> list[Row]:
    """Return one row of the frame `calibration_checks` per model and class.

    If the predictions are right, the 95 % interval of a decile excludes its mean
    prediction with probability 5 %, and the number of such deciles is binomial.

    Parameters
    ----------
    rows : sequence of dict
        Of the frame `calibration`. With several classes, the rows of the predicted
        class are left out, since each class has its own rows.
    """
    keys = ("model", "positive_class", "split")
    deciles: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        deciles.setdefault(tuple(row[key] for key in keys), []).append(row)
    several = {model for model, positive_class, _ in deciles if positive_class}
    checked = []
    for (model, positive_class, _), parts in deciles.items():
        judged = [part for part in parts if not np.isnan(part["low"])]
        if not judged or (model in several and not positive_class):
            continue
        sides = sides_of(parts)
        weights = [part["weight"] for part in parts]
        means = {
            name: float(np.average([part[name] for part in parts], weights=weights))
            for name in ("predicted", "observed")
        }
        too_low, too_high = sides.count("too low"), sides.count("too high")
        checked.append(
            {
                **{key: parts[0][key] for key in keys},
                "deciles": len(judged),
                "too_low": too_low,
                "too_high": too_high,
                "lowest": sides[0],
                "highest": sides[-1],
                "chance": chance(too_low + too_high, len(judged)),
                **means,
            }
        )
    return checked


def sides_of(parts: Sequence[Row]) -> list[Side]:
    """Return the side of its interval on which the mean prediction of each part is.

    A part without an interval is "within". All parts are of one model: the tolerance
    for rounding is relative to its largest mean, so that it is not 0 for any part.
    """
    means = [abs(part[name]) for part in parts for name in ("predicted", "observed")]
    room = ROUNDING * max(means, default=0.0)
    sides: list[Side] = []
    for part in parts:
        is_high = part["predicted"] > part["high"] + room
        is_low = part["predicted"] < part["low"] - room
        sides.append("too low" if is_low else "too high" if is_high else "within")
    return sides


def chance(n_outside: int, n_deciles: int) -> float:
    """Return the probability of at least `n_outside` deciles outside 95 % intervals.

    Examples
    --------
    >>> round(chance(3, 10), 4)
    0.0115
    """
    from scipy.special import bdtrc  # reading a run loads no scipy

    return 1.0 if not n_outside else float(bdtrc(n_outside - 1, n_deciles, 1 - LEVEL))
