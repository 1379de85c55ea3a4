"""Whatever predict does, its caller gets the truth from every engine, and R goes on."""

import os
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.r_bridge.test_process import folders_of

from importance_audit.engines.asking import ask
from importance_audit.engines.dalex import Y_PERMUTED
from importance_audit.r_bridge import host
from importance_audit.r_bridge.errors import RBridgeError, RError, RTimeout

X = pd.DataFrame({"a": [0.0, 1.0, 3.0, 4.0, 6.0, 7.0], "b": [2.0, 5.0] * 3})
Y = X["a"].to_numpy()
EACH = {"a": ["a"], "b": ["b"]}
PAIR = {"a:b": ["a", "b"]}
GRID = np.array([0.0, 2.5, 7.0])
ONCE = {"seed": 1, "n_repeats": 1}
# DALEX itself drops what its explainer's predict raises.
EXPLAIN = """
explained <- function(data, y, predict) {
  DALEX::explain(
    structure(list(), class = "m"), data = data, y = y, predict_function = predict,
    model_info = list(package = "p", ver = "1", type = "regression"), verbose = FALSE
  )
  1
}
"""


def explain(predict):
    arguments = {"data": X, "y": Y}
    return host.current().call("explained", arguments, predict=predict, schema_of=X)


CURVE = {"feature": "a", "grid": GRID}
PROFILE = {"type": "partial", "seed": 1, **CURVE}
PARTS = {"y": Y, "groups": EACH, "loss": "rmse", **ONCE}
MSE = {"y": Y, "groups": EACH, "loss": "mse", **ONCE}
OF_PAIR = {"groups": PAIR, "seed": 1}
SCORES = {"y": Y, "features": ["a", "b"], "loss": "rmse", "form": "difference", **ONCE}


def asking(function, what=None, **question):
    """Return what asks an R function with a predict, and reads its answer."""

    def numbers(predict):
        answer = ask(function, X, predict, **question)
        return answer if what is None else answer[what]

    return numbers


def parts(predict):
    """Return the losses in which the target stays where it is."""
    answer = ask("dalex_parts", X, predict, **PARTS)
    return answer["loss"][answer["feature"] != Y_PERMUTED]


# What asks each engine for its numbers, and the package that must be there.
ENGINES = {
    "DALEX explain": ("dalex", explain),
    "DALEX parts": ("dalex", parts),
    "DALEX profile": ("dalex", asking("dalex_profile", **PROFILE)),
    "DALEX accumulated": (
        "dalex",
        asking("dalex_profile", **PROFILE | {"type": "accumulated"}),
    ),
    "hstats permutation": ("hstats", asking("hstats_permutation", **MSE, n_rows=6)),
    "hstats H": ("hstats", asking("hstats_h", **OF_PAIR, n_rows=6)),
    "iml permutation": ("iml", asking("iml_permutation", **MSE)),
    "iml curve": ("iml", asking("iml_curve", **CURVE, method="pdp")),
    "iml accumulated": ("iml", asking("iml_curve", **CURVE, method="ale")),
    "iml H": ("iml", asking("iml_h", **OF_PAIR)),
    "pdp": ("pdp", asking("pdp_partial", **CURVE)),
    "vip permute": ("vip", asking("vip_permute", **SCORES)),
    "vip firm": ("vip", asking("vip_firm", "values", **CURVE, divisor=4)),
    "vip shap": (
        "fastshap",
        asking("vip_shap", **ONCE, n_permutations=2, adjust=False),
    ),
}


def linear(rows):
    return rows["a"].to_numpy() * (1 + rows["b"].to_numpy())


class OddError(Exception):
    """An exception that only the model's own library knows."""


FAILURES = (OddError("£ ünïcode 🚢 \0 \udcff", {"more": 1}), KeyboardInterrupt())


CAUSES = {"DALEX explain": type(None)}  # R has told nobody
SHAPE = r"shape \((\d+),\); shape "


ANSWERS = {
    "numbers; list of type <U1 was returned": lambda f: ["1"] * len(f),
    SHAPE + r"\(\d+,\) was returned": lambda f: f[1:],
    r"finite numbers; (\d+) of \1 are not": lambda f: f * np.nan,
}


@pytest.fixture(scope="module")
def r(tmp_path_factory):
    file = tmp_path_factory.mktemp("r") / "explained.R"
    file.write_text(EXPLAIN)
    with host.session(r_seconds=60, extra_r_files=[file]) as worker:
        yield worker


@pytest.fixture(scope="module")
def sound(r):
    """What an engine tells of a sound predict, and how often it asks for that."""
    outcomes = {}

    def measure(engine):
        if engine not in outcomes:
            before = r.counts.calls
            numbers = ENGINES[engine][1](linear)
            outcomes[engine] = numbers, r.counts.calls - before
        return outcomes[engine]

    return measure


def left_by(r):
    """Return the process, its predecessors, the folders and the children there are."""
    tasks = Path("/proc/self/task").glob("*/children")
    children = sorted(pid for task in tasks for pid in task.read_text().split())
    return r.pid, r.restarts, sorted(folders_of(os.getpid())), children


each_engine = pytest.mark.parametrize(
    "engine",
    [
        pytest.param(name, marks=getattr(pytest.mark, f"needs_{package}"))
        for name, (package, _) in ENGINES.items()
    ],
)


def fail(failure, _):
    raise failure


def spoilt(last, spoil):
    """Return a predict that is sound until its last call, which is spoilt."""
    calls = iter(range(1, last))
    return lambda rows: linear(rows) if next(calls, 0) else spoil(linear(rows))


@each_engine
def test_what_predict_raises_comes_out_of_every_engine(r, sound, engine):
    numbers, n_calls = sound(engine)
    before = left_by(r)
    for last, failure in [(n_calls, e) for e in FAILURES] + [(1, OddError("first"))]:
        failure.__cause__ = None
        with pytest.raises(type(failure)) as raised:
            ENGINES[engine][1](spoilt(last, partial(fail, failure)))
        assert raised.value is failure
        assert type(failure.__cause__) is CAUSES.get(engine, RError)
    assert left_by(r) == before
    np.testing.assert_array_equal(ENGINES[engine][1](linear), numbers)


@each_engine
def test_what_is_no_prediction_is_said_by_every_engine(r, sound, engine):
    (_, n_calls), before = sound(engine), left_by(r)
    for words, spoil in ANSWERS.items():
        said = rf"^predict must return {words}"
        with pytest.raises(RBridgeError, match=said) as error:
            ENGINES[engine][1](spoilt(n_calls, spoil))
        assert type(error.value) is RBridgeError
    assert left_by(r) == before


@each_engine
def test_a_deadline_within_predict_holds_in_every_engine(r, sound, engine, monkeypatch):
    (numbers, _), before = sound(engine), left_by(r)
    monkeypatch.setattr(r, "_r_seconds", 0.1)

    def slow(values):
        time.sleep(0.15)
        return values

    with pytest.raises(RTimeout, match=r"did not end within 0.1 s .* of predict\)"):
        ENGINES[engine][1](spoilt(1, slow))
    monkeypatch.undo()
    assert left_by(r) == before
    np.testing.assert_array_equal(ENGINES[engine][1](linear), numbers)
