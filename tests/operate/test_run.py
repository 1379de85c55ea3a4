"""Claims about one run: what its findings tell the one who tries it again."""

import pytest
from tests.report.made_variants import plain_result

from importance_audit.operate.run import is_of_r
from importance_audit.records.finding import Finding


@pytest.mark.parametrize(
    ("check", "cause", "is_failed"),
    [
        ("method_failed", "r_died", True),
        ("method_failed", "r_timeout", True),
        ("method_failed", "r_unavailable", True),
        ("engine_required", "r_unavailable", True),
        ("method_failed", "r_error", False),
        ("method_failed", "", False),
        ("r_restarted", "r_died", False),
    ],
)
@pytest.mark.parametrize("remedy", ["", "Other words than today's."])
def test_whether_r_left_a_question_open_is_told_by_causes_and_no_words(
    check, cause, is_failed, remedy
):
    finding = Finding(
        check=check,
        severity="failure",
        subject="forest",
        message="m",
        remedy=remedy,
        cause=cause,
    )
    assert is_of_r(plain_result(("a",), findings=(finding,))) is is_failed
