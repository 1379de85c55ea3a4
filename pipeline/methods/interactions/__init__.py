"""The measures of interaction and their contract, documented once.

Every row of `INTERACTIONS` is called in one way:

    numerator, denominator = row.function(model, data, features, seed=seed, **options)

`features` is a tuple of column names: a pair, one name where the measure knows what one
feature shares with all others, or as many as the measure takes. `numerator`, float64 of
shape (n_outputs,), is the interaction in the unit of the row, 0 where there is none;
`denominator`, of the same shape, is what all of the features measure together. Rank by
the numerator: features that hardly matter have a small denominator, and lead the ratio
by noise alone. NaN is no answer. `NotApplicable` says in a whole sentence what a model
cannot be asked.

Nothing that is given is changed, the same seed gives the same numbers, and they depend
on their own features only.

An interaction's options are its keyword-only arguments with defaults, and no record,
for the reason that `importance` gives.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

from ...records.dataset_and_model import Floats
from . import h_statistic, h_total, vint


class Interaction(NamedTuple):
    """One row of the table of interactions.

    Attributes
    ----------
    asks : {"predict"}
        What the measure has access to.
    unit : {"prediction", "prediction^2"}
        What numerator and denominator are measured in.
    function : callable
    """

    asks: Literal["predict"]
    unit: Literal["prediction", "prediction^2"]
    function: Callable[..., tuple[Floats, Floats]]


INTERACTIONS: dict[str, Interaction] = {
    "h_statistic": Interaction("predict", "prediction^2", h_statistic.h_statistic),
    "h_total": Interaction("predict", "prediction^2", h_total.h_total),
    "vint": Interaction("predict", "prediction", vint.vint),
}
