"""A clock that goes back is said, whatever zone the times are written in."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from importance_audit.runs.audit_log import parse, to_line
from importance_audit.runs.clock import (
    Instant,
    describe_clock_jump_before,
    describe_clock_jump_since,
)

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


def event(at):
    return {"time": at.isoformat(), "event": "ended"}


def test_a_start_before_the_last_event_is_said():
    assert describe_clock_jump_before([event(NOON + timedelta(hours=1))], NOON) == (
        "The system clock was set back: at the start of this run it said "
        "2026-11-22T12:00:00+00:00, and the last event before it has the time "
        "2026-11-22T13:00:00+00:00."
    )


@pytest.mark.parametrize(
    ("events", "is_said"),
    [
        ([], False),
        ([event(NOON + timedelta(seconds=5))], False),
        ([event(NOON + timedelta(seconds=6))], True),
        ([event(NOON + timedelta(days=900)), event(NOON)], False),  # said once
        ([{"time": "2026-11-22T01:00:00-11:00"}], False),  # the same instant
    ],
)
def test_only_the_last_event_counts_by_its_instant_and_five_seconds_do_not(
    events, is_said
):
    assert bool(describe_clock_jump_before(events, NOON)) == is_said


@pytest.mark.parametrize("time", ["noon", "2026-11-22T12:00:00", 7, None])
def test_a_line_without_an_instant_is_no_event(time):
    facts = {"n": 1, "time": time, "kind": "clock", "previous": "", "message": ""}
    assert parse(to_line(facts)).events == ()


def instant(seconds_ago, clock_says):
    """Return when a run began, and how long ago the clock says that was."""
    at = datetime.now(UTC) - timedelta(seconds=clock_says)
    return Instant(at, time.monotonic() - seconds_ago)


def test_a_clock_set_back_during_a_run_is_said_with_the_seconds_it_lost():
    start = instant(60, -3600)
    assert describe_clock_jump_since(start) == (
        "The system clock was set back by 3660 seconds during this run, which "
        f"started at {start.at.isoformat(timespec='seconds')}."
    )


def test_a_clock_that_ran_evenly_or_ahead_is_not_said():
    assert describe_clock_jump_since(instant(60, 60)) == ""
    assert describe_clock_jump_since(instant(60, 86400)) == ""
    assert describe_clock_jump_since(instant(60, 56)) == ""


def test_a_halt_between_two_looks_at_the_clocks_is_no_going_back(monkeypatch):
    clock = time.monotonic

    def halted():  # the seconds are asked, and a minute passes before the clock is
        return clock() - 60

    start = instant(60, 60)
    monkeypatch.setattr(time, "monotonic", halted)
    assert describe_clock_jump_since(start) == ""
