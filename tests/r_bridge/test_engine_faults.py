"""Whatever predict does, its caller gets the truth from every engine, and R goes on."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.r_bridge.test_process import folders_of

from importance_audit.engines.asking import ask
from importance_audit.engines.dalex import Y_PERMUTED
from importance_audit.r_bridge import host
from importance_audit.r_bridge.errors import RError

X = pd.DataFrame({"a": [0.0, 1.0, 3.0, 4.0, 6.0, 7.0], "b": [2.0, 5.0] * 3})
Y = X["a"].to_numpy()
EACH = {"a": ["a"], "b": ["b"]}
PAIR = {"a:b": ["a", "b"]}
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


def asking(function, **question):
    """Return what asks an R function with a predict."""
    return lambda predict: ask(function, X, predict, **question)


def parts(predict):
    """Return the losses in which the target stays where it is."""
    question = {"y": Y, "groups": EACH, "loss": "rmse", **ONCE}
    answer = ask("dalex_parts", X, predict, **question)
    return answer["loss"][answer["feature"] != Y_PERMUTED]


# What asks the functions of a package for their numbers, and the package.
ENGINES = {
    "DALEX explain": ("dalex", explain),
    "DALEX": ("dalex", parts),
    "hstats": ("hstats", asking("hstats_h", groups=PAIR, seed=1, n_rows=6)),
    "iml": ("iml", asking("iml_h", groups=PAIR, seed=1)),
    "pdp": ("pdp", asking("pdp_partial", feature="a", grid=np.array([0.0, 2.5, 7.0]))),
    "vip": (
        "vip",
        asking(
            "vip_permute",
            y=Y,
            features=["a", "b"],
            loss="rmse",
            form="difference",
            **ONCE,
        ),
    ),
    "fastshap": (
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


@pytest.fixture(scope="module")
def r(tmp_path_factory):
    file = tmp_path_factory.mktemp("r") / "explained.R"
    file.write_text(EXPLAIN)
    with host.session(r_seconds=60, extra_r_files=[file]) as worker:
        yield worker


def left_by(r):
    """Return the process, its predecessors, the folders and the children there are."""
    tasks = Path("/proc/self/task").glob("*/children")
    children = sorted(pid for task in tasks for pid in task.read_text().split())
    return r.pid, r.restarts, sorted(folders_of(os.getpid())), children


@pytest.mark.parametrize(
    "engine",
    [
        pytest.param(name, marks=getattr(pytest.mark, f"needs_{package}"))
        for name, (package, _) in ENGINES.items()
    ],
)
def test_what_predict_raises_comes_out_of_every_engine(r, engine):
    measure, calls = ENGINES[engine][1], []
    numbers, before = measure(lambda rows: linear(calls.append(1) or rows)), left_by(r)
    for last, failure in [(len(calls), e) for e in FAILURES] + [(1, OddError("first"))]:
        failure.__cause__, left = None, iter(range(1, last))

        def predict(rows, left=left, failure=failure):
            if next(left, 0):
                return linear(rows)
            raise failure

        with pytest.raises(type(failure)) as raised:
            measure(predict)
        assert raised.value is failure
        assert type(failure.__cause__) is CAUSES.get(engine, RError)
    assert left_by(r) == before
    np.testing.assert_array_equal(measure(linear), numbers)
