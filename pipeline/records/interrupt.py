"""Requests to stop a command, kept until acknowledged, and the time limit of a call.

A request is a `KeyboardInterrupt`, raised wherever Python is at that moment. A
finaliser discards it silently, and a library may turn it into an error of its own: so
it is raised repeatedly. Not: the reaction to it (`stopping`, `cli.shared`).
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from .errors import OutOfTime

AGAIN_SECONDS = 20.0
"""Longer than R and its session take to end after a call is interrupted."""
_pending: list[str] = []
_limits: list[bool] = []


def request_stop(requester: str) -> None:
    """Interrupt the running code, now and repeatedly until `acknowledge` is called.

    This is the handler of a signal; the handler of SIGALRM must call it too.
    `requester` names the sender in words; empty for a person at the keyboard.
    """
    _pending[:] = [requester]
    _limits.clear()
    signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS, AGAIN_SECONDS)
    raise KeyboardInterrupt(*filter(None, _pending))


@contextmanager
def overdue_after(seconds: float) -> Iterator[None]:
    """Raise `OutOfTime` in the running code, such as a long fit, after `seconds`.

    Nothing is done if no command handles SIGALRM, as in a notebook, or if the timer is
    already set.
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
    """Raise `OutOfTime`, once, if a time limit is set; SIGALRM's handler calls it."""
    if _limits:
        _limits.clear()
        raise OutOfTime("the time limit was reached.")


def acknowledge() -> None:
    """Stop the repetition: what is saved from here on is not interrupted."""
    if _pending:
        _pending.clear()
        signal.setitimer(signal.ITIMER_REAL, 0)


def pending() -> KeyboardInterrupt | None:
    """Return a request that is not yet acknowledged, None if there is none."""
    return KeyboardInterrupt(*filter(None, _pending)) if _pending else None


def stop_request_in(fault: BaseException) -> KeyboardInterrupt | None:
    """Return the request to stop that caused an exception, None if there is none.

    A request that arrives while a library is loading can surface as an import error
    that does not name its cause.
    """
    cause: BaseException | None = fault
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__ or cause.__context__
    return cause or pending()
