"""Messages and blocks between two ends in one process."""

import socket
from pathlib import Path

import numpy as np
import pytest

from importance_audit.r_bridge.channel import Block, Channel, append_texts, read_texts
from importance_audit.r_bridge.errors import RBridgeError


@pytest.fixture
def ends(tmp_path):
    here, there = socket.socketpair()
    yield (
        Channel(here, Block([tmp_path], "here")),
        Channel(there, Block([tmp_path], "there")),
    )
    here.close()
    there.close()


def test_arrays_arrive_beside_the_message_bit_for_bit(ends):
    odd = np.array([0x7FF00000000007A2], dtype=np.int64).view(np.float64)
    arrays = [odd, np.arange(5, dtype=np.int32), np.empty(0), np.ones((2, 3)).T]
    ends[0].send(("word", 1, None, "é"), arrays)
    message, received = ends[1].receive()
    assert message == ("word", 1, None, "é")
    assert [a.tobytes() for a in received] == [a.tobytes("K") for a in arrays]
    assert [a.dtype for a in received] == [a.dtype for a in arrays]


def test_what_arrives_cannot_be_written_to(ends):
    ends[0].send(("word",), [np.ones(3)])
    _, (received,) = ends[1].receive()
    with pytest.raises(ValueError, match="read-only"):
        received[0] = 2


def test_a_block_grows_and_leaves_one_file(ends, tmp_path):
    for size in (10, 100_000, 200_000):
        ends[0].send(("word",), [np.full(size, size)])
        _, (received,) = ends[1].receive()
        assert (received == size).all()
    assert [path.name for path in tmp_path.iterdir()] == ["here-2"]


def test_a_message_in_pieces_is_read_when_it_is_whole(tmp_path):
    here, there = socket.socketpair()
    whole_here, whole_there = socket.socketpair()
    Channel(whole_here, Block([tmp_path], "a")).send(("word", "x" * 100))
    sent = whole_there.recv(1 << 16)
    channel = Channel(there, Block([tmp_path], "b"))
    for piece in (sent[:5], sent[5:20]):
        here.sendall(piece)
        channel.fill()
        assert not channel.has_message()
    here.sendall(sent[20:])
    assert channel.receive()[0] == ("word", "x" * 100)
    for line in (here, there, whole_here, whole_there):
        line.close()


def test_two_messages_in_one_piece_are_two_messages(ends):
    ends[0].send(("first",))
    ends[0].send(("second",))
    ends[1].fill()
    assert ends[1].receive()[0] == ("first",)
    assert ends[1].has_message()
    assert ends[1].receive()[0] == ("second",)


def test_only_plain_types_travel_in_a_message(ends):
    with pytest.raises(ValueError, match="unmarshallable object"):
        ends[0].send(("word", object()))


@pytest.mark.parametrize("unread", [False, True])
def test_the_end_of_the_other_side_is_an_end_of_file(ends, unread):
    if unread:  # then the system resets the line
        ends[1].send(("word",))
    ends[0].close()
    with pytest.raises(EOFError, match="The other side of the bridge closed the line"):
        ends[1].receive()


def test_a_block_that_no_folder_can_hold_is_refused(tmp_path):
    with pytest.raises(RBridgeError) as refusal:
        Block([tmp_path], "x").reserve(10**18)
    assert str(refusal.value) == (
        f"1000000000000 MB of data for R do not fit into {tmp_path.parent}. Free some "
        "space, or ask for less."
    )
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_room_is_passed_over(tmp_path):
    Block([Path("/proc"), tmp_path], "x").reserve(1)
    assert [path.name for path in tmp_path.iterdir()] == ["x-0"]


@pytest.mark.parametrize("texts", [[], [""], ["", ""], ["a", "é\n", "", "\t"]])
def test_texts_return_as_they_were(texts):
    arrays = []
    place = append_texts(texts, arrays)
    assert read_texts(place, arrays) == texts
