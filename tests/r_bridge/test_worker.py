"""The R that answers: its surroundings, and what it does when it wants a user."""

import os

import pytest

from importance_audit.r_bridge.errors import RError

pytestmark = pytest.mark.needs_r


def test_nobody_can_be_asked_at_a_console(r):
    line, after_browser = r.call("read_input", {})
    assert (line.tolist(), after_browser.tolist()) == ([""], [1.0])
    with pytest.raises(RError, match="cannot be used non-interactively"):
        r.call("choose", {})


def test_a_flood_of_output_and_programmes_that_r_starts_do_not_disturb(r, capfd):
    r.call("print_much", {})
    assert r.call("shout", {"text": "loud"}).tolist() == [0]
    assert capfd.readouterr() == ("", "")


def test_the_ctrl_c_of_a_terminal_does_not_reach_r(r):
    r.call("echo", {"x": 1})
    assert os.getpgid(r.pid) == r.pid != os.getpgid(0)


def test_the_global_environment_is_no_mailbox(r):
    r.call("leave_in_the_global_environment", {})
    with pytest.raises(RError, match="object 'mailbox' not found"):
        r.call("look_into_the_mailbox", {})


def test_what_r_attaches_by_itself_is_at_hand(r):
    assert r.call("spread", {"x": [1.0, 3.0]}).tolist() == pytest.approx([2**0.5])
