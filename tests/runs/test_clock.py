"""A clock that goes back is said, whatever zone the times are written in."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from importance_audit.runs.audit_log import parse, to_line
from importance_audit.runs.clock import (
    Instant,
    describe_clock_jump_before,
    describe_clock_jump_during,
    now_by_both_clocks,
)

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
NAME = "20261122T130000Z-3f9a1c2b-2"


def event(at):
    return {"time": at.isoformat(), "event": "ended"}


def test_a_start_before_the_last_event_is_said():
    assert describe_clock_jump_before([event(NOON + timedelta(hours=1))], [], NOON) == (
        "The system clock was set back: at the start of this run it said "
        "2026-11-22T12:00:00+00:00, and the last event before it has the time "
        "2026-11-22T13:00:00+00:00."
    )


def test_five_seconds_are_no_going_back():
    assert (
        describe_clock_jump_before([event(NOON + timedelta(seconds=5))], [], NOON) == ""
    )
    assert (
        describe_clock_jump_before([event(NOON + timedelta(seconds=6))], [], NOON) != ""
    )


def test_a_clock_that_was_ahead_once_is_said_once():
    ahead, put_right = event(NOON + timedelta(days=900)), event(NOON)
    assert describe_clock_jump_before([ahead], [], NOON) != ""
    assert (
        describe_clock_jump_before(
            [ahead, put_right], [NAME], NOON + timedelta(hours=1)
        )
        == ""
    )


def test_without_events_the_names_of_runs_are_held_against_the_clock():
    assert "2026-11-22T13:00:00+00:00" in describe_clock_jump_before(
        [], [NAME, "copy of it"], NOON
    )
    assert describe_clock_jump_before([], [NAME], NOON + timedelta(hours=1)) == ""


def test_a_name_that_is_a_time_in_digits_only_is_none():
    assert describe_clock_jump_before([], ["20269999T990000Z-copy"], NOON) == ""


def test_times_of_other_zones_are_the_same_instants():
    there = NOON.astimezone(tz=None).isoformat()
    west = (NOON - timedelta(hours=11)).replace(tzinfo=None).isoformat() + "-11:00"
    assert describe_clock_jump_before([{"time": there}, {"time": west}], [], NOON) == ""


@pytest.mark.parametrize("time", ["noon", "2026-11-22T12:00:00", 7, None])
def test_a_line_without_an_instant_is_no_event(time):
    facts = {"n": 1, "time": time, "kind": "clock", "previous": "", "message": ""}
    assert parse(to_line(facts)).events == ()


def test_a_clock_set_back_during_a_run_is_said_with_the_seconds_it_lost():
    start, later = Instant(NOON, 100.0), Instant(NOON - timedelta(hours=1), 160.0)
    assert describe_clock_jump_during(start, later) == (
        "The system clock was set back by 3660 seconds during this run, which "
        "started at 2026-11-22T12:00:00+00:00."
    )


def test_a_clock_that_ran_evenly_or_ahead_is_not_said():
    start = Instant(NOON, 100.0)
    assert (
        describe_clock_jump_during(start, Instant(NOON + timedelta(minutes=1), 160.0))
        == ""
    )
    assert (
        describe_clock_jump_during(start, Instant(NOON + timedelta(days=1), 160.0))
        == ""
    )


def test_a_halt_between_two_looks_at_the_clocks_is_no_going_back(monkeypatch):
    start, clock, halts = now_by_both_clocks(), time.monotonic, [0.0, 60.0]

    def halted():  # the second look is a minute after the first
        return clock() + (halts.pop(0) if halts else 60.0)

    monkeypatch.setattr(time, "monotonic", halted)
    now = now_by_both_clocks()
    assert now.seconds - start.seconds >= 60
    assert halts == []
    assert describe_clock_jump_during(Instant(start.at, start.seconds + 60), now) == ""
