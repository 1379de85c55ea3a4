"""The made results as fixtures."""

import pytest
from tests.report.made_results import RESULTS, apartments_result


@pytest.fixture(scope="session")
def apartments():
    """Return three models, five features, two groups, three measures, two engines."""
    return apartments_result()


@pytest.fixture(params=list(RESULTS))
def any_result(request):
    """Return each of the made results in turn."""
    return RESULTS[request.param]()
