"""Who asked for an audit, so that a remedy names what they can change.

Whoever wrote an audit.toml can change its keys; whoever called `importance_audit()` in
R, or `audit()` in Python, wrote none, and can change its arguments.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

FILE, R, PYTHON = "file", "r", "python"
_ASKER: ContextVar[str] = ContextVar("asker", default=FILE)


@contextmanager
def asked_by(asker: str) -> Iterator[None]:
    """Give the remedies of `FILE`, `R` or `PYTHON` inside the block."""
    token = _ASKER.set(asker)
    try:
        yield
    finally:
        _ASKER.reset(token)


def current_asker() -> str:
    """Return who asked."""
    return _ASKER.get()


def remedy(file: str, *, r: str, python: str = "") -> str:
    """Return what to do, in the keys of audit.toml, in R or in Python.

    Without words for Python it gets those of audit.toml, whose keys `audit` takes as
    `config`.

    Examples
    --------
    >>> remedy("Set task under [data].", r="Give y as a factor.")
    'Set task under [data].'
    """
    return {R: r, PYTHON: python}.get(current_asker()) or file


def remedy_by_fitting() -> str:
    """Return how a model comes to be fitted by the audit itself."""
    return remedy(
        "Name its estimator under [[models]].",
        r="Use permutation importance.",
        python="Have the audit fit it: pass its training rows as train=(X, y), and its "
        'estimator as config={"models": [{"name": "…", "estimator": "sklearn.…"}]}.',
    )
