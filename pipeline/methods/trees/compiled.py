"""Loops compiled by numba, which is imported here alone, when the first one is called.

What numba compiles is kept in `cache_folder` for the next process. A loop may call
another one by name; both stay plain functions until then.
"""

import hashlib
import logging
import os
from collections.abc import Callable
from functools import cache, update_wrapper
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)
SETTING = "NUMBA_CACHE_DIR"
"""The environment variable, numba's own, that names another folder."""


@cache
def available() -> bool:
    """Return whether loops can be compiled; if not, the model's predict answers."""
    try:
        import numba  # noqa: F401
    except Exception:  # not there, or not for this numpy or Python
        return False
    return True


def cache_folder() -> Path:
    """Return the folder of what was compiled from these very sources.

    numba itself looks only at the file of a loop, not at those of the loops it calls.
    """
    if given := os.environ.get(SETTING):
        return Path(given)
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return base / "importance-audit" / f"compiled-{digest.hexdigest()[:12]}"


@cache
def _keeps() -> bool:
    """Return whether numba can keep what it compiles, and tell it where."""
    from numba import config

    try:
        folder = cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(f"{folder} cannot be written to")
    except (OSError, RuntimeError) as error:  # RuntimeError: no home directory
        logger.warning(
            "What numba compiles cannot be kept, so every process compiles it again: "
            "%s. Set %s to a folder that can be written to.",
            error,
            SETTING,
        )
        return False
    config.CACHE_DIR = str(folder)
    return True


class Loop:
    """A function that numba compiles at its first call; other threads go on meanwhile.

    Parameters
    ----------
    function : callable
        Of numbers, numpy arrays and named tuples of these.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._dispatcher: Any = None
        update_wrapper(self, function)

    @property
    def dispatcher(self) -> Any:
        """What numba makes of the function."""
        if self._dispatcher is None:
            from numba import njit

            self._dispatcher = njit(nogil=True, cache=_keeps())(self._function)
        return self._dispatcher

    @property
    def _numba_type_(self) -> Any:
        """What numba asks a name for that another loop uses."""
        return self.dispatcher._numba_type_

    def __call__(self, *arguments: Any) -> Any:
        """Return what the compiled function returns."""
        return self.dispatcher(*arguments)
