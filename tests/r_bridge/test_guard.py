"""What R says while it works, and what its errors say."""

import pytest
from tests.cases import for_each

from importance_audit.r_bridge.errors import RBridgeError, RError

pytestmark = pytest.mark.needs_r


def test_warnings_messages_and_prints_are_kept_apart_until_the_next_call(r):
    r.call("talk", {})
    assert r.messages == ("hello 1\n", "on\n", "hello 2\n", "on\n")
    assert r.warnings == ()
    r.call("complain", {"times": 10_000})
    assert r.warnings[:2] == ("careful 1", "careful 2")
    assert r.warnings[49:] == ("careful 50", "... and 9950 more warnings")
    r.call("echo", {"x": 1})
    assert (r.warnings, r.messages) == ((), ())


def test_an_error_has_rs_words_its_call_and_the_way_there(r):
    with pytest.raises(RError) as raised:
        r.call("fail_deeply", {})
    error = raised.value
    assert str(error) == ("R function 'fail_deeply' stopped in inner(1): too deep")
    assert (error.message, error.call) == ("too deep", "inner(1)")


def test_a_condition_of_ones_own_is_an_error(r):
    with pytest.raises(RError, match="stopped: special words"):
        r.call("fail_with_condition", {})


@for_each(["£" * 4_000, "", "%s {} \\ `"], len)
def test_the_words_of_an_error_are_whole(text, r):
    with pytest.raises(RError) as raised:
        r.call("fail", {"text": text})
    assert raised.value.message == text


def test_of_many_words_stop_keeps_what_r_has_room_for_and_a_condition_all(r):
    for function, n_characters in (("fail", 4_095), ("fail_with_words", 10_000)):
        with pytest.raises(RError) as raised:
            r.call(function, {"text": "£" * 10_000})
        assert raised.value.message == "£" * n_characters
        assert str(raised.value).endswith(f"£ … ({n_characters} characters in all)")


def test_an_error_on_the_way_out_is_an_error(r):
    with pytest.raises(RError, match="at the end"):
        r.call("fail_on_exit", {})


def test_data_do_not_appear_in_an_error(r):
    with pytest.raises(RError) as raised:
        r.call("fail", {"text": list(range(1000))})
    assert raised.value.call == "fail(text = text)"


def test_endless_recursion_and_memory_that_is_not_there_are_errors_and_not_the_end(r):
    before = r.restarts
    with pytest.raises(RError, match=r"infinite recursion|stack"):
        r.call("recurse", {"n": 1})
    with pytest.raises(RError, match="cannot allocate vector of size"):
        r.call("allocate", {"n": 1e15})
    assert r.call("echo", {"x": 1}).tolist() == [1]
    assert r.restarts == before


def test_no_function_can_be_replaced(r):
    with pytest.raises(
        RError, match="cannot change value of locked binding for 'echo'"
    ):
        r.call("replace_a_function", {})
    assert r.call("echo", {"x": 1}).tolist() == [1]


def test_only_functions_of_the_files_can_be_called(r):
    for name in ("system", "guard", "eval(1)", ""):
        with pytest.raises(RBridgeError) as refusal:
            r.call(name, {})
        assert str(refusal.value) == (
            f"R function {name!r} is none of the bridge's own."
        )


def test_an_argument_that_the_function_does_not_have_is_an_error(r):
    with pytest.raises(RError, match="unused argument"):
        r.call("echo", {"x": 1, "y": 2})


def test_a_seed_gives_the_same_draw_every_time(r):
    first, second = (r.call("draw", {"seed": 42})[0] for _ in range(2))
    assert first == second == pytest.approx(0.914806043496355, rel=1e-14)
