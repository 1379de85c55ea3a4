"""Identity and availability of the engines. Not: calling them."""

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as distribution_version
from typing import NamedTuple

from importance_audit.r_bridge import host

from ..records.asker import remedy
from ..records.errors import quote
from ..records.extensions import is_in_force
from .known_defects import version_numbers


class TriedVersions(NamedTuple):
    """The tested versions of an R package.

    Attributes
    ----------
    oldest : str
        Older versions are not supported.
    newest : str
        Newer versions are used, with a note that they are untested. A prefix, such as
        "0.5", covers all versions that begin with it.
    """

    oldest: str
    newest: str


PACKAGES = {
    "vip": TriedVersions("0.4.0", "0.5"),
    "DALEX": TriedVersions("2.5.3", "2.5.4"),
    "ingredients": TriedVersions("2.3.0", "2.3.0"),
    "hstats": TriedVersions("1.2.2", "1.2.2"),
    "iml": TriedVersions("0.11.4", "0.11.4"),
    "pdp": TriedVersions("0.8.0", "0.10.0"),
    "xplainfi": TriedVersions("1.2.0", "1.2.0"),
}
# The packages that do the work for an engine of another name.
USES = {"DALEX": ("ingredients",), "vip": ("pdp",)}
# Packages that install-r installs by default; others must be named.
USUAL = ("DALEX", "fastshap", "ingredients", "pdp", "vip")


class EngineInfo(NamedTuple):
    """Identity and availability of an engine.

    Attributes
    ----------
    name : str
        A key of `ENGINES`.
    available : bool
    version : str
        The version of its package; empty if not available.
    stream : str
        Order of its draws: "numpy", "vip-0.4", "vip-0.5", "DALEX", "hstats" or
        "xplainfi"; "iml", which cannot be replayed; for a user-defined engine its name,
        which cannot be replayed either; empty if it never draws or is not available.
    reason : str
        Why it is not available, or a note if it is; otherwise empty.
    """

    name: str
    available: bool
    version: str
    stream: str
    reason: str


def describe_engine(name: str, version: str = "") -> EngineInfo:
    """Return identity and availability of an engine, a key of `ENGINES`.

    A user-defined engine is always available; `version` is its own statement.
    """
    if is_in_force("engine", name):
        return EngineInfo(name, True, version, name, "")
    if name == "python":
        return EngineInfo(name, True, _own_version(), "numpy", "")
    installed = host.installed()
    if installed.get("reason"):
        return EngineInfo(name, False, "", "", str(installed["reason"]))
    version = installed["packages"].get(name, "")
    if not version or is_older(version, PACKAGES[name].oldest):
        if name in installed["broken"]:
            finding = f"cannot load package {quote(name)} ({installed['broken'][name]})"
        elif version:
            oldest = PACKAGES[name].oldest
            finding = (
                f"has {name} {version}, and {oldest} is the oldest version supported"
            )
        else:
            finding = f"has no package {quote(name)}"
        reason = f"R {installed['r_version']} {finding}. {advice_on(name)}"
        return EngineInfo(name, False, "", "", reason)
    stream, newer = stream_of(name, version), untried(name, installed["packages"])
    return EngineInfo(name, True, version, stream, newer)


def is_older(version: str, than: str) -> bool:
    """Return whether a version precedes another."""
    return version_numbers(version) < version_numbers(than)


def is_newer(package: str, version: str) -> bool:
    """Return whether a version is newer than all tested ones."""
    newest = version_numbers(PACKAGES[package].newest)
    return version_numbers(version)[: len(newest)] > newest


def remedy_of(package: str) -> str:
    """Return the command that installs an R package."""
    return "importance-audit install-r" + ("" if package in USUAL else f" {package}")


def advice_on(package: str, engine: str = "") -> str:
    """Return the remedy for a missing R package, in one or two sentences.

    The remedy is to install it, or the engine it comes with; if installation failed
    before, the reason and an alternative.
    """
    if why := host.installed().get("not_had", {}).get(package):
        return (
            f"It could not be installed: {why}. Numbers computed elsewhere can "
            "be compared with [[supplied]]."
        )
    name = engine or package
    return remedy(f"Run: {remedy_of(name)}", r=f'Run: install.packages("{name}")')


def untried(name: str, versions: Mapping[str, str]) -> str:
    """Return in words the packages of an engine newer than any tested version.

    Parameters
    ----------
    name : str
        A key of `ENGINES`.
    versions : mapping of str to str
        Installed version of each R package.
    """
    sentences = []
    for package in (name, *USES.get(name, ())):
        version = versions.get(package, "")
        if is_newer(package, version):
            sentences.append(
                f"{package} {version} is newer than any tested version (newest "
                f"tested: {PACKAGES[package].newest}); it is called in the same way."
            )
    return " ".join(sentences)


def stream_of(package: str, version: str) -> str:
    """Return the order of draws of a version of an R package.

    "vip-0.4" draws the rows of a subsample once for all repeats, "vip-0.5" draws them
    in every repeat; newer versions are assumed to do the same.
    """
    if package != "vip":
        return "" if package == "pdp" else package  # pdp draws nothing
    major, minor = min(
        version_numbers(version)[:2], version_numbers(PACKAGES["vip"].newest)
    )
    return f"vip-{major}.{minor}"


def _own_version() -> str:
    """Return the version of this distribution, "unknown" without installation."""
    try:
        return distribution_version("importance-audit")
    except PackageNotFoundError:
        return "unknown"
