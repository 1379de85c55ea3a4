"""Modules of the user in the folder of an audit, such as the class of a model.

The folder is last on Python's path, and only while it is needed, so that no module in
it replaces an installed one.
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
"""The folder from which each module of the user was imported in this process."""

_lock = threading.Lock()
_inside: Counter[Path] = Counter()
"""Number of active `modules_of` blocks for each folder."""
_former: dict[Path, tuple[bool, bool]] = {}
"""Previous state: whether the folder was on the path, and `sys.dont_write_bytecode`."""


@contextmanager
def modules_of(folder: Path) -> Iterator[None]:
    """Allow imports from a folder inside the block, without writing files into it.

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
    """Remove the modules of a folder, so that the next import reads them again."""
    with _lock:
        _forget([n for n, owner in _FOLDERS.items() if owner == folder.resolve()])


def _forget(names: list[str]) -> None:
    for name in names:
        del _FOLDERS[name]
        for key in [k for k in sys.modules if k.partition(".")[0] == name]:
            del sys.modules[key]


def code_of(folder: Path) -> list[str]:
    """Return the imported files of a folder, each with its SHA-256.

    A package is listed by its folder only.
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
    """Return the prediction of a model whose code may import from the folder."""
    with modules_of(folder):
        return ask(rows)


def _file_in(folder: Path, module: ModuleType) -> Path | None:
    """Return the file of a top-level module directly in a folder, or None."""
    file = Path(getattr(module, "__file__", None) or "/")
    home = file.parent.parent if file.name == "__init__.py" else file.parent
    is_top = "." not in module.__name__
    return file if is_top and home.resolve() == folder else None
