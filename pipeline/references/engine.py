"""Who an engine is, and whether it can be asked here. Not: asking it."""

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as distribution_version
from typing import NamedTuple

from pipeline.known_defects import version_numbers
from r_bridge import dalex, host, vip

# Older versions were never held against our numbers.
FLOORS = {"vip": "0.4.0", "DALEX": "2.5.3"}


class EngineInfo(NamedTuple):
    """Who an engine is, and whether it can be asked here.

    Attributes
    ----------
    name : str
        A key of `ENGINES`.
    available : bool
    version : str
        Of its package; empty if not available.
    stream : str
        The order it draws in: "numpy", "vip-0.4", "vip-0.5" or "DALEX"; empty if not
        available.
    reason : str
        Why it is not available, or what to know although it is; else empty.
    """

    name: str
    available: bool
    version: str
    stream: str
    reason: str


def describe_engine(name: str) -> EngineInfo:
    """Return whether an engine, a key of `ENGINES`, can be asked here."""
    if name == "python":
        return EngineInfo(name, True, _own_version(), "numpy", "")
    found = host.installed()
    if found.get("reason"):
        return EngineInfo(name, False, "", "", str(found["reason"]))
    version, floor = found["packages"].get(name, ""), FLOORS[name]
    if not version or version_numbers(version) < version_numbers(floor):
        has = f"has no package {name!r}"
        if version:
            has = f"has {name} {version}, and {floor} is the oldest asked"
        if name in found["broken"]:
            has = f"cannot load package {name!r} ({found['broken'][name]})"
        reason = f"R {found['r_version']} {has}. Run: importance-audit install-r"
        return EngineInfo(name, False, "", "", reason)
    if name == "DALEX":
        return EngineInfo(name, True, version, "DALEX", "")
    return EngineInfo(name, True, version, *vip.stream_of(version))


def _own_version() -> str:
    """Return the version of this distribution, "unknown" in a bare checkout."""
    try:
        return distribution_version("importance-audit")
    except PackageNotFoundError:
        return "unknown"


def loss_source(engine: str, loss: str) -> str:
    """Return in words whose code computes a loss when an engine is asked."""
    if engine == "python":
        return "ours, in Python"
    if engine == "DALEX" and loss in dalex.OWN_LOSSES:
        return f"DALEX::{dalex.OWN_LOSSES[loss]}"
    return "ours, written again in R"
