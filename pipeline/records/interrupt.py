"""The request that a command stops, kept until it is acknowledged; the end of its time.

It comes as `KeyboardInterrupt`, wherever Python is at that moment. A finaliser loses
that without a word, and a library may make a fault of its own of it: so it is made
again and again. Not: what is done of it (`stopping`, `cli.shared`).
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from .errors import OutOfTime

AGAIN_SECONDS = 20.0
"""Longer than R and its session take to end once a call is interrupted."""
_pending: list[str] = []
_limits: list[bool] = []


def request_stop(requester: str) -> None:
    """Interrupt what is under way, now and until the request is acknowledged.

    The handler of a signal; that of SIGALRM is to come here too. `requester` says who
    asks, in words; empty is a person at the keyboard.
    """
    _pending[:] = [requester]
    _limits.clear()
    signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS, AGAIN_SECONDS)
    raise KeyboardInterrupt(*filter(None, _pending))


@contextmanager
def overdue_after(seconds: float) -> Iterator[None]:
    """Raise `OutOfTime` in what is under way after so many seconds, as a long fit.

    Nothing is done where no command hears SIGALRM, as in a notebook, or it is set to
    another time already.
    """
    is_heard = callable(signal.getsignal(signal.SIGALRM))
    is_set = signal.getitimer(signal.ITIMER_REAL)[0] > 0
    if not is_heard or is_set or seconds == float("inf"):
        yield
        return
    _limits.append(True)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))
    try:
        yield
    finally:
        if _limits:
            _limits.clear()
            signal.setitimer(signal.ITIMER_REAL, 0)


def require_time() -> None:
    """Raise that time is over, once: the handler of SIGALRM is to come here first."""
    if _limits:
        _limits.clear()
        raise OutOfTime("the time limit was reached.")


def acknowledge() -> None:
    """Say that the request arrived: what is saved from here on is not interrupted."""
    if _pending:
        _pending.clear()
        signal.setitimer(signal.ITIMER_REAL, 0)


def pending() -> KeyboardInterrupt | None:
    """Return a request that nobody has acknowledged yet, None if there is none."""
    return KeyboardInterrupt(*filter(None, _pending)) if _pending else None


def stop_request_in(fault: BaseException) -> KeyboardInterrupt | None:
    """Return the request to stop behind a fault, None if there is none.

    It may come while a library loads, which then says that it cannot be imported, and
    need not say why.
    """
    cause: BaseException | None = fault
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__ or cause.__context__
    return cause or pending()
