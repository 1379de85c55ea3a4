"""The made results as fixtures."""

import pytest
from tests.report.made_variants import RESULTS, result_of


@pytest.fixture(scope="session")
def apartments():
    """Return three models, five features, two groups, three measures, two engines."""
    return result_of("apartments")


@pytest.fixture(params=list(RESULTS))
def any_name(request):
    """Return the name of each of the made results in turn."""
    return request.param
