"""Who else measures it: rows like those of METHODS and EFFECTS that ask R.

An engine is two tables: the same key in the tables of two engines is the same question
to both. Every argument that decides a number is given; no default of an R package does.
What a package cannot be asked raises `NotApplicable`. Not: R code, type conversion.

A row takes the options of its partner among METHODS or EFFECTS one by one, and only
those that its package has: what it lacks is read off its signature.
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
    """Return our rows of what a package has, with its functions in place of ours."""
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
"""Of engines that take some of our losses only: why not others, by the loss.

They are asked for those they take.
"""
