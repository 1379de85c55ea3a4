"""Predictions of tree ensembles from their nodes: the library's numbers, in less time.

`READERS` lists the classes whose trees can be packed. Results from a packing equal
those of the library's predict; without numba (`compiled.available`) predict is used and
nothing of this package.
"""

from collections.abc import Callable
from typing import Any

from ...records.errors import words
from .histogram import READERS as HISTOGRAM
from .lightgbm_trees import READERS as LIGHTGBM
from .packing import Packing
from .r_trees import READERS as R_TREES
from .sklearn_trees import READERS as SKLEARN_TREES
from .xgboost_trees import READERS as XGBOOST

READERS: dict[str, Callable[[Any], Packing | str]] = {
    **SKLEARN_TREES,
    **HISTOGRAM,
    **XGBOOST,
    **LIGHTGBM,
    **R_TREES,
}
"""From the class of a fitted estimator to its reader."""


def name_of(model: Any) -> str:
    """Return the library and class of an estimator, its key in `READERS`."""
    if hasattr(model, "r_class"):
        return f"R.{model.kind}"
    kind = type(model)
    return f"{kind.__module__.partition('.')[0]}.{kind.__qualname__}"


def pack(model: Any) -> Packing | str:
    """Return the trees of a fitted estimator, or in plain words why they are not read.

    How a library stores its trees is internal and may change; predict is then used.

    Parameters
    ----------
    model : Any
        A fitted estimator.
    """
    name = name_of(model)
    if name not in READERS:
        return f"{name.rpartition('.')[2]} is no ensemble of trees that can be read."
    try:
        return READERS[name](model)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        return f"Its trees cannot be read: {type(error).__name__}: {words(error)}"
