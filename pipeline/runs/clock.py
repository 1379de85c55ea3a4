"""A clock that went back: between two runs, and while one is under way.

Times then say nothing of the order of runs. The audit log has their order all the same;
what is lost is how long they took, and when.
"""

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from ..records.finding import Finding

SLACK = timedelta(seconds=5)
"""How far a clock may be set back without a word: corrections of time servers."""


class Instant(NamedTuple):
    """When something began: by the clock, and by the seconds since some instant."""

    at: datetime
    seconds: float


def describe_clock_jump_before(
    events: Sequence[Mapping[str, Any]], now: datetime
) -> str:
    """Return in words that the clock went back since what happened last, else "".

    The last event counts, not that with the greatest time: after a clock that was ahead
    has been put right, that is said once.

    Parameters
    ----------
    events : sequence of mapping
        Those of the log of the audit, in their order.
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
    """Return in words that the clock went back since a run began, else "".

    The seconds are asked after the clock at the start, and before it here: where this
    process is halted between the two, the clock is not accused of it.
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
    """Return the finding of a clock that went back; `when` tells two of them apart."""
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
