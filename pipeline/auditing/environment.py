"""Software and machine of a run: versions that can change a number, and settings."""

import locale
import os
import platform
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal

from ..config.load import AuditConfig
from ..records.asker import FILE, current_asker
from ..records.result import RunInfo

PACKAGES = (
    "importance-audit numpy pandas scipy scikit-learn matplotlib jinja2 weasyprint rpy2"
).split()

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def run_info(
    config: AuditConfig,
    *,
    status: Literal["complete", "interrupted", "failed"],
    data_sha256: str,
    started: datetime,
    run_id: str,
    course: Mapping[str, Any],
    r: Mapping[str, Any],
) -> RunInfo:
    """Return the circumstances of a result.

    Parameters
    ----------
    config : AuditConfig
    status : {"complete", "interrupted", "failed"}
    data_sha256 : str
        Digest of the training and test rows.
    started : datetime
        In UTC.
    run_id : str
    course : mapping
        Facts of the journal about the run: seconds_by_step, answered_by, log.
    r : mapping
        Result of the bridge's probe, empty if R was not used.
    """
    ended, asker = datetime.now(UTC), current_asker()
    versions_of_r, settings_of_r = {}, {}
    if r and r["reason"]:
        settings_of_r = {"R": r["reason"]}
    elif r:
        packages = {f"{name} (R)": text for name, text in r["packages"].items()}
        versions_of_r = {"R": r["r_version"], **packages}
        settings_of_r = {"R platform": r["platform"]}
        settings_of_r["RNGkind()"] = ", ".join(r["rng_kind"])
    return RunInfo(
        audit=config.audit,
        status=status,
        config=config.resolved(),
        config_sha256=config.sha256,
        data_sha256=data_sha256,
        versions={**versions(), **versions_of_r},
        environment={**environment(), **settings_of_r},
        volatile={
            "run_id": run_id,
            "started": started.isoformat(timespec="seconds"),
            "ended": ended.isoformat(timespec="seconds"),
            "seconds": (ended - started).total_seconds(),
            **course,
            "folder": str(config.base),
            **({"asked_by": asker} if asker != FILE else {}),
        },
    )


@cache
def versions() -> Mapping[str, str]:
    """Return the versions of Python and of its packages that can change a number."""
    numbers = {"Python": platform.python_version()}
    for package in PACKAGES:
        try:
            numbers[package] = version(package)
        except PackageNotFoundError:
            continue
    return numbers


def environment() -> dict[str, str]:
    """Return platform, BLAS, locale and threads of this process."""
    language = ".".join(part for part in locale.getlocale() if part)
    try:  # the name of the distribution, without the kernel's build
        system = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        system = platform.system()
    return {
        "operating system": system,
        "architecture": platform.machine(),
        "Python implementation": platform.python_implementation(),
        "byte order": sys.byteorder,
        "BLAS": _blas(),
        "locale": language or "C",
        "time zone": time.tzname[0],
        "threads": ", ".join(
            f"{name}={os.environ[name]}" for name in THREADS if name in os.environ
        )
        or "unset",
    }


def _blas() -> str:
    """Return the linear algebra libraries this process has loaded."""
    import numpy as np
    import scipy.linalg  # loads its own BLAS, which may differ from numpy's
    from threadpoolctl import threadpool_info

    loaded = {
        f"{item['internal_api']} {item['version']}"
        for item in threadpool_info()
        if item["user_api"] == "blas"
    }
    reference = f"reference (numpy {np.__version__}, scipy {scipy.__version__})"
    return ", ".join(sorted(loaded)) or reference
