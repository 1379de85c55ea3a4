"""The engines: R packages that compute the methods in METHODS and EFFECTS.

An engine is two tables, importance and effects. Equal keys in two engines are the same
quantity. Every argument that affects a number is passed; none is left to the default of
an R package. An unsupported request raises `NotApplicable`. Not: R code, conversion of
types.

The options of a function are those of its counterpart in METHODS or EFFECTS that its
package supports: they are read from its signature.
"""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from ..methods.effects import EFFECTS
from ..methods.importance import METHODS
from ..records.extensions import OpenTable
from . import dalex, hstats, iml, pdp, vip, xplainfi
from .asking import compare_predictions
from .availability import EngineInfo, describe_engine, stream_of

__all__ = [
    "ENGINES",
    "REFUSED_LOSSES",
    "EngineInfo",
    "compare_predictions",
    "describe_engine",
    "stream_of",
]


def _rows(
    importance: Mapping[str, Any] = MappingProxyType({}),
    curves: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return our entries for the methods of a package, with the package's functions."""
    return {
        "importance": {
            name: METHODS[name]._replace(function=function)
            for name, function in importance.items()
        },
        "effects": {
            name: EFFECTS[name]._replace(function=function)
            for name, function in curves.items()
        },
    }


ENGINES: OpenTable[dict[str, dict[str, Any]]] = OpenTable(
    "engine",
    {
        "python": {"importance": METHODS, "effects": EFFECTS},
        "vip": _rows(vip.IMPORTANCE, vip.CURVES),
        "DALEX": _rows(dalex.IMPORTANCE, dalex.CURVES),
        "hstats": _rows(hstats.IMPORTANCE),
        "iml": _rows(iml.IMPORTANCE, iml.CURVES),
        "pdp": _rows(curves=pdp.CURVES),
        "xplainfi": _rows(xplainfi.IMPORTANCE),
    },
)
REFUSED_LOSSES: dict[str, Callable[[Iterable[str]], dict[str, str]]] = {
    "hstats": hstats.refused_losses
}
"""By engine with a limited set of losses, a function: refused losses with the reason.

The other losses are computed.
"""
