"""Runs install.R, which installs R packages into a library, in a separate process."""

import subprocess
from pathlib import Path

from .errors import RUnavailable

PACKAGES = ("DALEX", "pdp", "vip", "fastshap")
SETS = {
    "DALEX": ("DALEX",),
    "vip": ("vip", "pdp"),
    "pdp": ("pdp",),
    "fastshap": ("fastshap",),
    "hstats": ("hstats",),
    "iml": ("iml",),
    "xplainfi": ("checkmate", "gower", "xplainfi"),
    "nanoparquet": ("nanoparquet",),
    "models": ("randomForest", "ranger", "gbm", "rpart", "nnet", "e1071", "earth"),
}
"""Names to install: engines with what they need, and R's model packages."""

_SCRIPT = Path(__file__).with_name("install.R")


def default_library() -> Path | None:
    """Return ``.r-library`` of a checkout; None, R's own choice, if installed."""
    root = _SCRIPT.parent.parent
    return root / ".r-library" if (root / "pyproject.toml").is_file() else None


def install(library: Path | None, packages: tuple[str, ...] = PACKAGES) -> int:
    """Install missing packages and return R's exit code.

    Parameters
    ----------
    library : Path or None
        The folder to install into; None is R's personal library of this user.
    packages : tuple of str

    Raises
    ------
    RUnavailable
        If there is no Rscript on PATH.
    """
    folder = "" if library is None else str(library.absolute())
    command = ["Rscript", str(_SCRIPT), folder, *packages]
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode
    except FileNotFoundError as error:
        raise RUnavailable(
            "R must be on PATH to install its packages; Rscript was not found. "
            "Install R: on Debian, apt-get install r-base-core r-base-dev."
        ) from error
