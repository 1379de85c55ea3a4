"""The second R of a session, in which fitted models live."""

import gzip
import struct
from pathlib import Path

import pandas as pd
import pytest

from importance_audit.r_bridge import host, r_models
from importance_audit.r_bridge.errors import RBridgeError, RError

FUNCTIONS = Path(__file__).with_name("functions.R")
pytestmark = pytest.mark.needs_r


def test_models_have_an_r_of_their_own_that_ends_with_the_session():
    with host.session(r_seconds=30, extra_r_files=[FUNCTIONS]) as worker:
        worker.call("echo", {"x": 1})
        assert host.current_models().pid is None
        host.current_models().call("echo", {"x": 1})
        pids = {worker.pid, host.current_models().pid}
        assert len(pids) == 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_predict_may_ask_the_r_of_models_while_the_first_waits(python):
    code = """
import pandas as pd
frame = pd.DataFrame({"x": [1.0, 2.0]})
def predict(X):
    return host.current_models().call("echo", {"x": X["x"]}) * 2
print(r.call("ask", {"data": frame}, predict=predict, schema_of=frame).tolist())
"""
    out, _ = python(code).communicate(timeout=120)
    assert out.strip() == "[2.0, 4.0]"


def test_without_a_session_there_are_no_models():
    with pytest.raises(RBridgeError, match=r"inside r_bridge\.host\.session\(\)"):
        host.current_models()


def words(*numbers):
    return struct.pack(f">{len(numbers)}i", *numbers)


def text(value):
    return words(0x40009, len(value)) + value.encode()


def promise(function, argument):
    """Return the bytes of a promise to call a function, as saveRDS never writes it."""
    call = words(6, 1) + text(function) + words(2, 16, 1) + text(argument) + words(254)
    return HEAD + words(0x405, 253, 252) + call


def many(n_parts, part, kind, length):
    """Return a small file of equal parts, which unpacks to a long vector."""
    packed = gzip.compress(part, 1)
    return gzip.compress(HEAD + words(kind, length)) + packed * n_parts


HEAD = b"X\n" + words(2, 0x40202, 0x20300)
DENSE = {
    "numbers": (
        30,
        lambda: many(6, words(14, 4_000_000) + bytes(32_000_000), 19, 6),
        "must fit into the memory that R may use; R cannot read it: vector memory",
    ),
    "texts": (
        0.3,
        lambda: many(10_000, text("a") * 1000, 16, 10**7),
        "could not be read: R did not finish the call of readRDS for ",
    ),
}


@pytest.fixture(scope="module")
def frugal():
    files = [FUNCTIONS]
    with host.session(r_seconds=30, r_memory_gb=0.12, extra_r_files=files) as worker:
        yield worker.models


def test_code_in_a_file_ends_no_r_but_that_of_models(frugal):
    frugal.call("echo", {"x": 1})
    before = frugal.restarts
    with pytest.raises(
        RBridgeError, match=r"^R model 'm\.rds' (must|could not) be "
    ) as refusal:
        r_models.read_model("m.rds", promise("quit", "no"))
    message = str(refusal.value)
    has_run = ", with exit status 0" in message  # R 4.4 no longer runs it
    assert has_run or "promise" in message
    assert frugal.call("echo", {"x": 1}).tolist() == [1]
    assert frugal.restarts == before + has_run


@pytest.mark.usefixtures("frugal")
def test_a_model_that_needs_more_memory_than_r_may_hold_names_the_limit():
    content = gzip.compress(HEAD + words(14, 1) + bytes(8))
    script = "function(model, data) numeric(1e8)"
    model = r_models.read_model("m.rds", content, script, "model 'm'")
    with pytest.raises(RError) as refusal:
        model.call("predict_model", {"data": pd.DataFrame({"a": [1.0, 2.0]})})
    words_of_r, ours = refusal.value.message.split(" (R may ")
    assert words_of_r.startswith("vector memory ")  # R 4.6 goes on in other words
    assert ours == "hold 0.12 GB)"


@pytest.mark.parametrize(("seconds", "make", "finding"), DENSE.values(), ids=DENSE)
def test_a_small_file_of_a_huge_model_ends_at_the_limits(
    frugal, seconds, make, finding, monkeypatch
):
    frugal.call("echo", {"x": 1})
    dense = make()
    assert len(dense) < 1e6
    monkeypatch.setattr(frugal, "_r_seconds", seconds)
    with pytest.raises(RBridgeError, match=rf"^R model 'm\.rds' .*{finding}"):
        r_models.read_model("m.rds", dense)
    assert frugal.call("echo", {"x": 1}).tolist() == [1]
