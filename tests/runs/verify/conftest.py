"""What tests of verify share."""

import pytest

from importance_audit.runs.verify import audit as verify_audit_module


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    """Look a second time at once; a fault is still looked at twice."""
    monkeypatch.setattr(verify_audit_module, "SECONDS", 0.0)
