"""The wish to stop: uttered until it is heard, and not while it is on its way."""

import sys
import time
import weakref

import pytest

from pipeline import wish
from pipeline.commands.shared import terminable
from pipeline.wish import hear

LATE = (0.02, 3.0)


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(wish, "AGAIN_SECONDS", 0.05)


def ended(work):
    """Return with what a run whose time is over ends, None if it goes on."""
    try:
        with terminable(LATE):
            work()
    except KeyboardInterrupt as error:
        return str(error)


def dropped():
    """Take the wish for a fault, and hold it in a ring as some frames do."""
    try:
        time.sleep(5.0)
    except KeyboardInterrupt as error:
        held = error
        return held is None


def test_a_wish_that_the_system_dropped_in_a_callback_is_uttered_again(
    monkeypatch, capsys
):
    def work():
        part = set()
        _ = weakref.ref(part, lambda _: time.sleep(5.0))
        del part
        time.sleep(5.0)

    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)
    assert ended(work) == "its time limit of 3 minutes"
    assert capsys.readouterr().err.endswith("Wish: its time limit of 3 minutes\n")


def test_a_wish_that_a_library_took_for_a_fault_is_uttered_again():
    assert ended(lambda: (dropped(), time.sleep(5.0))) == "its time limit of 3 minutes"


def test_a_wish_on_its_way_is_not_uttered_again():
    tidied = []

    def work():
        try:
            time.sleep(5.0)
        finally:
            time.sleep(0.3)
            tidied.append(True)

    assert (ended(work), tidied) == ("its time limit of 3 minutes", [True])


def test_a_wish_that_was_heard_is_not_uttered_again():
    assert ended(lambda: (dropped(), hear(), time.sleep(0.3))) is None
