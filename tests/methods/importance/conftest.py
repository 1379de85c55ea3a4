"""Trees that answer for the smallest table, and the calls of predict that they save."""

import pytest
from tests.methods.trees.conftest import count_calls

from importance_audit.methods.trees import routes


@pytest.fixture
def calls(monkeypatch):
    """Let trees answer for the smallest table, and list the calls of predict."""
    monkeypatch.setattr(routes, "WORTH", 0)
    return count_calls(monkeypatch)
