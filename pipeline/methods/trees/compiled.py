"""Loops compiled by numba, which is imported here alone, when the first one is called.

What numba compiles is kept in `cache_folder` for the next process. A loop may call
another one by name; both stay plain functions until then.
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
"""The environment variable, numba's own, that names another folder."""
ROOM = 2**20
"""Bytes that must find room in the folder: numba fails where it cannot write."""


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

    Raises
    ------
    RuntimeError
        If there is no home directory, nor a variable that names another folder.
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
    """Return the file that says that all loops are compiled, for this processor."""
    import numba
    from llvmlite.binding import get_host_cpu_name

    python = "".join(map(str, sys.version_info[:2]))
    parts = (_digest_of_sources(), numba.__version__, python, get_host_cpu_name())
    return cache_folder() / f"complete-{'-'.join(parts)}"


def is_complete() -> bool:
    """Return whether all loops are compiled and kept."""
    try:
        return _mark().exists()
    except (OSError, RuntimeError):
        return False


def note_completion() -> None:
    """Keep that all loops are compiled, if what is compiled is kept."""
    if can_keep():
        mark = _mark()
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()


@cache
def can_keep() -> bool:
    """Return whether numba can keep what it compiles, and tell it where.

    What it keeps goes to `cache_folder`. Why it cannot is said once.
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
"""Not in a context: loops are compiled in threads too."""


@contextmanager
def reporting_compilation(report: Callable[[str], None]) -> Iterator[None]:
    """Call `report` with one line when the first loop is compiled, not read."""
    _reports.append(report)
    try:
        yield
    finally:
        if report in _reports:
            _reports.remove(report)


@cache
def _listen() -> None:
    """Have numba say when it begins to compile."""
    from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc]
        def on_start(self, _: Any) -> None:
            while _reports:
                _reports.pop()(describe())

        def on_end(self, _: Any) -> None:
            pass

    event.register("numba:compile", Listener())


def describe() -> str:
    """Return what is said of compiling: how long it takes, and where the loops are."""
    where = f"kept in {cache_folder()}" if can_keep() else "they cannot be kept"
    return f"compiling loops over trees once, about a minute; {where}"


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

            _listen()
            self._dispatcher = njit(nogil=True, cache=can_keep())(self._function)
        return self._dispatcher

    @property
    def _numba_type_(self) -> Any:
        """What numba asks a name for that another loop uses."""
        return self.dispatcher._numba_type_

    def __call__(self, *arguments: Any) -> Any:
        """Return what the compiled function returns."""
        return self.dispatcher(*arguments)

    def typed(self, *arguments: Any) -> Callable[..., Any]:
        """Return the function as compiled for the types of these arguments.

        It must be called with others of the same types: it does not look at them.
        """
        from numba import typeof

        function = self.dispatcher.compile(tuple(map(typeof, arguments)))
        return cast(Callable[..., Any], function)
