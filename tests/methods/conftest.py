"""One thread for all of these tests, and the calls of predict that they count."""

from functools import wraps

import pytest
from tests.methods.trees.small_ensembles import by_predict, same_bits
from threadpoolctl import threadpool_limits

from importance_audit.methods.importance import permuted_predictions
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.trees import routes


@pytest.fixture(scope="session", autouse=True)
def _one_thread():
    """Fit small models on one thread: several wait for each other on a busy machine."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def trees_answer(monkeypatch):
    """Let trees answer however little is asked."""
    monkeypatch.setattr(routes, "WORTH", 0)


@pytest.fixture
def calls(monkeypatch):
    """Let trees answer, and list the arguments of each prediction of permuted rows."""
    monkeypatch.setattr(routes, "WORTH", 0)
    made = []

    def counted(ask):
        @wraps(ask)
        def counting(*arguments):
            made.append(arguments)
            return ask(*arguments)

        return counting

    for name in ("predict_with", "predict_some"):
        ask = getattr(permuted_predictions, name)
        monkeypatch.setattr(permuted_predictions, name, counted(ask))
    return made


@pytest.fixture
def assert_as_by_predict(calls):
    """Let an importance have the bits of predict, which is called so many times."""

    def check(model, data, n_calls=1, **options):
        calls.clear()
        options = {"seed": 1, "n_repeats": 2, **options}
        ours = permutation(model, data, **options)
        assert len(calls) == n_calls
        assert same_bits(ours, permutation(by_predict(model), data, **options))

    return check
