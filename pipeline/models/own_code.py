"""Modules of a user that lie in the folder of an audit, such as a class of a model.

The folder is last on Python's path, and only while it is needed: nothing in it can
stand in for a module that is installed.
"""

import hashlib
import importlib
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

_FOLDERS: dict[str, Path] = {}
"""The folder that each module of a user was imported from in this process."""

_lock = threading.Lock()
_inside: Counter[Path] = Counter()
"""How many blocks let modules of a folder be imported now."""
_former: dict[Path, tuple[bool, bool]] = {}
"""Whether the folder was on the path before them, and whether nothing was written."""


@contextmanager
def modules_of(folder: Path) -> Iterator[None]:
    """Let modules of a folder be imported inside the block, without a trace in it.

    Several threads may be inside at a time.
    """
    folder = folder.resolve()
    with _lock:
        # Another audit may have a module of the same name.
        _forget([name for name, owner in _FOLDERS.items() if owner != folder])
        before = set(sys.modules)
        if not _inside[folder]:
            _former[folder] = str(folder) in sys.path, sys.dont_write_bytecode
            sys.path += [str(folder)] * (not _former[folder][0])
        _inside[folder] += 1
        sys.dont_write_bytecode = True
        importlib.invalidate_caches()
    try:
        yield
    finally:
        with _lock:
            _inside[folder] -= 1
            if not _inside[folder]:
                was_there, sys.dont_write_bytecode = _former.pop(folder)
                if not was_there and str(folder) in sys.path:
                    sys.path.remove(str(folder))
            for name in set(sys.modules) - before:
                if _file_in(folder, sys.modules[name]):
                    _FOLDERS[name] = folder


def forget_modules(folder: Path) -> None:
    """Let modules of a folder be read anew when they are next imported."""
    with _lock:
        _forget([n for n, owner in _FOLDERS.items() if owner == folder.resolve()])


def _forget(names: list[str]) -> None:
    for name in names:
        del _FOLDERS[name]
        for key in [k for k in sys.modules if k.partition(".")[0] == name]:
            del sys.modules[key]


def code_of(folder: Path) -> list[str]:
    """Return the files of a folder that were imported, each with its SHA-256.

    A package is named by its folder alone.
    """
    folder = folder.resolve()
    names = sorted(name for name, owner in _FOLDERS.items() if owner == folder)
    files = [_file_in(folder, sys.modules[n]) for n in names if n in sys.modules]
    return [
        f"{file.parent.name}/, a package"
        if file.name == "__init__.py"
        else f"{file.name}, SHA-256 {hashlib.sha256(file.read_bytes()).hexdigest()}"
        for file in files
        if file
    ]


def ask_with_modules(folder: Path, ask: Callable[[Any], Any], rows: Any) -> Any:
    """Return an answer of a model whose code may import from the folder when asked."""
    with modules_of(folder):
        return ask(rows)


def _file_in(folder: Path, module: ModuleType) -> Path | None:
    """Return the file of a module or package that lies in a folder itself."""
    file = Path(getattr(module, "__file__", None) or "/")
    home = file.parent.parent if file.name == "__init__.py" else file.parent
    is_top = "." not in module.__name__
    return file if is_top and home.resolve() == folder else None
