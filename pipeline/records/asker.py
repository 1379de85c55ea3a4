"""The interface through which an audit was started: it determines the remedies.

The author of an audit.toml can change its keys. A caller of `importance_audit()` in R,
or of `audit()` in Python, has no such file and can change the arguments.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

FILE, R, PYTHON = "file", "r", "python"
_ASKER: ContextVar[str] = ContextVar("asker", default=FILE)


@contextmanager
def asked_by(asker: str) -> Iterator[None]:
    """Word remedies for `FILE`, `R` or `PYTHON` inside the block."""
    token = _ASKER.set(asker)
    try:
        yield
    finally:
        _ASKER.reset(token)


def current_asker() -> str:
    """Return the interface in use: `FILE`, `R` or `PYTHON`."""
    return _ASKER.get()


def remedy(file: str, *, r: str, python: str = "") -> str:
    """Return the remedy for the interface in use: audit.toml, R or Python.

    Without a text for Python, it is the one of audit.toml: `audit` takes the same keys
    as `config`.

    Examples
    --------
    >>> remedy("Set task under [data].", r="Give y as a factor.")
    'Set task under [data].'
    """
    return {R: r, PYTHON: python}.get(current_asker()) or file


def remedy_by_fitting() -> str:
    """Return the remedy that makes the audit fit the model itself."""
    return remedy(
        "Name its estimator under [[models]].",
        r="Use permutation importance.",
        python="Have the audit fit it: pass its training rows as train=(X, y), and its "
        'estimator as config={"models": [{"name": "…", "estimator": "sklearn.…"}]}.',
    )
