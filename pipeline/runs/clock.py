"""A clock that went back: between two runs, and while one is under way.

Times then say nothing of the order of runs. The audit log has their order all the same;
what is lost is how long they took, and when.
"""

import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from ..records.finding import Finding
from .chain import started_at

SLACK = timedelta(seconds=5)
"""How far a clock may be set back without a word: corrections of time servers."""
REMEDY = (
    "Check the time service of this machine, and treat the recorded times with caution."
)


class Instant(NamedTuple):
    """When something began: by the clock, and by the seconds since some instant."""

    at: datetime
    seconds: float


def now_by_both_clocks() -> Instant:
    """Return now, by both clocks: asked again if this process was halted in between."""
    while True:
        before, at = time.monotonic(), datetime.now(UTC)
        after = time.monotonic()
        if after - before < 1:
            return Instant(at, after)


def describe_clock_jump_before(
    events: Iterable[Mapping[str, Any]], names: Iterable[str], now: datetime
) -> str:
    """Return in words that the clock went back since what happened last, else "".

    The last event counts, not that with the greatest time: after a clock that was ahead
    has been put right, that is said once. Without events the names of runs count.

    Parameters
    ----------
    events : iterable of mapping
        Those of the log of the audit, in their order.
    names : iterable of str
        The run folders.
    now : datetime
    """
    event_times = [datetime.fromisoformat(event["time"]) for event in events]
    starts = (at for name in names if (at := started_at(name)) is not None)
    last = event_times[-1] if event_times else max(starts, default=now)
    if now >= last - SLACK:
        return ""
    return (
        "The system clock was set back: at the start of this run it said "
        f"{_text(now)}, and the last event before it has the time {_text(last)}."
    )


def describe_clock_jump_during(start: Instant, now: Instant) -> str:
    """Return in words that the clock went back between two instants, else ""."""
    passed = timedelta(seconds=now.seconds - start.seconds)
    setback = passed - (now.at - start.at)
    if setback <= SLACK:
        return ""
    return (
        f"The system clock was set back by {setback.total_seconds():.0f} seconds "
        f"during this run, which started at {_text(start.at)}."
    )


def clock_finding(message: str, when: str) -> Finding:
    """Return the finding of a clock that went back; `when` tells two of them apart."""
    return Finding(
        check="clock_went_back",
        severity="warning",
        subject="clock",
        message=message,
        remedy=REMEDY,
        measure=when,
    )


def _text(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds")
