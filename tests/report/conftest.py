"""The made results as fixtures."""

import pytest
from tests.report.made_results import RESULTS

from pipeline.records import AuditResult


@pytest.fixture()
def make_result():
    """Return the results by name, and `plain_result` for any other features."""

    def make(name: str, *features: str, **changes: Any) -> AuditResult:
        return plain_result(features, **changes) if features else RESULTS[name]()

    return make


@pytest.fixture(params=list(RESULTS))
def any_result(request):
    """Return each of the results in turn."""
    return RESULTS[request.param]()


@pytest.fixture(scope="session")
def apartments():
    """Return the result most tests look at."""
    return apartments_result()
