"""A child process that prints the properties of R and rpy2 as JSON; it may crash.

python -m importance_audit.r_bridge.probe
"""

import contextlib
import json
import locale
import os
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = (
    "vip",
    "pdp",
    "fastshap",
    "yardstick",
    "DALEX",
    "ingredients",
    "hstats",
    "iml",
    "xplainfi",
    "mlr3",
    "gower",
)
# A file of install.R in the library: the packages that could not be installed, and why.
NOT_HAD = "importance-audit-not-had"
_RPY2_PARTS = ("rpy2", "rpy2-rinterface", "rpy2-robjects")


def main() -> None:
    """Print one JSON object; its ``reason`` is empty if R is usable."""
    facts: dict[str, Any] = {"reason": "", "rpy2": _rpy2_versions()}
    if sys.platform == "win32":
        facts["reason"] = "R is asked on Linux and macOS only; this is Windows."
    else:
        try:
            facts |= _r_properties()
        except BaseException as error:  # cffi's ffi.error is no ImportError
            facts["reason"] = reason_of(error)
    print(json.dumps(facts))


def use_utf8() -> None:
    """Choose the first available UTF-8 locale: R encodes names in the locale."""
    for name in ("C.UTF-8", "C.utf8", "en_US.UTF-8", "UTF-8"):
        with contextlib.suppress(locale.Error):
            locale.setlocale(locale.LC_CTYPE, name)
            os.environ["LC_CTYPE"] = name
            return


def reason_of(error: BaseException) -> str:
    """Return why R cannot be used, and the remedy."""
    words = f"{type(error).__name__}: {error}"
    if isinstance(error, ModuleNotFoundError):
        return f"rpy2 is not installed: {error}. Run: pip install rpy2"
    if "R_HOME" in words or isinstance(error, FileNotFoundError):
        return f"R was not found on PATH or at R_HOME ({words}). Install R."
    if "symbol" in words:
        return (
            f"rpy2 was built for another R than this one ({words}). "
            "Run: pip install --force-reinstall --no-binary :all: rpy2"
        )
    return f"R did not start ({words}). Reinstall R, then rpy2."


def _rpy2_versions() -> dict[str, str]:
    versions = {}
    for part in _RPY2_PARTS:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[part] = metadata.version(part)
    return versions


def _r_properties() -> dict[str, Any]:
    """Start R and return its properties."""
    from rpy2 import rinterface

    use_utf8()
    rinterface.initr(interactive=False)
    base = rinterface.baseenv
    version = dict(zip(base["R.version"].names, base["R.version"], strict=True))
    l10n = base["l10n_info"]()
    packages, broken = _packages()
    return {
        "r_version": f"{version['major'][0]}.{version['minor'][0]}",
        "platform": version["platform"][0],
        "rng_kind": list(base["RNGkind"]()),
        "utf8": bool(l10n[list(l10n.names).index("UTF-8")][0]),
        "packages": packages,
        "broken": broken,
        "not_had": not_had_in(map(Path, base[".libPaths"]())),
    }


def _packages() -> tuple[dict[str, str], dict[str, str]]:
    """Return versions of packages that load, and errors of those that do not."""
    from rpy2 import rinterface
    from rpy2.rinterface_lib.embedded import RRuntimeError

    base = rinterface.baseenv
    packages, broken = {}, {}
    for package in PACKAGES:
        name = rinterface.StrSexpVector([package])
        if not len(base["find.package"](name, quiet=True)):
            continue
        try:
            version = base["getNamespaceVersion"](base["loadNamespace"](name))
            packages[package] = str(version[0])
        except RRuntimeError as error:
            broken[package] = " ".join(str(error).split())
    return packages, broken


def not_had_in(libraries: Iterable[Path]) -> dict[str, str]:
    """Return the packages that install.R could not install, and why, by library."""
    reasons: dict[str, str] = {}
    for library in libraries:
        with contextlib.suppress(OSError):
            for line in (library / NOT_HAD).read_text("utf-8", "replace").splitlines():
                package, _, reason = line.partition(": ")
                reasons.setdefault(package, reason)
    return reasons


if __name__ == "__main__":
    main()
