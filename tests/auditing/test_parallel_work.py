"""No number of an audit depends on how many workers there are, or on their kind."""

import os
import pickle
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from tests.records import workers as sent

from importance_audit.auditing.audit import audit
from importance_audit.cli.shared import terminable
from importance_audit.config.load import parse_config
from importance_audit.methods.known_answers import normal_data
from importance_audit.r_bridge.r_models import RModel

pytestmark = pytest.mark.processes
ROWS = replace(normal_data(2, 1, 0, n_samples=80), split="train")
TEST = normal_data(2, 1, 0, n_samples=60, seed=2)
TREE = "sklearn.tree.DecisionTreeRegressor"
SEEDED = {"max_features": 1, "random_state": 1}
TESTS = ["cpi", "lei", "altmann", "nadeau_bengio"]
ASKED = {
    "groups": {"both": ["x1", "x2"], "third": ["x3"]},
    "models": [
        {"name": "tree", "estimator": TREE, "parameters": SEEDED},
        {"name": "linear", "estimator": "sklearn.linear_model.LinearRegression"},
    ],
    "importance": [
        {"method": "drop_column", "n_repeats": 2},
        {"method": "drop_column", "n_repeats": 2, "held_out": 0.2, "name": "parted"},
        {"method": "permute_refit", "n_repeats": 2, "of": "groups"},
        {"method": "shapley_refit"},
        {"method": "random_subspace", "n_repeats": 6},
        {"method": "random_subspace_permutation", "n_repeats": 6},
        {"method": "permutation", "n_repeats": 2},
        {"method": "permutation", "n_repeats": 2, "n_rows": 30, "name": "of 30"},
        {"method": "shapley", "n_rows": 5, "n_background": 5, "n_repeats": 2},
        {"method": "sage", "algorithm": "sampling", "background": "gaussian"},
        {"method": "spearman"},
        {"method": "impurity", "models": ["tree"]},
    ],
    "stability": {"resamples": 2},
    "significance": {"shuffles": 2, "tests": TESTS},
    "top_k": {"k": 2, "folds": 2},
    "selection": {"splits": 2},
}
FRAMES = ("top_k", "selection", "stability", "significance", "row_intervals")


def audited(**execution):
    config = parse_config({**ASKED, "execution": execution})
    return audit(ROWS, TEST, config)


@pytest.fixture(scope="module")
def alone():
    """Return what one process says."""
    return audited()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with sent.cluster_of(2, tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


def assert_same(result, alone):
    assert result.run.status == "complete"
    assert [f.message for f in result.findings] == [f.message for f in alone.findings]
    for one, other in zip(result.importances, alone.importances, strict=True):
        assert (one.method, one.model) == (other.method, other.model)
        assert np.array_equal(one.raw, other.raw, equal_nan=True)
        assert np.array_equal(one.baseline, other.baseline, equal_nan=True)
    for name in FRAMES:
        assert len(getattr(alone, name)) > 0
        assert getattr(result, name).equals(getattr(alone, name))


def who_worked(result):
    lines = [one for one in result.run.volatile["log"] if one["step"] == "workers"]
    return [line["message"] for line in lines]


@pytest.mark.parametrize(
    ("execution", "words"),
    [
        ({"n_jobs": 2}, "2 processes"),
        ({"n_jobs": 4, "backend": "threads"}, "4 threads"),
    ],
)
def test_the_numbers_are_those_of_one_process(alone, execution, words):
    result = audited(**execution)
    assert_same(result, alone)
    assert who_worked(result) == [words]
    assert who_worked(alone) == []


@pytest.mark.needs_distributed
def test_the_numbers_of_a_cluster_are_those_of_one_process(alone, cluster):
    result = audited(backend="dask", scheduler=cluster.address)
    assert_same(result, alone)
    (words,) = who_worked(result)
    assert words.endswith(f" of {cluster.address}")


def slow(folder):
    """Return the question of refits that take minutes; they leave marks in a folder."""
    estimator = {"estimator": "tests.records.workers.SlowWithout"}
    parameters = {"columns": 3, "folder": str(folder)}
    return parse_config(
        {
            "models": [{"name": "slow", **estimator, "parameters": parameters}],
            "importance": [{"method": "permutation"}, {"method": "drop_column"}],
            "execution": {"n_jobs": 2},
        }
    )


def test_a_time_limit_ends_the_wait_for_workers(tmp_path, monkeypatch):
    begun, clock = tmp_path / "begun", time.monotonic
    # The time is over once a worker has begun, however slow the machine.
    monkeypatch.setattr(time, "monotonic", lambda: clock() + 7200 * begun.exists())
    with terminable():
        result = audit(ROWS, TEST, slow(tmp_path), minutes=60)
    assert not (tmp_path / "ended").exists()
    assert result.run.status == "complete"
    (cut,) = (f.message for f in result.findings if f.check == "time_limit")
    assert "Cut short: drop_column of features, slow" in cut
    assert [one.method for one in result.importances] == ["permutation"]


def interrupt_after(mark):
    """Press Ctrl-C once there is a file of this name."""
    while not mark.exists():
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_ends_the_wait_for_workers(tmp_path):
    # A shell has a job in the background ignore Ctrl-C, and the audit heeds that.
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    presser = threading.Thread(target=interrupt_after, args=[tmp_path / "begun"])
    presser.daemon = True
    try:
        with terminable():
            presser.start()
            result = audit(ROWS, TEST, slow(tmp_path))
    finally:
        signal.signal(signal.SIGINT, former)
    assert not (tmp_path / "ended").exists()
    assert result.run.status == "interrupted"
    assert [one.method for one in result.importances] == ["permutation"]


def test_a_model_of_r_stays_in_the_process_that_asks_r():
    texts = ("path", "sha256", "package", "package_version", "r_version")
    model = RModel(content=b"", r_class=("lm",), **dict.fromkeys(texts, ""))
    with pytest.raises(TypeError, match=r"^only the process that started R can ask"):
        pickle.dumps(model)
