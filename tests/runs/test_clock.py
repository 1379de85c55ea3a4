"""A clock that goes back is said, whatever zone the times are written in."""

from datetime import UTC, datetime, timedelta

import pytest

from importance_audit.runs.attempts import describe_clock_jump

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


def event(at):
    return {"time": at.isoformat(), "event": "ended"}


def test_a_start_before_the_last_event_is_said():
    assert describe_clock_jump([event(NOON + timedelta(hours=1))], NOON) == (
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
    assert bool(describe_clock_jump(events, NOON)) == is_said
