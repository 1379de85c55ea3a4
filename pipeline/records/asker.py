"""Who asked for an audit, so that a remedy names what they can change.

Whoever wrote an audit.toml can change its keys; whoever called `importance_audit()` in
R wrote none, and can change its arguments.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

FILE, R = ASKERS = ("file", "r")
_ASKER: ContextVar[str] = ContextVar("asker", default=FILE)


@contextmanager
def asked_by(asker: str) -> Iterator[None]:
    """Give the remedies of one of `ASKERS` inside the block."""
    token = _ASKER.set(asker)
    try:
        yield
    finally:
        _ASKER.reset(token)


def current_asker() -> str:
    """Return who asked."""
    return _ASKER.get()


def remedy(file: str, *, r: str) -> str:
    """Return what to do, in the keys of audit.toml or in R.

    Examples
    --------
    >>> remedy("Set task under [data].", r="Give y as a factor.")
    'Set task under [data].'
    """
    return r if current_asker() == R else file
