"""The made results as fixtures."""

import pytest
from tests.report.made_variants import RESULTS


@pytest.fixture(params=list(RESULTS))
def any_name(request):
    """Return the name of each of the made results in turn."""
    return request.param
