"""A few of the mutated configurations and random tables; CONTRIBUTING has the rest."""

import pytest
from tests.fuzz import configurations, tables


@pytest.mark.slow
def test_no_mutated_configuration_lets_another_exception_escape():
    assert configurations.main(100) == 0


def test_no_random_table_lets_another_exception_escape():
    assert tables.main(8) == 0
