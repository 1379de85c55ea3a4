"""Messages between two ends in one process."""

import os
import struct
from multiprocessing import Pipe
from pathlib import Path

import numpy as np
import pytest

from importance_audit.r_bridge.errors import RBridgeError
from importance_audit.r_bridge.process import limit_stalls
from importance_audit.r_bridge.wire import Line


@pytest.fixture
def ends(tmp_path):
    here, there = Pipe()
    yield Line(here, [tmp_path / "here"]), Line(there, [tmp_path / "there"])
    here.close()
    there.close()


def test_arrays_arrive_in_their_message_bit_for_bit(ends):
    odd = np.array([0x7FF00000000007A2], dtype=np.int64).view(np.float64)
    arrays = [odd, np.arange(5, dtype=np.int32), np.empty(0), np.ones((2, 3)).T]
    ends[0].send(("word", 1, None, "é", arrays))
    *words, received = ends[1].receive()
    assert words == ["word", 1, None, "é"]
    assert [a.tobytes() for a in received] == [a.tobytes() for a in arrays]
    assert [a.dtype for a in received] == [a.dtype for a in arrays]
    with pytest.raises(ValueError, match="read-only"):
        received[0][0] = 2


def test_a_file_grows_with_the_arrays_of_its_messages(ends, tmp_path):
    ends[0].send(("word", "x" * 100_000))
    assert ends[1].receive() == ("word", "x" * 100_000)
    assert (tmp_path / "here").stat().st_size == 0
    for size in (10, 100_000, 200_000, 50):
        ends[0].send(("word", np.full(size, size)))
        _, received = ends[1].receive()
        assert (received == size).all()
        assert len(received) == size
    assert (tmp_path / "here").stat().st_size == 1_600_000


def test_the_end_of_the_other_side_is_an_end_of_file(ends):
    ends[0].close()
    assert ends[1].poll(0)
    with pytest.raises(EOFError):
        ends[1].receive()


def test_a_message_that_breaks_off_ends_in_an_error(tmp_path):
    here, there = Pipe()
    limit_stalls(here, 1)
    os.write(there.fileno(), struct.pack("!i", 100) + b"the rest does not come")
    with pytest.raises(BlockingIOError):
        Line(here, [tmp_path / "here"]).receive()
    with pytest.raises(BlockingIOError):
        Line(here, [tmp_path / "here"]).send(("word", "x" * 10_000_000))


def test_arrays_that_no_file_can_hold_are_refused():
    line = Line(Pipe()[0], [Path("/dev/full"), Path("/dev/full")])
    with pytest.raises(RBridgeError) as refusal:
        line.send(("word", np.ones(1_000_000)))
    assert str(refusal.value) == (
        "8 MB of data for R do not fit into / or /. Free some space, or ask for less."
    )


def test_a_file_without_room_is_passed_over(ends, tmp_path):
    ends[0]._paths = [Path("/dev/full"), tmp_path / "here"]
    ends[0].send(("word", np.ones(5)))
    assert ends[1].receive()[1].tolist() == [1.0] * 5
