"""The second R of a session, in which fitted models live."""

from pathlib import Path

import pytest

from r_bridge import host
from r_bridge.errors import RBridgeError

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
    out, _ = python(code).communicate(timeout=60)
    assert out.strip() == "[2.0, 4.0]"


def test_without_a_session_there_are_no_models():
    with pytest.raises(RBridgeError, match=r"inside r_bridge\.host\.session\(\)"):
        host.current_models()
