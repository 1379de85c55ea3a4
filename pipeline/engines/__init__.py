"""Who else measures it: rows like those of METHODS and EFFECTS that ask R.

An engine is two tables: the same key in the tables of two engines is the same question
to both. Every argument that decides a number is given; no default of an R package does.
What a package cannot be asked raises `NotApplicable`. Not: R code, type conversion.

A row takes the options of its partner among METHODS or EFFECTS one by one, and only
those that its package has: what it lacks is read off its signature.
"""

from collections.abc import Callable, Iterable
from typing import Any

from ..methods.effects import EFFECTS
from ..methods.importance import METHODS
from ..records.extensions import OpenTable
from . import dalex, hstats, iml, pdp, vip, xplainfi
from .asking import compare_predictions, same_predictions
from .availability import EngineInfo, describe_engine, loss_source, stream_of

__all__ = [
    "ENGINES",
    "REFUSED_LOSSES",
    "EngineInfo",
    "compare_predictions",
    "describe_engine",
    "loss_source",
    "same_predictions",
    "stream_of",
]

ENGINES: OpenTable[dict[str, dict[str, Any]]] = OpenTable(
    "engine",
    {
        "python": {"importance": METHODS, "effects": EFFECTS},
        "vip": {"importance": vip.IMPORTANCE, "effects": vip.CURVES},
        "DALEX": {"importance": dalex.IMPORTANCE, "effects": dalex.CURVES},
        "hstats": {"importance": hstats.IMPORTANCE, "effects": hstats.CURVES},
        "iml": {"importance": iml.IMPORTANCE, "effects": iml.CURVES},
        "pdp": {"importance": pdp.IMPORTANCE, "effects": pdp.CURVES},
        "xplainfi": {"importance": xplainfi.IMPORTANCE, "effects": xplainfi.CURVES},
    },
)
REFUSED_LOSSES: dict[str, Callable[[Iterable[str]], dict[str, str]]] = {
    "hstats": hstats.refused_losses
}
"""Of engines that take some of our losses only: why not others, by the loss.

They are asked for those they take.
"""
