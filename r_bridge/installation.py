"""The installed R and its packages, found by a child process, which may crash."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from .process import environment, scratch

_PACKAGE = Path(__file__).resolve().parent
_PROBE_SECONDS = 60.0
"""The time limit of R's start: it takes 3 s alone, and 20 s on a busy machine."""


def library_folder() -> Path | None:
    """Return the project's own folder of R packages, or None.

    This is the folder in the environment variable ``IMPORTANCE_AUDIT_R_LIBRARY``, by
    default ``.r-library`` next to this package.
    """
    path = os.environ.get("IMPORTANCE_AUDIT_R_LIBRARY")
    folder = Path(path).absolute() if path else _PACKAGE.parent / ".r-library"
    return folder if folder.is_dir() else None


@cache
def what_is_installed(library: Path | None) -> dict[str, Any]:
    """Return the properties of R and rpy2 with a library; see `host.installed`."""
    nothing: dict[str, Any] = {"r_version": "", "platform": "", "utf8": False}
    nothing |= {"rng_kind": [], "rpy2": {}, "packages": {}, "broken": {}}
    nothing |= {"not_had": {}}
    try:
        with scratch() as home:
            ran = subprocess.run(
                # -P: Python must not import a json.py from the folder of the audit.
                [sys.executable, "-P", "-m", "importance_audit.r_bridge.probe"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                encoding="utf-8",
                errors="replace",
                env=environment(library=library, home=home),
                timeout=_PROBE_SECONDS,
                start_new_session=True,
                check=False,
            )
    except OSError as error:
        return nothing | {"reason": f"R did not start: {error}."}
    except subprocess.TimeoutExpired:
        late = f"R did not start within {_PROBE_SECONDS:g} s."
        return nothing | {"reason": late}
    try:
        return nothing | json.loads(ran.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        output = " ".join(ran.stderr.split())[-300:] or "nothing was written"
        reason = (
            f"R ended with status {ran.returncode} while starting ({output}). "
            "Check R_HOME and the installation of R."
        )
        return nothing | {"reason": reason}
