"""Detection of a system clock that was set back, between two runs or during one.

Times then do not give the order of runs. The audit log still has their order; only
their durations and times are unreliable.
"""

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from ..records.finding import Finding

SLACK = timedelta(seconds=5)
"""Setbacks up to this length are not reported: time servers correct clocks."""


class Instant(NamedTuple):
    """A time, by the system clock and by the monotonic clock in seconds."""

    at: datetime
    seconds: float


def describe_clock_jump_before(
    events: Sequence[Mapping[str, Any]], now: datetime
) -> str:
    """Return the sentence that the clock is behind the last event, or "".

    The last event counts, not the one with the latest time: the correction of a clock
    that was ahead is reported once.

    Parameters
    ----------
    events : sequence of mapping
        The events of the audit log, in their order.
    now : datetime
    """
    last = datetime.fromisoformat(events[-1]["time"]) if events else now
    if now >= last - SLACK:
        return ""
    return (
        "The system clock was set back: at the start of this run it said "
        f"{_text(now)}, and the last event before it has the time {_text(last)}."
    )


def describe_clock_jump_since(start: Instant) -> str:
    """Return the sentence that the clock was set back since the start of a run, or "".

    The monotonic clock is read after the system clock at the start, and before it here,
    so a pause of the process between both readings never looks like a setback.
    """
    passed = timedelta(seconds=time.monotonic() - start.seconds)
    setback = passed - (datetime.now(UTC) - start.at)
    if setback <= SLACK:
        return ""
    return (
        f"The system clock was set back by {setback.total_seconds():.0f} seconds "
        f"during this run, which started at {_text(start.at)}."
    )


def clock_finding(message: str, when: str) -> Finding:
    """Return the finding on a clock that was set back; `when` makes its key unique."""
    return Finding(
        check="clock_went_back",
        severity="warning",
        subject="clock",
        message=message,
        remedy="Check the time service of this machine, and treat the recorded times "
        "with caution.",
        measure=when,
    )


def _text(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds")
