"""The wish that a command ends, kept until somebody heeds it.

It comes as `KeyboardInterrupt`, wherever Python is at that moment. A finaliser loses
that without a word, and a library may make a fault of its own of it: so it is made
again and again. Not: what is done of it (`stopping`, `commands.shared`).
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

AGAIN_SECONDS = 20.0
"""Longer than R and its session take to end once a call is interrupted."""
_unheeded: list[str] = []
_held: list[bool] = []


def wish(words: str) -> None:
    """Interrupt what is under way, now and until it is heeded; `words` name who asks.

    The handler of a signal; that of SIGALRM is to come here too.
    """
    _unheeded[:] = [words]
    signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS, AGAIN_SECONDS)
    if not _held:
        raise KeyboardInterrupt(*filter(None, _unheeded))


@contextmanager
def held() -> Iterator[None]:
    """Let a wish wait for the end of what must be done whole, and quickly.

    Such as the start of a process: one that we do not know yet nobody could stop.
    """
    _held.append(True)
    try:
        yield
    finally:
        _held.pop()
    if (waiting := unheeded()) is not None:
        raise waiting


def heed() -> None:
    """Say that the wish arrived: what is saved from here on is not interrupted."""
    if _unheeded:
        _unheeded.clear()
        signal.setitimer(signal.ITIMER_REAL, 0)


def unheeded() -> KeyboardInterrupt | None:
    """Return a wish that nobody has heeded yet, None if there is none."""
    return KeyboardInterrupt(*filter(None, _unheeded)) if _unheeded else None


def wish_in(fault: BaseException) -> KeyboardInterrupt | None:
    """Return the wish behind a fault, None if there is none.

    It may come while a library loads, which then says that it cannot be imported, and
    need not say why.
    """
    cause: BaseException | None = fault
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__ or cause.__context__
    return cause or unheeded()
