"""Whether predictions agree with what was observed, decile by decile.

One test for probabilities (calibration) and for numbers (bias). Not: the deciles
(`models.diagnostics`), nor what is said of them (`checks`).
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from ..records.frames import Row
from ..records.ranking import LEVEL

ROUNDING = 1e-9
"""What is rounding, as a share: of the largest mean, or of the loss of a constant."""
Side = Literal["too low", "too high", "within"]


def calibration_checks(rows: Sequence[Row]) -> list[Row]:
    """Return one row of the frame `calibration_checks` per model and class.

    If the predictions are right, each decile leaves out its mean prediction with
    probability 5 %, and the number of those that do is binomial.

    Parameters
    ----------
    rows : sequence of dict
        Of the frame `calibration`. The probability of the predicted class of several
        is left out, since each class has deciles of its own.
    """
    keys = ("model", "positive_class", "split")
    deciles: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        deciles.setdefault(tuple(row[key] for key in keys), []).append(row)
    several = {model for model, positive_class, _ in deciles if positive_class}
    checked = []
    for who, parts in deciles.items():
        judged = [part for part in parts if not np.isnan(part["low"])]
        if not judged or (who[0] in several and not who[1]):
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
    """Return on which side of its interval the mean prediction of each part lies.

    A part without an interval is "within". The parts are those of one model: rounding
    goes with its largest numbers, so that a part whose mean is 0 has room as well.
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
    """Return the probability of at least so many deciles outside a 95 % interval.

    Examples
    --------
    >>> round(chance(3, 10), 4)
    0.0115
    """
    from scipy.special import bdtrc  # reading a run loads no scipy

    return 1.0 if not n_outside else float(bdtrc(n_outside - 1, n_deciles, 1 - LEVEL))
