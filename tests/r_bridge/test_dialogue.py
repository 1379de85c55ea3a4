"""Deadlines, interrupts and deaths in the middle of a call, and the call after them."""

import signal
import time

import numpy as np
import pandas as pd
import pytest
from tests.cases import for_each

from importance_audit.r_bridge.errors import RDied, RTimeout

pytestmark = pytest.mark.needs_r

X = pd.DataFrame({"x": [1.0, 2.0]})


def in_order(r):
    return r.call("echo", {"x": 1}).tolist() == [1]


@for_each(["loop", "sleep"])
def test_a_deadline_interrupts_r_and_leaves_it_usable(what, r):
    before = r.restarts
    with pytest.raises(RTimeout) as raised:
        r.call("say_and", {"fifo": "", "what": what}, seconds=0.2)
    assert str(raised.value) == (
        "R function 'say_and' did not end within 0.2 s. Allow more time, or ask for "
        "less."
    )
    for _ in range(20):  # no interrupt is left for a later call
        assert in_order(r)
    assert r.restarts == before


def test_what_does_not_listen_is_ended_and_replaced(r):
    before = r.restarts
    with pytest.raises(RTimeout):
        r.call("say_and", {"fifo": "", "what": "stubborn"}, seconds=0.2)
    assert in_order(r)
    assert r.restarts == before + 1


def test_a_deadline_that_passes_in_predict_is_seen_after_it(r):
    end = time.monotonic() + 0.3

    def predict(frame):
        while time.monotonic() < end:
            pass
        return np.ones(len(frame))

    with pytest.raises(RTimeout, match=r"went into \d+ calls of predict"):
        r.call(
            "ask_often",
            {"data": X, "times": 10**9},
            predict=predict,
            schema_of=X,
            seconds=0.2,
        )
    assert in_order(r)


@for_each(
    [
        ("quit", r"exit status 5\."),
        ("kill", r"signal SIGKILL \(out of memory\?\)\."),
        (
            "segv",
            r"signal SIGSEGV\. It last wrote: Fatal Python error: Segmentation fault$",
        ),
    ]
)
def test_a_death_says_how_and_the_next_call_finds_a_new_r(case, r):
    what, ending = case
    before = r.restarts
    words = rf"^R ended during the call of 'say_and', with {ending}"
    with pytest.raises(RDied, match=words):
        r.call("say_and", {"fifo": "", "what": what})
    assert in_order(r)
    assert r.restarts == before + 1


def test_what_predict_raised_is_not_forgotten_when_r_dies_of_it(r):
    failure = ValueError("first")

    def predict(_):
        raise failure

    with pytest.raises(ValueError, match="first") as raised:
        r.call("ask_and_quit", {"data": X}, predict=predict, schema_of=X)
    assert raised.value is failure
    assert isinstance(failure.__cause__, RDied)
    assert in_order(r)


INTERRUPTED = {
    "in R": "r.call('say_and', {'fifo': fifo, 'what': 'loop'})",
    "in predict": "r.call('ask', {'data': X}, predict=wait, schema_of=X)",
}


@pytest.mark.parametrize("call", INTERRUPTED.values(), ids=INTERRUPTED)
def test_ctrl_c_ends_the_call_and_leaves_r_usable(python, fifo, call):
    process = python(
        f"""
import pathlib, pandas, time
fifo, X = {str(fifo)!r}, pandas.DataFrame({{"x": [1.0]}})
wait = lambda _: time.sleep(pathlib.Path(fifo).write_text("here\\n") and 60)
try:
    {call}
except KeyboardInterrupt:
    print(r.call("echo", {{"x": 1}}), r.restarts)
"""
    )
    assert fifo.read_text() == "here\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=120) == ("[1] 0\n", "")


def test_two_ctrl_c_end_r_at_once(python, fifo):
    process = python(
        f"""
import os, signal
r.call("echo", {{"x": 1}})
first = r.pid
try:
    r.call("say_and", {{"fifo": {str(fifo)!r}, "what": "stubborn"}})
except KeyboardInterrupt:
    print(r.call("echo", {{"x": 1}}), r.restarts)
"""
    )
    assert fifo.read_text() == "here\n"
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=120) == ("[1] 1\n", "")
