"""One thread for all of these tests."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(scope="session", autouse=True)
def _one_thread():
    """Fit small models on one thread: several wait for each other on a busy machine."""
    with threadpool_limits(1):
        yield
