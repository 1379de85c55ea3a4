"""When trees answer: the rule, and that one function decides for all questions."""

import pytest

from importance_audit.methods.trees.routes import is_worth_reading


@pytest.mark.parametrize(
    ("n_calls", "n_rows", "is_worth"),
    [
        (200, 1, True),
        (119, 1, False),
        (24, 1000, True),
        (23, 1000, False),
        (1, 29_750, True),
        (1, 29_749, False),
    ],
)
def test_trees_answer_from_thirty_thousand_rows_on_and_250_for_each_call(
    n_calls, n_rows, is_worth
):
    assert is_worth_reading(n_calls, n_rows) == is_worth
