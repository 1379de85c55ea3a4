"""Loops compiled by numba, which is imported only here, when the first one is called.

Compiled code is cached in `cache_folder` for the next process. A loop may call another
one by name; both are plain functions until then.
"""

import hashlib
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, update_wrapper
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, cast

logger = logging.getLogger(__name__)
SETTING = "NUMBA_CACHE_DIR"
"""numba's own environment variable for another cache folder."""
ROOM = 2**20
"""Bytes that the folder must have free: numba fails if it cannot write."""


@cache
def available() -> bool:
    """Return whether loops can be compiled; if not, the model's predict is used."""
    try:
        import numba  # noqa: F401
    except Exception:  # not installed, or not for this numpy or Python
        return False
    return True


def cache_folder() -> Path:
    """Return the cache folder of the code compiled from the present sources.

    numba itself checks only the file of a loop, not those of the loops it calls.

    Raises
    ------
    RuntimeError
        If there is no home directory and no variable that names another folder.
    """
    name = f"compiled-{_digest_of_sources()}"
    if given := os.environ.get(SETTING):
        return Path(given) / name
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "importance-audit" / name


def _digest_of_sources() -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _mark() -> Path:
    """Return the file that marks all loops as compiled, for this processor."""
    import numba
    from llvmlite.binding import get_host_cpu_name

    python = "".join(map(str, sys.version_info[:2]))
    parts = (_digest_of_sources(), numba.__version__, python, get_host_cpu_name())
    return cache_folder() / f"complete-{'-'.join(parts)}"


def is_complete() -> bool:
    """Return whether all loops are compiled and cached."""
    try:
        return _mark().exists()
    except (OSError, RuntimeError):
        return False


def note_completion() -> None:
    """Mark all loops as compiled, if compiled code is cached."""
    if can_keep():
        mark = _mark()
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()


@cache
def can_keep() -> bool:
    """Return whether numba can cache compiled code, and set its folder.

    The folder is `cache_folder`. If it cannot be used, the reason is logged once.
    """
    from numba import config

    try:
        folder = cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder) as trial:  # a disk may be full, too
            trial.write(bytes(ROOM))
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


_reports: list[Callable[[str], None]] = []
"""Not a context variable: loops are compiled in threads too."""


@contextmanager
def reporting_compilation(report: Callable[[str], None]) -> Iterator[None]:
    """Call `report` with one line if a loop is compiled, not loaded; once."""
    _reports.append(report)
    try:
        yield
    finally:
        if report in _reports:
            _reports.remove(report)


@cache
def _listen() -> None:
    """Register a listener for the start of compilations by numba."""
    from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc]
        def on_start(self, _: Any) -> None:
            while _reports:
                _reports.pop()(describe())

        def on_end(self, _: Any) -> None:
            pass

    event.register("numba:compile", Listener())


def describe() -> str:
    """Return the message about compilation: its duration and the cache folder."""
    where = f"kept in {cache_folder()}" if can_keep() else "they cannot be kept"
    return f"compiling loops over trees once, about a minute; {where}"


class Loop:
    """A function that numba compiles at its first call and runs without the GIL.

    Parameters
    ----------
    function : callable
        Its arguments are numbers, numpy arrays and named tuples of these.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._dispatcher: Any = None
        update_wrapper(self, function)

    @property
    def dispatcher(self) -> Any:
        """The function as compiled by numba."""
        if self._dispatcher is None:
            from numba import njit

            _listen()
            self._dispatcher = njit(nogil=True, cache=can_keep())(self._function)
        return self._dispatcher

    @property
    def _numba_type_(self) -> Any:
        """The type that numba uses if another loop calls this one by name."""
        return self.dispatcher._numba_type_

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function."""
        return self.dispatcher(*arguments)

    def typed(self, *arguments: Any) -> Callable[..., Any]:
        """Return the function as compiled for the types of these arguments.

        Its arguments must have the same types, which it does not check.
        """
        from numba import typeof

        function = self.dispatcher.compile(tuple(map(typeof, arguments)))
        return cast(Callable[..., Any], function)
